"""How one Python value is stored as an attribute, compiled from its annotation.

Writing is exact: each type has one stored form, and what is read back equals what was written.
Reading passes the stored text to pydantic, which parses numbers, times and ids faster than Python
code can, and validates them too.

- A field that is None is not stored, so a missing attribute is read as None. A field that may be
  None must default to None, or have no default: otherwise None would come back as the default.
- DynamoDB has no empty set. An empty set is not stored, and a missing set is read as empty; so a
  set cannot also be None. Inside a list or a map, where something must stand, it is NULL.
- A time is stored in UTC at a fixed width, so that times compare as their texts do. `Seconds`,
  `Millis` and `EpochSeconds` set the precision that a time is kept to; anything finer is
  truncated when the entity is made.
- A field declared as Any holds DynamoDB's own types: text, numbers, bytes, booleans, and lists,
  maps and sets of them. Other types would come back changed, and are refused.
- The members of a union are told apart by the type of the attribute, so each must have its own.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from enum import Enum
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from pydantic import BaseModel

from bigtime.model.errors import DesignError, ValueRefused
from bigtime.model.schema.annotation import inner_type
from bigtime.model.schema.stored import (
    ANY,
    SCALARS,
    Stored,
    chosen_form,
    list_form,
    map_form,
    marked_form,
    model_form,
    root_form,
    set_form,
    tuple_form,
    union_form,
)
from bigtime.model.schema.table import Naming

if TYPE_CHECKING:
    from bigtime.model.schema.keys import KeyPart
    from bigtime.model.schema.layout import Layout

MAX_STORED_NAME_BYTES = 65_535


def stored_form(annotation: Any, naming: Naming) -> Stored:
    """The stored form of a type, or a DesignError that says what to declare instead."""
    return Forms(naming).of(annotation)


class Forms:
    """Makes stored forms; a model's fields are named by the table's naming rule."""

    __slots__ = ("models", "naming")

    def __init__(self, naming: Naming) -> None:
        self.naming = naming
        self.models: dict[type[BaseModel], Stored] = {}

    def of(self, annotation: Any) -> Stored:
        kind, marks = unwrap(annotation)
        form = marked_form(marks) or self.plain(kind)
        if form.is_set and may_be_none(annotation):
            raise DesignError(
                "a set cannot also be None, for DynamoDB has no empty set to tell the two apart;"
                " declare the set alone"
            )
        return replace(form, annotation=annotation, adapter=None)

    def plain(self, kind: Any) -> Stored:
        origin = get_origin(kind)
        if kind is Any:
            return ANY
        if origin is Literal:
            values = [arg for arg in get_args(kind) if arg is not None]
            return chosen_form(self.of(common_type(values, kind)), values)
        if origin in (Union, UnionType):
            return self.union(kind)
        if origin is not None:
            return self.container(kind, origin)
        if isinstance(kind, type):
            return self.class_form(kind)
        raise DesignError(f"{kind!r} cannot be stored as an attribute")

    def class_form(self, kind: type) -> Stored:
        if issubclass(kind, Enum):
            values = [each.value for each in kind]
            return chosen_form(self.of(common_type(values, kind)), values)
        if issubclass(kind, BaseModel):
            if kind.__pydantic_root_model__:
                return root_form(self.of(field_annotation(kind, "root")))
            return self.models.get(kind) or self.model(kind)
        for known, form in SCALARS:
            if issubclass(kind, known):
                return form
        if issubclass(kind, float):
            raise DesignError("float loses digits that DynamoDB keeps; declare Decimal")
        if kind in (dict, list, set, frozenset, tuple):
            return self.container(kind, kind)
        raise DesignError(f"{kind.__name__} cannot be stored as an attribute; declare a plain type")

    def container(self, kind: Any, origin: type) -> Stored:
        inner = get_args(kind)
        if issubclass(origin, Mapping):
            if inner and unwrap(inner[0])[0] is not str:
                raise DesignError(f"{kind!r}: a stored map has text for its keys")
            return map_form(self.of(inner[1] if inner else Any))
        if issubclass(origin, AbstractSet):
            return self.set_of(inner[0] if inner else str, kind)
        if issubclass(origin, tuple) and inner and inner[-1] is not Ellipsis:
            return tuple_form([self.of(each) for each in inner])
        if issubclass(origin, Sequence):
            return list_form(self.of(inner[0] if inner else Any))
        raise DesignError(f"{kind!r} cannot be stored as an attribute")

    def set_of(self, inner: Any, kind: Any) -> Stored:
        form = self.of(inner)
        if form.tag not in ("S", "N", "B") or may_be_none(inner):
            raise DesignError(f"{kind!r}: a stored set holds text, numbers or bytes; use a list")
        return set_form(form)

    def union(self, kind: Any) -> Stored:
        kinds = [arg for arg in get_args(kind) if arg is not type(None)]
        forms = [self.of(each) for each in kinds]
        tags = [form.tag for form in forms]
        if "" in tags or len(set(tags)) != len(tags):
            raise DesignError(
                f"{kind!r}: some of its types are stored alike, and could not be told apart;"
                " declare one type"
            )
        return union_form(dict(zip(map(python_type, kinds), forms, strict=True)))

    def model(self, kind: type[BaseModel]) -> Stored:
        members: dict[str, tuple[str, Stored]] = {}
        absent: dict[str, Any] = {}
        form = self.models[kind] = model_form(members, absent)
        for name, found in kind.model_fields.items():
            try:
                inner = self.of(field_annotation(kind, name))
                absent.update(read_when_absent(kind, name, inner))
            except DesignError as error:
                raise DesignError(f"{kind.__name__}.{name}: {error}") from None
            members[name] = (found.serialization_alias or self.naming(name), inner)
        check_names(kind.__name__, {name: stored for name, (stored, _) in members.items()})
        return form


# What an annotation says


def unwrap(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The type behind Annotated, NewType, aliases and Optional, and its annotations."""
    marks: tuple[Any, ...] = ()
    while True:
        if get_origin(annotation) is Annotated:
            marks += get_args(annotation)[1:]
        if isinstance(annotation, TypeVar):
            inner = annotation.__bound__ or Any
        else:
            inner = inner_type(annotation)
        if inner is annotation:
            return annotation, marks
        annotation = inner


