"""Pages: rendering, the cache of pages, personal slots, forms, sign-in."""

from bigtime.web.pages.cache_follower import Following
from bigtime.web.pages.cart_undo import line_in, undo_text
from bigtime.web.pages.cpu_pool import Apart
from bigtime.web.pages.forms import (
    Filled,
    check_form,
    empty,
    read_fields,
    read_form,
    typed_in,
    waiting,
)
from bigtime.web.pages.hot_pages import HEAD, Front
from bigtime.web.pages.kept_places import FirstPlaces
from bigtime.web.pages.page import Page
from bigtime.web.pages.personal_slots import Filler, Fillings, Words
from bigtime.web.pages.rendering import Templates
from bigtime.web.pages.signing_in import (
    begin_session,
    count_code,
    count_log_in,
    going_on,
    sign_in,
    sign_out,
)
from bigtime.web.pages.site import Site, codes_of, ordering_of, site_of
from bigtime.web.pages.tagged_cache import TaggedCache
from bigtime.web.pages.view_counter import Engagement

__all__ = [
    "HEAD",
    "Apart",
    "Engagement",
    "Filled",
    "Filler",
    "Fillings",
    "FirstPlaces",
    "Following",
    "Front",
    "Page",
    "Site",
    "TaggedCache",
    "Templates",
    "Words",
    "begin_session",
    "check_form",
    "codes_of",
    "count_code",
    "count_log_in",
    "empty",
    "going_on",
    "line_in",
    "ordering_of",
    "read_fields",
    "read_form",
    "sign_in",
    "sign_out",
    "site_of",
    "typed_in",
    "undo_text",
    "waiting",
]
