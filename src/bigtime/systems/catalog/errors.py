"""Errors of the catalogue."""

from __future__ import annotations

from bigtime import model as bt

# Values


class EmptyId(bt.RuleBroken):
    """An id must not be empty; give one."""


class IdTooLong(bt.RuleBroken):
    """This id is too long; give a shorter one."""


class ForbiddenCharacter(bt.RuleBroken):
    """An id must not contain # or characters that cannot be seen; leave them out."""


class EmptyText(bt.RuleBroken):
    """This text must not be empty; write something."""


class TextTooLong(bt.RuleBroken):
    """This text is too long; shorten it."""


class InexactNumber(bt.RuleBroken):
    """A float has lost digits already; pass a Decimal, or its text."""


class PriceNotPositive(bt.RuleBroken):
    """A price is more than 0."""


class DiscountOutOfRange(bt.RuleBroken):
    """A discount is at least 0 percent, and less than 100."""


class NegativeCount(bt.RuleBroken):
    """Views and clicks are counted from 0 up."""


class ScoreOutOfRange(bt.RuleBroken):
    """An engagement score is a whole number from 0 to 9,999,999,999."""


class NoTimeZone(bt.RuleBroken):
    """A time needs its time zone; give it in UTC."""


class NothingToChange(bt.RuleBroken):
    """Say at least one thing that is to change."""


# What is there, or is not


class UnknownDeal(bt.NotFound):
    """There is no such deal."""


class DealExists(bt.Clash):
    """There is a deal with this id already; put it to write over it."""


class DealMoved(bt.Clash):
    """The deal has another status by now; look at it again."""


class UnknownUser(bt.NotFound):
    """There is no such user."""


class UserExists(bt.Clash):
    """There is a user with this id already; put it to write over it."""


class UnknownBrand(bt.NotFound):
    """There is no such brand."""


class BrandExists(bt.Clash):
    """There is a brand with this id already; put it to write over it."""


class AlreadyWatching(bt.Clash):
    """You watch this already."""


class NotWatching(bt.RuleBroken):
    """You do not watch this."""


class ActivityExists(bt.Clash):
    """This activity is recorded already."""


class AlreadyTrending(bt.Clash):
    """This deal is among the trending ones already; record its engagement instead."""


class NotTrending(bt.RuleBroken):
    """This deal is not among the trending ones of its category; start it first."""


class EngagementMoved(bt.Clash):
    """Others engage with this deal faster than it can be recorded; try again."""
