"""The admin's part of the portal."""

from bigtime.web.admin.routes import ADMIN

__all__ = ["ADMIN"]
