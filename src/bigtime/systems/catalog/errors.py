"""What can be wrong with what somebody asks of the catalogue."""

from __future__ import annotations

from bigtime.model import Clash, NotFound, RuleBroken

# Values


class EmptyId(RuleBroken):
    """An id must not be empty; give one."""


class IdTooLong(RuleBroken):
    """This id is too long; give a shorter one."""


class ForbiddenCharacter(RuleBroken):
    """An id must not contain # or characters that cannot be seen; leave them out."""


class EmptyText(RuleBroken):
    """This text must not be empty; write something."""


class TextTooLong(RuleBroken):
    """This text is too long; shorten it."""


class InexactNumber(RuleBroken):
    """A float has lost digits already; pass a Decimal, or its text."""


class PriceNotPositive(RuleBroken):
    """A price is more than 0."""


class DiscountOutOfRange(RuleBroken):
    """A discount is at least 0 percent, and less than 100."""


class NegativeCount(RuleBroken):
    """Views and clicks are counted from 0 up."""


class ScoreOutOfRange(RuleBroken):
    """An engagement score is a whole number from 0 to 9,999,999,999."""


class NoTimeZone(RuleBroken):
    """A time needs its time zone; give it in UTC."""


class NothingToChange(RuleBroken):
    """Say at least one thing that is to change."""


# What is there, or is not


class UnknownDeal(NotFound):
    """There is no such deal."""


class DealExists(Clash):
    """There is a deal with this id already; put it to write over it."""


class DealMoved(Clash):
    """The deal has another status by now; look at it again."""


class UnknownUser(NotFound):
    """There is no such user."""


class UserExists(Clash):
    """There is a user with this id already; put it to write over it."""


class UnknownBrand(NotFound):
    """There is no such brand."""


class BrandExists(Clash):
    """There is a brand with this id already; put it to write over it."""


class AlreadyWatching(Clash):
    """You watch this already."""


class NotWatching(RuleBroken):
    """You do not watch this."""


class ActivityExists(Clash):
    """This activity is recorded already."""


class AlreadyTrending(Clash):
    """This deal is among the trending ones already; record its engagement instead."""


class NotTrending(RuleBroken):
    """This deal is not among the trending ones of its category; start it first."""


class EngagementMoved(Clash):
    """Others engage with this deal faster than it can be recorded; try again."""
