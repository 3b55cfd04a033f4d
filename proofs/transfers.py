"""Transactions that move money and append to lists, and the process that is killed during them.

A write takes an amount from one account, if it is there, gives it to another, and appends the
write's own number to up to three lists: all in one transaction under a token. A read reads
every list and every account in one. What a write does is a function of its seed and number.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from bigtime.engine import Engine
from bigtime.wire import Item, Request, Response, TransactionCanceledException
from proofs.child import SECONDS_TO_LIVE, checkpoint_often

TABLE = "Transfers"
CLIENTS = 4
LISTS = 3
ACCOUNTS = 5
OPENING_BALANCE = 30
MOST_TRANSACTIONS = 10_000  # of one client


def create_transfers() -> Request:
    params: Response = {
        "TableName": TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [{"AttributeName": "name", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "name", "AttributeType": "S"}],
    }
    return Request("CreateTable", params)


@dataclass(frozen=True, slots=True)
class Round:
    """The names that one round uses, distinct from those of all other rounds."""

    seed: int

    @property
    def lists(self) -> list[str]:
        return [f"{self.seed}/list {number}" for number in range(LISTS)]

    @property
    def accounts(self) -> list[str]:
        return [f"{self.seed}/account {number}" for number in range(ACCOUNTS)]

    def open_accounts(self) -> list[Request]:
        balance = {"N": str(OPENING_BALANCE)}
        items: list[Item] = [{"name": {"S": name}, "balance": balance} for name in self.accounts]
        return [Request("PutItem", {"TableName": TABLE, "Item": item}) for item in items]

    def is_write(self, value: int) -> bool:
        return random.Random(f"{self.seed}/{value}/kind").random() < 0.6

    def lists_of(self, value: int) -> list[str]:
        chance = random.Random(f"{self.seed}/{value}/lists")
        return chance.sample(self.lists, chance.randint(1, LISTS))

    def write(self, value: int) -> Request:
        chance = random.Random(f"{self.seed}/{value}/transfer")
        payer, payee = chance.sample(self.accounts, 2)
        amount = {":amount": {"N": str(chance.randint(1, 20))}}
        actions = [
            update(payer, "SET balance = balance - :amount", amount, "balance >= :amount"),
            update(payee, "SET balance = balance + :amount", amount),
            *(append(name, value) for name in self.lists_of(value)),
        ]
        token = f"{self.seed}-{value}"
        return Request(
            "TransactWriteItems", {"TransactItems": actions, "ClientRequestToken": token}
        )

    def read(self) -> Request:
        gets = [
            {"Get": {"TableName": TABLE, "Key": {"name": {"S": name}}}}
            for name in self.lists + self.accounts
        ]
        return Request("TransactGetItems", {"TransactItems": gets})

    def read_state(self, response: Response) -> dict[str, Any]:
        items = [each.get("Item", {}) for each in response["Responses"]]
        lists = {
            name: [int(value["N"]) for value in item.get("values", {"L": []})["L"]]
            for name, item in zip(self.lists, items, strict=False)
        }
        return {"lists": lists, "money": sum(int(item["balance"]["N"]) for item in items[LISTS:])}


def update(
    name: str, expression: str, values: dict[str, Any], condition: str | None = None
) -> dict[str, Any]:
    params: dict[str, Any] = {
        "TableName": TABLE,
        "Key": {"name": {"S": name}},
        "UpdateExpression": expression,
        "ExpressionAttributeValues": values,
    }
    if condition:
        params["ConditionExpression"] = condition
    return {"Update": params}


def append(name: str, value: int) -> dict[str, Any]:
    values = {":none": {"L": []}, ":value": {"L": [{"N": str(value)}]}}
    change = update(name, "SET #v = list_append(if_not_exists(#v, :none), :value)", values)
    change["Update"]["ExpressionAttributeNames"] = {"#v": "values"}
    return change


def transact_until_killed(path: Path, seed: int, pipe: Connection) -> None:
    """In a child: transactions from several threads, each reported before and after."""
    checkpoint_often()
    engine = Engine.open(path)
    telling = threading.Lock()
    one = Round(seed)

    def tell(*words: object) -> None:
        line = b"\t".join(str(word).encode() for word in words) + b"\n"
        with telling:
            os.write(pipe.fileno(), line)

    def work(client: int) -> None:
        for value in range(client * MOST_TRANSACTIONS, (client + 1) * MOST_TRANSACTIONS):
            called = time.monotonic_ns()
            if one.is_write(value):
                tell("try", value, called)
                outcome = write(engine, one, value)
                tell(outcome, value, called, time.monotonic_ns())
            else:
                seen = one.read_state(engine(one.read()))
                tell("saw", value, called, time.monotonic_ns(), json.dumps(seen))

    for client in range(CLIENTS):
        threading.Thread(target=work, args=(client,), daemon=True).start()
    threading.Event().wait(SECONDS_TO_LIVE)
    os._exit(1)


def write(engine: Engine, one: Round, value: int) -> str:
    """Sends a transaction; returns whether it was `done` or `refused`."""
    try:
        engine(one.write(value))
    except TransactionCanceledException:
        return "refused"
    return "done"
