"""Log lines of reactions: JSON on standard output, which Lambda puts into CloudWatch Logs.

A stream delivers a change at least once, and a line may come as often; what happened twice and
what was delivered twice differ by the event's number in it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeAlias

from bigtime.model import Reaction, decode
from bigtime.wire import Steps

WriteLine: TypeAlias = Callable[[str], object]


def print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def handle_and_log(
    reaction: Reaction, record: Mapping[str, Any], write: WriteLine = print_line
) -> Steps[None]:
    """Runs a reaction on a stream's record, and then writes what it logs of that."""
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
