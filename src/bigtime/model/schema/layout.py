"""How an entity is stored in its table: its attributes, its keys, and the conversions both ways.

A layout is compiled when the entity is declared. One thing depends on the other entities of the
table: a key's last field is written raw unless another entity's template continues it, so
declaring an entity may recompile its neighbours. Once a key has been made with a layout, it is
too late for that, and declaring such an entity is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeAlias

from pydantic import ValidationError

from bigtime.model.errors import DesignError, DomainError, ItemMismatch, ValueRefused
from bigtime.model.schema.attribute import (
    Path,
    Place,
    Step,
    field_annotation,
    follow,
    key_forms,
    split,
    stored_forms,
    unwrap,
)
from bigtime.model.schema.keys import EntityKey, KeyDeclaration, Keys
from bigtime.model.schema.secret import Secret, hide, secret_fields
from bigtime.model.schema.storage import (
    AS_STORED,
    UNDECLARED,
    Preparation,
    Storage,
    attribute_names,
    defaulted_names,
    field_in_keys,
    fixed_attributes,
    key_sources,
    known_names,
    preparations,
    type_names,
)
from bigtime.model.schema.stored import ANY, Stored, is_number, unit_in
from bigtime.model.schema.table import MAIN, Table
from bigtime.model.schema.tenant import closed_by_tenant, tenant_field
from bigtime.wire import TENANT, AttributeValue, Item, Steps

if TYPE_CHECKING:
    from bigtime.model.schema.entity import Entity

FedKeys: TypeAlias = tuple[tuple[EntityKey, tuple[str, ...]], ...]
"""Index keys, each with its attributes that are neither fields nor part of the main key."""


@dataclass(frozen=True, slots=True, eq=False)
class Roles:
    """The fields that the operations fill in themselves."""

    created: str | None = None
    updated: str | None = None
    version: str | None = None
    deleted: str | None = None

    def field_names(self) -> dict[str, str]:
        pairs = ((role, getattr(self, role)) for role in ROLES)
        return {role: name for role, name in pairs if name is not None}


ROLES = tuple(field.name for field in fields(Roles))


class Keeper(Protocol):
    """Maintains the invariants of an entity; see invariants.invariant."""

    def fields(self, changed: frozenset[Path] | None) -> frozenset[str]:
        """The fields used by the invariants that these changes affect; None affects all."""

    def expand(self, write: Any) -> tuple[Any, ...]:
        """The write, and those that must happen in the same transaction."""

    def transaction(self, writes: tuple[Any, ...]) -> Any:
        """The operation that makes these writes together."""


class Lister(Protocol):
    """Records which time buckets hold an entity's items; see bucket_list."""

    def list_buckets(self, items: Iterable[Mapping[str, Any]]) -> Steps[None]:
        """Lists the buckets of items with these fields, before the items are written."""


