"""The customer portal: tenants, products, campaigns, orders; nothing of it is ever deleted."""

from __future__ import annotations

from typing import Final

from bigtime.model import System
from bigtime.systems.portal import (
    campaigns,
    checkout,
    codes,
    erasure,
    history,
    orders,
    price_changes,
    products,
    registration,
    statuses,
    tenants,
    verification,
)
from bigtime.systems.portal.demo import DEMO
from bigtime.systems.portal.design import (
    AUDIT,
    CAMPAIGNS,
    CODES,
    ORDERS,
    PRODUCTS,
    TENANTS,
    products_without_duplicate,
)

MODULES: Final = (
    tenants,
    statuses,
    checkout,
    codes,
    registration,
    products,
    campaigns,
    orders,
    history,
    verification,
    price_changes,
)
ACCEPTED: Final = {
    "hot-partition Tenant.TenantStatusIndex": (
        "tenants are listed by one of four statuses; a range of dates limits what is read"
    ),
    "hot-partition Tenant.ActiveIndex": "active tenants are listed, 100 to a page at the most",
    "hot-partition Product.ProductActiveIndex": "fewer than 100 products are expected",
    "hot-partition Campaign.CampaignActiveIndex": "fewer than 50 campaigns are expected",
    "hot-partition Campaign.ActiveIndex": "fewer than 50 campaigns are expected",
}
DUPLICATE: Final = {
    "hot-partition Product.ActiveIndex": "fewer than 100 products are expected",
    "duplicate-index products.ActiveIndex": (
        "every table has it, for one name across all of them; each write of a product"
        " pays one more write unit for it, and portal(duplicate_index=False) does without"
    ),
}


def portal(*, duplicate_index: bool = True, anonymise: bool = False) -> System:
    """The system, as somebody wants to run it.

    Without `duplicate_index`, products have no ActiveIndex beside the ProductActiveIndex that has
    the same keys. With `anonymise`, tenants can be anonymised.
    """
    return System(
        "portal",
        (
            TENANTS,
            PRODUCTS if duplicate_index else products_without_duplicate(),
            CAMPAIGNS,
            ORDERS,
            AUDIT,
            CODES,
        ),
        modules=(*MODULES, *([erasure] if anonymise else [])),
        accepted={**ACCEPTED, **(DUPLICATE if duplicate_index else {})},
        demo=DEMO,
    )


SYSTEM: Final = portal()
