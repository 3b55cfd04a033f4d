"""An account moves to another e-mail address whole, or not at all, wherever it is interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count, pairwise
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model import get, scan_all, verify
from bigtime.site.api_tokens import (
    ApiArea,
    UnknownToken,
    api_token_text,
    create_api_token,
    fetch_api_token,
    hash_api_token,
    view_api_tokens,
)
from bigtime.site.design import EmailChange, EmailMove, Mail, Notice
from bigtime.site.email_change import (
    HostingClosed,
    SameEmail,
    WrongCodes,
    begin_email_change,
    finish_move,
    finish_moves,
    move_account,
    restart_email_change,
    send_change_codes,
)
from bigtime.site.erasure import continue_erasures, delete_account, find_person, listed_data
from bigtime.site.mail import mail_text
from bigtime.site.mailbox_check import SAMPLE_CODES, UnknownCheck
from bigtime.site.registration import join
from bigtime.site.systems import SYSTEMS
from bigtime.store import Exchange, Store, consume
from bigtime.systems import portal, sessions, shop
from bigtime.systems.accounts.account import change_password, verify_password, view_account
from bigtime.systems.accounts.design import (
    Account,
    LoginTaken,
    PasswordChanged,
    UnknownLogin,
    WrongCredentials,
)
from bigtime.systems.deals.design import User
from bigtime.systems.portal.design import Audited, AuditEntry, EmailMarker, Order, Tenant
from bigtime.systems.portal.registration import suspend_tenant
from bigtime.systems.portal.tenants import tenant_at_checkout
from bigtime.systems.portal.verification import verify_audit
from bigtime.systems.shop.design import Customer, CustomerEmail
from tests.furnished import furnished_engine
from tests.site.turned_clock import TurnedClock, fetch_stored
from tests.systems.portal.scenes import ADMIN, new_product, registered_tenant
from tests.web.browsing import PASSWORD, furnish_site

OLD, NEW = "alex@example.com", "alex@new.example"
ORDERS = 3


@pytest.fixture
def engine() -> Iterator[Engine]:
    with furnished_engine(furnish_site, housekeeping=False) as engine:
        yield engine


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock()


@pytest.fixture
def store(engine: Engine, clock: TurnedClock) -> Store:
    store = Store(engine, clock=clock)
    store.run(join(OLD, PASSWORD, "alex"))
    return store


def hosting_tenant(store: Store, clock: TurnedClock) -> Tenant:
    """Bea, whose account has a tenant with orders."""
    tenant = registered_tenant(store, "bea@example.com")
    store.run(portal.update_tenant(tenant.id, {"organization_name": "Bea's Bakery"}, by=tenant.id))
    store.run(join("bea@example.com", PASSWORD, "bea", tenant_id=tenant.id))
    product = new_product(store)
    for _ in range(ORDERS):
        clock.turn(seconds=2)
        store.run(portal.place_order(tenant.id, {product.id: 1}))
    clock.turn(seconds=2)
    return tenant


def tenant_at(store: Store, email: str) -> Tenant:
    found: Tenant | None = store.run(portal.tenant_of(email))
    assert found is not None
    return found


def begin(store: Store, login: str = OLD, email: str = NEW) -> EmailChange:
    change: EmailChange = store.run(begin_email_change(login, PASSWORD, email))
    store.run(send_change_codes(SAMPLE_CODES, change))
    return change


def mails(store: Store, to: str) -> list[Mail]:
    found = [mail for mail in store.run(scan_all(Mail)) if mail.to == to]
    return sorted(found, key=lambda mail: mail.written_at)


def code_to(store: Store, to: str) -> str:
    coded = [mail for mail in mails(store, to) if mail.seed]
    text = mail_text(coded[-1], SAMPLE_CODES.pepper)
    return text.partition("Your code is ")[2][:6]


def wrong(code: str) -> str:
    return f"{(int(code) + 1) % 1_000_000:06}"


def move(store: Store, change: EmailChange, **codes: str) -> Any:
    given = {"login_code": code_to(store, change.login), "email_code": ""}
    given["email_code"] = codes.pop("email_code", "") or code_to(store, change.email)
    return store.run(
        move_account(SAMPLE_CODES, change.change_id, change.login, **{**given, **codes})
    )


def react(store: Store) -> None:
    """As the worker does, from the stream."""
    consumer = consume(store, "Site", finish_moves.handle, name="moves")
    while any(turn.more for turn in consumer.run_round()):
        pass


def assert_whole(store: Store) -> None:
    for system in SYSTEMS:
        assert store.run(verify(system)) == [], system.name
    assert store.run(verify_audit()) == []


def test_the_account_its_user_and_its_customer_move(store: Store) -> None:
    before = fetch_stored(store, Account.key(OLD))
    identity, rest = move(store, begin(store))
    store.run(finish_move(rest))
    assert identity.login == NEW and identity.is_confirmed
    moved = fetch_stored(store, Account.key(NEW))
    assert (moved.username, moved.roles, moved.created_at) == (
        before.username,
        before.roles,
        before.created_at,
    )
    assert store.run(verify_password(NEW, PASSWORD)).username == "alex"
    with pytest.raises(WrongCredentials):
        store.run(verify_password(OLD, PASSWORD))
    assert fetch_stored(store, User.key("alex")).email == NEW
    assert fetch_stored(store, Customer.key("alex")).email == NEW
    assert store.run(get(CustomerEmail.key(OLD))) is None
    assert fetch_stored(store, CustomerEmail.key(NEW)).username == "alex"
    assert not store.run(scan_all(EmailMove)) and not store.run(scan_all(EmailChange))
    assert_whole(store)


def test_both_addresses_are_told_without_anything_that_was_typed(store: Store) -> None:
    move(store, begin(store))
    assert {mail.subject for mail in mails(store, OLD)} == {
        "Your code to change your e-mail address",
        "Your account's e-mail address has changed",
    }
    assert {mail.subject for mail in mails(store, NEW)} == {
        "Your code for Big Time Deals",
        "This is now your account's e-mail address",
    }
    for mail in mails(store, OLD):
        assert NEW not in mail.text + mail.subject
    for mail in mails(store, NEW):
        assert OLD not in mail.text + mail.subject and "alex" not in mail.text


def test_the_old_address_can_be_signed_up_with_and_no_old_session_opens_it(store: Store) -> None:
    token = sessions.hash_token("phone")
    store.run(sessions.create_session(token, OLD))
    stale = sessions.hash_token("stale")
    store.run(sessions.create_session(stale, NEW))
    program = api_token_text(b"of the old login")
    owner = store.run(view_account(OLD))
    token_hash = hash_api_token(program)
    store.run(create_api_token(owner, token_hash, "My script", [ApiArea.DEALS]))
    _, rest = move(store, begin(store))
    store.run(finish_move(rest))
    store.run(join(OLD, PASSWORD, "another"))
    with pytest.raises(UnknownToken):
        store.run(fetch_api_token(program))
    assert store.run(view_api_tokens(store.run(view_account(OLD)))) == []
    for ended in (token, stale):
        with pytest.raises(sessions.UnknownSession):
            store.run(sessions.get_session(ended))
    assert_whole(store)


def test_the_password_is_asked_and_another_address(store: Store) -> None:
    with pytest.raises(WrongCredentials):
        store.run(begin_email_change(OLD, "not my password", NEW))
    with pytest.raises(SameEmail):
        store.run(begin_email_change(OLD, PASSWORD, OLD.upper()))
    assert not store.run(scan_all(EmailChange))


@pytest.mark.parametrize("field", ["login_code", "email_code"])
def test_one_right_code_is_not_enough(store: Store, field: str) -> None:
    change = begin(store)
    right = code_to(store, OLD if field == "login_code" else NEW)
    with pytest.raises(WrongCodes) as refused:
        move(store, change, **{field: wrong(right)})
    assert refused.value.fields == (field,)
    assert store.run(view_account(OLD)).username == "alex"
    move(store, change)


def test_five_tries_and_ten_minutes(store: Store, clock: TurnedClock) -> None:
    change = begin(store)
    for _ in range(4):
        with pytest.raises(WrongCodes):
            move(store, change, login_code="x")
    with pytest.raises(portal.CodeSpent):
        move(store, change, login_code="")
    with pytest.raises(portal.CodeSpent):
        move(store, change)
    change = store.run(restart_email_change(change.change_id, OLD))
    store.run(send_change_codes(SAMPLE_CODES, change))
    clock.turn(minutes=10)
    with pytest.raises(portal.UnknownCode):
        move(store, change)
    clock.turn(minutes=-10)
    old = code_to(store, OLD)
    clock.turn(seconds=1)
    change = store.run(restart_email_change(change.change_id, OLD))
    store.run(send_change_codes(SAMPLE_CODES, change))
    with pytest.raises(WrongCodes):
        move(store, change, login_code=old)
    move(store, change)


def test_a_change_belongs_to_one_account_for_an_hour(store: Store, clock: TurnedClock) -> None:
    store.run(join("bo@example.com", PASSWORD, "bo"))
    change = begin(store)
    codes = {"login_code": code_to(store, OLD), "email_code": code_to(store, NEW)}
    with pytest.raises(UnknownCheck):
        store.run(move_account(SAMPLE_CODES, change.change_id, "bo@example.com", **codes))
    clock.turn(hours=1)
    with pytest.raises(UnknownCheck):
        store.run(move_account(SAMPLE_CODES, change.change_id, OLD, **codes))


def test_codes_are_used_once(store: Store) -> None:
    change = begin(store)
    codes = {"login_code": code_to(store, OLD), "email_code": code_to(store, NEW)}
    move(store, change)
    with pytest.raises(UnknownCheck):
        store.run(move_account(SAMPLE_CODES, change.change_id, OLD, **codes))


def test_an_address_with_an_account_gets_a_mail_instead_of_a_code(
    store: Store, clock: TurnedClock
) -> None:
    store.run(join(NEW, PASSWORD, "nina"))
    for _ in range(3):
        change = begin(store)
        clock.turn(minutes=1)
    (mail,) = mails(store, NEW)
    assert mail.seed is None and "There is an account with it already" in mail.text
    assert len(store.run(scan_all(Notice))) == 1
    with pytest.raises(WrongCodes) as refused:
        move(store, change, email_code="123456")
    assert refused.value.fields == ("email_code",)
    # Nor is the code of no seed one that could be computed: whatever is typed is wrong.
    empty = portal.code_from(b"", SAMPLE_CODES.pepper)
    with pytest.raises(WrongCodes):
        move(store, change, email_code=empty)


def test_an_address_that_is_taken_meanwhile_is_refused_whole(store: Store) -> None:
    change = begin(store)
    store.run(join(NEW, PASSWORD, "nina"))
    with pytest.raises((LoginTaken, shop.EmailTaken)):
        move(store, change)
    assert store.run(view_account(OLD)).username == "alex"
    assert fetch_stored(store, Customer.key("alex")).email == OLD
    assert_whole(store)


def test_two_moves_to_one_address_give_it_to_one(store: Store, clock: TurnedClock) -> None:
    store.run(join("bo@example.com", PASSWORD, "bo"))
    first = begin(store)
    code = code_to(store, NEW)
    clock.turn(seconds=1)
    second = begin(store, "bo@example.com")
    move(store, first, email_code=code)
    with pytest.raises((LoginTaken, shop.EmailTaken)):
        move(store, second, email_code=code_to(store, NEW))
    assert store.run(view_account(NEW)).username == "alex"
    assert_whole(store)


def test_a_password_that_was_changed_since_ends_the_change(store: Store) -> None:
    change = begin(store)
    store.run(change_password(OLD, PASSWORD, "battery staple"))
    with pytest.raises(PasswordChanged):
        move(store, change)


# With a tenant


def test_a_new_tenant_gets_the_orders_and_the_old_one_keeps_its_address(
    store: Store, clock: TurnedClock
) -> None:
    tenant = hosting_tenant(store, clock)
    before = store.run(portal.list_orders(tenant.id)).items
    identity, rest = move(store, begin(store, "bea@example.com"))
    store.run(finish_move(rest))
    old, new = tenant_at(store, "bea@example.com"), tenant_at(store, NEW)
    assert old.id == tenant.id and new.id == identity.tenant_id != old.id
    assert (new.status, new.organization_name) == (portal.Status.REGISTERED, "Bea's Bakery")
    assert (old.active, old.organization_name) == (True, None)
    after = store.run(portal.list_orders(new.id)).items
    same = ("items", "total", "campaign", "date_created")
    assert [[getattr(order, name) for name in same] for order in after] == [
        [getattr(order, name) for name in same] for order in before
    ]
    assert not store.run(portal.list_orders(old.id)).items
    for order in before:
        moved = store.run(portal.get_order(new.id, portal.copied_id(order.id, new.id)))
        assert moved.items == order.items
        with pytest.raises(portal.UnknownOrder):
            store.run(portal.get_order(old.id, order.id))
    assert_audited(store, tenant.id, new.id)
    assert_whole(store)


def assert_audited(store: Store, tenant_id: str, successor_id: str) -> None:
    reasons = [entry.reason or "" for entry in store.run(scan_all(AuditEntry))]
    assert f"Takes over the account and the orders of {tenant_id}." in reasons
    assert f"Its account and orders moved to {successor_id}." in reasons
    assert sum(f"Moved to {successor_id} as order_" in reason for reason in reasons) == ORDERS
    assert sum(f" of {tenant_id}." in reason and "Copy" in reason for reason in reasons) == ORDERS


def test_the_tenant_that_the_new_address_has_already_gets_them(
    store: Store, clock: TurnedClock
) -> None:
    hosting_tenant(store, clock)
    known = store.run(tenant_at_checkout(NEW))
    identity, rest = move(store, begin(store, "bea@example.com"))
    store.run(finish_move(rest))
    assert identity.tenant_id == known.id
    tenant = store.run(portal.get_tenant(known.id))
    assert (tenant.status, tenant.email) == (portal.Status.REGISTERED, NEW)
    assert len(store.run(portal.list_orders(known.id)).items) == ORDERS
    assert_whole(store)


def test_there_and_back_again(store: Store, clock: TurnedClock) -> None:
    tenant = hosting_tenant(store, clock)
    _, rest = move(store, begin(store, "bea@example.com"))
    store.run(finish_move(rest))
    clock.turn(minutes=1)
    identity, rest = move(store, begin(store, NEW, "bea@example.com"))
    store.run(finish_move(rest))
    assert identity.tenant_id == tenant.id
    assert len(store.run(portal.list_orders(tenant.id)).items) == ORDERS
    assert store.run(portal.get_tenant(tenant.id)).organization_name == "Bea's Bakery"
    assert_whole(store)


def test_an_order_of_the_old_mailbox_after_the_move_stays_there(
    store: Store, clock: TurnedClock
) -> None:
    tenant = hosting_tenant(store, clock)
    product = new_product(store, name="Another")
    identity, rest = move(store, begin(store, "bea@example.com"))
    clock.turn(seconds=2)
    late = store.run(portal.place_order(tenant.id, {product.id: 1}))
    store.run(finish_move(rest))
    assert [order.id for order in store.run(portal.list_orders(tenant.id))] == [late.id]
    assert len(store.run(portal.list_orders(identity.tenant_id)).items) == ORDERS


def erase(store: Store, clock: TurnedClock, login: str) -> None:
    store.run(delete_account(login, PASSWORD))
    store.run(continue_erasures())
    clock.turn(minutes=6)
    store.run(continue_erasures())


def test_an_account_that_is_deleted_takes_its_former_tenants_along(
    store: Store, clock: TurnedClock
) -> None:
    tenant = hosting_tenant(store, clock)
    for old, new in (("bea@example.com", NEW), (NEW, "newer@example.com")):
        _, rest = move(store, begin(store, old, new))
        store.run(finish_move(rest))
        clock.turn(minutes=1)
    erase(store, clock, "newer@example.com")
    for email in ("bea@example.com", NEW, "newer@example.com"):
        assert store.run(portal.tenant_of(email)) is None, email
    former = store.run(portal.get_tenant(tenant.id, include_inactive=True))
    assert not former.active and former.email.endswith("@erased.invalid")
    told = str(store.run(scan_all(AuditEntry)))
    assert "bea@example.com" not in told and NEW not in told and "Bakery" not in told
    assert_whole(store)


def export_of(store: Store, login: str) -> dict[type[Any], list[Any]]:
    """What an account's owner gets of the portal, by entity."""
    person = store.run(find_person(login))
    found: dict[type[Any], list[Any]] = {}
    for name, data, find in listed_data():
        if name == "portal":
            found.setdefault(data.entity, []).extend(store.run(find(person, None)).items)
    return found


