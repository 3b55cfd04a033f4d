"""Errors of the catalogue."""

from __future__ import annotations

from bigtime import model as bt

# Values


class EmptyId(bt.RuleBroken):
    """The ID must not be empty."""


class IdTooLong(bt.RuleBroken):
    """This ID is too long; shorten it."""


class ForbiddenCharacter(bt.RuleBroken):
    """An ID cannot contain # or invisible characters; remove them."""


class EmptyText(bt.RuleBroken):
    """This text must not be empty."""


class TextTooLong(bt.RuleBroken):
    """This text is too long; shorten it."""


class InexactNumber(bt.RuleBroken):
    """A float is not exact; pass a Decimal or text."""


class PriceNotPositive(bt.RuleBroken):
    """A price is more than 0."""


class DiscountOutOfRange(bt.RuleBroken):
    """A discount is at least 0 percent, and less than 100."""


class NegativeCount(bt.RuleBroken):
    """Views and clicks are counted from 0 up."""


class ScoreOutOfRange(bt.RuleBroken):
    """An engagement score is a whole number from 0 to 9,999,999,999."""


class NoTimeZone(bt.RuleBroken):
    """A time needs a time zone; give it in UTC."""


class NothingToChange(bt.RuleBroken):
    """Change at least one field."""


# Items that exist, or do not


class UnknownDeal(bt.NotFound):
    """There is no such deal."""


class DealExists(bt.Clash):
    """A deal with this ID already exists; use put to overwrite it."""


class DealMoved(bt.Clash):
    """The deal's status has changed; review it."""


class UnknownUser(bt.NotFound):
    """There is no such user."""


class UserExists(bt.Clash):
    """A user with this ID already exists; use put to overwrite it."""


class UnknownBrand(bt.NotFound):
    """There is no such brand."""


class BrandExists(bt.Clash):
    """A brand with this ID already exists; use put to overwrite it."""


class AlreadyWatching(bt.Clash):
    """You already watch this."""


class NotWatching(bt.RuleBroken):
    """You do not watch this."""


class ActivityExists(bt.Clash):
    """This activity is already recorded."""


class AlreadyTrending(bt.Clash):
    """This deal is already trending; record its engagement instead."""


class NotTrending(bt.RuleBroken):
    """This deal is not trending in its category; add it first."""


class EngagementMoved(bt.Clash):
    """Too many people are engaging with this deal at once; try again."""
