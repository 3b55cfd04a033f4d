"""A partition too hot for all its writes is spread over several, and read as if it were one."""

from datetime import UTC, datetime, timedelta

import bigtime as bt

POLLS = bt.Table("Polls", "PK", indexes=[bt.global_index("ByTime", "ShardPK", "CastAt")])


class Vote(bt.Entity, table=POLLS):
    keys = bt.Keys(main="VOTE#{poll}#{voter}", ByTime=("POLL#{poll}#{shard}", "{cast_at:seconds}"))
    poll: str
    voter: str
    cast_at: datetime
    shard: int = bt.model.shard_field(4, by="voter")


@bt.pattern("Latest Votes", index="ByTime")
def latest_votes(poll: str, after: bt.Position | None = None) -> bt.Steps[bt.Page[Vote]]:
    """Asks every shard, and merges what they say by time."""
    everywhere = bt.model.shards(Vote, "ByTime", poll=poll)
    return (yield from bt.model.gather(everywhere, newest_first=True, limit=5, after=after))


start = datetime(2026, 3, 10, 12, tzinfo=UTC)

with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("polls", (POLLS,))))
    votes = [
        Vote(poll="best-deal", voter=f"voter-{n}", cast_at=start + timedelta(seconds=n))
        for n in range(8)
    ]
    store.run(bt.put_many(votes))
    print("shards:", sorted({vote.shard for vote in votes}))

    first = store.run(latest_votes("best-deal"))
    rest = store.run(latest_votes("best-deal", first.position))
    print([vote.voter for vote in first], [vote.voter for vote in rest])
