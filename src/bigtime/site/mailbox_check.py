"""Mailbox checks: a code is mailed to an address and entered on a page.

The responses do not reveal who is a customer:

1. For every address there is a page that asks for the code, and it responds the same whether one
   was sent or not. The tries left and the age of the code come from the check's own item.
2. The response is sent before the address is looked up and the mail is written. Where there is no
   code to compare with, the same amount of work is done.
3. An address that orders a plan becomes a tenant; an address that only asks to see its orders does
   not.
4. Where no code can be sent because the account is closed, the mail says so instead, if the address
   was ever confirmed. Likewise, where a shopper signs up with an address that has an account, the
   mail says that.

A tenant's code is the portal's. A shopper's is derived from a seed in the check itself; the check
belongs to the browser that began it, so nobody else can use up its tries.

A verified mailbox is remembered for an hour. It belongs to a session, and is valid as long as the
session; or to a visit, which gets a new cookie at that moment, so that nobody can have planted it.
The two are kept apart: the cookie of an ended session verifies nothing.

A code can only be tried in the check that it was sent for. Each page has its own check, with an id
that nobody can guess. A program has one for the mailbox and the network that it calls from, and may
send the check's id from another network. So a stranger who tries wrong codes for an address, or
asks for new ones, uses up the tries of the stranger's own check, and the owner's code stays valid.

The odds of guessing: a code is one of 1,000,000, and its check has 5 tries. One network gets 5
codes for a mailbox in an hour: 25 guesses. All networks and browsers in which the mailbox was never
confirmed together get 20 codes for it in a day, however many they are: 100 guesses, or a chance of
1 in 10,000 a day, with 20 mails that its owner did not ask for. (The limits are in
`bigtime.web.app`.)
"""

from __future__ import annotations

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final

from bigtime import model as bt
from bigtime.site import letters
from bigtime.site.design import EmailChange, Mail, Notice, PendingCheck, Reminder, VerifiedMailbox
from bigtime.site.mail import CODE, draft_mail, write_mail
from bigtime.systems import accounts, portal, shop
from bigtime.wire import Steps

LASTS: Final = timedelta(hours=1)
CODE_ERRORS: Final = (
    portal.UnknownCode,
    portal.CodeWrong,
    portal.CodeSpent,
    portal.CodeUsed,
    portal.UnknownTenant,
)
CLOSED: Final = (portal.TenantDeleted, portal.TenantSuspended)


class UnknownCheck(bt.NotFound):
    """This page has expired. Enter your e-mail address again."""


class CodeRefused(bt.RuleBroken):
    """This is not the code we sent, or it has expired. Check it, or request a new one."""


@dataclass(frozen=True, slots=True)
class Codes:
    """The key that codes are derived with, and the site's address for the links in mails."""

    pepper: bytes
    base_url: str

    def link(self, check: PendingCheck, code: str) -> str:
        return f"{self.base_url}/portal/confirm/{check.check_id}?code={code}"

    def program_check_id(self, email: str, network: str) -> str:
        """The id of a program's check, by the network it calls from, as it has no page."""
        text = f"the check of a program\0{email}\0{network}"
        return urlsafe_b64encode(hmac.digest(self.pepper, text.encode(), sha256)[:24]).decode()


SAMPLE_CODES: Final = Codes(b"pepper", "https://example.com")


# Asking for a code


@bt.pattern("Begin Mailbox Check", index="Main table", sample={"then": "/portal"})
def begin_check(
    email: portal.Email, then: str, *, check_id: str | None = None
) -> Steps[PendingCheck]:
    """A page that asks for the code of an address; `then` is the page after it.

    With a `check_id`, it replaces the check that has the id.
    """
    check = yield from new_check(portal.checked_email(email), then)
    if check_id is None:
        return (yield from bt.create(check))
    return (yield from bt.put(check.model_copy(update={"check_id": check_id})))


def new_check(email: str, then: str, **member: Any) -> Steps[PendingCheck]:
    """A check that is not yet stored; `member` are the fields of a member to create."""
    moment = yield from bt.now()
    return PendingCheck(
        check_id=urlsafe_b64encode((yield from bt.random_bytes(24))).decode(),
        email=email,
        next=then,
        sent_at=moment,
        expires_at=moment + LASTS,
        **member,
    )


@bt.pattern("Restart Mailbox Check", index="Main table")
def restart_check(check_id: str) -> Steps[PendingCheck]:
    """For a new code, with all tries."""
    check = yield from fetch_check(check_id)
    moment = yield from bt.now()
    return (yield from bt.update(check, sent_at=moment, tries=0, if_exists=UnknownCheck))