def may_be_none(annotation: Any) -> bool:
    """Whether the type allows None."""
    if annotation is Any or annotation is None or annotation is type(None):
        return True
    origin = get_origin(annotation)
    if origin is Literal:
        return None in get_args(annotation)
    if origin in (Union, UnionType):
        return any(map(may_be_none, get_args(annotation)))
    inner = inner_type(annotation)
    return inner is not annotation and may_be_none(inner)


def python_type(annotation: Any) -> type:
    """The class of a type's values."""
    kind = unwrap(annotation)[0]
    if get_origin(kind) is Literal:
        return common_type(get_args(kind), kind)
    found: type = get_origin(kind) or kind
    return found


def common_type(values: Collection[Any], kind: Any) -> type:
    kinds = {type(value) for value in values}
    if len(kinds) != 1:
        raise DesignError(f"{kind!r} mixes types; a stored attribute has one")
    return kinds.pop()


def field_annotation(kind: type[BaseModel], name: str) -> Any:
    """A field's annotation with its metadata, which pydantic stores separately."""
    field = kind.model_fields[name]
    return Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation


def read_when_absent(kind: type[BaseModel], name: str, form: Stored) -> dict[str, Any]:
    """What to pass pydantic for a field that is not stored; nothing where its default applies."""
    field = kind.model_fields[name]
    if form.is_set:
        return {name: ()}
    if not may_be_none(form.annotation):
        return {}
    if field.is_required():
        return {name: None}
    if field.default is not None or field.default_factory is not None:
        raise DesignError(
            "it may be None, which is stored as nothing, and would be read back as its default;"
            " let the default be None"
        )
    return {}


