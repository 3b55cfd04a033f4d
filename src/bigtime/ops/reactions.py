"""Reactions as a Lambda function of a table's stream.

    # function.py; its handler is function.handler
    from bigtime.ops import lambda_handler
    from bigtime.systems import portal

    handler = lambda_handler(portal.SYSTEM.reactions["log_price_changes"])

The store is that of BIGTIME_STORE, or DynamoDB in the function's own region. The first event opens
it, and later events of the same instance use it too.

The event source mapping needs the response type ReportBatchItemFailures: records are handled in
order, and when one fails, Lambda retries the batch only from that record on.
AWS: https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html

What a reaction logs is a line of JSON on standard output, which Lambda puts into CloudWatch Logs. A
stream delivers a change at least once, so a line may be repeated too; the event's number in it
tells a second event from a second delivery.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import Any, TypeAlias

from bigtime.model import Reaction, decode
from bigtime.store import Store, open_store
from bigtime.wire import Steps

log = logging.getLogger("bigtime.lambda")

Event: TypeAlias = Mapping[str, Any]
LambdaHandler: TypeAlias = Callable[[Event, object], dict[str, Any]]
WriteLine: TypeAlias = Callable[[str], object]


def print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def handle_and_log(
    reaction: Reaction, record: Mapping[str, Any], write: WriteLine = print_line
) -> Steps[None]:
    """Runs a reaction on a stream's record, and then writes what it logged about it."""
    yield from reaction.handle(record)
    if reaction.log_line is None or not reaction.may_concern(record):
        return
    line = reaction.log_line(decode(record, (reaction.table,)))
    if line is not None:
        write(json.dumps({"reaction": reaction.name, **line}, default=plain, ensure_ascii=False))


def plain(value: object) -> str:
    match value:
        case Decimal():
            return format(value, "f")
        case datetime():
            return value.isoformat()
    return str(value)


def store_here() -> Store:
    """The store that the function's environment variables name."""
    region = os.environ.get("AWS_REGION", "")
    return open_store(os.environ.get("BIGTIME_STORE") or f"dynamodb:{region}")


def lambda_handler(
    *reactions: Reaction, open: Callable[[], Store] = store_here, write: WriteLine = print_line
) -> LambdaHandler:
    """A Lambda handler that runs these reactions on each record of their tables."""
    if not reactions:
        raise ValueError("a handler needs a reaction, as in lambda_handler(log_price_changes)")
    store = cache(open)

    def handle(event: Event, context: object = None) -> dict[str, Any]:
        for record in event["Records"]:
            try:
                for reaction in reactions_to(reactions, record):
                    store().run(handle_and_log(reaction, record, write))
            except Exception:
                number = record["dynamodb"]["SequenceNumber"]
                log.exception("record %s failed; Lambda repeats from there", number)
                return {"batchItemFailures": [{"itemIdentifier": number}]}
        return {"batchItemFailures": []}

    return handle


def reactions_to(reactions: Sequence[Reaction], record: Mapping[str, Any]) -> Sequence[Reaction]:
    """The reactions to a record's table; all, if none declares a table of that name."""
    source: str = record.get("eventSourceARN", "")
    named = [each for each in reactions if f":table/{each.table.name}/" in source]
    return named or reactions
