"""The outbox: letters to look at, in development alone."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from bigtime.engine import Engine
from tests.site.letters import write_letter
from tests.web.browsing import PRODUCTION, Browser, Reader, Web, make_web, words


def test_letters_come_newest_first_with_their_links(web: Web, visitor: Browser) -> None:
    base = web.site.settings.base_url
    web.run(write_letter("a", "a@example.com", "First", f"Look at {base}/pricing and so on."))
    web.run(write_letter("b", "b@example.com", "Second", "See https://elsewhere.example/x now"))
    page = visitor.get("/outbox").text
    assert page.index("Second") < page.index("First")
    links = Reader(page).links
    assert "https://elsewhere.example/x" in links
    assert "/pricing" in links
    assert f"Look at {base}/pricing and so on." in words(page)


def test_what_is_written_stays_text(web: Web, visitor: Browser) -> None:
    evil = '<img src=x onerror="alert(1)"> javascript:alert(1) http://x"onclick=alert(1)'
    web.run(write_letter("a", "a@example.com", evil, evil))
    page = visitor.get("/outbox").text
    assert "<img src=x" not in page
    assert 'href="javascript' not in page
    assert '"onclick' not in page


def test_many_letters_come_page_by_page(web: Web, visitor: Browser) -> None:
    for number in range(27):
        web.run(write_letter(f"m{number}", "a@example.com", f"Letter {number}.", "text"))
    (more,) = [link for link in visitor.links("/outbox") if "after=" in link]
    assert visitor.get(more).text.count("To a@example.com") == 2
    assert visitor.get("/outbox?after=x").status_code == 400


def test_there_is_none_in_production(engine: Engine, tmp_path: Path) -> None:
    front, _ = make_web(engine, tmp_path, **PRODUCTION)
    with TestClient(front, base_url="https://testserver") as served:
        page = served.get("/outbox")
        assert page.status_code == 404
        assert "This page does not exist." in words(page.text)
