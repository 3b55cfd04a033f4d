"""Errors of the portal, by family."""

from __future__ import annotations

from bigtime import model as bt

# What is malformed


class PageSizeRefused(bt.Malformed):
    """A page has 1 to 100 items; ask for a number in between."""


class MomentRefused(bt.Malformed):
    """A time has its zone, as in 2026-03-10T12:00:00Z; add it."""


class ActiveRefused(bt.Malformed):
    """What is active says true or false, and nothing else."""


class DateRefused(bt.Malformed):
    """A date is written as in 2026-03-10, and must be one of the calendar."""


class RangeReversed(bt.Malformed):
    """The end of a range comes before its start; swap them."""


class UnknownField(bt.Malformed):
    """There is no such field."""


class ImmutableField(bt.RuleBroken):
    """This field cannot be changed."""


# What is unknown


class UnknownTenant(bt.NotFound):
    """There is no such tenant."""


class UnknownProduct(bt.NotFound):
    """There is no such product."""


class UnknownCampaign(bt.NotFound):
    """There is no such campaign."""


class UnknownOrder(bt.NotFound):
    """There is no such order."""


class UnknownCode(bt.NotFound):
    """No code was sent, or it is too old; ask for a new one."""


# What clashes


class EmailTaken(bt.Clash):
    """There is a tenant with this e-mail address already."""


class TenantDeleted(bt.Clash):
    """This tenant was deleted; restore it first."""


class ProductDeleted(bt.Clash):
    """This product was deleted; restore it first."""


class CampaignDeleted(bt.Clash):
    """This campaign was deleted; restore it first."""


class IdTaken(bt.Clash):
    """There is a record with this id already; try again."""


class CampaignExists(bt.Clash):
    """There is a campaign with this code, perhaps a deleted one: restore it, or choose another."""


class StatusMoved(bt.Clash):
    """The tenant has another status by now; look at it again."""


class RecordMoved(bt.Clash):
    """Somebody else has changed this meanwhile; look at it again, and then change it."""


class TotalMoved(bt.Clash):
    """This costs something else by now; look at the price again, and then order."""


class MoveRefused(bt.Clash):
    """A tenant cannot go from its status to this one."""


class CodeUsed(bt.Clash):
    """This code was used already; ask for a new one."""


class CodeWrong(bt.RuleBroken):
    """Wrong code. Check the e-mail and try again."""


class CodeSpent(bt.Forbidden):
    """There were too many wrong tries; ask for a new code."""


class TenantSuspended(bt.Forbidden):
    """This account is suspended; ask the portal's team to reinstate it."""


class AnonymiseForbidden(bt.Forbidden):
    """Only a deleted tenant can be anonymised; delete it first."""


# What breaks a rule


class EmailRefused(bt.RuleBroken):
    """An e-mail address looks like alex@example.com, and has at most 254 characters."""


class ActorRefused(bt.RuleBroken):
    """Say who does it: 1 to 254 characters that can be seen."""


class ReasonRefused(bt.RuleBroken):
    """Say why, in 1 to 500 characters that can be seen."""


class NameRefused(bt.RuleBroken):
    """A name has 1 to 200 characters, all of which can be seen."""


class DescriptionRefused(bt.RuleBroken):
    """A description has 1 to 2,000 characters. Leave out those that cannot be seen."""


class FeaturesRefused(bt.RuleBroken):
    """A product has up to 50 features, each of 1 to 200 characters that can be seen."""


class LinkRefused(bt.RuleBroken):
    """A link begins with https:// or http://, and has at most 1,000 characters."""


class PriceRefused(bt.RuleBroken):
    """A price is at least 0.01 and below 10,000,000, with at most two decimals."""


class DiscountRefused(bt.RuleBroken):
    """A discount is at least 0 and below 100 percent, with at most two decimals."""


class DiscountTooHigh(bt.RuleBroken):
    """With this discount the product would cost less than 0.01; give a lower one."""


class BillingCycleRefused(bt.RuleBroken):
    """A product is billed monthly or yearly."""


class StatusRefused(bt.RuleBroken):
    """A tenant is UNVALIDATED, VALIDATED, REGISTERED or SUSPENDED."""


class CampaignCodeRefused(bt.RuleBroken):
    """A campaign code has 3 to 50 capital letters, digits and underscores."""


class DatesReversed(bt.RuleBroken):
    """A campaign ends on the day it begins, or later; swap the dates."""


class CampaignNotValid(bt.RuleBroken):
    """This campaign does not run today; order without it, or wait for it."""


class CampaignElsewhere(bt.RuleBroken):
    """This campaign is for another product than those ordered; order that one, or without it."""


class ProductUnavailable(bt.RuleBroken):
    """This product is not offered any more; choose another."""


class LinesRefused(bt.RuleBroken):
    """An order has 1 to 50 products, each 1 to 1,000 times."""
