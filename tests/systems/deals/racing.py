"""A process of its own, for races between processes: likes, watches and tells as fast as it can."""

from __future__ import annotations

import sys

from bigtime.model import DomainError
from bigtime.store import Store, open_store
from bigtime.systems.deals.deals import fetch_brand_deals
from bigtime.systems.deals.interests import like_brand, unwatch_brand, watch_brand
from bigtime.systems.deals.notifications import send_hot_deal_message

USERS = 10


def press_all(store: Store) -> int:
    """Likes as everyone, and watches and does not watch; how many of the likes were the first."""
    won = 0
    for number in range(USERS):
        for steps in (
            watch_brand("Apple", f"user-{number}"),
            unwatch_brand("Apple", f"user-{number}"),
        ):
            try:
                store.run(steps)
            except DomainError:
                continue
        try:
            store.run(like_brand("Apple", f"user-{number}"))
            won += 1
        except DomainError:
            continue
    return won


def main(file: str) -> None:
    with open_store(f"file:{file}") as store:
        print(press_all(store), flush=True)
        (newest,) = store.run(fetch_brand_deals("Apple"))
        store.run(send_hot_deal_message(newest.deal_id))


if __name__ == "__main__":
    main(sys.argv[1])
