"""What can be wrong with what somebody asks of the catalogue."""

from __future__ import annotations

from bigtime.model import DomainError

# Values


class EmptyId(DomainError):
    """An id must not be empty; give one."""


class IdTooLong(DomainError):
    """This id is too long; give a shorter one."""


class ForbiddenCharacter(DomainError):
    """An id must not contain # or characters that cannot be seen; leave them out."""


class EmptyText(DomainError):
    """This text must not be empty; write something."""


class TextTooLong(DomainError):
    """This text is too long; shorten it."""


class InexactNumber(DomainError):
    """A float has lost digits already; pass a Decimal, or its text."""


class PriceNotPositive(DomainError):
    """A price is more than 0."""


class DiscountOutOfRange(DomainError):
    """A discount is at least 0 percent, and less than 100."""


class NegativeCount(DomainError):
    """Views and clicks are counted from 0 up."""


class ScoreOutOfRange(DomainError):
    """An engagement score is a whole number from 0 to 9,999,999,999."""


class NoTimeZone(DomainError):
    """A time needs its time zone; give it in UTC."""


class NothingToChange(DomainError):
    """Say at least one thing that is to change."""


# What is there, or is not


class UnknownDeal(DomainError):
    """There is no such deal."""


class DealExists(DomainError):
    """There is a deal with this id already; put it to write over it."""


class DealMoved(DomainError):
    """The deal has another status by now; look at it again."""


class UnknownUser(DomainError):
    """There is no such user."""


class UserExists(DomainError):
    """There is a user with this id already; put it to write over it."""


class UnknownBrand(DomainError):
    """There is no such brand."""


class BrandExists(DomainError):
    """There is a brand with this id already; put it to write over it."""


class AlreadyWatching(DomainError):
    """You watch this already."""


class NotWatching(DomainError):
    """You do not watch this."""


class ActivityExists(DomainError):
    """This activity is recorded already."""


class AlreadyTrending(DomainError):
    """This deal is among the trending ones already; record its engagement instead."""


class NotTrending(DomainError):
    """This deal is not among the trending ones of its category; start it first."""


class EngagementMoved(DomainError):
    """Others engage with this deal faster than it can be recorded; try again."""
