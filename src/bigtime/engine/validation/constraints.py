"""The constraints of the service model, and AWS's report of those that a request violates.

Violations are reported together, up to ten, each with the value as Java prints it and the path to
it: "Value '' at 'keySchema.1.member.attributeName' failed to satisfy constraint: ...". A structure
in a list has a path of its own (`keySchema.1.member`). A scalar element has none: it is reported at
the path of its list or map, with all of an element's constraints.

AWS documents neither the format nor the order: dynalite's tests have recorded both.
(https://github.com/architect/dynalite/tree/main/test)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from bigtime.engine.validation.service_model import TABLE_ARN, Shape
from bigtime.wire import ValidationException, values

MOST_ERRORS: Final = 10
MOST_SHOWN: Final = 10_000  # characters of a value, so that a response never repeats a huge element
# Invalid keys of these maps have a message of their own, which does not show them.
# (Seen on AWS: https://github.com/ExtendDB/extenddb/issues/365)
NAMED_VALUES: Final = frozenset({"PutItemInputAttributeMap", "MapAttributeValue"})
NUMBERS: Final = frozenset({"integer", "long", "double", "timestamp"})


def check_constraints(shape: Shape, request: dict[str, Any]) -> None:
    found = list(islice(failures(shape, request, ""), MOST_ERRORS))
    if found:
        plural = "s" if len(found) > 1 else ""
        raise ValidationException(
            f"{len(found)} validation error{plural} detected: {'; '.join(found)}"
        )


def failures(shape: Shape, value: Any, path: str) -> Iterator[str]:
    """Every violated constraint here and below, in the order in which AWS reports them."""
    if value is None:
        yield failure(shape, None, path, "Member must not be null")
    elif shape.kind == "structure":
        yield from member_failures(shape, value, path)
    else:
        for constraint in broken_by(shape, value):
            yield failure(shape, value, path, constraint)
        if shape.item is not None:
            yield from collection_failures(shape, value, path)


def member_failures(shape: Shape, value: dict[str, Any], path: str) -> Iterator[str]:
    for name, member in shape.members.items():
        if name in value or name in shape.required:
            place = lower_first(name)
            yield from failures(member, value.get(name), f"{path}.{place}" if path else place)


def collection_failures(shape: Shape, value: Any, path: str) -> Iterator[str]:
    places = value.items() if shape.key else enumerate(value, 1)
    if shape.key and any(broken_by(shape.key, name) for name in value):
        if shape.name in NAMED_VALUES:
            raise ValidationException(values.NAME_TOO_LARGE)
        yield failure(shape, value, path, f"Map keys must satisfy constraint: {whole(shape.key)}")
    if shape.element.name == "AttributeValue":
        places = ((place, element) for place, element in places if "M" in element or "L" in element)
    if shape.element.kind == "structure":
        for place, element in places:
            yield from failures(shape.element, element, f"{path}.{place}.member")
        return
    if any(
        broken_by(shape.element, element) for element in (value.values() if shape.key else value)
    ):
        subject = "Map value" if shape.key else "Member"
        constraint = f"{subject} must satisfy constraint: {whole(shape.element)}"
        yield failure(shape, value, path, constraint)
    elif shape.element.item is not None:
        for place, element in places:
            yield from collection_failures(shape.element, element, f"{path}.{place}.member")


def failure(shape: Shape, value: Any, path: str, constraint: str) -> str:
    if shape.terse and shape.terse in constraint:
        start, dot, end = path.rpartition(".")
        place = upper_first(f"{start}{dot}{upper_first(end)}")
        return f"Value at '{place}' failed to satisfy constraint: {constraint}"
    text = "null" if value is None else f"'{java_text(shape, value)}'"
    return f"Value {text} at '{path}' failed to satisfy constraint: {constraint}"


def broken_by(shape: Shape, value: Any) -> list[str]:
    """The constraints that a scalar, or a collection by its length, itself violates."""
    if value is None:
        return ["Member must not be null"]
    if shape.takes_arn and TABLE_ARN.fullmatch(value):
        return []
    if shape.takes_arn and not value:
        return [must_be_bounded(shape, "greater than or equal to 1")]
    if shape.sentence and not (shape.minimum or 0) <= len(value) <= (shape.maximum or len(value)):
        raise ValidationException(
            f"{shape.sentence} must be at least {shape.minimum} characters long and at most "
            f"{shape.maximum} characters long"
        )
    broken = []
    if shape.choices and value not in shape.choices:
        broken.append(must_be_one_of(shape))
    if not shape.matches(value):
        broken.append(must_match(shape))
    if shape.minimum is not None and amount(shape, value) < shape.minimum:
        broken.append(must_be_bounded(shape, f"greater than or equal to {shape.minimum}"))
    if shape.maximum is not None and amount(shape, value) > shape.maximum:
        broken.append(must_be_bounded(shape, f"less than or equal to {shape.maximum}"))
    return broken


def amount(shape: Shape, value: Any) -> float:
    measured: float = value if shape.kind in NUMBERS else len(value)
    return measured


def whole(shape: Shape) -> str:
    """All constraints of an element, which AWS lists together if any of them is violated."""
    return f"[{', '.join(constraints_of(shape))}]"


def constraints_of(shape: Shape) -> Iterable[str]:
    if shape.maximum is not None:
        yield must_be_bounded(shape, f"less than or equal to {shape.maximum}")
    if shape.minimum is not None:
        yield must_be_bounded(shape, f"greater than or equal to {shape.minimum}")
    if shape.pattern:
        yield must_match(shape)
    if shape.choices:
        yield must_be_one_of(shape)
    if shape.kind == "string" and not shape.pattern:
        yield "Member must not be null"


def must_be_bounded(shape: Shape, bound: str) -> str:
    return f"Member must have {'value' if shape.kind in NUMBERS else 'length'} {bound}"


def must_match(shape: Shape) -> str:
    return f"Member must satisfy regular expression pattern: {shape.pattern}"


def must_be_one_of(shape: Shape) -> str:
    return f"Member must satisfy enum value set: [{', '.join(shape.choices)}]"


def lower_first(name: str) -> str:
    return name[0].lower() + name[1:]


def upper_first(name: str) -> str:
    return name[0].upper() + name[1:]


def java_text(shape: Shape, value: Any) -> str:
    """A value as AWS's Java prints it: ``[KeySchemaElement(attributeName=id, keyType=HASH)]``."""
    text = ""
    for piece in pieces(shape, value):
        text += piece[:MOST_SHOWN]
        if len(text) > MOST_SHOWN:
            return f"{text[:MOST_SHOWN]}..."
    return text


def pieces(shape: Shape, value: Any) -> Iterator[str]:
    if value is None:
        yield "null"
    elif shape.kind == "structure":
        named = ((f"{lower_first(name)}=", shape.members[name], value[name]) for name in value)
        yield from enclose(f"{shape.name}(", named, ")")
    elif shape.kind == "map":
        yield from enclose("{", ((f"{k}=", shape.element, v) for k, v in value.items()), "}")
    elif shape.kind == "list":
        yield from enclose("[", (("", shape.element, element) for element in value), "]")
    else:
        yield str(value).lower() if isinstance(value, bool) else str(value)


def enclose(opening: str, parts: Iterable[tuple[str, Shape, Any]], closing: str) -> Iterator[str]:
    yield opening
    for number, (prefix, shape, value) in enumerate(parts):
        yield f", {prefix}" if number else prefix
        yield from pieces(shape, value)
    yield closing
