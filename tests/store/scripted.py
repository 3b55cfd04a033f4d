"""A server that hears whole HTTP requests and answers each as it is told."""

from __future__ import annotations

import socket
import ssl
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

HANG = b"hang"
"""Answer nothing, and keep the connection."""
HANG_UP = b""
"""Answer nothing, and end the connection."""


@dataclass(frozen=True)
class Heard:
    """One request as it arrived; the names of its headers are in lower case."""

    line: str
    headers: dict[str, str]
    body: bytes


class Scripted:
    """Gives its answers one after the other, the last one again and again."""

    def __init__(self, *answers: bytes, tls: ssl.SSLContext | None = None) -> None:
        self.answers = list(answers)
        self.heard: list[Heard] = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        if tls is not None:
            self.listener = tls.wrap_socket(self.listener, server_side=True)
        scheme = "http" if tls is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self.listener.getsockname()[1]}"
        self.held: list[socket.socket] = []
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except ssl.SSLError:
                continue  # a client that does not trust us
            except OSError:
                return
            self.held.append(connection)
            threading.Thread(target=self.talk, args=(connection,), daemon=True).start()

    def talk(self, connection: socket.socket) -> None:
        file = connection.makefile("rb")
        while line := file.readline():
            self.heard.append(read(line, file))
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if answer == HANG:
                continue
            if answer == HANG_UP:
                connection.shutdown(socket.SHUT_RDWR)
                return
            connection.sendall(answer)

    def close(self) -> None:
        # `shutdown` wakes the thread that accepts; `close` alone does not.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.held:
            connection.close()


def read(line: bytes, file: socket.SocketIO | Iterator[bytes]) -> Heard:
    headers: dict[str, str] = {}
    for raw in file:
        text = raw.strip().decode()
        if not text:
            break
        name, _, value = text.partition(": ")
        headers[name.lower()] = value
    body = file.read(int(headers["content-length"]))  # type: ignore[union-attr]
    return Heard(line.strip().decode(), headers, body)


def answer(body: bytes, *, status: int = 200, checksum: int | None = None) -> bytes:
    crc = zlib.crc32(body) if checksum is None else checksum
    head = f"HTTP/1.1 {status} Said\r\nContent-Length: {len(body)}\r\nx-amz-crc32: {crc}\r\n\r\n"
    return head.encode() + body


@contextmanager
def scripted_server(*answers: bytes, tls: ssl.SSLContext | None = None) -> Iterator[Scripted]:
    server = Scripted(*answers, tls=tls)
    try:
        yield server
    finally:
        server.close()
