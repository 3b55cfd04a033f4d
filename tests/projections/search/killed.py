"""Keeps an index until it is killed: `python -m tests.projections.search.killed FILE FOLDER`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from bigtime.engine import Engine
from bigtime.projections.search import Follower, TantivyBackend, follower
from bigtime.store import Store
from bigtime.systems import deals


def main(file: str, folder: str) -> None:
    follower.COMMIT_SECONDS = 0.01  # type: ignore[misc]  # so that most kills hit a commit
    with Engine.open(file) as engine:
        kept = Follower(Store(engine), TantivyBackend(Path(folder), deals.DEAL_SEARCH))
        print("begun", flush=True)
        while True:
            if not any(turn.more for turn in kept.run_round()):
                time.sleep(0.005)


if __name__ == "__main__":
    main(*sys.argv[1:])
