"""The chain of audit entries of each record: how an entry is hashed and linked.

The entries of a record are in one partition of the table `audit`, under the keys

    PK  <table>#<id>          SK  1, 2, 3, ... in twelve digits

and are never changed. Hashes reveal it if one is:

1. An attribute is serialised as DynamoDB's JSON, `{"S": "x"}`: numbers without superfluous zeros,
   the members of a set in order. The attributes are one JSON object with sorted names, without
   spaces, in UTF-8.
2. `contentHash` is the SHA-256, in hexadecimal, of an entry's content: those of the attributes
   `reason`, `before`, `after` and `salt` that it has.
3. `hash` is the SHA-256 of all other attributes of the item except itself: the key, `table`, `id`,
   `sequence`, `action`, `actor`, `at`, `event`, `contentHash`, `previousHash`, and any that was
   added.
4. `previousHash` is the `hash` of the entry before; of the first one, sixty-four zeros.

So a changed byte does not match its hash; an entry whose hashes were recomputed does not match the
link of the next one; one that is missing or inserted breaks the sequence. If the end is cut off,
the record does not match, unless it was reverted too. The hashes have no key: whoever can write to
the table can also delete a chain with its record, or rewrite it from some entry on. That is found
by comparison with hashes that were kept elsewhere (see `anchor`).

The content has its own hash so that it can be erased, where the law requires that, while the chain
stays intact (see `personal`). The salt, sixteen random bytes, is erased with it: without the salt,
the content cannot be found by hashing guesses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from hashlib import sha256
from typing import Any, Final, Protocol

from bigtime import model as bt
from bigtime.systems.portal.design import Action, Audited, AuditEntry, Hash, Record, SequenceNumber
from bigtime.wire import AttributeValue, Item

NOTHING_BEFORE: Final = "0" * 64
SALT_BYTES: Final = 16
CONTENT: Final = frozenset({"reason", "before", "after", "salt"})
OWN_HASH: Final = "hash"
KEY: Final = ("PK", "SK")


class Link(Protocol):
    """What the next entry of a chain needs from the last one."""

    @property
    def sequence(self) -> int: ...

    @property
    def hash(self) -> str: ...


class LastEntry(bt.View, of=AuditEntry):
    """The end of a chain."""

    sequence: SequenceNumber
    hash: Hash


# Hashes


def content_hash(item: Item) -> str:
    return digest({name: value for name, value in item.items() if name in CONTENT})


def entry_hash(item: Item) -> str:
    others = item.keys() - CONTENT - {OWN_HASH}
    return digest({name: item[name] for name in others})


def digest(attributes: Mapping[str, AttributeValue]) -> str:
    spelled = {name: canonical_value(value) for name, value in attributes.items()}
    text = json.dumps(spelled, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def canonical_value(value: AttributeValue) -> AttributeValue:
    """An attribute in its canonical form, for hashing and comparing."""
    ((tag, content),) = value.items()
    match tag:
        case "N":
            return {tag: number_text(content)}
        case "L":
            return {tag: [canonical_value(item) for item in content]}
        case "M":
            return {tag: {name: canonical_value(item) for name, item in content.items()}}
        case "NS":
            return {tag: sorted(map(number_text, content))}
        case "SS" | "BS":
            return {tag: sorted(content)}
    return value


def number_text(text: str) -> str:
    number = Decimal(text)
    return format(number.normalize(), "f") if number else "0"


# States


def state_of(record: Record) -> dict[str, Any]:
    """A record as stored in an entry: its stored attributes, without the key."""
    item = record.layout.to_item(record)
    return {name: plain(value) for name, value in without_key(item).items()}


def without_key(item: Item) -> Item:
    return {name: value for name, value in item.items() if name not in KEY}


def plain(value: AttributeValue) -> object:
    """The Python value of an attribute, which serialises to the same attribute."""
    ((tag, content),) = value.items()
    match tag:
        case "N":
            return Decimal(content)
        case "L":
            return [plain(item) for item in content]
        case "M":
            return {name: plain(item) for name, item in content.items()}
    return content


# Entries


def next_entry(
    last: Link | None,
    table: Audited,
    id: str,
    *,
    action: Action,
    at: datetime,
    actor: str,
    salt: bytes,
    reason: str | None = None,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    event: str | None = None,
) -> AuditEntry:
    """The entry after another, or the first of a chain."""
    entry = AuditEntry(
        table=table,
        id=id,
        sequence=1 if last is None else last.sequence + 1,
        action=action,
        at=at,
        actor=actor,
        reason=reason,
        before=before,
        after=after,
        event=event,
        salt=salt,
        content_hash="",
        previous_hash=NOTHING_BEFORE if last is None else last.hash,
        hash="",
    )
    return seal(entry)


def entries_of(table: Audited, id: str) -> bt.Steps[list[AuditEntry]]:
    """A whole chain."""
    return bt.all_of(AuditEntry.within("main", table=table, id=id), consistent=True)


def seal(entry: AuditEntry) -> AuditEntry:
    item = entry.layout.to_item(entry)
    content = content_hash(item)
    item["contentHash"] = {"S": content}
    return entry.model_copy(update={"content_hash": content, "hash": entry_hash(item)})
