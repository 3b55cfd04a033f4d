"""Rules about keys in expressions: no paths into keys, no changed keys, no invalid index keys.

Keys are scalars, so no path leads into one, and an item's primary key never changes. Index keys may
change, but keep their type. AWS checks twice, with different messages: first the update expression
alone, before any condition (here); then the updated item (in `write`).

The messages were seen on AWS by dynalite's test/updateItem.js and by ScyllaDB's test_gsi.py; AWS
documents only those of a cancelled transaction: "TransactWriteItems".
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from bigtime.engine import expressions, storage
from bigtime.engine.operations import table_schema
from bigtime.engine.storage import KeyAttribute, Table
from bigtime.wire import AttributeValue, Params, ValidationException

Values: TypeAlias = Mapping[str, AttributeValue]
Given: TypeAlias = Iterator[tuple[str, AttributeValue]]


def check_key_paths(table: Table, parsed: expressions.Expressions) -> None:
    """No projection, filter or update may take a path into a key of the table or an index."""
    for part in (parsed.projection, parsed.update, parsed.filter):
        if part is not None and part.nested_attributes:
            check_nested(table, part.nested_attributes)


def check_nested(table: Table, nested: frozenset[str]) -> None:
    for name in table.key_names:
        if name in nested:
            raise not_a_scalar("Key", name)
    for attribute, _, _ in table.index_keys:
        if attribute.name in nested:
            raise not_a_scalar("IndexKey", attribute.name)


def not_a_scalar(role: str, name: str) -> ValidationException:
    return ValidationException(
        "Key attributes must be scalars; list random access '[]' and map lookup '.' "
        f"are not allowed: {role}: {name}"
    )


def check_update(table: Table, given: Given, parsed: expressions.Expressions) -> None:
    """Rejects an update that would be wrong for any item.

    `given` are the attributes that it sets to a value or a type that does not depend on the item;
    they are computed only if it changes an index key.
    """
    changed = parsed.update.attributes if parsed.update else frozenset()
    for name in table.key_names:
        if name in changed:
            table_schema.invalid(
                f"Cannot update attribute {name}. This attribute is part of the key"
            )
    for attribute, _, _ in table.index_keys:
        if attribute.name in changed:
            check_given_index_keys(table, dict(given))
            break
    check_key_paths(table, parsed)


def check_given_index_keys(table: Table, given: Values) -> None:
    for attribute, index_name, _ in table.index_keys:
        value = given.get(attribute.name)
        if value is None:
            continue
        if attribute.type not in value:
            raise ValidationException(storage.index_type_mismatch(attribute, index_name, value))
        if value[attribute.type] == "":
            raise empty_index_key(attribute)


def given_values(params: Params) -> Given:
    for name, update in (params.get("AttributeUpdates") or {}).items():
        if update.get("Value") is not None:
            yield name, update["Value"]
    if params.get("UpdateExpression") is not None:
        names = params.get("ExpressionAttributeNames") or {}
        values = params.get("ExpressionAttributeValues") or {}
        actions = expressions.parse_update(params["UpdateExpression"]).tree
        yield from values_given_by(actions, names, values)


def values_given_by(
    actions: Iterable[expressions.Action], names: Mapping[str, str], values: Values
) -> Given:
    for action in actions:
        name, *inner = expressions.resolve(action.path, names)
        if inner or isinstance(action, expressions.Remove):
            continue
        operand = action.operand if isinstance(action, expressions.Set) else action.value
        value = given_value(operand, values)
        if value is not None:
            yield str(name), value


def given_value(operand: expressions.Operand, values: Values) -> AttributeValue | None:
    """The value of an operand, or some value of its type; None if it depends on the item."""
    match operand:
        case expressions.Value(name):
            return values[name]
        case expressions.Arithmetic():
            return {"N": "0"}
        case expressions.Function("list_append"):
            return {"L": []}
        case expressions.Function(_, (_, default)):
            return given_value(default, values)
        case expressions.Path() | expressions.Function():
            return None


def empty_index_key(attribute: KeyAttribute) -> ValidationException:
    kind = "string" if attribute.type == "S" else "binary"
    return ValidationException(
        "One or more parameter values are not valid. The update expression attempted to update a "
        "secondary index key to a value that is not supported. The AttributeValue for a key "
        f"attribute cannot contain an empty {kind} value."
    )
