"""The editor's desk: deals and brands are made here, featured, and told of to everybody."""

from bigtime.web.desk.routes import DESK

__all__ = ["DESK"]
