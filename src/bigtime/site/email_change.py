"""Changing the e-mail address of an account, which is also its login.

1. The visitor enters the password again and the new address. One code is sent to the current
   address and another to the new one, and the page asks for both. So neither a stolen session nor a
   stolen password is enough to move an account, and it can only move to an address of its owner.
2. The page does not reveal whether the new address has an account. If it has, it gets a mail that
   says so instead of a code, at most one a day, and the page looks the same.
3. If both codes are right, one transaction moves everything: the account to its new login, the
   addresses of its user and its customer, mails to both addresses, and the task for the rest. It
   fails if the new address has an account by then, or the account has changed.
4. Sessions and API tokens belong to the old login, so that transaction ends them all; the visitor
   gets a new session. A tenant keeps its address: another tenant gets its orders (see
   `portal.succession`). Handing over the orders and deleting the items of sessions and tokens is
   the task, `EmailMove`: carried out at once or, after a crash, by the worker.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any, Final

from bigtime import model as bt
from bigtime.site import api_tokens, letters
from bigtime.site.design import SITE_TABLE, EmailChange, EmailMove, inserted_item, transact_once
from bigtime.site.mail import CODE, draft_mail
from bigtime.site.mailbox_check import (
    LASTS,
    SAMPLE_CODES,
    Codes,
    UnknownCheck,
    draft_code_mail,
    is_code,
    is_late,
    mail_notice,
    refusal,
)
from bigtime.systems import accounts, deals, portal, sessions, shop
from bigtime.wire import Steps

SAMPLE: Final = {"codes": SAMPLE_CODES, "login_code": "123456", "email_code": "123456"}


class SameEmail(bt.RuleBroken):
    """This is already your e-mail address. Enter another one."""


class HostingClosed(bt.Forbidden):
    """Your hosting account is closed or suspended. Contact us to change your e-mail address."""


class WrongCodes(bt.RuleBroken):
    """Wrong code. Check the e-mail and try again."""

    def __init__(self, *fields: str) -> None:
        super().__init__()
        self.fields = fields


# Asking for the codes


@bt.pattern("Begin E-Mail Change", index="Main table", sample={"email": "alex@new.example"})
def begin_email_change(
    login: accounts.Login, password: str, email: accounts.Login
) -> Steps[EmailChange]:
    """A page that asks for both codes, after the password; the new address is not looked up."""
    identity = yield from accounts.verify_password(login, password)
    email = accounts.LOGIN(email)
    if email == identity.login:
        raise SameEmail
    yield from require_open_tenant(identity.tenant_id)
    moment = yield from bt.now()
    change = EmailChange(
        change_id=urlsafe_b64encode((yield from bt.random_bytes(24))).decode(),
        login=identity.login,
        email=email,
        password_version=identity.password_version,
        sent_at=moment,
        expires_at=moment + LASTS,
    )
    return (yield from bt.create(change))


def require_open_tenant(tenant_id: str | None) -> Steps[portal.Tenant | None]:
    """The account's tenant, if it has one; changing the address is no way out of a closed one."""
    if tenant_id is None:
        return None
    tenant = yield from portal.get_tenant(tenant_id, include_inactive=True)
    try:
        return portal.orderly(tenant)
    except (portal.TenantDeleted, portal.TenantSuspended):
        raise HostingClosed from None


@bt.pattern("Fetch E-Mail Change", index="Main table")
def fetch_email_change(change_id: str, login: accounts.Login) -> Steps[EmailChange]:
    """Unless it has expired, or is another account's."""
    change = yield from bt.get(EmailChange.key(change_id), consistent=True, missing=UnknownCheck)
    if change.login != login or change.expires_at <= (yield from bt.now()):
        raise UnknownCheck
    return change


@bt.pattern("Restart E-Mail Change", index="Main table")
def restart_email_change(change_id: str, login: accounts.Login) -> Steps[EmailChange]:
    """For new codes, with all tries."""
    change = yield from fetch_email_change(change_id, login)
    moment = yield from bt.now()
    return (yield from bt.update(change, sent_at=moment, tries=0, if_exists=UnknownCheck))


@bt.pattern("Send Codes of E-Mail Change", index="Main table", sample={"codes": SAMPLE_CODES})
def send_change_codes(codes: Codes, change: EmailChange) -> Steps[None]:
    """One transaction: both seeds and both mails; none to an address that has an account."""
    account, customer = yield from bt.together(
        bt.get(accounts.Account.key(change.email), consistent=True),
        bt.get(shop.CustomerEmail.key(change.email), consistent=True),
    )
    is_known = account is not None or customer is not None
    login_seed = yield from bt.random_bytes(portal.SEED_BYTES)
    email_seed = yield from bt.random_bytes(portal.SEED_BYTES)
    leave = letters.leave_code_letter(CODE, codes.base_url)
    mails = [(yield from draft_code_mail(change.login, leave, login_seed))]
    if not is_known:
        arrive = letters.arrive_code_letter(CODE)
        mails.append((yield from draft_code_mail(change.email, arrive, email_seed)))
    seeds: dict[str, Any] = {
        "login_seed": login_seed,
        "email_seed": None if is_known else email_seed,
    }
    write = bt.update(change.own_key(), **seeds, if_exists=UnknownCheck)
    yield from transact_once(write, *map(bt.create, mails))
    if is_known:
        yield from mail_notice(change.email, letters.known_to_mover_letter(codes.base_url))


