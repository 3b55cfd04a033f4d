"""A mail server for tests, which says to each letter what it is told to say."""

from __future__ import annotations

import socketserver
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

OK = "250 ok"


@dataclass
class Post:
    """What a server takes and what it refuses, and what came of it.

    `says` is what it answers to a line that has words in it, in capitals, instead of what is
    usual; nothing means that it hangs up.
    """

    says: Mapping[str, str] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    taken: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    address: str = ""

    def to(self) -> list[str]:
        """Whom the letters were for that it has taken."""
        lines = (line for each in self.taken for line in each.splitlines())
        return sorted(line.removeprefix("To: ") for line in lines if line.startswith("To: "))


class Talk(socketserver.StreamRequestHandler):
    """One connection."""

    post: Post

    def handle(self) -> None:
        self.say("220 hello")
        while line := self.rfile.readline().decode(errors="replace").strip():
            self.post.heard.append(line)
            told = [answer for word, answer in self.post.says.items() if word in line.upper()]
            if told:
                if not told[0]:
                    return
                self.say(told[0])
            elif not self.usual(line):
                return

    def usual(self, line: str) -> bool:
        match line.partition(" ")[0].upper():
            case "EHLO":
                offered = ["STARTTLS"] if self.post.tls else []
                offered += ["AUTH PLAIN"]
                self.say("250-hello", *(f"250-{each}" for each in offered), "250 HELP")
            case "STARTTLS":
                self.say("220 go")
                assert self.post.tls is not None
                self.connection = self.post.tls.wrap_socket(self.connection, server_side=True)
                self.rfile = self.connection.makefile("rb")
                self.wfile: Any = self.connection.makefile("wb", buffering=0)
            case "AUTH":
                self.say("235 welcome")
            case "DATA":
                self.say("354 go on")
                self.take()
            case "QUIT":
                self.say("221 bye")
                return False
            case _:
                self.say(OK)
        return True

    def take(self) -> None:
        lines: list[str] = []
        while (line := self.rfile.readline().decode().rstrip("\r\n")) != ".":
            lines.append(line)
        text = "\n".join(lines)
        refused = [answer for word, answer in self.post.says.items() if word in text.upper()]
        if not refused:
            self.post.taken.append(text)
        self.say(refused[0] if refused else OK)

    def say(self, *lines: str) -> None:
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())


@contextmanager
def mail_server(says: Mapping[str, str] | None = None, **options: Any) -> Iterator[Post]:
    post = Post(says or {}, **options)
    server = socketserver.ThreadingTCPServer(
        ("127.0.0.1", 0), type("Talking", (Talk,), {"post": post})
    )
    server.daemon_threads = True
    post.address = f"127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield post
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
