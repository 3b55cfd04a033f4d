"""HTTP apart from pages: settings, cookies, limits, problems, metrics, responses."""

from bigtime.web.http.cookies import (
    CART, DEVICE, DEVICE_SECONDS, SESSION, VISIT, Cookies, FormTokens, KnownDevices,
)
from bigtime.web.http.fields import BOUNDS, TypedPrice, field_message
from bigtime.web.http.limits import (
    Counted, Limit, Limits, Scope, TooManyTries, client_in, client_of, share_limits,
)
from bigtime.web.http.metrics import SILENT_SECONDS, Meters
from bigtime.web.http.problems import (
    BadForm, FieldFault, NoSuchPage, NotAllowed, code_of, problem_body, status_in_form, status_of,
    status_of_faults,
)
from bigtime.web.http.responses import (
    CSV, FOR_GOOD, PLACE, Header, MarkedFiles, csv_headers, csv_text, json_answer, key_of,
    local_path, page_of_button, redirect_to_canonical, see_other, site_headers, with_query,
)
from bigtime.web.http.settings import (
    Settings, is_loopback, pepper_of, region_of, setting_faults, with_secret,
)
from bigtime.web.http.shared_metrics import WRITE_SECONDS, SharedMetrics

__all__ = [
    "BOUNDS", "CART", "CSV", "DEVICE", "DEVICE_SECONDS", "FOR_GOOD", "PLACE", "SESSION",
    "SILENT_SECONDS", "VISIT", "WRITE_SECONDS", "BadForm", "Cookies", "Counted", "FieldFault",
    "FormTokens", "Header", "KnownDevices", "Limit", "Limits", "MarkedFiles", "Meters",
    "NoSuchPage", "NotAllowed", "Scope", "Settings", "SharedMetrics", "TooManyTries", "TypedPrice",
    "client_in", "client_of", "code_of", "csv_headers", "csv_text", "field_message", "is_loopback",
    "json_answer", "key_of", "local_path", "page_of_button", "pepper_of", "problem_body",
    "redirect_to_canonical", "region_of", "see_other", "setting_faults", "share_limits",
    "site_headers", "status_in_form", "status_of", "status_of_faults", "with_query", "with_secret",
]
