"""Getting started with the APIs: the text of both `/docs/getting-started` and docs/api.md.

Its commands are run by the tests, and their responses have the shape that is shown. The limits are
those in force.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from bigtime.web.api.meanings import DEAL_ID
from bigtime.web.api.routing import MOST_BYTES
from bigtime.web.http import Limit


def lines(*parts: str) -> str:
    """One shell command, over several lines."""
    return " \\\n  ".join(parts)


@dataclass(frozen=True, slots=True)
class Example:
    """A shell command, the status of its response, and the relevant part of the body."""

    command: str
    status: int
    body: str


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the guide; text between backticks is code."""

    id: str
    title: str
    paragraphs: tuple[str, ...]
    examples: tuple[Example, ...] = ()


FIRST_DEALS: Final = f"""{{
  "items": [
    {{
      "dealId": "{DEAL_ID}",
      "title": "A brass lamp",
      "link": "https://shop.example/lamp",
      "price": 19.99,
      "listPrice": 29.99,
      "brand": "OAKMERE",
      "brandName": "Oakmere",
      "category": "HOME",
      "categoryName": "Home",
      "status": "active",
      "description": "It shines.",
      "createdAt": "2026-11-15T10:30:00Z"
    }}
  ],
  "startAt": "eyJ2IjoxfQ.c2lnbmVk",
  "moreAvailable": true
}}"""
USER: Final = """{
  "username": "alex",
  "name": "alex",
  "email": "alex@example.com",
  "createdAt": "2026-11-15T10:30:00Z"
}"""
SESSION: Final = """{
  "token": "kq3...",
  "sessionId": "b55a...",
  "username": "alex",
  "roles": ["shopper"],
  "createdAt": "2026-11-15T10:30:00Z",
  "expiresAt": "2026-11-22T10:30:00Z"
}"""
PROBLEM: Final = """{
  "error": "invalid-request",
  "message": "limit: There is no such query parameter.",
  "details": [
    {"field": "limit", "message": "There is no such query parameter."}
  ]
}"""
LINE: Final = f"""{{
  "sk": "ACTIVE#2026-11-15T10:30:00.000000Z#{DEAL_ID}",
  "status": "ACTIVE",
  "enteredAt": "2026-11-15T10:30:00Z",
  "itemSku": "{DEAL_ID}",
  "price": 19.99,
  "count": 1,
  "createTimestamp": "2026-11-15T10:30:00Z",
  "orderId": null
}}"""
JSON_BODY: Final = '-H "Content-Type: application/json"'
BEARER: Final = '-H "Authorization: Bearer $TOKEN"'

ADDRESS: Final = "http://127.0.0.1:8080"
"""Where `make serve` serves; the page names the site's own address instead."""

