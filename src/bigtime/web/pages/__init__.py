"""Pages: rendering, the page cache, personal slots, forms, sign-in."""

from bigtime.web.pages.app_context import AppContext, codes_of, context_of, ordering_of
from bigtime.web.pages.page_cache import (CacheFollower, invalidate_writes)
from bigtime.web.pages.forms import (line_in, undo_text)
from bigtime.web.pages.app_context import CpuPool
from bigtime.web.pages.page_cache import DealLists
from bigtime.web.pages.forms import (
    SubmittedForm, check_form, empty_form, read_fields, read_form, read_visitor_form, split_words,
    typed_fields, with_retry_after,
)
from bigtime.web.pages.hot_pages import HEAD, HotPages
from bigtime.web.pages.page import Page
from bigtime.web.pages.page import (Slot, SlotRenderer, Words)
from bigtime.web.pages.rendering import Templates
from bigtime.web.pages.signing_in import (
    begin_session, count_code, count_log_in, device_of, place_of, remember_place, sign_in, sign_out,
)
from bigtime.web.pages.page_cache import TaggedCache
from bigtime.web.pages.view_counter import Engagement

__all__ = [
    "HEAD", "AppContext", "CacheFollower", "CpuPool", "DealLists", "Engagement", "HotPages", "Page",
    "Slot", "SlotRenderer", "SubmittedForm", "TaggedCache", "Templates", "Words", "begin_session",
    "check_form", "codes_of", "context_of", "count_code", "count_log_in", "device_of", "empty_form",
    "invalidate_writes", "line_in", "ordering_of", "place_of", "read_fields", "read_form",
    "read_visitor_form", "remember_place", "sign_in", "sign_out", "split_words", "typed_fields",
    "undo_text", "with_retry_after",
]
