"""Demo data: a small South African hosting house, its customers, and their histories.

Everything is made as the portal would have made it, with an audit chain behind each record, in a
year that ends `until` some moment. What becomes of a customer goes by the number of the customer,
so that the number of entities is known before any is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final, Generic, TypeVar

from bigtime.model import UNTIL, Demo, Entity, Scale
from bigtime.systems.portal.chain import SALT_BYTES, next_entry, state_of
from bigtime.systems.portal.demo_catalogue import (
    FIRST_NAMES,
    PLACES,
    PLANS,
    PROMOTIONS,
    SURNAMES,
    TRADES,
    Plan,
    Promotion,
)
from bigtime.systems.portal.design import (
    SYSTEM_ACTOR,
    Action,
    Audited,
    AuditEntry,
    Campaign,
    EmailMarker,
    Order,
    Product,
    Record,
    Tenant,
)
from bigtime.systems.portal.history import TABLES, but, edit_of
from bigtime.systems.portal.offers import is_valid
from bigtime.systems.portal.orders import item_of, snapshot
from bigtime.systems.portal.values import Status, made_id, timed_id

R = TypeVar("R", bound=Record)

OPENED: Final = timedelta(days=480)
"""How long ago the house opened."""
FIRST_CUSTOMER: Final = timedelta(days=380)
ADMIN: Final = "admin@kimmyai.io"
CUSTOMERS: Final[Mapping[Scale, int]] = {
    Scale.SMALL: 40,
    Scale.MEDIUM: 2_000,
    Scale.LARGE: 50_000,
}


class Life(Generic[R]):
    """A record as it is now, and what it has been through."""

    def __init__(self, record: R, random: Random) -> None:
        self.record = record
        self.random = random
        self.entries: list[AuditEntry] = []
        self.tell(Action.CREATED, None, record)

    def tell(
        self, action: Action, before: Record | None, after: Record, reason: str | None = None
    ) -> None:
        entry = next_entry(
            self.entries[-1] if self.entries else None,
            TABLES[type(after)],
            after.id,
            action=action,
            at=after.date_last_updated,
            actor=after.last_updated_by,
            salt=self.random.randbytes(SALT_BYTES),
            reason=reason,
            before=state_of(before) if before else None,
            after=state_of(after),
        )
        self.entries.append(entry)

    def change(
        self,
        fields: Mapping[str, Any],
        at: datetime,
        by: str,
        action: Action | None = None,
        reason: str | None = None,
    ) -> None:
        stamps = {"date_last_updated": at, "last_updated_by": by}
        after = but(self.record, {**fields, **stamps})
        self.tell(action or edit_of(self.record, after), self.record, after, reason)
        self.record = after

    def entities(self) -> Iterator[Entity]:
        yield self.record
        yield from self.entries


def stamps(at: datetime, by: str) -> dict[str, Any]:
    return {"date_created": at, "date_last_updated": at, "last_updated_by": by}


# What is sold


def product_life(place: int, plan: Plan, random: Random, until: datetime) -> Life[Product]:
    opened = until - OPENED + timedelta(days=place)
    product = Product(
        id=made_id("prod", random.randbytes(16)),
        name=plan.name,
        description=plan.description,
        price=Decimal(plan.prices[0]),
        features=list(plan.features),
        billing_cycle=plan.cycle,
        **stamps(opened, ADMIN),
    )
    life = Life(product, random)
    for number, price in enumerate(plan.prices[1:], 1):
        life.change({"price": Decimal(price)}, opened + timedelta(days=35 * number), ADMIN)
    if not plan.sold:
        life.change({"active": False}, until - timedelta(days=60), ADMIN)
    return life


def price_entries(life: Life[Product]) -> Iterator[AuditEntry]:
    """What the stream's consumer would have noted of each new price."""
    last: AuditEntry | None = None
    for entry in life.entries:
        old, new = entry.before or {}, entry.after or {}
        if not old or old["price"] == new["price"]:
            continue
        last = next_entry(
            last,
            Audited.PRICES,
            entry.id,
            action=Action.PRICE_CHANGED,
            at=entry.at,
            actor=entry.actor,
            salt=life.random.randbytes(SALT_BYTES),
            before={"price": old["price"]},
            after={"price": new["price"]},
            event=f"demo-{entry.sequence}",
        )
        yield last


def campaign_life(
    promotion: Promotion, product: Product, random: Random, until: datetime
) -> Life[Campaign]:
    announced = datetime.combine(promotion.first, time(7, 30), UTC) - timedelta(days=21)
    campaign = Campaign(
        id=made_id("camp", random.randbytes(16)),
        code=promotion.code,
        description=promotion.description,
        discount_percentage=Decimal(promotion.discount),
        product_id=product.id,
        terms_conditions_link=f"https://kimmyai.io/terms/campaigns/{promotion.code.lower()}",
        from_date=promotion.first,
        to_date=promotion.last,
        **stamps(min(announced, until - timedelta(days=9)), ADMIN),
    )
    life = Life(campaign, random)
    if not promotion.running:
        life.change({"active": False}, until - timedelta(days=8), ADMIN)
    return life


@dataclass(frozen=True, slots=True)
class Offered:
    """What customers choose from."""

    products: list[Product]
    campaigns: list[Campaign]

    def campaign_for(self, product: Product, at: datetime) -> Campaign | None:
        """A campaign that a customer of that day could have used."""
        day = at.date()
        fitting = (campaign for campaign in self.campaigns if campaign.product_id == product.id)
        return next((one for one in fitting if is_valid(one, day)), None)


