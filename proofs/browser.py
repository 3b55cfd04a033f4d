"""A browser or an API client that uses the site, and compares every response with what it expects.

It keeps its cookies and one connection, and reads forms from pages, as a browser without scripts
does. A connection that was idle for a while is not reused: the site closes those after 5 seconds.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from html import unescape
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import Any
from urllib.parse import urlencode

SECONDS_PATIENT = 30.0
SECONDS_IDLE = 2.0
URLENCODED = "application/x-www-form-urlencoded"

FORM = re.compile(r'<form[^>]* action="([^"]*)"[^>]*>(.*?)</form>', re.DOTALL)
INPUT = re.compile(r"<input[^>]*>")
ATTRIBUTE = re.compile(r'\b(name|value)="([^"]*)"')


class SiteGone(Exception):
    """The connection broke: the client does not know whether its request took effect."""


class Unexpected(Exception):
    """The site's response was not the expected one; `status` is set if that is the reason."""

    def __init__(self, what: str, status: int | None = None) -> None:
        super().__init__(what)
        self.status = status


@dataclass(frozen=True, slots=True)
class Answer:
    """A response; `location` is the target of a redirect."""

    status: int
    text: str
    location: str

    def json(self) -> Any:
        return json.loads(self.text)


class Browser:
    """A client at an address, with the cookies that the site has set."""

    def __init__(self, port: int, address: str, answers: Counter[int] | None = None) -> None:
        self.port = port
        self.address = address
        self.answers: Counter[int] = Counter() if answers is None else answers
        self.cookies: dict[str, str] = {}
        self.token = ""
        self.connection: HTTPConnection | None = None
        self.used_at = 0.0

    # Pages and forms

    def get(self, path: str, *, expect: int = 200, shows: str = "") -> str:
        """Requests a page, which must contain those words."""
        answer = self.ask("GET", path, expect=expect)
        if shows not in answer.text:
            raise Unexpected(f"GET {path} does not show {shows!r}")
        return answer.text

    def form(self, page: str, action: str) -> dict[str, str]:
        """The fields of the form on a page that is sent to `action`."""
        return fields_in(self.get(page), page, action)

    def post(self, action: str, fields: Mapping[str, str], *, to: str = "") -> str:
        """Sends a form; returns where it redirects to, which must begin with `to`."""
        headers = {"Content-Type": URLENCODED}
        answer = self.ask("POST", action, urlencode(fields), headers, expect=303)
        if not answer.location.startswith(to):
            raise Unexpected(f"POST {action} leads to {answer.location}, not to {to}")
        return answer.location

    def submit(self, page: str, action: str, *, to: str = "", **typed: str) -> str:
        """Fills in a form on a page, and sends it."""
        return self.post(action, {**self.form(page, action), **typed}, to=to)

    # The API

    def call(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        expect: int = 200,
        key: str | None = None,
    ) -> Any:
        """An API request with the client's token, and an idempotency key if one is given."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if key is not None:
            headers["Idempotency-Key"] = key
        content = None if body is None else json.dumps(body)
        if content is not None:
            headers["Content-Type"] = "application/json"
        answer = self.ask(method, f"/api/v1{path}", content, headers, expect=expect)
        return answer.json() if answer.text else None

    # The connection

    def ask(
        self,
        method: str,
        path: str,
        body: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        expect: int,
    ) -> Answer:
        answer = self.send(method, path, body, headers or {})
        self.answers[answer.status] += 1
        if answer.status != expect:
            told = " ".join(re.sub(r"<[^>]*>", " ", answer.text).split())
            what = f"{answer.status} to {method} {path}, not {expect}: {told[:300]}"
            raise Unexpected(what, answer.status)
        return answer

    def send(
        self, method: str, path: str, body: str | bytes | None, headers: Mapping[str, str]
    ) -> Answer:
        given = {"X-Forwarded-For": self.address, **headers}
        if self.cookies:
            given["Cookie"] = "; ".join(f"{name}={each}" for name, each in self.cookies.items())
        try:
            connection = self.connect()
            connection.request(method, path, body, given)
            response = connection.getresponse()
            text = response.read().decode(errors="replace")  # a picture is no text
        except (OSError, HTTPException) as error:
            self.close()
            raise SiteGone(f"{method} {path}: {error!r}") from None
        self.used_at = time.monotonic()
        self.keep_cookies(response)
        return Answer(response.status, text, response.getheader("location", ""))

    def connect(self) -> HTTPConnection:
        if time.monotonic() - self.used_at > SECONDS_IDLE:
            self.close()
        if self.connection is None:
            self.connection = HTTPConnection("127.0.0.1", self.port, timeout=SECONDS_PATIENT)
        return self.connection

    def keep_cookies(self, response: HTTPResponse) -> None:
        for line in response.headers.get_all("set-cookie") or ():
            name, _, value = line.partition(";")[0].partition("=")
            if value:
                self.cookies[name] = value
            else:
                self.cookies.pop(name, None)

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def fields_in(html: str, page: str, action: str) -> dict[str, str]:
    for where, inside in FORM.findall(html):
        if unescape(where) == action:
            inputs = (dict(ATTRIBUTE.findall(tag)) for tag in INPUT.findall(inside))
            return {
                unescape(input_["name"]): unescape(input_.get("value", ""))
                for input_ in inputs
                if "name" in input_
            }
    raise Unexpected(f"{page} has no form for {action}")
