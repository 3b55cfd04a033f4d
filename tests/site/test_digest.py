"""The daily digest: one a day for each subscriber with news, whatever is killed or repeated."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from bigtime.engine import Engine
from bigtime.model import Ksuid, load_many, scan_all, update, verify
from bigtime.site.design import DIGEST_SHARDS, DigestRun, Mail, NotificationSettings
from bigtime.site.digest import DigestMailer, last_due_day, send_digest, send_digests
from bigtime.site.mail import delete_sent_mail
from bigtime.site.notifications import MailKind, end_mails, save_settings
from bigtime.site.registration import join
from bigtime.site.systems import SITE
from bigtime.store import Exchange, Store
from bigtime.systems.accounts.design import Account
from bigtime.systems.deals.design import Deal, MessageKind
from bigtime.systems.deals.notifications import message_for
from bigtime.systems.deals.users import mark_message_as_read, view_messages
from tests.furnished import furnished_engine
from tests.site.test_notifications import LINKS
from tests.site.turned_clock import TurnedClock, fetch_stored
from tests.web.browsing import PASSWORD, furnish_site

MORNING = datetime(2026, 3, 10, 7, 0, 30, tzinfo=UTC)
TODAY = MORNING.date()


@pytest.fixture
def engine() -> Iterator[Engine]:
    """One that rests: its clock is another than the stores'."""
    with furnished_engine(furnish_site, housekeeping=False) as engine:
        yield engine


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock(MORNING)


@pytest.fixture
def store(engine: Engine, clock: TurnedClock) -> Store:
    return Store(engine, clock=clock)


def subscribe(store: Store, *usernames: str) -> None:
    for username in usernames:
        login = f"{username}@example.com"
        store.run(join(login, PASSWORD, username))
        store.run(save_settings(username, login, frozenset({MailKind.DIGEST})))


def tell(store: Store, username: str, title: str = "A lamp", *, hours_ago: float = 1) -> None:
    """An unread message."""
    at = store.clock() - timedelta(hours=hours_ago)
    deal = Deal(
        deal_id=Ksuid.make(at, title.encode().ljust(16)[:16]),
        title=title,
        link="https://shop.example/lamp",
        price=Decimal("19.99"),
        brand="APPLE",
        brand_name="Apple",
        category="HOME",
        category_name="Home",
    )
    store.run(load_many([message_for(deal, MessageKind.WATCHED, username)]))


def digests(store: Store) -> dict[str, Mail]:
    """By address."""
    return {mail.to: mail for mail in store.run(scan_all(Mail))}


def send_and_forget(store: Store) -> int:
    """Runs the chore, and sends what it wrote; returns how many mails that were."""
    store.run(send_digests(LINKS))
    written = store.run(scan_all(Mail))
    for mail in written:
        store.run(delete_sent_mail(mail.mail_id))
    return len(written)


def test_a_subscriber_gets_their_unread_messages(store: Store) -> None:
    subscribe(store, "alex")
    tell(store, "alex", "A lamp", hours_ago=2)
    tell(store, "alex", "A\nchair")
    assert store.run(DigestMailer(LINKS).run()) == 1
    mail = digests(store)["alex@example.com"]
    assert mail.subject == "Your unread messages"
    lines = mail.text.splitlines()
    assert lines[0] == "You have 2 unread messages at Big Time Deals."
    assert [line for line in lines if line.startswith("- ")] == [
        "- New from Apple in Home: A chair",
        "- New from Apple in Home: A lamp",
    ]
    assert mail.unsubscribe == LINKS.link("alex", MailKind.DIGEST)
    assert store.run(verify(SITE)) == []


def test_who_did_not_subscribe_or_ended_it_gets_none(store: Store) -> None:
    subscribe(store, "alex", "bea")
    store.run(join("cara@example.com", PASSWORD, "cara"))
    store.run(end_mails("bea", MailKind.DIGEST))
    for username in ("alex", "bea", "cara"):
        tell(store, username)
    store.run(send_digests(LINKS))
    assert {*digests(store)} == {"alex@example.com"}


def test_nothing_unread_or_an_unconfirmed_address_gives_none(store: Store) -> None:
    subscribe(store, "alex", "bea", "cara")
    store.run(update(Account.key("bea@example.com"), confirmed_at=None))
    tell(store, "bea")
    tell(store, "cara")
    (message,) = store.run(view_messages("cara"))
    store.run(mark_message_as_read("cara", message.message_id))
    assert store.run(send_digests(LINKS)) == 0
    assert digests(store) == {}


def test_one_a_day_however_often_the_chore_runs(store: Store, clock: TurnedClock) -> None:
    subscribe(store, "alex")
    tell(store, "alex")
    assert send_and_forget(store) == 1
    for _ in range(3):
        clock.turn(hours=7)
        tell(store, "alex", f"A chair at {clock.now.hour}", hours_ago=0.1)
        assert send_and_forget(store) == 0
    clock.turn(hours=3)
    assert send_and_forget(store) == 1


