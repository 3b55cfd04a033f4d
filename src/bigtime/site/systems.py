"""The systems that the site is made of, and the site itself as one."""

from __future__ import annotations

from typing import Final

from bigtime import model as bt
from bigtime.site import (
    catalog_projection,
    checkout,
    daily_units,
    design,
    editing,
    engagement,
    idempotency,
    mail,
    mailbox_check,
    plan_orders,
    priced_cart,
    rate_limits,
    registration,
    saved_forms,
    visitor,
    watches,
)
from bigtime.systems import accounts, cart, catalog, deals, portal, sessions, shop

PARTS: Final[tuple[bt.System, ...]] = (
    deals.SYSTEM,
    catalog.SYSTEM,
    cart.SYSTEM,
    shop.SYSTEM,
    sessions.SYSTEM,
    accounts.SYSTEM,
    portal.SYSTEM,
)

SITE: Final = bt.System(
    "site",
    (design.SITE_TABLE,),
    modules=(
        visitor,
        priced_cart,
        checkout,
        engagement,
        catalog_projection,
        watches,
        editing,
        mailbox_check,
        registration,
        plan_orders,
        mail,
        idempotency,
        rate_limits,
        daily_units,
        saved_forms,
        design,
    ),
    accepted={
        "hot-partition Worker": "one item, written every five seconds by one process",
        "hot-partition WriteCheck": "one item, written every few seconds by each process",
        "hot-partition DemoData": "one item, written twice when the demo data is loaded",
    },
    uses=PARTS,
    environments=portal.SYSTEM.environments,
)

SYSTEMS: Final[tuple[bt.System, ...]] = (*PARTS, SITE)
"""All systems of the site, and the site itself."""

LAKES: Final = tuple(lake for system in SYSTEMS for lake in system.lakes)
"""The entities whose changes are kept for analytics."""

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
