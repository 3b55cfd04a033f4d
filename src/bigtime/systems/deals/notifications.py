"""Messages to many users, each delivered once; a new deal is announced to those who watch for it.

`announce_deal` tells the watchers of a new deal's brand and those of its category. A user who
watches both gets one message, which names both: its id is the same either way, so the second
delivery finds the first. A replay of the stream finds every message there.

A deal that is older than an hour when it is written is history: imported, restored, or made up for
a demonstration. It is not announced.

The id of a message follows from its deal, its kind and its user: it is a KSUID of the deal's
second, with a hash of the three. So a message that is delivered again has the same key. It must
not be written again, for its reader may have read it by then. A batch knows no conditions, and to
look first and write then would leave a moment in between; so messages go in transactions of a
hundred, each on condition that it is new. When some of a hundred are there, DynamoDB says which,
and the others go again.

(Measured in process, in CPU a message: about 80 us so, 110 by looking first and writing a batch,
220 one by one.)
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from hashlib import sha256
from typing import Any, Final

from bigtime.model import (
    Change,
    KeyRange,
    Ksuid,
    create,
    get,
    pattern,
    query,
    random_bytes,
    reaction,
    together,
    transact,
)
from bigtime.systems.deals.design import (
    BIG_TIME_DEALS,
    BrandWatch,
    CategoryWatch,
    Deal,
    Message,
    MessageKind,
)
from bigtime.systems.deals.errors import UnknownDeal
from bigtime.systems.deals.values import DealId, Username, deal_id_of
from bigtime.wire import Response, Steps, TransactionCanceledException

READ_AT_ONCE: Final = 1_000
"""Users to a page: what is read is forgotten before the next is, so nothing grows with them."""
NEWS: Final = timedelta(hours=1)
"""How old a deal may be to be announced."""
SENT_AT_ONCE: Final = 100
"""Messages to a transaction: DynamoDB takes no more."""


def message_for(deal: Deal, kind: MessageKind, username: Username) -> Message:
    """The message of one kind that tells a user of a deal."""
    digest = sha256(f"{deal.deal_id}#{kind}#{username}".encode()).digest()
    return Message(
        username=username,
        message_id=Ksuid.make(deal.created_at, digest[:16]),
        kind=kind,
        deal_id=deal.deal_id,
        subject=subject(deal, kind),
    )


def subject(deal: Deal, kind: MessageKind) -> str:
    match kind:
        case MessageKind.HOT:
            return f"Hot: {deal.title}"
        case MessageKind.BRAND:
            return f"New from {deal.brand_name}: {deal.title}"
        case MessageKind.CATEGORY:
            return f"New in {deal.category_name}: {deal.title}"
        case MessageKind.WATCHED:
            return f"New from {deal.brand_name} in {deal.category_name}: {deal.title}"


def deliver(deal: Deal, kind: MessageKind, usernames: Sequence[Username]) -> Steps[int]:
    """Sends each user a message of a deal; returns how many messages are new."""
    starts = range(0, len(usernames), SENT_AT_ONCE)
    counts = yield from together(
        *(deliver_chunk(deal, kind, usernames[start : start + SENT_AT_ONCE]) for start in starts)
    )
    return sum(counts)


def deliver_chunk(deal: Deal, kind: MessageKind, usernames: Sequence[Username]) -> Steps[int]:
    """One transaction, and another for what is left when some of it was there already."""
    left = [message_for(deal, kind, username) for username in usernames]
    while left:
        token = yield from random_bytes(16)
        try:
            yield transact(*map(create, left), token=token.hex()).request()
        except TransactionCanceledException as error:
            new = without_known(left, error.reasons)
            if len(new) == len(left):
                raise
            left = new
        else:
            break
    return len(left)


def without_known(messages: list[Message], reasons: list[Response]) -> list[Message]:
    return [
        message
        for message, reason in zip(messages, reasons, strict=True)
        if reason["Code"] != "ConditionalCheckFailed"
    ]


@pattern(
    "Send new Brand Deal Message to Brand Watchers",
    index="Main table",
    takes="BrandName",
    sample={"page_size": 10},
)
def send_brand_deal_message(deal_id: DealId, *, page_size: int = READ_AT_ONCE) -> Steps[int]:
    """Query of watchers; a message each; on the stream's insert of a Deal."""
    deal = yield from get(Deal.key(deal_id_of(deal_id)), missing=UnknownDeal, consistent=True)
    return (yield from tell_brand_watchers(deal, page_size))


@pattern(
    "Send new Category Deal Message to Category Watchers",
    index="Main table",
    takes="CategoryName",
    sample={"page_size": 10},
)
def send_category_deal_message(deal_id: DealId, *, page_size: int = READ_AT_ONCE) -> Steps[int]:
    """Likewise."""
    deal = yield from get(Deal.key(deal_id_of(deal_id)), missing=UnknownDeal, consistent=True)
    return (yield from tell_category_watchers(deal, page_size))


@reaction(BIG_TIME_DEALS, of=[Deal])
def announce_deal(change: Change[Any]) -> Steps[None]:
    """Tells each user who watches a new deal's brand, its category or both, once."""
    deal = deal_to_announce(change)
    if deal is not None:
        yield from tell_brand_watchers(deal)
        yield from tell_category_watchers(deal)


def deal_to_announce(change: Change[Any]) -> Deal | None:
    """The deal that was inserted, if it is news."""
    insert = change.of(Deal)
    if insert is None or insert.kind != "insert" or insert.after is None:
        return None
    return insert.after if change.at - insert.after.created_at <= NEWS else None


def tell_brand_watchers(deal: Deal, page_size: int = READ_AT_ONCE) -> Steps[int]:
    """Delivers to the watchers of a deal's brand; returns how many messages are new."""
    return (yield from tell_each(BrandWatch.within("main", brand=deal.brand), deal, page_size))


def tell_category_watchers(deal: Deal, page_size: int = READ_AT_ONCE) -> Steps[int]:
    """Delivers to the watchers of a deal's category; returns how many messages are new."""
    watches = CategoryWatch.within("main", category=deal.category)
    return (yield from tell_each(watches, deal, page_size))


def tell_each(
    watches: KeyRange[BrandWatch] | KeyRange[CategoryWatch], deal: Deal, page_size: int
) -> Steps[int]:
    count, position = 0, None
    while True:
        page = yield from query(watches, limit=page_size, after=position, consistent=True)
        usernames = [watch.username for watch in page]
        count += yield from deliver(deal, MessageKind.WATCHED, usernames)
        position = page.position
        if position is None:
            return count