def test_an_export_has_the_tenants_that_the_account_had_before(
    store: Store, clock: TurnedClock
) -> None:
    tenant = hosting_tenant(store, clock)
    emails = ("bea@example.com", NEW, "newer@example.com")
    for old, new in pairwise(emails):
        _, rest = move(store, begin(store, old, new))
        store.run(finish_move(rest))
        clock.turn(minutes=1)
    found = export_of(store, "newer@example.com")
    assert sorted(each.email for each in found[Tenant]) == sorted(emails)
    ids = {each.id for each in found[Tenant]}
    assert {marker.tenant_id for marker in found[EmailMarker]} == ids
    assert sum(order.tenant_id == tenant.id for order in found[Order]) == ORDERS
    assert len({order.id for order in found[Order]}) == len(found[Order]) == 3 * ORDERS
    told = {(entry.table, entry.id) for entry in found[AuditEntry]}
    assert told == {
        *((Audited.TENANTS, each.id) for each in found[Tenant]),
        *((Audited.ORDERS, each.id) for each in found[Order]),
    }


def test_an_export_after_there_and_back_again_has_each_tenant_once(
    store: Store, clock: TurnedClock
) -> None:
    hosting_tenant(store, clock)
    for old, new in pairwise(("bea@example.com", NEW, "bea@example.com")):
        _, rest = move(store, begin(store, old, new))
        store.run(finish_move(rest))
        clock.turn(minutes=1)
    found = export_of(store, "bea@example.com")
    assert sorted(each.email for each in found[Tenant]) == sorted(("bea@example.com", NEW))


