"""A live table is told apart from its declaration, in sentences."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.advisor.difference import diff
from bigtime.engine import Engine
from bigtime.model.operations.create_table import create_table_request, setup
from bigtime.model.system import System
from bigtime.store import Store
from bigtime.wire import Request
from tests.model.test_create_table import EVERYTHING, THINGS

DECLARED = create_table_request(EVERYTHING).params


def differences(engine: Engine, **changed: Any) -> list[tuple[str, str]]:
    """What differs when the live table was made with these parameters changed."""
    params = {**DECLARED, **changed}
    engine(
        Request("CreateTable", {name: each for name, each in params.items() if each is not None})
    )
    specification = {"Enabled": True, "AttributeName": "expires"}
    engine(
        Request(
            "UpdateTimeToLive",
            {"TableName": "Everything", "TimeToLiveSpecification": specification},
        )
    )
    return [(each.kind, each.sentence) for each in Store(engine).run(diff(THINGS))]


def test_a_table_as_declared_differs_in_nothing(engine: Engine) -> None:
    assert differences(engine) == []


def test_how_a_table_is_paid_for_is_no_difference(engine: Engine) -> None:
    paid = {"ReadCapacityUnits": 5, "WriteCapacityUnits": 5}
    indexes = [
        {**global_secondary_index, "ProvisionedThroughput": paid}
        for global_secondary_index in DECLARED["GlobalSecondaryIndexes"]
    ]
    assert (
        differences(
            engine,
            BillingMode="PROVISIONED",
            ProvisionedThroughput=paid,
            GlobalSecondaryIndexes=indexes,
        )
        == []
    )


def test_a_table_that_is_not_there(engine: Engine) -> None:
    (found,) = Store(engine).run(diff(THINGS))
    assert str(found) == "Everything: the table is not there; create it"
    assert found.kind == "missing"


def test_a_missing_index_and_one_that_is_not_declared(engine: Engine) -> None:
    many, plain = DECLARED["GlobalSecondaryIndexes"]
    found = differences(engine, GlobalSecondaryIndexes=[many, {**plain, "IndexName": "Renamed"}])
    assert found == [
        ("missing", "index Plain is not there; create it"),
        ("extra", "index Renamed is there, and not declared; declare it, or delete it"),
    ]


def test_a_missing_local_index_cannot_be_added(engine: Engine) -> None:
    ((kind, sentence),) = differences(engine, LocalSecondaryIndexes=None)
    assert kind == "missing"
    assert "it is local; DynamoDB cannot change that" in sentence


def test_another_key_and_another_projection_of_an_index(engine: Engine) -> None:
    many, plain = DECLARED["GlobalSecondaryIndexes"]
    changed = {
        **plain,
        "KeySchema": [*plain["KeySchema"], {"AttributeName": "a", "KeyType": "RANGE"}],
    }
    less = {**many, "Projection": {"ProjectionType": "KEYS_ONLY"}}
    assert differences(engine, GlobalSecondaryIndexes=[less, changed]) == [
        (
            "changed",
            "index Many projects KEYS_ONLY, and is declared to project INCLUDE e f; delete the"
            " index and create it again",
        ),
        (
            "changed",
            "index Plain has the key c / a, and is declared with c; delete the index and create it"
            " again",
        ),
    ]


def test_another_key_of_the_table_and_another_type(engine: Engine) -> None:
    types = [
        {**attribute_definition, "AttributeType": "S"}
        if attribute_definition["AttributeName"] == "SK"
        else attribute_definition
        for attribute_definition in DECLARED["AttributeDefinitions"]
    ]
    ((kind, sentence),) = differences(engine, AttributeDefinitions=types)
    assert (kind, sentence.partition(";")[0]) == (
        "changed",
        "key attribute SK is of type S, and declared as N",
    )


def test_stream_protection_and_tags(engine: Engine) -> None:
    found = differences(
        engine,
        StreamSpecification=None,
        DeletionProtectionEnabled=False,
        Tags=[{"Key": "Team", "Value": "deals"}, {"Key": "Owner", "Value": "me"}],
    )
    assert [kind for kind, _ in found] == ["missing", "missing", "changed", "extra"]
    assert [sentence.partition(";")[0] for _, sentence in found] == [
        "it has no stream, and is declared with NEW_IMAGE",
        "it is not protected against deletion, as declared",
        "its tag Team is 'deals', and declared as 'shop'",
        "it has a tag Owner that is not declared",
    ]


def test_another_view_of_the_stream(engine: Engine) -> None:
    view = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    ((kind, sentence),) = differences(engine, StreamSpecification=view)
    assert (kind, sentence.partition(";")[0]) == (
        "changed",
        "its stream is KEYS_ONLY, and declared as NEW_IMAGE",
    )


@pytest.mark.parametrize(("on", "kind"), [(False, "missing"), (True, "changed")])
def test_the_time_to_live(engine: Engine, on: bool, kind: str) -> None:
    store = Store(engine)
    engine(create_table_request(EVERYTHING))
    if on:
        specification = {"Enabled": True, "AttributeName": "other"}
        params = {"TableName": "Everything", "TimeToLiveSpecification": specification}
        engine(Request("UpdateTimeToLive", params))
    (found,) = store.run(diff(THINGS))
    assert found.kind == kind
    assert "time to live" in found.sentence


def test_every_table_of_a_system_is_compared(engine: Engine) -> None:
    from tests.model.deals import BIG_TIME_DEALS

    both = System("both", (EVERYTHING, BIG_TIME_DEALS))
    store = Store(engine)
    assert [each.table for each in store.run(diff(both))] == ["Everything", "BigTimeDeals"]
    store.run(setup(both))
    assert store.run(diff(both)) == []
