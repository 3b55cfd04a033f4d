"""What was shown counts as long as the session or the visit that showed it, and for no other."""

from __future__ import annotations

from bigtime.systems.portal.design import Product
from tests.web.browsing import PASSWORD, Browser, Web, words
from tests.web.portal.scene import EMAIL, checkout_page, code_for, prove


def test_a_proof_ends_with_its_session(
    web: Web, visitor: Browser, alex: Browser, product: Product
) -> None:
    prove(web, alex, checkout_page(product.id))
    token = alex.cookies["session"]
    assert alex.get("/portal/orders").status_code == 200

    assert alex.submit("/me", "/log-out").status_code == 303
    for cookie in ("session", "visit"):
        thief = web.browser()
        thief.keep(cookie, token)
        assert thief.get("/portal").status_code == 303, cookie
        assert thief.get("/portal/orders").status_code == 303, cookie
        assert "Ordering as" not in words(thief.get(checkout_page(product.id)).text)


def test_a_proof_ends_with_all_sessions(web: Web, alex: Browser, product: Product) -> None:
    prove(web, alex, checkout_page(product.id))
    other = web.session_of("alex@example.com", "another-token-of-alex")
    assert other.submit("/me", "/log-out-everywhere").status_code == 303
    assert alex.get("/portal/orders").status_code == 303


def test_the_cookie_of_a_visit_is_none_of_a_session(
    web: Web, visitor: Browser, product: Product
) -> None:
    prove(web, visitor, checkout_page(product.id))
    other = web.browser()
    other.keep("session", visitor.cookies["visit"])
    assert other.get("/portal/orders").status_code == 303


def test_who_logs_in_with_the_address_that_was_shown_need_not_show_it_again(
    web: Web, visitor: Browser, product: Product
) -> None:
    web.join("customer")
    prove(web, visitor, checkout_page(product.id), EMAIL)
    visit = visitor.cookies["visit"]
    logged_in = visitor.submit(
        "/log-in?next=/portal/register", "/log-in", email=EMAIL, password=PASSWORD
    )
    assert logged_in.headers["location"] == "/portal/register"
    assert visitor.submit("/portal/register", "/portal/connect").status_code == 303
    assert "session" in visitor.cookies

    left = web.browser()
    left.keep("visit", visit)
    assert left.get("/portal").status_code == 303


def test_who_logs_in_as_somebody_else_has_shown_nothing(
    web: Web, visitor: Browser, product: Product
) -> None:
    web.join("somebody")
    prove(web, visitor, checkout_page(product.id), EMAIL)
    visitor.submit("/log-in", "/log-in", email="somebody@example.com", password=PASSWORD)
    assert visitor.get("/portal/orders").status_code == 303


def test_a_shopper_whose_session_is_over_can_show_it_again(
    web: Web, alex: Browser, product: Product
) -> None:
    prove(web, alex, checkout_page(product.id))
    token = alex.cookies["session"]
    alex.submit("/me", "/log-out")
    alex.keep("session", token)
    page = alex.submit("/portal/confirm", "/portal/confirm", email=EMAIL).headers["location"]
    assert alex.submit(page, page, code=code_for(web)).status_code == 303
    assert alex.get("/portal/orders").status_code == 200
