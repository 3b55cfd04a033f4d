"""Bigtime: design a DynamoDB application by its access patterns, and run it.

    import bigtime as bt

has the names that most programs need, and the packages that hold the others: `bt.Entity`,
`bt.open_store`, `bt.model.between`. Each is imported on first use, so that a program that only
opens an engine does not pay for the model kit.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bigtime import advisor, engine, model, store, testing, wire
    from bigtime.advisor import check_system, explain
    from bigtime.engine import Engine, Faults
    from bigtime.model import (
        Add, Cursors, DomainError, Entity, Keys, Ksuid, Page, Position, System, Table, add, all_of,
        attr, buckets, collection, count, create, delete, get, get_many, global_index, list_buckets,
        newest_first, now, partition, pattern, put, put_many, query, reaction, reference_count,
        repair, sequence, setup, singleton, together, transact, unique, update, verify, when,
    )
    from bigtime.store import consume, open_async_store, open_store
    from bigtime.wire import Request, Steps

__version__ = "0.1.0"

__all__ = [
    "Add", "Cursors", "DomainError", "Engine", "Entity", "Faults", "Keys", "Ksuid", "Page",
    "Position", "Request", "Steps", "System", "Table", "add", "advisor", "all_of", "attr",
    "buckets", "check_system", "collection", "consume", "count", "create", "delete", "engine",
    "explain", "get", "get_many", "global_index", "list_buckets", "model", "newest_first", "now",
    "open_async_store", "open_store", "partition", "pattern", "put", "put_many", "query",
    "reaction", "reference_count", "repair", "sequence", "setup", "singleton", "store", "testing",
    "together", "transact", "unique", "update", "verify", "when", "wire",
]

PACKAGES = {"advisor", "engine", "model", "store", "testing", "wire"}
OUTSIDE_MODEL = {
    "Engine": "engine",
    "Faults": "engine",
    "Request": "wire",
    "Steps": "wire",
    "check_system": "advisor",
    "consume": "store",
    "explain": "advisor",
    "open_async_store": "store",
    "open_store": "store",
}
"""The modules of the names that are not in `bigtime.model`."""

if not TYPE_CHECKING:  # else any misspelt name would pass the type checker

    def __getattr__(name: str) -> object:
        """Import a name of `__all__` when it is first used (PEP 562)."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{place_of(name)}")
        if name in PACKAGES:
            return import_module(f"{__name__}.{name}")
        package = import_module(f"{__name__}.{OUTSIDE_MODEL.get(name, 'model')}")
        return globals().setdefault(name, getattr(package, name))


def place_of(name: str) -> str:
    """Where a name not shown here is, for an error; looks in the packages imported so far."""
    for package in sorted(PACKAGES):
        if name in getattr(sys.modules.get(f"{__name__}.{package}"), "__all__", ()):
            return f"; it is {__name__}.{package}.{name}"
    return ""


def __dir__() -> list[str]:
    return sorted(__all__)
