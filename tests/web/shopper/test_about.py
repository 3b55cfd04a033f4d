"""About the site: privacy, terms, contact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from starlette.testclient import TestClient

from bigtime.engine import Engine
from bigtime.web.http.settings import Settings
from tests.web.browsing import Browser, make_web, words


@pytest.mark.parametrize("page", ["/about", "/privacy", "/terms"])
def test_everybody_may_read_it(visitor: Browser, page: str) -> None:
    shown = visitor.get(page)
    assert shown.status_code == 200
    assert {"/about", "/privacy", "/terms"} <= set(visitor.links("/"))


def test_every_cookie_is_named(visitor: Browser) -> None:
    shown = words(visitor.get("/privacy").text)
    assert all(name in shown for name in ("session", "visit", "device", "180 days", "7 days"))


@pytest.mark.parametrize("name", ["privacy", "terms"])
def test_it_may_be_elsewhere(engine: Engine, tmp_path: Path, name: str) -> None:
    address = f"https://law.example/{name}"
    addresses: dict[str, Any] = {f"{name}_url": address}
    front, _ = make_web(engine, tmp_path, **addresses)
    with TestClient(front, follow_redirects=False) as served:
        sent = served.get(f"/{name}")
        assert (sent.status_code, sent.headers["location"]) == (303, address)


@pytest.mark.parametrize("text", ["help", "a b@c", "javascript:alert(1)", '"@x', "http://x"])
def test_a_contact_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValidationError, match="BIGTIME_CONTACT"):
        Settings(contact=text)


@pytest.mark.parametrize("name", ["privacy_url", "terms_url"])
def test_a_page_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(ValidationError, match="BIGTIME_"):
        Settings.model_validate({name: "javascript:alert(1)"})
