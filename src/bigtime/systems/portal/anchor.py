"""The heads of all chains, to be kept outside the store, and compared with it later.

A chain of hashes shows what was changed amid it. It does not show that its last entries were cut
off with the record put back to match, that it was deleted together with its record, or that it was
written anew from some entry on. All of these show when the last hash of each chain is known from
elsewhere: an entry with that hash must still be there, and the chain up to it must hold, which
`verify_chains` checks. What was written and removed again after the heads were taken leaves no
trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bigtime import model as bt
from bigtime.systems.portal import verification
from bigtime.systems.portal.chain import OWN_HASH
from bigtime.systems.portal.design import AUDIT
from bigtime.wire import Item, Request, Response, Steps


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry of a chain; its number is also how many entries the chain has."""

    chain: str
    sequence: int
    hash: str


@dataclass(frozen=True, slots=True)
class Heads:
    """A page of heads; `next` is the last key read, None at the end.

    A chain that goes on beyond the page is shown by both, so that its last head counts.
    """

    heads: list[Head]
    next: Item | None


def read_heads(last: Item | None = None, *, limit: int = 10 * verification.PAGE) -> Steps[Heads]:
    """The heads of some chains: entries of a chain are scanned one after the other, in order."""
    params = {
        "TableName": AUDIT.name,
        "ConsistentRead": True,
        "Limit": limit,
        "ProjectionExpression": "PK, SK, #hash",
        "ExpressionAttributeNames": {"#hash": OWN_HASH},
    }
    response: Response = yield Request("Scan", params | verification.start_parameters(last))
    heads = {head.chain: head for head in map(head_in, response["Items"])}
    return Heads(list(heads.values()), response.get("LastEvaluatedKey"))


def head_in(item: Item) -> Head:
    sequence = verification.text_in(item, "SK")
    number = int(sequence) if sequence.isascii() and sequence.isdigit() else 0
    return Head(verification.text_in(item, "PK"), number, verification.text_in(item, OWN_HASH))


def compare_heads(heads: Sequence[Head]) -> Steps[list[verification.Broken]]:
    """What has become of chains since their heads were read."""
    found = yield from bt.together(*map(compare_head, heads))
    return [broken for broken in found if broken is not None]


def compare_head(head: Head) -> Steps[verification.Broken | None]:
    key = {"PK": {"S": head.chain}, "SK": {"S": f"{head.sequence:0{verification.SEQUENCE_DIGITS}}"}}
    response: Response = yield Request(
        "GetItem", {"TableName": AUDIT.name, "Key": key, "ConsistentRead": True}
    )
    item = response.get("Item")
    if item is None:
        return verification.Broken(head.chain, head.sequence, "the entry was there, and is gone")
    if verification.text_in(item, OWN_HASH) != head.hash:
        return verification.Broken(
            head.chain, head.sequence, "the entry is not the one that was there"
        )
    return None
