"""Whether a request has the shape that AWS asks for, and AWS's messages when it has not."""

from bigtime.engine.validation import shapes

__all__ = ["shapes"]
