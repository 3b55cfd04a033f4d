"""What editors write in `deals`, noted as at the desk: in the transaction that does it.

Messages to watchers take many writes, which no transaction holds. They are noted before they are
sent: after a crash in between, what is in the list may not be done, and to ask again does the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from bigtime.model import Pattern, create, get
from bigtime.site import (
    CHOICE,
    FRONT,
    PLACES,
    EditorAction,
    Featuring,
    Place,
    Visitor,
    change_deal,
    feature,
    featuring,
    make_brand,
    new_change,
    post_deal,
    shown_at,
    tell_everybody,
)
from bigtime.systems import deals
from bigtime.web.api.deals_reading import all_categories, all_deals
from bigtime.web.api.deals_shapes import (
    BrandShown,
    CategoriesShown,
    DealChange,
    DealFacts,
    DealShown,
    DealsShown,
    FeaturedChoice,
    FeaturedShown,
    NewBrand,
    NewDeal,
    ProgressShown,
    ToldShown,
)
from bigtime.web.api.endpoint import CREATED, Endpoint, May, Running
from bigtime.web.api.showing import made_by, one
from bigtime.wire import Steps

ACCEPTED: Final = 202


# Deals and brands


def post(caller: Visitor, **facts: Any) -> Steps[deals.Deal]:
    deal = yield from deals.new_deal(**facts)
    return (yield from post_deal(caller.username, deal))


def rewrite(caller: Visitor, deal_id: str, **facts: Any) -> Steps[deals.Deal]:
    return (yield from changed(caller, (yield from seen(deal_id)), facts))


def change(caller: Visitor, deal_id: str, **facts: Any) -> Steps[deals.Deal]:
    deal = yield from seen(deal_id)
    before = {name: getattr(deal, name) for name in deals.FACTS}
    return (yield from changed(caller, deal, {**before, **facts}))


def seen(deal_id: str) -> Steps[deals.Deal]:
    key = deals.Deal.key(deals.deal_id_of(deal_id))
    return (yield from get(key, missing=deals.UnknownDeal, consistent=True))


def changed(caller: Visitor, deal: deals.Deal, facts: dict[str, Any]) -> Steps[deals.Deal]:
    told = {name: value for name, value in facts.items() if value is not None}
    return (yield from change_deal(caller.username, deal, told))


def found_brand(caller: Visitor, name: str, logo: str | None = None) -> Steps[deals.Brand]:
    return (yield from make_brand(caller.username, name, logo))


def make_categories() -> Steps[list[deals.Category]]:
    yield from deals.create_categories()
    return (yield from deals.fetch_all_categories())


# Featured deals


def featuring_in(place: Place) -> Running:
    def run(caller: Visitor, deal_ids: Sequence[str]) -> Steps[Featuring]:
        return (yield from featured(caller, place, deal_ids))

    return run


def featuring_in_category(
    caller: Visitor, category_name: str, deal_ids: Sequence[str]
) -> Steps[Featuring]:
    return (yield from featured(caller, category_place(category_name), deal_ids))


def featured(caller: Visitor, place: Place, deal_ids: Sequence[str]) -> Steps[Featuring]:
    before = yield from featuring(place)
    yield from feature(caller.username, place, [deals.deal_id_of(one) for one in deal_ids], before)
    return (yield from featuring(place))


def refresh_page(caller: Visitor, page_name: str) -> Steps[Featuring]:
    name = deals.PageName(page_name)
    return (yield from refreshed(caller, next(one for one in PLACES if one.of is name)))


def refresh_category(caller: Visitor, category_name: str) -> Steps[Featuring]:
    return (yield from refreshed(caller, category_place(category_name)))


def refreshed(caller: Visitor, place: Place) -> Steps[Featuring]:
    """The same deals, as they are now."""
    before = yield from featuring(place)
    ids = [one.deal_id for one in before.featured_deals]
    return (yield from featured(caller, place, ids)) if ids else before


def category_place(name: str) -> Place:
    key = deals.category_key(name)
    for place in PLACES:
        if place.of == key:
            return place
    raise deals.UnknownCategory


# Messages


def ask_for_message(caller: Visitor, deal_id: str) -> Steps[deals.HotDealProgress]:
    deal = yield from seen(deal_id)
    yield from tell_everybody(caller.username, deal)
    return (yield from deals.view_hot_deal_progress(deal.deal_id))


def progress_of(deal_id: str) -> Steps[deals.HotDealProgress]:
    deal = yield from deals.fetch_deal(deals.deal_id_of(deal_id))
    return (yield from deals.view_hot_deal_progress(deal.deal_id))


def sending(pattern: Pattern[..., int]) -> Running:
    def run(caller: Visitor, deal_id: str) -> Steps[int]:
        deal = yield from seen(deal_id)
        action = EditorAction.SENT_TO_WATCHERS
        note = yield from new_change(caller.username, action, deal.title, shown_at(deal))
        yield from create(note)
        return (yield from pattern(deal.deal_id))

    return run


def how_many(told: int) -> ToldShown:
    return ToldShown(told=told)


EDITING: Final = (
    Endpoint(
        "POST",
        "/deals",
        deals.create_deal,
        May.EDITOR,
        one(DealShown),
        runs=post,
        body=NewDeal,
        status=CREATED,
        once=True,
    ),
    Endpoint(
        "PATCH",
        "/deals/{dealId}",
        deals.update_deal,
        May.EDITOR,
        one(DealShown),
        runs=change,
        body=DealChange,
    ),
    Endpoint(
        "PUT",
        "/deals/{dealId}",
        deals.rewrite_deal,
        May.EDITOR,
        one(DealShown),
        runs=rewrite,
        body=DealFacts,
    ),
    Endpoint(
        "POST",
        "/brands",
        deals.create_brand,
        May.EDITOR,
        one(BrandShown),
        runs=found_brand,
        body=NewBrand,
        status=CREATED,
        once=True,
    ),
    Endpoint(
        "PUT",
        "/categories",
        deals.create_categories,
        May.EDITOR,
        made_by(CategoriesShown, all_categories),
        runs=make_categories,
        note="Those that are there stay as they are.",
    ),
    Endpoint(
        "PUT",
        "/front-page/featured-deals",
        deals.set_front_page_deals,
        May.EDITOR,
        one(FeaturedShown),
        runs=featuring_in(FRONT),
        body=FeaturedChoice,
        note="From 1 to 10 deals.",
    ),
    Endpoint(
        "PUT",
        "/editors-choice/featured-deals",
        deals.set_editors_choice_deals,
        May.EDITOR,
        one(FeaturedShown),
        runs=featuring_in(CHOICE),
        body=FeaturedChoice,
        note="From 1 to 10 deals.",
    ),
    Endpoint(
        "PUT",
        "/categories/{categoryName:path}/featured-deals",
        deals.set_category_deals,
        May.EDITOR,
        one(FeaturedShown),
        runs=featuring_in_category,
        body=FeaturedChoice,
        note="From 5 to 10 deals, all of this category.",
    ),
    Endpoint(
        "POST",
        "/pages/{pageName}/refresh",
        deals.refresh_page_deals,
        May.EDITOR,
        one(FeaturedShown),
        runs=refresh_page,
        note="The pages are FRONTPAGE and EDITORSCHOICE; EDITORSCHOICEPAGE is another name for"
        " the second.",
    ),
    Endpoint(
        "POST",
        "/categories/{categoryName:path}/featured-deals/refresh",
        deals.refresh_category_deals,
        May.EDITOR,
        one(FeaturedShown),
        runs=refresh_category,
    ),
    Endpoint(
        "POST",
        "/front-page/copies",
        deals.refresh_deals_cache,
        May.EDITOR,
        made_by(DealsShown, all_deals),
        note="The second process does this by itself, twice a minute.",
    ),
    Endpoint(
        "POST",
        "/deals/{dealId}/hot-message",
        deals.send_hot_deal_message,
        May.EDITOR,
        one(ProgressShown),
        runs=ask_for_message,
        status=ACCEPTED,
        note="The second process sends it; ask this address how far it is. To send it again"
        " changes nothing.",
    ),
    Endpoint(
        "GET",
        "/deals/{dealId}/hot-message",
        deals.view_hot_deal_progress,
        May.EDITOR,
        one(ProgressShown),
        runs=progress_of,
    ),
    Endpoint(
        "POST",
        "/deals/{dealId}/brand-message",
        deals.send_brand_deal_message,
        May.EDITOR,
        made_by(ToldShown, how_many),
        runs=sending(deals.send_brand_deal_message),
        note="The second process does this by itself when a deal is posted.",
    ),
    Endpoint(
        "POST",
        "/deals/{dealId}/category-message",
        deals.send_category_deal_message,
        May.EDITOR,
        made_by(ToldShown, how_many),
        runs=sending(deals.send_category_deal_message),
        note="The second process does this by itself when a deal is posted.",
    ),
)
