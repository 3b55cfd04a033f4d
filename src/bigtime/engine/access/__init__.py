"""Access control: evaluates what a request does against the policies of its sender."""

from bigtime.engine.access.transport import UserTransport

__all__ = ["UserTransport"]
