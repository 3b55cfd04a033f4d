"""Tables and their indexes, declared once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from bigtime.model.errors import DesignError
from bigtime.wire import Identity, Item, item_identity

if TYPE_CHECKING:
    from bigtime.model.schema.entity import Entity

KeyType: TypeAlias = Literal["S", "N", "B"]
TableClass: TypeAlias = Literal["STANDARD", "STANDARD_INFREQUENT_ACCESS"]
StreamView: TypeAlias = Literal["KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES"]
MAIN = "main"
NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}")
MAX_GLOBAL = 20
MAX_LOCAL = 5
MAX_HALF = 4
MAX_INCLUDED = 20
MAX_INCLUDED_OVER_ALL = 100
MAX_NAME_BYTES = 255
MAX_TAGS = 50
MAX_TAG_NAME = 128
MAX_TAG_VALUE = 256
MAX_TAG_BYTES = 10_240  # of all names and values
MAX_RECOVERY_DAYS = 35
MANAGED_KEY = "AWS_MANAGED"
"""For `encryption`: the key that AWS manages for DynamoDB in each account."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A key attribute and its type. A plain string in a declaration means type S."""

    name: str
    type: KeyType = "S"


def number(name: str) -> Attribute:
    """A key attribute of type N, which keeps numeric order by itself."""
    return Attribute(name, "N")


def binary(name: str) -> Attribute:
    """A key attribute of type B."""
    return Attribute(name, "B")


KeyName: TypeAlias = str | Attribute
Half: TypeAlias = KeyName | Sequence[KeyName]
Names: TypeAlias = str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Index:
    """A secondary index.

    It projects the stored names in `include`, the keys alone if `keys_only`, and ALL otherwise.
    Either half of a global index's key may have up to four attributes; a local index has the
    table's partition key and is declared by its sort key alone.
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
    include: Names = (),
) -> Index:
    included = names_in(include)
    return Index(name, half(hash), half(range), True, keys_only=keys_only, include=included)


def local_index(
    name: str, range: KeyName, *, keys_only: bool = False, include: Names = ()
) -> Index:
    included = names_in(include)
    return Index(name, (), half(range), False, keys_only=keys_only, include=included)


def half(declared: Half) -> tuple[Attribute, ...]:
    if isinstance(declared, Sequence) and not isinstance(declared, str):
        return tuple(map(attribute_of, declared))
    return (attribute_of(declared),)


def attribute_of(declared: object) -> Attribute:
    if isinstance(declared, str):
        return Attribute(declared)
    if isinstance(declared, Attribute):
        return declared
    raise DesignError(
        f"a key attribute is a text, number('Price') or binary('Digest'), not {declared!r}"
    )


def names_in(declared: Names) -> tuple[str, ...]:
    return (declared,) if isinstance(declared, str) else tuple(declared)


# How a field's Python name becomes the name of its stored attribute: one rule per table

Naming: TypeAlias = Callable[[str], str]


def snake_case(name: str) -> str:
    """`created_at`, unchanged."""
    return name


def pascal_case(name: str) -> str:
    """`CreatedAt`."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def camel_case(name: str) -> str:
    """`createdAt`."""
    pascal = pascal_case(name)
    return pascal[:1].lower() + pascal[1:]


@dataclass(frozen=True, slots=True)
class Throughput:
    """Provisioned capacity, in units a second; paid for whether it is used or not."""

    read: int
    write: int

    def parameters(self) -> dict[str, int]:
        return {"ReadCapacityUnits": self.read, "WriteCapacityUnits": self.write}


