"""Access control: what a request asks for, judged by the policies of who sends it."""

from bigtime.engine.access.transport import UserTransport

__all__ = ["UserTransport"]
