"""Deleting an account erases what belongs to it, whatever happens in between, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from bigtime import site
from bigtime.model import Change, update, verify
from bigtime.site.design import transact_once
from bigtime.site.erasure import declared_data, erase_account
from bigtime.site.order_queue import follow_orders, view_order_queue
from bigtime.site.visitor import fetch_visitor
from bigtime.store import Store
from bigtime.systems import accounts, cart, deals, portal, sessions, shop
from bigtime.systems.shop.customer import anonymise_order
from bigtime.wire import Request
from tests.site.person import PASSWORD, SiteScene, open_scene

PERSON_FIELDS = frozenset(
    "account_id actor address asked_by by changed_by customer destination_email editor email holder"
    " last_updated_by login owner recipient sender tenant_id to user user_id username who".split()
)
"""Names of fields that hold a person's id or address, or may."""


@pytest.fixture
def scene() -> Iterator[SiteScene]:
    engine, scene = open_scene()
    with engine:
        yield scene


def test_every_field_that_names_a_person_is_declared() -> None:
    """A new entity says in its system's `personal` how it is exported and erased, or why not."""
    listed = {data.entity for _, data in declared_data() if data.find is not None}
    told = {(data.entity, data.field) for _, data in declared_data()}
    left = [
        f"{system.name}: {entity.__name__}.{field}"
        for system in site.SYSTEMS
        for entity in system.entities
        for field in sorted(PERSON_FIELDS & {*entity.model_fields})
        if entity not in listed and (entity, field) not in told
    ]
    assert left == []


def test_what_is_erased_not_or_not_whole_says_why() -> None:
    for _, data in declared_data():
        if data.find is None or (data.erase is None and data.goes_with is None):
            assert data.kept.endswith("."), data.entity


def test_nothing_is_left_of_an_account_but_what_the_books_need(scene: SiteScene) -> None:
    scene.join("alex")
    order_id = scene.live("alex")
    tenant_id = scene.become_tenant("alex")
    assert len(scene.traces("alex")) > 15
    erasure = scene.run(site.delete_account("alex@example.com", PASSWORD))
    assert erasure.tenant_id == tenant_id
    scene.erase()
    assert scene.traces("alex", "Alex Doe", "Main Street") == []

    whole = scene.run(shop.view_order(order_id))
    assert whole.order.username == erasure.pseudonym
    assert whole.order.ship_to is None and len(whole.items) == 1
    purchased = scene.run(cart.view_products(erasure.pseudonym, cart.Status.PURCHASED))
    assert {line.item_sku for line in purchased} == {"LAMP", "TEA"}
    queued = scene.run(view_order_queue())
    assert [order.username for order in queued] == [erasure.pseudonym]
    tenant = scene.run(portal.get_tenant(tenant_id, include_inactive=True))
    assert not tenant.active and tenant.email == f"{tenant_id}@erased.invalid"


def test_counts_stay_right_and_others_keep_all(scene: SiteScene) -> None:
    for name in ("alex", "bo"):
        scene.join(name)
        scene.live(name)
    before = len(scene.traces("'bo", "#bo", "bo@"))
    scene.run(site.delete_account("alex@example.com", PASSWORD))
    scene.erase()
    assert len(scene.traces("'bo", "#bo", "bo@")) == before
    brand = scene.run(deals.fetch_brand("APPLE"))
    assert (brand.like_count, brand.watch_count) == (1, 1)
    assert scene.run(verify(deals.SYSTEM)) == []


def test_the_account_is_closed_at_once(scene: SiteScene) -> None:
    scene.join("alex")
    scene.live("alex")
    cookie = "token"
    scene.run(sessions.create_session(sessions.hash_token(cookie), "alex@example.com"))
    assert scene.run(fetch_visitor(cookie)) is not None
    scene.run(site.delete_account("alex@example.com", PASSWORD))
    assert scene.run(fetch_visitor(cookie)) is None
    with pytest.raises(accounts.WrongCredentials):
        scene.run(accounts.verify_password("alex@example.com", PASSWORD))
    with pytest.raises(accounts.WrongCredentials):
        scene.run(site.delete_account("alex@example.com", PASSWORD))
    with pytest.raises(accounts.LoginTaken):
        scene.join("alex")


