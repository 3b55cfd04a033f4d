"""Checkouts of processes that are killed, each later than the one before.

`python -m tests.web.checkout.killed FILE USER ...` forks a child for each user. The child checks
out the user's cart, kills itself (SIGKILL) before the request after so many, and says on its
standard output which order it has made, if it gets that far.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import count

from bigtime.engine import Engine
from bigtime.model import Ksuid
from bigtime.site.checkout import Checkout, check_out
from bigtime.store import Store
from bigtime.systems.cart.design import Status
from bigtime.systems.cart.line import view_products
from bigtime.wire import Request, Response
from tests.store.places import START
from tests.web.checkout.ordering import checkout


def checkout_of(store: Store, username: str) -> Checkout:
    lines = store.run(view_products(username, Status.ACTIVE, limit=1_000)).items
    return replace(checkout(lines), username=username, email=f"{username}@example.com")


def dying_transport(engine: Engine, requests: int) -> Callable[[Request], Response]:
    """A transport whose process does not live to make the request after so many."""
    made = count(1)

    def send(request: Request) -> Response:
        if next(made) > requests:
            os.kill(os.getpid(), signal.SIGKILL)
        return engine(request)

    return send


def check_out_and_die(file: str, username: str, requests: int) -> None:
    with Engine.open(file) as engine:
        asked = checkout_of(Store(engine, clock=lambda: START), username)
        mortal = Store(dying_transport(engine, requests), clock=lambda: START)
        tell(username, mortal.run(check_out(asked)))


def tell(username: str, made: Ksuid) -> None:
    """In one write, as an answer is sent: whoever reads it has been told."""
    os.write(1, f"{username} {made}\n".encode())


def main(file: str, usernames: list[str]) -> None:
    for requests, username in enumerate(usernames):
        child = os.fork()
        if child == 0:
            check_out_and_die(file, username, requests)
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
