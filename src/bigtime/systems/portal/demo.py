"""Demo data: a small South African hosting company, its customers, and their histories.

Everything is as the portal would have written it, with an audit chain for each record, in a year
that ends at `until`. A customer's history depends on the customer's number, so that the number of
entities is known before any is generated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any, Final, Generic, NamedTuple, TypeVar

from bigtime import model as bt
from bigtime.systems.portal import design
from bigtime.systems.portal.campaigns import is_valid
from bigtime.systems.portal.chain import SALT_BYTES, next_entry
from bigtime.systems.portal.design import Action, AuditEntry, Campaign, Product, Record, Tenant
from bigtime.systems.portal.orders import item_of, snapshot
from bigtime.systems.portal.records import edit_of, record_entry, with_fields
from bigtime.systems.portal.values import BillingCycle, Status, random_id, timed_id

# The products, customers and campaigns


class Plan(NamedTuple):
    """A product, the prices that it has had, and whether it is still on sale."""

    name: str
    description: str
    prices: tuple[str, ...]
    cycle: BillingCycle
    features: tuple[str, ...]
    sold: bool = True


class Promotion(NamedTuple):
    """A campaign for one of the plans, by its place in the list."""

    code: str
    description: str
    discount: str
    plan: int
    first: date
    last: date
    running: bool = True


def read_plan(text: str) -> Plan:
    """Parses a paragraph: name, cycle and prices; description; features."""
    facts, description, features = text.splitlines()
    name, cycle, prices, *withdrawn = facts.split(" | ")
    return Plan(
        name,
        description,
        tuple(prices.split()),
        BillingCycle(cycle),
        tuple(features.split(" | ")),
        sold=not withdrawn,
    )


def read_promotion(text: str) -> Promotion:
    """Parses a paragraph: code, discount, plan, first and last day; description."""
    facts, description = text.splitlines()
    code, discount, plan, first, last, *withdrawn = facts.split(" | ")
    days = date.fromisoformat(first), date.fromisoformat(last)
    return Promotion(code, description, discount, int(plan), *days, running=not withdrawn)


PLANS: Final = [
    read_plan(text)
    for text in """\
WordPress Starter Plan | monthly | 79.00 89.00
One WordPress site for a first shop window, hosted in Johannesburg.
1 WordPress site | 10GB storage | Free SSL certificate | Weekly backups

WordPress Professional Plan | monthly | 249.99 279.99 299.99
Professional WordPress hosting with advanced features.
Up to 10 WordPress sites | 100GB storage | Unlimited bandwidth | Daily backups | Priority support

WordPress Professional Plan, Yearly | yearly | 2999.90
The professional plan, paid once a year: twelve months for the price of ten.
Up to 10 WordPress sites | 100GB storage | Daily backups | Priority support

WooCommerce Store | monthly | 449.00 479.00
A shop that takes cards and instant transfers from day one.
1 online shop | Ready for payments | Hourly backups | 50GB storage

Agency Plan | monthly | 1299.00
Fifty client sites under one roof, with staging and a login for each client.
Up to 50 WordPress sites | 500GB storage | Staging sites | Client logins

Business Mail | monthly | 45.00 49.00
Mailboxes on your own domain, with spam filter and calendar.
10 mailboxes | 50GB each | Calendar and contacts | Spam filter

VPS Johannesburg 4GB | monthly | 389.00
A virtual server in Johannesburg, three milliseconds from the exchange.
2 vCPU | 4GB memory | 80GB NVMe | Power backed up through load-shedding

VPS Cape Town 8GB | monthly | 689.00 659.00
A virtual server in Cape Town for those who need room to grow.
4 vCPU | 8GB memory | 160GB NVMe | Power backed up through load-shedding

.co.za Domain | yearly | 89.00 99.00
Your name in South Africa, registered in an hour.
Free DNS | WHOIS privacy | Renewal reminders

Site Care | monthly | 199.00
We update plugins, watch the site and put it back when something breaks.
Plugin updates | Uptime watch | Two hours of work a month

Shared Hosting Classic | monthly | 59.00 | withdrawn
The cPanel hosting of old; customers have moved to the WordPress plans.
1 site | 5GB storage""".split("\n\n")
]

PROMOTIONS: Final = [
    read_promotion(text)
    for text in """\
