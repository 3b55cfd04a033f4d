"""The site over HTTP: pages and JSON APIs."""

from bigtime.web.http import Settings, setting_faults
from bigtime.web.server import serve

__all__ = [
    "Settings",
    "serve",
    "setting_faults",
]