def test_an_export_has_nothing_of_a_tenant_whose_address_has_another_owner(
    store: Store, clock: TurnedClock
) -> None:
    tenant = hosting_tenant(store, clock)
    product = new_product(store, name="Another")
    _, rest = move(store, begin(store, "bea@example.com"))
    store.run(finish_move(rest))
    clock.turn(minutes=1)
    store.run(portal.place_order(tenant.id, {product.id: 1}))
    found = export_of(store, NEW)
    assert [each.email for each in found[Tenant]] == [NEW]
    assert tenant.id not in {order.tenant_id for order in found[Order]}
    assert tenant.id not in {entry.id for entry in found[AuditEntry]}


def test_a_former_tenant_whose_address_has_another_owner_stays(
    store: Store, clock: TurnedClock
) -> None:
    tenant = hosting_tenant(store, clock)
    product = new_product(store, name="Another")
    _, rest = move(store, begin(store, "bea@example.com"))
    store.run(finish_move(rest))
    clock.turn(minutes=1)
    store.run(portal.place_order(tenant.id, {product.id: 1}))
    erase(store, clock, NEW)
    assert tenant_at(store, "bea@example.com").active
    assert store.run(portal.tenant_of(NEW)) is None


def test_a_suspended_tenant_is_not_left_by_moving(store: Store, clock: TurnedClock) -> None:
    tenant = hosting_tenant(store, clock)
    change = begin(store, "bea@example.com")
    store.run(suspend_tenant(tenant.id, "It owes us money", by=ADMIN))
    with pytest.raises(HostingClosed):
        move(store, change)
    with pytest.raises(HostingClosed):
        store.run(begin_email_change("bea@example.com", PASSWORD, NEW))


