"""The workload of the crashes: a ledger whose every state can be predicted.

A writer does its writes one after another, and write `number` of `writer` is a function of the
seed alone. So from the number of acknowledged writes follows, to the byte, what the table must
hold: everything up to the last acknowledged write, or that and the one write that was in flight
when the process died, and nothing else.

1. A writer has accounts of its own, so that no two writers' orders mix.
2. Every write leaves its number in each account that it touches: a half-applied transaction leaves
   a state that no number of writes explains.
3. Every transaction also increments one item that all writers share, and carries a client token.
   Some are sent twice; the second time must change nothing.
4. Some accounts are in no group: the index is sparse, and accounts move in and out of it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from bigtime.wire import Item, Request

TABLE = "Ledger"
INDEX = "by_group"
SHARED = "shared"
WRITERS = 4
ACCOUNTS = 6
GROUPS = 4

Change = tuple[Item | None, Item | None]


def create_table() -> Request:
    return Request(
        "CreateTable",
        {
            "TableName": TABLE,
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": [{"AttributeName": "account", "KeyType": "HASH"}],
            "AttributeDefinitions": [
                {"AttributeName": "account", "AttributeType": "S"},
                {"AttributeName": "group", "AttributeType": "S"},
                {"AttributeName": "number", "AttributeType": "N"},
            ],
            "GlobalSecondaryIndexes": [
                {
                    "IndexName": INDEX,
                    "KeySchema": [
                        {"AttributeName": "group", "KeyType": "HASH"},
                        {"AttributeName": "number", "KeyType": "RANGE"},
                    ],
                    "Projection": {"ProjectionType": "ALL"},
                }
            ],
            "StreamSpecification": {
                "StreamEnabled": True,
                "StreamViewType": "NEW_AND_OLD_IMAGES",
            },
        },
    )


def log_changes() -> Request:
    """Enables point-in-time recovery, and with it the change log."""
    wanted = {"PointInTimeRecoveryEnabled": True}
    params = {"TableName": TABLE, "PointInTimeRecoverySpecification": wanted}
    return Request("UpdateContinuousBackups", params)


@dataclass(frozen=True, slots=True)
class Action:
    """What a write does to one account."""

    kind: Literal["Put", "Update", "Delete"]
    account: str
    number: int
    group: str | None
    text: str

    def members(self) -> dict[str, Any]:
        """The members of a request, which are the same alone and in a transaction."""
        if self.kind == "Put":
            return {"TableName": TABLE, "Item": self.put()}
        key = {"TableName": TABLE, "Key": {"account": {"S": self.account}}}
        return {**key, **self.update()} if self.kind == "Update" else key

    def put(self) -> Item:
        item: Item = {"account": {"S": self.account}, "number": {"N": str(self.number)}}
        if self.group:
            item["group"] = {"S": self.group}
        return {**item, "text": {"S": self.text}}

    def update(self) -> dict[str, Any]:
        change = ", #group = :group" if self.group else " REMOVE #group"
        values: dict[str, Any] = {":number": {"N": str(self.number)}, ":one": {"N": "1"}}
        if self.group:
            values[":group"] = {"S": self.group}
        return {
            "UpdateExpression": f"SET #number = :number{change} ADD updates :one",
            "ExpressionAttributeNames": {"#number": "number", "#group": "group"},
            "ExpressionAttributeValues": values,
        }

    def after(self, before: Item | None) -> Item | None:
        if self.kind == "Delete":
            return None
        if self.kind == "Put":
            return self.put()
        after = dict(before or {"account": {"S": self.account}})
        after["number"] = {"N": str(self.number)}
        after.pop("group", None)
        if self.group:
            after["group"] = {"S": self.group}
        after["updates"] = {"N": str(int(after.get("updates", {"N": "0"})["N"]) + 1)}
        return after


@dataclass(frozen=True, slots=True)
class Write:
    """One request of a writer: a single action, or several under a client token."""

    actions: tuple[Action, ...]
    token: str | None = None
    is_replay: bool = False

    def request(self) -> Request:
        if self.token is None:
            return Request(f"{self.actions[0].kind}Item", self.actions[0].members())
        items = [{action.kind: action.members()} for action in self.actions]
        count_up = {
            "TableName": TABLE,
            "Key": {"account": {"S": SHARED}},
            "UpdateExpression": "ADD transactions :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
        return Request(
            "TransactWriteItems",
            {"TransactItems": [*items, {"Update": count_up}], "ClientRequestToken": self.token},
        )


@lru_cache(maxsize=10_000)
def write(seed: int, writer: int, number: int) -> Write:
    """Write `number` (from 1) of a writer."""
    chance = random.Random(f"{seed}/{writer}/{number}")
    kind = chance.choices(
        ["Put", "Update", "Delete", "transaction", "replay"], [30, 25, 10, 25, 10]
    )[0]
    if kind == "replay":
        last = write(seed, writer, number - 1) if number > 1 else None
        if last and last.token and not last.is_replay:
            return Write(last.actions, last.token, is_replay=True)
    if kind == "transaction":
        accounts = chance.sample(range(ACCOUNTS), chance.randint(2, 4))
        actions = [draw(chance, writer, account, number) for account in accounts]
        return Write(tuple(actions), token=f"{seed}-{writer}-{number}")
    return Write((draw(chance, writer, chance.randrange(ACCOUNTS), number, kind),))


def draw(
    chance: random.Random, writer: int, account: int, number: int, kind: str | None = None
) -> Action:
    kinds: dict[str | None, Literal["Put", "Update", "Delete"]] = {
        "Update": "Update",
        "Delete": "Delete",
        None: chance.choice(["Put", "Update"]),
    }
    group = None if chance.random() < 0.25 else f"group {chance.randrange(GROUPS)}"
    text = "x" * chance.randrange(10, 400)
    return Action(kinds.get(kind, "Put"), f"{writer}/{account}", number, group, text)


@dataclass(slots=True)
class Book:
    """What the table must hold, and every change that must be in the stream."""

    seed: int
    items: dict[str, Item] = field(default_factory=dict)
    changes: dict[str, list[Change]] = field(default_factory=dict)
    done: dict[int, int] = field(default_factory=dict)

    def carry_out(self, writer: int) -> Write:
        """Does the next write of a writer."""
        number = self.done.get(writer, 0) + 1
        self.done[writer] = number
        asked = write(self.seed, writer, number)
        if asked.is_replay:
            return asked
        for action in asked.actions:
            self.change(action.account, action.after(self.items.get(action.account)))
        if asked.token:
            self.change(SHARED, counted_up(self.items.get(SHARED)))
        return asked

    def change(self, account: str, after: Item | None) -> None:
        before = self.items.get(account)
        if before == after:
            return
        self.changes.setdefault(account, []).append((before, after))
        if after is None:
            del self.items[account]
        else:
            self.items[account] = after

    def of(self, writer: int) -> dict[str, Item]:
        return {name: item for name, item in self.items.items() if belongs(name, writer)}

    def next_of(self, writer: int) -> dict[str, Item]:
        """The writer's accounts as they would be after one more write."""
        ahead = Book(self.seed, dict(self.items), {}, dict(self.done))
        ahead.carry_out(writer)
        return ahead.of(writer)


def belongs(account: str, writer: int) -> bool:
    return account.startswith(f"{writer}/")


def counted_up(before: Item | None) -> Item:
    seen = int(before["transactions"]["N"]) if before else 0
    return {"account": {"S": SHARED}, "transactions": {"N": str(seen + 1)}}


def writes(seed: int, writer: int, after: int) -> Iterator[tuple[int, Request]]:
    """The writer's requests from the one after `after` on, without end."""
    number = after
    while True:
        number += 1
        yield number, write(seed, writer, number).request()
