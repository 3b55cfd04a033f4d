"""Short ways to read one expression, as a request would bring it."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.engine.expressions.parameters import Expressions, read_expressions
from bigtime.wire import AttributeValue, Item, ValidationException


def attribute_value(value: Any) -> AttributeValue:
    """A plain Python value as an attribute value; one that is tagged already stays."""
    if isinstance(value, dict):
        return value
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, int):
        return {"N": str(value)}
    if isinstance(value, list):
        return {"L": [attribute_value(each) for each in value]}
    if value is None:
        return {"NULL": True}
    return {"S": value}


def map_value(**members: Any) -> AttributeValue:
    return {"M": item(**members)}


def item(**attributes: Any) -> Item:
    return {name: attribute_value(value) for name, value in attributes.items()}


def read(parameter: str, text: str, names: Any = None, **values: Any) -> Expressions:
    """`values` are named without their colon."""
    params: dict[str, Any] = {parameter: text}
    if names:
        params["ExpressionAttributeNames"] = names
    if values:
        params["ExpressionAttributeValues"] = {
            f":{name}": attribute_value(value) for name, value in values.items()
        }
    return read_expressions(params)


def holds(text: str, subject: Item, names: Any = None, **values: Any) -> bool:
    condition = read("ConditionExpression", text, names, **values).condition
    assert condition is not None
    return condition(subject)


def apply_update(text: str, subject: Item, names: Any = None, **values: Any) -> Item:
    update = read("UpdateExpression", text, names, **values).update
    assert update is not None
    return update.apply(subject)


def project(text: str, subject: Item, names: Any = None) -> Item:
    projection = read("ProjectionExpression", text, names).projection
    assert projection is not None
    return projection(subject)


def refusal(parameter: str, text: str, names: Any = None, **values: Any) -> str:
    """What DynamoDB says against the expression."""
    with pytest.raises(ValidationException) as caught:
        read(parameter, text, names, **values)
    return caught.value.message
