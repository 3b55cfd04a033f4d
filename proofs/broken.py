"""Transports that break linearizability, for the checker to catch.

Each stands between one client and the engine, does what a careless cache, client or retry would do,
and counts how often it did so in a way that no order of operations can explain.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bigtime.wire import Request, Response, Transport

PUT_UNIT = 3**64
"""Puts write multiples of this, adds add powers of three below it, each only once. So a value
tells which put it stems from and which adds came after, and a 2 among its digits to base 3 is an
add that was applied twice."""


class Honest:
    """Adds nothing and hides nothing; the base class of the others."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.strikes = 0

    def __call__(self, request: Request) -> Response:
        return self.transport(request)


class StaleReads(Honest):
    """Reads from a copy that lacks this client's own last put."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.copies: dict[str, Response] = {}

    def __call__(self, request: Request) -> Response:
        params = request.params
        if request.operation == "PutItem" and "ConditionExpression" not in params:
            key = {"key": params["Item"]["key"]}
            read = {"TableName": params["TableName"], "Key": key, "ConsistentRead": True}
            self.copies[name_of(key)] = self.transport(Request("GetItem", read))
        elif request.operation == "GetItem" and name_of(params["Key"]) in self.copies:
            self.strikes += 1
            return self.copies[name_of(params["Key"])]
        return self.transport(request)


class LostConditions(Honest):
    """Assumes that a condition which held once holds for ever."""

    def __init__(self, transport: Transport) -> None:
        super().__init__(transport)
        self.held: set[str] = set()

    def __call__(self, request: Request) -> Response:
        if "ConditionExpression" not in request.params:
            return self.transport(request)
        condition = str(request.params.get("ExpressionAttributeValues"))
        condition += name_of(request.params["Item"])
        if condition in self.held:
            self.strikes += 1
            put = {name: request.params[name] for name in ("TableName", "Item")}
            return self.transport(Request("PutItem", put))
        response = self.transport(request)
        self.held.add(condition)
        return response


class DoubleApply(Honest):
    """Treats every response to an update as lost, and sends the update again."""

    def __call__(self, request: Request) -> Response:
        response = self.transport(request)
        if request.operation != "UpdateItem":
            return response
        again = self.transport(request)
        # If there was a put between the two, only one of them shows: nobody can tell.
        self.strikes += value_of(response) // PUT_UNIT == value_of(again) // PUT_UNIT
        return again


BROKEN: dict[str, Callable[[Transport], Honest]] = {
    "stale read": StaleReads,
    "lost compare-and-set": LostConditions,
    "double apply on retry": DoubleApply,
}


def transport_for(client: Transport, mutant: str | None) -> Honest:
    return Honest(client) if mutant is None else BROKEN[mutant](client)


def name_of(item: dict[str, Any]) -> str:
    return str(item["key"]["S"])


def value_of(response: Response) -> int:
    return int(response["Attributes"]["value"]["N"])
