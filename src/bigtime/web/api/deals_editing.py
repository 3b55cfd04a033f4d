"""`/api/v1`: editing `deals`, logged in the same transaction, as on the desk.

Messages to watchers do not fit in one transaction. They are logged before they are sent: after a
crash some may be missing, and the same request sends the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Path
from pydantic import Field
from starlette.responses import Response

from bigtime import site
from bigtime.model import Entity, Pattern, create
from bigtime.site import create_brand as create_brand_with_change
from bigtime.systems import deals
from bigtime.web.api.bodies import OPTIONAL, RequestBody, ResponseBody, example
from bigtime.web.api.deals import (
    DEAL_ID,
    BrandName,
    BrandShown,
    CategoriesShown,
    CategoryName,
    DealId,
    DealShown,
    DealsShown,
    FeaturedShown,
    show_categories,
    show_deals,
)
from bigtime.web.api.deals_own import MessageShown
from bigtime.web.api.dependencies import Editor
from bigtime.web.api.idempotency import Idempotent
from bigtime.web.api.routing import STAFF, V1Router
from bigtime.web.pages import AppRequest
from bigtime.wire import Steps

E = TypeVar("E", bound=Entity)

deals_editing = V1Router(deals.SYSTEM, reads=STAFF)


# Bodies


class DealFacts(RequestBody):
    """A whole deal; fields that are left out are removed."""

    model_config = example(title="A brass lamp", link="https://shop.example/lamp", price=17.5)

    title: deals.GivenTitle
    link: deals.GivenLink
    price: deals.GivenPrice
    list_price: deals.GivenPrice | None = None
    description: deals.GivenDescription | None = None
    ends_at: deals.GivenEnd | None = Field(default=None, description="When it expires.")


class NewDeal(DealFacts):
    """A new deal."""

    model_config = example(
        title="A brass lamp",
        link="https://shop.example/lamp",
        price=19.99,
        listPrice=29.99,
        description="It shines.",
        brandName="Oakmere",
        categoryName="Home",
    )

    brand_name: deals.GivenBrand
    category_name: deals.GivenCategory


class DealChange(RequestBody):
    """The fields of a deal to change; others stay. Null removes an optional field."""

    model_config = example(price=17.5)

    title: deals.GivenTitle = OPTIONAL
    link: deals.GivenLink = OPTIONAL
    price: deals.GivenPrice = OPTIONAL
    list_price: deals.GivenPrice | None = OPTIONAL
    description: deals.GivenDescription | None = OPTIONAL
    ends_at: deals.GivenEnd | None = OPTIONAL
    brand_name: deals.GivenBrand = OPTIONAL
    category_name: deals.GivenCategory = OPTIONAL


class Unpublishing(RequestBody):
    """Why a deal is unpublished; only editors see it."""

    model_config = example(why="The offer was a mistake.")

    why: deals.GivenWhy | None = None


class FeaturedChoice(RequestBody):
    """All deals that a page features, in their order."""

    model_config = example(dealIds=[DEAL_ID])

    deal_ids: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=100)]],
        Field(max_length=deals.MOST_FEATURED),
    ]


class NewBrand(RequestBody):
    """A new brand."""

    model_config = example(name="Oakmere", logo="https://shop.example/oakmere.png")

    name: deals.GivenBrand
    logo: deals.GivenLink | None = None


class BrandChange(RequestBody):
    """The fields of a brand to change; others stay. Null removes an optional field."""

    model_config = example(description="Phones and computers.")

    name: deals.GivenBrand = OPTIONAL
    logo: deals.GivenLink | None = OPTIONAL
    description: deals.GivenDescription | None = OPTIONAL


class ProgressShown(ResponseBody):
    """The progress of a message to every user."""

    model_config = example(told=5120, segments=8, segmentsDone=3, done=False)

    told: int
    segments: int = Field(description="The parts of all users; 0 before it has begun.")
    segments_done: int
    done: bool = Field(validation_alias="is_done", serialization_alias="done")


class ToldShown(ResponseBody):
    """How many watchers were sent the message."""

    model_config = example(told=17)

    told: int


# Deals


@deals_editing.post("/deals", status_code=201, response_model=DealShown)
async def create_deal(caller: Editor, idempotent: Idempotent, body: NewDeal) -> Response:
    """Publishes a deal; its brand and its category must exist. Editors only."""

    def post() -> Steps[deals.Deal]:
        deal = yield from deals.new_deal(**dict(body))
        return (yield from site.post_deal(caller.username, deal))

    return await idempotent.run(post, DealShown.model_validate)


@deals_editing.patch("/deals/{dealId}", response_model=DealShown)
async def update_deal(
    request: AppRequest, caller: Editor, deal_id: DealId, body: DealChange
) -> deals.Deal:
    """Changes some fields of a deal, or corrects its brand and category. Editors only."""

    def change() -> Steps[deals.Deal]:
        deal = yield from read_deal(deal_id)
        before = {name: getattr(deal, name) for name in deals.FACTS}
        given = body.given_fields()
        brand, category = given.pop("brand_name", None), given.pop("category_name", None)
        place = {"brand": brand and deals.brand_key(brand), "category": category}
        return (yield from write_deal(caller, deal, {**before, **given, **place}))

    return await request.run(change())


@deals_editing.put("/deals/{dealId}", response_model=DealShown)
async def rewrite_deal(
    request: AppRequest, caller: Editor, deal_id: DealId, body: DealFacts
) -> deals.Deal:
    """Replaces the fields of a deal; brand and category stay. Editors only."""

    def rewrite() -> Steps[deals.Deal]:
        return (yield from write_deal(caller, (yield from read_deal(deal_id)), dict(body)))

    return await request.run(rewrite())


@deals_editing.post("/deals/{dealId}/unpublish", response_model=DealShown)
async def unpublish_deal(
    request: AppRequest, caller: Editor, deal_id: DealId, body: Unpublishing
) -> deals.Deal:
    """Takes a deal off all lists; its page is 404 from then on. Editors only."""
    found = deals.deal_id_of(deal_id)
    return await request.run(site.unpublish_deal(caller.username, found, why=body.why))


@deals_editing.post("/deals/{dealId}/publish", response_model=DealShown)
async def publish_deal(request: AppRequest, caller: Editor, deal_id: DealId) -> deals.Deal:
    """Puts an unpublished deal back into its lists. Editors only."""
    return await request.run(site.publish_deal(caller.username, deals.deal_id_of(deal_id)))


def read_deal(deal_id: str) -> Steps[deals.Deal]:
    return (yield from deals.fetch_deal_for_editor(deals.deal_id_of(deal_id)))


def write_deal(caller: site.Visitor, deal: deals.Deal, facts: dict[str, Any]) -> Steps[deals.Deal]:
    given = {name: value for name, value in facts.items() if value is not None}
    return (yield from site.change_deal(caller.username, deal, given))


# Brands and categories


@deals_editing.post("/brands", status_code=201, response_model=BrandShown)
async def create_brand(caller: Editor, idempotent: Idempotent, body: NewBrand) -> Response:
    """Creates a brand. Editors only."""
    return await idempotent.run(
        lambda: create_brand_with_change(caller.username, body.name, body.logo),
        BrandShown.model_validate,
    )


@deals_editing.patch("/brands/{brandName:path}", response_model=BrandShown)
async def update_brand(
    request: AppRequest, caller: Editor, brand_name: BrandName, body: BrandChange
) -> deals.Brand:
    """Changes some fields of a brand; of its name only capitals and spaces. Editors only."""

    def change() -> Steps[deals.Brand]:
        brand = yield from deals.fetch_brand_for_editor(brand_name)
        before = {name: getattr(brand, name) for name in deals.BRAND_FACTS}
        facts = {**before, **body.given_fields()}
        return (yield from site.change_brand(caller.username, brand, facts))

    return await request.run(change())


@deals_editing.put("/categories", response_model=CategoriesShown)
async def create_categories(request: AppRequest, _: Editor) -> CategoriesShown:
    """Creates the categories that are missing; existing ones stay. Editors only."""
    await request.run(deals.create_categories())
    found = await request.run(deals.fetch_all_categories())
    return show_categories(found)


# Featured deals


@deals_editing.put("/front-page/featured-deals", response_model=FeaturedShown)
async def set_front_page_deals(
    request: AppRequest, caller: Editor, body: FeaturedChoice
) -> site.FeaturingItem:
    """Chooses the 1 to 10 deals that the front page features. Editors only."""
    return await request.run(choose_deals(caller, site.FRONT_SLOT, body.deal_ids))


@deals_editing.put("/editors-choice/featured-deals", response_model=FeaturedShown)
async def set_editors_choice_deals(
    request: AppRequest, caller: Editor, body: FeaturedChoice
) -> site.FeaturingItem:
    """Chooses the 1 to 10 deals of the editors' choice. Editors only."""
    return await request.run(choose_deals(caller, site.CHOICE_SLOT, body.deal_ids))