class Layout:
    """The compiled mapping of one entity.

    `forms` are the stored forms of its fields, `absent` what is read where one is not stored.
    `keeper` is set when the entity has invariants, `lister` when its buckets are listed.
    `type_names` are the values of the type attribute that denote the entity, `type_item` is what
    every item of it has, `known` are the attributes that it declares.
    """

    __slots__ = (
        "_defaulted",
        "_fed_keys",
        "_preparations",
        "_readers",
        "_sources",
        "_type_attribute",
        "_validate",
        "_writers",
        "absent",
        "continued",
        "declared",
        "declared_forms",
        "entity",
        "forms",
        "hidden",
        "is_used",
        "keeper",
        "keys",
        "known",
        "lister",
        "names",
        "roles",
        "secrets",
        "storage",
        "table",
        "tenant",
        "type_item",
        "type_names",
    )

    def __init__(
        self, entity: type[Entity], table: Table, declared: Keys, roles: Roles, storage: Storage
    ) -> None:
        self.entity = entity
        self.table = table
        self.declared = declared
        self.roles = roles
        self.storage = storage
        self.tenant = tenant_field(entity)
        self.is_used = False
        self.keeper: Keeper | None = None
        self.lister: Lister | None = None
        self.names = attribute_names(entity, table, storage)
        self.secrets = secret_fields(entity)
        self.hidden: frozenset[str] = frozenset()
        self.absent: dict[str, Any] = {}
        self.declared_forms = stored_forms(self)
        self.forms = self.declared_forms
        self.keys: dict[str, EntityKey] = {}
        self.continued: frozenset[tuple[str, str]] = frozenset()
        self.type_names = type_names(entity, table, storage)
        self.type_item = fixed_attributes(self)
        self.known = known_names(self)
        self._defaulted = defaulted_names(self)
        self._type_attribute = table.type_attribute or ""
        self._preparations: tuple[Preparation, ...] = ()
        self._validate = entity.__pydantic_validator__.validate_python

    def compile(self, continued: frozenset[tuple[str, str]]) -> None:
        self.continued = continued
        fields = {name: self.annotation(name) for name in self.names}
        declared = KeyDeclaration(
            self.entity.__name__,
            self.table,
            self.declared,
            fields,
            self.declared_forms,
            continued | closed_by_tenant(self),
        )
        self.keys = declared.compile()
        for key in self.keys.values():
            key.owner = self.entity
        self._fed_keys: dict[tuple[frozenset[Path], bool], FedKeys] = {}
        self.forms = {**self.declared_forms, **key_forms(self)}
        self.hidden = frozenset(hidden_attributes(self))
        self._writers = [
            (name, stored, self.forms[name].write, self.forms[name].is_set)
            for name, stored in self.names.items()
        ]
        self._readers = [
            (name, stored, self.forms[name].tag, self.forms[name].read)
            for name, stored in self.names.items()
        ]
        self._sources = key_sources(self)
        self._preparations = tuple(preparations(self))

    @property
    def is_upgraded(self) -> bool:
        """Whether items are upgraded to the current form before they are read."""
        return bool(self._preparations)

    def annotation(self, name: str) -> Any:
        """The annotation of a field, which includes whether it is secret."""
        annotation = field_annotation(self.entity, name)
        return Annotated[annotation, Secret] if name in self.secrets else annotation

    def to_item(self, entity: Entity) -> Item:
        """The item to store: every field that has a value, and the keys of every index it is in."""
        self.is_used = True
        fields = entity.__dict__
        item: Item = dict(self.type_item)
        name = ""
        try:
            for name, stored, write, is_set in self._writers:
                value = fields[name]
                if value is None or (is_set and not value):
                    continue
                item[stored] = write(value)
        except (ValueError, TypeError, AttributeError) as error:
            raise self.refusal(name, error) from None
        for key in self.keys.values():
            attributes = key.attributes(fields)
            if attributes is not None:
                item.update(attributes)
            elif key.index.name == MAIN:
                missing = [name for name in key.fields if fields.get(name) is None]
                raise ValueRefused(
                    f"{self.entity.__name__}: {', '.join(missing)} must be there: the main key"
                    " is made of it",
                    self.entity,
                )
        if UNDECLARED in fields:
            item = {**fields[UNDECLARED], **item}
        return item

    def read(self, item: Item) -> Any:
        """The entity that an item holds; raises if its type attribute names another."""
        named = item.get(self._type_attribute)
        if named is not None and named.get("S") not in self.type_names:
            raise ItemMismatch(
                f"{self.location_of(item)}: it is of type {named.get('S')!r}, not"
                f" {' or '.join(map(repr, self.type_names))}; a class that had another name says so"
                " with was=",
                item,
                self.entity,
            )
        return self.from_item(item) if self._preparations else self.decode(item)

    def from_item(self, item: Item) -> Any:
        """The entity that an item holds, upgraded to the current form first where needed."""
        if not self._preparations:
            return self.decode(item)
        prepared = item
        for prepare in self._preparations:
            prepared = prepare(prepared)
        entity = self.decode(prepared)
        if prepared is not item:
            entity.__dict__[AS_STORED] = item
        return entity

    def decode(self, item: Item, *, recovers: bool = True) -> Any:
        fields = self.absent.copy()
        try:
            for name, stored, tag, read in self._readers:
                value = item.get(stored)
                if value is not None:
                    fields[name] = value[tag] if read is None else read(value)
            entity = self._validate(fields, by_alias=False, by_name=True)
        except (KeyError, ValueError, DomainError) as error:
            if not recovers:
                raise self.mismatch(item, error) from None
            return self.recover(item, error)
        if not item.keys() <= self.known:
            entity.__dict__[UNDECLARED] = self.undeclared_attributes(item)
        if not self._defaulted <= item.keys():
            entity.__dict__[AS_STORED] = item  # a guard must not expect values not yet stored
        return entity

    def recover(self, item: Item, error: Exception) -> Any:
        """Retries a failed read: other code may store NULL for None, or a field in its key only."""
        nulls = {name for name in self.names.values() if "NULL" in item.get(name, ())}
        filled = self.with_key_fields(item)
        if not nulls and filled is item:
            raise self.mismatch(item, error) from None
        try:
            plain = {name: value for name, value in filled.items() if name not in nulls}
            entity = self.decode(plain, recovers=False)
        except ItemMismatch as mismatch:
            raise ItemMismatch(str(mismatch), item, self.entity) from None
        if filled is not item and self.with_key_fields not in self._preparations:
            # More such items will follow, and need not fail first.
            self._preparations = (*self._preparations, self.with_key_fields)
        entity.__dict__[AS_STORED] = item
        return entity

    def with_key_fields(self, item: Item) -> Item:
        """The item, with the fields that are stored only in its keys added."""
        filled = item
        for name, parts in self._sources.items():
            if self.names[name] not in item:
                value = field_in_keys(name, parts, item)
                if value is not None:
                    filled = {**filled, self.names[name]: self.forms[name].write(value)}
        return filled

    def undeclared_attributes(self, item: Item) -> Item:
        """The attributes of an item that the entity does not declare."""
        return {name: value for name, value in item.items() if name not in self.known}

    def outdated_because(self, item: Item) -> str:
        """Why an item is not in the current form; empty if it is."""
        if self.entity.is_outdated(item):
            return f"it has to be upgraded to what {self.entity.__name__} is now"
        for name, names in self.storage.old_names.items():
            for old in (old for old in names if old in item):
                return f"{self.names[name]} is stored as {old}"
        return ""

    def stored_item(self, entity: Entity) -> Item:
        """The item that an entity was read from, as far as known."""
        return entity.__dict__.get(AS_STORED) or self.to_item(entity)

    def is_deleted(self, entity: Entity) -> bool:
        """Whether it was soft-deleted."""
        name = self.roles.deleted
        return name is not None and getattr(entity, name) is not None

    @property
    def deleted_name(self) -> str | None:
        """The stored name of the attribute that marks an item as soft-deleted."""
        return self.names[self.roles.deleted] if self.roles.deleted else None

    def mismatch(self, item: Item, error: Exception) -> ItemMismatch:
        where = self.location_of(item)
        return ItemMismatch(f"{where}: {self.faults(item, error)}", item, self.entity)

    def faults(self, item: Item, error: Exception) -> str:
        if isinstance(error, ValidationError):
            return describe_error(error)
        return str(error) if isinstance(error, DomainError) else self.type_fault(item)

    def location_of(self, item: Item) -> str:
        keys = {name: item.get(name) for name in self.table.key_names}
        return f"{self.entity.__name__} at {self.visible(keys)}"

    def visible(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Attributes for display, with secrets hidden."""
        return hide(item, self.hidden)

    def shown_fields(self, fields: Mapping[str, Any]) -> dict[str, str]:
        """Fields for display, with secrets hidden."""
        return hide({name: repr(value) for name, value in fields.items()}, self.secrets)

    def refusal(self, path: Path, error: Exception) -> ValueRefused:
        """Why a value cannot be stored; for a secret, only that it cannot."""
        is_secret = split(path)[0] in self.secrets
        said = "does not fit its type; it is secret, and not shown" if is_secret else str(error)
        return ValueRefused(f"{self.entity.__name__}.{path} {said}", self.entity)

    def type_fault(self, item: Item) -> str:
        """Which field of an item cannot be read, and why."""
        for name, stored in self.names.items():
            form = self.forms[name]
            if stored not in item:
                continue
            if form.tag and form.tag not in item[stored]:
                return f"{name}: stored as {next(iter(item[stored]))}, not as {form.tag}"
            try:
                form.reading(item[stored])
            except KeyError:
                return f"{name}: an attribute inside it has another type than its field"
            except ValueError as error:
                return f"{name}: {'it is malformed' if name in self.secrets else error}"
        return "it cannot be read"

    def place(self, path: Path) -> Place:
        """Resolves a path to its place in the stored item."""
        if type(path) is str and path in self.names:
            return Place((self.names[path],), self.forms[path])
        first, *rest = split(path)
        name = str(first)
        self.check_field(name)
        steps: list[Step] = [self.names[name]]
        form = self.forms[name]
        try:
            for step in rest:
                stored, form = follow(form, step)
                steps.append(stored)
        except DesignError as error:
            raise DesignError(f"{self.entity.__name__}, path {path!r}: {error}") from None
        return Place(tuple(steps), form)

    def check_field(self, name: str) -> None:
        if name not in self.names:
            raise DesignError(
                f"{self.entity.__name__} has no field {name!r}; it has {', '.join(self.names)}"
            )

    def check_value(self, path: Path, value: Any) -> Any:
        """A value validated by its field's type; ValueRefused if it does not fit."""
        return self.fit(self.place(path).form, path, value)

    def bound(self, path: Path, value: Any, *, up: bool) -> Any:
        """The operand of a comparison, validated by the place's type; any number is allowed.

        A time finer than the stored precision is rounded to one that can be stored, `up` or down.
        """
        form = self.place(path).form
        if form.tag == "N" and is_number(value):
            return value
        fitted = self.fit(form, path, value)
        if not (isinstance(fitted, datetime) and isinstance(value, datetime)) or fitted == value:
            return fitted
        unit = unit_in(unwrap(form.annotation)[1])
        if unit is None:
            raise ValueRefused(
                f"{self.entity.__name__}.{path}: its type makes {fitted} of {value}; compare it"
                " with a value that it leaves as it is",
                self.entity,
            )
        try:
            return fitted + timedelta(microseconds=unit.microseconds) if up else fitted
        except OverflowError:
            raise ValueRefused(
                f"{self.entity.__name__}.{path}: nothing is stored after {value}, where time ends;"
                " compare it with an earlier one",
                self.entity,
            ) from None

    def checked_part(self, path: Path, value: Any) -> Any:
        """A value validated as an element of a list or set."""
        return self.fit(self.place(path).form.element or ANY, path, value)

    def fit(self, form: Stored, path: Path, value: Any) -> Any:
        try:
            return form.check(value)
        except ValidationError as error:
            raise self.misfit(path, error) from None

    def misfit(self, path: Path, error: ValidationError) -> ValueRefused:
        return ValueRefused(f"{self.entity.__name__}.{path}: {describe_error(error)}", self.entity)

    def stored_value(self, path: Path, value: Any) -> AttributeValue:
        """A value in the stored form of its field."""
        known = isinstance(path, str) and path in self.forms
        form = self.forms[str(path)] if known else self.place(path).form
        try:
            return form.write(value)
        except (ValueError, TypeError, AttributeError) as error:
            raise self.refusal(path, error) from None

    def role_values(self, moment: datetime, *roles: str | None) -> dict[str, Any]:
        """The values that fields of these roles get at a moment."""
        return {name: self.check_value(name, moment) for name in roles if name is not None}

    def key_fields(self, values: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of the main key, from positional and named arguments."""
        names = self.keys[MAIN].fields
        if self.tenant is not None and len(values) + len(named) < len(names):
            others = (name for name in names if name != self.tenant)
            named = self.with_tenant({**dict(zip(others, values, strict=False)), **named})
            values = ()
        if named or len(values) != len(names):
            self.check_key_fields(names, len(values), named)
            names, values = (*names[: len(values)], *named), (*values, *named.values())
        fields: dict[str, Any] = {}
        name = ""
        try:
            for name, value in zip(names, values, strict=True):
                fields[name] = self.forms[name].check(value)
        except ValidationError as error:
            raise self.misfit(name, error) from None
        return fields

    def with_tenant(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """The fields, with the tenant of the running store added."""
        bound = TENANT.get()
        if self.tenant is None or bound is None or self.tenant in fields:
            return fields
        return {self.tenant: bound, **fields}

    def check_key_fields(
        self, names: tuple[str, ...], in_order: int, named: Mapping[str, Any]
    ) -> None:
        """Refuses key arguments, in order and by name, that are not exactly the key's fields."""
        if in_order > len(names) or not named.keys() <= set(names[in_order:]):
            raise TypeError(f"{self.entity.__name__}.key takes {', '.join(names) or 'nothing'}")
        missing = [name for name in names[in_order:] if name not in named]
        if missing:
            raise TypeError(f"{self.entity.__name__}.key also needs {', '.join(missing)}")

    def fed_keys(self, changed: frozenset[Path], *, upsert: bool = False) -> FedKeys:
        """The index keys that these fields are part of, each with the attributes only it writes.

        All index keys, if the item may be new. A key that shares an attribute with a fed key is
        fed too: what the first removes, the other may need. Computed once for each set of names.
        """
        fed = self._fed_keys.get((changed, upsert))
        if fed is None:
            fed = self._fed_keys[changed, upsert] = self.find_fed_keys(changed, upsert=upsert)
        return fed

    def find_fed_keys(self, changed: frozenset[Path], *, upsert: bool) -> FedKeys:
        others = {*self.table.key_names, *self.names.values()}
        own = {
            key: {part.attribute.name for part in key.parts} - others
            for name, key in self.keys.items()
            if name != MAIN
        }
        fed = [key for key in own if upsert or not key.fed_by.isdisjoint(changed)]
        # The list grows during iteration: a key that is found feeds others in turn.
        for key in fed:
            fed += [more for more in own if more not in fed and not own[more].isdisjoint(own[key])]
        return tuple((key, tuple(sorted(own[key]))) for key in fed)

    def key_told_by(self, item: Item) -> dict[str, Any]:
        """The fields of the main key, decoded from an item's key attributes."""
        fields: dict[str, Any] = {}
        try:
            for part in self.keys[MAIN].parts:
                parsed = part.parse(item[part.attribute.name])
                vague = {name for name in part.template.lossy if name in fields}
                fields.update((name, value) for name, value in parsed.items() if name not in vague)
            return {name: self.check_value(name, value) for name, value in fields.items()}
        except (KeyError, ValueError, DomainError) as error:
            is_secret = not self.secrets.isdisjoint(self.keys[MAIN].fields)
            said = "its key cannot be read" if is_secret else error
            raise ItemMismatch(f"{self.location_of(item)}: {said}", item, self.entity) from None

    def defaults(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The defaults of the other fields when only these are given, without any that are None."""
        found: dict[str, Any] = {}
        for name, field in self.entity.model_fields.items():
            if name not in given and not field.is_required():
                known = {**given, **found}
                value = field.get_default(call_default_factory=True, validated_data=known)
                if value is not None:
                    found[name] = value
        return found

    def default(self, name: str) -> Any:
        """The default of a field; None if it has none, or one that is made from other fields."""
        field = self.entity.model_fields[name]
        if field.is_required() or field.default_factory_takes_validated_data:
            return None
        return field.get_default(call_default_factory=True)

    def needed_fields(self) -> frozenset[str]:
        """The fields that an item must have to be readable."""
        return frozenset(
            name
            for name, field in self.entity.model_fields.items()
            if field.is_required() and name not in self.absent
        )


def describe_error(error: ValidationError) -> str:
    """Where and what is wrong, without the value, which may be a secret."""
    faults = ((".".join(map(str, each["loc"])), each["msg"]) for each in error.errors())
    return "; ".join(f"{where}: {what}" if where else what for where, what in faults)


def hidden_attributes(layout: Layout) -> Iterator[str]:
    """The stored names of secret fields, and of keys made from them."""
    yield from (layout.names[name] for name in layout.secrets)
    for part in (part for key in layout.keys.values() for part in key.parts):
        if not layout.secrets.isdisjoint(part.template.fields):
            yield part.attribute.name
