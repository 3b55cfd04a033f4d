"""The heads of all audit chains, to be kept outside the store and compared with it later.

A chain of hashes reveals changes in its middle. It does not reveal that its last entries were cut
off and the record reverted to match, that it was deleted together with its record, or that it was
rewritten from some entry on. All of these are found when the last hash of each chain is known from
elsewhere: an entry with that hash must still exist, and the chain up to it must be intact, which
`verify_chains` checks. Entries that were written and removed again after the heads were read leave
no trace.
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

    A chain that continues on the next page is in both; its last head counts.
    """

    heads: list[Head]
    next: Item | None


def read_heads(last: Item | None = None, *, limit: int = 10 * verification.PAGE) -> Steps[Heads]:
    """The heads of some chains: a scan returns the entries of a chain together and in order."""
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
    """What is wrong with chains, compared with their heads as read before."""
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
