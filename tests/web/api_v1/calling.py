"""Programs that call the API, each with the token of a session."""

from __future__ import annotations

from itertools import count
from typing import Any

from httpx import Response

from bigtime.model import create
from bigtime.systems.accounts.design import Account, Role
from bigtime.systems.accounts.password import NOBODY
from bigtime.systems.deals.users import create_user
from bigtime.systems.sessions.design import hash_token
from bigtime.systems.sessions.session import create_session
from tests.web.browsing import Browser, Web

API = "/api/v1"
NUMBERS = count()


class Caller:
    """Somebody's program."""

    def __init__(self, browser: Browser, username: str = "", token: str = "") -> None:
        self.browser = browser
        self.username = username
        self.token = token

    @property
    def login(self) -> str:
        return f"{self.username}@example.com"

    def ask(self, method: str, path: str, body: Any = None, **options: Any) -> Response:
        headers = dict(options.pop("headers", {}))
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        if body is not None:
            options["json"] = body
        answer: Response = self.browser.request(method, API + path, headers=headers, **options)
        return answer

    def get(self, path: str, **query: Any) -> Response:
        return self.ask("GET", path, params=query or None)

    def post(self, path: str, body: Any = None, key: str | None = None, **query: Any) -> Response:
        headers = {"idempotency-key": key} if key else {}
        return self.ask("POST", path, body, headers=headers, params=query or None)

    def put(self, path: str, body: Any = None, **query: Any) -> Response:
        return self.ask("PUT", path, body, params=query or None)

    def patch(self, path: str, body: Any) -> Response:
        return self.ask("PATCH", path, body)

    def delete(self, path: str, **query: Any) -> Response:
        return self.ask("DELETE", path, params=query or None)


def nobody(web: Web) -> Caller:
    return Caller(web.browser())


def caller(web: Web, username: str, *roles: Role) -> Caller:
    """A new member with a session, and without a password: to hash one takes its time."""
    login = f"{username}@example.com"
    account = Account(
        login=login, password_hash=NOBODY, username=username, roles={Role.SHOPPER, *roles}
    )
    web.run(create(account))
    web.run(create_user(username, email=login))
    return again(web, username)


def again(web: Web, username: str) -> Caller:
    """The same member in another session."""
    token = f"token-{next(NUMBERS)}-of-{username}"
    web.run(create_session(hash_token(token), f"{username}@example.com"))
    return Caller(web.browser(), username, token)


def problem(answer: Response) -> tuple[int, str]:
    """The status and the code of an error, which has the one shape."""
    told = answer.json()
    assert set(told) == {"error", "message", "details"}, told
    assert all(set(detail) == {"field", "message"} for detail in told["details"])
    return answer.status_code, told["error"]


def faulty(answer: Response) -> set[str]:
    """The fields that an error tells of."""
    assert set(answer.json()) == {"error", "message", "details"}
    return {detail["field"] for detail in answer.json()["details"]}
