"""The socket that the site listens on."""

from __future__ import annotations

import errno
import socket

from bigtime.model import Unavailable
from bigtime.web.http import Settings


class CannotListen(Unavailable):
    """Nobody can listen on that port; choose another with --port."""


def listen(settings: Settings, port: int | None = None, *, shared: bool = False) -> socket.socket:
    """A socket on the given port or that of the settings; `shared` lets others bind it too."""
    address = settings.host, settings.port if port is None else port
    try:
        return socket.create_server(
            address, family=family_of(settings), backlog=2048, reuse_port=shared
        )
    except OSError as error:
        raise CannotListen(why_not(error, settings)) from error


def find_port(settings: Settings) -> int:
    """The port of the settings, or a free one for 0; it does not accept connections yet."""
    with socket.socket(family_of(settings)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((settings.host, settings.port))
        except OSError as error:
            raise CannotListen(why_not(error, settings)) from error
        return int(probe.getsockname()[1])


def family_of(settings: Settings) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in settings.host else socket.AF_INET


def why_not(error: OSError, settings: Settings) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"Port {settings.port} is taken. Choose another with --port or BIGTIME_PORT."
        case errno.EACCES:
            return f"Port {settings.port} is not for ordinary users. Choose one above 1023."
        case _:
            return f"{settings.host} is no address to listen on here. Choose another with --host."
