"""Conditions of a statement: operators, set operators, and variables in values.

A condition on a key that the request does not have is decided before any operator:

1. `Null` tests for just that.
2. `...IfExists` and `ForAllValues:` are true, `ForAnyValue:` is false.
3. Of the rest, the negated operators are true and the others false.

A negated operator is true of a value that none of the policy's values match.

AWS: "IAM JSON policy elements: Condition operators", "Set operators for multivalued context keys",
"IAM policy elements: Variables and tags"
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_condition-single-vs-multi-valued-context-keys.html
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_variables.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache, partial
from ipaddress import ip_address, ip_network
from operator import eq, ge, gt, le, lt
from typing import Any, Final, Literal, NamedTuple, TypeAlias

Keys: TypeAlias = Mapping[str, tuple[str, ...]]
"""The values of a request's condition keys, by the key's name in lower case."""

Match: TypeAlias = Callable[[str, str], bool]
"""Whether a value in the request matches a value in the policy."""

VARIABLE: Final = re.compile(r"\$\{([^}]*)\}")
DEFAULT: Final = re.compile(r"([^,]*),\s*'(.*)'")
ESCAPES: Final = frozenset("*?$")


class PolicyError(ValueError):
    """What is wrong with a policy: `place` in the document, and what would be right there."""

    def __init__(self, place: str, remedy: str) -> None:
        super().__init__(f"{place}: {remedy}" if place else remedy)
        self.place = place


class Unresolved(Exception):
    """A variable has no value in this request, and so the statement does not apply."""


class Operator(NamedTuple):
    """`read` rejects a policy value that the operator could never compare."""

    match: Match
    negated: bool = False
    has_variables: bool = False
    read: Callable[[str], object] = str


@dataclass(frozen=True, slots=True)
class Condition:
    """One key under one operator, with the values of which one must match."""

    operator: Operator | None
    """None means the operator Null."""
    over: Literal["", "ForAllValues", "ForAnyValue"]
    if_exists: bool
    key: str
    values: tuple[str, ...]

    def holds(self, keys: Keys, *, variables: bool, of_deny: bool) -> bool:
        """Whether a request with these keys meets the condition; may raise `Unresolved`."""
        given = keys.get(self.key, ())
        operator = self.operator
        if operator is None:
            return (not given) is (self.values[0].lower() == "true")
        if not given:
            return (
                self.if_exists
                or self.over == "ForAllValues"
                or (operator.negated and not self.over)
            )
        is_like = operator.match in WITH_WILDCARDS
        values = [
            fill(value, keys, is_pattern=is_like) if variables and operator.has_variables else value
            for value in self.values
        ]
        matches = [
            any(operator.match(each, value) for value in values) is not operator.negated
            for each in given
        ]
        if self.over:
            return all(matches) if self.over == "ForAllValues" else any(matches)
        # AWS requires a set operator where a key may have several values. Without one, the
        # statement is interpreted so that it allows less.
        return any(matches) if of_deny else all(matches)


# --- Variables --------------------------------------------------------------------------------


def fill(text: str, keys: Keys, *, is_pattern: bool) -> str:
    """The text with its variables replaced; in a pattern, their values are taken literally."""
    if "${" not in text:
        return text

    def value(found: re.Match[str]) -> str:
        plain = variable(found[1], keys)
        return re.sub("[*?\x00]", "\x00\\g<0>", plain) if is_pattern else plain

    return VARIABLE.sub(value, text)


def variable(name: str, keys: Keys) -> str:
    if name in ESCAPES:
        return name
    default = DEFAULT.fullmatch(name)
    given = keys.get((default[1] if default else name).strip().lower(), ())
    if len(given) == 1:
        return given[0]
    if default and not given:
        return default[2]
    raise Unresolved(name)


# --- Patterns ---------------------------------------------------------------------------------


@lru_cache(4096)
def wildcard(pattern: str) -> re.Pattern[str]:
    """`*` matches any text and `?` one character; after a NUL both are literal.

    No policy contains a NUL: AWS allows tabs, line breaks and U+0020 to U+00FF.

    What follows a `*` is matched where it first occurs, and nowhere else: another place could only
    leave less text for the rest. Trying all places takes minutes for a pattern with five `*`.
    """
    runs = [""]
    for part in re.findall("\x00.|.", pattern, re.DOTALL):
        if part == "*":
            runs.append("")
        else:
            runs[-1] += "." if part == "?" else re.escape(part[-1])
    first, *others = runs
    last = f".*{others.pop()}" if others else ""
    between = "".join(f"(?>.*?{run})" for run in others)
    return re.compile(first + between + last, re.DOTALL)


def like(given: str, pattern: str) -> bool:
    return wildcard(pattern).fullmatch(given) is not None


def arn_like(given: str, pattern: str) -> bool:
    """Compares the six parts of an ARN one by one: no wildcard matches across a colon."""
    wanted = pattern.split(":", 5)
    parts = given.split(":", 5)
    return len(parts) == len(wanted) and all(map(like, parts, wanted))


# --- Operators --------------------------------------------------------------------------------


def moment(text: str) -> datetime:
    """An ISO 8601 date, or seconds since 1970."""
    if re.fullmatch(r"\d{5,}(\.\d+)?", text):
        try:
            return datetime.fromtimestamp(float(text), UTC)
        except (OverflowError, OSError) as error:
            raise ValueError(f"{text} is after the last year of a datetime") from error
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def compare(read: Callable[[str], Any], test: Callable[[Any, Any], bool]) -> Match:
    def match(given: str, wanted: str) -> bool:
        try:
            return test(read(given), read(wanted))
        except (ValueError, InvalidOperation):
            return False  # the request's value is not a number or date

    return match


def equals_ignoring_case(given: str, wanted: str) -> bool:
    return given.casefold() == wanted.casefold()


network = partial(ip_network, strict=False)


def in_network(given: str, wanted: str) -> bool:
    try:
        return ip_address(given) in network(wanted)
    except ValueError:
        return False


WITH_WILDCARDS: Final = frozenset({like, arn_like})
ORDERS: Final = {
    "Equals": eq,
    "LessThan": lt,
    "LessThanEquals": le,
    "GreaterThan": gt,
    "GreaterThanEquals": ge,
}


def boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def operators() -> dict[str, Operator]:
    found = {
        "StringEquals": Operator(eq, False, True),
        "StringNotEquals": Operator(eq, True, True),
        "StringEqualsIgnoreCase": Operator(equals_ignoring_case, False, True),
        "StringNotEqualsIgnoreCase": Operator(equals_ignoring_case, True, True),
        "StringLike": Operator(like, False, True),
        "StringNotLike": Operator(like, True, True),
        "Bool": Operator(equals_ignoring_case, False, True, boolean),
        "BinaryEquals": Operator(eq),
        "IpAddress": Operator(in_network, read=network),
        "NotIpAddress": Operator(in_network, True, read=network),
    }
    for name in ("ArnEquals", "ArnLike"):
        found[name] = Operator(arn_like, False, True)
        found[name.replace("Arn", "ArnNot")] = Operator(arn_like, True, True)
    kinds: tuple[tuple[str, Callable[[str], Any]], ...] = (("Numeric", Decimal), ("Date", moment))
    for kind, read in kinds:
        for order, test in ORDERS.items():
            found[kind + order] = Operator(compare(read, test), read=read)
        found[f"{kind}NotEquals"] = Operator(compare(read, eq), True, read=read)
    return found


OPERATORS: Final = operators()
NAME: Final = re.compile(r"(?:(ForAllValues|ForAnyValue):)?([A-Za-z]+?)(IfExists)?")


def read_conditions(given: object, place: str) -> tuple[Condition, ...]:
    if not isinstance(given, dict):
        raise PolicyError(place, "it is an object of operators, each an object of keys and values")
    return tuple(
        condition
        for name, tests in given.items()
        for condition in read_operator(name, tests, f"{place}.{name}")
    )


def read_operator(name: str, tests: object, place: str) -> list[Condition]:
    found = NAME.fullmatch(name)
    base = found[2] if found else ""
    if found is None or not (base in OPERATORS or name == "Null"):
        raise PolicyError(
            place, f"there is no such operator: use Null, {', '.join(sorted(OPERATORS))}"
        )
    if not isinstance(tests, dict):
        raise PolicyError(place, "it is an object of keys and values")
    operator = None if base == "Null" else OPERATORS[base]
    over: Any = found[1] or ""
    return [
        Condition(
            operator,
            over,
            bool(found[3]),
            key.lower(),
            read_values(value, operator, f"{place}.{key}"),
        )
        for key, value in tests.items()
    ]


def read_values(value: object, operator: Operator | None, place: str) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value]
    if not listed or not all(isinstance(each, str | bool | int | float) for each in listed):
        raise PolicyError(place, "it is a text, or a list of texts")
    texts = tuple(str(each).lower() if isinstance(each, bool) else str(each) for each in listed)
    read = boolean if operator is None else operator.read
    for text in texts:
        try:
            if "${" not in text:
                read(text)
        except (ValueError, InvalidOperation):
            raise PolicyError(place, f"{text!r} is nothing that this operator compares") from None
    return texts
