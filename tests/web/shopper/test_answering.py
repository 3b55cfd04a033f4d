"""How the site answers: HEAD, addresses that are none, what browsers may keep, who hangs up."""

from __future__ import annotations

import logging
from re import findall
from typing import Any

import pytest

from bigtime.systems.deals.brands import create_brand
from bigtime.web.http.responses import FOLDER
from tests.web.browsing import Browser, Web
from tests.web.conftest import PostDeal

PERSONAL = (
    "/me",
    "/inbox",
    "/cart",
    "/orders",
    "/me/addresses",
    "/me/activity",
    "/me/interests",
    "/me/saved",
    "/log-in",
    "/sign-up",
    "/forgot-password",
    "/nope",
)


# HEAD


@pytest.mark.parametrize(
    "path", ["/", "/brands/APPLE", "/healthz", "/log-in", "/nope", "/static/site.css", "/v1.0/x"]
)
def test_head_is_answered_as_get_is_but_for_the_body(visitor: Browser, path: str) -> None:
    """Also when the page is kept, which it is the second time."""
    for _ in range(2):
        got, head = visitor.get(path), visitor.head(path)
        assert (head.status_code, head.content) == (got.status_code, b"")
        assert head.headers["content-length"] == str(len(got.content))
        assert head.headers.keys() - {"set-cookie"} == got.headers.keys() - {"set-cookie"}


def test_who_asks_for_the_head_of_a_deal_has_not_looked_at_it(
    web: Web, alex: Browser, post_deal: PostDeal
) -> None:
    deal = post_deal()
    for _ in range(2):
        alex.head(f"/deals/{deal.deal_id}")
    gone = alex.head(f"/deals/{deal.deal_id}/go")
    assert gone.headers["location"] == deal.link
    assert not web.site.engagement.counted
    assert "A lamp" not in alex.get("/me/activity").text
    alex.get(f"/deals/{deal.deal_id}")
    assert web.site.engagement.counted


@pytest.mark.parametrize(
    ("path", "allowed"),
    [("/brands", "GET, HEAD"), ("/cart/count", "POST"), ("/log-in", "GET, HEAD, POST")],
)
def test_a_wrong_method_tells_the_right_ones(visitor: Browser, path: str, allowed: str) -> None:
    refused = visitor.put(path)
    assert (refused.status_code, refused.headers["allow"]) == (405, allowed)


# Addresses of no page


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("/cart/count", "/cart"),
        ("/cart/add", "/cart"),
        ("/me/password", "/me"),
        ("/me/data/export", "/me/data"),
        ("/me/data/delete", "/me/data"),
        ("/me/sessions/end", "/me"),
        ("/me/sessions/end-others", "/me"),
        ("/me/confirm-email", "/me"),
        ("/me/addresses/remove", "/me/addresses"),
        ("/inbox/read", "/inbox"),
        (f"/inbox/{'0' * 27}/read", f"/inbox/{'0' * 27}"),
        ("/log-out", "/"),
        ("/brands/APPLE/like", "/brands/APPLE"),
        ("/brands/CAST%20%26%20CRUMB/unwatch", "/brands/CAST%20%26%20CRUMB"),
        ("/categories/HOME/watch", "/categories/HOME"),
    ],
)
def test_where_only_forms_are_sent_a_look_leads_to_their_page(
    alex: Browser, path: str, page: str
) -> None:
    sent = alex.get(path)
    while sent.status_code == 308:  # to how the name is spelled
        sent = alex.get(sent.headers["location"])
    assert (sent.status_code, sent.headers["location"]) == (303, page)


def test_a_brand_that_is_called_like_a_button_has_its_page(web: Web, visitor: Browser) -> None:
    web.run(create_brand("Apple/Like"))
    assert "Apple/Like" in visitor.get("/brands/APPLE%2FLIKE").text


@pytest.mark.parametrize("path", ["/pricing/", "/cart/", "/brands//", "/trending/"])
def test_a_slash_too_many_leads_to_this_site_whatever_host_is_named(
    visitor: Browser, path: str
) -> None:
    sent = visitor.get(path, headers={"host": "evil.example"})
    assert "evil" not in sent.headers.get("location", "")
    if path in ("/pricing/", "/cart/"):
        assert (sent.status_code, sent.headers["location"]) == (303, path.rstrip("/"))


@pytest.mark.parametrize("path", ["//evil.example/", "/nope/", "//", "/static/"])
def test_what_is_no_page_without_its_slash_is_none_with_it(visitor: Browser, path: str) -> None:
    assert visitor.get(f"http://testserver{path}").status_code == 404


# What browsers keep


@pytest.mark.parametrize("path", PERSONAL)
def test_a_page_of_one_s_own_is_not_stored(alex: Browser, visitor: Browser, path: str) -> None:
    browser = visitor if path in ("/log-in", "/sign-up", "/forgot-password") else alex
    assert browser.get(path).headers["cache-control"] == "no-store"


def test_a_page_of_everybody_may_be_kept_if_it_is_asked_for_again(alex: Browser) -> None:
    for _ in range(2):
        assert alex.get("/brands").headers["cache-control"] == "no-cache, private"


def test_a_form_that_is_refused_is_not_stored_either(alex: Browser) -> None:
    refused = alex.submit("/me/addresses", "/me/addresses", street="9 Mill Lane")
    assert (refused.status_code, refused.headers["cache-control"]) == (422, "no-store")


def test_files_of_pages_are_kept_for_good_for_their_address_tells_their_content(
    visitor: Browser,
) -> None:
    addresses = findall(r'(?:href|src)="(/static/[^"#]*\?[^"]*)"', visitor.get("/brands").text)
    assert len(addresses) == 5
    for address in addresses:
        file = visitor.get(address)
        assert file.status_code == 200
        assert file.headers["cache-control"] == "public, max-age=31536000, immutable"


@pytest.mark.parametrize("query", ["", "?0.1.0", "?x"])
def test_a_file_whose_address_tells_nothing_is_asked_for_again(
    visitor: Browser, query: str
) -> None:
    file = visitor.get(f"/static/site.css{query}")
    assert file.headers["cache-control"] == "public, max-age=3600"
    assert file.content == (FOLDER / "site.css").read_bytes()
    same = visitor.get(f"/static/site.css{query}", headers={"if-none-match": file.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    assert same.headers["cache-control"] == "public, max-age=3600"


# Who hangs up


@pytest.mark.parametrize("path", ["/log-in", "/cart/add", "/v1.0/checkout"])
def test_who_hangs_up_amid_a_form_is_no_failure(
    web: Web, alex: Browser, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    is_form = not path.startswith("/v1.0")
    kind = b"application/x-www-form-urlencoded" if is_form else b"application/json"
    messages = [
        {"type": "http.request", "body": b"email=al", "more_body": True},
        {"type": "http.disconnect"},
    ]
    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [
            (b"content-type", kind),
            (b"content-length", b"1000"),
            (b"cookie", f"session={alex.cookies['session']}".encode()),
        ],
        "client": ("1.2.3.4", 5),
        "server": ("testserver", 80),
        "scheme": "http",
    }
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    assert web.served.portal is not None
    with caplog.at_level(logging.WARNING):
        web.served.portal.call(web.front, scope, receive, send)
    assert sent[0]["status"] < 500
    assert not [record for record in caplog.records if record.name.startswith("bigtime")]
