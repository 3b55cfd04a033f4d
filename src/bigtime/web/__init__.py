"""The site over HTTP: pages and JSON APIs."""

from bigtime.extras import extra

with extra("site"):
    import fastapi as fastapi  # fails early, saying what to install, whichever module is imported

from bigtime.web.http import Settings, setting_faults
from bigtime.web.server import serve

__all__ = ["Settings", "serve", "setting_faults"]
