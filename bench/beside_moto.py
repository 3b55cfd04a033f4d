"""The engine beside moto, both in this process.

The bar is for what a program without boto3 pays: one call of the engine, beside one call of
moto, which can only be reached through boto3. boto3 itself takes most of the time of a small
call, so the engine behind the same boto3 client is shown too, without a bar.

A whole test is measured as its author writes it: it enters `intercept()` or `mock_aws()`, creates a
table and ten items, scans them, and leaves. The bar is for a client that the application created on
import, and for one that the test creates itself; the process has created one before, because
reading the service's model takes a tenth of a second, once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeAlias

import boto3
from moto import mock_aws

from bench import workload
from bench.figure import Bar, Figure
from bench.race import Contender, race
from bench.scale import Scale
from bigtime.engine import Engine
from bigtime.testing import intercept
from bigtime.wire import Request

BAR = Bar("at least", 20, "x")
TEST_BAR = Bar("at most", 10, "ms")

Ask: TypeAlias = Callable[[Request], Any]
Asks: TypeAlias = dict[str, Ask]


def measure(scale: Scale) -> Iterator[Figure]:
    items = scale.moto_items
    numbers = workload.some(items, scale.moto_operations)
    groups = workload.some(items // workload.GROUP, scale.moto_operations)
    with moto_client() as moto, Engine.memory(housekeeping=False) as engine:
        asks: Asks = {
            "engine": engine,
            "boto3": through(engine.boto3_client()),
            "moto": through(moto),
        }
        for name in ("engine", "moto"):
            asks[name](workload.create_table("by_day"))
            for request in workload.fill_requests(workload.orders(items)):
                asks[name](request)
        gets = [workload.get(number) for number in numbers]
        yield from figures("GetItem, 1 KB, in process", asks, gets, scale)
        queries = [workload.query(group) for group in groups]
        what = f"Query of 25 of {items:,} items by GSI, in process"
        yield from figures(what, asks, queries, scale)
    yield from whole_tests(scale)


def whole_tests(scale: Scale) -> Iterator[Figure]:
    early = new_client()
    contenders = {
        "engine": Contender(lambda: run_test(intercept(), lambda: early), 1),
        "moto": Contender(lambda: run_test(mock_aws(), lambda: early), 1),
        "engine, new client": Contender(lambda: run_test(intercept(), new_client), 1),
        "moto, new client": Contender(lambda: run_test(mock_aws(), new_client), 1),
    }
    seen = {name: us / 1e3 for name, us in race(contenders, scale.rounds).items()}
    for detail in ("", ", new client"):
        what = f"A test of boto3: a table, ten puts and a scan{detail}"
        ours, other = seen[f"engine{detail}"], seen[f"moto{detail}"]
        yield Figure(what, ours, "ms", other, "for moto", other / ours, TEST_BAR)


def run_test(answering: AbstractContextManager[Any], client: Callable[[], Any]) -> None:
    with answering:
        orders = client()
        orders.create_table(
            TableName="Orders",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        for number in range(10):
            orders.put_item(TableName="Orders", Item={"id": {"S": f"{number}"}})
        if orders.scan(TableName="Orders")["Count"] != 10:
            raise AssertionError("the scan does not return what was put")


def new_client() -> Any:
    return boto3.client(
        "dynamodb",
        region_name="us-east-1",
        aws_access_key_id="none",
        aws_secret_access_key="none",
    )


def figures(what: str, asks: Asks, requests: list[Request], scale: Scale) -> Iterator[Figure]:
    check_same_work(asks, requests[0])
    contenders = {
        name: Contender(asker(ask, requests), len(requests)) for name, ask in asks.items()
    }
    seen = race(contenders, scale.moto_rounds)
    yield Figure(what, seen["engine"], "us", seen["moto"], "for moto", faster(seen, "engine"), BAR)
    label = f"{what}, through boto3"
    yield Figure(label, seen["boto3"], "us", seen["moto"], "for moto", faster(seen, "boto3"))


def faster(seen: dict[str, float], name: str) -> float:
    return seen["moto"] / seen[name]


def asker(ask: Ask, requests: list[Request]) -> Callable[[], None]:
    def run() -> None:
        for request in requests:
            ask(request)

    return run


def check_same_work(asks: Asks, request: Request) -> None:
    answers = [ask(request) for ask in asks.values()]
    shown = [(answer.get("Item"), answer.get("Items")) for answer in answers]
    if any(each != shown[0] for each in shown):
        raise AssertionError(f"{request.operation} is not answered alike by {', '.join(asks)}")


@contextmanager
def moto_client() -> Iterator[Any]:
    with mock_aws():
        yield boto3.Session("none", "none", region_name="us-east-1").client("dynamodb")


def through(client: Any) -> Ask:
    """Sends requests by a boto3 client's own methods."""
    methods = {
        operation: getattr(client, method)
        for method, operation in client.meta.method_to_api_mapping.items()
    }
    return lambda request: methods[request.operation](**request.params)