def test_the_names_are_free_when_it_is_done_and_a_letter_says_so(scene: SiteScene) -> None:
    scene.join("alex")
    erasure = scene.run(site.delete_account("alex@example.com", PASSWORD))
    scene.run(site.continue_erasures())
    with pytest.raises(accounts.LoginTaken):
        scene.join("alex")
    scene.erase()
    (mail,) = scene.run(site.view_outbox())
    assert (mail.to, mail.subject) == ("alex@example.com", "Your account was deleted")
    scene.join("alex")
    scene.live("alex")
    before = len(scene.traces("alex"))
    scene.run(site.continue_erasures())
    assert len(scene.traces("alex")) == before, "a new account of that name is another one"
    scene.run(site.note_copies_erased(erasure.erasure_id, in_lake=False))
    assert len(scene.run(site.view_erasures())) == 1
    scene.run(site.note_copies_erased(erasure.erasure_id, in_search=False))
    assert scene.run(site.view_erasures()) == []


def test_an_address_that_was_never_confirmed_gets_no_letter(scene: SiteScene) -> None:
    scene.join("alex")
    scene.run(update(accounts.Account.key("alex@example.com"), confirmed_at=None))
    scene.run(site.delete_account("alex@example.com", PASSWORD))
    scene.erase()
    assert scene.run(site.view_outbox()).items == []
    scene.join("alex")


def test_what_was_under_way_when_the_account_was_closed_is_erased_too(scene: SiteScene) -> None:
    scene.join("alex")
    scene.run(site.delete_account("alex@example.com", PASSWORD))
    scene.run(site.continue_erasures())
    scene.run(cart.put_in_cart("alex", "LATE", Decimal(1), 1))
    scene.erase()
    assert scene.traces("alex") == []


class Killed(BaseException):
    """The process is gone."""


class MortalStore(Store):
    """Dies at its n-th request, before or after the engine has taken it."""

    def arm(self, requests: int, *, after: bool) -> None:
        self.left, self.dies_after = requests, after

    def send(self, request: Request) -> Any:
        self.left -= 1
        if self.left <= 0 and not self.dies_after:
            raise Killed
        answer = super().send(request)
        if self.left <= 0:
            raise Killed
        return answer


@pytest.mark.parametrize("after", [False, True])
def test_after_a_kill_at_any_request_it_goes_on(scene: SiteScene, after: bool) -> None:
    scene.join("alex")
    scene.live("alex")
    scene.become_tenant("alex")
    scene.run(site.delete_account("alex@example.com", PASSWORD))
    mortal = MortalStore(scene.engine, clock=scene.clock)
    kills = 0
    scene.clock.advance(minutes=6)
    while any(task.erased_at is None for task in scene.run(site.view_erasures())):
        mortal.arm(kills % 70 + 1, after=after)
        try:
            mortal.run(site.continue_erasures())
        except Killed:
            kills += 1
    scene.follow_orders()
    assert kills > 20
    assert scene.traces("alex") == []
    assert len(scene.run(site.view_outbox())) == 1
    assert scene.run(verify(deals.SYSTEM)) == []


def test_the_last_administrator_stays(scene: SiteScene) -> None:
    scene.join("ada", accounts.Role.ADMIN)
    with pytest.raises(accounts.LastAdmin):
        scene.run(site.delete_account("ada@example.com", PASSWORD))
    scene.join("ben", accounts.Role.ADMIN)
    scene.run(site.delete_account("ada@example.com", PASSWORD))
    with pytest.raises(accounts.LastAdmin):
        scene.run(site.delete_account("ben@example.com", PASSWORD))


def test_of_two_administrators_who_leave_at_once_one_stays(scene: SiteScene) -> None:
    for name in ("ada", "ben"):
        scene.join(name, accounts.Role.ADMIN)
    _, first = scene.run(accounts.close_writes("ada@example.com", PASSWORD))
    _, second = scene.run(accounts.close_writes("ben@example.com", PASSWORD))
    scene.run(transact_once(*first, at=scene.clock()))
    with pytest.raises(accounts.RolesChanged):
        scene.run(transact_once(*second, at=scene.clock()))


