"""The prices that products have had, as the stream of their table tells them.

Each change of a price is an entry PRICE_CHANGED of the chain `prices#<product>`: old and new
price, by whom, when. The stream tells a change at least once; the entry has the number that the
stream gave it, and what is in the chain already is not written again.
"""

from __future__ import annotations

from typing import Any

from bigtime.model import Change, Conflict, View, all_of, create, random_bytes, reaction
from bigtime.systems.portal.chain import SALT_BYTES, next_entry
from bigtime.systems.portal.design import (
    PRODUCTS,
    Action,
    Audited,
    AuditEntry,
    EventId,
    Hash,
    ProductRecord,
    SequenceNumber,
)
from bigtime.systems.portal.history import TRIES, Overtaken
from bigtime.wire import Steps


class PriceEvent(View, of=AuditEntry):
    """Which event an entry tells of."""

    sequence: SequenceNumber
    hash: Hash
    event: EventId | None


@reaction(PRODUCTS)
def log_price_changes(change: Change[Any]) -> Steps[None]:
    """Each new price of a product becomes an entry PRICE_CHANGED, once."""
    product = change.of(ProductRecord)
    if product is None or product.before is None or product.after is None:
        return
    if product.before.price != product.after.price:
        yield from log_price(product.before, product.after, product.sequence)


def log_price(before: ProductRecord, after: ProductRecord, event: str) -> Steps[None]:
    chain = AuditEntry.within("main", table=Audited.PRICES, id=after.id)
    for _ in range(TRIES):
        known = yield from all_of(chain, only=PriceEvent, consistent=True)
        if any(one.event == event for one in known):
            return
        entry = next_entry(
            known[-1] if known else None,
            Audited.PRICES,
            after.id,
            action=Action.PRICE_CHANGED,
            at=after.date_last_updated,
            actor=after.last_updated_by,
            salt=(yield from random_bytes(SALT_BYTES)),
            before={"price": before.price},
            after={"price": after.price},
            event=event,
        )
        try:
            yield from create(entry, unless_exists=Overtaken)
        except Overtaken:
            continue
        return
    raise Conflict
