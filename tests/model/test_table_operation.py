"""How a table is run, as it is declared: capacity, encryption, recovery, class, replicas."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bigtime.advisor import diff
from bigtime.engine import Engine
from bigtime.model import (
    MANAGED_KEY,
    DesignError,
    Entity,
    Keys,
    System,
    Table,
    Throughput,
    create_table_request,
    global_index,
    setup,
)
from bigtime.store import Store
from bigtime.wire import Request, Response, UnknownOperationException

KEY = "arn:aws:kms:us-east-1:1:key/k"
RUN = Table(
    "Run",
    "PK",
    indexes=[global_index("GSI1", "GSI1PK")],
    throughput=Throughput(5, 2),
    encryption=KEY,
    point_in_time_recovery=7,
    table_class="STANDARD_INFREQUENT_ACCESS",
    replicas=["eu-west-1"],
)


class Thing(Entity, table=RUN):
    keys = Keys(main="T#{name}", GSI1="G#{name}")
    name: str


SYSTEM = System("run", (RUN,))


def test_a_table_is_created_as_it_is_declared() -> None:
    params = create_table_request(RUN).params
    assert params["BillingMode"] == "PROVISIONED"
    assert params["ProvisionedThroughput"] == {"ReadCapacityUnits": 5, "WriteCapacityUnits": 2}
    assert "ProvisionedThroughput" in params["GlobalSecondaryIndexes"][0]
    encrypted = {"Enabled": True, "SSEType": "KMS", "KMSMasterKeyId": KEY}
    assert params["SSESpecification"] == encrypted
    assert params["TableClass"] == "STANDARD_INFREQUENT_ACCESS"
    managed = Table("Managed", "PK", encryption=MANAGED_KEY)
    assert create_table_request(managed).params["SSESpecification"] == {
        "Enabled": True,
        "SSEType": "KMS",
    }


class Recovering:
    """An engine with point-in-time recovery, which notes what it is asked of it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.days = 0

    def __call__(self, request: Request) -> Response:
        if request.operation == "UpdateContinuousBackups":
            specification = request.params["PointInTimeRecoverySpecification"]
            self.days = specification.get("RecoveryPeriodInDays", 35)
            return {}
        if request.operation == "DescribeContinuousBackups":
            status = "ENABLED" if self.days else "DISABLED"
            described = {"PointInTimeRecoveryStatus": status, "RecoveryPeriodInDays": self.days}
            return {"ContinuousBackupsDescription": {"PointInTimeRecoveryDescription": described}}
        return self.engine(request)


def test_what_is_missing_is_made_and_the_rest_told(engine: Engine) -> None:
    transport = Recovering(engine)
    store = Store(transport)
    progress = store.run(setup(SYSTEM))
    assert progress.made == ["table Run", "point-in-time recovery of Run"]
    assert transport.days == 7
    assert [str(each) for each in store.run(diff(SYSTEM))] == [
        "Run: it has no replica in eu-west-1; add it"
    ]
    transport.days = 35
    assert "Run: it can be restored to 35 days, and is declared with 7; change that" in [
        str(each) for each in store.run(diff(SYSTEM))
    ]


def test_an_endpoint_without_recovery_is_left_alone(engine: Engine) -> None:
    def transport(request: Request) -> Response:
        if "ContinuousBackups" in request.operation:
            raise UnknownOperationException
        return engine(request)

    store = Store(transport)
    assert store.run(setup(SYSTEM)).made == ["table Run"]
    assert len(store.run(diff(SYSTEM))) == 1


def test_a_plain_table_differs_from_its_declaration(engine: Engine) -> None:
    store = Store(engine)
    plain = {
        name: value
        for name, value in create_table_request(RUN).params.items()
        if name not in ("ProvisionedThroughput", "SSESpecification", "TableClass")
    }
    index = {**plain["GlobalSecondaryIndexes"][0]}
    del index["ProvisionedThroughput"]
    store.send(
        Request(
            "CreateTable",
            {**plain, "BillingMode": "PAY_PER_REQUEST", "GlobalSecondaryIndexes": [index]},
        )
    )
    said = "\n".join(map(str, store.run(diff(SYSTEM))))
    assert "it is paid by request, and declared with 5 to read and 2 to write" in said
    assert f"it is not encrypted with {KEY}, as declared" in said
    assert "its class is STANDARD, and declared as STANDARD_INFREQUENT_ACCESS" in said


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"throughput": Throughput(0, 1)}, "less than a unit"),
        ({"point_in_time_recovery": 36}, "1 to 35 days, not 36"),
        ({"table_class": "COLD"}, "its class is 'COLD'"),
        ({"encryption": ""}, "encryption is AWS_MANAGED or a key"),
        ({"replicas": "eu-west-1"}, "replicas is a list"),
        ({"replicas": ["eu-west-1"], "stream": "KEYS_ONLY"}, "streams NEW_AND_OLD_IMAGES"),
    ],
)
def test_what_dynamodb_would_refuse(declared: dict[str, Any], words: str) -> None:
    with pytest.raises(DesignError, match=words):
        replace(Table("Wrong", "PK"), **declared)
