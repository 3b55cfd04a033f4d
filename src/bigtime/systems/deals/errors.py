"""What can be wrong with what somebody asks of Big Time Deals."""

from __future__ import annotations

from bigtime.model import DomainError

# Names


class EmptyName(DomainError):
    """A name must not be empty; give one."""


class NameTooLong(DomainError):
    """This name is too long; give a shorter one."""


class ForbiddenCharacter(DomainError):
    """A name must not contain # or characters that cannot be seen; leave them out."""


class DotsAlone(DomainError):
    """A name must have more than dots; add a letter."""


# Deals


class UnknownDeal(DomainError):
    """There is no such deal."""


class DealExists(DomainError):
    """There is a deal with this id already; try again."""


class PriceRefused(DomainError):
    """A price is more than 0, with at most two decimals."""


class NoDiscount(DomainError):
    """The list price must be above the price; else it is no deal."""


class TitleRefused(DomainError):
    """A deal needs a title of 1 to 200 characters, all of which can be seen."""


class DescriptionRefused(DomainError):
    """A description has at most 500 characters. Leave out those that cannot be seen."""


class LinkRefused(DomainError):
    """A link begins with https:// or http://, and has at most 1,000 characters."""


# Brands and categories


class UnknownBrand(DomainError):
    """There is no such brand."""


class BrandExists(DomainError):
    """There is such a brand already."""


class TooManyBrands(DomainError):
    """The list of all brands is full; no other brand fits into its 400 KB."""


class UnknownCategory(DomainError):
    """There is no such category."""


class CategoryExists(DomainError):
    """There is such a category already."""


# Featured deals


class UnknownPage(DomainError):
    """There is no such page; the pages are FRONTPAGE and EDITORSCHOICE."""


class TooFewFeatured(DomainError):
    """Feature more deals."""


class TooManyFeatured(DomainError):
    """Feature fewer deals."""


class FeaturedTwice(DomainError):
    """The same deal cannot be featured twice on one page."""


class WrongCategory(DomainError):
    """A category features only deals of its own."""


# Users


class UnknownUser(DomainError):
    """There is no such user."""


class UsernameTaken(DomainError):
    """This username is taken; choose another."""


class EmailRefused(DomainError):
    """An e-mail address looks like alex@example.com, and has at most 254 characters."""


class AlreadyLiked(DomainError):
    """You like this already."""


class NotLiked(DomainError):
    """You do not like this, so there is nothing to take back."""


class AlreadyWatched(DomainError):
    """You watch this already."""


class NotWatched(DomainError):
    """You do not watch this, so there is nothing to take back."""


# Messages


class UnknownMessage(DomainError):
    """There is no such message."""


class TooManyMessages(DomainError):
    """At most 25 messages can be marked as read at once; do it page by page."""


class SegmentsRefused(DomainError):
    """All users are told in 1 to 100 segments, and one at a time at least; ask for that."""
