"""Reactions as a Lambda function of a table's stream.

    # function.py; its handler is function.handler
    from bigtime.ops import lambda_handler
    from bigtime.systems import portal

    handler = lambda_handler(portal.SYSTEM.reactions["log_price_changes"])

The store is that of BIGTIME_STORE, or DynamoDB in the function's own region. It is opened by the
first event, and used for all that this instance gets.

The event source mapping needs the response type ReportBatchItemFailures: records are handled in
their order, and of a batch that fails Lambda repeats only those from the first failure on.
AWS: https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

from bigtime.model import Reaction
from bigtime.ops.reaction_log import WriteLine, handle_and_log, print_line
from bigtime.store import Store, open_store

log = logging.getLogger("bigtime.lambda")

Event: TypeAlias = Mapping[str, Any]
LambdaHandler: TypeAlias = Callable[[Event, object], dict[str, Any]]


def store_here() -> Store:
    """The store that the function's environment names."""
    region = os.environ.get("AWS_REGION", "")
    return open_store(os.environ.get("BIGTIME_STORE") or f"dynamodb:{region}")


def lambda_handler(
    *reactions: Reaction, open: Callable[[], Store] = store_here, write: WriteLine = print_line
) -> LambdaHandler:
    """A handler that runs these reactions on each record of their tables."""
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
    """The reactions to a record's table; all, where the table has a name that none declares."""
    source: str = record.get("eventSourceARN", "")
    named = [each for each in reactions if f":table/{each.table.name}/" in source]
    return named or reactions
