"""Errors of Big Time Deals."""

from __future__ import annotations

from bigtime import model as bt

# Names


class EmptyName(bt.RuleBroken):
    """A name must not be empty; give one."""


class NameTooLong(bt.RuleBroken):
    """This name is too long; give a shorter one."""


class ForbiddenCharacter(bt.RuleBroken):
    """A name must not contain # or characters that cannot be seen; leave them out."""


class DotsAlone(bt.RuleBroken):
    """A name must have more than dots; add a letter."""


# Deals


class UnknownDeal(bt.NotFound):
    """There is no such deal."""


class DealUnpublished(UnknownDeal):
    """This deal is no longer available."""


class DealExpired(bt.RuleBroken):
    """This deal has expired."""


class DealExists(bt.Clash):
    """There is a deal with this id already; try again."""


class PriceRefused(bt.RuleBroken):
    """A price is more than 0, with at most two decimals."""


class NoDiscount(bt.RuleBroken):
    """The list price must be above the price; else it is no deal."""


class TitleRefused(bt.RuleBroken):
    """A deal needs a title of 1 to 200 characters, all of which can be seen."""


class DescriptionRefused(bt.RuleBroken):
    """A description has at most 500 characters. Leave out those that cannot be seen."""


class LinkRefused(bt.RuleBroken):
    """A link begins with https:// or http://, and has at most 1,000 characters."""


class EndRefused(bt.RuleBroken):
    """An end has a date, a time and a time zone; write it as 2026-12-24T18:00:00Z."""


class EndPassed(bt.RuleBroken):
    """This end is in the past; choose a later one."""


class WhyRefused(bt.RuleBroken):
    """A reason has at most 200 characters, all of which can be seen."""


# Brands and categories


class UnknownBrand(bt.NotFound):
    """There is no such brand."""


class BrandExists(bt.Clash):
    """There is such a brand already."""


class OtherBrand(bt.RuleBroken):
    """This would be another brand; only capitals and spaces of a brand's name can be changed."""


class TooManyBrands(bt.RuleBroken):
    """The list of all brands is full; no other brand fits into its 400 KB."""


class UnknownCategory(bt.NotFound):
    """There is no such category."""


class CategoryExists(bt.Clash):
    """There is such a category already."""


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
    """A category features only deals of its own."""


# Users


class UnknownUser(bt.NotFound):
    """There is no such user."""


class UsernameTaken(bt.Clash):
    """This username is taken; choose another."""


class EmailRefused(bt.RuleBroken):
    """An e-mail address looks like alex@example.com, and has at most 254 characters."""


class AlreadyLiked(bt.Clash):
    """You like this already."""


class NotLiked(bt.RuleBroken):
    """You do not like this, so there is nothing to take back."""


class AlreadyWatched(bt.Clash):
    """You watch this already."""


class NotWatched(bt.RuleBroken):
    """You do not watch this, so there is nothing to take back."""


# Messages


class UnknownMessage(bt.NotFound):
    """There is no such message."""


class TooManyMessages(bt.RuleBroken):
    """At most 25 messages can be marked as read at once; do it page by page."""


class SegmentsRefused(bt.RuleBroken):
    """All users are told in 1 to 100 segments, and one at a time at least; ask for that."""


# Saved deals


class TooManySaved(bt.RuleBroken):
    """You can save 100 deals; remove one first."""
