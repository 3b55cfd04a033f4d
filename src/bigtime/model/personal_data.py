"""Personal data: which items belong to a person, how they are found, and how they are erased.

    PERSONAL = (
        personal(Message, "username"),
        personal(Order, "username", erase=move_order, kept="what was sold, for the books"),
    )

It is a plain value. `System(personal=PERSONAL)` declares it; the site exports the items to the
person they belong to, and erases them when that person deletes their account.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from bigtime.model.errors import DesignError
from bigtime.model.operations import Page, Position, erase, query
from bigtime.model.schema import Entity
from bigtime.wire import Steps

PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class Person:
    """The ids by which systems know an account."""

    login: str
    username: str
    tenant_id: str | None = None
    is_staff: bool = False


IdKind: TypeAlias = Literal["login", "username", "tenant_id"]
Find: TypeAlias = Callable[[Person, Position | None], Steps[Page[Any]]]
Erase: TypeAlias = Callable[[Any, str], Steps[None]]
"""Erases an item, or whatever in it identifies the person; is given a pseudonym to use instead.

It may be called again for the same item, after a crash.
"""


@dataclass(frozen=True, slots=True, eq=False)
class PersonalData:
    """The items of an entity that hold a person's id in a field.

    `find` lists them page by page; without it they cannot be listed, and `kept` says why they need
    not be. Without `erase` they stay, and `kept` says why and for how long; or they are deleted
    with the items of another entity, `goes_with`. `is_last` marks items that reserve the person's
    names: they are erased together, after everything else.
    """

    entity: type[Entity]
    field: str
    of: IdKind
    find: Find | None
    erase: Erase | None
    kept: str = ""
    goes_with: type[Entity] | None = None
    is_last: bool = False

    def id_in(self, person: Person) -> str | None:
        """The person's id in that field."""
        id: str | None = getattr(person, self.of)
        return id


def personal(
    entity: type[Entity],
    field: str,
    *,
    of: IdKind = "username",
    find: Find | None = None,
    erase: Erase | None = None,
    kept: str = "",
    stays: bool = False,
    goes_with: type[Entity] | None = None,
    is_last: bool = False,
) -> PersonalData:
    """Declares that items belong to a person.

    They are looked up in the partition that the field names, unless `find` is given. They are
    deleted, unless `erase` does something else, `stays` is set, or `goes_with` names an entity.
    """
    check_field(entity, field)
    if stays and not kept:
        raise DesignError(f"personal({entity.__name__}): say in `kept` why its items stay")
    doing = None if stays or goes_with else erase or delete_item
    listing = find or items_in_partition(entity, field, of)
    return PersonalData(entity, field, of, listing, doing, kept, goes_with, is_last)


def personal_ids(entity: type[Entity], *fields: str, kept: str) -> tuple[PersonalData, ...]:
    """Declares that fields hold people's ids, although one person's items cannot be listed."""
    for field in fields:
        check_field(entity, field)
    return tuple(PersonalData(entity, field, "username", None, None, kept) for field in fields)


def check_field(entity: type[Entity], field: str) -> None:
    if field not in entity.model_fields:
        raise DesignError(f"personal({entity.__name__}): it has no field {field!r}")


def items_in_partition(entity: type[Entity], field: str, of: IdKind) -> Find:
    def find(person: Person, after: Position | None) -> Steps[Page[Any]]:
        id = getattr(person, of)
        if id is None:
            return Page([], None)
        within = entity.within("main", **{field: id})
        return (yield from query(within, limit=PAGE, after=after, consistent=True))

    return find


def delete_item(item: Entity, pseudonym: str) -> Steps[None]:
    yield from erase(item.own_key())