@bt.pattern("Fetch Mailbox Check", index="Main table")
def fetch_check(check_id: str) -> Steps[PendingCheck]:
    """Unless it has expired."""
    check = yield from bt.get(PendingCheck.key(check_id), consistent=True, missing=UnknownCheck)
    if check.expires_at <= (yield from bt.now()):
        raise UnknownCheck
    return check


@bt.pattern("Send Code to Mailbox", index="Main table", sample={"codes": SAMPLE_CODES})
def send_code(codes: Codes, check: PendingCheck, *, ordering: bool = False) -> Steps[None]:
    """Stores a code's hash and a mail with its seed, if the address is a tenant's.

    An address that is `ordering` becomes a tenant.
    """
    tenant = yield from find_tenant(check.email, ordering=ordering)
    if tenant is None:
        return
    yield from bt.update(check.own_key(), tenant_id=tenant.id, if_exists=UnknownCheck)
    yield from mail_code(codes, check, tenant)


def find_tenant(email: str, *, ordering: bool) -> Steps[portal.Tenant | None]:
    """The tenant of an address, also if the account is closed."""
    if ordering:
        with suppress(*CLOSED):
            return (yield from portal.tenant_at_checkout(email))
    return (yield from portal.tenant_of(email))


def mail_code(codes: Codes, check: PendingCheck, tenant: portal.Tenant) -> Steps[None]:
    """Stores the hash of a code, and a mail with the seed of the code, not the code."""
    seed = yield from bt.random_bytes(portal.SEED_BYTES)
    try:
        yield from issue_code(codes, check, portal.orderly(tenant), seed)
    except CLOSED:
        if tenant.is_confirmed:
            mail_id = f"closed {tenant.id} {check.sent_at:%Y-%m-%d}"
            mail = yield from draft_mail(mail_id, tenant.email, *letters.closed_letter())
            yield from write_mail(mail)
        return
    letter = letters.code_letter(CODE, codes.link(check, CODE))
    yield from write_mail((yield from draft_code_mail(tenant.email, letter, seed)))


def draft_code_mail(to: str, letter: letters.Letter, seed: bytes) -> Steps[Mail]:
    """A mail with the seed of a code, not the code; every code has its own mail."""
    mail_id = f"code {(yield from bt.random_bytes(16)).hex()}"
    return (yield from draft_mail(mail_id, to, *letter, seed=seed, expires_after=portal.VALID_FOR))


def issue_code(
    codes: Codes, check: PendingCheck, tenant: portal.Tenant, seed: bytes
) -> Steps[None]:
    """Issues a code that validates a tenant's address, or signs in a validated tenant."""
    options: dict[str, Any] = {"pepper": codes.pepper, "seed": seed, "flow": check.check_id}
    if tenant.status == portal.Status.UNVALIDATED:
        with suppress(portal.MoveRefused):  # another request has just validated it
            yield from portal.issue_code(portal.Purpose.VALIDATE, tenant.id, **options)
            return
    yield from portal.issue_code(portal.Purpose.SIGN_IN, tenant.id, **options)


# Entering the code


@bt.pattern(
    "Redeem Code of Mailbox Check",
    index="Main table",
    sample={"codes": SAMPLE_CODES, "code": "123456"},
)
def redeem_code(codes: Codes, check_id: str, code: str) -> Steps[str]:
    """Uses the code up, or counts a try; gives the id of the tenant.

    The error is the same whether a code was sent or not.
    """
    return (yield from redeem_in_check(codes, (yield from fetch_check(check_id)), code))


def redeem_in_check(codes: Codes, check: PendingCheck, code: str) -> Steps[str]:
    check = yield from bt.update(check.own_key(), tries=bt.Add(1), if_exists=UnknownCheck)
    moment = yield from bt.now()
    if check.tenant_id is None or check.tries > portal.MOST_TRIES:
        yield from burn_equal_time()
        raise refusal(check, moment)
    try:
        yield from redeem(codes, check.check_id, check.tenant_id, code)
    except CODE_ERRORS:
        raise refusal(check, moment) from None
    return check.tenant_id


def refusal(check: PendingCheck | EmailChange, moment: datetime) -> bt.DomainError:
    """The error for a wrong code, from the check alone: it does not reveal who is a customer."""
    if check.tries >= portal.MOST_TRIES:
        return portal.CodeSpent()
    is_old = check.sent_at + portal.VALID_FOR <= moment
    return portal.UnknownCode() if is_old else portal.CodeWrong()


