"""The attributes that a request names, wherever it names them: `dynamodb:Attributes` of a policy.

Of a path it is the attribute at its beginning: ``address.city`` names `address`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bigtime.engine.expressions import parser, tree
from bigtime.engine.expressions.condition_parser import parse_condition
from bigtime.engine.expressions.lexer import ExpressionError
from bigtime.engine.expressions.paths import Names, resolve
from bigtime.wire import Params, ValidationException

CONDITIONS = ("ConditionExpression", "KeyConditionExpression", "FilterExpression")
LEGACY = ("Expected", "QueryFilter", "ScanFilter", "KeyConditions", "AttributeUpdates")


def named_attributes(params: Params) -> set[str]:
    """The attributes in a request's expressions and legacy parameters."""
    names: Names = params.get("ExpressionAttributeNames") or {}
    found = {name for parameter in LEGACY for name in params.get(parameter) or ()}
    found.update(params.get("AttributesToGet") or ())
    for parameter, paths in paths_by_parameter(params):
        try:
            found |= attributes_at(paths, names)
        except ExpressionError as error:
            raise ValidationException(f"Invalid {parameter}: {error}") from None
    return found


def paths_by_parameter(params: Params) -> Iterator[tuple[str, Iterator[tree.Path]]]:
    for parameter in CONDITIONS:
        if params.get(parameter) is not None:
            yield parameter, condition_text_paths(params[parameter])
    if params.get("UpdateExpression") is not None:
        yield "UpdateExpression", update_text_paths(params["UpdateExpression"])
    if params.get("ProjectionExpression") is not None:
        yield "ProjectionExpression", projection_text_paths(params["ProjectionExpression"])


def condition_text_paths(text: str) -> Iterator[tree.Path]:
    yield from tree.condition_paths(parse_condition(text).tree)


def update_text_paths(text: str) -> Iterator[tree.Path]:
    for action in parser.parse_update(text).tree:
        yield from action_paths(action)


def projection_text_paths(text: str) -> Iterator[tree.Path]:
    yield from parser.parse_projection(text).tree


def action_paths(action: tree.Action) -> Iterator[tree.Path]:
    yield action.path
    if isinstance(action, tree.Set):
        yield from tree.operand_paths(action.operand)


def attributes_at(paths: Iterable[tree.Path], names: Names) -> set[str]:
    return {str(resolve(path, names)[0]) for path in paths}
