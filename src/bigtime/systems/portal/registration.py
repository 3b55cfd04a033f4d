"""Registration: a tenant verifies its e-mail address with a one-time code, then opens an account.

The orders that it placed before are already its own: they belong to the tenant that checkout
created.

The code is returned once, to be mailed; the table holds only its hash, an HMAC-SHA256 over salt,
purpose, id and code. Six digits could be found by trying them on a stolen table, so the hash also
takes a secret key of the site, the `pepper`.

A mail is also in a table until it is sent. So the site may store a random `seed` with the mail
instead of the code: the code is derived from it and the pepper (as in RFC 4226), again when needed.

A code belongs to a tenant, or to a `flow`: what requested it, such as a page. A tenant has as many
codes at once as there are flows, and each can only be tried in its own flow. So wrong tries by a
stranger, in another flow, only use up the stranger's own code.

A code is valid for ten minutes and five tries. A try is counted before the code is compared, on
condition that one is left, so that concurrent tries cannot exceed the limit. The right code is
marked as used in the same transaction as what it allows. A new code replaces the previous one of
its flow.

A tenant is UNVALIDATED, VALIDATED, REGISTERED or SUSPENDED, and moves only along `MOVES`. An admin
may move it anywhere, and must give a reason. A suspended tenant stores its previous status, and
goes back to that, or to REGISTERED. A move is checked against the stored status, and fails if that
has changed.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final

from bigtime import model as bt
from bigtime.systems.portal import errors, values
from bigtime.systems.portal.design import Action, OneTimeCode, Purpose, Tenant
from bigtime.systems.portal.records import TRIES, Change, Overtaken, RecordChange
from bigtime.systems.portal.tenants import orderly
from bigtime.systems.portal.values import Status, TenantId

VALID_FOR: Final = timedelta(minutes=10)
MOST_TRIES: Final = 5
DIGITS: Final = 6
SALT_BYTES: Final = 16
SEED_BYTES: Final = 16


@bt.pattern("Issue One-time Code", index="Main table")
def issue_code(
    purpose: Purpose,
    tenant_id: TenantId,
    *,
    pepper: bytes = b"",
    seed: bytes | None = None,
    flow: str | None = None,
) -> bt.Steps[str]:
    """six digits for ten minutes and five tries, told once, to be mailed; only a hash is kept"""
    found = yield from bt.get(Tenant.key(tenant_id), consistent=True, missing=errors.UnknownTenant)
    tenant = orderly(found)
    if purpose == Purpose.VALIDATE and tenant.status != Status.UNVALIDATED:
        raise errors.MoveRefused("This e-mail address was validated already.")
    drawn = yield from bt.random_bytes(SEED_BYTES + SALT_BYTES)
    code = code_from(seed or drawn[:SEED_BYTES], pepper)
    salt = drawn[SEED_BYTES:]
    sent = OneTimeCode(
        purpose=purpose,
        id=flow or tenant.id,
        hash=hash_of(purpose, tenant.id, code, salt, pepper),
        salt=salt,
        expires_at=(yield from bt.now()) + VALID_FOR,
    )
    yield from bt.put(sent)
    return code


@bt.pattern("Redeem One-time Code", index="Main table", sample={"code": "123456"})
def redeem_code(
    purpose: Purpose,
    tenant_id: TenantId,
    code: str,
    *,
    pepper: bytes = b"",
    flow: str | None = None,
) -> bt.Steps[None]:
    """once; a wrong one counts as a try"""
    sent = yield from try_code(purpose, tenant_id, code, pepper, flow)
    yield from use_write(sent, (yield from bt.now()))


def try_code(
    purpose: Purpose, tenant_id: str, code: str, pepper: bytes, flow: str | None
) -> bt.Steps[OneTimeCode]:
    """Counts a try, and returns the stored code if the code is right."""
    tenant_id = values.checked_tenant_id(tenant_id)
    key = OneTimeCode.key(purpose, flow or tenant_id)
    for _ in range(TRIES):
        sent = yield from bt.get(key, consistent=True, missing=errors.UnknownCode)
        check_usable(sent, (yield from bt.now()))
        try:
            yield from count_try_write(sent)
        except Overtaken:
            continue
        given = hash_of(purpose, tenant_id, code, sent.salt, pepper)
        if not hmac.compare_digest(sent.hash, given):
            raise errors.CodeWrong
        return sent
    raise bt.Conflict


def check_usable(sent: OneTimeCode, moment: datetime) -> None:
    if sent.used_at is not None:
        raise errors.CodeUsed
    if sent.expires_at <= moment:
        raise errors.UnknownCode
    if sent.tries >= MOST_TRIES:
        raise errors.CodeSpent


def count_try_write(sent: OneTimeCode) -> bt.Write[OneTimeCode]:
    """Counts a try of exactly this code, if it has tries left."""
    left = (bt.attr("tries") < MOST_TRIES) & bt.attr("used_at").missing()
    return bt.update(
        sent.own_key(),
        tries=bt.Add(1),
        if_exists=errors.UnknownCode,
        when=left & (bt.attr("hash") == sent.hash),
        otherwise=Overtaken,
    )


def use_write(sent: OneTimeCode, moment: datetime) -> bt.Write[OneTimeCode]:
    """Marks a code as used, unless it already is or another was sent meanwhile."""
    return bt.update(
        sent.own_key(),
        used_at=moment,
        if_exists=errors.UnknownCode,
        when=bt.attr("used_at").missing() & (bt.attr("hash") == sent.hash),
        otherwise=errors.CodeUsed,
    )


def code_from(seed: bytes, pepper: bytes) -> str:
    """The code of a seed; without the pepper it cannot be derived from the seed."""
    digest = hmac.digest(pepper, b"the code of a seed\0" + seed, sha256)
    return f"{int.from_bytes(digest[:8]) % 10**DIGITS:0{DIGITS}}"


def hash_of(purpose: Purpose, id: str, code: str, salt: bytes, pepper: bytes) -> str:
    text = "\0".join((purpose, id, str(code)))
    return hmac.digest(pepper, salt + text.encode("utf-8", "surrogatepass"), sha256).hex()


@bt.pattern("Validate Tenant with One-time Code", index="Main table", sample={"code": "123456"})
def validate_tenant(
    tenant_id: TenantId, code: str, *, pepper: bytes = b"", flow: str | None = None
) -> bt.Steps[Tenant]:
    """UNVALIDATED to VALIDATED; the code is used up in the same transaction"""
    sent = yield from try_code(Purpose.VALIDATE, tenant_id, code, pepper, flow)
    used = use_write(sent, (yield from bt.now()))

    def decide(tenant: Tenant) -> Change | None:
        return replace(status_change(tenant, Status.VALIDATED), checks=(used,))

    return (yield from change_tenant(tenant_id, tenant_id, decide))


@bt.pattern("Register Tenant", index="Main table", takes="TenantId")
def register_tenant(
    tenant_id: TenantId,
    organization_name: str | None = None,
    destination_email: values.Email | None = None,
    *,
    along: tuple[bt.Write[Any], ...] = (),
) -> bt.Steps[Tenant]:
    """VALIDATED to REGISTERED; the orders made before are its own already

    `along` are writes of other tables that belong to it, such as the account: done with it, or
    nothing is.
    """
    fields = {"organization_name": organization_name, "destination_email": destination_email}
    given = {name: value for name, value in fields.items() if value is not None}

    def decide(tenant: Tenant) -> Change | None:
        change = status_change(tenant, Status.REGISTERED)
        return replace(change, fields={**change.fields, **given}, checks=along)

    return (yield from change_tenant(tenant_id, tenant_id, decide))


def change_tenant(
    tenant_id: str, by: str, decide: Callable[[Tenant], Change | None]
) -> bt.Steps[Tenant]:
    return RecordChange(Tenant.key(tenant_id), by, errors.UnknownTenant).apply(decide)


def status_change(tenant: Tenant, target: Status) -> Change:
    """A move that a tenant makes itself; a suspended tenant needs an admin."""
    return system_move(orderly(tenant), target)


# Statuses

MOVES: Final[Mapping[Status, frozenset[Status]]] = {
    Status.UNVALIDATED: frozenset({Status.VALIDATED}),
    Status.VALIDATED: frozenset({Status.REGISTERED}),
    Status.REGISTERED: frozenset({Status.SUSPENDED}),
    Status.SUSPENDED: frozenset({Status.REGISTERED}),
}


@bt.pattern("Update Tenant Status", index="Main table", sample={"status": Status.VALIDATED})
def update_tenant_status(
    tenant_id: TenantId, status: Status, *, by: values.Actor, expected: Status | None = None
) -> bt.Steps[Tenant]:
    """along the lifecycle only, and from the status it was seen in"""
    target = values.checked_status(status)

    def decide(tenant: Tenant) -> Change | None:
        check_expected(tenant, expected)
        return system_move(tenant, target)

    return (yield from change_tenant(tenant_id, by, decide))


@bt.pattern("Override Tenant Status", index="Main table", sample={"status": Status.REGISTERED})
def override_tenant_status(
    tenant_id: TenantId,
    status: Status,
    reason: values.Reason,
    *,
    by: values.Actor,
    expected: Status | None = None,
) -> bt.Steps[Tenant]:
    """admin; to any status, with the reason in the audit log"""
    target, why = values.checked_status(status), values.checked_reason(reason)

    def decide(tenant: Tenant) -> Change | None:
        check_expected(tenant, expected)
        if target == tenant.status:
            return None
        return move(tenant, target, Action.STATUS_OVERRIDDEN, why)

    return (yield from change_tenant(tenant_id, by, decide))


@bt.pattern("Suspend Tenant", index="Main table")
def suspend_tenant(
    tenant_id: TenantId, reason: values.Reason, *, by: values.Actor
) -> bt.Steps[Tenant]:
    """admin; from any status, which it remembers"""
    return (yield from override_tenant_status(tenant_id, Status.SUSPENDED, reason, by=by))


@bt.pattern("Reinstate Tenant", index="Main table", takes="TenantId, Reason")
def reinstate_tenant(
    tenant_id: TenantId, reason: values.Reason, to: Status | None = None, *, by: values.Actor
) -> bt.Steps[Tenant]:
    """admin; a suspended one back to what it was, or to REGISTERED"""
    target, why = None if to is None else values.checked_status(to), values.checked_reason(reason)

    def decide(tenant: Tenant) -> Change | None:
        if tenant.status != Status.SUSPENDED:
            raise errors.MoveRefused("Only a suspended tenant can be reinstated.")
        check_move(tenant, target or earlier(tenant))
        return move(tenant, target or earlier(tenant), Action.STATUS_CHANGED, why)

    return (yield from change_tenant(tenant_id, by, decide))


def system_move(tenant: Tenant, target: Status) -> Change:
    """A move along the lifecycle, which needs no reason."""
    check_move(tenant, target)
    return move(tenant, target, Action.STATUS_CHANGED)


def onward(tenant: Tenant) -> list[Status]:
    """The statuses that a tenant can move to along the lifecycle."""
    allowed = MOVES[tenant.status]
    if tenant.status == Status.SUSPENDED:
        allowed |= {earlier(tenant)}
    return [status for status in Status if status in allowed]


def check_move(tenant: Tenant, target: Status) -> None:
    allowed = onward(tenant)
    if target not in allowed:
        listed = ", ".join(allowed)
        raise errors.MoveRefused(
            f"A tenant that is {tenant.status} can become {listed}, not {target}."
        )


def earlier(tenant: Tenant) -> Status:
    """A suspended tenant's previous status; REGISTERED, if that is not stored."""
    return tenant.previous_status or Status.REGISTERED


def check_expected(tenant: Tenant, expected: Status | None) -> None:
    if expected is not None and tenant.status != values.checked_status(expected):
        raise errors.StatusMoved(f"The tenant is {tenant.status} by now; look at it again.")


def move(tenant: Tenant, target: Status, action: Action, reason: str | None = None) -> Change:
    if not tenant.active:
        raise errors.TenantDeleted
    before = tenant.status if target == Status.SUSPENDED else None
    return Change({"status": target, "previous_status": before}, action, reason)
