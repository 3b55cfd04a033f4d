"""What a person reads when something is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tests.web.browsing import Browser, Web, words


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/nope", 404, "Not found This page does not exist."),
        ("/deals/x", 404, "Not found There is no such deal."),
        ("/brands/NOPE", 404, "Not found There is no such brand."),
        ("/?after=x", 400, "Bad request This page cannot be continued"),
    ],
)
def test_a_problem_is_told_in_words(visitor: Browser, path: str, status: int, says: str) -> None:
    told = visitor.get(path)
    assert told.status_code == status
    assert says in words(told.text)
    assert told.headers["content-type"] == "text/html; charset=utf-8"


def test_who_is_signed_in_stays_so_on_a_problem_page(alex: Browser) -> None:
    assert "Sign out" in words(alex.get("/nope").text)


def test_a_wrong_method_is_told(visitor: Browser) -> None:
    told = visitor.post("/brands")
    assert told.status_code == 405
    assert "Not allowed Nothing can be sent to this address." in words(told.text)


def fail(*given: Any, **named: Any) -> Any:
    raise RuntimeError("secret detail")


def test_a_failure_tells_its_number_and_nothing_else(
    visitor: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bigtime.systems.deals.fetch_deal", fail)
    told = visitor.get(f"/deals/{'0' * 27}")
    assert told.status_code == 500
    assert "secret" not in told.text
    assert told.headers["x-request-id"] in told.text
    assert "content-security-policy" in told.headers


def test_a_cached_page_whose_slots_cannot_be_filled_is_answered_by_the_application(
    web: Web, alex: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert alex.get("/brands").status_code == 200

    async def broken(page: Any, visitor: Any) -> bytes:
        raise RuntimeError("secret detail")

    slots = web.front.slots
    web.front.slots = type("Broken", (), {"fill": staticmethod(broken)})()
    told = alex.get("/brands")
    web.front.slots = slots
    assert told.status_code == 200
    assert "secret" not in told.text
    assert len(told.headers.get_list("x-request-id")) == 1


def test_a_failed_page_is_not_kept(
    web: Web, visitor: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("bigtime.site.fetch_featuring", fail)
        assert visitor.get("/").status_code == 500
    assert visitor.get("/").status_code == 200
