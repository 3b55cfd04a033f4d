"""Tables are made as they are declared, and only what is missing is made."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any

import pytest

from bigtime.advisor.difference import diff
from bigtime.engine import Engine
from bigtime.model.errors import DesignError
from bigtime.model.operations.create_table import (
    NotReady,
    Progress,
    create_table_request,
    setup,
    time_to_live_request,
)
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.stored import EpochSeconds
from bigtime.model.schema.table import Table, Throughput, binary, global_index, local_index, number
from bigtime.model.system import System
from bigtime.store import Store
from bigtime.wire import LimitExceededException, Request, ResourceInUseException, Response
from tests.model.deals import BIG_TIME_DEALS, SYSTEM

EVERYTHING = Table(
    "Everything",
    "PK",
    number("SK"),
    indexes=[
        global_index("Many", ["a", number("b")], ["c", binary("d")], include=["e", "f"]),
        global_index("Plain", "c"),
        local_index("Local", "a", keys_only=True),
    ],
    ttl="expires",
    stream="NEW_IMAGE",
    deletion_protection=True,
    tags={"Team": "shop"},
)


class Thing(Entity, table=EVERYTHING):
    keys = Keys(
        main=("THING#{name}", "{n}"),
        Many=(("A#{x}", "{b}"), ("C#{x}", "{d}")),
        Plain="C#{x}",
        Local=("THING#{name}", "A#{x}"),
    )
    name: str
    n: int
    x: str | None = None
    b: int | None = None
    d: bytes | None = None
    e: str = ""
    f: str = ""
    expires: Annotated[datetime, EpochSeconds] | None = None


THINGS = System("things", (EVERYTHING,))


def key_schema(*attributes: tuple[str, str]) -> list[dict[str, str]]:
    return [{"AttributeName": name, "KeyType": kind} for name, kind in attributes]


def test_a_request_has_all_that_is_declared_and_no_more() -> None:
    request = create_table_request(EVERYTHING)
    assert request.operation == "CreateTable"
    assert request.params == {
        "TableName": "Everything",
        "AttributeDefinitions": [
            {"AttributeName": "PK", "AttributeType": "S"},
            {"AttributeName": "SK", "AttributeType": "N"},
            {"AttributeName": "a", "AttributeType": "S"},
            {"AttributeName": "b", "AttributeType": "N"},
            {"AttributeName": "c", "AttributeType": "S"},
            {"AttributeName": "d", "AttributeType": "B"},
        ],
        "KeySchema": key_schema(("PK", "HASH"), ("SK", "RANGE")),
        "BillingMode": "PAY_PER_REQUEST",
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "Many",
                "KeySchema": key_schema(
                    ("a", "HASH"), ("b", "HASH"), ("c", "RANGE"), ("d", "RANGE")
                ),
                "Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["e", "f"]},
            },
            {
                "IndexName": "Plain",
                "KeySchema": key_schema(("c", "HASH")),
                "Projection": {"ProjectionType": "ALL"},
            },
        ],
        "LocalSecondaryIndexes": [
            {
                "IndexName": "Local",
                "KeySchema": key_schema(("PK", "HASH"), ("a", "RANGE")),
                "Projection": {"ProjectionType": "KEYS_ONLY"},
            }
        ],
        "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"},
        "DeletionProtectionEnabled": True,
        "Tags": [{"Key": "Team", "Value": "shop"}],
    }


def test_throughput_is_for_the_table_and_its_global_indexes() -> None:
    params = create_table_request(EVERYTHING, throughput=Throughput(5, 2)).params
    paid = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 2}
    assert (params["BillingMode"], params["ProvisionedThroughput"]) == ("PROVISIONED", paid)
    assert all(
        global_secondary_index["ProvisionedThroughput"] == paid
        for global_secondary_index in params["GlobalSecondaryIndexes"]
    )
    assert "ProvisionedThroughput" not in params["LocalSecondaryIndexes"][0]


def test_the_time_to_live_is_a_request_of_its_own() -> None:
    assert time_to_live_request(BIG_TIME_DEALS) is None
    request = time_to_live_request(EVERYTHING)
    assert request is not None
    assert request.params == {
        "TableName": "Everything",
        "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "expires"},
    }


@pytest.fixture
def store(engine: Engine) -> Store:
    return Store(engine)


def test_setup_makes_all_that_is_missing_and_then_nothing(store: Store) -> None:
    assert store.run(setup(THINGS)) == Progress(
        made=["table Everything", "time to live of Everything"]
    )
    assert store.run(diff(THINGS)) == []
    assert store.run(setup(THINGS)) == Progress()


def test_setup_adds_indexes_and_a_stream_to_a_table_that_lacks_them(store: Store) -> None:
    bare = {
        name: value
        for name, value in create_table_request(BIG_TIME_DEALS).params.items()
        if name not in ("GlobalSecondaryIndexes", "StreamSpecification")
    }
    keys = [
        attribute_definition
        for attribute_definition in bare["AttributeDefinitions"]
        if attribute_definition["AttributeName"] in ("PK", "SK")
    ]
    store.transport(Request("CreateTable", {**bare, "AttributeDefinitions": keys}))
    progress = store.run(setup(SYSTEM))
    assert progress.pending == []
    assert progress.made == [
        "index GSI1 of BigTimeDeals",
        "index GSI2 of BigTimeDeals",
        "index UserIndex of BigTimeDeals",
        "stream of BigTimeDeals",
    ]
    assert store.run(diff(SYSTEM)) == []


class Slow:
    """A database that takes its time: a table is being made for the first few looks at it."""

    def __init__(self, engine: Engine, looks: int) -> None:
        self.engine = engine
        self.looks = looks

    def __call__(self, request: Request) -> Response:
        response = self.engine(request)
        if request.operation == "DescribeTable" and self.looks:
            self.looks -= 1
            response["Table"]["TableStatus"] = "CREATING"
        return response


def runs(store: Store) -> Iterator[Progress]:
    while True:
        progress = store.run(setup(THINGS, patience_seconds=0))
        yield progress
        if not progress.pending:
            return


def impatient(seconds: float) -> None:
    raise AssertionError("nobody has to wait")


def test_setup_goes_on_where_it_had_to_wait(engine: Engine) -> None:
    store = Store(Slow(engine, looks=3), sleep=impatient)
    told = [(run.made, bool(run.pending)) for run in runs(store)]
    assert told[0] == (["table Everything"], True)
    assert told[-1] == (["time to live of Everything"], False)


def test_setup_waits_less_and_less_often_until_all_is_ready(engine: Engine) -> None:
    slept: list[float] = []
    store = Store(Slow(engine, looks=13), sleep=slept.append)
    assert store.run(setup(THINGS)) == Progress(
        made=["table Everything", "time to live of Everything"]
    )
    assert slept == [0.25, 0.5, 1, 2, 4, 5, 5]
    assert store.run(diff(THINGS)) == []


def test_setup_waits_for_nothing_on_an_engine(engine: Engine) -> None:
    store = Store(engine, sleep=impatient)
    assert store.run(setup(THINGS, SYSTEM)).pending == []
    assert store.run(setup(THINGS, SYSTEM)) == Progress()


@pytest.mark.parametrize("patience", [3.0, 0.1])
def test_setup_is_not_ready_when_its_patience_is_used_up(engine: Engine, patience: float) -> None:
    slept: list[float] = []
    store = Store(Slow(engine, looks=1_000), sleep=slept.append)
    with pytest.raises(NotReady) as caught:
        store.run(setup(THINGS, patience_seconds=patience))
    assert str(caught.value) == (
        "Not ready yet: table Everything is being made or changed. Run it again later."
    )
    assert caught.value.progress.made == ["table Everything"]
    assert sum(slept) == patience


def test_an_index_that_has_to_wait_for_another_is_made_after_it(engine: Engine) -> None:
    bare = dict(create_table_request(BIG_TIME_DEALS).params)
    bare["GlobalSecondaryIndexes"] = bare["GlobalSecondaryIndexes"][:1]
    bare["AttributeDefinitions"] = bare["AttributeDefinitions"][:4]
    engine(Request("CreateTable", bare))
    refusals: list[Exception] = [
        LimitExceededException("Only 1 online index can be created at a time"),
        ResourceInUseException("Table is being updated: BigTimeDeals"),
    ]

    def busy(request: Request) -> Response:
        if request.operation == "UpdateTable" and refusals:
            raise refusals.pop()
        return engine(request)

    told = Store(busy).run(setup(BIG_TIME_DEALS, patience_seconds=0))
    assert told.pending == [
        "index GSI2 of BigTimeDeals has to wait: Table is being updated: BigTimeDeals"
    ]
    slept: list[float] = []
    made = Store(busy, sleep=slept.append).run(setup(BIG_TIME_DEALS)).made
    assert made == ["index GSI2 of BigTimeDeals", "index UserIndex of BigTimeDeals"]
    assert slept == [0.25]


class TestWhatIsSetUp:
    def test_is_a_system_or_tables_or_both_and_each_table_once(self, store: Store) -> None:
        assert store.run(setup(EVERYTHING)).made[0] == "table Everything"
        made = store.run(setup(SYSTEM, EVERYTHING, BIG_TIME_DEALS)).made
        assert made == ["table BigTimeDeals"]

    @pytest.mark.parametrize("wanted", [(), (System("none", ()),)])
    def test_is_something(self, wanted: Any) -> None:
        with pytest.raises(DesignError, match="nothing to set up; say what, as in setup"):
            setup(*wanted)

    def test_is_no_name_and_no_entity(self) -> None:
        wanted: list[Any] = ["Everything", Thing]
        for each in wanted:
            with pytest.raises(DesignError, match="takes a system, or tables"):
                setup(each)

    def test_is_a_table_that_somebody_uses(self) -> None:
        with pytest.raises(DesignError, match="table Bare has no entity; declare one"):
            setup(Table("Bare", "PK"))


def test_a_table_that_somebody_else_makes_meanwhile_is_taken_as_it_is(engine: Engine) -> None:
    def racing(request: Request) -> Any:
        if request.operation == "CreateTable":
            engine(request)
        return engine(request)

    progress = Store(racing).run(setup(THINGS))
    assert progress.made == ["time to live of Everything"]
