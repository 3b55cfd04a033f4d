"""Messages to many users, each delivered once: new deals to their watchers, hot deals to all users.

`announce_deal` tells the watchers of a new deal's brand and those of its category. A user who
watches both gets one message, which names both: its id is the same either way, so the second
delivery finds the first. If the stream is replayed, every message already exists.

A deal that is older than an hour when it is written is history: imported, restored, or generated
for a demonstration. It is not announced.

The id of a message is derived from when it was sent, its deal, its kind and its user: it is a KSUID
of the moment, with a hash of the three, so that an inbox is in order of time. The moment is stored
once: for the announcement of a deal it is that of the stream's record, for the segments of a hot
deal that of their creation. So a message that is delivered again has the same key. It must not be
written again, as the user may have read it by then. BatchWriteItem takes no conditions, and reading
before writing would leave a gap in between; so messages are written in transactions of a hundred,
each on condition that it is new. When some of the hundred exist, DynamoDB says which, and the
others are sent again.

(Measured in process, in CPU per message: about 80 us this way, 110 with a read and a batch, 220 one
by one.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from bigtime import model as bt
from bigtime.systems.deals import design
from bigtime.systems.deals.design import (
    Announcement,
    Deal,
    HotDealSegment,
    Message,
    MessageKind,
    User,
)
from bigtime.systems.deals.errors import SegmentsRefused, UnknownDeal
from bigtime.systems.deals.values import DealId, Username, deal_id_of
from bigtime.wire import Request, Response, TransactionCanceledException

READ_AT_ONCE: Final = 1_000
"""Users on a page: one page is in memory at a time, so memory does not grow with the users."""
NEWS: Final = timedelta(hours=1)
"""How old a deal may be to be announced."""
SENT_AT_ONCE: Final = 100
"""Messages in a transaction: DynamoDB's limit."""


def message_for(
    deal: Deal, kind: MessageKind, username: Username, *, at: datetime | None = None
) -> Message:
    """A message of one kind to a user about a deal, sent when the deal was posted or `at`."""
    digest = sha256(f"{deal.deal_id}#{kind}#{username}".encode()).digest()
    return Message(
        username=username,
        message_id=bt.Ksuid.make(at or deal.created_at, digest[:16]),
        kind=kind,
        deal_id=deal.deal_id,
        subject=subject(deal, kind),
    )


def subject(deal: Deal, kind: MessageKind) -> str:
    match kind:
        case MessageKind.HOT:
            return f"Hot: {deal.title}"
        case MessageKind.TEST:
            return f"Test: Hot: {deal.title}"
        case MessageKind.BRAND:
            return f"New from {deal.brand_name}: {deal.title}"
        case MessageKind.CATEGORY:
            return f"New in {deal.category_name}: {deal.title}"
        case MessageKind.WATCHED:
            return f"New from {deal.brand_name} in {deal.category_name}: {deal.title}"


def deliver(
    deal: Deal, kind: MessageKind, usernames: Sequence[Username], *, at: datetime | None = None
) -> bt.Steps[int]:
    """Sends each user a message about a deal; returns how many messages are new."""
    messages = [message_for(deal, kind, username, at=at) for username in usernames]
    starts = range(0, len(messages), SENT_AT_ONCE)
    counts = yield from bt.together(
        *(deliver_chunk(messages[start : start + SENT_AT_ONCE]) for start in starts)
    )
    return sum(counts)


def deliver_chunk(left: list[Message]) -> bt.Steps[int]:
    """One transaction, and another for the rest if some of the messages exist already."""
    while left:
        token = yield from bt.random_bytes(16)
        try:
            yield bt.transact(*map(bt.create, left), token=token.hex()).request()
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


@bt.pattern(
    "Send new Brand Deal Message to Brand Watchers",
    index="Main table",
    takes="BrandName",
    sample={"page_size": 10},
)
def send_brand_deal_message(deal_id: DealId, *, page_size: int = READ_AT_ONCE) -> bt.Steps[int]:
    """Query of watchers; a message each; on the stream's insert of a Deal."""
    deal = yield from bt.get(Deal.key(deal_id_of(deal_id)), missing=UnknownDeal, consistent=True)
    at = yield from announcement_moment(deal, (yield from bt.now()))
    return (yield from tell_brand_watchers(deal, at, page_size))


