"""What editors write in `deals`, noted as at the desk: in the transaction that does it.

Messages to watchers take many writes, which no transaction holds. They are noted before they are
sent: after a crash in between, what is in the list may not be done, and to ask again does the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from bigtime.model import Pattern, Steps, create, get
from bigtime.systems.deals.brands import create_brand
from bigtime.systems.deals.categories import create_categories, fetch_all_categories
from bigtime.systems.deals.deals import (
    FACTS,
    create_deal,
    fetch_deal,
    new_deal,
    rewrite_deal,
    update_deal,
)
from bigtime.systems.deals.design import Brand, Category, Deal
from bigtime.systems.deals.errors import UnknownCategory, UnknownDeal
from bigtime.systems.deals.featured import (
    PageName,
    refresh_category_deals,
    refresh_page_deals,
    set_category_deals,
    set_editors_choice_deals,
    set_front_page_deals,
)
from bigtime.systems.deals.front_page import refresh_deals_cache
from bigtime.systems.deals.hot_deal import (
    HotDealProgress,
    send_hot_deal_message,
    view_hot_deal_progress,
)
from bigtime.systems.deals.values import category_key, deal_id_of
from bigtime.systems.deals.watchers import send_brand_deal_message, send_category_deal_message
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
from bigtime.web.api.endpoint import CREATED, Done, Endpoint, May, Running
from bigtime.web.api.showing import made_by, one
from bigtime.web.design import EditorAction
from bigtime.web.editor.actions import (
    change_deal,
    feature,
    make_brand,
    post_deal,
    shown_at,
    tell_everybody,
)
from bigtime.web.editor.changes import new_change
from bigtime.web.editor.featured_place import (
    CHOICE,
    FRONT,
    PLACES,
    Featuring,
    Place,
    featuring,
)
from bigtime.web.tags import BRANDS, tags_shown
from bigtime.web.visitor import Visitor

ACCEPTED: Final = 202


# Deals and brands


def post(caller: Visitor, **facts: Any) -> Steps[Deal]:
    deal = yield from new_deal(**facts)
    return (yield from post_deal(caller.username, deal))


def rewrite(caller: Visitor, deal_id: str, **facts: Any) -> Steps[Deal]:
    return (yield from changed(caller, (yield from seen(deal_id)), facts))


def change(caller: Visitor, deal_id: str, **facts: Any) -> Steps[Deal]:
    deal = yield from seen(deal_id)
    before = {name: getattr(deal, name) for name in FACTS}
    return (yield from changed(caller, deal, {**before, **facts}))


def seen(deal_id: str) -> Steps[Deal]:
    key = Deal.key(deal_id_of(deal_id))
    return (yield from get(key, missing=UnknownDeal, consistent=True))


def changed(caller: Visitor, deal: Deal, facts: dict[str, Any]) -> Steps[Deal]:
    told = {name: value for name, value in facts.items() if value is not None}
    return (yield from change_deal(caller.username, deal, told))


def found_brand(caller: Visitor, name: str, logo: str | None = None) -> Steps[Brand]:
    return (yield from make_brand(caller.username, name, logo))


def make_categories() -> Steps[list[Category]]:
    yield from create_categories()
    return (yield from fetch_all_categories())


def shown_now(done: Done) -> Iterable[str]:
    return tags_shown(done.result)


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
    yield from feature(caller.username, place, [deal_id_of(one) for one in deal_ids], before)
    return (yield from featuring(place))


def refresh_page(caller: Visitor, page_name: str) -> Steps[Featuring]:
    name = PageName(page_name)
    return (yield from refreshed(caller, next(one for one in PLACES if one.of is name)))


def refresh_category(caller: Visitor, category_name: str) -> Steps[Featuring]:
    return (yield from refreshed(caller, category_place(category_name)))


def refreshed(caller: Visitor, place: Place) -> Steps[Featuring]:
    """The same deals, as they are now."""
    before = yield from featuring(place)
    ids = [one.deal_id for one in before.featured_deals]
    return (yield from featured(caller, place, ids)) if ids else before


def category_place(name: str) -> Place:
    key = category_key(name)
    for place in PLACES:
        if place.of == key:
            return place
    raise UnknownCategory


# Messages


def ask_for_message(caller: Visitor, deal_id: str) -> Steps[HotDealProgress]:
    deal = yield from seen(deal_id)
    yield from tell_everybody(caller.username, deal)
    return (yield from view_hot_deal_progress(deal.deal_id))


def progress_of(deal_id: str) -> Steps[HotDealProgress]:
    deal = yield from fetch_deal(deal_id_of(deal_id))
    return (yield from view_hot_deal_progress(deal.deal_id))


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
        create_deal,
        May.EDITOR,
        one(DealShown),
        runs=post,
        body=NewDeal,
        status=CREATED,
        drops=shown_now,
        once=True,
    ),
    Endpoint(
        "PATCH",
        "/deals/{dealId}",
        update_deal,
        May.EDITOR,
        one(DealShown),
        runs=change,
        body=DealChange,
        drops=shown_now,
    ),
    Endpoint(
        "PUT",
        "/deals/{dealId}",
        rewrite_deal,
        May.EDITOR,
        one(DealShown),
        runs=rewrite,
        body=DealFacts,
        drops=shown_now,
    ),
    Endpoint(
        "POST",
        "/brands",
        create_brand,
        May.EDITOR,
        one(BrandShown),
        runs=found_brand,
        body=NewBrand,
        status=CREATED,
        drops=lambda done: (BRANDS, *tags_shown(done.result)),
        once=True,
    ),
    Endpoint(
        "PUT",
        "/categories",
        create_categories,
        May.EDITOR,
        made_by(CategoriesShown, all_categories),
        runs=make_categories,
        drops=lambda done: [tag for one in done.result for tag in tags_shown(one)],
        note="Those that are there stay as they are.",
    ),
    Endpoint(
        "PUT",
        "/front-page/featured-deals",
        set_front_page_deals,
        May.EDITOR,
        one(FeaturedShown),
        runs=featuring_in(FRONT),
        body=FeaturedChoice,
        drops=shown_now,
        note="From 1 to 10 deals.",
    ),
    Endpoint(
        "PUT",
        "/editors-choice/featured-deals",
        set_editors_choice_deals,
        May.EDITOR,
        one(FeaturedShown),
        runs=featuring_in(CHOICE),
        body=FeaturedChoice,
        drops=shown_now,
        note="From 1 to 10 deals.",
    ),
    Endpoint(
        "PUT",
        "/categories/{categoryName:path}/featured-deals",
        set_category_deals,
        May.EDITOR,
        one(FeaturedShown),
        runs=featuring_in_category,
        body=FeaturedChoice,
        drops=shown_now,
        note="From 5 to 10 deals, all of this category.",
    ),
    Endpoint(
        "POST",
        "/pages/{pageName}/refresh",
        refresh_page_deals,
        May.EDITOR,
        one(FeaturedShown),
        runs=refresh_page,
        drops=shown_now,
        note="The pages are FRONTPAGE and EDITORSCHOICE; EDITORSCHOICEPAGE is another name for"
        " the second.",
    ),
    Endpoint(
        "POST",
        "/categories/{categoryName:path}/featured-deals/refresh",
        refresh_category_deals,
        May.EDITOR,
        one(FeaturedShown),
        runs=refresh_category,
        drops=shown_now,
    ),
    Endpoint(
        "POST",
        "/front-page/copies",
        refresh_deals_cache,
        May.EDITOR,
        made_by(DealsShown, all_deals),
        note="The second process does this by itself, twice a minute.",
    ),
    Endpoint(
        "POST",
        "/deals/{dealId}/hot-message",
        send_hot_deal_message,
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
        view_hot_deal_progress,
        May.EDITOR,
        one(ProgressShown),
        runs=progress_of,
    ),
    Endpoint(
        "POST",
        "/deals/{dealId}/brand-message",
        send_brand_deal_message,
        May.EDITOR,
        made_by(ToldShown, how_many),
        runs=sending(send_brand_deal_message),
        note="The second process does this by itself when a deal is posted.",
    ),
    Endpoint(
        "POST",
        "/deals/{dealId}/category-message",
        send_category_deal_message,
        May.EDITOR,
        made_by(ToldShown, how_many),
        runs=sending(send_category_deal_message),
        note="The second process does this by itself when a deal is posted.",
    ),
)
