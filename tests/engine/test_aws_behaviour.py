"""What AWS was seen to do where its documentation says little, and local engines often differ.

Sources: AWS's own messages as recorded by ScyllaDB's Alternator tests, nubo-db's
dynamodb-conformance (run on AWS in 2026) and ack-api-quirks (AWS, October 2026).
"""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine import Engine
from tests.engine.calls import call, index, key_schema, make_table, n, refused, s

KEY = {"p": s("a"), "s": s("b")}


@pytest.fixture
def table(engine: Engine) -> str:
    """A table with a global index over the attribute `d`."""
    return make_table(
        engine,
        {"p": "S", "s": "S", "d": "S"},
        name="Things",
        globally=(index("ByD", key_schema("d")),),
    )


def update(engine: Engine, text: str, **more: Any) -> Any:
    return call(engine, "UpdateItem", TableName="Things", Key=KEY, UpdateExpression=text, **more)


# --- Expressions --------------------------------------------------------------------------


def test_a_query_without_its_values_is_refused_also_when_its_text_is_known(
    engine: Engine, table: str
) -> None:
    asked = {"TableName": table, "KeyConditionExpression": "p = :p"}
    first = refused(engine, **asked)
    assert first == (
        "Invalid KeyConditionExpression: An expression attribute value used in expression is not "
        "defined; attribute value: :p"
    )
    call(engine, "Query", **asked, ExpressionAttributeValues={":p": s("a")})
    assert refused(engine, **asked) == first


@pytest.mark.parametrize("text", ["REMOVE x.y", "REMOVE x[0]", "REMOVE x.y, z[0].w"])
def test_removing_a_path_of_an_item_that_does_not_exist_does_nothing(
    engine: Engine, table: str, text: str
) -> None:
    assert update(engine, text, ReturnValues="ALL_NEW") == {}
    assert "Item" not in call(engine, "GetItem", TableName=table, Key=KEY)
    call(engine, "PutItem", TableName=table, Item=KEY)
    assert refused(engine, "UpdateItem", TableName=table, Key=KEY, UpdateExpression=text) == (
        "The document path provided in the update expression is invalid for update"
    )


@pytest.mark.parametrize(
    ("text", "role"), [("SET x = d.e", "IndexKey: d"), ("SET x = if_not_exists(p[0], x)", "Key: p")]
)
def test_an_update_reads_no_path_into_a_key(
    engine: Engine, table: str, text: str, role: str
) -> None:
    assert refused(engine, "UpdateItem", TableName=table, Key=KEY, UpdateExpression=text) == (
        "Key attributes must be scalars; list random access '[]' and map lookup '.' are not "
        f"allowed: {role}"
    )


def test_an_update_reads_a_key_whole(engine: Engine, table: str) -> None:
    update(engine, "SET x = p")
    assert call(engine, "GetItem", TableName=table, Key=KEY)["Item"]["x"] == s("a")