def test_a_suspended_tenant_of_the_new_address_takes_nothing_over(
    store: Store, clock: TurnedClock
) -> None:
    hosting_tenant(store, clock)
    known = store.run(tenant_at_checkout(NEW))
    store.run(suspend_tenant(known.id, "It owes us money", by=ADMIN))
    with pytest.raises(HostingClosed):
        move(store, begin(store, "bea@example.com"))
    assert store.run(view_account("bea@example.com")).username == "bea"


class Killed(Exception):
    """The process ends here."""


def kill_after(requests: int) -> Any:
    left = count(requests, -1)

    def kill(_: Exchange) -> None:
        if next(left) <= 1:
            raise Killed

    return kill


@pytest.mark.parametrize("requests", range(1, 40))
def test_wherever_it_is_killed_it_has_moved_whole_or_not_at_all(
    engine: Engine, store: Store, clock: TurnedClock, requests: int
) -> None:
    tenant = hosting_tenant(store, clock)
    store.run(sessions.create_session(sessions.hash_token("phone"), "bea@example.com"))
    change = begin(store, "bea@example.com")
    codes = {"login_code": code_to(store, change.login), "email_code": code_to(store, NEW)}
    dying = Store(engine, clock=clock, hooks=[kill_after(requests)])
    steps = move_account(SAMPLE_CODES, change.change_id, change.login, **codes)
    try:
        _, rest = dying.run(steps)
        dying.run(finish_move(rest))
    except Killed:
        pass
    react(store)
    orders = store.run(scan_all(Order))
    has_moved = store.run(get(Account.key(NEW))) is not None
    assert has_moved == (store.run(get(Account.key("bea@example.com"))) is None)
    owner = tenant_at(store, NEW).id if has_moved else tenant.id
    assert sum(order.active for order in orders) == ORDERS
    assert {order.tenant_id for order in orders if order.active} == {owner}
    assert not store.run(scan_all(EmailMove))
    if not has_moved:
        move(store, change, **codes)
    assert_whole(store)


def test_the_worker_finds_nothing_to_do_after_a_move_that_was_finished(
    store: Store, clock: TurnedClock
) -> None:
    hosting_tenant(store, clock)
    identity, rest = move(store, begin(store, "bea@example.com"))
    store.run(finish_move(rest))
    store.run(finish_move(rest))
    react(store)
    assert len(store.run(portal.list_orders(identity.tenant_id)).items) == ORDERS
    with pytest.raises(UnknownLogin):
        store.run(view_account("bea@example.com"))
    assert_whole(store)
