"""Tables: made, described, changed and dropped; their counts are always true."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.wire import (
    DynamoDBError,
    Item,
    ResourceInUseException,
    ResourceNotFoundException,
    ValidationException,
)
from tests.engine.calls import (
    add_index,
    call,
    describe_table,
    drop_index,
    fill,
    global_index,
    index,
    key_schema,
    make_table,
    n,
    physical_tables,
    refusal_of,
    s,
)

ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/"


# --- Round trips --------------------------------------------------------------------------------


def test_a_table_is_what_it_was_declared_to_be(engine: Engine) -> None:
    made = call(
        engine,
        "CreateTable",
        TableName="books",
        AttributeDefinitions=[
            {"AttributeName": a, "AttributeType": t}
            for a, t in (("p", "S"), ("s", "N"), ("l", "B"))
        ],
        KeySchema=key_schema("p", "s"),
        ProvisionedThroughput={"ReadCapacityUnits": 3, "WriteCapacityUnits": 2},
        LocalSecondaryIndexes=[index("local", key_schema("p", "l"), ["title"])],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        DeletionProtectionEnabled=True,
        Tags=[{"Key": "owner", "Value": "us"}],
    )["TableDescription"]
    assert made["TableStatus"] == "CREATING"
    table = describe_table(engine, "books")
    assert table["TableStatus"] == "ACTIVE"
    same = ("KeySchema", "AttributeDefinitions", "TableArn", "TableId", "LatestStreamArn")
    assert {name: table[name] for name in same} == {name: made[name] for name in same}
    assert table["TableArn"] == ARN + "books"
    assert table["DeletionProtectionEnabled"] is True
    assert table["LocalSecondaryIndexes"][0]["Projection"] == {
        "ProjectionType": "INCLUDE",
        "NonKeyAttributes": ["title"],
    }
    tags = call(engine, "ListTagsOfResource", ResourceArn=table["TableArn"])["Tags"]
    assert tags == [{"Key": "owner", "Value": "us"}]


def test_a_name_is_taken_until_its_table_is_deleted(engine: Engine) -> None:
    make_table(engine, {"p": "S"}, name="books", keys=("p",))
    with pytest.raises(ResourceInUseException) as caught:
        make_table(engine, {"p": "S"}, name="books", keys=("p",))
    assert caught.value.message == "Table already exists: books"
    call(engine, "PutItem", TableName="books", Item={"p": s("a")})
    first = describe_table(engine, "books")["TableId"]
    gone = call(engine, "DeleteTable", TableName="books")["TableDescription"]
    assert (gone["TableStatus"], gone["ItemCount"]) == ("DELETING", 1)
    make_table(engine, {"p": "N"}, name="books", keys=("p",))
    assert describe_table(engine, "books")["TableId"] != first
    assert call(engine, "Scan", TableName="books")["Count"] == 0


@pytest.mark.parametrize("operation", ["DescribeTable", "DeleteTable", "UpdateTable"])
def test_a_table_that_is_not_there_is_not_found(engine: Engine, operation: str) -> None:
    params = {"BillingMode": "PAY_PER_REQUEST"} if operation == "UpdateTable" else {}
    with pytest.raises(ResourceNotFoundException) as caught:
        call(engine, operation, TableName="nowhere", **params)
    assert caught.value.message == "Requested resource not found: Table: nowhere not found"


def test_a_protected_table_is_not_deleted(engine: Engine) -> None:
    table = make_table(engine, {"p": "S"}, keys=("p",), DeletionProtectionEnabled=True)
    assert refusal_of(engine, "DeleteTable", TableName=table) == (
        "Resource cannot be deleted as it is currently protected against deletion. "
        "Disable deletion protection first."
    )
    call(engine, "UpdateTable", TableName=table, DeletionProtectionEnabled=False)
    call(engine, "DeleteTable", TableName=table)
    assert call(engine, "ListTables")["TableNames"] == []


def test_an_arn_names_a_table_too(engine: Engine) -> None:
    table = make_table(engine, {"p": "S"}, keys=("p",))
    call(engine, "PutItem", TableName=ARN + table, Item={"p": s("a")})
    assert call(engine, "Scan", TableName=ARN + table)["Count"] == 1
    found = call(
        engine,
        "Query",
        TableName=ARN + table,
        KeyConditionExpression="p = :p",
        ExpressionAttributeValues={":p": s("a")},
    )
    assert found["Count"] == 1
    assert describe_table(engine, ARN + table)["TableName"] == table
    call(engine, "DeleteTable", TableName=ARN + table)
    assert call(engine, "ListTables")["TableNames"] == []


def test_tables_are_listed_page_by_page(engine: Engine) -> None:
    names = [make_table(engine, {"p": "S"}, name=f"t-{i:03}", keys=("p",)) for i in range(105)]
    assert call(engine, "ListTables")["TableNames"] == names[:100]
    assert call(engine, "ListTables")["LastEvaluatedTableName"] == names[99]
    listed: list[str] = []
    params: dict[str, Any] = {"Limit": 20}
    while True:
        page = call(engine, "ListTables", **params)
        listed.extend(page["TableNames"])
        if "LastEvaluatedTableName" not in page:
            break
        params["ExclusiveStartTableName"] = page["LastEvaluatedTableName"]
    assert listed == names
    between = call(engine, "ListTables", ExclusiveStartTableName="t-102x")
    assert between == {"TableNames": ["t-103", "t-104"]}


def test_an_account_has_limits_and_an_endpoint(engine: Engine) -> None:
    limits = call(engine, "DescribeLimits")
    assert limits["TableMaxReadCapacityUnits"] == 40_000
    (endpoint,) = call(engine, "DescribeEndpoints")["Endpoints"]
    assert endpoint == {"Address": "dynamodb.us-east-1.amazonaws.com", "CachePeriodInMinutes": 1440}


def test_tags_come_and_go(engine: Engine) -> None:
    arn = ARN + make_table(engine, {"p": "S"}, keys=("p",))
    call(engine, "TagResource", ResourceArn=arn, Tags=[{"Key": "a", "Value": "1"}])
    call(
        engine,
        "TagResource",
        ResourceArn=arn,
        Tags=[{"Key": "a", "Value": "2"}, {"Key": "b", "Value": "3"}],
    )
    call(engine, "UntagResource", ResourceArn=arn, TagKeys=["b", "c"])
    assert call(engine, "ListTagsOfResource", ResourceArn=arn)["Tags"] == [
        {"Key": "a", "Value": "2"}
    ]
    for operation, params in (
        ("TagResource", {"Tags": [{"Key": "a", "Value": "1"}]}),
        ("UntagResource", {"TagKeys": ["a"]}),
    ):
        with pytest.raises(ResourceNotFoundException):
            call(engine, operation, ResourceArn=ARN + "nowhere", **params)
    with pytest.raises(ResourceNotFoundException):
        call(engine, "ListTagsOfResource", ResourceArn=ARN + "nowhere")


def test_a_refused_update_changes_nothing(engine: Engine) -> None:
    table = make_table(engine, {"p": "S"}, keys=("p",))
    before = describe_table(engine, table)
    attempts: list[dict[str, Any]] = [
        {"StreamSpecification": {"StreamEnabled": False}},
        {
            "DeletionProtectionEnabled": True,
            "GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "absent"}}],
        },
        {
            "StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
            "SSESpecification": {"Enabled": False},
        },
    ]
    for attempt in attempts:
        with pytest.raises(DynamoDBError):
            call(engine, "UpdateTable", TableName=table, **attempt)
        assert describe_table(engine, table) == before
    assert call(engine, "ListStreams")["Streams"] == []


def test_an_update_answers_which_indexes_are_changing(engine: Engine) -> None:
    units = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    table = make_table(
        engine,
        {"p": "S", "g": "S", "h": "S"},
        keys=("p",),
        globally=(
            {**index("by-g", key_schema("g")), "ProvisionedThroughput": units},
            {**index("by-h", key_schema("h")), "ProvisionedThroughput": units},
        ),
        BillingMode="PROVISIONED",
        ProvisionedThroughput=units,
    )
    more = {"ReadCapacityUnits": 2, "WriteCapacityUnits": 2}
    updates = [
        {"Update": {"IndexName": "by-g", "ProvisionedThroughput": more}},
        {"Delete": {"IndexName": "by-h"}},
    ]
    answer = call(engine, "UpdateTable", TableName=table, GlobalSecondaryIndexUpdates=updates)
    described = answer["TableDescription"]
    assert {
        each["IndexName"]: each["IndexStatus"] for each in described["GlobalSecondaryIndexes"]
    } == {
        "by-g": "UPDATING",
        "by-h": "DELETING",
    }
    assert [each["AttributeName"] for each in described["AttributeDefinitions"]] == ["g", "h", "p"]
    (left,) = describe_table(engine, table)["GlobalSecondaryIndexes"]
    assert (left["IndexName"], left["IndexStatus"]) == ("by-g", "ACTIVE")


def test_what_was_declared_survives_reopening(tmp_path: Any) -> None:
    path = tmp_path / "tables.db"
    with Engine.open(path) as engine:
        make_table(
            engine,
            {"p": "S", "g": "N"},
            name="books",
            keys=("p",),
            globally=(index("global", key_schema("g")),),
        )
        call(engine, "PutItem", TableName="books", Item={"p": s("a"), "g": n(1)})
        before = describe_table(engine, "books")
    with Engine.open(path) as engine:
        assert describe_table(engine, "books") == before
        assert call(engine, "Scan", TableName="books", IndexName="global")["Count"] == 1


# --- Indexes that come and go -------------------------------------------------------------------


def test_a_small_table_has_its_new_index_at_once(engine: Engine) -> None:
    table = make_table(engine, {"p": "S"}, keys=("p",))
    for number in range(10):
        item: Item = {"p": s(f"{number}"), "x": n(number)}
        # Some cannot be in the index, and do not hinder it.
        item["g"] = s("even") if number % 2 == 0 else n(number)
        call(engine, "PutItem", TableName=table, Item=item)
    answer = add_index(engine, table, index("new", key_schema("g"), "KEYS_ONLY"), g="S")
    (shown,) = answer["GlobalSecondaryIndexes"]
    assert (answer["TableStatus"], shown["IndexStatus"]) == ("UPDATING", "CREATING")
    ready = global_index(engine, table, "new")
    assert (ready["IndexStatus"], ready["ItemCount"]) == ("ACTIVE", 5)
    assert "Backfilling" not in ready
    found = call(
        engine,
        "Query",
        TableName=table,
        IndexName="new",
        KeyConditionExpression="g = :g",
        ExpressionAttributeValues={":g": s("even")},
    )
    assert {item["p"]["S"] for item in found["Items"]} == {"0", "2", "4", "6", "8"}


def test_a_dropped_index_is_gone_and_its_name_free(engine: Engine) -> None:
    table = make_table(
        engine, {"p": "S", "g": "S"}, keys=("p",), globally=(index("one", key_schema("g")),)
    )
    call(engine, "PutItem", TableName=table, Item={"p": s("a"), "g": s("b")})
    drop_index(engine, table, "one")
    assert "GlobalSecondaryIndexes" not in describe_table(engine, table)
    assert refusal_of(engine, "Scan", TableName=table, IndexName="one") == (
        "The table does not have the specified index: one"
    )
    # Nothing holds the attribute to its type any more.
    call(engine, "PutItem", TableName=table, Item={"p": s("b"), "g": n(1)})
    add_index(engine, table, index("one", key_schema("g")), g="N")
    assert global_index(engine, table, "one")["ItemCount"] == 1


# --- Counts -------------------------------------------------------------------------------------


def size_of(item: Item, names: set[str] | None = None) -> int:
    """Of items whose values are strings and one-digit numbers that are not 0."""
    return sum(
        len(name) + (len(value["S"]) if "S" in value else 2)
        for name, value in item.items()
        if names is None or name in names
    )


changes = st.lists(
    st.one_of(
        st.tuples(
            st.sampled_from(["put", "update"]),
            st.sampled_from("abcd"),
            st.sampled_from([None, "y", "z"]),
            st.sampled_from([None, "text", "longer text"]),
        ),
        st.tuples(st.just("delete"), st.sampled_from("abcd"), st.none(), st.none()),
        st.tuples(st.sampled_from(["drop", "make"]), st.just(""), st.none(), st.none()),
    ),
    max_size=25,
)


@given(changes)
def test_counts_and_sizes_are_true_after_any_sequence(
    shared_engine: Engine, script: list[tuple[str, str, str | None, str | None]]
) -> None:
    projected = {"p", "g"}
    table = make_table(
        shared_engine,
        {"p": "S", "g": "S"},
        keys=("p",),
        globally=(index("keys", key_schema("g"), "KEYS_ONLY"),),
    )
    items: dict[str, Item] = {}
    for step, p, g, text in script:
        item: Item = {"p": s(p), "x": n(7)}
        if g:
            item["g"] = s(g)
        if text:
            item["text"] = s(text)
        if step == "put":
            call(shared_engine, "PutItem", TableName=table, Item=item)
            items[p] = item
        elif step == "update":
            updates = {k: {"Action": "PUT", "Value": v} for k, v in item.items() if k != "p"}
            call(
                shared_engine,
                "UpdateItem",
                TableName=table,
                Key={"p": s(p)},
                AttributeUpdates=updates,
            )
            items[p] = {**items.get(p, {}), **item}
        elif step == "delete":
            call(shared_engine, "DeleteItem", TableName=table, Key={"p": s(p)})
            items.pop(p, None)
        elif step == "drop" and global_index(shared_engine, table, "keys"):
            drop_index(shared_engine, table, "keys")
        elif step == "make" and not global_index(shared_engine, table, "keys"):
            add_index(shared_engine, table, index("keys", key_schema("g"), "KEYS_ONLY"), g="S")
    shown = describe_table(shared_engine, table)
    assert (shown["ItemCount"], shown["TableSizeBytes"]) == (
        len(items),
        sum(map(size_of, items.values())),
    )
    if entry := global_index(shared_engine, table, "keys"):
        held = [item for item in items.values() if "g" in item]
        assert (entry["ItemCount"], entry["IndexSizeBytes"]) == (
            len(held),
            sum(size_of(item, projected) for item in held),
        )


# --- Large tables go bit by bit -----------------------------------------------------------------


def test_a_large_table_goes_at_once_and_its_rows_bit_by_bit() -> None:
    with Engine.memory(housekeeping=False) as engine:
        before = physical_tables(engine)
        for _ in range(2):
            make_table(
                engine,
                {"p": "S", "g": "S"},
                name="crowd",
                keys=("p",),
                globally=(index("global", key_schema("g")),),
            )
            fill(engine, "crowd", 2_500, g=s("same"))
            started = process_time()
            call(engine, "DeleteTable", TableName="crowd")
            assert process_time() - started < 0.5
            with pytest.raises(ResourceNotFoundException):
                call(engine, "Scan", TableName="crowd")
        assert any(name.startswith("discarded_") for name in physical_tables(engine))
        engine.tidy()
        assert physical_tables(engine) == before


def test_a_table_can_be_made_again_while_its_old_rows_go() -> None:
    with Engine.memory(housekeeping=False) as engine:
        make_table(engine, {"p": "S"}, name="crowd", keys=("p",))
        fill(engine, "crowd", 1_500)
        call(engine, "DeleteTable", TableName="crowd")
        make_table(engine, {"p": "S"}, name="crowd", keys=("p",))
        fill(engine, "crowd", 10)
        engine.tidy()
        assert call(engine, "Scan", TableName="crowd")["Count"] == 10
        assert describe_table(engine, "crowd")["ItemCount"] == 10


def test_wrong_requests_change_no_table(engine: Engine) -> None:
    make_table(engine, {"p": "S"}, name="books", keys=("p",))
    before = describe_table(engine, "books")
    odd: list[dict[str, Any]] = [{}, {"TableName": None}, {"TableName": 7}, {"TableName": "x"}]
    for operation in ("CreateTable", "UpdateTable", "DeleteTable", "DescribeTable"):
        for params in odd:
            with pytest.raises(DynamoDBError):
                call(engine, operation, **params)
    with pytest.raises(ValidationException):
        call(engine, "UpdateTable", TableName="books")
    assert describe_table(engine, "books") == before


def test_a_table_class_has_a_name(engine: Engine) -> None:
    """(DDB-TABLE-442 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    wrong = (
        "Invalid table-class parameter provided. Please try again with a valid table-class value: "
        "[STANDARD, STANDARD_INFREQUENT_ACCESS]."
    )
    made = {
        "TableName": "Classes",
        "KeySchema": key_schema("p"),
        "AttributeDefinitions": [{"AttributeName": "p", "AttributeType": "S"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    assert refusal_of(engine, "CreateTable", **made, TableClass="FAST") == wrong
    call(engine, "CreateTable", **made)
    assert refusal_of(engine, "UpdateTable", TableName="Classes", TableClass="FAST") == wrong


def test_an_answer_to_a_change_shows_what_is_not_yet_changed(engine: Engine) -> None:
    """(DDB-TABLE-361 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    once = {"ReadCapacityUnits": 1, "WriteCapacityUnits": 1}
    twice = {"ReadCapacityUnits": 2, "WriteCapacityUnits": 2}
    name = "Answers"
    call(
        engine,
        "CreateTable",
        TableName=name,
        KeySchema=key_schema("p"),
        AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"}],
        ProvisionedThroughput=once,
    )

    def answer(**changes: Any) -> Any:
        return call(engine, "UpdateTable", TableName=name, **changes)["TableDescription"]

    def reads(described: Any) -> tuple[str, int]:
        units = described["ProvisionedThroughput"]["ReadCapacityUnits"]
        return described["TableStatus"], units

    assert reads(answer(ProvisionedThroughput=twice)) == ("UPDATING", 1)
    assert reads(call(engine, "DescribeTable", TableName=name)["Table"]) == ("ACTIVE", 2)
    assert reads(answer(BillingMode="PAY_PER_REQUEST")) == ("UPDATING", 0)
    assert reads(answer(BillingMode="PROVISIONED", ProvisionedThroughput=once)) == ("UPDATING", 1)
    assert answer(DeletionProtectionEnabled=False)["TableStatus"] == "ACTIVE"
    answer(BillingMode="PAY_PER_REQUEST")
    limited = answer(OnDemandThroughput={"MaxReadRequestUnits": 9})
    assert (limited["TableStatus"], limited["OnDemandThroughput"]["MaxReadRequestUnits"]) == (
        "ACTIVE",
        9,
    )
    warm = {"ReadUnitsPerSecond": 15_000, "WriteUnitsPerSecond": 5_000}
    warmer = answer(WarmThroughput=warm)
    assert warmer["TableStatus"] == "ACTIVE"
    assert warmer["WarmThroughput"] == {
        "ReadUnitsPerSecond": 12_000,
        "WriteUnitsPerSecond": 4_000,
        "Status": "UPDATING",
    }
    assert "TableClassSummary" not in answer(TableClass="STANDARD_INFREQUENT_ACCESS")
    unlimited = answer(OnDemandThroughput={"MaxReadRequestUnits": -1})
    assert unlimited["OnDemandThroughput"] == {"MaxReadRequestUnits": -1}
    assert "OnDemandThroughput" not in call(engine, "DescribeTable", TableName=name)["Table"]
    encrypted = answer(SSESpecification={"Enabled": True})
    assert (encrypted["TableStatus"], encrypted["SSEDescription"]) == (
        "ACTIVE",
        {"Status": "UPDATING"},
    )


def test_the_dates_of_a_change_of_throughput_are_shown_at_once_and_of_billing_later(
    engine: Engine,
) -> None:
    """(DDB-TABLE-060, -064 and -184 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    call(
        engine,
        "CreateTable",
        TableName="Dates",
        KeySchema=key_schema("p"),
        AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"}],
        ProvisionedThroughput={"ReadCapacityUnits": 5, "WriteCapacityUnits": 5},
    )

    def answer(**changes: Any) -> Any:
        return call(engine, "UpdateTable", TableName="Dates", **changes)["TableDescription"]

    less = answer(ProvisionedThroughput={"ReadCapacityUnits": 4, "WriteCapacityUnits": 5})
    shown = describe_table(engine, "Dates")["ProvisionedThroughput"]
    assert less["ProvisionedThroughput"] == {
        "LastDecreaseDateTime": shown["LastDecreaseDateTime"],
        "NumberOfDecreasesToday": 0,
        "ReadCapacityUnits": 5,
        "WriteCapacityUnits": 5,
    }
    assert (shown["NumberOfDecreasesToday"], shown["ReadCapacityUnits"]) == (1, 4)
    assert less["WarmThroughput"]["ReadUnitsPerSecond"] == 5
    switch = answer(BillingMode="PAY_PER_REQUEST")
    assert switch["BillingModeSummary"] == {"BillingMode": "PAY_PER_REQUEST"}
    summary = describe_table(engine, "Dates")["BillingModeSummary"]
    assert "LastUpdateToPayPerRequestDateTime" in summary
    assert answer(BillingMode="PAY_PER_REQUEST")["BillingModeSummary"] == summary


def test_warm_throughput_is_shown_of_a_new_table_only_if_asked_for(engine: Engine) -> None:
    """(DDB-TABLE-033 and -134 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    warm = {"ReadUnitsPerSecond": 13_000, "WriteUnitsPerSecond": 5_000}

    def create(name: str, **more: Any) -> Any:
        by_p = {"IndexName": "by-p", "KeySchema": key_schema("p"), "WarmThroughput": warm}
        indexes = [{**by_p, "Projection": {"ProjectionType": "ALL"}}]
        made = call(
            engine,
            "CreateTable",
            TableName=name,
            KeySchema=key_schema("p"),
            AttributeDefinitions=[{"AttributeName": "p", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
            GlobalSecondaryIndexes=indexes,
            **more,
        )
        return made["TableDescription"]

    plain = create("Plain")
    assert "WarmThroughput" not in plain
    assert "WarmThroughput" not in plain["GlobalSecondaryIndexes"][0]
    assert create("Warm", WarmThroughput=warm)["WarmThroughput"] == {**warm, "Status": "UPDATING"}
    shown = describe_table(engine, "Plain")["GlobalSecondaryIndexes"][0]["WarmThroughput"]
    assert shown == {**warm, "Status": "ACTIVE"}


def test_an_index_is_answered_for_as_it_was_and_a_new_one_before_its_backfill(
    engine: Engine,
) -> None:
    """(DDB-TABLE-148 and -155 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    types = [{"AttributeName": name, "AttributeType": "S"} for name in "pd"]
    make_table(engine, {"p": "S"}, name="Indexed", keys=("p",))
    new = {"IndexName": "by-d", "KeySchema": key_schema("d")}
    create = {"Create": {**new, "Projection": {"ProjectionType": "ALL"}}}

    def answer(*updates: Any, **more: Any) -> Any:
        given = {"TableName": "Indexed", "GlobalSecondaryIndexUpdates": [*updates], **more}
        answered = call(engine, "UpdateTable", **given)["TableDescription"]
        (index,) = answered["GlobalSecondaryIndexes"]
        return index

    made = answer(create, AttributeDefinitions=types)
    assert (made["IndexStatus"], made["Backfilling"]) == ("CREATING", False)
    warm = {"ReadUnitsPerSecond": 12_001, "WriteUnitsPerSecond": 4_001}
    warmer = answer({"Update": {"IndexName": "by-d", "WarmThroughput": warm}})
    assert warmer["IndexStatus"] == "ACTIVE"
    assert warmer["WarmThroughput"] == {
        "ReadUnitsPerSecond": 12_000,
        "WriteUnitsPerSecond": 4_000,
        "Status": "UPDATING",
    }


@pytest.mark.parametrize(
    ("place", "code", "message"),
    [
        (
            "aws:dynamodb:eu-west-1:000000000000",
            "ValidationException",
            "1 validation error detected: Invalid AWS region in "
            "'arn:aws:dynamodb:eu-west-1:000000000000:table/books'",
        ),
        (
            "aws-cn:dynamodb:us-east-1:000000000000",
            "ValidationException",
            "1 validation error detected: Invalid AWS partition in "
            "'arn:aws-cn:dynamodb:us-east-1:000000000000:table/books'",
        ),
        ("aws:dynamodb:us-east-1:999999999999", "AccessDeniedException", "Access is denied"),
    ],
)
def test_the_arn_of_a_table_elsewhere_is_refused(
    engine: Engine, place: str, code: str, message: str
) -> None:
    """(DDB-TABLE-011 and -442 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    make_table(engine, {"p": "S"}, name="books", keys=("p",))
    for operation in (
        "DescribeTable DescribeTimeToLive DescribeContinuousBackups DescribeContributorInsights "
        "DescribeKinesisStreamingDestination DeleteTable"
    ).split():
        with pytest.raises(DynamoDBError) as caught:
            call(engine, operation, TableName=f"arn:{place}:table/books")
        assert (caught.value.code, caught.value.message) == (code, message)
