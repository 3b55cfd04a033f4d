"""Tables and their indexes, declared once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from bigtime.model.errors import DesignError
from bigtime.model.naming import Naming, snake_case

if TYPE_CHECKING:
    from bigtime.model.entity import Entity

KeyType: TypeAlias = Literal["S", "N", "B"]
MAIN = "main"
MAX_GLOBAL = 20
MAX_LOCAL = 5
MAX_HALF = 4
MAX_INCLUDED = 20
MAX_INCLUDED_OVER_ALL = 100


@dataclass(frozen=True, slots=True)
class Attribute:
    """A key attribute and its type. A plain string in a declaration is one of type S."""

    name: str
    type: KeyType = "S"


def number(name: str) -> Attribute:
    """A key attribute of type N, which keeps numeric order by itself."""
    return Attribute(name, "N")


def binary(name: str) -> Attribute:
    """A key attribute of type B."""
    return Attribute(name, "B")


Key: TypeAlias = str | Attribute
Half: TypeAlias = Key | Sequence[Key]


@dataclass(frozen=True, slots=True)
class Index:
    """A secondary index. `include` are stored names; without it and `keys_only`, ALL.

    A half of a global index's key may be up to four attributes; a local index has the table's
    partition key and is declared by its sort key alone.
    """

    name: str
    hash: tuple[Attribute, ...]
    range: tuple[Attribute, ...]
    is_global: bool
    keys_only: bool = False
    include: tuple[str, ...] = ()

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return self.hash + self.range

    @property
    def projection(self) -> Literal["ALL", "KEYS_ONLY", "INCLUDE"]:
        return "KEYS_ONLY" if self.keys_only else "INCLUDE" if self.include else "ALL"


def global_index(
    name: str,
    hash: Half,
    range: Half = (),
    *,
    keys_only: bool = False,
    include: Sequence[str] = (),
) -> Index:
    return Index(name, half(hash), half(range), True, keys_only=keys_only, include=tuple(include))


def local_index(
    name: str, range: Key, *, keys_only: bool = False, include: Sequence[str] = ()
) -> Index:
    return Index(name, (), half(range), False, keys_only=keys_only, include=tuple(include))


def half(declared: Half) -> tuple[Attribute, ...]:
    keys = (declared,) if isinstance(declared, (str, Attribute)) else declared
    return tuple(Attribute(key) if isinstance(key, str) else key for key in keys)


@dataclass(eq=False, slots=True)
class Table:
    """A table: its keys, its indexes, and how the entities in it are stored.

    `type_attribute` names the attribute that says which entity an item is, where several share
    the table. `ttl` is the stored name of the attribute that expires items.
    """

    name: str
    hash: Key
    range: Key | None = None
    indexes: Sequence[Index] = ()
    naming: Naming = snake_case
    type_attribute: str | None = None
    ttl: str | None = None
    stream: Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"] | None = None
    deletion_protection: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)
    entities: list[type[Entity]] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self.indexes = tuple(self._placed(index) for index in self.indexes)
        check_table(self)

    def _placed(self, index: Index) -> Index:
        if index.is_global:
            return index
        return Index(
            index.name, half(self.hash), index.range, False, index.keys_only, index.include
        )

    @property
    def main(self) -> Index:
        """The table's own key, as if it were an index."""
        return Index(MAIN, half(self.hash), half(self.range or ()), True)

    def index(self, name: str) -> Index:
        if name == MAIN:
            return self.main
        for index in self.indexes:
            if index.name == name:
                return index
        known = ", ".join([MAIN, *(index.name for index in self.indexes)])
        raise DesignError(f"table {self.name} has no index {name!r}; it has {known}")


def check_table(table: Table) -> None:
    """What DynamoDB would refuse, said before anything is sent."""
    indexes = table.indexes
    names = [index.name for index in indexes]
    for name in names:
        if names.count(name) > 1:
            raise DesignError(f"table {table.name} declares index {name!r} twice; rename one")
        if name == MAIN:
            raise DesignError(f"table {table.name}: {MAIN!r} is the table itself; rename the index")
    check_numbers(table)
    types: dict[str, Attribute] = {}
    for index in (table.main, *indexes):
        check_index(table, index)
        for attribute in index.attributes:
            if types.setdefault(attribute.name, attribute) != attribute:
                raise DesignError(
                    f"table {table.name}: key attribute {attribute.name!r} is declared with two"
                    " types; give it one"
                )


def check_numbers(table: Table) -> None:
    locals_ = [index for index in table.indexes if not index.is_global]
    globals_ = [index for index in table.indexes if index.is_global]
    if len(globals_) > MAX_GLOBAL or len(locals_) > MAX_LOCAL:
        raise DesignError(
            f"table {table.name} has {len(globals_)} global and {len(locals_)} local indexes;"
            f" DynamoDB allows {MAX_GLOBAL} and {MAX_LOCAL}: let entities share an index"
        )
    included = sum(len(index.include) for index in table.indexes)
    if included > MAX_INCLUDED_OVER_ALL:
        raise DesignError(
            f"table {table.name} projects {included} attributes by name; DynamoDB allows"
            f" {MAX_INCLUDED_OVER_ALL} over all indexes: project ALL somewhere"
        )
    if locals_ and table.range is None:
        raise DesignError(
            f"table {table.name} has a local index but no sort key; declare `range`, or make the"
            " index global"
        )


def check_index(table: Table, index: Index) -> None:
    where = f"table {table.name}, index {index.name}"
    for attribute in index.attributes:
        if attribute.type not in ("S", "N", "B"):
            raise DesignError(f"{where}: key {attribute.name} must be S, N or B")
    if not index.hash:
        raise DesignError(f"{where} has no partition key; declare `hash`")
    most = 1 if index.name == MAIN or not index.is_global else MAX_HALF
    if len(index.hash) > most or len(index.range) > most:
        raise DesignError(f"{where}: each half of its key may have {most} attribute(s)")
    if len(index.include) > MAX_INCLUDED:
        raise DesignError(
            f"{where} includes {len(index.include)} attributes; DynamoDB allows {MAX_INCLUDED}:"
            " project ALL"
        )
    if index.keys_only and index.include:
        raise DesignError(f"{where} is KEYS_ONLY and includes attributes; choose one")