def check_names(kind: str, names: Mapping[str, str]) -> None:
    """Refuses two fields with the same stored attribute."""
    seen: dict[str, str] = {}
    for name, stored in names.items():
        if not 1 <= len(stored.encode()) <= MAX_STORED_NAME_BYTES:
            raise DesignError(
                f"{kind}: {name} would be stored as {stored[:20]!r}, and a name has 1 to"
                f" {MAX_STORED_NAME_BYTES:,} bytes; correct the naming of the table"
            )
        before = seen.setdefault(stored, name)
        if before != name:
            raise DesignError(
                f"{kind}: {before} and {name} would both be stored as {stored!r}; rename one"
            )


def stored_forms(layout: Layout) -> dict[str, Stored]:
    entity, forms = layout.entity, {}
    for name in layout.names:
        try:
            form = stored_form(field_annotation(entity, name), layout.table.naming)
            layout.absent.update(read_when_absent(entity, name, form))
        except DesignError as error:
            raise DesignError(f"{entity.__name__}.{name}: {error}") from None
        forms[name] = form
    return forms


def key_forms(layout: Layout) -> dict[str, Stored]:
    """The forms of fields stored as key attributes: the key's template writes and reads them."""
    fields = {stored: name for name, stored in layout.names.items()}
    return {
        fields[part.attribute.name]: key_form(layout, fields[part.attribute.name], part)
        for key in layout.keys.values()
        for part in key.parts
        if part.attribute.name in fields
    }


def key_form(layout: Layout, name: str, part: KeyPart) -> Stored:
    template, declared = part.template, layout.declared_forms[name]
    if template.fields != (name,) or template.lossy:
        raise DesignError(
            f"{layout.entity.__name__}: attribute {part.attribute.name} is both the field {name}"
            f" and a key of index {part_index(layout, part)} with the template {template.text!r},"
            " from which the field could not be read back; rename one"
        )
    if part.attribute.type == "N":
        return declared

    def write(value: Any) -> Any:
        try:
            return part.value({name: value})
        except ValueRefused as error:
            raise ValueRefused(str(error).removeprefix(f"field {name!r} ")) from None

    if part.form is not None:
        return replace(declared, write=write)

    def read(value: Any) -> Any:
        return template.parse(value["S"])[name]

    as_it_is = declared.tag == "S" and len(template.parts) == 1 and not template.continued
    return replace(declared, tag="S", write=write, read=declared.read if as_it_is else read)


def part_index(layout: Layout, part: KeyPart) -> str:
    return next(name for name, key in layout.keys.items() if part in key.parts)


# Paths into a value

Step: TypeAlias = str | int
Path: TypeAlias = str | tuple[Step, ...]
TEXT = re.compile(r"[^.\[\]]+(\.[^.\[\]]+|\[\d+\])*")
STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


class Place(NamedTuple):
    """A path in the stored item, and how values there are stored."""

    steps: tuple[Step, ...]
    form: Stored


def split(path: Path) -> tuple[Step, ...]:
    """The steps of a path; the first is a field."""
    if isinstance(path, tuple):
        if not path or not isinstance(path[0], str):
            raise DesignError(f"{path!r} is no path; it begins with the name of a field")
        return path
    if not TEXT.fullmatch(path):
        raise DesignError(f"{path!r} is no path; write it as in addresses.home or lines[0].count")
    return tuple(name or int(place) for name, place in STEP.findall(path))


def follow(form: Stored, step: Step) -> tuple[Step, Stored]:
    """One step into a value: its stored name, and the form of the value it leads to."""
    if form.members is not None:
        if step in form.members:
            return form.members[str(step)]
        raise DesignError(f"there is no {step!r}; there are {', '.join(form.members)}")
    if form.tag == "":
        return step, ANY
    wanted = {"M": str, "L": int}.get(form.tag)
    if wanted is None or not isinstance(step, wanted) or form.element is None:
        raise DesignError(f"{step!r} leads nowhere: what it should lead into is of type {form.tag}")
    return step, form.element
