"""The systems that the site is made of, and the site itself as one."""

from __future__ import annotations

from typing import Final

from bigtime import model as bt
from bigtime.site import (
    api_tokens,
    catalog_projection,
    checkout,
    daily_units,
    design,
    digest,
    editing,
    email_change,
    engagement,
    erasure,
    guest_cart,
    idempotency,
    mail,
    mailbox_check,
    notifications,
    order_queue,
    pictures,
    plan_orders,
    priced_cart,
    rate_limits,
    registration,
    saved_forms,
    user_admin,
    visitor,
)
from bigtime.site.personal import PERSONAL
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
        api_tokens,
        priced_cart,
        guest_cart,
        checkout,
        order_queue,
        engagement,
        catalog_projection,
        editing,
        mailbox_check,
        registration,
        email_change,
        notifications,
        digest,
        plan_orders,
        mail,
        idempotency,
        rate_limits,
        daily_units,
        saved_forms,
        user_admin,
        erasure,
        pictures,
        design,
    ),
    accepted={
        "hot-partition Worker": "one item, written every five seconds by one process",
        "hot-partition WriteCheck": "one item, written every few seconds by each process",
        "hot-partition Erasure": "an item for each account that is being deleted, for a day",
        "hot-partition UnusedPicture": "a few items a day: the pictures that were replaced",
        "hot-partition DemoData": "one item, written twice when the demo data is loaded",
    },
    copies=(order_queue.QUEUE,),
    uses=PARTS,
    branches=accounts.BRANCHES,
    environments=portal.SYSTEM.environments,
    personal=PERSONAL,
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
    """The label of a pattern or a reaction in metrics, such as `deals.fetch_deal`."""
    return LABELS.get(qualified or "", NO_PATTERN)
