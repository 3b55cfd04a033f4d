"""Personal data in the site's own table; each system declares its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pydantic_core import to_jsonable_python

from bigtime import model as bt
from bigtime.site import api_tokens, design, editing, mail, order_queue, user_admin
from bigtime.wire import Steps

PAGE: Final = 100
LOG_KEPT: Final = "The log of what staff did stays, under a pseudonym."
SHORT: Final = "It is deleted by its time to live, within two days."
HASHED: Final = "It is a hash, which nobody can list by person, and is deleted by its time to live."


def find_mails(person: bt.Person, after: bt.Position | None) -> Steps[bt.Page[design.Mail]]:
    """The mails to the person's address that are unsent, or from the last two days."""
    oldest = (yield from bt.now()) - mail.EXPIRES_AFTER
    is_theirs = bt.attr("to") == person.login
    return (
        yield from bt.newest_first(
            mail.outbox(), limit=mail.PAGE, after=after, since=oldest, filter=is_theirs
        )
    )


def find_changes(
    person: bt.Person, after: bt.Position | None
) -> Steps[bt.Page[design.EditorChange]]:
    """An editor's changes; the log has no index by editor, so all of it is read."""
    if not person.is_staff:
        return bt.Page([])
    is_theirs = bt.attr("who") == person.username
    return (
        yield from bt.newest_first(
            editing.months(), limit=editing.PAGE, after=after, filter=is_theirs
        )
    )


def find_admin_changes(
    person: bt.Person, after: bt.Position | None
) -> Steps[bt.Page[design.AdminChange]]:
    """An admin's log entries."""
    if not person.is_staff:
        return bt.Page([])
    is_theirs = bt.attr("who").one_of(person.username, person.login)
    months = user_admin.months()
    return (yield from bt.newest_first(months, limit=PAGE, after=after, filter=is_theirs))


def find_changes_of_user(
    person: bt.Person, after: bt.Position | None
) -> Steps[bt.Page[design.AdminChange]]:
    """The log entries about the account."""
    return (yield from user_admin.view_user_changes(person.username, limit=PAGE, after=after))


def find_tokens(person: bt.Person, after: bt.Position | None) -> Steps[bt.Page[bt.Entity]]:
    """The account's API tokens."""
    listed = yield from bt.get(api_tokens.TokenList.key(person.login), consistent=True)
    hashes = [] if listed is None else listed.token_hashes
    found = yield from bt.get_many([api_tokens.ApiToken.key(each) for each in hashes])
    return bt.Page([token for token in found if token is not None])


def find_by_scan(entity: type[bt.Entity], field: str) -> bt.Find:
    """Finds a staff member's entries by a scan of the site's table; other people have none."""

    def find(person: bt.Person, after: bt.Position | None) -> Steps[bt.Page[Any]]:
        if not person.is_staff:
            return bt.Page([])
        is_theirs = bt.attr(field).one_of(person.username, person.login)
        return (yield from bt.scan(entity, filter=is_theirs, after=after))

    return find


def rename(field: str) -> Callable[[bt.Entity, str], Steps[None]]:
    """Replaces a field by the pseudonym."""

    def erase(item: bt.Entity, pseudonym: str) -> Steps[None]:
        renamed: dict[str, Any] = {field: pseudonym}
        yield from bt.update(item.own_key(), **renamed)

    return erase


def move_change(change: design.AdminChange, pseudonym: str) -> Steps[None]:
    """Moves an entry about an account to its pseudonym."""
    name = change.about.removeprefix("user ")
    moved = {"about": f"user {pseudonym}", "what": change.what.replace(name, pseudonym)[:400]}
    yield from bt.transact(bt.delete(change), bt.create(change.model_copy(update=moved)))


def log_entries(
    entity: type[bt.Entity], field: str, find: bt.Find | None = None
) -> bt.PersonalData:
    """Entries about what staff did: they are kept, under the pseudonym."""
    found = find or find_by_scan(entity, field)
    return bt.personal(entity, field, find=found, erase=rename(field), kept=LOG_KEPT)


def personal_data() -> tuple[bt.PersonalData, ...]:
    return (
        bt.personal(design.Mail, "to", of="login", find=find_mails),
        bt.personal(design.Notice, "email", of="login"),
        bt.personal(design.Reminder, "tenant_id", of="tenant_id"),
        log_entries(design.EditorChange, "who", find_changes),
        log_entries(design.HotDealTask, "asked_by"),
        log_entries(order_queue.OrderMove, "who"),
        log_entries(design.AdminChange, "who", find_admin_changes),
        bt.personal(
            design.AdminChange,
            "about",
            find=find_changes_of_user,
            erase=move_change,
            kept=LOG_KEPT,
        ),
        bt.personal(design.NotificationSettings, "username"),
        bt.personal(api_tokens.ApiToken, "login", of="login", find=find_tokens),
        bt.personal(api_tokens.TokenList, "login", of="login"),
        *bt.personal_ids(
            order_queue.QueuedOrder,
            "username",
            kept="It follows its order, which gets a pseudonym, within seconds.",
        ),
        *bt.personal_ids(
            design.EmailMove,
            "login",
            "tenant_id",
            kept="It is deleted when the change of address is done, within minutes.",
        ),
        *bt.personal_ids(design.EmailChange, "login", "email", kept=SHORT),
        *bt.personal_ids(design.MailedEvent, "event", kept=SHORT),
        *bt.personal_ids(design.PictureUpload, "who", kept=SHORT),
        *bt.personal_ids(design.PendingCheck, "email", "tenant_id", "username", kept=SHORT),
        *bt.personal_ids(design.IdempotencyRecord, "who", kept=SHORT),
        *bt.personal_ids(design.VerifiedMailbox, "holder", "tenant_id", kept=SHORT),
        *bt.personal_ids(design.TryCount, "subject", kept=HASHED),
        *bt.personal_ids(design.KnownNetwork, "subject", kept=HASHED),
        *bt.personal_ids(
            design.Erasure,
            "login",
            "username",
            "tenant_id",
            kept="It is deleted when the deletion is done, within a day.",
        ),
    )


PERSONAL: Final = personal_data()


def export_item(item: Any) -> dict[str, Any]:
    """An item for its owner's export, without secrets."""
    shown = item.model_dump(exclude=set(item.layout.secrets))
    fields: dict[str, Any] = to_jsonable_python(shown, bytes_mode="base64")
    return fields
