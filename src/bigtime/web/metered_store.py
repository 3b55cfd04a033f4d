"""A store that says what each pattern costs: its capacity is counted under the pattern's name.

Steps are a generator, and a generator knows the function that it came from. Every request that
can tell its capacity is asked to.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from types import GeneratorType
from typing import Any, Final, TypeVar

from bigtime.store import AsyncStore
from bigtime.store.driver import Runnable
from bigtime.wire import Request, Response

T = TypeVar("T")

TELLING: Final = frozenset(
    {
        "GetItem",
        "PutItem",
        "UpdateItem",
        "DeleteItem",
        "Query",
        "Scan",
        "BatchGetItem",
        "BatchWriteItem",
        "TransactGetItems",
        "TransactWriteItems",
    }
)
"""The operations that can be asked what they consumed."""

running: ContextVar[str] = ContextVar("running", default="other")

Spent = Callable[[str, float], None]


class MeteredStore(AsyncStore):
    """Tells `spent` the name of a pattern and the units that one of its requests consumed."""

    def __init__(self, transport: Any, *, spent: Spent, **options: Any) -> None:
        super().__init__(transport, **options)
        self.spent = spent

    async def run(self, steps: Runnable[T]) -> T:
        token = running.set(name_of(steps))
        try:
            return await super().run(steps)
        finally:
            running.reset(token)

    async def send(self, request: Request) -> Response:
        if request.operation not in TELLING or "ReturnConsumedCapacity" in request.params:
            return await super().send(request)
        params = {**request.params, "ReturnConsumedCapacity": "TOTAL"}
        response = await super().send(Request(request.operation, params))
        consumed = response.pop("ConsumedCapacity", None) or ()
        reported = (consumed,) if isinstance(consumed, dict) else consumed
        self.spent(running.get(), sum(one.get("CapacityUnits", 0.0) for one in reported))
        return response


def name_of(steps: Any) -> str:
    """`deals.fetch_deal`, of a pattern's steps; an operation goes by its kind."""
    if not isinstance(steps, GeneratorType) or steps.gi_frame is None:
        return type(steps).__name__.lower()
    module = str(steps.gi_frame.f_globals["__name__"])
    area = module.rpartition(".")[0].rpartition(".")[2]
    return f"{area}.{steps.__name__}"
