"""What somebody did here, and what they were told, as the catalogue noted it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from bigtime.systems import catalog
from bigtime.web.pages import context_of

activity = APIRouter(include_in_schema=False)

WORDS = {
    "deal_view": "Viewed",
    "deal_click": "Opened",
    "deal_notification": "Notified about",
}


@dataclass(frozen=True, slots=True)
class Noted:
    """One activity as a page shows it: what was done, and with which deal."""

    at: datetime
    did: str
    deal_id: str | None
    title: str | None


@activity.get("/me/activity")
async def show_activity(request: Request, after: str | None = None) -> Response:
    """Activities, newest first."""
    context = context_of(request)
    visitor = await context.signed_in(request)
    steps = catalog.get_user_activities(visitor.username, after=context.cursors.read(after))
    found = await context.store.run(steps)
    deals = await context.deals.by_ids([one for one in map(deal_in, found) if one])
    # As deals are called now, or else were then.
    titles = {str(deal.deal_id): deal.title for deal in deals}
    page = context.templates.page(
        "shopper/activity.html",
        noted=[noted(one, titles) for one in found],
        after=context.cursors.write(found.position),
    )
    return await context.answer(request, page)


def noted(one: catalog.UserActivity, titles: dict[str, str]) -> Noted:
    deal_id = deal_in(one)
    is_there = deal_id is not None and deal_id in titles
    title = titles.get(deal_id or "") or text_in(one, "title")
    did = WORDS.get(one.activity_type) or one.activity_type.replace("_", " ").capitalize()
    return Noted(moment_of(one), did, deal_id if is_there else None, title)


def moment_of(one: catalog.UserActivity) -> datetime:
    """When it was: an activity that stands for an hour's has the moment of the last in it."""
    try:
        told = datetime.fromisoformat(text_in(one, "at") or "")
    except ValueError:
        return one.timestamp
    return told if told.tzinfo else one.timestamp


def deal_in(one: catalog.UserActivity) -> str | None:
    return text_in(one, "deal_id")


def text_in(one: catalog.UserActivity, name: str) -> str | None:
    value = (one.details or {}).get(name)
    return value if isinstance(value, str) else None
