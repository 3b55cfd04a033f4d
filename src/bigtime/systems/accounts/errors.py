"""What can be wrong with an account, in words for the person who sees it."""

from __future__ import annotations

from bigtime.model import Clash, Forbidden, NotFound, RuleBroken


class InvalidLogin(RuleBroken):
    """A login has 1 to 254 printable characters, none of them `#`; choose another."""


class InvalidUsername(RuleBroken):
    """A username has 1 to 64 printable characters, none of them `#`; choose another."""


class InvalidTenantId(RuleBroken):
    """The id of a tenant has 1 to 64 printable characters, none of them `#`; correct it."""


class PasswordTooShort(RuleBroken):
    """A password has at least 8 characters; make it longer."""


class PasswordTooLong(RuleBroken):
    """A password has at most 256 characters; make it shorter."""


class LoginTaken(Clash):
    """There is an account with this login; sign in, or choose another."""


class WrongCredentials(RuleBroken):
    """Wrong e-mail or password. Try again."""


class PasswordChanged(Clash):
    """This password has been changed meanwhile; sign in again."""


class OtherTenant(RuleBroken):
    """This account is another customer's already; open one with an address of its own."""


class MailboxNotEnough(Forbidden):
    """This account may do more than shop, and takes more than a mailbox; ask who runs the site."""


class UnknownLogin(NotFound):
    """There is no account with this login; check how it is written."""