@bt.pattern(
    "Redeem Code by E-Mail",
    index="Main table",
    sample={"codes": SAMPLE_CODES, "code": "123456"},
)
def redeem_code_by_email(
    codes: Codes, email: portal.Email, code: str, *, check_id: str | None = None
) -> Steps[str]:
    """For a program, which knows an address and no page; there is one error for every reason.

    Gives the id of the tenant.
    """
    email = portal.checked_email(email)
    try:
        check = yield from fetch_check(check_id or codes.program_check_id(email, ""))
        if check.email != email:
            raise UnknownCheck
        return (yield from redeem_in_check(codes, check, code))
    except UnknownCheck:
        yield from burn_equal_time()
        raise CodeRefused from None
    except CODE_ERRORS:
        raise CodeRefused from None


def burn_equal_time() -> Steps[None]:
    """A write and a read, as for a real code, so that the response time reveals nothing."""
    decoy = yield from begin_check("nobody@nowhere.invalid", "")
    yield from bt.get(decoy.own_key(), consistent=True)


def redeem(codes: Codes, check_id: str, tenant_id: str, code: str) -> Steps[None]:
    """Uses a code up. One for validation also serves a tenant that was validated since."""
    digits = "".join(code.split())
    options: dict[str, Any] = {"pepper": codes.pepper, "flow": check_id}
    tenant = yield from portal.get_tenant(tenant_id, include_inactive=True)
    if tenant.status == portal.Status.UNVALIDATED:
        with suppress(portal.MoveRefused):  # another request has just validated it
            yield from portal.validate_tenant(tenant_id, digits, **options)
            return
        tenant = yield from portal.get_tenant(tenant_id, include_inactive=True)
    try:
        yield from portal.redeem_code(portal.Purpose.SIGN_IN, tenant_id, digits, **options)
    except (portal.UnknownCode, portal.CodeUsed):
        yield from portal.redeem_code(portal.Purpose.VALIDATE, tenant_id, digits, **options)
    portal.orderly(tenant)


# Codes of shoppers


@bt.pattern("Send Code to Shopper", index="Main table", sample={"codes": SAMPLE_CODES})
def send_shopper_code(codes: Codes, check: PendingCheck) -> Steps[None]:
    """Mails a code to an address that signs up, or that has an account and does not.

    An address that signs up and has an account gets a mail that says so, at most one a day; one
    that should have an account, and has none, gets nothing, nor does one whose account is closed.
    """
    account, customer = yield from bt.together(
        bt.get(accounts.Account.key(check.email), consistent=True),
        bt.get(shop.CustomerEmail.key(check.email), consistent=True),
    )
    if account is not None and account.closed_at is not None:
        return
    is_signing_up = check.username is not None
    is_known = account is not None or (is_signing_up and customer is not None)
    if is_known != is_signing_up:
        yield from mail_shopper_code(check)
    elif is_signing_up:
        yield from mail_notice(check.email, letters.known_letter(codes.base_url))


def mail_shopper_code(check: PendingCheck) -> Steps[None]:
    seed = yield from bt.random_bytes(portal.SEED_BYTES)
    yield from bt.update(check.own_key(), seed=seed, if_exists=UnknownCheck)
    letter = letters.login_code_letter(CODE)
    yield from write_mail((yield from draft_code_mail(check.email, letter, seed)))


def mail_notice(email: str, letter: letters.Letter) -> Steps[None]:
    """One transaction: the mail to the owner of a known address, and today's notice."""
    moment = yield from bt.now()
    notice = Notice(email=email, day=moment.date(), expires_at=moment + timedelta(days=2))
    mail = yield from draft_mail(f"known {email} {notice.day}", email, *letter)
    with suppress(bt.ItemExists):
        yield from bt.transact(bt.create(notice), bt.create(mail))


def check_shopper_code(codes: Codes, check_id: str, code: str) -> Steps[PendingCheck]:
    """Counts a try; returns the check if the code is right and not too old.

    The same work is done, and the same error raised, whether a code was sent or not. The caller
    deletes the check together with what the code is for: a code is used once.
    """
    check = yield from fetch_check(check_id)
    check = yield from bt.update(check.own_key(), tries=bt.Add(1), if_exists=UnknownCheck)
    moment = yield from bt.now()
    is_right = is_code(codes, check.seed, code)
    if is_late(check, moment) or not is_right:
        raise refusal(check, moment)
    return check


def is_code(codes: Codes, seed: bytes | None, code: str) -> bool:
    """Whether a code is derived from a seed; the same work is done where none was sent."""
    expected = portal.code_from(seed or b"", codes.pepper)
    is_right = compare_digest(expected.encode(), "".join(code.split()).encode())
    return is_right and seed is not None


def is_late(check: PendingCheck | EmailChange, moment: datetime) -> bool:
    """Whether all tries are used up, or the code is too old."""
    return check.tries > portal.MOST_TRIES or check.sent_at + portal.VALID_FOR <= moment


# Verified mailboxes


