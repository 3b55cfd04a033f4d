"""Delivering messages: to many users, each of them once.

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
from hashlib import sha256
from typing import Final

from bigtime.model import Ksuid, create, random_bytes, together, transact
from bigtime.systems.deals.design import Deal, Message, MessageKind
from bigtime.systems.deals.values import Username
from bigtime.wire import Response, Steps, TransactionCanceledException

READ_AT_ONCE: Final = 1_000
"""Users to a page: what is read is forgotten before the next is, so nothing grows with them."""
SENT_AT_ONCE: Final = 100
"""Messages to a transaction: DynamoDB takes no more."""


def message_for(deal: Deal, kind: MessageKind, username: Username) -> Message:
    """The message that tells a user of a deal; there is one of each kind."""
    told = sha256(f"{deal.deal_id}#{kind}#{username}".encode()).digest()
    return Message(
        username=username,
        message_id=Ksuid.make(deal.created_at, told[:16]),
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
    """Tells each of the users of a deal; how many did not know yet."""
    starts = range(0, len(usernames), SENT_AT_ONCE)
    counts = yield from together(
        *(deliver_some(deal, kind, usernames[start : start + SENT_AT_ONCE]) for start in starts)
    )
    return sum(counts)


def deliver_some(deal: Deal, kind: MessageKind, usernames: Sequence[Username]) -> Steps[int]:
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
        one
        for one, reason in zip(messages, reasons, strict=True)
        if reason["Code"] != "ConditionalCheckFailed"
    ]
