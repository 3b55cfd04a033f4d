"""The key templates of an entity, as declared and as compiled, and the key of an item.

`Keys(main=("DEAL#{deal_id}", "DEAL#{deal_id}"), GSI1=(...))` has a template per key attribute of
the table (`main`) and of each index that holds the entity. A half of several attributes is a
tuple of templates. An index that is not named does not hold the entity.

`GSI1=when(("MESSAGES#{username}", "MESSAGE#{message_id}"), unread=True)` holds it only while a
field has that value, or one of several. The entity is kept out by leaving a key attribute of the
index unwritten; so the index needs one that is neither a field nor part of any other key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

from pydantic import ValidationError

from bigtime.model.errors import DesignError, ValueRefused
from bigtime.model.schema.bounds import SortBounds
from bigtime.model.schema.encoding import Role, TemplateError
from bigtime.model.schema.stored import Stored
from bigtime.model.schema.table import MAIN, Attribute, Index, Table
from bigtime.model.schema.template import Template
from bigtime.wire import AttributeValue, Identity, Item

if TYPE_CHECKING:
    from bigtime.model.schema.entity import Entity

E = TypeVar("E", bound="Entity")

HalfText: TypeAlias = str | tuple[str, ...]
KeyText: TypeAlias = str | tuple[HalfText, ...]
Halves: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
Values: TypeAlias = Mapping[str, tuple[Any, ...]]

MAX_BYTES: Mapping[Role, int] = {"partition": 2048, "sort": 1024}
SURELY_SHORT = 256
"""Text of at most this length fits any key: a character has at most four bytes."""


class When:
    """Templates for an index that holds an entity only while fields have certain values."""

    __slots__ = ("templates", "values")

    def __init__(self, templates: KeyText, values: Values) -> None:
        self.templates = templates
        self.values = values


def when(templates: KeyText, /, **fields: Any) -> When:
    """Holds an entity in an index only while each field has its value, or one of a tuple."""
    if not fields:
        raise DesignError(
            "when() is told no field; say while which it holds, as in when(..., unread=True)"
        )
    several = {name: each if isinstance(each, tuple) else (each,) for name, each in fields.items()}
    return When(templates, several)


class Keys:
    """Templates by index name; each is a partition template, or that and a sort template."""

    __slots__ = ("declared", "only")

    def __init__(self, main: KeyText, **indexes: KeyText | When) -> None:
        self.only = {name: each.values for name, each in indexes.items() if isinstance(each, When)}
        given = {MAIN: main, **indexes}
        self.declared = {name: halves(name, templates_in(each)) for name, each in given.items()}


def templates_in(given: KeyText | When) -> KeyText:
    return given.templates if isinstance(given, When) else given


def halves(name: str, given: KeyText) -> Halves:
    check_texts(name, given)
    pair = (given,) if isinstance(given, str) else given
    if not 1 <= len(pair) <= 2:
        raise DesignError(
            f"keys of {name}: give a partition template, or a partition and a sort template"
        )
    texts = [(half,) if isinstance(half, str) else half for half in pair]
    return texts[0], texts[1] if len(texts) == 2 else ()


def check_texts(name: str, given: object) -> None:
    if isinstance(given, str):
        return
    if not isinstance(given, Sequence):
        raise DesignError(f"keys of {name}: a template is a text, not {given!r}")
    for each in given:
        check_texts(name, each)


class KeyPart(NamedTuple):
    """One key attribute of one index, and how an entity fills it.

    `form` is set where the attribute is a number or bytes, and so is one field itself: it is that
    field's stored form.
    """

    attribute: Attribute
    template: Template
    form: Stored | None

    def value(self, fields: Mapping[str, Any]) -> AttributeValue | None:
        """The attribute's value; None when a field is missing, so that the index stays sparse."""
        if self.form is not None:
            given = fields.get(self.template.fields[0])
            return None if given is None else self.native(given)
        text = self.template.encode(fields)
        if text is None:
            return None
        if len(text) > SURELY_SHORT:
            self.check_size(len(text.encode()))
        return {"S": text}

    def native(self, given: Any) -> AttributeValue:
        """The value of a number or bytes attribute, unencoded."""
        assert self.form is not None
        value = self.form.write(given)
        if self.attribute.type == "B":
            self.check_size(len(given))
        return value

    def check_size(self, size: int) -> None:
        """Refuses a key of a size that DynamoDB does not take (AWS: Constraints.html)."""
        most = MAX_BYTES[self.template.role]
        if 1 <= size <= most:
            return
        names = ", ".join(map(repr, self.template.fields))
        several = len(self.template.fields) > 1
        where = f"{'fields' if several else 'field'} {names} of the key {self.template.text!r}"
        if not size:
            raise ValueRefused(f"{where} is empty, and no key may be")
        raise ValueRefused(
            f"{where} {'make' if several else 'makes'} it {size:,} bytes long, and DynamoDB takes"
            f" {most:,}: shorten {'them' if several else 'it'}"
        )

    def span(self, values: Mapping[str, Any]) -> SortBounds:
        """The range its values lie in, given these fields; unbounded for numbers and bytes."""
        if self.form is not None:
            return SortBounds(None, None)
        leading = takewhile(values.__contains__, self.template.fields)
        return self.template.bounds({name: values[name] for name in leading})

    def parse(self, value: AttributeValue) -> dict[str, Any]:
        """The fields encoded in a stored key attribute."""
        if self.form is not None:
            return {self.template.fields[0]: self.form.reading(value)}
        return self.template.parse(value["S"])


