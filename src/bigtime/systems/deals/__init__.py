"""Big Time Deals: deals, brands, categories, pages, users, likes, watches and messages.

One table holds everything. Editors create deals and brands and choose which deals are featured;
everybody reads; users like and watch brands and categories, and get messages about new deals.
"""

from __future__ import annotations

from typing import Final

from bigtime.model import System
from bigtime.systems.deals import (
    brands, deals, featured, front_page, interests, lifecycle, notifications, saved, users,
)
from bigtime.systems.deals.brands import (
    BRAND_FACTS, CATEGORIES, brand_writes, create_brand, create_categories, fetch_all_brands,
    fetch_all_categories, fetch_brand, fetch_brand_for_editor, fetch_category, make_brand,
    update_brand,
)
from bigtime.systems.deals.deals import (
    FACTS, PLACE, category_days, changed_facts, create_deal, facts_write, fetch_brand_deals,
    fetch_deal, fetch_deal_for_editor, fetch_deals, find_place, latest, new_deal, place_after,
    rewrite_deal, update_deal,
)
from bigtime.systems.deals.demo import DEMO
from bigtime.systems.deals.design import (
    BIG_TIME_DEALS, DEAL_SEARCH, LAKES, MOST_FEATURED, MOST_PRICES, MOST_SAVED, PAGE, Brand,
    BrandLike, BrandWatch, Brands, Category, CategoryLike, CategoryWatch, Deal, DealEnd, DealStatus,
    DealsCache, EditorsChoice, FeaturedDeal, FrontPage, Message, MessageKind, Picture, SavedDeal,
    SavedDeals, StoredPicture, User,
)
from bigtime.systems.deals.errors import (
    AlreadyLiked, AlreadyWatched, BrandExists, DealExists, DealExpired, EndPassed, FeaturedTwice,
    NoDiscount, NotLiked, NotWatched, OtherBrand, TooManyFeatured, TooManySaved, UnknownBrand,
    UnknownCategory, UnknownDeal, UsernameTaken, WrongCategory,
)
from bigtime.systems.deals.featured import (
    IN_A_CATEGORY, ON_A_PAGE, PAGES, Limits, PageName, choosing_for_category, choosing_for_page,
    fetch_editors_choice, refresh_category_deals, refresh_page_deals, set_category_deals,
    set_editors_choice_deals, set_front_page_deals,
)
from bigtime.systems.deals.front_page import all_days, fetch_front_page, refresh_deals_cache
from bigtime.systems.deals.interests import (
    Interest, fetch_brand_interest, fetch_brand_interests, fetch_category_interest,
    fetch_category_interests, interests_in_both, like_brand, like_category, unlike_brand,
    unlike_category, unwatch_brand, unwatch_category, watch_brand, watch_category,
)
from bigtime.systems.deals.lifecycle import (
    expire_deals, publish_deal, publish_write, unpublish_deal, unpublish_write,
    view_unpublished_deals,
)
from bigtime.systems.deals.notifications import (
    HotDealProgress, count_users, message_for, send_brand_deal_message, send_category_deal_message,
    send_hot_deal_message, send_test_message, view_hot_deal_progress,
)
from bigtime.systems.deals.saved import fetch_saved_deals, save_deal, unsave_deal
from bigtime.systems.deals.users import (
    PERSONAL, count_unread_messages, create_user, fetch_message, mark_message_as_read,
    mark_messages_as_read, new_user, read_user, update_user, view_messages, view_unread_messages,
)
from bigtime.systems.deals.values import (
    MOST_DESCRIPTION, BrandName, CategoryName, DealId, GivenBrand, GivenBrandKey, GivenCategory,
    GivenDescription, GivenEmail, GivenEnd, GivenLink, GivenName, GivenPrice, GivenTitle, GivenWhy,
    MessageId, Username, brand_key, category_key, checked_description, checked_email, checked_end,
    checked_link, checked_price, checked_title, checked_why, deal_id_of, given_fields,
    message_id_of,
)

