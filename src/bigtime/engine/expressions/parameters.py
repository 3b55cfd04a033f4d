"""Reads a request's expressions, or its legacy parameters, in DynamoDB's order.

Requests repeat their expressions with other values. Whether an expression is valid depends on its
text, the names and the types of the values. So the compiled form is cached under these (`PLANS`),
and each request only checks and binds its values. A few conditions also depend on the values
themselves, such as BETWEEN with reversed bounds: those are checked every time.

AWS documents neither the order of these checks nor their messages: dynalite's tests have recorded
both (https://github.com/architect/dynalite/tree/main/test), and those of sizes are also in AWS's
own DAX client (https://pypi.org/project/amazon-dax-client).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from bigtime.engine.expressions import check, legacy, parser, paths, tree
from bigtime.engine.expressions.condition import ConditionProgram, Filter, Values, compile_condition
from bigtime.engine.expressions.condition_parser import parse_condition
from bigtime.engine.expressions.key_condition import KeyProgram, KeyTerm, compile_key_condition
from bigtime.engine.expressions.lexer import ExpressionError
from bigtime.engine.expressions.update import Update, UpdateProgram, compile_update
from bigtime.wire import AttributeValue, Item, Params, ValidationException, check_value

Program = TypeVar("Program")
Tree = TypeVar("Tree")

TEXTS = tuple(
    "UpdateExpression ConditionExpression KeyConditionExpression FilterExpression"
    " ProjectionExpression".split()
)
JOINED_CONDITIONS = ("Expected", "QueryFilter", "ScanFilter")
LEGACY = frozenset({"AttributeUpdates", "AttributesToGet", "KeyConditions", *JOINED_CONDITIONS})
NAME_KEY = re.compile("#[0-9a-zA-Z_]+")
VALUE_KEY = re.compile(":[0-9a-zA-Z_]+")
# AWS: "Constraints in Amazon DynamoDB", "Expression parameters"
# https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
MAX_KEY_BYTES = 255
MAX_PLACEHOLDER_BYTES = 2 * 1024 * 1024
MOST_PLANS = 1024


class Expressions(NamedTuple):
    """One request's expressions, ready to be applied to items; None for those it lacks."""

    condition: Callable[[Item], bool] | None = None
    filter: Filter | None = None
    update: Update | None = None
    projection: paths.Projection | None = None
    key_condition: tuple[KeyTerm, ...] | None = None
    value_bytes: int = 0
    """The size of ExpressionAttributeValues, without their keys."""


class ExpressionPlan(NamedTuple):
    """The programs of a request's texts, and the conditions to check for each request."""

    update: UpdateProgram | None
    condition: ConditionProgram | None
    key_condition: KeyProgram | None
    filter: ConditionProgram | None
    projection: paths.Projection | None
    rechecked: dict[str, tree.Condition]


PLANS: dict[object, ExpressionPlan] = {}
NOTHING = Expressions()


def check_parameters(
    params: Params, *, expressions: tuple[str, ...], legacy: tuple[str, ...]
) -> None:
    """Rejects expressions mixed with legacy parameters, and placeholders without expressions."""
    members = tuple(params)
    check_not_mixed(members, expressions, legacy)
    if "ConditionalOperator" in params:
        check_conditional_operator(params)
    check_placeholders_needed(members, expressions)


@lru_cache(1024)
def check_not_mixed(
    members: tuple[str, ...], expressions: tuple[str, ...], legacy: tuple[str, ...]
) -> None:
    given = [name for name in expressions if name in members]
    old = [name for name in legacy if name in members]
    if "KeyConditions" in old and "KeyConditionExpression" not in members:
        # Only Query may combine KeyConditions with a FilterExpression. (AWS: "KeyConditions"
        # https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.KeyConditions.html)
        old.remove("KeyConditions")
    if given and old:
        raise ValidationException(
            "Can not use both expression and non-expression parameters in the same request: "
            f"Non-expression parameters: {{{', '.join(old)}}} "
            f"Expression parameters: {{{', '.join(given)}}}"
        )


def check_conditional_operator(params: Params) -> None:
    joined = [params[name] for name in JOINED_CONDITIONS if name in params]
    if not joined:
        raise ValidationException("ConditionalOperator cannot be used without Filter or Expected")
    if any(len(conditions) < 2 for conditions in joined):
        raise ValidationException(
            "ConditionalOperator can only be used when Filter or Expected has two or more elements"
        )


