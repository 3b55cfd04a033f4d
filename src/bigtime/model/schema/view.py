"""Views: the fields of an entity that an index projects, as a type of their own.

    class BrandWatcher(View, of=UserWatch, index="WatchesByBrand"):
        user_id: str
        watch_key: str

    watchers = yield from query(BrandWatcher.within(brand_id="apple"))

An index that does not project everything cannot return the entity, and reading it as if it could
would show unprojected attributes as empty. A view has only what is projected, which is checked
when it is declared: a field is projected itself, or can be decoded from a key that is. Its type is
that of the entity's field, except that a field of the index's key is never None.

A view without an index reads fewer attributes from any index: `query(within, only=DealCard)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from bigtime.model.errors import DesignError, DomainError
from bigtime.model.schema.attribute import field_annotation, unwrap
from bigtime.model.schema.entity import Entity, check_known
from bigtime.model.schema.key_range import KeyRange, key_in, within
from bigtime.model.schema.keys import KeyPart
from bigtime.model.schema.layout import Layout
from bigtime.model.schema.reader import Reader, make_recogniser, projected_names
from bigtime.model.schema.secret import hide_secrets
from bigtime.model.schema.table import MAIN, Index
from bigtime.wire import Item

Source: TypeAlias = Callable[[Item], Any]


@dataclass(frozen=True, slots=True, eq=False)
class Viewed:
    """The entity and index that a view reads."""

    entity: type[Entity]
    index: str | None


class View(BaseModel):
    """The base of all views. Like entities, they do not change."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    view_of: ClassVar[Viewed]

    def __init_subclass__(cls, **declared: Any) -> None:
        """Accepts the class arguments; pydantic passes them on once the fields are known."""
        super().__init_subclass__()

    @classmethod
    def __pydantic_init_subclass__(
        cls, *, of: type[Entity] | None = None, index: str | None = None, **more: Any
    ) -> None:
        check_known(cls.__name__, "a view", more, ("of", "index"))
        super().__pydantic_init_subclass__()
        hide_secrets(cls)
        if of is None:
            raise DesignError(f"{cls.__name__} is a View of what? Write View, of=SomeEntity")
        cls.view_of = Viewed(of, index)
        check_fields(cls, of.layout)
        if index is not None:
            cls.reader_in(of.layout.table.index(index))

    @classmethod
    def within(cls, **fields: Any) -> KeyRange[Self]:
        """A range of the view's index, as for `Entity.within`."""
        entity, index = cls.view_of.entity, cls.view_of.index
        if index is None:
            raise DesignError(
                f"{cls.__name__} has no index of its own; ask"
                f" query({entity.__name__}.within(...), only={cls.__name__})"
            )
        layout = entity.layout
        return within(layout, cls.reader_in(layout.table.index(index)), index, fields)

    @classmethod
    def reader_in(cls, index: Index) -> Reader[Self]:
        """The reader of its items in an index."""
        if cls.view_of.index not in (None, index.name):
            raise DesignError(
                f"{cls.__name__} is a view of index {cls.view_of.index}, not of {index.name}"
            )
        return view_reader(cls, index, len(cls.view_of.entity.layout.table.entities))


def check_fields(view: type[View], layout: Layout) -> None:
    for name in view.model_fields:
        if name not in layout.names:
            raise DesignError(
                f"{view.__name__}.{name}: {layout.entity.__name__} has no such field; it has"
                f" {', '.join(layout.names)}"
            )
        theirs = field_annotation(layout.entity, name)
        ours = field_annotation(view, name)
        in_key = (
            view.view_of.index is not None and name in key_in(layout, view.view_of.index).fields
        )
        if ours != theirs and not (in_key and unwrap(ours) == unwrap(theirs)):
            raise DesignError(
                f"{view.__name__}.{name} is declared as {ours}, and in {layout.entity.__name__} as"
                f" {theirs}; declare it the same"
            )


@lru_cache(maxsize=1024)
def view_reader(view: type[View], index: Index, entities: int) -> Reader[Any]:
    """Compiled once, and again when the table gains an entity, which may change its keys."""
    layout = view.view_of.entity.layout
    sources = {name: source_of(view, layout, index, name) for name in view.model_fields}
    reads = [(name, read) for name, (_, read) in sources.items()]
    validate = view.__pydantic_validator__.validate_python

    def decode(item: Item) -> Any:
        try:
            fields: dict[str, Any] = {}
            for name, read in reads:
                value = read(item)
                if value is not None:
                    fields[name] = value
            return validate(fields)
        except (KeyError, ValueError, DomainError) as error:
            if isinstance(error, (ValidationError, DomainError)):
                raise layout.mismatch(item, error) from None
            raise layout.mismatch(item, KeyError()) from None

    keys = (each.name for each in (*layout.table.main.attributes, *index.attributes))
    type_names = [layout.table.type_attribute] if layout.table.type_attribute else []
    held = projected_names(layout.table, index)
    wanted = dict.fromkeys([*keys, *type_names, *(attribute for attribute, _ in sources.values())])
    return Reader(
        (layout.entity.__name__,),
        make_recogniser(layout.table, {layout: decode}, index.name),
        tuple(name for name in wanted if held is None or name in held),
    )


def source_of(view: type[View], layout: Layout, index: Index, name: str) -> tuple[str, Source]:
    """The attribute that a field is read from, and how to decode it."""
    stored, form = layout.names[name], layout.forms[name]
    held = projected_names(layout.table, index)
    if held is None or stored in held:
        reading = form.reading
        return stored, lambda item: reading(item[stored]) if stored in item else None
    for key in (layout.keys[MAIN], key_in(layout, index.name)):
        for part in key.parts:
            if name in part.template.fields and name not in part.template.lossy:
                return part.attribute.name, parse_source(part, name)
    raise DesignError(
        f"{view.__name__}.{name}: index {index.name} projects neither {stored!r} nor a key that"
        f" tells it; it projects {', '.join(sorted(held))}"
    )


def parse_source(part: KeyPart, name: str) -> Source:
    return lambda item: part.parse(item[part.attribute.name])[name]