@dataclass(eq=False, slots=True)
class Table:
    """A table: its keys, its indexes, and how the entities in it are stored.

    `type_attribute` names the attribute that says which entity an item is, where several share
    the table; `type_values` maps its stored values to class names, where they differ.
    `schema_attribute` names the attribute with an item's version, `ttl` the one by which items
    expire.

    Operational settings are declared too: billing is provisioned if `throughput` is given, and per
    request otherwise; `encryption` is AWS_MANAGED or a KMS key (its id, alias or ARN), and a key
    owned by AWS otherwise; `point_in_time_recovery` is on for 35 days, or for as many as given;
    `replicas` are the regions of a global table.
    """

    name: str
    hash: KeyName
    range: KeyName | None = None
    indexes: Sequence[Index] = ()
    naming: Naming = snake_case
    type_attribute: str | None = None
    ttl: str | None = None
    stream: StreamView | None = None
    deletion_protection: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)
    type_values: Mapping[str, str] = field(default_factory=dict)
    schema_attribute: str | None = None
    throughput: Throughput | None = None
    encryption: str | None = None
    point_in_time_recovery: bool | int = False
    table_class: TableClass | None = None
    replicas: Sequence[str] = ()
    entities: list[type[Entity]] = field(default_factory=list, init=False)
    main: Index = field(init=False, repr=False)
    """The table's primary key, as if it were an index."""
    key_names: tuple[str, ...] = field(init=False, repr=False)
    """The attribute names of its primary key."""

    def __post_init__(self) -> None:
        self.main = Index(
            MAIN, half(self.hash), half(() if self.range is None else self.range), True
        )
        self.key_names = tuple(attribute.name for attribute in self.main.attributes)
        check_indexes(self.name, self.indexes)
        check_naming(self.name, self.naming)
        self.indexes = tuple(self.with_partition_key(index) for index in self.indexes)
        check_table(self)

    def with_partition_key(self, index: Index) -> Index:
        """The index with the table's partition key, if it is a local one."""
        if index.is_global:
            return index
        return Index(
            index.name, half(self.hash), index.range, False, index.keys_only, index.include
        )

    @property
    def indexed_names(self) -> set[str]:
        """The names of all attributes that are keys of the table or of an index."""
        indexes = (self.main, *self.indexes)
        return {attribute.name for index in indexes for attribute in index.attributes}

    def identity(self, item: Item) -> Identity:
        """Identifies an item by its table and main key."""
        return item_identity(self.name, item, self.key_names)

    def index(self, name: str) -> Index:
        if name == MAIN:
            return self.main
        for index in self.indexes:
            if index.name == name:
                return index
        known = ", ".join([MAIN, *(index.name for index in self.indexes)])
        raise DesignError(f"table {self.name} has no index {name!r}; it has {known}")


# What DynamoDB would refuse, reported before anything is sent
# (AWS: HowItWorks.NamingRulesDataTypes.html, Constraints.html)


def check_indexes(table: str, given: object) -> None:
    if isinstance(given, (str, Index)) or not isinstance(given, Iterable):
        raise DesignError(f"table {table}: indexes is a list of them, not {given!r}")
    for each in given:
        if not isinstance(each, Index):
            raise DesignError(
                f"table {table}: {each!r} is no index; declare it with global_index() or"
                " local_index()"
            )


def check_naming(table: str, given: object) -> None:
    if not callable(given):
        raise DesignError(
            f"table {table}: naming is {given!r}; pass pascal_case, camel_case, snake_case or a"
            " function of your own"
        )


def check_table(table: Table) -> None:
    check_name(f"table {table.name!r}", table.name)
    check_index_names(table)
    check_numbers(table)
    types: dict[str, Attribute] = {}
    for index in (table.main, *table.indexes):
        check_index(table, index)
        for attribute in index.attributes:
            if types.setdefault(attribute.name, attribute) != attribute:
                raise DesignError(
                    f"table {table.name}: key attribute {attribute.name!r} is declared with two"
                    " types; give it one"
                )
    check_marked(table, types)
    check_tags(table)
    check_operation(table)


def check_operation(table: Table) -> None:
    """Checks the operational settings."""
    paid = table.throughput
    if paid is not None and min(paid.read, paid.write) < 1:
        raise DesignError(f"table {table.name}: {paid} is less than a unit a second; give one each")
    days = table.point_in_time_recovery
    if not isinstance(days, bool) and not 1 <= days <= MAX_RECOVERY_DAYS:
        raise DesignError(
            f"table {table.name}: point_in_time_recovery is for 1 to {MAX_RECOVERY_DAYS} days, not"
            f" {days}"
        )
    if table.table_class not in (None, *get_args(TableClass)):
        raise DesignError(
            f"table {table.name}: its class is {table.table_class!r}; there are"
            f" {', '.join(get_args(TableClass))}"
        )
    if table.encryption == "":
        raise DesignError(
            f"table {table.name}: encryption is {MANAGED_KEY} or a key of KMS, not ''"
        )
    if isinstance(table.replicas, str):
        raise DesignError(f"table {table.name}: replicas is a list of regions; write [...]")
    if table.replicas and table.stream not in (None, "NEW_AND_OLD_IMAGES"):
        raise DesignError(
            f"table {table.name}: a global table streams NEW_AND_OLD_IMAGES, not {table.stream}"
        )


def check_name(where: str, name: str) -> None:
    if not NAME.fullmatch(name):
        raise DesignError(
            f"{where}: its name must be 3 to 255 of the characters a-z, A-Z, 0-9, _, - and .;"
            " rename it"
        )


