"""What can be wrong with an account, in words for the person who sees it."""

from __future__ import annotations

from bigtime.model import DomainError


class InvalidLogin(DomainError):
    """A login has 1 to 254 printable characters, none of them `#`; choose another."""


class InvalidUsername(DomainError):
    """A username has 1 to 64 printable characters, none of them `#`; choose another."""


class InvalidTenantId(DomainError):
    """The id of a tenant has 1 to 64 printable characters, none of them `#`; correct it."""


class PasswordTooShort(DomainError):
    """A password has at least 8 characters; make it longer."""


class PasswordTooLong(DomainError):
    """A password has at most 256 characters; make it shorter."""


class LoginTaken(DomainError):
    """There is an account with this login; sign in, or choose another."""


class WrongCredentials(DomainError):
    """Wrong e-mail or password. Try again."""


class PasswordChanged(DomainError):
    """This password has been changed meanwhile; sign in again."""


class OtherTenant(DomainError):
    """This account is another customer's already; open one with an address of its own."""


class MailboxNotEnough(DomainError):
    """This account may do more than shop, and takes more than a mailbox; ask who runs the site."""


class UnknownLogin(DomainError):
    """There is no account with this login; check how it is written."""
