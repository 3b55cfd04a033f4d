"""Which table a request means: a request has its name, and a design has its keys and entities.

It is one of the tables that were given; or else one that the module of the steps knows; or else
one that any declared entity is in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeGuard

from bigtime.model import DesignError, Entity, Table
from bigtime.wire import Steps


def table_finder(steps: Steps[Any], given: Iterable[Table]) -> Callable[[str], Table]:
    """Finds a table by its name, for the requests of some steps."""
    tables = list(given)
    frame = getattr(steps, "gi_frame", None)
    module = {} if frame is None else frame.f_globals

    def find(name: str) -> Table:
        for known in (tables, tables_in(module.values()), declared_tables(Entity)):
            found = list(dict.fromkeys(table for table in known if table.name == name))
            if len(found) == 1:
                return found[0]
            if found:
                raise DesignError(
                    f"{len(found)} designs have a table {name!r}; say which, as in explain(steps,"
                    " tables=system.tables)"
                )
        raise DesignError(f"no entity is declared in a table {name!r}; import its design first")

    return find


def tables_in(values: Iterable[object]) -> Iterator[Table]:
    """The tables among the values of a module, and those of the entities among them."""
    for value in list(values):
        if isinstance(value, Table):
            yield value
        elif isinstance(value, type) and is_stored(value):
            yield value.layout.table


def declared_tables(entity: type[Entity]) -> Iterator[Table]:
    """The tables of all entities that are declared from one."""
    for one in entity.__subclasses__():
        if is_stored(one):
            yield one.layout.table
        yield from declared_tables(one)


def is_stored(kind: type) -> TypeGuard[type[Entity]]:
    """Whether it is an entity with a table of its own, not one that others are made from."""
    return issubclass(kind, Entity) and "layout" in kind.__dict__
