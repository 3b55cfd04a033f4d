"""What a request says in expressions, or in the legacy parameters, read in DynamoDB's order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from bigtime.engine.expressions import legacy
from bigtime.engine.expressions.condition import Filter
from bigtime.engine.expressions.condition_parser import parse_condition
from bigtime.engine.expressions.key_condition import KeyProgram, KeyTerm
from bigtime.engine.expressions.lexer import ExpressionError
from bigtime.engine.expressions.parser import Parsed, parse_projection
from bigtime.engine.expressions.programs import (
    CONDITIONS,
    KEY_CONDITIONS,
    PROJECTIONS,
    UPDATES,
    Programs,
)
from bigtime.engine.expressions.projection import Projection
from bigtime.engine.expressions.update import Update
from bigtime.engine.expressions.update_parser import parse_update
from bigtime.wire import AttributeValue, Item, Params, ValidationException
from bigtime.wire import values as attribute_values

Program = TypeVar("Program")
Tree = TypeVar("Tree")

NAME_KEY = re.compile("#[0-9a-zA-Z_]+")
VALUE_KEY = re.compile(":[0-9a-zA-Z_]+")
JOINED_CONDITIONS = ("Expected", "QueryFilter", "ScanFilter")
MAX_KEY_BYTES = 255
MAX_PLACEHOLDER_BYTES = 2 * 1024 * 1024


class Expressions(NamedTuple):
    """All that one request says, ready to be used on items; None for what it does not say."""

    condition: Callable[[Item], bool] | None = None
    filter: Filter | None = None
    update: Update | None = None
    projection: Projection | None = None
    key_condition: tuple[KeyTerm, ...] | None = None


def check_parameters(
    params: Params, *, expressions: tuple[str, ...], legacy: tuple[str, ...]
) -> None:
    """Expressions and legacy parameters do not mix, and placeholders need an expression."""
    given = [name for name in expressions if params.get(name) is not None]
    old = [name for name in legacy if params.get(name) is not None]
    if "KeyConditions" in old and params.get("KeyConditionExpression") is None:
        # Query alone may filter by expression what it finds by KeyConditions.
        old.remove("KeyConditions")
    if given and old:
        raise ValidationException(
            "Can not use both expression and non-expression parameters in the same request: "
            f"Non-expression parameters: {{{', '.join(old)}}} "
            f"Expression parameters: {{{', '.join(given)}}}"
        )
    check_conditional_operator(params)
    check_placeholders_needed(params, expressions, given)


def check_conditional_operator(params: Params) -> None:
    if params.get("ConditionalOperator") is None:
        return
    joined = [params[name] for name in JOINED_CONDITIONS if params.get(name) is not None]
    if not joined:
        raise ValidationException("ConditionalOperator cannot be used without Filter or Expected")
    if any(len(conditions) < 2 for conditions in joined):
        raise ValidationException(
            "ConditionalOperator can only be used when Filter or Expected has two or more elements"
        )


def check_placeholders_needed(
    params: Params, expressions: Sequence[str], given: Sequence[str]
) -> None:
    if params.get("ExpressionAttributeNames") is not None and not given:
        raise ValidationException(
            "ExpressionAttributeNames can only be specified when using expressions"
        )
    with_values = [name for name in expressions if name != "ProjectionExpression"]
    if params.get("ExpressionAttributeValues") is None or not with_values:
        return
    if all(params.get(name) is None for name in with_values):
        verb = "are" if len(with_values) > 1 else "is"
        raise ValidationException(
            "ExpressionAttributeValues can only be specified when using expressions: "
            f"{' and '.join(with_values)} {verb} null"
        )


def read_expressions(params: Params) -> Expressions:
    update, condition, filter_, projected = read_legacy(params)
    names = read_names(params.get("ExpressionAttributeNames"))
    values, value_bytes = read_values(params.get("ExpressionAttributeValues"))
    if names:
        check_placeholder_size(names, value_bytes)
    reading = ExpressionReader(names, values)
    if (text := params.get("UpdateExpression")) is not None:
        update = reading.update(text)
    if (text := params.get("ConditionExpression")) is not None:
        condition = reading.condition("ConditionExpression", text)
    key_program = None
    if (text := params.get("KeyConditionExpression")) is not None:
        key_program = reading.key_condition(text)
    if (text := params.get("FilterExpression")) is not None:
        filter_ = reading.condition("FilterExpression", text)
    if (text := params.get("ProjectionExpression")) is not None:
        projected = reading.projection(text)
    reading.check_all_used()
    terms = None
    if key_program is not None:
        terms = key_program.bind(values)
    elif (conditions := params.get("KeyConditions")) is not None:
        terms = legacy.read_key_conditions(conditions)
    matches = None if condition is None else condition.matches
    return Expressions(matches, filter_, update, projected, terms)


def read_legacy(
    params: Params,
) -> tuple[Update | None, Filter | None, Filter | None, Projection | None]:
    update = condition = filter_ = projected = None
    operator = params.get("ConditionalOperator")
    if (updates := params.get("AttributeUpdates")) is not None:
        update = legacy.read_attribute_updates(updates)
    if (expected := params.get("Expected")) is not None:
        condition = legacy.read_expected(expected, operator)
    if (names := params.get("AttributesToGet")) is not None:
        projected = legacy.read_attributes_to_get(names)
    for parameter in ("QueryFilter", "ScanFilter"):
        if (conditions := params.get(parameter)) is not None:
            filter_ = legacy.read_filter(conditions, operator)
    return update, condition, filter_, projected


def read_names(names: Mapping[str, str] | None) -> Mapping[str, str]:
    if names is None:
        return {}
    check_keys("ExpressionAttributeNames", names, NAME_KEY)
    for key, name in names.items():
        if not name:
            raise ValidationException(
                "ExpressionAttributeNames contains invalid value: "
                f"Empty attribute name for key {key}"
            )
    return names


def read_values(given: Mapping[str, Any] | None) -> tuple[dict[str, AttributeValue], int]:
    """The values as they are compared and stored, and their size with their keys."""
    values: dict[str, AttributeValue] = {}
    total = 0
    if given is not None:
        check_keys("ExpressionAttributeValues", given, VALUE_KEY)
        for key, value in given.items():
            try:
                values[key], size = attribute_values.check_value(value)
            except ValidationException as error:
                raise ValidationException(
                    f"ExpressionAttributeValues contains invalid value: {error} for key {key}"
                ) from None
            total += size + len(key)
            if total > MAX_PLACEHOLDER_BYTES:
                raise ValidationException("ExpressionAttributeValues exceeds max size")
    return values, total


def check_keys(parameter: str, mapping: Mapping[str, Any], pattern: re.Pattern[str]) -> None:
    if not mapping:
        raise ValidationException(f"{parameter} must not be empty")
    for key in mapping:
        if len(key) > MAX_KEY_BYTES:
            raise ValidationException(
                f"{parameter} contains invalid key: The expression attribute map contains a key "
                f"that is too long; size of key: {len(key)}"
            )
        if not pattern.fullmatch(key):
            raise ValidationException(
                f'{parameter} contains invalid key: Syntax error; key: "{key}"'
            )


def check_placeholder_size(names: Mapping[str, str], value_bytes: int) -> None:
    name_bytes = sum(len(key) + len(name) for key, name in names.items())
    if name_bytes > MAX_PLACEHOLDER_BYTES:
        raise ValidationException("ExpressionAttributeNames exceeds max size")
    if name_bytes + value_bytes > MAX_PLACEHOLDER_BYTES:
        raise ValidationException(
            "Combined size of ExpressionAttributeNames and ExpressionAttributeValues exceeds "
            "max size"
        )


class ExpressionReader:
    """The names and values of one request, and which of them its expressions have used."""

    def __init__(self, names: Mapping[str, str], values: dict[str, AttributeValue]) -> None:
        self.names = names
        self.values = values
        self.used_names: set[str] = set()
        self.used_values: set[str] = set()

    def update(self, text: str) -> Update:
        return self.read("UpdateExpression", text, parse_update, UPDATES).bind(self.values)

    def condition(self, parameter: str, text: str) -> Filter:
        return self.read(parameter, text, parse_condition, CONDITIONS).bind(self.values)

    def key_condition(self, text: str) -> KeyProgram:
        return self.read("KeyConditionExpression", text, parse_condition, KEY_CONDITIONS)

    def projection(self, text: str) -> Projection:
        return self.read("ProjectionExpression", text, parse_projection, PROJECTIONS)

    def read(
        self,
        parameter: str,
        text: str,
        parse: Callable[[str], Parsed[Tree]],
        programs: Programs[Tree, Program],
    ) -> Program:
        try:
            parsed = parse(text)
            self.used_names.update(parsed.aliases)
            self.used_values.update(parsed.values)
            return programs.program(text, parsed, self.names, self.values)
        except ExpressionError as error:
            raise ValidationException(f"Invalid {parameter}: {error}") from None

    def check_all_used(self) -> None:
        check_used("ExpressionAttributeNames", self.names, self.used_names)
        check_used("ExpressionAttributeValues", self.values, self.used_values)


def check_used(parameter: str, given: Mapping[str, Any], used: set[str]) -> None:
    # Whatever is used was given, or there would have been an error by now.
    if len(given) > len(used):
        unused = ", ".join(key for key in given if key not in used)
        raise ValidationException(
            f"Value provided in {parameter} unused in expressions: keys: {{{unused}}}"
        )
