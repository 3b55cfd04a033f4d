"""Export and deletion of a person's data on the site.

Each system declares which of its data belongs to a person (`System.personal`). An export lists it.
A deletion

1. closes the account and records the task, in one transaction: nobody can sign in any more;
2. erases, in the worker, what is found, page by page. Erasing is repeatable: it is done again after
   a crash, and once more some minutes later, for what was under way when the account was closed,
   such as counted views, or a message to all users;
3. deletes the account and its names last, in one transaction with a mail that says so: if the names
   were free any sooner, the data of their next owner would be erased too;
4. leaves the task for the lake and the search indexes, which keep copies; when they hold nothing of
   the person any more, the task is deleted, and the ids with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import cache
from itertools import product
from typing import Any, Final

from bigtime import model as bt
from bigtime.projections.lake import Replacement
from bigtime.site.design import Erasure, transact_once
from bigtime.site.letters import deleted_letter
from bigtime.site.mail import draft_mail
from bigtime.systems import accounts, portal
from bigtime.wire import Steps

SETTLES_AFTER: Final = timedelta(minutes=5)
"""How long after an account is closed its requests may still write."""
AT_ONCE: Final = 25
PSEUDONYM: Final = "deleted-"


@cache
def declared_data() -> tuple[tuple[str, bt.PersonalData], ...]:
    """All declarations of personal data, each with the name of its system."""
    from bigtime.site.systems import SYSTEMS  # imported here, as it imports this module

    return tuple((system.name, data) for system in SYSTEMS for data in system.personal)


def listed_data() -> Iterator[tuple[str, bt.PersonalData, bt.Find]]:
    """The declarations whose items can be found."""
    return ((name, data, data.find) for name, data in declared_data() if data.find is not None)


def reasons_to_keep(*, is_staff: bool = False) -> list[str]:
    """What is kept of a deleted account and why, in sentences for its owner."""
    kept = (data.kept for name, data, _ in listed_data() if is_staff or name != "site")
    return [reason for reason in dict.fromkeys(kept) if reason]


@bt.pattern("Find Person", index="Main table", sample={"login": "alex@example.com"})
def find_person(login: accounts.Login) -> Steps[bt.Person]:
    """The ids of an account; its tenant is that of its address, if the address is confirmed."""
    identity: accounts.Identity = yield from accounts.view_account(login)
    tenant_id = identity.tenant_id
    if tenant_id is None and identity.is_confirmed:
        tenant = yield from portal.tenant_of(identity.login)
        tenant_id = None if tenant is None else tenant.id
    is_staff = bool(identity.roles - {accounts.Role.SHOPPER})
    return bt.Person(identity.login, identity.username, tenant_id, is_staff)


# Deletion


@bt.pattern(
    "Delete Account",
    index="Main table",
    sample={"login": "alex@example.com", "password": "a long enough password"},
)
def delete_account(login: accounts.Login, password: str) -> Steps[Erasure]:
    """One transaction: the account is closed, and the task to erase it is written down."""
    account, writes = yield from accounts.close_writes(login, password)
    person = yield from find_person(account.login)
    moment = yield from bt.now()
    drawn = yield from bt.random_bytes(24)
    erasure = Erasure(
        erasure_id=bt.Ksuid.make(moment, drawn[:16]),
        login=person.login,
        username=person.username,
        tenant_id=person.tenant_id,
        is_staff=person.is_staff,
        is_confirmed=account.confirmed_at is not None,
        pseudonym=f"{PSEUDONYM}{drawn[16:].hex()}",
        asked_at=moment,
    )
    yield from transact_once(*writes, bt.create(erasure), at=moment)
    return erasure


@bt.pattern("View Erasures", index="Main table")
def view_erasures() -> Steps[list[Erasure]]:
    """All accounts whose deletion is not done, oldest first."""
    return (yield from bt.all_of(Erasure.within("main"), consistent=True))


def continue_erasures() -> Steps[None]:
    """Erases what is left of the accounts that are to be deleted; one that fails stops no other."""
    moment = yield from bt.now()
    failures: list[Exception] = []
    for erasure in (yield from view_erasures()):
        if is_due(erasure, moment):
            try:
                yield from erase_account(erasure)
            except Exception as error:
                failures.append(error)
    if failures:
        raise failures[0]


def is_due(erasure: Erasure, moment: datetime) -> bool:
    """Whether to erase now: at once, and again when nothing more is written for the account."""
    if erasure.erased_at is not None:
        return False
    return erasure.searched_at is None or moment >= erasure.asked_at + SETTLES_AFTER


@bt.pattern("Erase Account", index="Main table, UserIndex, GSI1")
def erase_account(erasure: Erasure) -> Steps[None]:
    """Erases what is found; some minutes after the account was closed, its names too."""
    moment = yield from bt.now()
    is_settled = moment >= erasure.asked_at + SETTLES_AFTER
    for _, data, find in listed_data():
        if data.erase is not None and not data.is_last:
            yield from erase_found(data.erase, find, erasure)
    if is_settled:
        yield from erase_names(erasure)
    else:
        yield from bt.update(erasure.own_key(), searched_at=moment, if_exists=bt.ItemMissing)


def erase_found(erase: Any, find: bt.Find, erasure: Erasure) -> Steps[None]:
    position: bt.Position | None = None
    while True:
        page = yield from find(erasure.person, position)
        for start in range(0, len(page), AT_ONCE):
            chunk = page.items[start : start + AT_ONCE]
            yield from bt.together(*(erase(item, erasure.pseudonym) for item in chunk))
        position = page.position
        if position is None:
            return


def erase_names(erasure: Erasure) -> Steps[None]:
    """One transaction: the account and its names are deleted, a mail says so.

    There is none for an address that was never confirmed, which may be a stranger's.
    """
    last: list[Any] = []
    for _, data, find in listed_data():
        if data.is_last:
            last += (yield from find(erasure.person, None)).items
    mail = yield from draft_mail(f"deleted {erasure.erasure_id}", erasure.login, *deleted_letter())
    mails = [bt.create(mail)] if erasure.is_confirmed else []
    moment = yield from bt.now()
    noted = bt.update(erasure.own_key(), erased_at=moment, if_exists=bt.ItemMissing)
    deletions = [bt.delete(item) for item in last]
    yield from transact_once(*deletions, noted, *mails, at=moment)


# Copies


def lake_replacements(erasures: Iterable[Erasure]) -> dict[str, list[Replacement]]:
    """What to replace in each lake, by the lake's name; a tenant's id alone identifies nobody."""
    from bigtime.site.systems import LAKES

    found: dict[str, list[Replacement]] = {}
    for lake, erasure in product(LAKES, erasures):
        for _, data, _ in listed_data():
            old = data.id_in(erasure.person)
            is_replaced = data.entity is lake.entity and data.of != "tenant_id"
            if is_replaced and old is not None and erasure.erased_at is not None:
                changed = Replacement(data.field, old, erasure.pseudonym, erasure.erased_at)
                found.setdefault(lake.name, []).append(changed)
    return found


def is_personal(index: bt.SearchIndex) -> bool:
    """Whether an index holds personal data."""
    return any(data.entity is index.entity for _, data, _ in listed_data())


@bt.pattern("Note Copies erased", index="Main table", sample={"in_lake": False})
def note_copies_erased(
    erasure_id: bt.Ksuid, *, in_lake: bool | None = None, in_search: bool | None = None
) -> Steps[None]:
    """That the lake or the search indexes hold nothing any more; the task goes with the last."""
    given = {"in_lake": in_lake, "in_search": in_search}
    changes: dict[str, Any] = {name: is_in for name, is_in in given.items() if is_in is not None}
    try:
        erasure = yield from bt.update(Erasure.key(erasure_id), **changes, if_exists=bt.ItemMissing)
    except bt.ItemMissing:
        return
    if erasure.erased_at is not None and not (erasure.in_lake or erasure.in_search):
        yield from bt.delete(erasure.own_key())