@lru_cache(1024)
def check_placeholders_needed(members: tuple[str, ...], expressions: tuple[str, ...]) -> None:
    if "ExpressionAttributeNames" in members and not any(name in members for name in expressions):
        raise ValidationException(
            "ExpressionAttributeNames can only be specified when using expressions"
        )
    with_values = [name for name in expressions if name != "ProjectionExpression"]
    if "ExpressionAttributeValues" not in members or not with_values:
        return
    if not any(name in members for name in with_values):
        verb = "are" if len(with_values) > 1 else "is"
        raise ValidationException(
            "ExpressionAttributeValues can only be specified when using expressions: "
            f"{' and '.join(with_values)} {verb} null"
        )


def read_expressions(params: Params) -> Expressions:
    old = NOTHING if LEGACY.isdisjoint(params) else read_legacy(params)
    names = params.get("ExpressionAttributeNames")
    given = params.get("ExpressionAttributeValues")
    texts = tuple(map(params.get, TEXTS))
    named = None if names is None else tuple(names.items())
    typed = None if given is None else (*given, *map(tuple, given.values()))
    key = texts, named, typed
    plan = PLANS.get(key)
    if plan is None:
        check_placeholder_keys(params)
    values, value_bytes = read_values(given) if given else ({}, 0)
    name_bytes = check_placeholder_size(names, values, value_bytes) if names else 0
    if plan is None:
        plan = Compiler(params, names or {}, values).plan()
        # A long text is generated by a program, and hardly ever repeated.
        if sum(map(len, filter(None, texts))) + name_bytes <= parser.LONGEST_CACHED_TEXT:
            keep_plan(key, plan)
    elif plan.rechecked:
        recheck(plan.rechecked, names or {}, values)
    terms = None
    if plan.key_condition is not None:
        terms = plan.key_condition.bind(values)
    elif "KeyConditions" in params:
        terms = legacy.read_key_conditions(params["KeyConditions"])
    return Expressions(
        plan.condition.binder(values) if plan.condition else old.condition,
        plan.filter.bind(values) if plan.filter else old.filter,
        plan.update.bind(values) if plan.update else old.update,
        plan.projection or old.projection,
        terms,
        value_bytes,
    )


def read_legacy(params: Params) -> Expressions:
    """Reads the legacy parameters, except KeyConditions, which are read last."""
    operator = params.get("ConditionalOperator")
    update = condition = filter_ = projection = None
    if (updates := params.get("AttributeUpdates")) is not None:
        update = legacy.read_attribute_updates(updates)
    if (expected := params.get("Expected")) is not None:
        condition = legacy.read_expected(expected, operator)
    if (names := params.get("AttributesToGet")) is not None:
        projection = legacy.read_attributes_to_get(names)
    for parameter in ("QueryFilter", "ScanFilter"):
        if (conditions := params.get(parameter)) is not None:
            filter_ = legacy.read_filter(conditions, operator)
    return Expressions(condition and condition.matches, filter_, update, projection)


def check_placeholder_keys(params: Params) -> None:
    names = params.get("ExpressionAttributeNames")
    check_keys("ExpressionAttributeNames", names, NAME_KEY)
    check_names_filled(names or {})
    check_keys("ExpressionAttributeValues", params.get("ExpressionAttributeValues"), VALUE_KEY)


def check_keys(parameter: str, mapping: Mapping[str, Any] | None, pattern: re.Pattern[str]) -> None:
    if mapping is None:
        return
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


def check_names_filled(names: Mapping[str, str]) -> None:
    for key, name in names.items():
        if not name:
            raise ValidationException(
                "ExpressionAttributeNames contains invalid value: "
                f"Empty attribute name for key {key}"
            )


def read_values(given: Mapping[str, Any]) -> tuple[dict[str, AttributeValue], int]:
    """The values as they are compared and stored, and their size without their keys."""
    values: dict[str, AttributeValue] = {}
    total = key_bytes = 0
    for key, value in given.items():
        try:
            values[key], size = check_value(value)
        except ValidationException as error:
            raise ValidationException(
                f"ExpressionAttributeValues contains invalid value: {error} for key {key}"
            ) from None
        total += size
        key_bytes += len(key)
        if total + key_bytes > MAX_PLACEHOLDER_BYTES:
            raise ValidationException("ExpressionAttributeValues exceeds max size")
    return values, total