# Entering the codes


@bt.pattern("Move Account to new E-Mail", index="Main table", sample=SAMPLE)
def move_account(
    codes: Codes,
    change_id: str,
    login: accounts.Login,
    login_code: str,
    email_code: str,
) -> Steps[tuple[accounts.Identity, EmailMove]]:
    """One transaction: the account, its user's and customer's addresses, mails to both, the task.

    Returns the account under its new login, and what is left to do.
    """
    change = yield from fetch_email_change(change_id, login)
    yield from check_codes(codes, change, login_code, email_code)
    account = yield from accounts.open_account(login)
    if account.identity.password_version != change.password_version:
        raise accounts.PasswordChanged
    # No account has the new address, but sessions of one that had it may still be stored.
    yield from sessions.delete_sessions(change.email)
    yield from api_tokens.delete_tokens_of(change.email)
    return (yield from write_move(codes, change, account))


def check_codes(codes: Codes, change: EmailChange, login_code: str, email_code: str) -> Steps[None]:
    """Counts a try and compares both codes; does the same work whether they were sent or not."""
    change = yield from bt.update(change.own_key(), tries=bt.Add(1), if_exists=UnknownCheck)
    moment = yield from bt.now()
    given = {
        "login_code": (change.login_seed, login_code),
        "email_code": (change.email_seed, email_code),
    }
    wrong = [name for name, (seed, code) in given.items() if not is_code(codes, seed, code)]
    if is_late(change, moment) or (wrong and change.tries >= portal.MOST_TRIES):
        raise refusal(change, moment)
    if wrong:
        raise WrongCodes(*wrong)


def write_move(
    codes: Codes, change: EmailChange, account: accounts.Account
) -> Steps[tuple[accounts.Identity, EmailMove]]:
    moment = yield from bt.now()
    others = yield from address_writes(change, account)
    mails = yield from moved_mails(codes, change, moment.isoformat())
    used = bt.delete(change.own_key(), if_exists=UnknownCheck)

    def move_to(
        tenant_id: str | None,
    ) -> tuple[accounts.Account, EmailMove, tuple[bt.Write[Any], ...]]:
        moved, writes = accounts.login_move_writes(
            account, change.email, tenant_id=tenant_id, moment=moment
        )
        has_successor = tenant_id != account.tenant_id
        task = EmailMove(
            login=account.login,
            at=moment,
            tenant_id=account.tenant_id if has_successor else None,
            successor_id=tenant_id if has_successor else None,
        )
        return moved, task, (used, *writes, *others, *mails, bt.create(task))

    tenant = yield from require_open_tenant(account.tenant_id)
    if tenant is None or tenant.email == change.email:
        moved, task, writes = move_to(account.tenant_id)
        yield from transact_once(*writes, at=moment)
        return moved.identity, task
    try:
        successor = yield from portal.prepare_successor(
            tenant.id, change.email, along=lambda successor: move_to(successor.id)[2]
        )
    except (portal.TenantDeleted, portal.TenantSuspended):
        raise HostingClosed from None
    moved, task, _ = move_to(successor.id)
    return moved.identity, task


def address_writes(
    change: EmailChange, account: accounts.Account
) -> Steps[tuple[bt.Write[Any], ...]]:
    """The new address for the account's user and customer, where they have the old one."""
    user, customer = yield from bt.together(
        bt.get(deals.User.key(account.username), consistent=True),
        bt.get(shop.Customer.key(account.username), consistent=True),
    )
    writes: list[bt.Write[Any]] = []
    if user is not None and user.email == change.login:
        writes.append(bt.update(user, email=change.email, if_exists=accounts.AccountChanged))
    if customer is not None and customer.email == change.login:
        writes.append(bt.update(customer, email=change.email, if_exists=accounts.AccountChanged))
    return tuple(writes)


def moved_mails(codes: Codes, change: EmailChange, at: str) -> Steps[list[bt.Write[Any]]]:
    sent = {
        change.login: letters.moved_away_letter(),
        change.email: letters.moved_here_letter(codes.base_url),
    }
    writes: list[bt.Write[Any]] = []
    for to, letter in sent.items():
        mail = yield from draft_mail(f"moved {to} {at}", to, *letter)
        writes.append(bt.create(mail))
    return writes


# After the move


@bt.pattern("Finish Move of Account", index="UserIndex, Main table")
def finish_move(move: EmailMove) -> Steps[None]:
    """Deletes sessions and API tokens of the old login, hands the orders over, ends the task."""
    yield from sessions.delete_sessions(move.login)
    yield from api_tokens.delete_tokens_of(move.login)
    if move.tenant_id is not None and move.successor_id is not None:
        yield from portal.hand_over(move.tenant_id, move.successor_id, until=move.at)
    yield from bt.delete(move.own_key())


@bt.reaction(SITE_TABLE, of=[EmailMove])
def finish_moves(change: bt.Change[Any]) -> Steps[None]:
    """Finishes the move of an account whose request was interrupted."""
    begun = inserted_item(change, EmailMove)
    move = (yield from bt.get(begun.own_key(), consistent=True)) if begun else None
    if move is not None:
        yield from finish_move(move)