@bt.pattern(
    "Send new Category Deal Message to Category Watchers",
    index="Main table",
    takes="CategoryName",
    sample={"page_size": 10},
)
def send_category_deal_message(deal_id: DealId, *, page_size: int = READ_AT_ONCE) -> bt.Steps[int]:
    """Query of watchers; a message each; on the stream's insert of a Deal."""
    deal = yield from bt.get(Deal.key(deal_id_of(deal_id)), missing=UnknownDeal, consistent=True)
    at = yield from announcement_moment(deal, (yield from bt.now()))
    return (yield from tell_category_watchers(deal, at, page_size))


@bt.reaction(design.BIG_TIME_DEALS, of=[Deal])
def announce_deal(change: bt.Change[bt.Entity]) -> bt.Steps[None]:
    """Tells each user who watches a new deal's brand, its category or both, once."""
    deal = deal_to_announce(change)
    if deal is not None:
        at = yield from announcement_moment(deal, change.at)
        yield from tell_brand_watchers(deal, at)
        yield from tell_category_watchers(deal, at)


def deal_to_announce(change: bt.Change[bt.Entity]) -> Deal | None:
    """The deal that was inserted, if it is news."""
    insert = change.of(Deal)
    if insert is None or insert.kind != "insert" or insert.after is None:
        return None
    return insert.after if change.at - insert.after.created_at <= NEWS else None


class Announced(bt.Clash):
    """The deal was announced before."""


def announcement_moment(deal: Deal, moment: datetime) -> bt.Steps[datetime]:
    """The moment in the ids of a deal's messages to watchers: when it was first announced."""
    announcement = Announcement(deal_id=deal.deal_id, at=moment)
    try:
        yield from bt.create(announcement, unless_exists=Announced)
    except Announced:
        announcement = yield from bt.get(announcement.own_key(), missing=Announced, consistent=True)
    return announcement.at


def tell_brand_watchers(deal: Deal, at: datetime, page_size: int = READ_AT_ONCE) -> bt.Steps[int]:
    """Delivers to the watchers of a deal's brand; returns how many messages are new."""
    watches = design.BrandWatch.within("main", brand=deal.brand)
    return (yield from tell_each(watches, deal, at, page_size))


def tell_category_watchers(
    deal: Deal, at: datetime, page_size: int = READ_AT_ONCE
) -> bt.Steps[int]:
    """Delivers to the watchers of a deal's category; returns how many messages are new."""
    watches = design.CategoryWatch.within("main", category=deal.category)
    return (yield from tell_each(watches, deal, at, page_size))


def tell_each(
    watches: bt.KeyRange[design.BrandWatch] | bt.KeyRange[design.CategoryWatch],
    deal: Deal,
    at: datetime,
    page_size: int,
) -> bt.Steps[int]:
    count, position = 0, None
    while True:
        page = yield from bt.query(watches, limit=page_size, after=position, consistent=True)
        usernames = [watch.username for watch in page]
        count += yield from deliver(deal, MessageKind.WATCHED, usernames, at=at)
        position = page.position
        if position is None:
            return count


# A hot deal: a message to every user
#
# All users are read by a scan of UserIndex, in segments that run in parallel. After every page of
# users, a segment stores how far it has come. So progress can be watched, and after a crash the
# same call goes on from there. The page in between is read again, and its messages are found to be
# there. To send a message again when all is done changes nothing.

SEGMENTS: Final = 8


@dataclass(frozen=True, slots=True)
class HotDealProgress:
    """How many users have the message, and how many segments are complete."""

    told: int
    segments: int
    segments_done: int

    @property
    def is_done(self) -> bool:
        return 0 < self.segments == self.segments_done


