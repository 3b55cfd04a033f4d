"""A hot deal: a message to every user there is.

All users are read by a scan of UserIndex, in segments that a network reads side by side. After
every page of users who have been told, a segment writes down how far it has come. So whoever wants
to can watch; and after a crash, the same call goes on from there. The page in between is gone
through again, and finds its messages there.

A message that has been sent is sent: to do it again, when all is done, changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bigtime.model import Clash, Page, all_of, create, get, pattern, put, scan, together, transact
from bigtime.systems.deals.design import MOST_SEGMENTS, Deal, HotDealSegment, MessageKind, User
from bigtime.systems.deals.errors import SegmentsRefused, UnknownDeal
from bigtime.systems.deals.notifications import READ_AT_ONCE, deliver
from bigtime.systems.deals.values import DealId, deal_id_of
from bigtime.wire import Steps

SEGMENTS: Final = 8


@dataclass(frozen=True, slots=True)
class HotDealProgress:
    """How many users have the message, and how much of them all has been gone through."""

    told: int
    segments: int
    segments_done: int

    @property
    def done(self) -> bool:
        return 0 < self.segments == self.segments_done


class Begun(Clash):
    """Somebody else has begun to send it."""


@pattern(
    "Send Hot New Deal Message to all Users",
    index="UserIndex, then Main table",
    sample={"page_size": 10},
    accepted={"scan": "it is for every user there is, and UserIndex holds nothing else"},
)
def send_hot_deal_message(
    deal_id: DealId, *, segments: int = SEGMENTS, page_size: int = READ_AT_ONCE
) -> Steps[HotDealProgress]:
    """Scan of UserIndex; a message each.

    One that was begun goes on, in as many segments as it was begun with. After each page it is
    written down how far it has come.
    """
    if not 1 <= segments <= MOST_SEGMENTS or page_size < 1:
        raise SegmentsRefused
    deal = yield from get(Deal.key(deal_id_of(deal_id)), missing=UnknownDeal, consistent=True)
    begun = yield from begin(deal, segments)
    ended = yield from together(
        *(tell_segment(deal, one, of=len(begun), page_size=page_size) for one in begun)
    )
    return progress_of(ended)


@pattern("View Progress of Hot Deal Message", index="Main table")
def view_hot_deal_progress(deal_id: DealId) -> Steps[HotDealProgress]:
    """One item for each segment."""
    return progress_of((yield from segments_of(deal_id)))


def progress_of(segments: Sequence[HotDealSegment]) -> HotDealProgress:
    return HotDealProgress(
        told=sum(segment.told for segment in segments),
        segments=len(segments),
        segments_done=sum(segment.done for segment in segments),
    )


def segments_of(deal_id: DealId) -> Steps[list[HotDealSegment]]:
    begun = HotDealSegment.within("main", deal_id=deal_id_of(deal_id))
    return (yield from all_of(begun, consistent=True))


def begin(deal: Deal, segments: int) -> Steps[list[HotDealSegment]]:
    """Where every segment stands; at its beginning, if nobody has begun."""
    found = yield from segments_of(deal.deal_id)
    if found:
        return found
    numbers = range(1, segments + 1)
    fresh = [HotDealSegment(deal_id=deal.deal_id, segment=number) for number in numbers]
    try:
        yield from transact(*(create(one, unless_exists=Begun) for one in fresh))
    except Begun:
        return (yield from segments_of(deal.deal_id))
    return fresh


def tell_segment(
    deal: Deal, segment: HotDealSegment, *, of: int, page_size: int
) -> Steps[HotDealSegment]:
    """Tells the users of a segment, from where it stands to its end."""
    while not segment.done:
        page = yield from scan(
            User,
            index="UserIndex",
            limit=page_size,
            after=segment.position,
            segment=segment.segment - 1,
            segments=of,
        )
        yield from deliver(deal, MessageKind.HOT, [user.username for user in page])
        segment = yield from put(advance(segment, page))
    return segment


def advance(segment: HotDealSegment, page: Page[User]) -> HotDealSegment:
    """A segment after one more page of users."""
    position = page.position
    return segment.model_copy(
        update={
            "told": segment.told + len(page),
            "done": position is None,
            "reading": position.query if position else None,
            "place": position.place if position else None,
        }
    )
