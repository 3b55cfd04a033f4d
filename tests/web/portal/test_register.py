"""Opening an account: with it come the orders made before, and nobody else's."""

from __future__ import annotations

from typing import Any

import pytest

from bigtime.model import update
from bigtime.site.registration import join
from bigtime.systems.accounts.account import verify_password, view_account
from bigtime.systems.accounts.design import Account, Role, UnknownLogin, WrongCredentials
from bigtime.systems.deals.users import read_user
from bigtime.systems.portal.design import Audited, Product
from bigtime.systems.portal.orders import place_order
from bigtime.systems.portal.records import audit_log
from bigtime.systems.portal.registration import override_tenant_status, suspend_tenant
from bigtime.systems.portal.values import Status
from tests.systems.portal.scenes import ADMIN, registered_tenant
from tests.web.browsing import PASSWORD, Browser, Web, words
from tests.web.portal.scene import (
    EMAIL,
    ORDER,
    checkout_page,
    code_for,
    customer,
    letters,
    prove,
    tenant,
)

HERE = "/portal/register"


@pytest.fixture
def buyer(web: Web, visitor: Browser, product: Product) -> Browser:
    """Somebody who has shown whose mailbox it is, and has ordered."""
    then = prove(web, visitor, checkout_page(product.id))
    assert visitor.submit(then, ORDER).status_code == 303
    return visitor


def register(browser: Browser, **but: str) -> Any:
    told = {"username": "Cara", "password": PASSWORD}
    return browser.submit(HERE, HERE, **{**told, **but})


def test_a_password_that_is_easy_to_guess_opens_no_account(web: Web, buyer: Browser) -> None:
    refused = register(buyer, password="qwertyuiop")
    assert refused.status_code == 422
    assert 'id="password-fault">This password is easy to guess.' in refused.text
    with pytest.raises(UnknownLogin):
        web.run(view_account(EMAIL))


def test_registering_makes_the_account_and_signs_in(web: Web, buyer: Browser) -> None:
    done = register(buyer, organization_name="Corp", destination_email="forms@example.com")
    assert (done.status_code, done.headers["location"]) == (303, "/portal?welcome=yes")
    made = tenant(web)
    assert made.status == Status.REGISTERED
    assert (made.organization_name, made.destination_email) == ("Corp", "forms@example.com")
    account = web.run(verify_password(EMAIL, PASSWORD))
    assert (account.username, account.tenant_id, account.roles) == (
        "cara",
        made.id,
        frozenset({Role.SHOPPER}),
    )
    assert web.run(read_user("cara")).name == "Cara"
    assert "session" in buyer.cookies and "visit" not in buyer.cookies
    assert "Welcome." in words(buyer.get("/portal?welcome=yes").text)


def test_orders_from_before_are_in_the_account(web: Web, buyer: Browser, product: Product) -> None:
    web.run(place_order(tenant(web).id, {product.id: 2}))
    register(buyer)
    elsewhere = web.browser()
    elsewhere.submit("/log-in", "/log-in", email=EMAIL, password=PASSWORD)
    page = elsewhere.get("/portal/orders").text
    assert page.count("/portal/orders/order_") == 2


def test_who_has_shown_nothing_is_asked_to(visitor: Browser) -> None:
    asked = visitor.get(HERE)
    assert asked.headers["location"] == "/portal/confirm?next=/portal/register"
    token = visitor.token()
    sent = visitor.post(HERE, data={"form_token": token, "username": "x", "password": PASSWORD})
    assert (sent.status_code, sent.headers["location"]) == (303, "/portal")


def test_who_has_an_account_needs_none(web: Web) -> None:
    _, browser = customer(web)
    assert browser.get(HERE).headers["location"] == "/portal"
    sent = browser.post(
        HERE, data={"form_token": browser.token(), "username": "x", "password": "y"}
    )
    assert sent.status_code == 303
    sent = browser.post("/portal/connect", data={"form_token": browser.token()})
    assert sent.status_code == 303


@pytest.mark.parametrize(
    ("but", "field"),
    [
        ({"username": ""}, "username"),
        ({"username": "a#b"}, "username"),
        ({"password": "short"}, "password"),
        ({"password": ""}, "password"),
        ({"destination_email": "x"}, "destination_email"),
        ({"organization_name": "x" * 201}, "organization_name"),
    ],
)
def test_a_wrong_field_is_told_beside_it_and_changes_nothing(
    web: Web, buyer: Browser, but: dict[str, str], field: str
) -> None:
    refused = register(buyer, **but)
    assert refused.status_code == 422
    assert f'id="{field}-fault"' in refused.text
    if field != "password":
        assert f'value="{but[field]}"' in refused.text
    assert tenant(web).status == Status.VALIDATED
    with pytest.raises(UnknownLogin):
        web.run(view_account(EMAIL))