def check_index_names(table: Table) -> None:
    names = [index.name for index in table.indexes]
    for name in names:
        check_name(f"table {table.name}, index {name!r}", name)
        if names.count(name) > 1:
            raise DesignError(f"table {table.name} declares index {name!r} twice; rename one")
        if name == MAIN:
            raise DesignError(f"table {table.name}: {MAIN!r} is the table itself; rename the index")


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
    where = f"table {table.name}, {'its own key' if index.name == MAIN else f'index {index.name}'}"
    if not index.hash:
        raise DesignError(f"{where} has no partition key; declare `hash`")
    if not index.is_global and not index.range:
        raise DesignError(f"{where} is local and has no sort key; declare `range`")
    most = 1 if index.name == MAIN or not index.is_global else MAX_HALF
    longest = max(len(index.hash), len(index.range))
    if longest > most:
        raise DesignError(
            f"{where}: a half of its key has {longest} attributes, and may have {most} at most"
        )
    for attribute in index.attributes:
        check_attribute(where, index, attribute)
    check_projection(table, index, where)


def check_attribute(where: str, index: Index, attribute: Attribute) -> None:
    check_attribute_name(f"{where}: a key attribute", attribute.name)
    if attribute.type not in get_args(KeyType):
        raise DesignError(
            f"{where}: key {attribute.name!r} is of type {attribute.type}, and must be S, N or B"
        )
    if [each.name for each in index.attributes].count(attribute.name) > 1:
        raise DesignError(f"{where}: {attribute.name!r} is there twice; name another attribute")


def check_attribute_name(what: str, name: str) -> None:
    if not name:
        raise DesignError(f"{what} has no name; give it one")
    size = len(name.encode())
    if size > MAX_NAME_BYTES:
        raise DesignError(
            f"{what} has a name of {size} bytes ({name[:20]!r}...); DynamoDB allows"
            f" {MAX_NAME_BYTES}: shorten it"
        )


def check_projection(table: Table, index: Index, where: str) -> None:
    keys = {attribute.name for attribute in (*table.main.attributes, *index.attributes)}
    if len(index.include) > MAX_INCLUDED:
        raise DesignError(
            f"{where} includes {len(index.include)} attributes; DynamoDB allows {MAX_INCLUDED}:"
            " project ALL"
        )
    if index.keys_only and index.include:
        raise DesignError(f"{where} is KEYS_ONLY and includes attributes; choose one")
    for name in index.include:
        check_attribute_name(f"{where}: an attribute that it includes", name)
        if index.include.count(name) > 1:
            raise DesignError(f"{where} includes {name!r} twice; name it once")
        if name in keys:
            raise DesignError(
                f"{where} includes {name!r}, a key, which it holds anyway; leave it out"
            )


def check_marked(table: Table, keys: Mapping[str, Attribute]) -> None:
    """Checks the attributes with a meaning for the whole table, and its stream."""
    roles = {
        role: name
        for role in ("ttl", "type_attribute", "schema_attribute")
        if (name := getattr(table, role)) is not None
    }
    for role, name in roles.items():
        check_attribute_name(f"table {table.name}: the attribute of `{role}`", name)
    if table.type_attribute in keys:
        raise DesignError(
            f"table {table.name}: {table.type_attribute!r} is both a key and what says which entity"
            " an item is; rename one"
        )
    if table.schema_attribute in keys:
        raise DesignError(
            f"table {table.name}: {table.schema_attribute!r} is both a key and the version of an"
            " item; rename one"
        )
    for role, other in combinations(roles, 2):
        if roles[role] == roles[other]:
            raise DesignError(
                f"table {table.name}: {roles[role]!r} is both `{role}` and `{other}`; rename one"
            )
    if table.type_values and table.type_attribute is None:
        raise DesignError(
            f"table {table.name} has type_values and no type_attribute; name the attribute that has"
            " them"
        )
    if table.stream is not None and table.stream not in get_args(StreamView):
        raise DesignError(
            f"table {table.name}: stream is {table.stream!r}; a stream shows"
            f" {', '.join(get_args(StreamView))}"
        )


def check_tags(table: Table) -> None:
    if len(table.tags) > MAX_TAGS:
        raise DesignError(
            f"table {table.name} has {len(table.tags)} tags; DynamoDB allows {MAX_TAGS}: drop some"
        )
    for name, value in table.tags.items():
        where = f"table {table.name}: the tag {name!r}"
        if not 1 <= len(name) <= MAX_TAG_NAME:
            raise DesignError(f"{where} needs a name of 1 to {MAX_TAG_NAME} characters; rename it")
        if len(value) > MAX_TAG_VALUE:
            raise DesignError(
                f"{where} has a value of {len(value)} characters; AWS allows {MAX_TAG_VALUE}:"
                " shorten it"
            )
        if name.lower().startswith("aws:"):
            raise DesignError(f"{where} begins with aws:, which is AWS's own; rename it")
    size = sum(len(text.encode()) for tag in table.tags.items() for text in tag)
    if size > MAX_TAG_BYTES:
        raise DesignError(
            f"table {table.name} has tags of {size:,} bytes; DynamoDB allows {MAX_TAG_BYTES:,}:"
            " shorten some"
        )
