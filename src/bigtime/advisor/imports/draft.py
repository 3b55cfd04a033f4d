"""A design being imported: what is known about its tables, entities and patterns so far.

Every importer makes a `Draft`; `module_text` writes it as Python, and `trial` checks whether the
kit accepts it. Field types and pattern bodies are Python source, as they will be written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from bigtime import model as bt
from bigtime.wire import Item

MAIN_TABLE = "Main table"


class CannotImport(ValueError):
    """The source cannot be imported; the message says where the fault is, and what to do."""

    def __init__(self, place: str, problem: str, remedy: str) -> None:
        super().__init__(f"{place}: {problem}; {remedy}")
        self.place = place


@dataclass(frozen=True, slots=True)
class Note:
    """Something that could not be decided, or was changed, and what a person can do about it."""

    place: str
    """Its location in the source."""
    problem: str
    """What could not be decided, or was changed."""
    remedy: str
    """What a person can do."""

    def __str__(self) -> str:
        return f"{self.place}: {self.problem}; {self.remedy}"


@dataclass(slots=True)
class FieldDraft:
    """A field of an entity: the attribute that stores it, and its type as source."""

    name: str
    stored: str
    type: str
    is_required: bool = True


@dataclass(slots=True)
class EntityDraft:
    """An entity. `keys` are the templates by index and half of the key, `rows` sample items."""

    name: str
    about: str
    place: str
    fields: dict[str, FieldDraft] = field(default_factory=dict)
    keys: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = field(default_factory=dict)
    only: dict[str, dict[str, object]] = field(default_factory=dict)
    """By index: the field values for which the index holds the entity."""
    type_value: str | None = None
    rows: list[tuple[str, Item]] = field(default_factory=list)
    """The sample items, each with its location in the source."""
    refusal: str | None = None
    """Why the kit refuses the entity; it is then written as a comment."""

    def enter_index(self, index: bt.Index, templates: Mapping[str, str]) -> None:
        """Adds it to an index with these templates, by key attribute."""
        partition, sort = (
            tuple(templates[attribute.name] for attribute in half)
            for half in (index.hash, index.range)
        )
        self.keys[index.name] = partition, sort

    def templates_in(self, index: bt.Index) -> dict[str, str]:
        """Its templates in an index by key attribute."""
        partition, sort = self.keys[index.name]
        names = (attribute.name for attribute in index.attributes)
        return dict(zip(names, (*partition, *sort), strict=True))


@dataclass(slots=True)
class TableDraft:
    table: bt.Table
    place: str
    constant: str = ""
    entities: list[EntityDraft] = field(default_factory=list)

    @property
    def accepted_entities(self) -> list[EntityDraft]:
        return [entity for entity in self.entities if entity.refusal is None]


@dataclass(slots=True)
class ViewDraft:
    """What an index projects of an entity."""

    name: str
    of: str
    index: str
    fields: list[FieldDraft]


@dataclass(slots=True)
class PatternDraft:
    """An access pattern: `body` is its last expression, which returns a `result`."""

    name: str
    title: str
    index: str
    about: str
    place: str
    uses: tuple[str, ...]
    """The entities and views that it depends on."""
    parameters: list[tuple[str, str]]
    body: str
    result: str
    accepted: dict[str, str] = field(default_factory=dict)
    refusal: str | None = None


@dataclass(slots=True)
class Draft:
    """A whole design. `source` is what it was imported from, for display."""

    name: str
    source: str
    about: str = ""
    tables: list[TableDraft] = field(default_factory=list)
    views: list[ViewDraft] = field(default_factory=list)
    patterns: list[PatternDraft] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)
    """Members of the source that have no place in a design: their locations and JSON."""
    accepted: dict[str, str] = field(default_factory=dict)

    def tell(self, place: str, problem: str, remedy: str) -> None:
        self.notes.append(Note(place, problem, remedy))
