"""A person with something in every system, and what a table still says of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from bigtime import site
from bigtime.engine import Engine
from bigtime.model import Ksuid, put, random_bytes
from bigtime.site.api_tokens import ApiArea
from bigtime.site.notifications import change_settings
from bigtime.site.user_admin import end_sessions
from bigtime.store import Store, consume
from bigtime.systems import accounts, cart, catalog, deals, portal, sessions, shop
from bigtime.testing import Clock
from bigtime.wire import Request
from tests.furnished import furnished_engine
from tests.web.browsing import furnish_site

PASSWORD = "correct horse"
ADDRESS = shop.Address(
    recipient="Alex Doe", street="1 Main Street", city="Town", postal_code="1234", country="Land"
)


class SiteScene:
    """The site's tables on an engine, with a clock that can be moved."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self.engine = engine
        self.clock = clock
        self.store = Store(engine, clock=clock)

    def run(self, steps: Any) -> Any:
        return self.store.run(steps)

    def join(self, username: str, *roles: accounts.Role) -> None:
        login, given = f"{username}@example.com", {accounts.Role.SHOPPER, *roles}
        self.run(site.join(login, PASSWORD, username, roles=given))

    def live(self, username: str) -> Ksuid:
        """Does all that a user can do; gives the id of their order."""
        login = f"{username}@example.com"
        self.run(sessions.create_session(sessions.hash_token(username), login, device="Firefox"))
        self.run(deals.like_brand("APPLE", username))
        self.run(deals.like_category("HOME", username))
        self.run(site.watch_brand("APPLE", username))
        self.run(site.watch_category("HOME", username))
        moment = self.clock()
        deal_id = Ksuid.make(moment, self.run(random_bytes(16)))
        self.run(put(deals.Message(
            username=username, message_id=Ksuid.make(moment, self.run(random_bytes(16))),
            kind=deals.MessageKind.HOT, deal_id=deal_id, subject="A lamp",
        )))  # fmt: skip
        saved = deals.SavedDeal(title="A lamp", price=Decimal("2.50"), saved_at=moment)
        self.run(put(deals.SavedDeals(username=username, deals={str(deal_id): saved})))
        self.run(catalog.record_activity(catalog.UserActivity(
            user_id=username, timestamp=moment, activity_id="a1", activity_type="deal_view",
        )))  # fmt: skip
        for sku in ("LAMP", "TEA"):
            self.run(cart.put_in_cart(username, sku, Decimal("2.50"), 1))
        self.run(shop.save_address(username, "Home", ADDRESS))
        order_id = Ksuid.make(moment, self.run(random_bytes(16)))
        item = shop.OrderedItem(item_id="LAMP", price=Decimal("2.50"), count=2, title="A lamp")
        self.run(shop.save_order(username, order_id, [item], ship_to=ADDRESS))
        self.run(cart.purchase(username, order_id))
        self.run(cart.put_in_cart(username, "MILK", Decimal("1.50"), 1))
        self.use_extras(username)
        self.follow_orders()
        return order_id

    def use_extras(self, username: str) -> None:
        """Saves a deal, asks for a digest, makes a token; an admin looks after the account."""
        login = f"{username}@example.com"
        link = "https://shop.example/lamp"
        deal = self.run(deals.create_deal("A lamp", link, Decimal(9), "Apple", "Home"))
        self.run(deals.save_deal(deal.deal_id, username))
        self.run(change_settings(username, digest=True))
        owner = self.run(accounts.view_account(login))
        digest = site.hash_api_token(f"token of {username}")
        self.run(site.create_api_token(owner, digest, "A script", [ApiArea.DEALS]))
        self.run(end_sessions(login, by="ada"))
        self.run(sessions.create_session(sessions.hash_token(username), login, device="Firefox"))

    def follow_orders(self) -> None:
        """What the worker does of the orders."""
        reaction = site.SITE.reactions["follow_orders"]
        name = reaction.table.name
        consume(self.store, name, reaction.handle, name="site.follow_orders").run_once()

    def become_tenant(self, username: str) -> str:
        tenant = self.run(portal.tenant_at_checkout(f"{username}@example.com"))
        return str(tenant.id)

    def erase(self) -> None:
        """What the worker does until the deletion is done, but for the copies."""
        self.run(site.continue_erasures())
        self.clock.advance(minutes=6)
        self.run(site.continue_erasures())
        self.follow_orders()

    def items(self) -> list[tuple[str, str]]:
        """Every item of every table of the site, as text."""
        found: list[tuple[str, str]] = []
        for system in site.SYSTEMS:
            for table in system.tables:
                page = self.store.send(Request("Scan", {"TableName": table.name}))
                assert "LastEvaluatedKey" not in page
                found += [(table.name, str(item)) for item in page["Items"]]
        return found

    def traces(self, *ids: str) -> list[tuple[str, str]]:
        """The items that have one of these texts in them, but for the task and the letter."""
        return [
            (table, text)
            for table, text in self.items()
            if any(id in text for id in ids)
            and not any(f"'{kind}'" in text for kind in ("Erasure", "Mail", "TryCount"))
        ]


def open_scene() -> tuple[Engine, SiteScene]:
    # One that rests: by its own clock, what is written at the scene's might have expired.
    engine = furnished_engine(furnish_site, housekeeping=False)
    clock = Clock()
    clock.stop(datetime.now(UTC) - timedelta(hours=1))
    return engine, SiteScene(engine, clock)
