"""Saved deals: the buttons of a deal, and the visitor's list."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from fastapi import Response

from bigtime import site
from bigtime.systems import deals
from bigtime.web import http
from bigtime.web.pages import AppRequest, Back, page_router

SAVED = "/me/saved"
VERBS = {"save": deals.save_deal, "unsave": deals.unsave_deal}

router = page_router()


@dataclass(frozen=True, slots=True)
class SavedEntry:
    """A saved deal: as it was then, and as it is now; None if it is gone or unpublished."""

    deal_id: str
    saved: deals.SavedDeal
    deal: deals.Deal | None

    @property
    def title(self) -> str:
        return self.deal.title if self.deal else self.saved.title

    @property
    def picture(self) -> deals.Picture | None:
        return self.deal.picture if self.deal else None

    @property
    def category(self) -> str:
        """The category whose icon stands in for a missing picture."""
        return self.deal.category if self.deal else ""

    @property
    def price(self) -> Decimal:
        """The current price; for a deal that is gone, the price at which it was saved."""
        return self.deal.price if self.deal else self.saved.price

    @property
    def change(self) -> Decimal:
        return self.price - self.saved.price

    @property
    def state(self) -> str:
        """Why it cannot be bought; empty if it can."""
        if self.deal is None:
            return "No longer available"
        return "Expired" if self.deal.status == deals.DealStatus.EXPIRED else ""


@router.get(SAVED)
async def show_saved(request: AppRequest) -> Response:
    """The deals that the visitor has saved, the last one first."""
    return await render_saved(request)


async def render_saved(request: AppRequest, fault: str = "", *, status: int = 200) -> Response:
    visitor = await request.signed_in()
    saved = await request.context.remember(
        (visitor.username, "save"),
        (site.saved_tag(visitor.username),),
        lambda: deals.fetch_saved_deals(visitor.username),
    )
    found: dict[str, deals.Deal] = {
        deal.deal_id: deal for deal in await request.context.deals.by_ids(list(saved))
    }
    return await request.form_page(
        "shopper/saved.html",
        status=status,
        saved=[SavedEntry(key, each, found.get(key)) for key, each in saved.items()],
        most=deals.MOST_SAVED,
        fault=fault,
    )


@router.get("/deals/{deal_id}/save")
@router.get("/deals/{deal_id}/unsave")
async def leave_saving(deal_id: str) -> Response:
    """To the deal, when the path of its button is reloaded."""
    return http.see_other(f"/deals/{deals.deal_id_of(deal_id)}")


@router.post("/deals/{deal_id}/{verb}")
async def change_saved(request: AppRequest, deal_id: str, verb: str) -> Response:
    """Saves a deal, or no longer; a second press of the same button changes nothing."""
    visitor, form = await request.read_visitor_form(Back)
    if verb not in VERBS:
        raise http.NoSuchPage()
    request.context.limits.take("like", visitor.username)
    key = deals.deal_id_of(deal_id)
    try:
        await request.run(VERBS[verb](key, visitor.username))
    except deals.TooManySaved as error:
        return await render_saved(request, str(error), status=http.status_in_form(error))
    return http.see_other(http.local_path(form.typed.get("back"), default=f"/deals/{key}"))