def test_a_username_that_is_taken_leaves_everything_as_it_was(web: Web, buyer: Browser) -> None:
    web.join("cara")
    refused = register(buyer)
    assert refused.status_code == 422
    assert 'id="username-fault"' in refused.text
    assert tenant(web).status == Status.VALIDATED
    with pytest.raises(UnknownLogin):
        web.run(view_account(EMAIL))
    assert register(buyer, username="caro").status_code == 303


def test_a_username_is_suggested(web: Web, buyer: Browser) -> None:
    assert buyer.form(HERE, HERE).fields["username"] == "customer"


def test_an_admin_may_have_registered_a_customer_who_still_gets_an_account(
    web: Web, buyer: Browser
) -> None:
    web.run(override_tenant_status(tenant(web).id, Status.REGISTERED, "by phone", by=ADMIN))
    assert register(buyer, organization_name="Corp").status_code == 303
    assert tenant(web).organization_name == "Corp"
    assert web.run(view_account(EMAIL)).tenant_id == tenant(web).id


def test_who_is_suspended_opens_no_account(web: Web, buyer: Browser) -> None:
    web.run(suspend_tenant(tenant(web).id, "unpaid", by=ADMIN))
    refused = register(buyer)
    assert refused.status_code == 403
    with pytest.raises(UnknownLogin):
        web.run(view_account(EMAIL))


def test_one_step_of_the_lifecycle_is_noted(web: Web, buyer: Browser) -> None:
    register(buyer)
    log = web.run(audit_log(Audited.TENANTS, tenant(web).id))
    assert [each.action for each in log] == ["STATUS_CHANGED", "STATUS_CHANGED", "CREATED"]
    assert log.items[0].actor == tenant(web).id


# An account of that address that is there already


def sign_up_with(web: Web, email: str, username: str) -> Browser:
    """Somebody with an account, from the time before addresses were confirmed."""
    web.run(join(email, PASSWORD, username))
    web.run(update(Account.key(email), confirmed_at=None))
    return web.session_of(email)


NEW_PASSWORD = "another horse"


def set_password(browser: Browser, **but: str) -> Any:
    told = {"password": NEW_PASSWORD, **but}
    return browser.submit(HERE, "/portal/new-password", **told)


def test_who_signs_up_meanwhile_is_told_of_and_nothing_is_changed(web: Web, buyer: Browser) -> None:
    form = buyer.form(HERE, HERE)
    sign_up_with(web, EMAIL, "squatter")
    refused = buyer.post(HERE, data={**form.fields, "username": "Cara", "password": PASSWORD})
    assert refused.status_code == 409
    assert "An account with this login already exists" in words(refused.text)
    assert 'action="/portal/new-password"' in refused.text
    assert web.run(view_account(EMAIL)).tenant_id is None
    assert tenant(web).status == Status.VALIDATED


def test_who_has_shown_the_mailbox_is_let_in_and_who_has_not_is_out(
    web: Web, buyer: Browser
) -> None:
    squatter = sign_up_with(web, EMAIL, "squatter")
    assert squatter.get("/me").status_code == 200
    done = set_password(buyer, organization_name="Corp")
    assert (done.status_code, done.headers["location"]) == (303, "/portal?welcome=yes")

    made = tenant(web)
    assert (made.status, made.organization_name) == (Status.REGISTERED, "Corp")
    assert web.run(verify_password(EMAIL, NEW_PASSWORD)).tenant_id == made.id
    assert buyer.get("/portal/orders").text.count("/portal/orders/order_") == 1
    assert squatter.get("/me").status_code == 303
    with pytest.raises(WrongCredentials):
        web.run(verify_password(EMAIL, PASSWORD))
    assert letters(web)[0].subject == "Your Bigtime password was reset"


def test_a_customer_who_has_forgotten_the_password_sets_another(web: Web) -> None:
    made, _ = customer(web)
    browser = web.browser()
    page = browser.submit("/portal/confirm", "/portal/confirm", email=EMAIL).headers["location"]
    browser.submit(page, page, code=code_for(web))
    assert set_password(browser).status_code == 303
    assert web.run(verify_password(EMAIL, NEW_PASSWORD)).tenant_id == made.id


