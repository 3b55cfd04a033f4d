"""Errors of the portal, by family."""

from __future__ import annotations

from bigtime import model as bt

# Malformed values


class PageSizeRefused(bt.Malformed):
    """A page has 1 to 100 items; choose a number in that range."""


class MomentRefused(bt.Malformed):
    """A time needs a time zone, as in 2026-03-10T12:00:00Z."""


class ActiveRefused(bt.Malformed):
    """The value of active must be true or false."""


class DateRefused(bt.Malformed):
    """Enter a valid date, such as 2026-03-10."""


class RangeReversed(bt.Malformed):
    """The end of the range is before its start; swap them."""


class UnknownField(bt.Malformed):
    """There is no such field."""


class ImmutableField(bt.RuleBroken):
    """This field cannot be changed."""


# Unknown records


class UnknownTenant(bt.NotFound):
    """There is no such tenant."""


class UnknownProduct(bt.NotFound):
    """There is no such product."""


class UnknownCampaign(bt.NotFound):
    """There is no such campaign."""


class UnknownOrder(bt.NotFound):
    """There is no such order."""


class UnknownCode(bt.NotFound):
    """No code was sent, or it has expired; request a new one."""


# Clashes


class EmailTaken(bt.Clash):
    """A tenant with this e-mail address already exists."""


class TenantDeleted(bt.Clash):
    """This tenant was deleted; restore it first."""


class ProductDeleted(bt.Clash):
    """This product was deleted; restore it first."""


class CampaignDeleted(bt.Clash):
    """This campaign was deleted; restore it first."""


class IdTaken(bt.Clash):
    """A record with this ID already exists; try again."""


class CampaignExists(bt.Clash):
    """A campaign with this code exists already, perhaps deleted: restore it, or choose another."""


class StatusMoved(bt.Clash):
    """The tenant's status has changed; review it."""


class RecordMoved(bt.Clash):
    """Somebody else has changed this; review it and try again."""


class TotalMoved(bt.Clash):
    """The price has changed; review it and order again."""


class MoveRefused(bt.Clash):
    """A tenant cannot move from its status to this one."""


class CodeUsed(bt.Clash):
    """This code was already used; request a new one."""


class CodeWrong(bt.RuleBroken):
    """Wrong code. Check the e-mail and try again."""


class CodeSpent(bt.Forbidden):
    """Too many wrong attempts; request a new code."""


class TenantSuspended(bt.Forbidden):
    """This account is suspended; contact us to reinstate it."""


class AnonymiseForbidden(bt.Forbidden):
    """Only a deleted tenant can be anonymised; delete it first."""


# Broken rules


class EmailRefused(bt.RuleBroken):
    """An e-mail address looks like alex@example.com, and has at most 254 characters."""


class ActorRefused(bt.RuleBroken):
    """Name who does this, in 1 to 254 characters, none of them invisible."""


class ReasonRefused(bt.RuleBroken):
    """A reason has 1 to 500 characters, none of them invisible."""


class NameRefused(bt.RuleBroken):
    """A name has 1 to 200 characters, none of them invisible."""


class DescriptionRefused(bt.RuleBroken):
    """A description has 1 to 2,000 characters, none of them invisible."""


class FeaturesRefused(bt.RuleBroken):
    """A product has up to 50 features, each of 1 to 200 characters, none of them invisible."""


class LinkRefused(bt.RuleBroken):
    """A link begins with https:// or http://, and has at most 1,000 characters."""


class PriceRefused(bt.RuleBroken):
    """A price is at least 0.01 and below 10,000,000, with at most two decimals."""


class DiscountRefused(bt.RuleBroken):
    """A discount is at least 0 and below 100 percent, with at most two decimals."""


class DiscountTooHigh(bt.RuleBroken):
    """With this discount the product would cost less than 0.01; enter a lower discount."""


class BillingCycleRefused(bt.RuleBroken):
    """A product is billed monthly or yearly."""


class StatusRefused(bt.RuleBroken):
    """A tenant is UNVALIDATED, VALIDATED, REGISTERED or SUSPENDED."""


class CampaignCodeRefused(bt.RuleBroken):
    """A campaign code has 3 to 50 capital letters, digits and underscores."""


class DatesReversed(bt.RuleBroken):
    """A campaign cannot end before it begins; swap the dates."""


class CampaignNotValid(bt.RuleBroken):
    """This campaign is not running today; order without it."""


class CampaignElsewhere(bt.RuleBroken):
    """This campaign is for a different product; order that product, or omit the campaign."""


class ProductUnavailable(bt.RuleBroken):
    """This product is no longer available; choose another."""


class LinesRefused(bt.RuleBroken):
    """An order has 1 to 50 products, with a quantity of 1 to 1,000 each."""