SYSTEM: Final = System(
    "deals",
    (BIG_TIME_DEALS,),
    modules=(
        deals, brands, featured, front_page, lifecycle, users, interests, notifications, saved,
    ),
    accepted={
        "hot-partition Brands": "one item, which changes when a brand is made; cache it",
        "hot-partition FrontPage": "one item, which changes when an editor says so; cache it",
        "hot-partition EditorsChoice": "one item, which changes when an editor says so; cache it",
        "hot-partition DealEnd": "an editor writes one, and the worker queries it four times a"
        " minute",
        "hot-partition UnpublishedDeal": "an editor writes one when a deal is taken off, and reads"
        " their list",
        "unbounded-collection Brands.brands": "some 20,000 names fit into 400 KB; when they are"
        " reached, create_brand says so and makes nothing",
    },
    demo=DEMO,
    searches=(DEAL_SEARCH,),
    lakes=LAKES,
    personal=PERSONAL,
)

__all__ = [
    "BIG_TIME_DEALS", "BRAND_FACTS", "CATEGORIES", "DEAL_SEARCH", "FACTS", "IN_A_CATEGORY",
    "MOST_DESCRIPTION", "MOST_FEATURED", "MOST_PRICES", "MOST_SAVED", "ON_A_PAGE", "PAGE", "PAGES",
    "PLACE", "SYSTEM", "AlreadyLiked", "AlreadyWatched", "Brand", "BrandExists", "BrandLike",
    "BrandName", "BrandWatch", "Brands", "Category", "CategoryLike", "CategoryName",
    "CategoryWatch", "Deal", "DealEnd", "DealExists", "DealExpired", "DealId", "DealStatus",
    "DealsCache", "EditorsChoice", "EndPassed", "FeaturedDeal", "FeaturedTwice", "FrontPage",
    "GivenBrand", "GivenBrandKey", "GivenCategory", "GivenDescription", "GivenEmail", "GivenEnd",
    "GivenLink", "GivenName", "GivenPrice", "GivenTitle", "GivenWhy", "HotDealProgress", "Interest",
    "Limits", "Message", "MessageId", "MessageKind", "NoDiscount", "NotLiked", "NotWatched",
    "OtherBrand", "PageName", "Picture", "SavedDeal", "SavedDeals", "StoredPicture",
    "TooManyFeatured", "TooManySaved", "UnknownBrand", "UnknownCategory", "UnknownDeal", "User",
    "Username", "UsernameTaken", "WrongCategory", "all_days", "brand_key", "brand_writes",
    "category_days", "category_key", "changed_facts", "checked_description", "checked_email",
    "checked_end", "checked_link", "checked_price", "checked_title", "checked_why",
    "choosing_for_category", "choosing_for_page", "count_unread_messages", "count_users",
    "create_brand", "create_categories", "create_deal", "create_user", "deal_id_of", "expire_deals",
    "facts_write", "fetch_all_brands", "fetch_all_categories", "fetch_brand", "fetch_brand_deals",
    "fetch_brand_for_editor", "fetch_brand_interest", "fetch_brand_interests", "fetch_category",
    "fetch_category_interest", "fetch_category_interests", "fetch_deal", "fetch_deal_for_editor",
    "fetch_deals", "fetch_editors_choice", "fetch_front_page", "fetch_message", "fetch_saved_deals",
    "find_place", "given_fields", "interests_in_both", "latest", "like_brand", "like_category",
    "make_brand", "mark_message_as_read", "mark_messages_as_read", "message_for", "message_id_of",
    "new_deal", "new_user", "place_after", "publish_deal", "publish_write", "read_user",
    "refresh_category_deals", "refresh_deals_cache", "refresh_page_deals", "rewrite_deal",
    "save_deal", "send_brand_deal_message", "send_category_deal_message", "send_hot_deal_message",
    "send_test_message", "set_category_deals", "set_editors_choice_deals", "set_front_page_deals",
    "unlike_brand", "unlike_category", "unpublish_deal", "unpublish_write", "unsave_deal",
    "unwatch_brand", "unwatch_category", "update_brand", "update_deal", "update_user",
    "view_hot_deal_progress", "view_messages", "view_unpublished_deals", "view_unread_messages",
    "watch_brand", "watch_category",
]
