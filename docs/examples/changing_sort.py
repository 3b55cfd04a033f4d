"""What changes is no part of the table's key: it sorts an index, which follows every update."""

import bigtime as bt

GAME = bt.Table(
    "Game", "Player", indexes=[bt.global_index("Leaders", "Level", bt.model.number("Score"))]
)


class Player(bt.Entity, table=GAME):
    keys = bt.Keys(main="{name}", Leaders=("{level}", "{score}"))
    name: str
    level: str
    score: int = 0


def leaders(level: str) -> list[tuple[str, int]]:
    page = store.run(bt.query(Player.within("Leaders", level=level), newest_first=True, limit=3))
    return [(player.name, player.score) for player in page]


with bt.open_store("memory:") as store:
    store.run(bt.setup(bt.System("game", (GAME,))))
    store.run(
        bt.put_many(
            Player(name=name, level="gold", score=9) for name in ("ada", "bob", "cyd", "dan")
        )
    )
    store.run(bt.update(Player.key("cyd"), score=100))
    store.run(bt.add(Player.key("bob"), score=2))
    print(leaders("gold"))

    store.run(bt.update(Player.key("cyd"), level="platinum"))
    print(leaders("gold"), leaders("platinum"))
