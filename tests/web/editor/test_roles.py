"""The desk is for editors, and for nobody else: every route of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from bigtime.systems.accounts.design import Role
from bigtime.web.app import ROUTERS
from bigtime.web.desk import DESK as EDITOR
from tests.web.browsing import Browser, Web
from tests.web.conftest import PostDeal

NAMES = {"name": "HOME", "deal_id": "2" * 27, "brand_name": "APPLE"}


def routes() -> Iterator[tuple[str, str]]:
    for router in EDITOR:
        for route in router.routes:
            path = route.path.replace(":path", "")  # type: ignore[attr-defined]
            for method in sorted(route.methods - {"HEAD"}):  # type: ignore[attr-defined]
                yield method, path


ROUTES = list(routes())


def ask(browser: Browser, method: str, path: str, **names: str) -> Any:
    data = {"form_token": browser.token()} if method == "POST" else None
    return browser.request(method, path.format(**{**NAMES, **names}), data=data)


def test_every_route_of_the_desk_is_listed() -> None:
    listed = {route.path for router in ROUTERS for route in router.routes}  # type: ignore[attr-defined]
    desk = {path for path in listed if path.startswith("/editor")} - {"/editors-choice"}
    assert {path.replace(":path", "") for path in desk} == {path for _, path in ROUTES}
    assert len(ROUTES) == 42


def test_who_is_not_signed_in_is_asked_to(visitor: Browser) -> None:
    for method, path in ROUTES:
        answer = ask(visitor, method, path)
        assert answer.status_code == 303, (method, path)
        assert answer.headers["location"].startswith("/log-in")


@pytest.mark.parametrize("roles", [(), (Role.ADMIN,)], ids=["shopper", "admin"])
def test_others_may_not(roles: tuple[Role, ...], web: Web) -> None:
    somebody = web.signed_in("sam", *roles)
    for method, path in ROUTES:
        answer = ask(somebody, method, path)
        assert answer.status_code == 403, (method, path)
        assert "Your account has no access to this." in answer.text


def test_an_editor_may(erin: Browser, post_deal: PostDeal) -> None:
    deal_id = post_deal().deal_id
    for method, path in ROUTES:
        answer = ask(erin, method, path, deal_id=deal_id)
        assert answer.status_code == EMPTY.get((method, path), 200), (method, path)


EMPTY = {
    ("GET", "/editor/find"): 422,
    ("GET", "/editor/deals"): 303,
    ("GET", "/editor/deals/preview"): 303,
    ("GET", "/editor/deals/{deal_id}/preview"): 303,
    ("GET", "/editor/brands"): 303,
    ("GET", "/editor/brands/preview"): 303,
    ("POST", "/editor/deals"): 400,
    ("POST", "/editor/deals/preview"): 400,
    ("POST", "/editor/deals/{deal_id}"): 422,
    ("POST", "/editor/deals/{deal_id}/preview"): 422,
    ("POST", "/editor/deals/{deal_id}/hot"): 303,
    ("POST", "/editor/deals/{deal_id}/picture"): 422,
    ("POST", "/editor/deals/{deal_id}/picture/remove"): 303,
    ("GET", "/editor/brands/{name}/picture"): 404,
    ("POST", "/editor/brands/{name}/picture"): 404,
    ("POST", "/editor/brands/{name}/picture/remove"): 404,
    ("POST", "/editor/deals/{deal_id}/hot/test"): 303,
    ("GET", "/editor/deals/{deal_id}/hot/test"): 303,
    ("POST", "/editor/deals/{deal_id}/unpublish"): 303,
    ("POST", "/editor/deals/{deal_id}/publish"): 303,
    ("GET", "/editor/deals/{deal_id}/publish"): 303,
    ("GET", "/editor/brands/find"): 422,
    ("POST", "/editor/brands/edit/{brand_name}"): 422,
    ("POST", "/editor/brands"): 422,
    ("POST", "/editor/brands/preview"): 422,
    ("POST", "/editor/featured/front-page"): 422,
    ("POST", "/editor/featured/editors-choice"): 422,
    ("POST", "/editor/featured/categories/{name}"): 422,
}
"""What an editor is answered who sends a form with nothing in it."""


def test_the_address_of_an_answer_leads_back_to_its_form(
    erin: Browser, post_deal: PostDeal
) -> None:
    deal = f"/editor/deals/{post_deal().deal_id}"
    for address, form in [
        ("/editor/deals", "/editor/deals/new"),
        ("/editor/deals/preview", "/editor/deals/new"),
        (f"{deal}/preview", deal),
        ("/editor/brands", "/editor/brands/new"),
        ("/editor/brands/preview", "/editor/brands/new"),
    ]:
        answer = erin.get(address)
        assert (answer.status_code, answer.headers["location"]) == (303, form), address
    assert erin.get(f"/editor/deals/{'2' * 27}/preview").status_code == 404


def test_a_form_from_elsewhere_changes_nothing(erin: Browser, web: Web) -> None:
    for method, path in ROUTES:
        if method == "POST":
            answer = erin.post(path.format(**NAMES), data={"form_token": "made up", "title": "Boo"})
            assert answer.status_code == 400, path


def test_an_editor_sees_the_way_to_the_desk_and_a_shopper_does_not(
    erin: Browser, alex: Browser
) -> None:
    assert "/editor" in erin.links("/") and "/editor" not in alex.links("/")
