"""Reading one item by its key."""

from __future__ import annotations

from typing import Any, TypeVar, overload

from bigtime.model.errors import DesignError
from bigtime.model.operations.op import Op
from bigtime.model.operations.write import ErrorLike, check_errors, make_error, name_subject
from bigtime.model.schema import Entity, Key, Layout, check_bound
from bigtime.model.tracking import track
from bigtime.wire import Request, Response

E = TypeVar("E", bound=Entity)


class Get(Op[Any]):
    """Reads an item; a soft-deleted one counts as missing."""

    __slots__ = ("consistent", "deleted", "key", "missing")

    verb = "get"

    def __init__(
        self, key: Key[Any], *, consistent: bool, missing: ErrorLike | None, deleted: bool
    ) -> None:
        if missing is not None:
            check_errors(missing)
        self.key = check_key(key, "get")
        self.consistent = consistent
        self.missing = missing
        self.deleted = deleted

    def subject(self) -> str:
        return self.key.subject()

    def request(self) -> Request:
        if self.key.entity.layout.tenant is not None:
            check_bound(self.key.entity.layout, self.key.item)
        params: dict[str, Any] = {
            "TableName": self.key.entity.layout.table.name,
            "Key": self.key.item,
        }
        if self.consistent:
            params["ConsistentRead"] = True
        return Request("GetItem", params)

    def decode(self, response: Response) -> Any:
        entity = entity_from(self.key, response, deleted=self.deleted)
        if entity is None and self.missing is not None:
            raise name_subject(make_error(self.missing), self.key)
        return entity


def check_key(given: object, function: str) -> Key[Any]:
    """Returns the argument of a reading function if it is a key; otherwise raises."""
    if isinstance(given, Key):
        return given
    if isinstance(given, Entity):
        name = type(given).__name__
        raise DesignError(f"{function}() takes a key, not a whole {name}; say .own_key() of it")
    raise DesignError(
        f"{function}() takes a key, not {given!r}; make one of its entity, as in Brand.key('APPLE')"
    )


def layout_of(given: object, function: str) -> Layout:
    """The layout of the key or entity passed to a writing function."""
    if isinstance(given, Entity):
        return given.layout
    if isinstance(given, Key):
        layout: Layout = given.entity.layout
        return layout
    raise DesignError(
        f"{function}() takes a key or an entity, not {given!r}; make a key, as in"
        " Brand.key('APPLE')"
    )


def entity_from(key: Key[E], response: Response, *, deleted: bool) -> E | None:
    """The entity in a response; None if it is missing or soft-deleted."""
    item, layout = response.get("Item"), key.entity.layout
    if not item:
        return None
    entity: E = layout.read(item)
    return entity if deleted or not layout.is_deleted(entity) else None


@overload
def get(key: Key[E], *, consistent: bool = ..., deleted: bool = ...) -> Op[E | None]: ...
@overload
def get(
    key: Key[E], *, missing: ErrorLike, consistent: bool = ..., deleted: bool = ...
) -> Op[E]: ...
@track
def get(
    key: Key[E],
    *,
    missing: ErrorLike | None = None,
    consistent: bool = False,
    deleted: bool = False,
) -> Op[Any]:
    """The item, or None; with `missing`, that error instead of None.

    `deleted=True` also returns a soft-deleted item.
    """
    return Get(key, consistent=consistent, missing=missing, deleted=deleted)