def count_users() -> bt.Steps[int]:
    """The approximate number of users: DescribeTable's ItemCount of UserIndex, which has them all.

    DynamoDB updates it about every six hours; the engine's is exact.
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_GlobalSecondaryIndexDescription.html
    """
    described: Response = yield Request("DescribeTable", {"TableName": design.BIG_TIME_DEALS.name})
    indexes = described["Table"].get("GlobalSecondaryIndexes", ())
    return sum(index["ItemCount"] for index in indexes if index["IndexName"] == "UserIndex")


@bt.pattern("Send Test of Hot Deal Message", index="Main table")
def send_test_message(deal_id: DealId, username: Username) -> bt.Steps[Message]:
    """What all users would get, to one alone; twice in a second is once."""
    deal = yield from bt.get(Deal.key(deal_id_of(deal_id)), missing=UnknownDeal, consistent=True)
    message = message_for(deal, MessageKind.TEST, username, at=(yield from bt.now()))
    yield from deliver_chunk([message])
    return message


class Begun(bt.Clash):
    """Another request has begun to send it."""


@bt.pattern(
    "Send Hot New Deal Message to all Users",
    index="UserIndex, then Main table",
    sample={"page_size": 10},
    accepted={"scan": "it is for every user there is, and UserIndex holds nothing else"},
)
def send_hot_deal_message(
    deal_id: DealId, *, segments: int = SEGMENTS, page_size: int = READ_AT_ONCE
) -> bt.Steps[HotDealProgress]:
    """Scan of UserIndex; a message each.

    One that was begun goes on, in as many segments as it was begun with. After each page it is
    written down how far it has come.
    """
    if not 1 <= segments <= design.MOST_SEGMENTS or page_size < 1:
        raise SegmentsRefused
    deal = yield from bt.get(Deal.key(deal_id_of(deal_id)), missing=UnknownDeal, consistent=True)
    begun = yield from begin(deal, segments)
    ended = yield from bt.together(
        *(tell_segment(deal, segment, of=len(begun), page_size=page_size) for segment in begun)
    )
    return progress_of(ended)


@bt.pattern("View Progress of Hot Deal Message", index="Main table")
def view_hot_deal_progress(deal_id: DealId) -> bt.Steps[HotDealProgress]:
    """One item for each segment."""
    return progress_of((yield from segments_of(deal_id)))


def progress_of(segments: Sequence[HotDealSegment]) -> HotDealProgress:
    return HotDealProgress(
        told=sum(segment.told for segment in segments),
        segments=len(segments),
        segments_done=sum(segment.done for segment in segments),
    )


def segments_of(deal_id: DealId) -> bt.Steps[list[HotDealSegment]]:
    begun = HotDealSegment.within("main", deal_id=deal_id_of(deal_id))
    return (yield from bt.all_of(begun, consistent=True))


def begin(deal: Deal, segments: int) -> bt.Steps[list[HotDealSegment]]:
    """The progress of every segment; creates the segments if sending has not begun."""
    found = yield from segments_of(deal.deal_id)
    if found:
        return found
    moment = yield from bt.now()
    fresh = [
        HotDealSegment(deal_id=deal.deal_id, segment=number, begun_at=moment)
        for number in range(1, segments + 1)
    ]
    try:
        yield from bt.transact(*(bt.create(segment, unless_exists=Begun) for segment in fresh))
    except Begun:
        return (yield from segments_of(deal.deal_id))
    return fresh


def tell_segment(
    deal: Deal, segment: HotDealSegment, *, of: int, page_size: int
) -> bt.Steps[HotDealSegment]:
    """Sends the message to the users of a segment, from its saved position to the end."""
    while not segment.done:
        page = yield from bt.scan(
            User,
            index="UserIndex",
            limit=page_size,
            after=segment.position,
            segment=segment.segment - 1,
            segments=of,
        )
        usernames = [user.username for user in page]
        yield from deliver(deal, MessageKind.HOT, usernames, at=segment.begun_at)
        segment = yield from bt.put(advance(segment, page))
    return segment


def advance(segment: HotDealSegment, page: bt.Page[User]) -> HotDealSegment:
    """The segment after one more page of users."""
    position = page.position
    return segment.model_copy(
        update={
            "told": segment.told + len(page),
            "done": position is None,
            "reading": position.query if position else None,
            "place": position.place if position else None,
        }
    )
