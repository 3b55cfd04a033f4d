"""The round of aiodynamo, on httpx."""

from __future__ import annotations

import httpx
import pytest
from aiodynamo.client import Client
from aiodynamo.credentials import Key, StaticCredentials
from aiodynamo.errors import ConditionalCheckFailed, ItemNotFound, TransactionCanceled
from aiodynamo.expressions import F, HashKey, RangeKey
from aiodynamo.http.httpx import HTTPX
from aiodynamo.models import (
    GlobalSecondaryIndex,
    KeySchema,
    KeySpec,
    KeyType,
    PayPerRequest,
    Projection,
    ProjectionType,
    ReturnValues,
)
from aiodynamo.operations import ConditionCheck, Put
from yarl import URL

LARGE = "x" * 30_000  # fifty of these are more than a page


async def aiodynamo_round(url: str) -> None:
    async with httpx.AsyncClient() as http:
        client = Client(
            HTTPX(http), StaticCredentials(Key("local", "local")), "us-east-1", URL(url)
        )
        await table(client)
        await items(client)
        await pages(client)
        await transactions(client)
        await client.delete_table("Aiodynamo")


async def table(client: Client) -> None:
    by_status = GlobalSecondaryIndex(
        "ByStatus",
        KeySchema(KeySpec("status", KeyType.string)),
        Projection(ProjectionType.all, []),
        None,
    )
    keys = KeySchema(KeySpec("customer", KeyType.string), KeySpec("number", KeyType.number))
    await client.create_table("Aiodynamo", PayPerRequest(), keys, gsis=[by_status])
    assert await client.table_exists("Aiodynamo")


async def items(client: Client) -> None:
    table = client.table("Aiodynamo")
    alex = {"customer": "alex", "number": 1}
    item = {**alex, "raw": b"\x00\xff", "tags": {"tea"}, "lines": [{"gift": True}]}
    await table.put_item(item)
    assert await table.get_item(alex) == item
    update = F("seen").add(1) & F("raw").remove()
    updated = await table.update_item(alex, update, return_values=ReturnValues.all_new)
    assert updated is not None and updated["seen"] == 1 and "raw" not in updated
    with pytest.raises(ConditionalCheckFailed):
        await table.put_item(alex, condition=F("customer").does_not_exist())
    await table.delete_item(alex)
    with pytest.raises(ItemNotFound):
        await table.get_item(alex)


async def pages(client: Client) -> None:
    table = client.table("Aiodynamo")
    for number in range(50):
        status = "open" if number % 5 else "paid"
        await table.put_item({"customer": "sam", "number": number, "status": status, "text": LARGE})
    sam = HashKey("customer", "sam")
    first = await table.query_single_page(sam)
    assert not first.is_last_page  # 1 MB, and it came compressed
    found = [item["number"] async for item in table.query(sam & RangeKey("number").gte(10))]
    assert found == list(range(10, 50))
    paid = [item async for item in table.query(HashKey("status", "paid"), index="ByStatus")]
    assert len(paid) == 10


async def transactions(client: Client) -> None:
    table = client.table("Aiodynamo")
    puts = [Put("Aiodynamo", {"customer": "kim", "number": number}) for number in (1, 2, 3)]
    nobody = {"customer": "nobody", "number": 0}
    await client.transact_write_items(puts[:2])
    with pytest.raises(TransactionCanceled):
        await client.transact_write_items(
            [puts[2], ConditionCheck("Aiodynamo", nobody, F("customer").exists())]
        )
    assert await table.get_item({"customer": "kim", "number": 2})
    with pytest.raises(ItemNotFound):
        await table.get_item({"customer": "kim", "number": 3})