@bt.pattern("Remember verified Mailbox", index="Main table")
def remember_mailbox(holder: str, tenant_id: str) -> Steps[None]:
    """For a session or a visit, for an hour."""
    until = (yield from bt.now()) + LASTS
    yield from bt.put(VerifiedMailbox(holder=holder, tenant_id=tenant_id, expires_at=until))


@bt.pattern("Forget verified Mailbox", index="Main table")
def forget_mailbox(holder: str) -> Steps[None]:
    """When a customer leaves."""
    yield from bt.delete(VerifiedMailbox.key(holder))


@bt.pattern("Fetch Tenant of verified Mailbox", index="Main table")
def fetch_verified_tenant(holder: str) -> Steps[str | None]:
    """The id of the tenant that a session or a visit has verified itself as."""
    mailbox = yield from fetch_mailbox(holder)
    return None if mailbox is None else mailbox.tenant_id


@bt.pattern("Move verified Mailbox to Session", index="Main table")
def move_to_session(visit: str, session: str, login: accounts.Login) -> Steps[None]:
    """From the visit that signs in, if the login is the mailbox's address; else it is deleted."""
    mailbox = yield from fetch_mailbox(visit_holder(visit))
    if mailbox is None:
        return
    tenant = yield from bt.get(portal.Tenant.key(mailbox.tenant_id), consistent=True)
    if tenant is not None and tenant.email == login:
        yield from bt.put(mailbox.model_copy(update={"holder": session_holder(session)}))
    yield from bt.delete(mailbox.own_key())


def fetch_mailbox(holder: str) -> Steps[VerifiedMailbox | None]:
    mailbox = yield from bt.get(VerifiedMailbox.key(holder), consistent=True)
    return None if mailbox is None or mailbox.expires_at <= (yield from bt.now()) else mailbox


def session_holder(cookie: str) -> str:
    return holder_of("session", cookie)


def visit_holder(cookie: str) -> str:
    return holder_of("visit", cookie)


def holder_of(kind: str, cookie: str) -> str:
    return sha256(f"verified mailbox of a {kind}\0{cookie}".encode()).hexdigest()


# --- Reminders to tenants who have not confirmed their address: at most one a day each ----


EXPIRES_AFTER: Final = timedelta(days=30)
SAMPLE: Final = {"by": "admin@example.com", "base_url": "https://example.com"}


class RemindedAlready(bt.Clash):
    """This tenant was reminded today; do so again tomorrow."""


class NothingToRemind(bt.RuleBroken):
    """This tenant has already confirmed its address."""


@dataclass(frozen=True, slots=True)
class ToRemind:
    """A tenant to remind, and today's reminder to it, if any."""

    tenant: portal.Tenant
    reminder: Reminder | None


@bt.pattern("View Tenants to remind", index="TenantStatusIndex, Main table")
def view_tenants_to_remind(
    *, since: datetime | None = None, after: bt.Position | None = None
) -> Steps[tuple[list[ToRemind], bt.Position | None]]:
    """Unvalidated tenants of the last day or since a moment, paged, each with today's reminder."""
    page = yield from portal.list_tenants_to_remind(since=since, after=after)
    day = (yield from bt.now()).date()
    keys = [Reminder.key(tenant.id, day) for tenant in page]
    reminders = yield from bt.get_many(keys, consistent=True)
    return [*map(ToRemind, page.items, reminders)], page.position


@bt.pattern("Remind Tenant", index="Main table", sample=SAMPLE)
def remind_tenant(tenant_id: portal.TenantId, *, by: str, base_url: str) -> Steps[None]:
    """One transaction: the mail, and today's reminder, of which there is one."""
    tenant = yield from portal.get_tenant(tenant_id)
    if tenant.status != portal.Status.UNVALIDATED:
        raise NothingToRemind
    moment = yield from bt.now()
    reminder = Reminder(
        tenant_id=tenant.id, day=moment.date(), by=by, expires_at=moment + EXPIRES_AFTER
    )
    letter = letters.reminder_letter(f"{base_url}/portal/confirm")
    mail = yield from draft_mail(f"reminder {tenant.id} {reminder.day}", tenant.email, *letter)
    yield from bt.transact(
        bt.create(reminder, unless_exists=RemindedAlready),
        bt.create(mail, unless_exists=RemindedAlready),
    )


@bt.pattern("Remind Tenants", index="Main table", sample=SAMPLE)
def remind_tenants(tenant_ids: Sequence[portal.TenantId], *, by: str, base_url: str) -> Steps[int]:
    """Those who still need it; gives how many."""
    count = 0
    for tenant_id in tenant_ids:
        try:
            yield from remind_tenant(tenant_id, by=by, base_url=base_url)
        except (RemindedAlready, NothingToRemind):
            continue
        count += 1
    return count
