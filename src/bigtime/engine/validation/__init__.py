"""Request validation: the shapes of requests, and AWS's errors for invalid ones."""

from bigtime.engine.validation import shapes

__all__ = ["shapes"]
