"""Showing whose a mailbox is: a code is mailed, and typed in again.

Whoever asks learns nothing of who is a customer here:

1. For every address there is a page that asks for the code, and it answers in the same words
   whether one was sent or not. How many tries are left, and how old the code is, it tells from
   what it has noted itself.
2. The page is answered before anybody looks whose the address is; that, and the letter, come
   after. And where there is no code to try, as much is done as if there were.
3. Who orders is made a tenant by that; who only wants to see their orders is not.
4. To whom no code can be sent, because their account is closed, that is written instead.

What was shown is remembered for an hour as a proof. It belongs to a session, and counts while that
lives; or to a visit, whose cookie is drawn anew at that moment, so that nobody can have planted it.
The one is never taken for the other: the cookie of a session that is over proves nothing.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from bigtime.model import (
    Add,
    DomainError,
    NotFound,
    RuleBroken,
    create,
    delete,
    get,
    now,
    put,
    random_bytes,
    update,
)
from bigtime.site.design import Proof, Proving
from bigtime.site.letters import closed_letter, code_letter
from bigtime.site.mail import CODE, letter, write_mail
from bigtime.systems import portal
from bigtime.wire import Steps

LASTS: Final = timedelta(hours=1)
CODE_REFUSED: Final = (
    portal.UnknownCode,
    portal.CodeWrong,
    portal.CodeSpent,
    portal.CodeUsed,
    portal.UnknownTenant,
)
CLOSED: Final = (portal.TenantDeleted, portal.TenantSuspended)


class UnknownProving(NotFound):
    """This page is no longer good; give your e-mail address once more."""


class CodeRefused(RuleBroken):
    """This is not the code that was sent, or it is no longer good; look again, or ask anew."""


@dataclass(frozen=True, slots=True)
class Codes:
    """What making and checking codes takes: a key of the site's own, and its address."""

    pepper: bytes
    base_url: str

    def link(self, proving: Proving, code: str) -> str:
        return f"{self.base_url}/portal/confirm/{proving.proving_id}?code={code}"


# Asking for a code


def begin_proving(email: str, then: str) -> Steps[Proving]:
    """The page that asks for the code of an address; it goes on to another."""
    moment = yield from now()
    proving = Proving(
        proving_id=urlsafe_b64encode((yield from random_bytes(24))).decode(),
        email=portal.checked_email(email),
        next=then,
        sent_at=moment,
        expires_at=moment + LASTS,
    )
    return (yield from create(proving))


def begin_again(proving_id: str) -> Steps[Proving]:
    """The same page, for a new code: all tries are there again."""
    proving = yield from open_proving(proving_id)
    moment = yield from now()
    return (yield from update(proving, sent_at=moment, tries=0, if_exists=UnknownProving))


def send_code(codes: Codes, proving: Proving, *, ordering: bool = False) -> Steps[None]:
    """Mails a code to whom the address belongs; who is `ordering` is a tenant from now on."""
    tenant = yield from customer_at(proving.email, ordering=ordering)
    if tenant is None:
        return
    yield from update(proving.own_key(), tenant_id=tenant.id, if_exists=UnknownProving)
    yield from mail_code(codes, proving, tenant)


def customer_at(address: str, *, ordering: bool) -> Steps[portal.Tenant | None]:
    """Whose an address is, also if the account is closed."""
    if ordering:
        with suppress(*CLOSED):
            return (yield from portal.tenant_at_checkout(address))
    return (yield from portal.tenant_of(address))


def mail_code(codes: Codes, proving: Proving, tenant: portal.Tenant) -> Steps[None]:
    """Stores the hash of a code, and a letter with what the code is made of, not the code."""
    drawn = (yield from random_bytes(16)).hex()
    seed = yield from random_bytes(portal.SEED_BYTES)
    try:
        yield from issue(codes, portal.orderly(tenant), seed)
    except CLOSED:
        told, mail_id = closed_letter(), f"closed {tenant.id} {proving.sent_at:%Y-%m-%d}"
        yield from write_mail(letter(mail_id, tenant.email, told.subject, told.text))
        return
    told = code_letter(CODE, codes.link(proving, CODE))
    mail_id = f"code {drawn}"
    yield from write_mail(
        letter(mail_id, tenant.email, told.subject, told.text, seed=seed, kept=portal.VALID_FOR)
    )


