"""A reaction as a Lambda function, with an event as Lambda sends it; and what it logs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.ops import lambda_handler
from bigtime.store import Store
from bigtime.systems import portal
from bigtime.wire import DynamoDBError, Request, Response

EVENT: dict[str, Any] = json.loads((Path(__file__).parent / "price_changes_event.json").read_text())
REACTION = portal.SYSTEM.reactions["log_price_changes"]
PRODUCT = EVENT["Records"][0]["dynamodb"]["NewImage"]["id"]["S"]


class Flaky:
    """An engine that fails for the first requests to a table."""

    def __init__(self, engine: Engine, failures: int = 0) -> None:
        self.engine = engine
        self.failures = failures
        self.opened = 0

    def __call__(self, request: Request) -> Response:
        if self.failures and request.operation == "PutItem":
            self.failures -= 1
            raise DynamoDBError("It is away.")
        return self.engine(request)

    def open(self) -> Store:
        self.opened += 1
        return Store(self)


@pytest.fixture
def tables() -> Iterator[Engine]:
    with Engine.memory() as engine:
        Store(engine).run(setup(portal.SYSTEM))
        yield engine


def entries(tables: Engine) -> list[portal.AuditEntry]:
    history = portal.audit_log(portal.Audited.PRICES, PRODUCT, newest_first=False)
    return list(Store(tables).run(history))


def test_an_event_becomes_an_audit_entry_and_a_line(tables: Engine) -> None:
    place, lines = Flaky(tables), list[str]()
    handler = lambda_handler(REACTION, open=place.open, write=lines.append)
    assert place.opened == 0  # nothing is opened before the first event
    for _ in range(2):  # Lambda delivers at least once
        assert handler(EVENT, None) == {"batchItemFailures": []}
    (entry,) = entries(tables)
    changed = EVENT["Records"][1]["dynamodb"]
    assert entry.event == changed["SequenceNumber"]
    assert json.loads(lines[0]) == {
        "reaction": "log_price_changes",
        "action": "PRICE_CHANGED",
        "productId": PRODUCT,
        "oldPrice": "299.99",
        "newPrice": "249.99",
        "changedBy": "editor@example.com",
        "changedAt": "2026-11-16T09:30:00+00:00",
        "event": changed["SequenceNumber"],
    }
    assert lines == [lines[0]] * 2
    assert place.opened == 1


def test_lambda_is_told_where_a_batch_failed(tables: Engine) -> None:
    place, lines = Flaky(tables, failures=1), list[str]()
    handler = lambda_handler(REACTION, open=place.open, write=lines.append)
    failed = EVENT["Records"][1]["dynamodb"]["SequenceNumber"]
    assert handler(EVENT, None) == {"batchItemFailures": [{"itemIdentifier": failed}]}
    assert (entries(tables), lines) == ([], [])
    again = {"Records": EVENT["Records"][1:]}
    assert handler(again, None) == {"batchItemFailures": []}
    assert (len(entries(tables)), len(lines)) == (1, 1)


def test_a_table_under_another_name_is_handled_too(tables: Engine) -> None:
    renamed = json.loads(json.dumps(EVENT).replace("table/products/", "table/products_restored/"))
    handler = lambda_handler(REACTION, open=Flaky(tables).open, write=lambda line: None)
    assert handler(renamed, None) == {"batchItemFailures": []}
    assert len(entries(tables)) == 1


def test_lines_go_to_standard_output(tables: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    lambda_handler(REACTION, open=Flaky(tables).open)(EVENT, None)
    assert json.loads(capsys.readouterr().out)["newPrice"] == "249.99"


def test_without_a_reaction_there_is_no_handler() -> None:
    with pytest.raises(ValueError, match="needs a reaction"):
        lambda_handler()
