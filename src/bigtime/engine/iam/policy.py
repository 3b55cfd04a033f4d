"""Policy documents: IAM's JSON, read into statements.

A document is validated when it is read, so that a misspelt element is not taken for an absent one:
in a Deny, that would let requests through.

AWS: "IAM JSON policy elements reference"
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

from bigtime.engine.iam.conditions import Condition, PolicyError, read_conditions

Effect: TypeAlias = Literal["Allow", "Deny"]

VARIABLES_SINCE: Final = "2012-10-17"
VERSIONS: Final = ("2008-10-17", VARIABLES_SINCE)
DOCUMENT: Final = frozenset({"Version", "Id", "Statement"})
STATEMENT: Final = frozenset(
    "Sid Effect Principal NotPrincipal Action NotAction Resource NotResource Condition".split()
)


@dataclass(frozen=True, slots=True)
class Terms:
    """The patterns of an element; `negated` if its name begins with Not."""

    patterns: tuple[str, ...]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement; a resource policy's has principals."""

    effect: Effect
    actions: Terms
    resources: Terms
    principals: Terms | None = None
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Policy:
    """`has_variables` is False for the older version, where ``${aws:username}`` is literal."""

    statements: tuple[Statement, ...]
    has_variables: bool


def read_policy(document: object, *, of_resource: bool = False, place: str = "") -> Policy:
    """Reads a document; raises `PolicyError` with the place of an error in it and the remedy.

    A resource policy names principals; one of a user or role must not.
    """
    if not isinstance(document, dict):
        raise PolicyError(place, "a policy is an object with Version and Statement")
    check_members(document, DOCUMENT, place)
    version = document.get("Version", VERSIONS[0])
    if version not in VERSIONS:
        raise PolicyError(join(place, "Version"), f"it is {' or '.join(VERSIONS)}")
    given = document.get("Statement")
    where = join(place, "Statement")
    listed = given if isinstance(given, list) else [given]
    if not given:
        raise PolicyError(where, "a policy needs one statement at least")
    statements = tuple(
        read_statement(each, of_resource, f"{where}[{number}]" if listed is given else where)
        for number, each in enumerate(listed)
    )
    return Policy(statements, version == VARIABLES_SINCE)


def read_statement(given: object, of_resource: bool, place: str) -> Statement:
    if not isinstance(given, dict):
        raise PolicyError(place, "a statement is an object with Effect, Action and Resource")
    check_members(given, STATEMENT, place)
    effect = given.get("Effect")
    if effect not in ("Allow", "Deny"):
        raise PolicyError(join(place, "Effect"), "it is Allow or Deny")
    named = {"Principal", "NotPrincipal"} & given.keys()
    if named and not of_resource:
        raise PolicyError(
            join(place, min(named)), "only the policy of a resource names principals: leave it out"
        )
    actions = read_terms(given, "Action", place)
    for action in actions.patterns:
        if action != "*" and ":" not in action:
            raise PolicyError(
                join(place, "Action"), f"{action!r} lacks its service: write 'dynamodb:{action}'"
            )
    resources = read_terms(given, "Resource", place)
    for resource in resources.patterns:
        if resource != "*" and not resource.startswith("arn:"):
            raise PolicyError(
                join(place, "Resource"), f"{resource!r} is no ARN: write it whole, or '*'"
            )
    return Statement(
        cast(Effect, effect),
        actions,
        resources,
        read_principals(given, place) if of_resource else None,
        read_conditions(given.get("Condition", {}), join(place, "Condition")),
    )


def element_named(given: Mapping[str, Any], name: str, place: str) -> str:
    """The element's name in a statement: with or without Not."""
    present = [member for member in (name, f"Not{name}") if member in given]
    if len(present) != 1:
        raise PolicyError(place, f"a statement needs either {name} or Not{name}")
    return present[0]


def read_terms(given: Mapping[str, Any], name: str, place: str) -> Terms:
    member = element_named(given, name, place)
    return Terms(texts(given[member], join(place, member)), member != name)


def read_principals(given: Mapping[str, Any], place: str) -> Terms:
    member = element_named(given, "Principal", place)
    value, where = given[member], join(place, member)
    if value == "*":
        return Terms(("*",), member != "Principal")
    if not isinstance(value, dict) or not value:
        raise PolicyError(where, 'it is "*" or an object such as {"AWS": "arn:aws:iam::..."}')
    names = [name for kind, listed in value.items() for name in texts(listed, join(where, kind))]
    # Services and federated users never call an engine, so their names never match.
    return Terms(tuple(names), member != "Principal")


def texts(value: object, place: str) -> tuple[str, ...]:
    listed = value if isinstance(value, list) else [value]
    if not listed or not all(isinstance(each, str) and each for each in listed):
        raise PolicyError(place, "it is a text, or a list of texts")
    return tuple(listed)


def check_members(given: Mapping[str, Any], known: frozenset[str], place: str) -> None:
    for name in given:
        if name not in known:
            listed = ", ".join(sorted(known))
            raise PolicyError(join(place, name), f"there is no such element: use {listed}")


def join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