SECTIONS: Final = (
    Section(
        "first",
        "Your first request",
        (
            "You need a shell and curl. Put the address of this site into a variable, as in"
            f" `export SITE={ADDRESS}`. Deals, brands and categories are public, so the"
            " first request needs no token:",
        ),
        (Example('curl "$SITE/api/v1/deals"', 200, FIRST_DEALS),),
    ),
    Section(
        "token",
        "Get a token",
        (
            "Sign in, open `/me/tokens` from your account's page, and create an API token: a name,"
            " the areas that it is for, read only or read and write, and when it expires. It is"
            " shown once; put it into a variable, `export TOKEN=bigtime_...`. It allows what your"
            " account allows within its scope, and nothing on the pages of the site. It ends"
            " when you revoke it, when it expires, and when you change your password or e-mail"
            " address.",
            "Send it with every request that is about you:",
        ),
        (Example(lines('curl "$SITE/api/v1/me/user"', BEARER), 200, USER),),
    ),
    Section(
        "session",
        "Or sign in from a program",
        (
            "A program that has your password can begin a session instead, as a browser does. Its"
            " token allows all that you may do, for a week:",
        ),
        (
            Example(
                lines(
                    'curl "$SITE/api/v1/sessions"',
                    JSON_BODY,
                    '-d \'{"email": "alex@example.com", "password": "correct horse"}\'',
                ),
                201,
                SESSION,
            ),
        ),
    ),
    Section(
        "writing",
        "Change something",
        (
            "PUT and DELETE can be repeated: the second changes nothing. A response without a body"
            " has the status 204.",
        ),
        (Example(lines('curl -X PUT "$SITE/api/v1/me/brands/Oakmere/like"', BEARER), 204, ""),),
    ),
    Section(
        "idempotency",
        "Retry a POST safely",
        (
            "Where a POST takes `Idempotency-Key`, make up a key for each request, such as a UUID."
            " If you get no response, send the same request with the same key again: it is carried"
            " out once, and answered as the first time, with the header"
            " `Idempotent-Replayed: true`. A key is remembered for a day; with another body it is"
            " refused (422).",
        ),
        (
            Example(
                lines(
                    'curl "$SITE/api/v1/me/cart/products"',
                    BEARER,
                    '-H "Idempotency-Key: 6b0d9c52"',
                    JSON_BODY,
                    f'-d \'{{"dealId": "{DEAL_ID}"}}\'',
                ),
                201,
                LINE,
            ),
        ),
    ),
    Section(
        "pages",
        "Read on, page by page",
        (
            "A list is an object with `items`, `startAt` and `moreAvailable`. To get the next page,"
            " send `startAt` as it is; it is null after the last page. A cursor belongs to one list"
            " with one set of filters, and cannot be constructed. Where a list takes `pageSize`, it"
            " is 1 to 100.",
        ),
        (Example('curl "$SITE/api/v1/deals?startAt=$CURSOR"', 200, FIRST_DEALS),),
    ),
    Section(
        "errors",
        "Errors",
        (
            "Every error has one shape. `error` is a code for programs, which does not change;"
            " `message` is a sentence for people; `details` says what is wrong with which field."
            " Unknown fields and query parameters are errors too.",
            "400: the request cannot be read. 401: there is no token, or it is no longer valid."
            " 403: your roles, or the token's scope, do not allow it. 404: there is no such thing."
            " 409: it conflicts with what is there. 422: a rule is broken. 429: too many requests;"
            " `Retry-After` says how many seconds to wait. 503: try again soon.",
        ),
        (Example('curl "$SITE/api/v1/deals?limit=1"', 400, PROBLEM),),
    ),
    Section(
        "money",
        "Money and times",
        (
            "An amount is a JSON number with at most two decimals, and its text is exact: 19.99 is"
            " written as `19.99`. Read it as a decimal (`parse_float=Decimal` in Python,"
            " `BigDecimal` in Java), not as a float, before you add amounts up. In requests an"
            " amount is a number too, and text is refused. Deals are in US dollars, hosting plans"
            " in South African rand.",
            "Times are in UTC, as in `2026-11-15T10:30:00Z`; days are `2026-11-15`.",
        ),
    ),
    Section(
        "which",
        "Which deals API?",
        (
            "Use `/api/v1/deals` to show deals: it has what the site's pages show, with brands,"
            " categories, the front page, likes, watches and messages. Use `/api/v1/catalog` for"
            " how deals do: every deal is there under the same id a moment later, with its status,"
            " its views and clicks, and what is trending. Write deals through `/api/v1/deals`; what"
            " is written to the catalog alone does not appear on the site.",
            "`/v1.0` is another API: hosting plans, campaigns, customers and their orders.",
        ),
    ),
)

LIMITS: Final = (
    ("API token", "requests with one API token"),
    ("write", "requests of an account that change something"),
    ("like", "likes and watches of an account"),
    ("order", "orders of an account"),
    ("log in", "sign-ins from one network"),
)
"""The rate limits that matter to programs, with what each counts."""
SIZES: Final = (
    ("a request's body", f"{MOST_BYTES // 1024} KiB"),
    ("items on a page", "100, or 25 where there is no `pageSize`"),
    ("ids in one request", "100"),
    ("API tokens of an account", "20"),
)
PERIODS: Final = {60: "a minute", 300: "5 minutes", 3600: "an hour"}


def limit_rows(limits: Mapping[str, Limit]) -> Iterator[tuple[str, str]]:
    """The rows of the table of rate limits."""
    for action, counted in LIMITS:
        limit = limits[action]
        period = PERIODS.get(int(limit.seconds), f"{limit.seconds:g} seconds")
        yield counted, f"{limit.tries:,} in {period}"
    yield from SIZES


def guide_in_markdown(limits: Mapping[str, Limit]) -> str:
    """The same text for docs/api.md."""
    parts: list[str] = []
    for section in SECTIONS:
        parts += [f"## {section.title}", *section.paragraphs]
        for example in section.examples:
            parts.append(f"```shell\n{example.command}\n```")
            if example.body:
                parts.append(f"```json\n{example.body}\n```")
    rows = "\n".join(f"| {counted} | {most} |" for counted, most in limit_rows(limits))
    parts += ["## Limits", f"| what | at most |\n|---|---|\n{rows}"]
    return "\n\n".join(parts)