def test_what_the_last_digest_told_of_does_not_come_every_day(
    store: Store, clock: TurnedClock
) -> None:
    subscribe(store, "alex")
    tell(store, "alex")
    assert send_and_forget(store) == 1
    clock.turn(days=1)
    assert send_and_forget(store) == 0
    tell(store, "alex", "A chair")
    clock.turn(days=1)
    store.run(send_digests(LINKS))
    text = digests(store)["alex@example.com"].text
    assert text.startswith("You have 2 unread messages") and "A chair" in text
    assert "A lamp" not in text


def test_it_is_due_at_seven(store: Store, clock: TurnedClock) -> None:
    assert last_due_day(datetime(2026, 3, 10, 6, 59, 59, tzinfo=UTC)) == date(2026, 3, 9)
    assert last_due_day(datetime(2026, 3, 10, 7, tzinfo=UTC)) == date(2026, 3, 10)
    subscribe(store, "alex")
    assert send_and_forget(store) == 0
    clock.turn(hours=1)
    tell(store, "alex", hours_ago=0.5)
    clock.turn(hours=22.9)
    assert send_and_forget(store) == 0
    clock.turn(hours=0.2)
    assert send_and_forget(store) == 1


def test_after_a_downtime_of_days_it_comes_once(store: Store, clock: TurnedClock) -> None:
    subscribe(store, "alex")
    tell(store, "alex")
    assert send_and_forget(store) == 1
    tell(store, "alex", "A chair", hours_ago=0.5)
    clock.turn(days=5, hours=12)
    assert send_and_forget(store) == 1
    assert send_and_forget(store) == 0


def test_a_clock_that_was_ahead_does_not_silence_it(store: Store, clock: TurnedClock) -> None:
    subscribe(store, "alex")
    clock.turn(days=400)
    tell(store, "alex", hours_ago=24 * 400 + 1)
    assert send_and_forget(store) == 1
    clock.turn(days=-399)
    tell(store, "alex", "A chair", hours_ago=-1)
    assert send_and_forget(store) == 1


def test_a_clock_that_is_set_back_a_day_repeats_nothing(store: Store, clock: TurnedClock) -> None:
    subscribe(store, "alex")
    tell(store, "alex")
    assert send_and_forget(store) == 1
    clock.turn(days=-1)
    tell(store, "alex", "A chair", hours_ago=-1)
    assert send_and_forget(store) == 0


def test_subscribers_are_spread_over_partitions_that_hold_nobody_else(
    engine: Engine, store: Store, clock: TurnedClock
) -> None:
    names = [f"user-{number}" for number in range(400)]
    settings = [NotificationSettings(username=name, digest=True) for name in names]
    others = [NotificationSettings(username=f"other-{number}") for number in range(50)]
    store.run(load_many([*settings, *others]))
    shards = {setting.shard for setting in settings}
    assert shards == {*range(DIGEST_SHARDS)}
    asked: list[Exchange] = []
    counting = Store(engine, clock=clock, hooks=[asked.append])
    counting.run(send_digests(LINKS))
    assert not [each for each in asked if each.request.operation == "Scan"]
    lists = [
        each.response["Items"]
        for each in asked
        if each.response and each.request.params.get("IndexName") == "GSI1"
        and each.request.params["TableName"] == "Site"
    ]  # fmt: skip
    assert sum(map(len, lists)) == 400 and max(map(len, lists)) < 60
    asked.clear()
    counting.run(send_digests(LINKS))
    assert [each.request.operation for each in asked] == ["Query"]  # all done, and that is one read


class Killed(Exception):
    """The process ends here."""


@pytest.mark.parametrize("requests", [*range(1, 12), *range(12, 90, 7)])
def test_wherever_it_is_killed_everybody_gets_one(
    engine: Engine, store: Store, clock: TurnedClock, requests: int
) -> None:
    names = [f"u{number}" for number in range(6)]
    subscribe(store, *names)
    for name in names:
        tell(store, name)
    seen, written = 0, 0

    def kill(_: Exchange) -> None:
        nonlocal seen
        seen += 1
        if seen % requests == 0 and seen < 4 * requests:
            raise Killed

    for _ in range(5):
        try:
            Store(engine, clock=clock, hooks=[kill]).run(send_digests(LINKS))
        except Killed:
            written += send_mails(store)
    written += send_mails(store)
    assert written == 6
    assert store.run(send_digests(LINKS)) == 0
    runs = store.run(scan_all(DigestRun))
    assert len(runs) == DIGEST_SHARDS and all(run.done for run in runs)
    assert store.run(verify(SITE)) == []


def send_mails(store: Store) -> int:
    written = store.run(scan_all(Mail))
    for mail in written:
        store.run(delete_sent_mail(mail.mail_id))
    return len(written)


def test_two_workers_write_one(store: Store, engine: Engine, clock: TurnedClock) -> None:
    """The second reads the settings before the first has written, and is refused."""
    subscribe(store, "alex")
    tell(store, "alex")
    first = Store(engine, clock=clock)

    def overtake(exchange: Exchange) -> None:
        if exchange.request.operation == "GetItem" and not store.run(scan_all(Mail)):
            first.run(send_digest(LINKS, "alex", TODAY))

    second = Store(engine, clock=clock, hooks=[overtake])
    assert second.run(send_digest(LINKS, "alex", TODAY)) is False
    assert len(store.run(scan_all(Mail))) == 1
    assert fetch_stored(store, NotificationSettings.key("alex")).digest_day == TODAY
