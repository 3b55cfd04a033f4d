"""The list of changes: newest first, page by page, through the months."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256

from bigtime.model import Ksuid, load_many
from bigtime.site.design import EditorAction, EditorChange
from tests.web.browsing import Browser, Web, words


def change(number: int, at: datetime) -> EditorChange:
    return EditorChange(
        change_id=Ksuid.make(at, sha256(f"{number}".encode()).digest()[:16]),
        at=at,
        who="erin",
        action=EditorAction.CHANGED_DEAL,
        what=f"<lamp {number}>",
        link="/deals/1",
    )


def test_a_new_desk_has_no_changes(erin: Browser) -> None:
    assert "No changes yet." in erin.get("/editor/changes").text


def test_changes_are_listed_newest_first_page_by_page(web: Web, erin: Browser) -> None:
    begin = max(datetime(2026, 1, 1, tzinfo=UTC), datetime.now(UTC) - timedelta(days=90))
    web.run(load_many(change(number, begin + timedelta(hours=number)) for number in range(60)))

    seen, page = [], "/editor/changes"
    for _ in range(10):
        shown = erin.get(page).text
        seen += [int(part.partition("&gt;")[0]) for part in shown.split("&lt;lamp ")[1:]]
        older = [link for link in erin.links(page) if link.startswith("/editor/changes?after=")]
        if not older:
            break
        (page,) = older

    assert seen == list(range(59, -1, -1))


def test_a_cursor_that_was_changed_is_refused(web: Web, erin: Browser) -> None:
    now = datetime.now(UTC)
    web.run(load_many(change(number, now - timedelta(seconds=number)) for number in range(30)))
    (older,) = [link for link in erin.links("/editor/changes") if "?after=" in link]
    assert erin.get(older).status_code == 200
    assert erin.get(older[:-2] + ("AA" if older[-2:] != "AA" else "BB")).status_code == 400
    assert erin.get("/editor/changes?after=made-up").status_code == 400


def test_the_desk_tells_what_was_changed_last(web: Web, erin: Browser) -> None:
    now = datetime.now(UTC)
    web.run(load_many(change(number, now - timedelta(seconds=number)) for number in range(9)))
    told = words(erin.get("/editor").text)
    assert [f"<lamp {number}>" in told for number in range(9)] == [True] * 5 + [False] * 4
    assert "erin changed deal" in told
