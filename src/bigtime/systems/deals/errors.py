"""What can be wrong with what somebody asks of Big Time Deals."""

from __future__ import annotations

from bigtime.model import Clash, NotFound, RuleBroken

# Names


class EmptyName(RuleBroken):
    """A name must not be empty; give one."""


class NameTooLong(RuleBroken):
    """This name is too long; give a shorter one."""


class ForbiddenCharacter(RuleBroken):
    """A name must not contain # or characters that cannot be seen; leave them out."""


class DotsAlone(RuleBroken):
    """A name must have more than dots; add a letter."""


# Deals


class UnknownDeal(NotFound):
    """There is no such deal."""


class DealExists(Clash):
    """There is a deal with this id already; try again."""


class PriceRefused(RuleBroken):
    """A price is more than 0, with at most two decimals."""


class NoDiscount(RuleBroken):
    """The list price must be above the price; else it is no deal."""


class TitleRefused(RuleBroken):
    """A deal needs a title of 1 to 200 characters, all of which can be seen."""


class DescriptionRefused(RuleBroken):
    """A description has at most 500 characters. Leave out those that cannot be seen."""


class LinkRefused(RuleBroken):
    """A link begins with https:// or http://, and has at most 1,000 characters."""


# Brands and categories


class UnknownBrand(NotFound):
    """There is no such brand."""


class BrandExists(Clash):
    """There is such a brand already."""


class TooManyBrands(RuleBroken):
    """The list of all brands is full; no other brand fits into its 400 KB."""


class UnknownCategory(NotFound):
    """There is no such category."""


class CategoryExists(Clash):
    """There is such a category already."""


# Featured deals


class UnknownPage(NotFound):
    """There is no such page; the pages are FRONTPAGE and EDITORSCHOICE."""


class TooFewFeatured(RuleBroken):
    """Feature more deals."""


class TooManyFeatured(RuleBroken):
    """Feature fewer deals."""


class FeaturedTwice(RuleBroken):
    """The same deal cannot be featured twice on one page."""


class WrongCategory(RuleBroken):
    """A category features only deals of its own."""


# Users


class UnknownUser(NotFound):
    """There is no such user."""


class UsernameTaken(Clash):
    """This username is taken; choose another."""


class EmailRefused(RuleBroken):
    """An e-mail address looks like alex@example.com, and has at most 254 characters."""


class AlreadyLiked(Clash):
    """You like this already."""


class NotLiked(RuleBroken):
    """You do not like this, so there is nothing to take back."""


class AlreadyWatched(Clash):
    """You watch this already."""


class NotWatched(RuleBroken):
    """You do not watch this, so there is nothing to take back."""


# Messages


class UnknownMessage(NotFound):
    """There is no such message."""


class TooManyMessages(RuleBroken):
    """At most 25 messages can be marked as read at once; do it page by page."""


class SegmentsRefused(RuleBroken):
    """All users are told in 1 to 100 segments, and one at a time at least; ask for that."""