def check_placeholder_size(names: paths.Names, values: Values, value_bytes: int) -> int:
    """The size of the names; raises if names and values together are too large."""
    name_bytes = sum(map(len, names)) + sum(map(len, names.values()))
    if name_bytes > MAX_PLACEHOLDER_BYTES:
        raise ValidationException("ExpressionAttributeNames exceeds max size")
    if name_bytes + value_bytes + sum(map(len, values)) > MAX_PLACEHOLDER_BYTES:
        raise ValidationException(
            "Combined size of ExpressionAttributeNames and ExpressionAttributeValues exceeds "
            "max size"
        )
    return name_bytes


class Compiler:
    """Builds the plan of one request, and tracks the names and values that its texts use."""

    def __init__(
        self, params: Params, names: paths.Names, values: Mapping[str, AttributeValue]
    ) -> None:
        self.params = params
        self.names = names
        self.values = values
        self.used: set[str] = set()
        self.rechecked: dict[str, tree.Condition] = {}

    def plan(self) -> ExpressionPlan:
        plan = ExpressionPlan(
            self.program(
                "UpdateExpression", parser.parse_update, check.check_update, compile_update
            ),
            self.condition("ConditionExpression", compile_condition),
            self.condition("KeyConditionExpression", compile_key_condition),
            self.condition("FilterExpression", compile_condition),
            self.projection(),
            self.rechecked,
        )
        self.check_all_used()
        return plan

    def projection(self) -> paths.Projection | None:
        return self.program(
            "ProjectionExpression",
            parser.parse_projection,
            paths.check_projection,
            paths.compile_projection,
        )

    def check_all_used(self) -> None:
        check_used("ExpressionAttributeNames", self.names, self.used)
        check_used("ExpressionAttributeValues", self.values, self.used)

    def condition(
        self, parameter: str, compile: Callable[[tree.Condition, paths.Names], Program]
    ) -> Program | None:
        program = self.program(parameter, parse_condition, check.check_condition, compile)
        if program is not None:
            condition = parse_condition(self.params[parameter]).tree
            if check.depends_on_contents(condition):
                self.rechecked[parameter] = condition
        return program

    def program(
        self,
        parameter: str,
        parse: Callable[[str], parser.Parsed[Tree]],
        check: Callable[[Tree, paths.Names, Values], None],
        compile: Callable[[Tree, paths.Names], Program],
    ) -> Program | None:
        text = self.params.get(parameter)
        if text is None:
            return None
        try:
            parsed = parse(text)
            self.used.update(parsed.aliases, parsed.values)
            check(parsed.tree, self.names, self.values)
            return compile(parsed.tree, self.names)
        except ExpressionError as error:
            raise ValidationException(f"Invalid {parameter}: {error}") from None


def recheck(conditions: dict[str, tree.Condition], names: paths.Names, values: Values) -> None:
    for parameter, condition in conditions.items():
        try:
            check.check_condition(condition, names, values)
        except ExpressionError as error:
            raise ValidationException(f"Invalid {parameter}: {error}") from None


def check_used(parameter: str, given: Mapping[str, Any], used: set[str]) -> None:
    unused = [key for key in given if key not in used]
    if unused:
        raise ValidationException(
            f"Value provided in {parameter} unused in expressions: keys: {{{', '.join(unused)}}}"
        )


def keep_plan(key: tuple[object, ...], plan: ExpressionPlan) -> None:
    if len(PLANS) >= MOST_PLANS:
        PLANS.clear()
    PLANS[key] = plan


# --- The attributes that a request names ------------------------------------------------------


def named_attributes(params: Params) -> set[str]:
    """The attributes in expressions and legacy parameters: `dynamodb:Attributes` of a policy.

    Of a path, only its first attribute counts: ``address.city`` names `address`.
    """
    names: paths.Names = params.get("ExpressionAttributeNames") or {}
    found = {name for parameter in LEGACY for name in params.get(parameter) or ()}
    for parameter in TEXTS:
        if (text := params.get(parameter)) is not None:
            try:
                found |= paths.attributes_at(paths_in(parameter, text), names)
            except ExpressionError as error:
                raise ValidationException(f"Invalid {parameter}: {error}") from None
    return found


def paths_in(parameter: str, text: str) -> Iterator[tree.Path]:
    if parameter == "UpdateExpression":
        for action in parser.parse_update(text).tree:
            yield from tree.action_paths(action)
    elif parameter == "ProjectionExpression":
        yield from parser.parse_projection(text).tree
    else:
        yield from tree.condition_paths(parse_condition(text).tree)