class EntityKey:
    """An entity's key in one index; `only` while these fields have one of these values.

    `fields` are those in its templates, in order; `fed_by` adds those that decide whether the
    entity is in the index. Of `bucketed` fields the partition has only the bucket. The `owner` is
    the entity's class, once it exists.
    """

    __slots__ = (
        "bucketed",
        "entity",
        "fed_by",
        "fields",
        "hash",
        "hash_fields",
        "index",
        "only",
        "owner",
        "parts",
        "range",
    )

    def __init__(
        self,
        entity: str,
        index: Index,
        hash: tuple[KeyPart, ...],
        range: tuple[KeyPart, ...],
        only: Values,
    ) -> None:
        self.entity = entity
        self.owner: type[Entity] | None = None
        self.index = index
        self.hash = hash
        self.range = range
        self.only = only
        self.parts = hash + range
        names = (name for part in self.parts for name in part.template.fields)
        self.fields = tuple(dict.fromkeys(names))
        self.fed_by = frozenset({*self.fields, *only})
        self.hash_fields = tuple(name for part in hash for name in part.template.fields)
        self.bucketed = frozenset(name for part in hash for name in part.template.lossy)

    def holds(self, fields: Mapping[str, Any]) -> bool:
        """Whether the fields, as far as they are known, allow the entity into the index."""
        return all(fields[name] in allowed for name, allowed in self.only.items() if name in fields)

    def attributes(self, fields: Mapping[str, Any]) -> Item | None:
        """The key attributes; None when the entity is not in this index."""
        if self.only and not self.holds(fields):
            return None
        item: Item = {}
        try:
            for part in self.parts:
                text = part.template.encode(fields) if part.form is None else None
                if text and len(text) <= SURELY_SHORT:  # nearly always: saves a call
                    item[part.attribute.name] = {"S": text}
                    continue
                value = part.value(fields)
                if value is None:
                    return None
                item[part.attribute.name] = value
        except ValueRefused as error:
            raise ValueRefused(f"{self.entity}: {error}", self.owner) from None
        return item


def fields_in_key(parts: Iterable[KeyPart], item: Item) -> dict[str, Any] | None:
    """The fields encoded in key attributes; None when they do not match these templates."""
    fields: dict[str, Any] = {}
    for part in parts:
        try:
            fields |= part.parse(item[part.attribute.name])
        except (KeyError, ValueError):
            return None
    return fields


class Key(Generic[E]):
    """Which item of which entity: the fields of its main key, checked and encoded."""

    __slots__ = ("entity", "fields", "item")

    entity: type[E]
    """The class of the item."""
    fields: Mapping[str, Any]
    """The fields of the main key, by their Python names."""
    item: Item
    """The key attributes, in DynamoDB's JSON."""

    def __init__(self, entity: type[E], fields: Mapping[str, Any]) -> None:
        self.entity = entity
        self.fields = fields
        layout = entity.layout
        layout.is_used = True
        item = layout.keys[MAIN].attributes(fields)
        if item is None:
            raise ValueRefused(f"{entity.__name__}: no field of its key may be None")
        self.item = item

    @property
    def identity(self) -> Identity:
        """Equal for all keys of the same item."""
        return self.entity.layout.table.identity(self.item)

    def __eq__(self, other: object) -> bool:
        """Keys are equal if they identify the same item."""
        if not isinstance(other, Key):
            return NotImplemented
        return self.entity is other.entity and self.identity == other.identity

    def __hash__(self) -> int:
        return hash(self.identity)

    def subject(self) -> str:
        """`Deal, deal_id='...'`, with secrets hidden."""
        return ", ".join((self.entity.__name__, *self.shown_fields()))

    def shown_fields(self) -> list[str]:
        shown = self.entity.layout.shown_fields(self.fields)
        return [f"{name}={value}" for name, value in shown.items()]

    def __repr__(self) -> str:
        return f"{self.entity.__name__}.key({', '.join(self.shown_fields())})"


