"""The systems that the site is made of, and the site itself as one."""

from __future__ import annotations

from typing import Final

from bigtime.model import System
from bigtime.site import (
    catalog_projection,
    checkout,
    editing,
    engagement,
    featured_slots,
    idempotency,
    mail,
    mailbox_check,
    members,
    plan_orders,
    priced_cart,
    registration,
    reminders,
    visitor,
    worker_report,
)
from bigtime.site.design import SITE_TABLE
from bigtime.systems.accounts import SYSTEM as ACCOUNTS
from bigtime.systems.cart import SYSTEM as CART
from bigtime.systems.catalog import SYSTEM as CATALOG
from bigtime.systems.deals import SYSTEM as DEALS
from bigtime.systems.portal import SYSTEM as PORTAL
from bigtime.systems.sessions import SYSTEM as SESSIONS
from bigtime.systems.shop import SYSTEM as SHOP

PARTS: Final[tuple[System, ...]] = (DEALS, CATALOG, CART, SHOP, SESSIONS, ACCOUNTS, PORTAL)

SITE: Final = System(
    "site",
    (SITE_TABLE,),
    modules=(
        visitor,
        members,
        priced_cart,
        checkout,
        engagement,
        catalog_projection,
        editing,
        featured_slots,
        mailbox_check,
        registration,
        plan_orders,
        reminders,
        mail,
        idempotency,
        worker_report,
    ),
    accepted={
        "hot-partition Worker": "one item, written every five seconds by one process",
        "hot-partition DemoData": "one item, written twice when the demo data is loaded",
    },
    uses=PARTS,
)

SYSTEMS: Final[tuple[System, ...]] = (*PARTS, SITE)
"""All systems of the site, and the site itself."""

NO_PATTERN: Final = "no pattern"

LABELS: Final = {
    named.name.qualified: f"{system.name}.{named.name}"
    for system in SYSTEMS
    for declared in (system.patterns, system.reactions)
    for named in declared.values()
}


def pattern_label(qualified: str | None) -> str:
    """What metrics call a pattern or a reaction, such as `deals.fetch_deal`."""
    return LABELS.get(qualified or "", NO_PATTERN)
