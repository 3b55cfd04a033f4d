"""Errors of Big Time Deals."""

from __future__ import annotations

from bigtime import model as bt

# Names


class EmptyName(bt.RuleBroken):
    """Enter a name."""


class NameTooLong(bt.RuleBroken):
    """This name is too long; shorten it."""


class ForbiddenCharacter(bt.RuleBroken):
    """A name cannot contain # or invisible characters; remove them."""


class DotsAlone(bt.RuleBroken):
    """A name cannot consist of dots alone; add a letter."""


# Deals


class UnknownDeal(bt.NotFound):
    """There is no such deal."""


class DealUnpublished(UnknownDeal):
    """This deal is no longer available."""


class DealExpired(bt.RuleBroken):
    """This deal has expired."""


class DealExists(bt.Clash):
    """A deal with this ID already exists; try again."""


class PriceRefused(bt.RuleBroken):
    """A price is more than 0, with at most two decimals."""


class NoDiscount(bt.RuleBroken):
    """The list price must be higher than the price; otherwise it is not a deal."""


class TitleRefused(bt.RuleBroken):
    """A title has 1 to 200 characters, none of them invisible."""


class DescriptionRefused(bt.RuleBroken):
    """A description has at most 500 characters, none of them invisible."""


class LinkRefused(bt.RuleBroken):
    """A link begins with https:// or http://, and has at most 1,000 characters."""


class EndRefused(bt.RuleBroken):
    """An end has a date, a time and a time zone; write it as 2026-12-24T18:00:00Z."""


class EndPassed(bt.RuleBroken):
    """This end is in the past; choose a later one."""


class WhyRefused(bt.RuleBroken):
    """A reason has at most 200 characters, none of them invisible."""


# Brands and categories


class UnknownBrand(bt.NotFound):
    """There is no such brand."""


class BrandExists(bt.Clash):
    """This brand already exists."""


class OtherBrand(bt.RuleBroken):
    """Only capitals and spaces in a brand's name can be changed; this would be another brand."""


class TooManyBrands(bt.RuleBroken):
    """The list of all brands is full: it cannot exceed 400 KB."""


class UnknownCategory(bt.NotFound):
    """There is no such category."""


class CategoryExists(bt.Clash):
    """This category already exists."""


# Featured deals


class UnknownPage(bt.NotFound):
    """There is no such page; the pages are FRONTPAGE and EDITORSCHOICE."""


class TooFewFeatured(bt.RuleBroken):
    """Feature more deals."""


class TooManyFeatured(bt.RuleBroken):
    """Feature fewer deals."""


class FeaturedTwice(bt.RuleBroken):
    """The same deal cannot be featured twice on one page."""


class WrongCategory(bt.RuleBroken):
    """A category can feature only its own deals."""


# Users


class UnknownUser(bt.NotFound):
    """There is no such user."""


class UsernameTaken(bt.Clash):
    """This username is taken; choose another."""


class EmailRefused(bt.RuleBroken):
    """An e-mail address looks like alex@example.com, and has at most 254 characters."""


class AlreadyLiked(bt.Clash):
    """You already like this."""


class NotLiked(bt.RuleBroken):
    """You do not like this."""


class AlreadyWatched(bt.Clash):
    """You already watch this."""


class NotWatched(bt.RuleBroken):
    """You do not watch this."""


# Messages


class UnknownMessage(bt.NotFound):
    """There is no such message."""


class TooManyMessages(bt.RuleBroken):
    """At most 25 messages can be marked as read at once; mark them page by page."""


class SegmentsRefused(bt.RuleBroken):
    """The number of segments is 1 to 100, with at least one at a time."""


# Saved deals


class TooManySaved(bt.RuleBroken):
    """You can save at most 100 deals; remove one first."""