@deals_editing.put("/categories/{categoryName:path}/featured-deals", response_model=FeaturedShown)
async def set_category_deals(
    request: AppRequest, caller: Editor, category_name: CategoryName, body: FeaturedChoice
) -> site.FeaturingItem:
    """Chooses the 5 to 10 deals, all of this category, that it features. Editors only."""
    return await request.run(choose_deals(caller, category_slot(category_name), body.deal_ids))


@deals_editing.post("/pages/{pageName}/refresh", response_model=FeaturedShown)
async def refresh_page_deals(
    request: AppRequest,
    caller: Editor,
    page_name: Annotated[str, Path(alias="pageName", min_length=1)],
) -> site.FeaturingItem:
    """Shows the featured deals of a page as they are now. Editors only.

    The pages are FRONTPAGE and EDITORSCHOICE; EDITORSCHOICEPAGE is another name for the second.
    """
    name = deals.PageName(page_name)
    return await request.run(refresh(caller, next(slot for slot in site.SLOTS if slot.of is name)))


@deals_editing.post(
    "/categories/{categoryName:path}/featured-deals/refresh", response_model=FeaturedShown
)
async def refresh_category_deals(
    request: AppRequest, caller: Editor, category_name: CategoryName
) -> site.FeaturingItem:
    """Shows the featured deals of a category as they are now. Editors only."""
    return await request.run(refresh(caller, category_slot(category_name)))


