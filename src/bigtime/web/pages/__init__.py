"""Pages: rendering, the page cache, personal slots, forms, sign-in."""

from bigtime.web.pages.app_context import AppContext
from bigtime.web.pages.app_request import (
    RESTORE, AppRequest, Route, page_router, visitor_with,
)
from bigtime.web.pages.charts import LineChart, label_of, price_chart
from bigtime.web.pages.forms import (
    TOKEN, AnyForm, Back, CheckedTogether, SubmittedForm, check_form, empty_form, line_in,
    parse_again, split_words, typed_fields, undo_text,
)
from bigtime.web.pages.guest_carts import GuestCarts
from bigtime.web.pages.hot_pages import HEAD, HotPages, address_of
from bigtime.web.pages.lake_reports import show_reports, today
from bigtime.web.pages.page import Page, Slot, SlotRenderer, Words
from bigtime.web.pages.page_cache import (
    CacheFollower, DealLists, DropItems, TaggedCache, invalidate_writes,
)
from bigtime.web.pages.rendering import Templates
from bigtime.web.pages.signing_in import (
    MergeNotice, begin_session, count_code, count_log_in, device_of, merged_in, place_of,
    remember_place, sign_in, sign_out,
)
from bigtime.web.pages.threads import (
    MOST_PRICE, MOST_TEXT, CpuPool, DealQuery, PictureFiles, SiteSearch,
)
from bigtime.web.pages.view_counter import Engagement, RecentViews, SharedViews

__all__ = [
    "HEAD", "MOST_PRICE", "MOST_TEXT", "RESTORE", "TOKEN", "AnyForm", "AppContext", "AppRequest",
    "Back", "CacheFollower", "CheckedTogether", "CpuPool", "DealLists", "DealQuery", "DropItems",
    "Engagement", "GuestCarts", "HotPages", "LineChart", "MergeNotice", "Page", "PictureFiles",
    "RecentViews", "Route", "SharedViews", "SiteSearch", "Slot", "SlotRenderer", "SubmittedForm",
    "TaggedCache", "Templates", "Words", "address_of", "begin_session", "check_form", "count_code",
    "count_log_in", "device_of", "empty_form", "invalidate_writes", "label_of", "line_in",
    "merged_in", "page_router", "parse_again", "place_of", "price_chart", "remember_place",
    "show_reports", "sign_in", "sign_out", "split_words", "today", "typed_fields", "undo_text",
    "visitor_with",
]