def issue(codes: Codes, tenant: portal.Tenant, seed: bytes) -> Steps[None]:
    """A code for what it will prove: that an address is a tenant's, or who wants to come in."""
    made: dict[str, bytes] = {"pepper": codes.pepper, "seed": seed}
    if tenant.status == portal.Status.UNVALIDATED:
        with suppress(portal.MoveRefused):  # somebody else has validated it just now
            yield from portal.issue_code(portal.Purpose.VALIDATE, tenant.id, **made)
            return
    yield from portal.issue_code(portal.Purpose.SIGN_IN, tenant.id, **made)


# Typing it in


def prove(codes: Codes, proving_id: str, code: str) -> Steps[str]:
    """The id of the tenant whose code this is."""
    proving = yield from open_proving(proving_id)
    proving = yield from update(proving.own_key(), tries=Add(1), if_exists=UnknownProving)
    moment = yield from now()
    if proving.tenant_id is None or proving.tries > portal.MOST_TRIES:
        yield from pretend()
        raise why_refused(proving, moment)
    try:
        yield from show_mailbox(codes, proving.tenant_id, code)
    except CODE_REFUSED:
        raise why_refused(proving, moment) from None
    return proving.tenant_id


def open_proving(proving_id: str) -> Steps[Proving]:
    proving = yield from get(Proving.key(proving_id), consistent=True, missing=UnknownProving)
    if proving.expires_at <= (yield from now()):
        raise UnknownProving
    return proving


def why_refused(proving: Proving, moment: datetime) -> DomainError:
    """What is told of a code that will not do: the same, whether there is a customer or not."""
    if proving.tries >= portal.MOST_TRIES:
        return portal.CodeSpent()
    return (
        portal.UnknownCode() if proving.sent_at + portal.VALID_FOR <= moment else portal.CodeWrong()
    )


def prove_by_email(codes: Codes, email: str, code: str) -> Steps[str]:
    """The same for a program, which knows an address and no page; whatever is wrong is one error.

    Gives the id of the tenant.
    """
    tenant = yield from portal.tenant_of(portal.checked_email(email))
    if tenant is None:
        yield from pretend()
        raise CodeRefused
    try:
        yield from show_mailbox(codes, tenant.id, code)
    except CODE_REFUSED:
        raise CodeRefused from None
    return tenant.id


def pretend() -> Steps[None]:
    """As much work as trying a code, where there is none: the time it takes tells nothing."""
    decoy = yield from begin_proving("nobody@nowhere.invalid", "")
    yield from get(decoy.own_key(), consistent=True)


def show_mailbox(codes: Codes, tenant_id: str, code: str) -> Steps[None]:
    """Uses a code up. One that validates also does for a tenant that was validated since."""
    given = "".join(code.split())
    tenant = yield from portal.get_tenant(tenant_id, include_inactive=True)
    if tenant.status == portal.Status.UNVALIDATED:
        yield from portal.validate_tenant(tenant_id, given, pepper=codes.pepper)
        return
    try:
        yield from portal.redeem_code(portal.Purpose.SIGN_IN, tenant_id, given, pepper=codes.pepper)
    except (portal.UnknownCode, portal.CodeUsed):
        yield from portal.redeem_code(
            portal.Purpose.VALIDATE, tenant_id, given, pepper=codes.pepper
        )
    portal.orderly(tenant)


# What was shown


def remember(holder: str, tenant_id: str) -> Steps[None]:
    """Notes that a session or a visit has shown whose mailbox it is."""
    until = (yield from now()) + LASTS
    yield from put(Proof(holder=holder, tenant_id=tenant_id, expires_at=until))


def proven(holder: str) -> Steps[str | None]:
    """The tenant whose mailbox a session or a visit has shown to be theirs."""
    proof = yield from living_proof(holder)
    return None if proof is None else proof.tenant_id


def carry_over(visit: str, session: str, login: str) -> Steps[None]:
    """What a visit has shown counts for the session that it becomes, if the login is that address.

    Who logs in as somebody else goes on as somebody else.
    """
    proof = yield from living_proof(visit_holder(visit))
    if proof is None:
        return
    tenant = yield from get(portal.Tenant.key(proof.tenant_id), consistent=True)
    if tenant is not None and tenant.email == login:
        yield from put(proof.model_copy(update={"holder": session_holder(session)}))
    yield from delete(proof.own_key())


def living_proof(holder: str) -> Steps[Proof | None]:
    proof = yield from get(Proof.key(holder), consistent=True)
    return None if proof is None or proof.expires_at <= (yield from now()) else proof


def session_holder(cookie: str) -> str:
    return holder_of("session", cookie)


def visit_holder(cookie: str) -> str:
    return holder_of("visit", cookie)


def holder_of(kind: str, cookie: str) -> str:
    return sha256(f"proof of a {kind}\0{cookie}".encode()).hexdigest()
