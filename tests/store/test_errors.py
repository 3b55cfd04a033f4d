"""Errors cross a network as themselves."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.store.errors import MODELLED, ServerFailure, UnmodelledError, error_in
from bigtime.wire import (
    ConditionalCheckFailedException,
    DynamoDBError,
    InternalServerError,
    ResourceNotFoundException,
    TransactionCanceledException,
)

PLAIN = [
    kind
    for kind in MODELLED.values()
    if kind is not DynamoDBError
    and not issubclass(kind, TransactionCanceledException | InternalServerError)
]


def cross_http(error: DynamoDBError) -> DynamoDBError:
    return error_in(error.status, orjson.dumps(error.body()))


@given(kind=st.sampled_from(PLAIN), message=st.text(min_size=1))
def test_an_error_crosses_with_its_class_and_its_words(
    kind: type[DynamoDBError], message: str
) -> None:
    error = cross_http(kind(message))
    assert (type(error), error.code, error.message) == (kind, kind.__name__, message)


def test_a_failed_condition_crosses_with_its_item() -> None:
    item = {"pk": {"S": "a"}}
    error = cross_http(ConditionalCheckFailedException(item=item))
    assert isinstance(error, ConditionalCheckFailedException)
    assert error.item == item


def test_a_cancelled_transaction_crosses_with_its_reasons() -> None:
    reasons: list[dict[str, Any]] = [
        {"Code": "None"},
        {"Code": "ConditionalCheckFailed", "Message": "no", "Item": {"pk": {"S": "a"}}},
    ]
    error = cross_http(TransactionCanceledException(reasons))
    assert isinstance(error, TransactionCanceledException)
    assert error.reasons == reasons
    assert error.message.endswith("[None, ConditionalCheckFailed]")


@pytest.mark.parametrize(
    "type_",
    [
        "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException",
        "ResourceNotFoundException",
        "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException:http://internal.amazon.com/",
    ],
)
def test_every_way_of_naming_an_error_is_understood(type_: str) -> None:
    error = error_in(400, orjson.dumps({"__type": type_, "Message": "No table."}))
    assert isinstance(error, ResourceNotFoundException)
    assert error.message == "No table."


def test_an_unknown_error_keeps_its_code() -> None:
    body = b'{"__type":"com.amazon.coral.service#ThrottlingException","message":"Slow down"}'
    error = error_in(400, body)
    assert isinstance(error, UnmodelledError)
    assert (error.code, str(error)) == ("ThrottlingException", "Slow down")


def test_a_server_failure_is_an_internal_server_error_with_the_code_it_came_with() -> None:
    error = cross_http(InternalServerError("Try again"))
    assert isinstance(error, ServerFailure) and isinstance(error, InternalServerError)
    assert (error.code, error.message) == ("InternalServerError", "Try again")


@pytest.mark.parametrize("body", [b"", b"<html>Bad Gateway</html>", b"[1]", b"\xff\xfe", b"null"])
def test_an_answer_that_is_not_dynamodbs_is_named_by_its_status(body: bytes) -> None:
    failure, refusal = error_in(502, body), error_in(413, body)
    assert isinstance(failure, ServerFailure) and failure.code == "HTTP 502"
    assert isinstance(refusal, UnmodelledError) and refusal.code == "HTTP 413"
    assert refusal.message == body.decode("utf-8", "replace")
