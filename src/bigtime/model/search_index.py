"""Search: which fields of an entity can be searched by words, counted, and sorted by.

    DEAL_SEARCH = search(
        Deal,
        text=("title", "brand_name", "description"),
        facets=("category", "brand"),
        sort=("created_at", "price", "discount"),
    )

It is a plain value. `System(searches=(DEAL_SEARCH,))` declares it; `bigtime.projections` keeps the
index, updated from the stream of the entity's table. A field may be computed: any property of the
entity, such as `discount`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bigtime.model.errors import DesignError
from bigtime.model.schema import Entity

NAME = re.compile(r"[a-z][a-z0-9-]*")
IMAGES = ("NEW_IMAGE", "NEW_AND_OLD_IMAGES")


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """A search over the items of an entity.

    `text` lists the fields searched by word, the most important first; `parts` those that match on
    any substring, such as an e-mail address. Hits are counted and filtered by the `facets`, which
    are text fields, and sorted and limited by the fields of `sort`: numbers and times. `only` names
    a boolean field or property; an item is indexed only where it is true.
    """

    name: str
    entity: type[Entity]
    text: tuple[str, ...]
    parts: tuple[str, ...] = ()
    facets: tuple[str, ...] = ()
    sort: tuple[str, ...] = ()
    only: str | None = None

    def __post_init__(self) -> None:
        check_search(self)


def search(
    entity: type[Entity],
    *,
    text: tuple[str, ...],
    parts: tuple[str, ...] = (),
    facets: tuple[str, ...] = (),
    sort: tuple[str, ...] = (),
    only: str | None = None,
    name: str | None = None,
) -> SearchIndex:
    """Declares a search; it is named after the entity, in lower case with an s, unless given."""
    name = name or f"{entity.__name__.lower()}s"
    return SearchIndex(name, entity, text, parts, facets, sort, only)


def check_search(index: SearchIndex) -> None:
    where = f"search {index.name!r}"
    if not NAME.fullmatch(index.name):
        raise DesignError(f"{where}: its name is of the characters a-z, 0-9 and -; rename it")
    if index.entity.layout.table.stream not in IMAGES:
        raise DesignError(
            f"{where}: the stream of table {index.entity.layout.table.name} does not tell what an"
            ' item is; declare it with stream="NEW_AND_OLD_IMAGES"'
        )
    if not index.text and not index.parts:
        raise DesignError(f"{where}: it has no text to search; name a field in `text`")
    for kind in ("text", "parts", "facets", "sort"):
        given: object = getattr(index, kind)
        if not isinstance(given, tuple):
            raise DesignError(f'{where}: {kind} is a tuple of names, not {given!r}; write ("a",)')
        for name in given:
            check_field(index.entity, name, f"{where}, {kind}")
    if index.only is not None:
        check_field(index.entity, index.only, f"{where}, only")


def check_field(entity: type[Entity], name: str, where: str) -> None:
    """Refuses a name that is neither a field of the entity nor a property."""
    if name not in entity.model_fields and not isinstance(getattr(entity, name, None), property):
        raise DesignError(f"{where}: {entity.__name__} has no field or property {name!r}")
