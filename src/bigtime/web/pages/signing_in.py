"""Signing in and out.

Every sign-in generates a new session token and does not reuse the request's cookie, so a cookie
that was planted in a browser never becomes a session (session fixation). Only the token's hash is
stored.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from fastapi import Response

from bigtime import site
from bigtime.model import DomainError, Position
from bigtime.site import MergedCart, move_to_session
from bigtime.systems import accounts, sessions
from bigtime.web.http import DEVICE, DEVICE_SECONDS, SESSION, VISIT, Header, see_other
from bigtime.web.pages.app_context import AppContext
from bigtime.web.pages.app_request import AppRequest
from bigtime.web.pages.guest_carts import signed_place

TOKEN_BYTES = 32


async def count_log_in(request: AppRequest, email: str) -> str:
    """Counts a try to sign in by network and by login; returns the login as spelled in its account.

    Other spellings of a login share its tries. Logins that do not exist are counted the same way.
    """
    await request.count_try("log in")
    try:
        login = accounts.LOGIN(email)
    except accounts.InvalidLogin:
        return ""
    await count_apart(request, login, here="log in from", anywhere="log in as")
    return login


async def count_apart(request: AppRequest, login: str, *, here: str, anywhere: str) -> None:
    """Counts a try for a login or mailbox; strangers cannot use up its owner's tries.

    `here` is counted by the browser or network. `anywhere` is counted of all browsers and networks
    together in which the login was never signed in to, nor the mailbox confirmed.
    """
    await request.context.count_try_of(here, place_of(request, login))
    if not await is_known_here(request, login):
        await request.context.count_try_of(anywhere, login)


def place_of(request: AppRequest, login: str) -> str:
    """The subject of a login's tries: the login with its known browser, or with the network."""
    device = known_device(request, login)
    place = f"from {request.network}" if device is None else f"on {device}"
    return f"{login} {place}"


def known_device(request: AppRequest, login: str) -> str | None:
    cookie = request.cookie(DEVICE)
    return request.context.devices.id_for(cookie, login)


async def is_known_here(request: AppRequest, login: str) -> bool:
    if known_device(request, login) is not None:
        return True
    return await request.run(site.is_network_known(login, request.network))


async def remember_place(request: AppRequest, login: str) -> Header:
    """Remembers the network of a login or mailbox that has been verified.

    Returns the header with the cookie that makes the browser known too.
    """
    await request.context.forget_tries("log in from", place_of(request, login))
    await request.run(site.remember_network(login, request.network))
    cookie = request.cookie(DEVICE)
    device = request.context.devices.with_login(cookie, login)
    return request.context.cookies.set_header(DEVICE, device, seconds=DEVICE_SECONDS)


async def sign_in(request: AppRequest, identity: accounts.Identity, *, then: str) -> Response:
    """Begins a session, ends the browser's previous one, and redirects to the page `then`."""
    # Before there is a session: if this fails, the browser still has its cart, and tries again.
    then, cart_headers = await merge_cart(request, identity, then=then)
    token, _ = await begin_session(request.context, identity, device=device_of(request))
    visit = request.cookie(VISIT)
    if visit is not None:
        await request.run(move_to_session(visit, token, identity.login))
    await end_session(request)
    response = see_other(then)
    response.raw_headers.append(await remember_place(request, identity.login))
    response.raw_headers.append(request.context.cookies.set_header(SESSION, token))
    response.raw_headers.append(request.context.cookies.clear_header(VISIT))
    response.raw_headers.extend(cart_headers)
    return response


# The guest's cart


MERGED = "merged at sign-in"
"""Replaces a query's fingerprint in the signed text; no fingerprint looks like this."""


@dataclass(frozen=True, slots=True)
class MergeNotice:
    """What was left out of a guest's cart, and the page that the sign-in was to lead to."""

    merged: MergedCart
    then: str


async def merge_cart(
    request: AppRequest, identity: accounts.Identity, *, then: str
) -> tuple[str, list[Header]]:
    """Merges the guest's cart into the account's.

    Returns the next page, which is the cart if something was left out, and the header that clears
    the cookie. If merging fails, the cart stays in the cookie, and the sign-in succeeds.
    """
    headers = request.scope["headers"]
    if not request.context.guest_carts.is_sent(headers):
        return then, []
    guest = request.context.guest_carts.read(headers)
    if guest is not None:
        try:
            merged = await request.run(site.merge_guest_cart(identity.username, guest))
        except DomainError:
            return then, []
        if not merged.is_whole:
            place = {"gone": merged.gone, "too_many": list(merged.too_many), "then": then}
            then = f"/cart?merged={quote(request.context.cursors.write(Position(MERGED, place)))}"
    return then, [request.context.guest_carts.clear_header()]


def merged_in(request: AppRequest, text: str) -> MergeNotice | None:
    """What a sign-in has left out, from the text in the cart page's URL."""
    place = signed_place(request.context.cursors, MERGED, text) if text else None
    if place is None:
        return None
    merged = MergedCart(place["gone"], place["too_many"])
    return MergeNotice(merged, place["then"])


async def begin_session(
    context: AppContext, identity: accounts.Identity, *, device: str | None = None
) -> tuple[str, sessions.Session]:
    """Creates a session; returns its token and the session."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    version = identity.password_version
    steps = sessions.create_session(
        sessions.hash_token(token), identity.login, password_version=version, device=device
    )
    return token, await context.store.run(steps)


# What a User-Agent must contain, in the order of the search: Edge also says Chrome, and Chrome also
# says Safari.
BROWSERS: Final = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser": "Samsung Internet",
    "Firefox/": "Firefox",
    "FxiOS": "Firefox",
    "CriOS": "Chrome",
    "Chrome/": "Chrome",
    "Safari/": "Safari",
}
SYSTEMS: Final = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS X": "Mac",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}
PROGRAM: Final = re.compile(r"[A-Za-z][\w.-]{0,39}(?=/|$)")


def device_of(request: AppRequest) -> str | None:
    """The browser and system of a request in plain words; a program's own name; or None."""
    agent = request.headers.get("user-agent", "")
    browser = next((name for mark, name in BROWSERS.items() if mark in agent), None)
    system = next((name for mark, name in SYSTEMS.items() if mark in agent), None)
    if browser is None and system is None:
        program = PROGRAM.match(agent)
        return None if program is None or program[0] == "Mozilla" else program[0]
    return " on ".join(filter(None, (browser or "A browser", system)))


async def sign_out(request: AppRequest, *, then: str = "/") -> Response:
    """Ends the session of this browser, and redirects to the page `then`."""
    await end_session(request)
    response = see_other(then)
    response.raw_headers.append(request.context.cookies.clear_header(SESSION))
    return response


async def end_session(request: AppRequest) -> None:
    cookie = request.cookie(SESSION)
    if cookie is not None:
        await request.run(sessions.delete_session(sessions.hash_token(cookie)))
        request.context.visitors.forget(cookie)


async def count_code(request: AppRequest, *emails: str) -> None:
    """Counts one-time codes by the client's network and by mailbox; raises TooManyTries.

    Codes that are sent to several mailboxes together count as one for the network.
    """
    await request.count_try("one-time code")
    for email in emails:
        await count_apart(request, email, here="one-time code to", anywhere="any one-time code to")
