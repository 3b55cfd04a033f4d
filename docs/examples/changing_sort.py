"""What changes is no part of the table's key: it sorts an index, which follows every update."""

from bigtime.model import (
    Entity,
    Keys,
    System,
    Table,
    add,
    global_index,
    number,
    put_many,
    query,
    setup,
    update,
)
from bigtime.store import open_store

GAME = Table("Game", "Player", indexes=[global_index("Leaders", "Level", number("Score"))])


class Player(Entity, table=GAME):
    keys = Keys(main="{name}", Leaders=("{level}", "{score}"))
    name: str
    level: str
    score: int = 0


def leaders(level: str) -> list[tuple[str, int]]:
    page = store.run(query(Player.within("Leaders", level=level), newest_first=True, limit=3))
    return [(player.name, player.score) for player in page]


with open_store("memory:") as store:
    store.run(setup(System("game", (GAME,))))
    store.run(
        put_many(Player(name=name, level="gold", score=9) for name in ("ada", "bob", "cyd", "dan"))
    )
    store.run(update(Player.key("cyd"), score=100))
    store.run(add(Player.key("bob"), score=2))
    print(leaders("gold"))

    store.run(update(Player.key("cyd"), level="platinum"))
    print(leaders("gold"), leaders("platinum"))
