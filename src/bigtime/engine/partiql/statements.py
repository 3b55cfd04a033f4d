"""The parsed forms of a statement, and the values in it.

Conditions, paths and assignments are expression trees. Their values are placeholders, such as
``:0``, of the statement's literals: one tree serves every request with the same text. A literal may
be a parameter, and the item of an INSERT may contain parameters.

AWS: "PartiQL data types for DynamoDB"
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.data-types.html
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bigtime.engine.expressions import Action, Condition, Path, Value
from bigtime.wire import AttributeValue, ValidationException, check_value

SET_TYPES = {"S": "SS", "N": "NS", "B": "BS"}
SET_TAGS = frozenset(SET_TYPES.values())
UNSUPPORTED_BAG = (
    "Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags"
)


def statement_error(reason: str) -> ValidationException:
    """AWS's error for an invalid statement; only some of the reasons are known."""
    return ValidationException(f"Statement wasn't well formed, can't be processed: {reason}")


@dataclass(frozen=True, slots=True)
class Order:
    attribute: str
    ascending: bool


@dataclass(frozen=True, slots=True)
class Select:
    """`paths` is None for ``*``."""

    table: str
    index: str | None
    paths: tuple[Path, ...] | None
    where: Condition | None
    order: tuple[Order, ...]


def shown_name(path: Sequence[object]) -> str:
    """The name of a projected path in the result: its last name, with any list indexes after it.

    In PartiQL a path without an alias is named by its last component; DynamoDB's name for an
    element of a list is not documented. (https://partiql.org/partiql-lang/#sec:as-alias)
    """
    last = max(place for place, element in enumerate(path) if isinstance(element, str))
    places = "".join(f"[{element}]" for element in path[last + 1 :])
    return f"{path[last]}{places}"


@dataclass(frozen=True, slots=True)
class Exists:
    select: Select

    @property
    def table(self) -> str:
        return self.select.table


@dataclass(frozen=True, slots=True)
class Insert:
    table: str
    item: Value


@dataclass(frozen=True, slots=True)
class Update:
    """`returning` is the ReturnValues of an UpdateItem; no write takes an `index`.

    `sets` are the values that SET_ADD and SET_DELETE take, each with the error if it is no set.
    """

    table: str
    actions: tuple[Action, ...]
    where: Condition | None
    returning: str
    index: str | None
    sets: tuple[tuple[str, str], ...]

    def check_sets(self, values: Mapping[str, AttributeValue]) -> None:
        for name, error in self.sets:
            if SET_TAGS.isdisjoint(values[name]):
                raise ValidationException(error)


@dataclass(frozen=True, slots=True)
class Delete:
    table: str
    where: Condition | None
    returning: str
    index: str | None


Body: TypeAlias = Select | Exists | Insert | Update | Delete


@dataclass(frozen=True, slots=True, eq=False)
class Statement:
    """A statement and its literals; `parameters` counts its question marks."""

    text: str
    body: Body
    literals: dict[str, Literal]
    parameters: int

    @property
    def is_read(self) -> bool:
        return isinstance(self.body, Select)

    def check_parameters(self, given: Sequence[AttributeValue]) -> None:
        if len(given) != self.parameters:
            raise ValidationException("Number of parameters in request and statement don't match.")

    def bind(self, given: Sequence[AttributeValue]) -> dict[str, AttributeValue]:
        """The values of one request, in the form in which they are compared and stored."""
        self.check_parameters(given)
        return {
            name: literal.value
            if isinstance(literal, Constant)
            else check_value(fill(literal, given))[0]
            for name, literal in self.literals.items()
        }


# --- Literals ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant:
    value: AttributeValue


@dataclass(frozen=True, slots=True)
class Parameter:
    """A ``?``, by its index in the request's Parameters."""

    place: int


@dataclass(frozen=True, slots=True)
class ItemLiteral:
    """The item of an INSERT. No other literal has parameters within it."""

    members: tuple[tuple[str, Constant | Parameter], ...]


Literal: TypeAlias = Constant | Parameter | ItemLiteral


def fill(literal: Literal, parameters: Sequence[AttributeValue]) -> AttributeValue:
    """A literal's value with its parameters filled in, not yet validated."""
    match literal:
        case Constant(value):
            return value
        case Parameter(place):
            return parameters[place]
        case ItemLiteral(members):
            return {"M": {name: fill(member, parameters) for name, member in members}}


def set_of(elements: list[AttributeValue], path: str) -> AttributeValue:
    """The set of a bag's elements; `path` says where it is."""
    types = {tag for element in elements for tag in element}
    # The messages of Amazon's DynamoDB Local, as recorded in https://github.com/xo/dbimp (its
    # document on DynamoDB), and seen on AWS: https://github.com/floci-io/floci/pull/3798
    if not types:
        raise ValidationException("Empty bags are not supported")
    if len(types) > 1 or not types <= SET_TYPES.keys():
        raise ValidationException(UNSUPPORTED_BAG)
    (tag,) = types
    texts = [element[tag] for element in elements]
    value = {SET_TYPES[tag]: texts}
    try:
        check_value(value)
    except ValidationException as error:
        if tag == "N" and error.message.endswith("contains duplicates"):
            raise ValidationException(
                "One or more parameter values were invalid: "
                f"Input collection [{', '.join(texts)}] contains duplicates! under {path}"
            ) from None
        raise
    return value


def fold(literal: Literal) -> Literal:
    """Turns a literal without parameters into a constant, validated once."""
    if isinstance(literal, Parameter) or has_parameters(literal):
        return literal
    return Constant(check_value(fill(literal, ()))[0])


def has_parameters(literal: Constant | ItemLiteral) -> bool:
    return isinstance(literal, ItemLiteral) and any(
        isinstance(member, Parameter) for _, member in literal.members
    )