SWITCH2US | 20 | 1 | 2025-10-01 | 2029-09-30
Move your site to us and pay a fifth less.

STARTUP_ZA | 35 | 3 | 2025-11-01 | 2029-10-31
For companies in their first year.

COZA_PLUS | 50 | 8 | 2025-09-01 | 2029-08-31
A .co.za name with every new plan, at half a year's price.

SUMMER2025 | 20 | 1 | 2025-06-01 | 2029-08-31
The summer offer of 2025, which so many liked that it goes on.

HERITAGE_2025 | 24.09 | 0 | 2025-09-15 | 2025-09-30
Heritage Day special on the starter plan.

BLACK_FRIDAY_2025 | 33.33 | 4 | 2025-11-28 | 2025-12-01
Four days, a third off agency hosting.

YOUTH_MONTH_2026 | 40 | 5 | 2026-06-01 | 2026-06-30
June is for the young: mail for student start-ups.

JOZI_VPS_2030 | 15 | 6 | 2030-02-01 | 2030-04-30
A new hall in Johannesburg opens its doors.

SUMMER2030 | 20 | 1 | 2030-12-01 | 2031-02-28
Summer 2030 special offer on the professional plan.

CLASSIC_CLEARANCE | 10 | 10 | 2025-10-01 | 2026-12-31 | withdrawn
Last call for classic hosting; withdrawn with the product.

EASTER_EGG | 99.99 | 9 | 2026-04-03 | 2026-04-06 | withdrawn
A joke of the marketing team, withdrawn the same day.""".split("\n\n")
]

FIRST_NAMES: Final = (
    "Thabo Lerato Sipho Nomsa Pieter Annelie Zanele Kagiso Ayesha Imraan Fatima Johan Mandla"
    " Naledi Bongani Priya Riaan Thandi Lwazi Karin Sibusiso Michelle Tebogo Anika Yusuf Palesa"
    " Dirk Refilwe"
).split()
SURNAMES: Final = (
    "Mokoena Dlamini Botha Naidoo vanWyk Khumalo Pillay Nkosi Jacobs Mahlangu Petersen Govender"
    " Molefe Coetzee Zulu Adams Ndlovu Steyn Maseko Essop Tshabalala Fourie Sithole Davids"
).split()
TRADES: Final = (
    "Roasters Plumbing Attorneys Bakery Architects Safaris Dental Tyres Films Farms Physio"
    " Guesthouse Electrical Designs Motors Tutors Catering Florists Logistics Studio"
).split()
PLACES: Final = (
    "Karoo Umhlanga Soweto Stellenbosch Limpopo Sandton Knysna Bloem Midrand Overberg Maboneng"
    " Drakensberg Paarl Polokwane Gqeberha Zululand"
).split()


R = TypeVar("R", bound=Record)

OPENED: Final = timedelta(days=480)
"""How long ago the company opened."""
FIRST_CUSTOMER: Final = timedelta(days=380)
ADMIN: Final = "admin@portal.example"
CUSTOMERS: Final[Mapping[bt.Scale, int]] = {
    bt.Scale.SMALL: 40,
    bt.Scale.MEDIUM: 2_000,
    bt.Scale.LARGE: 50_000,
}


class Life(Generic[R]):
    """A record as it is now, and its audit entries."""

    def __init__(self, record: R, random: Random) -> None:
        self.record = record
        self.random = random
        self.entries: list[AuditEntry] = []
        self.tell(Action.CREATED, None, record)

    def tell(
        self, action: Action, before: Record | None, after: Record, reason: str | None = None
    ) -> None:
        last = self.entries[-1] if self.entries else None
        salt = self.random.randbytes(SALT_BYTES)
        entry = record_entry(last, after, action, salt, reason=reason, before=before)
        self.entries.append(entry)

    def change(
        self,
        fields: Mapping[str, object],
        at: datetime,
        by: str,
        action: Action | None = None,
        reason: str | None = None,
    ) -> None:
        stamps = {"date_last_updated": at, "last_updated_by": by}
        after = with_fields(self.record, {**fields, **stamps})
        self.tell(action or edit_of(self.record, after), self.record, after, reason)
        self.record = after

    def entities(self) -> Iterator[bt.Entity]:
        yield self.record
        yield from self.entries


def stamps(at: datetime, by: str) -> dict[str, Any]:
    return {"date_created": at, "date_last_updated": at, "last_updated_by": by}


# Products


def product_life(place: int, plan: Plan, random: Random, until: datetime) -> Life[Product]:
    opened = until - OPENED + timedelta(days=place)
    product = Product(
        id=random_id("prod", random.randbytes(16)),
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
    """The entries that the stream's reaction would have written for each new price."""
    last: AuditEntry | None = None
    for entry in life.entries:
        old, new = entry.before or {}, entry.after or {}
        if not old or old["price"] == new["price"]:
            continue
        last = next_entry(
            last,
            design.Audited.PRICES,
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
        id=random_id("camp", random.randbytes(16)),
        code=promotion.code,
        description=promotion.description,
        discount_percentage=Decimal(promotion.discount),
        product_id=product.id,
        terms_conditions_link=f"https://portal.example/terms/campaigns/{promotion.code.lower()}",
        from_date=promotion.first,
        to_date=promotion.last,
        **stamps(min(announced, until - timedelta(days=9)), ADMIN),
    )
    life = Life(campaign, random)
    if not promotion.running:
        life.change({"active": False}, until - timedelta(days=8), ADMIN)
    return life


