"""What belongs to an account: the lines of its cart, and its last purchase."""

from __future__ import annotations

from typing import Final

from bigtime import model as bt
from bigtime.systems.cart.design import CartLine, LineMarker, Purchases, Status


def erase_line(line: CartLine, pseudonym: str) -> bt.Steps[None]:
    """Moves what was purchased to the pseudonym, as its order is; deletes other lines."""
    if line.status is not Status.PURCHASED:
        yield from bt.delete(line)
        return
    yield from bt.transact(bt.delete(line), bt.create(line.replace(account_id=pseudonym)))


PERSONAL: Final = (
    bt.personal(
        CartLine,
        "account_id",
        erase=erase_line,
        kept="Your orders, for our books: under a random name, and without your address.",
    ),
    bt.personal(LineMarker, "account_id", goes_with=CartLine),
    bt.personal(Purchases, "account_id"),
)
