"""Templates: what pages tell of limits comes from where the limits are kept."""

from __future__ import annotations

import re

from bigtime.systems.accounts.design import Role
from bigtime.systems.accounts.password import LEAST_CHARACTERS
from bigtime.systems.deals.values import MOST_DESCRIPTION
from bigtime.web.pages.rendering import FOLDER, initials
from tests.web.browsing import Web, words

LIMIT = re.compile(r'(?:[Aa]t (?:most|least)|can keep|max(?:length)?=")\s*[0-9]')


def test_no_limit_is_written_out_in_a_template() -> None:
    written = {
        f"{path.name}: {one}"
        for path in FOLDER.rglob("*.html")
        for one in LIMIT.findall(path.read_text())
    }
    assert written == set()


def test_the_limits_are_told(web: Web) -> None:
    visitor, editor = web.browser(), web.signed_in("erin", Role.EDITOR)
    password = f"At least {LEAST_CHARACTERS} characters."
    assert password in words(visitor.get("/sign-up").text)
    assert password in words(editor.get("/me").text)
    description = f"At most {MOST_DESCRIPTION} characters."
    assert description in words(editor.get("/editor/deals/new").text)


def test_initials_are_those_of_words() -> None:
    for name, shown in [
        ("Apple", "A"),
        ("Tom & Söhne", "TS"),
        ("the big lamp company", "TB"),
        ("7-Eleven", "7"),
        ("火", "火"),
        ("&", "&"),
        ("  (Acme)  ", "A"),
    ]:
        assert initials(name) == shown