@dataclass(frozen=True, slots=True)
class Offering:
    """The products and campaigns that customers choose from."""

    products: list[Product]
    campaigns: list[Campaign]

    def campaign_for(self, product: Product, at: datetime) -> Campaign | None:
        """A campaign that a customer could have used on that day."""
        day = at.date()
        fitting = (campaign for campaign in self.campaigns if campaign.product_id == product.id)
        return next((campaign for campaign in fitting if is_valid(campaign, day)), None)


# Customers


@dataclass(frozen=True, slots=True)
class Story:
    """How far a customer gets in the lifecycle, and how often it orders."""

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
        """How many: the tenant, its marker and its chain; each order and its entry."""
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
        id=random_id("tenant", random.randbytes(16)),
        email=address(number, random),
        **stamps(since, design.SYSTEM_ACTOR),
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


def order_life(
    tenant: Tenant, at: datetime, offered: Offering, random: Random
) -> Life[design.Order]:
    chosen = {plan.id: plan for plan in random.sample(offered.products, random.choice((1, 1, 2)))}
    first = next(iter(chosen.values()))
    campaign = offered.campaign_for(first, at)
    items = [item_of(plan, random.choice((1, 1, 1, 2)), campaign) for plan in chosen.values()]
    order = design.Order(
        id=timed_id("order", at, random.randbytes(16)),
        tenant_id=tenant.id,
        items=items,
        campaign=snapshot(campaign, chosen) if campaign else None,
        total=sum((item.quantity * item.unit_price for item in items), Decimal(0)),
        **stamps(at, tenant.id),
    )
    return Life(order, random)


# Everything


def entities(scale: bt.Scale, random: Random, until: datetime = bt.UNTIL) -> Iterator[bt.Entity]:
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
    offered = Offering(
        [product.record for product in products if product.record.active],
        [campaign.record for campaign in campaigns],
    )
    for number in range(CUSTOMERS[scale]):
        yield from customer(number, offered, random, until)


def customer(
    number: int, offered: Offering, random: Random, until: datetime
) -> Iterator[bt.Entity]:
    story = STORIES[number % len(STORIES)]
    seconds = int(FIRST_CUSTOMER.total_seconds()) - 5 * 86_400
    since = until - FIRST_CUSTOMER + timedelta(seconds=random.randrange(seconds))
    life = tenant_life(number, story, since, random)
    yield from life.entities()
    yield design.EmailMarker(address=life.record.email, tenant_id=life.record.id)
    for place in range(story.orders):
        at = since + timedelta(minutes=5, hours=4 * place)
        yield from order_life(life.record, at, offered, random).entities()


def count(scale: bt.Scale) -> int:
    products = sum(2 * len(plan.prices) + (not plan.sold) for plan in PLANS)
    campaigns = sum(2 + (not promotion.running) for promotion in PROMOTIONS)
    whole, rest = divmod(CUSTOMERS[scale], len(STORIES))
    sizes = [story.entities for story in STORIES]
    return products + campaigns + whole * sum(sizes) + sum(sizes[:rest])


DEMO: Final = bt.Demo(entities=entities, count=count)
