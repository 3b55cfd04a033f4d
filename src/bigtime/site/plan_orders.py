"""Orders of the portal as the site makes them: with a letter that confirms each.

Order and letter are one transaction: there is no order without its letter, and none has two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from decimal import Decimal
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from bigtime.model import Write, create
from bigtime.site.letters import order_letter
from bigtime.site.mail import letter
from bigtime.site.mailbox_check import Codes, prove_by_email
from bigtime.systems import portal
from bigtime.wire import Steps


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody wants to order, and what they have seen that it costs."""

    products: Mapping[str, int]
    campaign: str | None = None
    total: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Ordering:
    """Whose days campaigns begin and end with, and where the site is."""

    zone: tzinfo
    base_url: str

    def order(
        self, tenant_id: str, wanted: Wanted, *, order_id: str | None = None
    ) -> Steps[portal.Order]:
        """Orders, and confirms it by a letter; the same id again gives the same order."""
        return (
            yield from portal.place_order(
                tenant_id,
                wanted.products,
                wanted.campaign,
                order_id=order_id,
                total=wanted.total,
                along=self.confirmation,
                zone=self.zone,
            )
        )

    def confirmation(
        self, order: portal.Order, tenant: portal.Tenant
    ) -> Steps[tuple[Write[Any], ...]]:
        told = order_letter(order, f"{self.base_url}/portal/orders/{order.id}")
        mail = yield from letter(
            f"order-confirmation {order.id}", tenant.email, told.subject, told.text
        )
        return (create(mail, unless_exists=portal.IdTaken),)

    def order_with_code(
        self, codes: Codes, email: str, code: str, wanted: Wanted
    ) -> Steps[portal.Order]:
        """Orders for whoever has the code that was mailed to an address.

        What cannot be ordered is told before the code is used up. Carried out again exactly, it
        finds the order that it has made, and needs no code.
        """
        order_id = yield from portal.make_order_id()
        tenant = yield from portal.tenant_of(email)
        made = (yield from portal.made_before(tenant.id, order_id)) if tenant else None
        if made is not None:
            return made
        quote = yield from portal.quote_order(wanted.products, wanted.campaign, zone=self.zone)
        if wanted.total not in (None, quote.total):
            raise portal.TotalMoved
        tenant_id = yield from prove_by_email(codes, email, code)
        return (yield from self.order(tenant_id, wanted, order_id=order_id))


@lru_cache
def zone_named(name: str) -> tzinfo:
    return ZoneInfo(name)