@pytest.mark.parametrize("role", [Role.EDITOR, Role.ADMIN])
def test_a_mailbox_is_not_enough_for_who_works_here(web: Web, buyer: Browser, role: Role) -> None:
    web.join("customer", role)
    refused = set_password(buyer)
    assert refused.status_code == 403
    assert "cannot be opened by e-mail alone" in words(refused.text)
    assert web.run(verify_password(EMAIL, PASSWORD)).tenant_id is None


def test_an_account_of_another_tenant_stays_theirs(web: Web, buyer: Browser) -> None:
    web.run(join(EMAIL, PASSWORD, "cara", tenant_id="tenant_of_somebody"))
    assert set_password(buyer).status_code == 422
    assert web.run(verify_password(EMAIL, PASSWORD)).tenant_id == "tenant_of_somebody"


def test_a_password_that_will_not_do_is_told_beside_it(web: Web, buyer: Browser) -> None:
    sign_up_with(web, EMAIL, "squatter")
    for password in ("short", "password1", "customerexample"):
        refused = set_password(buyer, password=password)
        assert refused.status_code == 422
        assert 'id="password-fault"' in refused.text
    assert web.run(view_account(EMAIL)).tenant_id is None


def test_who_has_shown_nothing_sets_no_password(web: Web, visitor: Browser) -> None:
    web.join("customer")
    data = {"form_token": visitor.token(), "password": NEW_PASSWORD}
    assert visitor.post("/portal/new-password", data=data).headers["location"] == "/portal"
    assert web.run(verify_password(EMAIL, PASSWORD)).login == EMAIL


def test_who_signed_up_with_somebodys_address_gets_nothing_of_theirs(
    web: Web, buyer: Browser
) -> None:
    squatter = sign_up_with(web, EMAIL, "squatter")
    assert squatter.get("/portal").status_code == 303
    assert squatter.get("/portal/orders").status_code == 303
    sent = squatter.post("/portal/connect", data={"form_token": squatter.token()})
    assert (sent.status_code, sent.headers["location"]) == (303, "/portal")
    assert web.run(view_account(EMAIL)).tenant_id is None


def test_mailbox_and_account_in_one_hand_are_connected(
    web: Web, buyer: Browser, product: Product
) -> None:
    member = sign_up_with(web, EMAIL, "cara")
    page = prove(web, member, checkout_page(product.id))
    assert "Connect my account" in member.get(HERE).text
    done = member.submit(HERE, "/portal/connect", organization_name="Corp")
    assert (done.status_code, done.headers["location"]) == (303, "/portal?welcome=yes")
    made = tenant(web)
    assert (made.status, made.organization_name) == (Status.REGISTERED, "Corp")
    assert web.run(view_account(EMAIL)).tenant_id == made.id
    assert web.run(view_account(EMAIL)).is_confirmed
    assert member.submit(page, ORDER).status_code == 303
    assert member.get("/portal/orders").text.count("/portal/orders/order_") == 2


def test_an_account_of_another_address_is_not_connected(
    web: Web, alex: Browser, product: Product
) -> None:
    prove(web, alex, checkout_page(product.id))
    page = alex.get(HERE)
    assert "Connect my account" not in page.text
    sent = alex.post("/portal/connect", data={"form_token": alex.token()})
    assert sent.status_code == 422
    assert web.run(view_account("alex@example.com")).tenant_id is None
    assert register(alex).status_code == 303
    assert web.run(view_account(EMAIL)).tenant_id == tenant(web).id


def test_a_form_from_elsewhere_opens_nothing(web: Web, buyer: Browser) -> None:
    for action in (HERE, "/portal/connect", "/portal/new-password"):
        data = {"username": "cara", "password": PASSWORD}
        assert buyer.post(action, data=data).status_code == 400
    assert tenant(web).status == Status.VALIDATED


def test_logging_in_afterwards_shows_what_is_there(web: Web, visitor: Browser) -> None:
    registered_tenant(web)
    sent = visitor.submit("/portal/confirm", "/portal/confirm", email=EMAIL)
    page = sent.headers["location"]
    visitor.submit(page, page, code=code_for(web))
    assert "Create an account" in visitor.get("/portal").text
