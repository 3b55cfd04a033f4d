"""The round of PynamoDB."""

from __future__ import annotations

from typing import Any

import pytest
from pynamodb.attributes import (
    BinaryAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
)
from pynamodb.connection import Connection
from pynamodb.exceptions import PutError, TransactWriteError
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex
from pynamodb.models import Model
from pynamodb.transactions import TransactGet, TransactWrite

LARGE = "x" * 30_000  # fifty of these are more than a page


def pynamodb_round(url: str) -> None:
    order = order_model(url)
    order.create_table(wait=True)
    items(order)
    pages(order)
    transactions(order, url)
    order.delete_table()
    assert not order.exists()


def order_model(url: str) -> Any:
    class ByStatus(GlobalSecondaryIndex[Any]):  # type: ignore[no-untyped-call]
        class Meta:
            index_name = "ByStatus"
            projection = AllProjection()
            billing_mode = "PAY_PER_REQUEST"

        status = UnicodeAttribute(hash_key=True)

    class Order(Model):
        class Meta:
            table_name = "PynamoDB"
            host = url
            region = "us-east-1"
            billing_mode = "PAY_PER_REQUEST"

        customer = UnicodeAttribute(hash_key=True)
        number = NumberAttribute(range_key=True)
        status = UnicodeAttribute(null=True)
        seen = NumberAttribute(null=True)
        raw = BinaryAttribute(null=True, legacy_encoding=False)
        tags = UnicodeSetAttribute(null=True)
        text = UnicodeAttribute(null=True)
        by_status = ByStatus()

    return Order


def items(order: Any) -> None:
    order("alex", 1, raw=b"\x00\xff", tags={"tea"}).save()
    found = order.get("alex", 1)
    assert (found.raw, found.tags) == (b"\x00\xff", {"tea"})
    found.update(actions=[order.seen.add(1)])
    assert found.seen == 1
    with pytest.raises(PutError):
        order("alex", 1).save(condition=order.customer.does_not_exist())
    found.delete()
    with pytest.raises(order.DoesNotExist):
        order.get("alex", 1)


def pages(order: Any) -> None:
    with order.batch_write() as batch:
        for number in range(50):
            status = "open" if number % 5 else "paid"
            batch.save(order("sam", number, status=status, text=LARGE))
    found = [each.number for each in order.query("sam", order.number >= 10, page_size=20)]
    assert found == list(range(10, 50))
    assert sum(1 for _ in order.scan()) == 50
    assert sum(1 for _ in order.by_status.query("paid")) == 10


def transactions(order: Any, url: str) -> None:
    connection = Connection(region="us-east-1", host=url)
    with TransactWrite(connection=connection) as write:
        write.save(order("kim", 1))
        write.save(order("kim", 2))
    with pytest.raises(TransactWriteError) as caught:
        fail_to_write(order, connection)
    # PynamoDB sends checks before puts, whatever the order they are written in.
    reasons = caught.value.cancellation_reasons
    assert [reason and reason.code for reason in reasons] == ["ConditionalCheckFailed", None]
    with TransactGet(connection=connection) as read:
        kim = [read.get(order, "kim", number) for number in (1, 2)]
    assert [each.get().number for each in kim] == [1, 2]


def fail_to_write(order: Any, connection: Connection) -> None:
    with TransactWrite(connection=connection) as write:
        write.save(order("kim", 3))
        write.condition_check(order, "nobody", 0, condition=order.customer.exists())