# Who buys


@dataclass(frozen=True, slots=True)
class Story:
    """How far a customer comes, and how often it orders."""

    status: Status
    orders: int
    is_business: bool = False
    is_deleted: bool = False

    @property
    def entries(self) -> int:
        moves = [Status.UNVALIDATED, Status.VALIDATED, Status.REGISTERED, Status.SUSPENDED]
        return moves.index(self.status) + 1 + self.is_business + self.is_deleted

    @property
    def entities(self) -> int:
        """The tenant, its marker, its chain; each order and its entry."""
        return 2 + self.entries + 2 * self.orders


STORIES: Final = (
    Story(Status.REGISTERED, 2, is_business=True),
    Story(Status.REGISTERED, 1),
    Story(Status.UNVALIDATED, 1),
    Story(Status.REGISTERED, 3, is_business=True),
    Story(Status.VALIDATED, 1),
    Story(Status.REGISTERED, 1),
    Story(Status.UNVALIDATED, 0),
    Story(Status.SUSPENDED, 1),
    Story(Status.REGISTERED, 2),
    Story(Status.REGISTERED, 1, is_deleted=True),
)


def address(number: int, random: Random) -> str:
    name = f"{random.choice(FIRST_NAMES)}.{random.choice(SURNAMES)}".lower()
    return f"{name}{number}@{random.choice(PLACES).lower()}.example"


def tenant_life(number: int, story: Story, since: datetime, random: Random) -> Life[Tenant]:
    tenant = Tenant(
        id=made_id("tenant", random.randbytes(16)),
        email=address(number, random),
        **stamps(since, SYSTEM_ACTOR),
    )
    life, hour = Life(tenant, random), timedelta(hours=1)
    moved = Action.STATUS_CHANGED
    if story.status != Status.UNVALIDATED:
        life.change({"status": Status.VALIDATED}, since + hour, tenant.id, moved)
    if story.status in (Status.REGISTERED, Status.SUSPENDED):
        life.change({"status": Status.REGISTERED}, since + 2 * hour, tenant.id, moved)
    if story.is_business:
        name = f"{random.choice(PLACES)} {random.choice(TRADES)}"
        forms = f"forms{number}@{name.split()[1].lower()}.example"
        fields = {"organization_name": f"{name} (Pty) Ltd", "destination_email": forms}
        life.change(fields, since + 3 * hour, tenant.id)
    if story.status == Status.SUSPENDED:
        fields = {"status": Status.SUSPENDED, "previous_status": Status.REGISTERED}
        reason = "Three invoices unpaid"
        life.change(fields, since + 90 * hour, ADMIN, Action.STATUS_OVERRIDDEN, reason)
    if story.is_deleted:
        life.change({"active": False}, since + 100 * hour, ADMIN)
    return life


def order_life(tenant: Tenant, at: datetime, offered: Offered, random: Random) -> Life[Order]:
    chosen = {one.id: one for one in random.sample(offered.products, random.choice((1, 1, 2)))}
    first = next(iter(chosen.values()))
    campaign = offered.campaign_for(first, at)
    items = [item_of(one, random.choice((1, 1, 1, 2)), campaign) for one in chosen.values()]
    order = Order(
        id=timed_id("order", at, random.randbytes(16)),
        tenant_id=tenant.id,
        items=items,
        campaign=snapshot(campaign, chosen) if campaign else None,
        total=sum((item.quantity * item.unit_price for item in items), Decimal(0)),
        **stamps(at, tenant.id),
    )
    return Life(order, random)


# All of it


def entities(scale: Scale, random: Random, until: datetime = UNTIL) -> Iterator[Entity]:
    products = [product_life(place, plan, random, until) for place, plan in enumerate(PLANS)]
    campaigns = [
        campaign_life(promotion, products[promotion.plan].record, random, until)
        for promotion in PROMOTIONS
    ]
    for product in products:
        yield from product.entities()
        yield from price_entries(product)
    for campaign in campaigns:
        yield from campaign.entities()
    offered = Offered(
        [one.record for one in products if one.record.active], [one.record for one in campaigns]
    )
    for number in range(CUSTOMERS[scale]):
        yield from customer(number, offered, random, until)


def customer(number: int, offered: Offered, random: Random, until: datetime) -> Iterator[Entity]:
    story = STORIES[number % len(STORIES)]
    seconds = int(FIRST_CUSTOMER.total_seconds()) - 5 * 86_400
    since = until - FIRST_CUSTOMER + timedelta(seconds=random.randrange(seconds))
    life = tenant_life(number, story, since, random)
    yield from life.entities()
    yield EmailMarker(address=life.record.email, tenant_id=life.record.id)
    for place in range(story.orders):
        at = since + timedelta(minutes=5, hours=4 * place)
        yield from order_life(life.record, at, offered, random).entities()


def count(scale: Scale) -> int:
    products = sum(2 * len(plan.prices) + (not plan.sold) for plan in PLANS)
    campaigns = sum(2 + (not promotion.running) for promotion in PROMOTIONS)
    whole, rest = divmod(CUSTOMERS[scale], len(STORIES))
    sizes = [story.entities for story in STORIES]
    return products + campaigns + whole * sum(sizes) + sum(sizes[:rest])


DEMO: Final = Demo(entities=entities, count=count)
