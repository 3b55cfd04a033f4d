"""A browser without a window: it keeps cookies, finds forms on pages, fills them in, sends them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from html import unescape
from html.parser import HTMLParser
from itertools import count
from typing import Any

from httpx import Response
from starlette.testclient import TestClient

from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.site.api_tokens import ApiArea, api_token_text, create_api_token, hash_api_token
from bigtime.site.registration import join
from bigtime.site.systems import SYSTEMS
from bigtime.store import AsyncStore, Store
from bigtime.store.driver import Runnable
from bigtime.systems.accounts.account import view_account
from bigtime.systems.accounts.design import Identity, Role
from bigtime.systems.deals.brands import create_brand, create_categories
from bigtime.systems.sessions.design import hash_token
from bigtime.systems.sessions.session import create_session
from bigtime.web.app import LIMITS, make_app
from bigtime.web.http.limits import Limit
from bigtime.web.http.settings import Settings
from bigtime.web.pages.app_context import AppContext
from bigtime.web.pages.hot_pages import HotPages
from tests.furnished import furnished_engine

SECRET = "a secret for tests, of 32 characters and more"
PASSWORD = "correct horse"
NUMBERS = count()
PLENTY = {action: Limit(1_000, 1) for action in LIMITS}


@dataclass
class Form:
    """A form on a page, with what stands in it."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    text: str = ""


class Reader(HTMLParser):
    """Finds what can be pressed, and what can be read."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.links: list[str] = []
        self._in_form = False
        self._named: dict[str, dict[str, str]] = {}
        self._fields: dict[str, str] = {}
        self._select = ""
        self._in_area = False
        self.feed(html)

    def own_fields(self) -> dict[str, str]:
        """The fields of the form that is open here; some that nothing sends where none is."""
        return self.forms[-1].fields if self._in_form else {}

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attributes}
        if tag == "form":
            self.forms.append(Form(found.get("action", "")))
            self._named[found.get("id", "")] = self.forms[-1].fields
            self._in_form = True
        elif tag in ("input", "textarea", "select") and "name" in found:
            self._fields = self._named[found["form"]] if "form" in found else self.own_fields()
            self._fields[found["name"]] = found.get("value", "")
            self._select = found["name"]
            self._in_area = tag == "textarea"
        elif tag == "option" and "selected" in found:
            self._fields[self._select] = found.get("value", "")
        elif tag == "button" and "formaction" in found:
            fields = self._named[found["form"]] if "form" in found else self.own_fields()
            self.forms.insert(0, Form(found["formaction"], fields))
        elif tag == "a" and "href" in found:
            self.links.append(found["href"])

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._in_form = False
        self._in_area &= tag != "textarea"

    def handle_data(self, data: str) -> None:
        if self._in_area:
            self._fields[self._select] += data
        if self._in_form:
            self.forms[-1].text += data


class Browser(TestClient):
    """Somebody who looks at the site; redirects are not followed."""

    def keep(self, cookie: str, value: str) -> None:
        """Has a cookie as if the site had set it."""
        self.cookies.set(cookie, value, domain="testserver.local")

    def form(self, page: str, action: str) -> Form:
        """The form on a page that is sent to that address."""
        shown = self.get(page)
        assert shown.status_code == 200, (page, shown.status_code, shown.headers.get("location"))
        found = [form for form in Reader(shown.text).forms if form.action == action]
        assert found, f"{page} has no form for {action}"
        return found[0]

    def submit(self, page: str, action: str, **typed: str) -> Response:
        """Fills in a form that is on a page, and sends it."""
        form = self.form(page, action)
        sent: Response = self.post(action, data={**form.fields, **typed})
        return sent

    def token(self) -> str:
        """The token of this browser's forms, for one who makes up a request."""
        page = "/me" if "session" in self.cookies else "/log-in"
        return Reader(self.get(page).text).forms[-1].fields["form_token"]

    def links(self, page: str) -> list[str]:
        return Reader(self.get(page).text).links


@dataclass
class Web:
    """A site that is served, and the store under it."""

    front: HotPages
    site: AppContext
    store: Store
    served: TestClient

    def run(self, steps: Runnable[Any]) -> Any:
        """Does something to the data, as another process would."""
        return self.store.run(steps)

    def browser(self, **options: Any) -> Browser:
        """Somebody who is not signed in."""
        made = Browser(self.front, follow_redirects=False, **options)
        made.portal = self.served.portal  # one event loop for all
        return made

    def join(self, username: str, *roles: Role) -> Identity:
        login = f"{username}@example.com"
        made: Identity = self.run(join(login, PASSWORD, username, roles={Role.SHOPPER, *roles}))
        return made

    def signed_in(self, username: str, *roles: Role) -> Browser:
        """A new member's browser, with a session."""
        return self.session_of(self.join(username, *roles).login)

    def api_token(self, login: str, *areas: ApiArea, can_write: bool = True) -> str:
        """An API token of a member, for all areas unless some are given."""
        token = api_token_text(f"of {login}, number {next(NUMBERS)}".encode())
        owner = self.run(view_account(login))
        steps = create_api_token(
            owner, hash_api_token(token), "a program", areas or [*ApiArea], can_write=can_write
        )
        self.run(steps)
        return token

    def session_of(self, login: str, token: str | None = None) -> Browser:
        browser = self.browser()
        token = token or f"token of {login}".replace(" ", "-")
        self.run(create_session(hash_token(token), login))
        browser.keep("session", token)
        return browser


PRODUCTION: dict[str, Any] = {
    "mode": "production",
    "secret": "q7Zt0vBx4nKp9sLd2cHf6gJa1wYr8mTe",
    "public_url": "https://deals.example",
    "proxies": 0,
}
"""The settings that production asks for."""


def make_web(
    engine: Engine, data: Any, *, limits: dict[str, Limit] = PLENTY, **settings: Any
) -> tuple[HotPages, Store]:
    """A site over an engine of `site_engine`."""
    own = {"data": data, "pictures": str(data / "pictures")}
    chosen = settings_with(**settings).model_copy(update=own)
    front = make_app(chosen, AsyncStore(engine), version=engine.version, limits=limits)
    return front, Store(engine)


@cache
def settings_with(**settings: Any) -> Settings:
    """To look through the environment takes as long as all the rest of a site's making."""
    return Settings.model_validate({"secret": SECRET, **settings})


def site_engine() -> Engine:
    return furnished_engine(furnish_site)


def furnish_site(engine: Engine) -> None:
    """The tables of all systems, two brands and the categories."""
    store = Store(engine)
    store.run(setup(*SYSTEMS))
    store.run(create_categories())
    for name in ("Apple", "Cast & Crumb"):
        store.run(create_brand(name))


def words(html: str) -> str:
    """What a page says, without its tags."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def titles(html: str) -> list[str]:
    """The titles of the deals on a page."""
    found: Iterable[str] = re.findall(r'<a href="/deals/\w{27}"[^>]*>([^<]*)</a>', html)
    return [unescape(each) for each in found]
