"""The deals catalogue: six tables with the simplest keys that serve their access patterns.

Deals, users and brands are read by id far more often than by anything else, so their tables have a
partition key and nothing more. Indexes serve the rest: the deals of a brand or a category, who
watches what, what is discounted. Patterns that may be served from a cache are eventually
consistent, and say so; a deal is read by id strongly consistently unless the caller says otherwise.

Watchers are notified of a new deal among their activities (see `watches`). Search, pattern 19, is
in `bigtime.projections`.
"""

from bigtime.model import System, personal
from bigtime.systems.catalog import deals, trending, users, watches
from bigtime.systems.catalog.deals import (
    CategoryDeal, change_deal_status, create_brand, create_deal, expire_deal, get_brand_by_id,
    get_deal_by_id, get_deals_by_brand, get_deals_by_category, get_recent_deals_by_brand, put_brand,
    put_deal, update_brand, update_deal,
)
from bigtime.systems.catalog.demo import DEMO
from bigtime.systems.catalog.design import (
    BRANDS, DEALS, LAKES, TRENDING_DEALS, USER_ACTIVITIES, USER_WATCHES, USERS, Brand, Deal,
    DealStatus, TrendingDeal, User, UserActivity, UserWatch, WatchType,
)
from bigtime.systems.catalog.errors import (
    ActivityExists, AlreadyWatching, BrandExists, EngagementMoved, NotTrending, NotWatching,
    ScoreOutOfRange, UnknownBrand, UnknownDeal, UnknownUser,
)
from bigtime.systems.catalog.trending import (
    TRIES, find_trending, get_high_discount_deals, get_highly_engaged_deals,
    get_trending_by_category, place_of, places_of, rank_writes, record_engagement, start_trending,
    stop_trending, with_engagement,
)
from bigtime.systems.catalog.users import (
    create_user, get_user_activities, get_user_activities_after, get_user_by_id,
    get_user_notifications, put_user, record_activity, update_user,
)
from bigtime.systems.catalog.values import (
    ActivityId, Description, Email, GivenCount, GivenPercentage, GivenPrice, Id, Link, Name,
)
from bigtime.systems.catalog.watches import (
    BrandWatcher, CategoryWatcher, WatchOfType, brand_in_category_key, brand_key, brand_watch,
    category_key, category_watch, get_brand_watchers, get_category_watchers, get_user_watches,
    get_watches_by_type, unwatch, watch_brand, watch_brand_in_category, watch_category,
)

SYSTEM = System(
    "catalog",
    tables=(DEALS, USERS, BRANDS, USER_WATCHES, USER_ACTIVITIES, TRENDING_DEALS),
    modules=(deals, users, watches, trending),
    accepted={
        "hot-partition UserWatch.WatchesByType": "the schema asks for watches by type, of which"
        " there are three; nothing on the site does so for a visitor, and a shard would change the"
        " key",
    },
    demo=DEMO,
    lakes=LAKES,
    personal=tuple(personal(entity, "user_id") for entity in (User, UserWatch, UserActivity)),
)

__all__ = [
    "BRANDS", "DEALS", "TRENDING_DEALS", "TRIES", "ActivityExists", "ActivityId", "AlreadyWatching",
    "Brand", "BrandExists", "BrandWatcher", "CategoryDeal", "CategoryWatcher", "Deal", "DealStatus",
    "Description", "Email", "EngagementMoved", "GivenCount", "GivenPercentage", "GivenPrice", "Id",
    "Link", "Name", "NotTrending", "NotWatching", "ScoreOutOfRange", "TrendingDeal", "UnknownBrand",
    "UnknownDeal", "UnknownUser", "User", "UserActivity", "UserWatch", "WatchOfType", "WatchType",
    "brand_in_category_key", "brand_key", "brand_watch", "category_key", "category_watch",
    "change_deal_status", "create_brand", "create_deal", "create_user", "expire_deal",
    "find_trending", "get_brand_by_id", "get_brand_watchers", "get_category_watchers",
    "get_deal_by_id", "get_deals_by_brand", "get_deals_by_category", "get_high_discount_deals",
    "get_highly_engaged_deals", "get_recent_deals_by_brand", "get_trending_by_category",
    "get_user_activities", "get_user_activities_after", "get_user_by_id", "get_user_notifications",
    "get_user_watches", "get_watches_by_type", "place_of", "places_of", "put_brand", "put_deal",
    "put_user", "rank_writes", "record_activity", "record_engagement", "start_trending",
    "stop_trending", "unwatch", "update_brand", "update_deal", "update_user", "watch_brand",
    "watch_brand_in_category", "watch_category", "with_engagement",
]
