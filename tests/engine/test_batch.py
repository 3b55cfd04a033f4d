"""BatchGetItem and BatchWriteItem."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.wire import DynamoDBError, Item, Request, Response

INVALID = "One or more parameter values were invalid: "
NOT_FOUND = "Requested resource not found"
NO_MATCH = "The provided key element does not match the schema"
DUPLICATES = "Provided list of item keys contains duplicates"
MANY_DATATYPES = (
    "Supplied AttributeValue has more than one datatypes set, "
    "must contain exactly one of the supported datatypes"
)
MAX_ITEM = 409_600


@pytest.fixture(autouse=True)
def tables(engine: Engine) -> None:
    for name in ("things", "others"):
        declare(engine, name)


def declare(engine: Engine, name: str) -> None:
    params = {
        "TableName": name,
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "N"},
            {"AttributeName": "g", "AttributeType": "S"},
        ],
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "by-g",
                "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }
    engine(Request("CreateTable", params))


def key(number: int, partition: str | None = None) -> Item:
    return {"pk": {"S": partition or str(number)}, "sk": {"N": str(number)}}


def item_of_size(size: int, key: Item) -> Item:
    bare = len("pk") + len(key["pk"]["S"]) + len("sk") + 2 + len("x")
    return {**key, "x": {"S": "x" * (size - bare)}}


def get(engine: Engine, **tables: Any) -> Response:
    return engine(Request("BatchGetItem", {"RequestItems": tables}))


def write(engine: Engine, **tables: Any) -> Response:
    return engine(Request("BatchWriteItem", {"RequestItems": tables}))


def put(item: Item) -> Response:
    return {"PutRequest": {"Item": item}}


def delete(key: Item) -> Response:
    return {"DeleteRequest": {"Key": key}}


def scan(engine: Engine, table: str = "things") -> list[Item]:
    found: list[Item] = engine(Request("Scan", {"TableName": table}))["Items"]
    return found


def refusal(engine: Engine, operation: str, tables: Any) -> str:
    """The words of the refusal; and nothing has changed."""
    before = scan(engine)
    with pytest.raises(DynamoDBError) as caught:
        engine(Request(operation, {"RequestItems": tables}))
    assert scan(engine) == before
    return caught.value.message


# --- BatchGetItem ---------------------------------------------------------------------------


def test_items_come_back_by_table(engine: Engine) -> None:
    write(engine, things=[put(key(1)), put(key(2))], others=[put(key(1))])
    answer = get(
        engine,
        things={"Keys": [key(1), key(2), key(3)]},
        others={"Keys": [key(1)], "ConsistentRead": True, "ProjectionExpression": "sk"},
    )
    assert sorted(answer["Responses"].pop("things"), key=str) == [key(1), key(2)]
    assert answer == {"Responses": {"others": [{"sk": {"N": "1"}}]}, "UnprocessedKeys": {}}


def test_a_table_without_the_items_has_an_empty_list(engine: Engine) -> None:
    assert get(engine, things={"Keys": [key(1)]}) == {
        "Responses": {"things": []},
        "UnprocessedKeys": {},
    }


def test_attributes_to_get_select_too(engine: Engine) -> None:
    write(engine, things=[put(key(1))])
    found = get(engine, things={"Keys": [key(1)], "AttributesToGet": ["pk"]})
    assert found["Responses"] == {"things": [{"pk": {"S": "1"}}]}


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {
                "things": {
                    "Keys": [{"pk": {"SS": []}}],
                    "ProjectionExpression": "x",
                    "AttributesToGet": ["x"],
                }
            },
            "Can not use both expression and non-expression parameters in the same request: "
            "Non-expression parameters: {AttributesToGet} "
            "Expression parameters: {ProjectionExpression}",
        ),
        (
            {"things": {"Keys": [{"pk": {"SS": []}}], "AttributesToGet": ["a", "a"]}},
            INVALID + "Duplicate value in attribute name: a",
        ),
        (
            {"things": {"Keys": [key(1), key(1), {"pk": {"SS": []}}]}, "none": {"Keys": [{}]}},
            DUPLICATES,
        ),
        (
            {"things": {"Keys": [key(1), {**key(1), "sk": {"N": "1.0"}}]}},
            DUPLICATES,
        ),
        (
            {"things": {"Keys": [{"pk": {"SS": []}}, key(1), key(1)]}},
            INVALID + "An string set  may not be empty",
        ),
        (
            {
                "things": {"Keys": [key(number) for number in range(60)]},
                "others": {"Keys": [key(number) for number in range(41)]},
            },
            "Too many items requested for the BatchGetItem call",
        ),
        ({"things": {"Keys": [{"pk": {"S": "a"}}]}, "none": {"Keys": [{}]}}, NO_MATCH),
        ({"none": {"Keys": [{}]}, "things": {"Keys": [{"pk": {"S": "a"}}]}}, NOT_FOUND),
        (
            {"things": {"Keys": [key(1)], "ProjectionExpression": "pk.x"}, "none": {"Keys": [{}]}},
            NOT_FOUND,
        ),
        (
            {"things": {"Keys": [key(1)], "ProjectionExpression": "pk.x"}},
            "Key attributes must be scalars; list random access '[]' and map lookup '.' "
            "are not allowed: Key: pk",
        ),
        (
            {"things": {"Keys": [{**key(1), "pk": {"S": ""}}]}},
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: pk",
        ),
        (
            {"things": {"Keys": [{**key(1), "pk": {"S": "x" * 2049}}]}},
            INVALID + "Size of hashkey has exceeded the maximum size limit of2048 bytes",
        ),
        ({"things": {"Keys": [{"\ud800": {"S": "x"}}]}}, "Unexpected token received from parser"),
    ],
)
def test_batch_get_reports_the_first_fault(engine: Engine, asked: Any, message: str) -> None:
    assert refusal(engine, "BatchGetItem", asked) == message


def test_a_hundred_keys_are_not_too_many(engine: Engine) -> None:
    keys = [key(number) for number in range(100)]
    for start in range(0, 100, 25):
        write(engine, things=[put(each) for each in keys[start : start + 25]])
    assert len(get(engine, things={"Keys": keys})["Responses"]["things"]) == 100
    message = refusal(engine, "BatchGetItem", {"things": {"Keys": [*keys, key(100)]}})
    assert message.endswith("Member must have length less than or equal to 100")


def test_a_response_holds_16_mb(engine: Engine) -> None:
    # AWS's own example, API_BatchGetItem.html: 52 items of 300 KB.
    keys = [key(number) for number in range(60)]
    for start in range(0, 60, 20):
        items = [item_of_size(300 * 1024, each) for each in keys[start : start + 20]]
        write(engine, things=[put(item) for item in items])
    table = {"Keys": keys, "ProjectionExpression": "#s", "ExpressionAttributeNames": {"#s": "sk"}}
    answer = get(engine, things=table)
    assert len(answer["Responses"]["things"]) == 52
    assert answer["UnprocessedKeys"] == {"things": {**table, "Keys": keys[52:]}}
    rest = get(engine, **answer["UnprocessedKeys"])
    assert len(rest["Responses"]["things"]) == 8
    assert rest["UnprocessedKeys"] == {}


def test_a_partition_gives_1_mb_at_a_time(engine: Engine) -> None:
    together = [key(number, "same") for number in range(6)]
    apart = key(6, "other")
    items = [item_of_size(MAX_ITEM, each) for each in (*together, apart)]
    write(engine, things=[put(item) for item in items])
    answer = get(engine, things={"Keys": [*together, apart]})
    assert len(answer["Responses"]["things"]) == 4
    assert answer["UnprocessedKeys"] == {"things": {"Keys": together[3:]}}


# --- BatchWriteItem -------------------------------------------------------------------------


def test_a_batch_puts_and_deletes_in_several_tables(engine: Engine) -> None:
    write(engine, things=[put(key(1))])
    changed = {**key(2), "a": {"S": "x"}}
    assert write(engine, things=[delete(key(1)), put(changed)], others=[put(key(1))]) == {
        "UnprocessedItems": {}
    }
    assert scan(engine) == [changed]
    assert scan(engine, "others") == [key(1)]


def test_equal_keys_in_two_tables_are_two_items(engine: Engine) -> None:
    write(engine, things=[put(key(1))], others=[put(key(1))])
    assert scan(engine) == scan(engine, "others") == [key(1)]


def test_twenty_five_writes_are_not_too_many(engine: Engine) -> None:
    write(engine, things=[put(key(number)) for number in range(25)])
    assert len(scan(engine)) == 25


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {
                "things": [put({"pk": {"SS": []}})] * 20,
                "others": [put(key(number)) for number in range(6)],
            },
            "Too many items requested for the BatchWriteItem call",
        ),
        ({"things": [put({"pk": {"SS": []}}), {}], "none": [{}]}, MANY_DATATYPES),
        ({"things": [{**put(key(1)), **delete(key(1))}]}, MANY_DATATYPES),
        (
            {"things": [put(key(1)), put({"pk": {"SS": []}})], "none": [put({})]},
            INVALID + "An string set  may not be empty",
        ),
        (
            {"none": [put({})], "things": [put(key(1)), put(item_of_size(MAX_ITEM + 1, key(2)))]},
            "Item size has exceeded the maximum allowed size",
        ),
        ({"none": [put({})], "things": [put(key(1)), put(key(1))]}, NOT_FOUND),
        ({"things": [put(key(1)), put(key(1))], "none": [put({})]}, DUPLICATES),
        ({"things": [put(key(1)), delete({**key(1), "sk": {"N": "1.0"}})]}, DUPLICATES),
        ({"things": [put(key(1)), put({"pk": {"S": "a"}})]}, NO_MATCH),
        ({"things": [put(key(1)), put({**key(2), "sk": {"S": "2"}})]}, NO_MATCH),
        ({"things": [put(key(1)), delete({**key(2), "x": {"S": "x"}})]}, NO_MATCH),
        (
            {"things": [put(key(1)), put({**key(2), "g": {"N": "1"}})]},
            INVALID + "Type mismatch for Index Key g Expected: S Actual: N IndexName: by-g",
        ),
        (
            {"things": [put(key(1)), put({**key(2), "g": {"S": ""}})]},
            "One or more parameter values are not valid. A value specified for a secondary index "
            "key is not supported. The AttributeValue for a key attribute cannot contain an empty "
            "string value. IndexName: by-g, IndexKey: g",
        ),
        (
            {"things": [put(key(1)), put({**key(2), "pk": {"S": ""}})]},
            "One or more parameter values are not valid. The AttributeValue for a key attribute "
            "cannot contain an empty string value. Key: pk",
        ),
    ],
)
def test_batch_write_reports_the_first_fault(engine: Engine, asked: Any, message: str) -> None:
    assert refusal(engine, "BatchWriteItem", asked) == message


# --- Unprocessed on demand ------------------------------------------------------------------


def test_what_a_batch_leaves_can_be_sent_as_it_is(engine: Engine) -> None:
    engine.faults.leave_unprocessed(next=1)
    requests = [put(key(1)), put(key(2)), delete(key(3)), put(key(4))]
    answer = write(engine, things=requests)
    assert answer == {"UnprocessedItems": {"things": requests[2:]}}
    assert write(engine, **answer["UnprocessedItems"]) == {"UnprocessedItems": {}}
    assert len(scan(engine)) == 3
    engine.faults.leave_unprocessed(next=1)
    table = {"Keys": [key(1), key(2), key(4)], "ConsistentRead": True}
    found = get(engine, things=table)
    assert found["Responses"]["things"] == [key(1)]
    assert found["UnprocessedKeys"] == {"things": {**table, "Keys": [key(2), key(4)]}}
