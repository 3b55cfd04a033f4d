"""Programs that call the API: with a bearer token, with a browser's cookie, with nothing."""

from __future__ import annotations

import re
from typing import Any

from bigtime.systems.accounts.design import Role
from bigtime.systems.sessions.design import hash_token
from bigtime.systems.sessions.session import create_session
from tests.web.browsing import Web

DESCRIBED: dict[str, Any] = {}


class Program:
    """Somebody without a browser; with a token, or without."""

    def __init__(self, web: Web, login: str | None = None) -> None:
        self.web = web
        self.client = web.browser()
        self.headers: dict[str, str] = {}
        if login is not None:
            token = f"bearer-of-{login}"
            web.run(create_session(hash_token(token), login))
            self.headers["authorization"] = f"Bearer {token}"

    def ask(self, method: str, path: str, *, key: str | None = None, **options: Any) -> Any:
        headers = {**self.headers, **options.pop("headers", {})}
        if key is not None:
            headers["idempotency-key"] = key
        answer = self.client.request(method, path, headers=headers, **options)
        check_documented(self.web, method, path, answer)
        return answer

    def get(self, path: str, **options: Any) -> Any:
        return self.ask("GET", path, **options)

    def post(self, path: str, body: Any, **options: Any) -> Any:
        return self.ask("POST", path, json=body, **options)

    def put(self, path: str, body: Any, **options: Any) -> Any:
        return self.ask("PUT", path, json=body, **options)


def check_documented(web: Web, method: str, path: str, answer: Any) -> None:
    """That a route says beforehand how it may answer; 500 is for machines that die."""
    plain = path.partition("?")[0]
    for template, methods in openapi(web)["paths"].items():
        pattern = re.sub(r"{[^}]*}", "[^/]+", template)
        if method.lower() in methods and re.fullmatch(pattern, plain):
            documented = methods[method.lower()]["responses"]
            assert str(answer.status_code) in {*documented, "500"}, (template, answer.text)


def openapi(web: Web) -> dict[str, Any]:
    """What the APIs say of themselves; it takes a second to say, and is the same every time."""
    if not DESCRIBED:
        DESCRIBED.update(web.front.application.openapi())  # type: ignore[attr-defined]
    return DESCRIBED


def program_of(web: Web, username: str, *roles: Role) -> Program:
    """A new member's program."""
    return Program(web, web.join(username, *roles).login)


def faults(answer: Any) -> dict[str, str]:
    """What is wrong, by field."""
    return {detail["field"]: detail["message"] for detail in answer.json()["details"]}


def is_problem(answer: Any) -> bool:
    """Whether an error has the one shape."""
    told = answer.json()
    return (
        answer.headers["content-type"] == "application/json"
        and told.keys() == {"error", "message", "details"}
        and isinstance(told["error"], str)
        and isinstance(told["message"], str)
        and all(detail.keys() == {"field", "message"} for detail in told["details"])
    )
