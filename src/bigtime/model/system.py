"""A system: a design (tables with their entities), the patterns over it, and its reactions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from random import Random
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from bigtime.model.alarm import ALARMS, Alarm
from bigtime.model.environment import Environment
from bigtime.model.errors import DesignError
from bigtime.model.lakes import Lake
from bigtime.model.pattern import Pattern
from bigtime.model.personal_data import PersonalData
from bigtime.model.schema import Entity, Table
from bigtime.model.search_index import SearchIndex
from bigtime.model.stream import Reaction
from bigtime.wire import Steps

if TYPE_CHECKING:
    from bigtime.model.invariants import Copies
    from bigtime.model.operations import Page, Position

D = TypeVar("D", Pattern[Any, Any], Reaction)


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A dry run with its own arguments and table contents; None means the samples."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    holding: tuple[Entity, ...] | None = None


class Anonymise(Protocol):
    """Removes from a record what identifies the person, if it was last changed at that moment."""

    def __call__(self, id: str, archived: datetime, reason: str, by: str, /) -> Steps[bool]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Retention:
    """Which records of a system `bigtime archive` archives.

    `find` lists the records that were last changed before a moment, page by page; each has an `id`.
    `collect` reads one by its id with everything that belongs to it, the record first, or nothing
    if it is no longer to be archived.
    """

    find: Callable[[datetime, Position | None], Steps[Page[Any]]]
    collect: Callable[[str, datetime], Steps[list[Entity]]]
    last_change: Callable[[Entity], datetime]
    anonymise: Anonymise | None = None


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """A system as charts, checks, the command line and the cost report read it.

    `accepted` maps findings of `bigtime check` about its tables that are intended to the reason:
    `{"hot-partition FrontPage": "one item, read from a cache"}`. `uses` lists systems whose tables
    its patterns read and write in addition to its own. `roles` maps each role to the names of the
    patterns and reactions it runs, for `bigtime iam --role`. `environments` are where it runs;
    `unsaved` names the tables left out of backups, because nothing in them is worth restoring.
    `alarms` are raised for each of its tables. `permanent` names the tables whose items are never
    deleted: the policy of each role denies it. `branches` are additional dry runs of patterns and
    reactions, for code paths that the usual ones do not reach. `retention` says what is archived.
    `searches` are the full-text indexes of its entities. `lakes` are entities whose changes are
    kept as files for analytics. `personal` are the items that belong to a person. `copies` are
    entities that reactions copy from those of other systems.
    """

    name: str
    tables: tuple[Table, ...]
    modules: tuple[ModuleType, ...] = ()
    accepted: Mapping[str, str] = field(default_factory=dict)
    demo: Demo | None = None
    uses: tuple[System, ...] = ()
    roles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    environments: tuple[Environment, ...] = ()
    unsaved: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ALARMS
    permanent: tuple[str, ...] = ()
    branches: Mapping[str, tuple[Branch, ...]] = field(default_factory=dict)
    retention: Retention | None = None
    searches: tuple[SearchIndex, ...] = ()
    lakes: tuple[Lake, ...] = ()
    personal: tuple[PersonalData, ...] = ()
    copies: tuple[Copies[Any, Any], ...] = ()

    def __post_init__(self) -> None:
        check_tables(self.tables)
        for table in self.tables:
            check_mapped(table)
        self.declarations(Pattern)
        self.declarations(Reaction)
        for name in (*(name for names in self.roles.values() for name in names), *self.branches):
            if name not in self.reactions:
                self.pattern(name)
        for name in (*self.unsaved, *self.permanent, *(lake.table for lake in self.lakes)):
            self.table(name)

    @property
    def saved_tables(self) -> tuple[Table, ...]:
        """The tables that are backed up and restored."""
        return tuple(table for table in self.tables if table.name not in self.unsaved)

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """Its own tables, then those of the systems it uses."""
        used = (table for system in self.uses for table in system.all_tables)
        return tuple(dict.fromkeys((*self.tables, *used)))

    @property
    def entities(self) -> tuple[type[Entity], ...]:
        return tuple(entity for table in self.tables for entity in table.entities)

    @property
    def patterns(self) -> dict[str, Pattern[Any, Any]]:
        """Its patterns by name, in the order in which the modules declare them."""
        return self.declarations(Pattern)

    @property
    def reactions(self) -> dict[str, Reaction]:
        return self.declarations(Reaction)

    def declarations(self, kind: type[D]) -> dict[str, D]:
        found: dict[str, D] = {}
        for each in (each for module in self.modules for each in declarations_in(module, kind)):
            other = found.setdefault(each.name, each)
            if other is not each:
                modules = f"{other.function.__module__} and {each.function.__module__}"
                raise DesignError(
                    f"system {self.name} has two {kind.__name__.lower()}s {each.name}, in"
                    f" {modules}; rename one"
                )
        return found

    def table(self, name: str) -> Table:
        for table in self.tables:
            if table.name == name:
                return table
        known = ", ".join(table.name for table in self.tables)
        raise DesignError(f"system {self.name} has no table {name!r}; it has {known}")

    def environment(self, name: str) -> Environment:
        for environment in self.environments:
            if environment.name == name:
                return environment
        known = ", ".join(environment.name for environment in self.environments)
        raise DesignError(
            f"system {self.name} has no environment {name!r}; it has {known or 'none'}"
        )

    def pattern(self, name: str) -> Pattern[Any, Any]:
        found = self.patterns.get(name)
        if found is None:
            raise DesignError(
                f"system {self.name} has no pattern {name!r}; it has {', '.join(self.patterns)}"
            )
        return found


def check_kind(given: object, function: str) -> None:
    if not isinstance(given, System):
        raise DesignError(
            f"{function}() takes a system, not {given!r}; make one, as in System('shop', (SHOP,))"
        )


def check_tables(given: object) -> None:
    if not isinstance(given, tuple) or not all(isinstance(each, Table) for each in given):
        raise DesignError(f"tables is a tuple of tables, not {given!r}; write (SHOP,)")


def declarations_in(module: ModuleType, kind: type[D]) -> Iterator[D]:
    """The patterns or reactions that a module defines itself, not those it imports."""
    for value in vars(module).values():
        if isinstance(value, kind) and value.function.__module__ == module.__name__:
            yield value


def check_mapped(table: Table) -> None:
    """Refuses an index that no entity maps: it would cost money and never hold anything.

    Likewise a TTL attribute that no entity stores: nothing would ever expire.
    """
    if not table.entities:
        raise DesignError(f"table {table.name} has no entity; declare one, or drop the table")
    classes = {entity.__name__ for entity in table.entities}
    for name in table.type_values.values():
        if name not in classes:
            raise DesignError(
                f"table {table.name}: type_values names {name}, which is not one of its entities;"
                f" it has {', '.join(sorted(classes))}"
            )
    mapped = {name for entity in table.entities for name in entity.layout.keys}
    for index in table.indexes:
        if index.name not in mapped:
            raise DesignError(
                f"table {table.name}: no entity maps index {index.name}; give one a key there, or"
                " drop the index"
            )
    stored = {name for entity in table.entities for name in entity.layout.names.values()}
    if table.ttl is not None and table.ttl not in stored:
        raise DesignError(
            f"table {table.name}: no entity stores {table.ttl!r}, by which its items are to expire;"
            " give one that field, or drop `ttl`"
        )


# --- Demo data ----------------------------------------------------------------------------

UNTIL: Final = datetime(2026, 11, 15, 12, tzinfo=UTC)
"""The default moment before which all demo data happened."""


class Scale(StrEnum):
    """How much demo data to make."""

    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


class Entities(Protocol):
    """Yields complete entities one by one, for events that happened before a moment."""

    def __call__(
        self, scale: Scale, random: Random, until: datetime = UNTIL, /
    ) -> Iterator[Entity]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Demo:
    """A system's demo data.

    `entities` yields complete entities one by one: with every marker and count that the system's
    invariants require, because they are written as they are. `count` says how many there will be;
    `notes`, from the same seed, says what the person who loads them needs to know.
    """

    entities: Entities
    count: Callable[[Scale], int]
    notes: Callable[[Random], Iterable[str]] = lambda random: ()
