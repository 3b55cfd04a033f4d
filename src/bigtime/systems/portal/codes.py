"""One-time codes: six digits that prove whose a mailbox is.

The code is told once, to whoever mails it; the table has only its hash, an HMAC-SHA256 over salt,
purpose, id and code. Six digits are soon tried through by who has stolen the table, so the site
gives a key of its own, the `pepper`, without which the hash tells nothing.

A letter waits in a table too until it is sent. So whoever mails may draw a `seed` and keep that
with the letter: the code is made of it with the pepper (as in RFC 4226), and can be made again.

A code holds for ten minutes and five tries. A try is counted before it is judged, on condition
that there is one left: who tries many at once gets no more of them. A code that was right is
marked as used in the same transaction as what it allows. A new code takes the place of the one
before.
"""

from __future__ import annotations

import hmac
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from bigtime.model import Add, Conflict, Write, attr, get, now, pattern, put, random_bytes, update
from bigtime.systems.portal.checkout import orderly
from bigtime.systems.portal.design import OneTimeCode, Purpose, Tenant
from bigtime.systems.portal.errors import (
    CodeSpent,
    CodeUsed,
    CodeWrong,
    MoveRefused,
    UnknownCode,
    UnknownTenant,
)
from bigtime.systems.portal.history import TRIES, Overtaken
from bigtime.systems.portal.values import Status, TenantId, checked_tenant_id
from bigtime.wire import Steps

VALID_FOR: Final = timedelta(minutes=10)
MOST_TRIES: Final = 5
DIGITS: Final = 6
SALT_BYTES: Final = 16
SEED_BYTES: Final = 16


@pattern("Issue One-time Code", index="Main table")
def issue_code(
    purpose: Purpose, tenant_id: TenantId, *, pepper: bytes = b"", seed: bytes | None = None
) -> Steps[str]:
    """six digits for ten minutes and five tries, told once, to be mailed; only a hash is kept"""
    found = yield from get(Tenant.key(tenant_id), consistent=True, missing=UnknownTenant)
    tenant = orderly(found)
    if purpose == Purpose.VALIDATE and tenant.status != Status.UNVALIDATED:
        raise MoveRefused("This e-mail address was validated already.")
    drawn = yield from random_bytes(SEED_BYTES + SALT_BYTES)
    code = code_from(seed or drawn[:SEED_BYTES], pepper)
    salt = drawn[SEED_BYTES:]
    sent = OneTimeCode(
        purpose=purpose,
        id=tenant.id,
        hash=hash_of(purpose, tenant.id, code, salt, pepper),
        salt=salt,
        expires_at=(yield from now()) + VALID_FOR,
    )
    yield from put(sent)
    return code


@pattern("Redeem One-time Code", index="Main table", sample={"code": "123456"})
def redeem_code(
    purpose: Purpose, tenant_id: TenantId, code: str, *, pepper: bytes = b""
) -> Steps[None]:
    """once; a wrong one counts as a try"""
    sent = yield from try_code(purpose, tenant_id, code, pepper)
    yield from use_write(sent, (yield from now()))


def try_code(purpose: Purpose, tenant_id: str, code: str, pepper: bytes) -> Steps[OneTimeCode]:
    """Counts a try, and gives back what was sent if the code is that."""
    key = OneTimeCode.key(purpose, checked_tenant_id(tenant_id))
    for _ in range(TRIES):
        sent = yield from get(key, consistent=True, missing=UnknownCode)
        check_usable(sent, (yield from now()))
        try:
            yield from count_try_write(sent)
        except Overtaken:
            continue
        given = hash_of(purpose, sent.id, code, sent.salt, pepper)
        if not hmac.compare_digest(sent.hash, given):
            raise CodeWrong
        return sent
    raise Conflict


def check_usable(sent: OneTimeCode, moment: datetime) -> None:
    if sent.used_at is not None:
        raise CodeUsed
    if sent.expires_at <= moment:
        raise UnknownCode
    if sent.tries >= MOST_TRIES:
        raise CodeSpent


def count_try_write(sent: OneTimeCode) -> Write[OneTimeCode]:
    """One try more, of this very code, if there is one left."""
    left = (attr("tries") < MOST_TRIES) & attr("used_at").missing()
    return update(
        sent.own_key(),
        tries=Add(1),
        if_exists=UnknownCode,
        when=left & (attr("hash") == sent.hash),
        otherwise=Overtaken,
    )


def use_write(sent: OneTimeCode, moment: datetime) -> Write[OneTimeCode]:
    """Marks a code as used, if it is not, and if no other was sent meanwhile."""
    return update(
        sent.own_key(),
        used_at=moment,
        if_exists=UnknownCode,
        when=attr("used_at").missing() & (attr("hash") == sent.hash),
        otherwise=CodeUsed,
    )


def code_from(seed: bytes, pepper: bytes) -> str:
    """The code of a seed; without the pepper, the seed tells nothing of it."""
    made = hmac.digest(pepper, b"the code of a seed\0" + seed, sha256)
    return f"{int.from_bytes(made[:8]) % 10**DIGITS:0{DIGITS}}"


def hash_of(purpose: Purpose, id: str, code: str, salt: bytes, pepper: bytes) -> str:
    text = "\0".join((purpose, id, str(code)))
    return hmac.digest(pepper, salt + text.encode("utf-8", "surrogatepass"), sha256).hex()
