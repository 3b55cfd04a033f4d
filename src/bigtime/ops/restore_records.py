"""One record of the portal, copied from the restored tables into those in use.

It is an update like any other: conditional on the current item, with an entry in the record's
chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from bigtime import model as bt
from bigtime.ops.restores import Restore, RestoreFault
from bigtime.ops.schema_files import pattern_text
from bigtime.ops.table_settings import describe_table
from bigtime.store import RenamingTransport, Store
from bigtime.systems import portal
from bigtime.wire import Request

ENTITIES: Final[dict[str, type[bt.Entity]]] = {
    "tenants": portal.Tenant,
    "products": portal.Product,
    "campaigns": portal.Campaign,
    "orders": portal.Order,
}


def bring_record_back(
    restore: Restore, table: str, key: Sequence[str], *, by: str, reason: str | None
) -> str:
    """Puts the restored record in place of the current one; returns what was done, in words."""
    if restore.system.name != portal.SYSTEM.name:
        raise RestoreFault(
            f"Only records of the portal have an audit log; {restore.system.name} has none. Its"
            " items are moved with `bigtime data dump` and `bigtime data load`."
        )
    if table not in ENTITIES:
        raise RestoreFault(f"There are no records in {table!r}, but in {', '.join(ENTITIES)}.")
    before = read_restored(restore, table, key)
    live = Store(RenamingTransport(restore.store.transport, restore.names))
    after = live.run(portal.bring_back(before, by=by, reason=reason))
    return f"{table} {after.id} is as it was on {before.date_last_updated:%Y-%m-%d %H:%M:%S}"


def read_restored(restore: Restore, table: str, key: Sequence[str]) -> Any:
    """The restored record. A key is `PRODUCT#prod-1`; METADATA stands for a missing sort key."""
    pair = restore.pair(table)
    if restore.is_cut_over(pair) or restore.store.run(describe_table(pair.target)) is None:
        raise RestoreFault(
            f"There is no restored table {pair.target} beside the one in use: `bigtime restore"
            f" {restore.words} --at TIME` makes it."
        )
    entity = ENTITIES[table]
    parts = dict(zip(("PK", "SK"), (*key, "METADATA"), strict=False))
    item_key = {name: {"S": text} for name, text in parts.items()}
    params = {"TableName": pair.target, "Key": item_key, "ConsistentRead": True}
    item = restore.store.send(Request("GetItem", params)).get("Item")
    if item is None:
        raise RestoreFault(
            f"{pair.target} has no record {' '.join(parts.values())}: a key looks like"
            f" {' '.join(pattern_text(entity, part) for part in entity.layout.keys['main'].parts)}."
        )
    return entity.layout.from_item(item)