@pytest.mark.parametrize("is_reversed", [False, True])
def test_the_queue_of_orders_follows_whatever_is_read_first(
    scene: SiteScene, is_reversed: bool
) -> None:
    """On AWS an order that is moved is two records in two shards."""
    scene.join("alex")
    order_id = scene.live("alex")
    order = scene.run(shop.view_order_of("alex", order_id))
    moved = order.model_copy(update={"username": "deleted-1", "ship_to": None})
    scene.run(anonymise_order(order, "deleted-1"))
    at = scene.clock()
    changes: list[Change[Any]] = [
        Change("remove", shop.Order, order.own_key(), order, None, "1", at, by_service=False),
        Change("insert", shop.Order, moved.own_key(), None, moved, "2", at, by_service=False),
    ]
    for change in reversed(changes) if is_reversed else changes:
        scene.run(follow_orders.function(change))
    assert [found.username for found in scene.run(view_order_queue())] == ["deleted-1"]


def test_a_member_of_staff_is_forgotten_in_the_log(scene: SiteScene) -> None:
    scene.join("ed", accounts.Role.EDITOR)
    scene.run(site.create_brand("ed", "Northwind"))
    erasure = scene.run(site.delete_account("ed@example.com", PASSWORD))
    scene.erase()
    (change,) = scene.run(site.view_changes())
    assert (change.who, change.what) == (erasure.pseudonym, "Northwind")


def test_who_changed_a_role_and_whose_is_forgotten_in_the_log(scene: SiteScene) -> None:
    for name in ("ada", "bea"):
        scene.join(name, accounts.Role.ADMIN)
    scene.join("sam")
    scene.run(site.grant_role("sam@example.com", accounts.Role.EDITOR, by="ada@example.com"))
    whose = scene.run(site.delete_account("sam@example.com", PASSWORD))
    who = scene.run(site.delete_account("ada@example.com", PASSWORD))
    scene.erase()
    (change,) = scene.run(site.view_admin_changes())
    assert (change.about, change.who) == (f"user {whose.pseudonym}", who.pseudonym)
    assert scene.run(site.view_user_changes("sam")).items == []


def test_an_export_has_everything_and_no_secret(scene: SiteScene) -> None:
    scene.join("alex")
    order_id = scene.live("alex")
    scene.become_tenant("alex")
    person = scene.run(site.find_person("alex@example.com"))
    exported = {
        f"{name}.{data.entity.__name__}": [site.export_item(item) for item in found]
        for name, data, find in site.listed_data()
        if (found := scene.run(find(person, None)).items)
    }
    assert {*exported} >= {
        "deals.User", "deals.BrandLike", "deals.BrandWatch", "deals.CategoryLike",
        "deals.CategoryWatch", "deals.Message", "catalog.UserWatch", "catalog.UserActivity",
        "cart.CartLine", "cart.LineMarker", "cart.Purchases", "shop.Customer", "shop.Order",
        "shop.OrderItem", "sessions.Session", "accounts.Account", "portal.Tenant",
        "portal.EmailMarker", "portal.AuditEntry", "deals.SavedDeals", "site.ApiToken",
        "site.TokenList", "site.NotificationSettings", "site.AdminChange",
    }  # fmt: skip
    assert exported["shop.Order"][0]["order_id"] == str(order_id)
    assert exported["shop.Customer"][0]["addresses"]["Home"]["street"] == "1 Main Street"
    (account,) = exported["accounts.Account"]
    assert account["login"] == "alex@example.com" and "password_hash" not in account


def test_an_erasure_that_is_done_is_not_done_again(scene: SiteScene) -> None:
    scene.join("alex")
    erasure = scene.run(site.delete_account("alex@example.com", PASSWORD))
    scene.erase()
    scene.run(erase_account(erasure))
    assert len(scene.run(site.view_outbox())) == 1


def test_every_lake_of_persons_has_the_column_of_their_id() -> None:
    """Else the id, which is in the item's key, could not be found there to be replaced."""
    for lake in site.LAKES:
        for _, data in declared_data():
            if data.entity is lake.entity and data.find and data.of != "tenant_id":
                assert data.field in lake.fields, lake.name
