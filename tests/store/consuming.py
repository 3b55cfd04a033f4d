"""A program that consumes a stream until it is killed: `python -m tests.store.consuming FILE`.

Each record's number is appended to its key's list in the table `Seen`, and then said.
"""

from __future__ import annotations

import sys
import threading

from bigtime.store import Store, consume, open_store
from bigtime.store.consumer import Consumer
from bigtime.wire import Request, Response, Steps


def note(record: Response) -> Steps[None]:
    image = record["dynamodb"]["NewImage"]
    yield Request(
        "UpdateItem",
        {
            "TableName": "Seen",
            "Key": {"pk": image["pk"]},
            "UpdateExpression": "SET numbers = list_append(if_not_exists(numbers, :none), :one)",
            "ExpressionAttributeValues": {":none": {"L": []}, ":one": {"L": [image["n"]]}},
        },
    )
    print(image["n"]["N"], flush=True)


def consumer_of(store: Store) -> Consumer:
    return consume(store, "Things", note, name="killed", page_size=5, poll_seconds=0.01)


if __name__ == "__main__":
    with open_store(f"file:{sys.argv[1]}") as opened:
        consumer_of(opened).run_forever(threading.Event())
