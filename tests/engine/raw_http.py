"""An endpoint before an engine that answers as it is told, and a client that sends raw bytes."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import uvloop

from bigtime.engine.http.connection import Done
from bigtime.engine.http.endpoint import Endpoint, listen
from bigtime.engine.iam import Principal
from bigtime.wire import Request, Response

Answer = Callable[[Request], Response]


class StandIn:
    """Reads are answered on the caller's thread, a PutItem by another one, when it is let."""

    def __init__(self, answer: Answer = lambda request: {"Asked": request.params}) -> None:
        self.answer = answer
        self.may_commit = threading.Event()
        self.may_commit.set()
        self.committing = threading.Event()

    def submit(self, request: Request, done: Done, region: str | None = None) -> None:
        if request.operation == "PutItem":
            self.thread = threading.Thread(target=self.commit, args=(request, done))
            self.thread.start()
        else:
            self.reply(request, done)

    def commit(self, request: Request, done: Done) -> None:
        self.committing.set()
        self.may_commit.wait(60)
        self.reply(request, done)

    def reply(self, request: Request, done: Done) -> None:
        try:
            response = self.answer(request)
        except Exception as error:
            done(None, error)
        else:
            done(response, None)

    def as_user(
        self, principal: Principal, about: Mapping[str, str], region: str | None
    ) -> StandIn:
        return self

    def close(self) -> None:
        pass


class Served:
    """An endpoint on a thread of its own."""

    def __init__(self, engine: StandIn) -> None:
        self.engine = engine
        self.listeners = listen(port=0)
        self.port: int = self.listeners[0].getsockname()[1]
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        assert self.ready.wait(60)

    def run(self) -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(self.main())

    async def main(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.asked_to_stop = asyncio.Event()
        endpoint = self.endpoint = Endpoint(self.engine)
        await endpoint.start(self.listeners)
        self.ready.set()
        await self.asked_to_stop.wait()
        await endpoint.stop()

    def stop(self) -> None:
        if self.thread.is_alive():
            self.loop.call_soon_threadsafe(self.asked_to_stop.set)

    def connect(self) -> Client:
        return Client(self.port)


class Client:
    """One connection that sends exactly what it is told."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.file = self.socket.makefile("rb")

    def send(self, data: bytes) -> Client:
        self.socket.sendall(data)
        return self

    def call(self, operation: str = "GetItem", params: Any = None, **changes: Any) -> Reply:
        return self.send(call(operation, params, **changes)).reply()

    def reply(self, *, has_body: bool = True) -> Reply:
        status = self.file.readline().split(b" ", 2)
        assert len(status) == 3, "the connection was closed without an answer"
        headers: dict[str, str] = {}
        while line := self.file.readline().strip().decode():
            name, _, value = line.partition(": ")
            headers[name.lower()] = value
        size = int(headers["content-length"]) if has_body else 0
        return Reply(int(status[1]), headers, self.file.read(size))

    def is_closed(self) -> bool:
        return self.file.read(1) == b""

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.file.close()
        self.socket.close()


class Reply:
    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> tuple[int, str]:
        return self.status, self.json["__type"].rpartition("#")[2]


JSON_1_0 = "application/x-amz-json-1.0"


def call(
    operation: str = "GetItem",
    params: Any = None,
    *,
    body: bytes | None = None,
    service: str = "DynamoDB_20120810",
    method: str = "POST",
    **headers: str | None,
) -> bytes:
    payload = json.dumps(params or {}).encode() if body is None else body
    lines: dict[str, str | None] = {
        "Host": "127.0.0.1:8000",
        "X-Amz-Target": f"{service}.{operation}",
        "Content-Type": JSON_1_0,
        "Content-Length": str(len(payload)),
    }
    lines |= {name.replace("_", "-").title(): value for name, value in headers.items()}
    head = [f"{method} / HTTP/1.1", *(f"{k}: {v}" for k, v in lines.items() if v is not None)]
    return "\r\n".join([*head, "", ""]).encode() + payload


@contextmanager
def serving(engine: StandIn) -> Iterator[Served]:
    served = Served(engine)
    try:
        yield served
    finally:
        engine.may_commit.set()
        served.stop()
        served.thread.join(60)
