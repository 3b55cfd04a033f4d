"""Checkpoints in a table."""

from __future__ import annotations

from bigtime.store import Checkpoint, TableCheckpoints
from bigtime.wire import Response, Steps
from tests.store.places import Place, asking, get, put

KEEPER = TableCheckpoints()


def ignore(_: Response) -> Steps[None]:
    yield from get("anything")


def test_a_checkpoint_is_loaded_as_it_was_saved(place: Place) -> None:
    saved = {
        "shard1": Checkpoint("arn:a", "100000000000000000007"),
        "shard2": Checkpoint("arn:b", None, done=True),
    }

    def save() -> Steps[None]:
        assert (yield from KEEPER.ready())
        for shard, checkpoint in saved.items():
            yield from KEEPER.save("mailer", shard, checkpoint)
        yield from KEEPER.save("searcher", "shard1", Checkpoint("arn:a", "8"))

    place.run(save())
    assert place.run(KEEPER.load("mailer")) == saved
    place.run(KEEPER.forget("mailer", "shard1"))
    assert place.run(KEEPER.load("mailer")) == {"shard2": saved["shard2"]}


def test_more_checkpoints_than_fit_on_a_page_are_all_loaded(place: Place) -> None:
    arn = f"arn:{'x' * 20_000}"

    def save_many() -> Steps[None]:
        yield from KEEPER.ready()
        for number in range(120):
            yield from KEEPER.save("mailer", f"shard{number:03}", Checkpoint(arn, f"{number}"))

    place.run(save_many())
    loaded = place.run(KEEPER.load("mailer"))
    assert len(loaded) == 120
    assert loaded["shard007"] == Checkpoint(arn, "7")


def test_their_table_is_made_once(streamed_place: Place) -> None:
    for _ in range(2):
        streamed_place.consume_once("Things", ignore)
    created = [
        exchange.request.params["TableName"]
        for exchange in streamed_place.exchanges
        if exchange.request.operation == "CreateTable"
    ]
    assert sorted(created) == ["Checkpoints", "DeadLetters"]
    assert streamed_place.run(asking("DescribeTable", TableName="Checkpoints"))["Table"][
        "KeySchema"
    ] == [
        {"AttributeName": "Consumer", "KeyType": "HASH"},
        {"AttributeName": "Shard", "KeyType": "RANGE"},
    ]


def test_a_table_that_takes_time_is_waited_for(streamed_place: Place) -> None:
    class Slow(TableCheckpoints):
        asked = 0

        def ready(self) -> Steps[bool]:
            self.asked += 1
            ready = yield from super().ready()
            return ready and self.asked > 2

    streamed_place.run(put("a"))
    slow = Slow("Places")
    assert streamed_place.consumer("Things", ignore, checkpoints=slow, poll_seconds=2.0)() == 1
    assert streamed_place.time.slept == [2.0, 2.0]
    assert len(streamed_place.run(slow.load("test"))) > 0
