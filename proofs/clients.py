"""The processes that race: each runs some of a history's clients, one per thread.

Every process opens the file itself. A client notes the time before each request and after its
response, on the one clock that all processes of a machine share.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bigtime.engine import Engine
from bigtime.wire import ConditionalCheckFailedException, Item, Request, Response, Transport
from proofs.broken import PUT_UNIT, transport_for
from proofs.linearizability import Operation, Value

TABLE = "Registers"
SWITCH_SECONDS = 50e-6  # with Python's 5 ms a client would be done before the next one begins
KINDS = ["put", "get", "cas", "cas again", "add"]
WEIGHTS = [20, 35, 20, 5, 20]

Told = list[tuple[str, Operation]]


@dataclass(frozen=True, slots=True)
class Part:
    """What one client does; `first` makes its operations' numbers unique among all clients."""

    seed: int
    keys: list[str]
    first: int
    length: int
    starts_at: int


@dataclass(slots=True)
class Client:
    """One client of a history, and the value it last saw of each key."""

    transport: Transport
    told: Told = field(default_factory=list)
    seen: dict[str, Value] = field(default_factory=dict)
    swapped: dict[str, Value] = field(default_factory=dict)

    def play(self, part: Part) -> None:
        chance = random.Random(part.seed)
        time.sleep(max(0.0, (part.starts_at - time.monotonic_ns()) / 1e9))
        for number in range(part.first, part.first + part.length):
            key = chance.choice(part.keys)
            kind = chance.choices(KINDS, WEIGHTS)[0]
            if kind == "get":
                self.get(key)
            elif kind == "put":
                self.put(key, (number + 1) * PUT_UNIT)
            elif kind == "add":
                self.add(key, 3**number)
            elif kind == "cas":
                self.swap(key, self.seen.get(key), (number + 1) * PUT_UNIT)
            elif key in self.swapped:
                self.swap(key, self.swapped[key], (number + 1) * PUT_UNIT)

    def get(self, key: str) -> None:
        called = time.monotonic_ns()
        response = self.transport(
            Request("GetItem", {"TableName": TABLE, "Key": name(key), "ConsistentRead": True})
        )
        value = int(response["Item"]["value"]["N"]) if "Item" in response else None
        self.note(key, Operation("get", called, time.monotonic_ns(), result=value))
        self.seen[key] = value

    def put(self, key: str, value: int) -> None:
        called = time.monotonic_ns()
        self.transport(Request("PutItem", {"TableName": TABLE, "Item": register(key, value)}))
        self.note(key, Operation("put", called, time.monotonic_ns(), value))
        self.seen[key] = value

    def add(self, key: str, amount: int) -> None:
        called = time.monotonic_ns()
        response = self.transport(add_request(key, amount))
        value = int(response["Attributes"]["value"]["N"])
        self.note(key, Operation("add", called, time.monotonic_ns(), amount, result=value))
        self.seen[key] = value

    def swap(self, key: str, expected: Value, value: int) -> None:
        called = time.monotonic_ns()
        try:
            self.transport(swap_request(key, expected, value))
            is_done = True
            self.seen[key], self.swapped[key] = value, expected
        except ConditionalCheckFailedException:
            is_done = False
        returned = time.monotonic_ns()
        self.note(key, Operation("cas", called, returned, value, expected, is_done))

    def note(self, key: str, operation: Operation) -> None:
        self.told.append((key, operation))


def name(key: str) -> Item:
    return {"key": {"S": key}}


def register(key: str, value: int) -> Item:
    return {**name(key), "value": {"N": str(value)}}


def add_request(key: str, amount: int) -> Request:
    params = {
        "TableName": TABLE,
        "Key": name(key),
        "UpdateExpression": "ADD #value :amount",
        "ExpressionAttributeNames": {"#value": "value"},
        "ExpressionAttributeValues": {":amount": {"N": str(amount)}},
        "ReturnValues": "UPDATED_NEW",
    }
    return Request("UpdateItem", params)


def swap_request(key: str, expected: Value, value: int) -> Request:
    params: dict[str, Any] = {"TableName": TABLE, "Item": register(key, value)}
    if expected is None:
        params["ConditionExpression"] = "attribute_not_exists(#key)"
        params["ExpressionAttributeNames"] = {"#key": "key"}
    else:
        params["ConditionExpression"] = "#value = :expected"
        params["ExpressionAttributeNames"] = {"#value": "value"}
        params["ExpressionAttributeValues"] = {":expected": {"N": str(expected)}}
    return Request("PutItem", params)


def play_parts(path: Path, pipe: Connection, mutant: str | None) -> None:
    """In a child: plays one list of parts after another, and sends back what happened."""
    sys.setswitchinterval(SWITCH_SECONDS)
    with Engine.open(path) as engine:
        while parts := pipe.recv():
            transports = [transport_for(engine, mutant) for _ in parts]
            clients = [Client(transport) for transport in transports]
            threads = [
                threading.Thread(target=client.play, args=(part,))
                for client, part in zip(clients, parts, strict=True)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            told: Told = [each for client in clients for each in client.told]
            pipe.send((told, sum(transport.strikes for transport in transports)))


def create_registers() -> Request:
    params: Response = {
        "TableName": TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "key", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "key", "AttributeType": "S"}],
    }
    return Request("CreateTable", params)
