"""Workers that are killed while they expire deals, each later than the one before.

`python -m tests.systems.deals.dying FILE COUNT` forks COUNT children, one after the other. Each
expires what is due, and kills itself (SIGKILL) before the request after so many.
"""

from __future__ import annotations

import os
import signal
import sys
from datetime import timedelta
from itertools import count

from bigtime.engine import Engine
from bigtime.store import Store
from bigtime.systems.deals.lifecycle import expire_deals
from bigtime.wire import Request, Response
from tests.store.places import START

AFTER = START + timedelta(days=1)


def expire_and_die(file: str, requests: int) -> None:
    made = count(1)
    with Engine.open(file) as engine:

        def send(request: Request) -> Response:
            if next(made) > requests:
                os.kill(os.getpid(), signal.SIGKILL)
            return engine(request)

        Store(send, clock=lambda: AFTER).run(expire_deals())


def main(file: str, children: int) -> None:
    for requests in range(children):
        child = os.fork()
        if child == 0:
            expire_and_die(file, requests)
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