@deals_editing.post("/front-page/copies", response_model=DealsShown)
async def refresh_deals_cache(request: AppRequest, _: Editor) -> DealsShown:
    """Copies the latest deals for the front page. Editors only.

    The site does this by itself, twice a minute.
    """
    return show_deals(await request.run(deals.refresh_deals_cache()))


def choose_deals(
    caller: site.Visitor, slot: site.FeaturedSlot, deal_ids: Sequence[str]
) -> Steps[site.FeaturingItem]:
    before = yield from site.fetch_featuring(slot)
    ids = [deals.deal_id_of(deal_id) for deal_id in deal_ids]
    yield from site.feature_deals(caller.username, slot, ids, before)
    return (yield from site.fetch_featuring(slot))


def refresh(caller: site.Visitor, slot: site.FeaturedSlot) -> Steps[site.FeaturingItem]:
    before = yield from site.fetch_featuring(slot)
    deal_ids = [deal.deal_id for deal in before.featured_deals]
    return (yield from choose_deals(caller, slot, deal_ids)) if deal_ids else before


def category_slot(name: str) -> site.FeaturedSlot:
    key = deals.category_key(name)
    for slot in site.SLOTS:
        if slot.of == key:
            return slot
    raise deals.UnknownCategory


# Messages


@deals_editing.post("/deals/{dealId}/hot-message", status_code=202, response_model=ProgressShown)
async def send_hot_deal_message(
    request: AppRequest, caller: Editor, deal_id: DealId
) -> deals.HotDealProgress:
    """Notifies all users of a deal, once. Editors only.

    The messages are sent in the background: GET this address to see how far they are.
    """

    def ask() -> Steps[deals.HotDealProgress]:
        deal = yield from site.request_hot_deal(caller.username, deals.deal_id_of(deal_id))
        return (yield from deals.view_hot_deal_progress(deal.deal_id))

    return await request.run(ask())


@deals_editing.get("/deals/{dealId}/hot-message", response_model=ProgressShown)
async def view_hot_deal_progress(
    request: AppRequest, _: Editor, deal_id: DealId
) -> deals.HotDealProgress:
    """Returns how many users have been notified of a deal. Editors only."""
    deal = await request.run(read_deal(deal_id))
    return await request.run(deals.view_hot_deal_progress(deal.deal_id))


@deals_editing.post("/deals/{dealId}/hot-message/test", response_model=MessageShown)
async def send_test_message(request: AppRequest, caller: Editor, deal_id: DealId) -> deals.Message:
    """Sends the message of a hot deal to the caller alone, marked as a test. Editors only."""
    return await request.run(deals.send_test_message(deals.deal_id_of(deal_id), caller.username))


@deals_editing.post("/deals/{dealId}/brand-message", response_model=ToldShown)
async def send_brand_deal_message(
    request: AppRequest, caller: Editor, deal_id: DealId
) -> ToldShown:
    """Notifies those who watch the deal's brand and do not know of it yet. Editors only.

    The site does this by itself when a deal is posted.
    """
    steps = notify_watchers(caller, deal_id, deals.send_brand_deal_message)
    return ToldShown(told=await request.run(steps))


@deals_editing.post("/deals/{dealId}/category-message", response_model=ToldShown)
async def send_category_deal_message(
    request: AppRequest, caller: Editor, deal_id: DealId
) -> ToldShown:
    """Notifies those who watch the deal's category and do not know of it yet. Editors only.

    The site does this by itself when a deal is posted.
    """
    steps = notify_watchers(caller, deal_id, deals.send_category_deal_message)
    return ToldShown(told=await request.run(steps))


def notify_watchers(caller: site.Visitor, deal_id: str, send: Pattern[..., int]) -> Steps[int]:
    deal = yield from read_deal(deal_id)
    action = site.EditorAction.SENT_TO_WATCHERS
    note = yield from site.new_change(caller.username, action, deal.title, site.deal_path(deal))
    yield from create(note)
    return (yield from send(deal.deal_id))
