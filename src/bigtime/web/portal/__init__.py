"""The customer portal: pricing, campaigns, checkout, and the admin lists."""

from bigtime.web.portal.routes import PORTAL

__all__ = ["PORTAL"]
