"""RSS feeds of the lists of deals: the latest, those of a brand, those of a category.

A feed is cached like a page, until a deal is added to its list, removed or changed. A reader that
sends the ETag or the date of its copy gets 304 without a body if that is current (RFC 9110, section
13).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import format_datetime, parsedate_to_datetime
from hashlib import sha256
from html import escape
from http import HTTPStatus
from re import compile as pattern
from typing import Final, TypeAlias
from urllib.parse import quote

from fastapi import Response
from fastapi.responses import RedirectResponse

from bigtime import site
from bigtime.model import Page, together
from bigtime.systems import deals
from bigtime.web.pages import AppRequest, page_router
from bigtime.web.shop.interests import BRAND, CATEGORY, Subject
from bigtime.wire import Steps

XML: Final = '<?xml version="1.0" encoding="UTF-8"?>\n'
ATOM: Final = "http://www.w3.org/2005/Atom"
MEDIA_TYPE: Final = "application/rss+xml"
CACHE_CONTROL: Final = "public, max-age=60"
FORBIDDEN = pattern("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 cannot have, not even escaped (section 2.2)."""

router = page_router()


@dataclass(frozen=True, slots=True)
class Channel:
    """A feed's title, description and links."""

    title: str
    description: str
    path: str


@dataclass(frozen=True, slots=True)
class Feed:
    """The bytes of a feed, and when they were made."""

    body: bytes
    made_at: datetime

    @property
    def etag(self) -> str:
        return f'"{sha256(self.body).hexdigest()[:32]}"'

    @property
    def headers(self) -> dict[str, str]:
        return {
            "etag": self.etag,
            "last-modified": format_datetime(self.made_at, usegmt=True),
            "cache-control": CACHE_CONTROL,
        }


Found: TypeAlias = tuple[Channel, Page[deals.Deal]]


@router.get("/feed")
async def show_latest_feed(request: AppRequest) -> Response:
    """The latest deals."""
    return await answer_feed(request, (site.LATEST,), latest_deals)


def latest_deals() -> Steps[Found]:
    _, latest = yield from deals.fetch_front_page()
    return Channel("Big Time Deals", "The latest deals.", "/"), latest


@router.get("/brands/{name:path}/feed")
async def show_brand_feed(request: AppRequest, name: str) -> Response:
    """The latest deals of a brand."""
    return await answer_subject(request, BRAND, name)


@router.get("/categories/{name:path}/feed")
async def show_category_feed(request: AppRequest, name: str) -> Response:
    """The latest deals of a category."""
    return await answer_subject(request, CATEGORY, name)


async def answer_subject(request: AppRequest, subject: Subject, name: str) -> Response:
    key = subject.key(name)
    path = subject.folder + quote(key, safe="")
    if key != name:
        return RedirectResponse(f"{path}/feed", status_code=HTTPStatus.PERMANENT_REDIRECT)

    def read() -> Steps[Found]:
        found, latest = yield from together(subject.fetch(key), subject.latest(key, None))
        title = f"{found.name} deals"
        return Channel(title, f"The latest deals of {found.name}.", path), latest

    return await answer_feed(request, (subject.tag(key), subject.deals_tag(key)), read)


async def answer_feed(
    request: AppRequest, tags: tuple[str, ...], read: Callable[[], Steps[Found]]
) -> Response:
    """The feed of a list, or 304 if the client has it."""

    async def make() -> tuple[Feed, tuple[str, ...]]:
        channel, latest = await request.run(read())
        body = render_feed(channel, latest, request.context.settings.base_url).encode()
        moment = request.context.store.clock().replace(microsecond=0)
        return Feed(body, moment), (*tags, *site.deal_tags(latest))

    feed: Feed = await request.context.cache.remember(("feed", *tags), make)
    if is_current(request.headers, feed):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=feed.headers)
    return Response(feed.body, headers=feed.headers, media_type=MEDIA_TYPE)


def is_current(headers: Mapping[str, str], feed: Feed) -> bool:
    """Whether the client has this feed; an ETag takes precedence over a date."""
    if (tags := headers.get("if-none-match")) is not None:
        known = {tag.strip().removeprefix("W/") for tag in tags.split(",")}
        return bool(known & {feed.etag, "*"})
    try:
        return parsedate_to_datetime(headers["if-modified-since"]) >= feed.made_at
    except (KeyError, ValueError, TypeError):  # no date, no date at all, one without a time zone
        return False


# XML


def render_feed(channel: Channel, latest: Iterable[deals.Deal], base_url: str) -> str:
    """RSS 2.0 with absolute addresses."""
    page = base_url + channel.path
    feed = f"{page.rstrip('/')}/feed"
    return (
        f'{XML}<rss version="2.0" xmlns:atom="{ATOM}">\n<channel>\n'
        f"{element('title', channel.title)}"
        f"{element('link', page)}"
        f"{element('description', channel.description)}"
        f"{element('language', 'en')}"
        f'<atom:link href="{text_of(feed)}" rel="self" type="{MEDIA_TYPE}"/>\n'
        f"{''.join(render_item(deal, base_url) for deal in latest)}</channel>\n</rss>\n"
    )


def render_item(deal: deals.Deal, base_url: str) -> str:
    address = base_url + site.deal_path(deal)
    state = "Expired: " if deal.status == deals.DealStatus.EXPIRED else ""
    return (
        "<item>\n"
        f"{element('title', f'{state}{deal.title}: {site.money(deal.price)}')}"
        f"{element('link', address)}"
        f"{element('guid', address)}"
        f"{element('pubDate', format_datetime(deal.created_at, usegmt=True))}"
        f"{element('category', deal.category_name)}"
        f"{element('description', summary(deal))}"
        "</item>\n"
    )


def summary(deal: deals.Deal) -> str:
    """A deal's description in HTML, as feed readers expect."""
    was = f" instead of {site.money(deal.list_price)}" if deal.list_price else ""
    lines = [f"{site.money(deal.price)}{was}, from {deal.brand_name}.", deal.description or ""]
    return "".join(f"<p>{text_of(line)}</p>" for line in lines if line)


def element(name: str, text: str) -> str:
    return f"<{name}>{text_of(text)}</{name}>\n"


def text_of(text: str) -> str:
    return escape(FORBIDDEN.sub("", text))
