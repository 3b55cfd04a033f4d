"""The same three operations by the kit and by other Python clients.

Each client reads, writes and queries the same deals in its own idiom. What a program has before it
begins is not timed: the entity to put; for the two of boto3, the item to put.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import boto3
from boto3.dynamodb.conditions import Key
from botocore.credentials import Credentials
from dyntastic import Dyntastic
from pynamodb.attributes import (
    BooleanAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
    UTCDateTimeAttribute,
)
from pynamodb.models import Model

from bench.answers import Answers
from bench.deals import BRAND, DEALS, PAGE, Deal, deal, fields, item, key, responses
from bigtime.model import get, put, query
from bigtime.store import Store
from bigtime.store.endpoint import Endpoint
from bigtime.wire import Transport

REGION = "us-east-1"
NUMBER = 0
ITEMS = [item(number) for number in range(PAGE)]


@dataclass(frozen=True, slots=True, eq=False)
class Client:
    """The three operations, and the canned answers they get."""

    name: str
    answers: Answers
    get: Callable[[], Any]
    put: Callable[[], Any]
    query: Callable[[], Sequence[Any]]


def kit() -> Client:
    answers = Answers(responses(ITEMS))
    return kit_on("the kit", answers, answers.transport)


def signed_kit() -> Client:
    """The kit, including all that its transport does before and after the network."""
    answers = Answers(responses(ITEMS))
    endpoint = Endpoint(REGION, credentials=Credentials("none", "none"))
    return kit_on("the kit, signing", answers, answers.sign_requests(endpoint))


def kit_on(name: str, answers: Answers, transport: Transport) -> Client:
    store = Store(transport)
    wanted = deal(NUMBER)
    return Client(
        name,
        answers,
        lambda: store.run(get(Deal.key(BRAND, wanted.deal_id))),
        lambda: store.run(put(wanted)),
        lambda: store.run(query(Deal.within("main", brand=BRAND), limit=PAGE)).items,
    )


def boto3_client() -> Client:
    """Attributes as they cross the network: no types, no validation."""
    answers = Answers(responses(ITEMS))
    client = answered_session(answers).client("dynamodb")
    stored, table = ITEMS[NUMBER], DEALS.name
    asked = {name: stored[name] for name in ("PK", "SK")}
    return Client(
        "raw boto3",
        answers,
        lambda: client.get_item(TableName=table, Key=asked)["Item"],
        lambda: client.put_item(TableName=table, Item=stored),
        lambda: client.query(
            TableName=table,
            KeyConditionExpression="PK = :pk",
            ExpressionAttributeValues={":pk": asked["PK"]},
            Limit=PAGE,
        )["Items"],
    )


def boto3_resource() -> Client:
    """Python's values, in dictionaries."""
    answers = Answers(responses(ITEMS))
    table = answered_session(answers).resource("dynamodb").Table(DEALS.name)
    stored = {**key(NUMBER), **fields(NUMBER)}
    stored["created_at"] = stored["created_at"].isoformat()
    asked = key(NUMBER)
    return Client(
        "the boto3 resource",
        answers,
        lambda: table.get_item(Key=asked)["Item"],
        lambda: table.put_item(Item=stored),
        lambda: table.query(KeyConditionExpression=Key("PK").eq(asked["PK"]), Limit=PAGE)["Items"],
    )


class PynamoDeal(Model):
    class Meta:
        table_name = DEALS.name
        region = REGION
        aws_access_key_id = "none"
        aws_secret_access_key = "none"

    PK = UnicodeAttribute(hash_key=True)
    SK = UnicodeAttribute(range_key=True)
    brand = UnicodeAttribute()
    deal_id = UnicodeAttribute()
    title = UnicodeAttribute()
    link = UnicodeAttribute()
    category = UnicodeAttribute()
    price = NumberAttribute()
    likes = NumberAttribute()
    featured = BooleanAttribute()
    created_at = UTCDateTimeAttribute()
    tags = UnicodeSetAttribute()


def pynamodb() -> Client:
    items = [{**item, "created_at": pynamodb_time(item["created_at"]["S"])} for item in ITEMS]
    answers = Answers(responses(items))
    events: Any = PynamoDeal._get_connection().connection.client.meta.events
    events.unregister("before-send.dynamodb", unique_id="bench")
    events.register("before-send.dynamodb", answers.before_send, "bench")
    asked = key(NUMBER)
    told: dict[str, Any] = {**asked, **fields(NUMBER)}
    wanted = PynamoDeal(**{**told, "price": float(told["price"])})
    return Client(
        "PynamoDB",
        answers,
        lambda: PynamoDeal.get(asked["PK"], asked["SK"]),
        wanted.save,
        lambda: list(PynamoDeal.query(asked["PK"], limit=PAGE)),
    )


def pynamodb_time(text: str) -> dict[str, str]:
    """PynamoDB parses no other format than its own."""
    form: Any = UTCDateTimeAttribute()
    return {"S": form.serialize(datetime.fromisoformat(text))}


class DyntasticDeal(Dyntastic):
    __table_name__ = DEALS.name
    __table_region__ = REGION
    __hash_key__ = "PK"
    __range_key__ = "SK"

    PK: str
    SK: str
    brand: str
    deal_id: str
    title: str
    link: str
    category: str
    price: Decimal
    likes: int
    featured: bool
    created_at: datetime
    tags: set[str]


def dyntastic() -> Client:
    answers = Answers(responses(ITEMS))
    model: Any = DyntasticDeal
    model._clear_boto3_state()
    with default_session(answered_session(answers)):
        model._dynamodb_table()
    asked = key(NUMBER)
    wanted = DyntasticDeal.model_validate({**asked, **fields(NUMBER)})
    return Client(
        "dyntastic",
        answers,
        lambda: DyntasticDeal.get(asked["PK"], asked["SK"]),
        wanted.save,
        lambda: DyntasticDeal.query_page(asked["PK"], per_page=PAGE).items,
    )


def answered_session(answers: Answers) -> boto3.Session:
    session = boto3.Session("none", "none", region_name=REGION)
    events: Any = session.events  # its stubs do not know that a handler may return a response
    events.register("before-send.dynamodb", answers.before_send)
    return session


@contextmanager
def default_session(session: boto3.Session) -> Iterator[None]:
    before = boto3.DEFAULT_SESSION
    boto3.DEFAULT_SESSION = session
    try:
        yield
    finally:
        boto3.DEFAULT_SESSION = before


def others() -> list[Client]:
    return [boto3_client(), boto3_resource(), pynamodb(), dyntastic()]