class KeyDeclaration(NamedTuple):
    """The declared templates of an entity, to be compiled to its keys.

    `continued` lists each (index, attribute) whose last field is escaped as if something followed.
    """

    entity: str
    table: Table
    keys: Keys
    fields: Mapping[str, Any]
    forms: Mapping[str, Stored]
    continued: frozenset[tuple[str, str]] = frozenset()

    def compile(self) -> dict[str, EntityKey]:
        return {name: self.key(name, *texts) for name, texts in self.keys.declared.items()}

    def key(
        self, name: str, hash_texts: tuple[str, ...], range_texts: tuple[str, ...]
    ) -> EntityKey:
        index = self.table.index(name)
        check_counts(self.entity, index, hash_texts, range_texts)
        partition = zip(index.hash, hash_texts, strict=True)
        sort = zip(index.range, range_texts, strict=True)
        return EntityKey(
            self.entity,
            index,
            tuple(self.part(index, attribute, text) for attribute, text in partition),
            tuple(self.part(index, attribute, text) for attribute, text in sort),
            checked_values(self.entity, index, self.keys.only.get(name, {}), self.forms),
        )

    def part(self, index: Index, attribute: Attribute, text: str) -> KeyPart:
        try:
            template = Template(
                text,
                self.fields,
                role=self.role(attribute),
                continued=(index.name, attribute.name) in self.continued,
                type=attribute.type,
            )
        except TemplateError as error:
            raise DesignError(
                f"{self.entity}, index {index.name}, key {attribute.name}: {error}"
            ) from None
        return KeyPart(attribute, template, self.native_form(index, attribute, template))

    def role(self, attribute: Attribute) -> Role:
        """The role of an attribute: it is encoded for sorting if any index sorts by it."""
        indexes = (self.table.main, *self.table.indexes)
        return "sort" if any(attribute in index.range for index in indexes) else "partition"

    def native_form(self, index: Index, attribute: Attribute, template: Template) -> Stored | None:
        """The form of the field that is the key attribute itself; None where the key is text."""
        if attribute.type == "S":
            return None
        form = self.forms[template.fields[0]]
        if form.tag != attribute.type:
            raise DesignError(
                f"{self.entity}, index {index.name}: key {attribute.name} is of type"
                f" {attribute.type}; its template must be one field of that type alone, not"
                f" {template.text!r}"
            )
        return form


def checked_values(
    entity: str, index: Index, only: Values, forms: Mapping[str, Stored]
) -> dict[str, tuple[Any, ...]]:
    """The values of `when`, validated by the types of their fields."""
    checked = {}
    for name, values in only.items():
        where = f"{entity}, index {index.name}: when({name}=...)"
        if name not in forms:
            raise DesignError(f"{where} is not a field; it has {', '.join(forms)}")
        if not forms[name].is_plain:
            raise DesignError(
                f"{where} must be a text, a number, bytes or a bool; what holds other values may"
                " change inside, and the index would not follow"
            )
        if None in values:
            raise DesignError(
                f"{where} cannot be None: an absent field keeps an entity out of the index whose"
                " template has it, without when()"
            )
        try:
            checked[name] = tuple(map(forms[name].check, values))
        except ValidationError as error:
            raise DesignError(f"{where}: {error.errors()[0]['msg']}") from None
    return checked


def check_counts(
    entity: str, index: Index, hash_texts: tuple[str, ...], range_texts: tuple[str, ...]
) -> None:
    for role, attributes, texts in (
        ("partition", index.hash, hash_texts),
        ("sort", index.range, range_texts),
    ):
        if len(attributes) != len(texts):
            names = ", ".join(attribute.name for attribute in attributes) or "none"
            raise DesignError(
                f"{entity}: index {index.name} has {len(attributes)} {role} key attribute(s)"
                f" ({names}) and {len(texts)} template(s); give one for each"
            )
