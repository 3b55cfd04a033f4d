"""A partition too hot for all its writes is spread over several, and read as if it were one."""

from datetime import UTC, datetime, timedelta

from bigtime.model import (
    Entity,
    Keys,
    Page,
    Position,
    System,
    Table,
    gather,
    global_index,
    pattern,
    put_many,
    setup,
    sharded,
    shards,
)
from bigtime.store import open_store
from bigtime.wire import Steps

POLLS = Table("Polls", "PK", indexes=[global_index("ByTime", "ShardPK", "CastAt")])


class Vote(Entity, table=POLLS):
    keys = Keys(main="VOTE#{poll}#{voter}", ByTime=("POLL#{poll}#{shard}", "{cast_at:seconds}"))
    poll: str
    voter: str
    cast_at: datetime
    shard: int = sharded(4, by="voter")


@pattern("Latest Votes", index="ByTime")
def latest_votes(poll: str, after: Position | None = None) -> Steps[Page[Vote]]:
    """Asks every shard, and merges what they say by time."""
    everywhere = shards(Vote, "ByTime", poll=poll)
    return (yield from gather(everywhere, newest_first=True, limit=5, after=after))


start = datetime(2026, 3, 10, 12, tzinfo=UTC)

with open_store("memory:") as store:
    store.run(setup(System("polls", (POLLS,))))
    votes = [
        Vote(poll="best-deal", voter=f"voter-{n}", cast_at=start + timedelta(seconds=n))
        for n in range(8)
    ]
    store.run(put_many(votes))
    print("shards:", sorted({vote.shard for vote in votes}))

    first = store.run(latest_votes("best-deal"))
    rest = store.run(latest_votes("best-deal", first.position))
    print([vote.voter for vote in first], [vote.voter for vote in rest])
