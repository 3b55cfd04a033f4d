"""Time to live and tags of a table, and AWS's words when a change is refused."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.engine.operations.alter_table import with_time_to_live
from bigtime.engine.operations.tags import tagged_resource, with_tags, without_tags
from bigtime.engine.validation.shapes import check
from bigtime.wire import (
    AccessDeniedException,
    DynamoDBError,
    ResourceNotFoundException,
    ValidationException,
)
from tests.engine.calls import call, make_table, refusal_of
from tests.engine.declarations import INVALID, plain, words


def test_time_to_live_is_switched_on_and_off_and_never_twice() -> None:
    on = {"Enabled": True, "AttributeName": "ttl"}
    off = {"Enabled": False, "AttributeName": "ttl"}
    table = with_time_to_live(plain(), on)
    assert table.ttl_attribute == "ttl"
    assert with_time_to_live(table, off) == plain()
    assert words(lambda: with_time_to_live(table, on)) == "TimeToLive is already enabled"
    assert words(lambda: with_time_to_live(plain(), off)) == "TimeToLive is already disabled"
    other = {"Enabled": True, "AttributeName": "other"}
    assert words(lambda: with_time_to_live(table, other)) == (
        "TimeToLive is active on a different AttributeName: current AttributeName is ttl"
    )


@given(st.dictionaries(st.text("abc", min_size=1, max_size=3), st.text("d e-\u00fc", max_size=3)))
def test_tags_come_and_go(tags: dict[str, str]) -> None:
    listed = [{"Key": key, "Value": value} for key, value in tags.items()]
    assert with_tags(plain(), listed).tags == tags
    assert without_tags(with_tags(plain(), listed), list(tags)) == plain()


def test_tagging_replaces_and_stops_at_fifty() -> None:
    table = with_tags(plain(), [{"Key": f"k{n}", "Value": "old"} for n in range(50)])
    assert with_tags(table, [{"Key": "k0", "Value": "new"}]).tags["k0"] == "new"
    assert words(lambda: with_tags(table, [{"Key": "more", "Value": ""}])) == (
        "Number of Tags exceed the current limit for the provided ResourceArn"
    )


ARN = "arn:aws:dynamodb:us-east-1:000000000000:table/table"


@pytest.mark.parametrize(
    ("operation", "params", "kind", "message"),
    [
        ("ListTagsOfResource", {}, ValidationException, "Invalid TableArn"),
        (
            "TagResource",
            {"ResourceArn": "abc"},
            ValidationException,
            INVALID + "ARNs must start with 'arn:': abc",
        ),
        (
            "ListTagsOfResource",
            {"ResourceArn": f"{ARN}/index/by-name"},
            ValidationException,
            INVALID + "Invalid resource arn provided, only table or stream is accepted. "
            f"Provided resource arn: {ARN}/index/by-name",
        ),
        (
            "TagResource",
            {"ResourceArn": ARN},
            ValidationException,
            "1 validation error detected: Value null at 'tags' failed to satisfy constraint: "
            "Member must not be null",
        ),
        (
            "UntagResource",
            {"ResourceArn": "arn:b:c:d:e:f/g", "TagKeys": []},
            ValidationException,
            "Invalid TableArn: Invalid ResourceArn provided as input arn:b:c:d:e:f/g",
        ),
        (
            "TagResource",
            {"ResourceArn": f"{ARN}/backup/01791504762511-2779fadd", "Tags": []},
            ValidationException,
            INVALID + "Provided Arn is not a DynamoDB resource arn: "
            f"{ARN}/backup/01791504762511-2779fadd",
        ),
        (
            "TagResource",
            {"ResourceArn": ARN, "Tags": []},
            ValidationException,
            "Atleast one Tag needs to be provided as Input.",
        ),
        (
            "UntagResource",
            {"ResourceArn": ARN, "TagKeys": []},
            ValidationException,
            "Atleast one Tag Key needs to be provided as Input.",
        ),
    ],
)
def test_bad_tag_call_is_refused(
    operation: str, params: dict[str, Any], kind: type[DynamoDBError], message: str
) -> None:
    checked = check(operation, params)
    assert words(lambda: tagged_resource(operation, checked), kind) == message


def test_tag_call_names_its_table() -> None:
    assert tagged_resource("ListTagsOfResource", {"ResourceArn": ARN}) == "table"


@pytest.mark.parametrize(
    ("place", "kind", "message"),
    [
        (
            "eu-west-1:000000000000",
            ValidationException,
            "Invalid TableArn: Invalid ResourceArn provided as input "
            "arn:aws:dynamodb:eu-west-1:000000000000:table/Things",
        ),
        ("us-east-1:999999999999", AccessDeniedException, "Access is denied"),
    ],
)
def test_tags_of_another_account_or_region_are_not_those_of_a_table_here(
    engine: Engine, place: str, kind: type[DynamoDBError], message: str
) -> None:
    """(DDB-TABLE-071 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    make_table(engine, {"p": "S"}, name="Things", keys=("p",))
    own = "arn:aws:dynamodb:us-east-1:000000000000:table/Things"
    there = f"arn:aws:dynamodb:{place}:table/Things"
    tags = [{"Key": "team", "Value": "shop"}]
    call(engine, "TagResource", ResourceArn=own, Tags=tags)
    for operation, more in (
        ("TagResource", {"Tags": [{"Key": "more", "Value": ""}]}),
        ("UntagResource", {"TagKeys": ["team"]}),
        ("ListTagsOfResource", {}),
    ):
        params: Any = {"ResourceArn": there, **more}
        assert words(partial(call, engine, operation, **params), kind) == message
    assert call(engine, "ListTagsOfResource", ResourceArn=own) == {"Tags": tags}


def test_tags_of_a_table_that_does_not_exist_are_not_found(engine: Engine) -> None:
    """(DDB-TABLE-070 and -071 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    make_table(engine, {"p": "S"}, name="table", keys=("p",))
    for arn in (ARN.replace("table/table", "table/TABLE"), f"{ARN}/stream/2026-01-01T00:00:00.000"):
        for operation, more in (
            ("TagResource", {"Tags": [{"Key": "more", "Value": ""}]}),
            ("UntagResource", {"TagKeys": ["team"]}),
            ("ListTagsOfResource", {}),
        ):
            params: Any = {"ResourceArn": arn, **more}
            assert words(partial(call, engine, operation, **params), ResourceNotFoundException) == (
                f"Requested resource not found: ResourceArn: {arn} not found"
            )


def test_tags_are_10240_bytes_at_most_with_those_that_are_there(engine: Engine) -> None:
    """(DDB-TABLE-109 and -442 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    table = with_tags(plain(), [{"Key": f"k{n:02}", "Value": "v" * 253} for n in range(40)])
    assert with_tags(table, [{"Key": "k00", "Value": "w" * 253}]).tags["k00"] == "w" * 253
    assert words(lambda: with_tags(table, [{"Key": "\u00fc", "Value": ""}])) == (
        "Tag set size 10242 bytes is above max size limit of 10240 bytes"
    )


def test_a_key_of_aws_is_neither_added_nor_removed() -> None:
    """(DDB-TABLE-105 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    refused = "Tag Key cannot be prefixed with aws:, Key: AWS:foo"
    assert words(lambda: with_tags(plain(), [{"Key": "AWS:foo", "Value": ""}])) == refused
    assert words(lambda: without_tags(plain(), ["AWS:foo"])) == refused


def test_the_length_of_a_tag_is_refused_in_the_message_for_its_text(engine: Engine) -> None:
    """(DDB-TABLE-107 of https://github.com/aws-controllers-k8s/dynamodb-controller)"""
    arn = call(engine, "DescribeTable", TableName=make_table(engine, {"p": "S", "s": "S"}))[
        "Table"
    ]["TableArn"]
    long = "k" * 129
    for tag, message in (
        ({"Key": long, "Value": "x"}, f"The Tag Key provided is invalid, Key: {long}"),
        ({"Key": "", "Value": "x"}, "The Tag Key provided is invalid, Key: "),
        (
            {"Key": "x", "Value": "v" * 257},
            f"The Tag Value provided is invalid, Value: {'v' * 257}",
        ),
        ({"Key": "x"}, "The Tag Value provided is invalid, Value: null"),
        ({"Value": "x"}, "The Tag Key provided is invalid, Key: null"),
        ({}, "The Tag Key provided is invalid, Key: null"),
    ):
        assert refusal_of(engine, "TagResource", ResourceArn=arn, Tags=[tag]) == message
    for keys, message in (
        ([long], f"The Tag Key provided is invalid, Key: {long}"),
        (
            [f"k{number}" for number in range(51)],
            "Number of Tags exceed the current limit for the provided ResourceArn",
        ),
    ):
        assert refusal_of(engine, "UntagResource", ResourceArn=arn, TagKeys=keys) == message
