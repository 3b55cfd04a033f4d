"""What a user chose to get by mail is mailed once, to a confirmed address, and ended by a link."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from email.message import EmailMessage
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bigtime.engine import Engine
from bigtime.model import Ksuid, put, scan_all, update, verify
from bigtime.site.design import Mail, MailedEvent, NotificationSettings
from bigtime.site.mail import MailSender, new_message
from bigtime.site.mail_server import MailServer
from bigtime.site.notifications import (
    MAILED_KINDS,
    MailKind,
    Notifier,
    UnknownLink,
    Unsubscribing,
    end_mails,
    fetch_settings,
    save_settings,
)
from bigtime.site.order_queue import Mover, move_order
from bigtime.site.registration import join
from bigtime.site.systems import SITE
from bigtime.store import Exchange, Store, consume
from bigtime.systems import shop
from bigtime.systems.accounts.design import Account
from bigtime.systems.deals.deals import create_deal
from bigtime.systems.deals.design import Deal, MessageKind
from bigtime.systems.deals.notifications import deliver, message_for, send_test_message
from tests.furnished import furnished_engine
from tests.site.smtp import mail_server
from tests.site.turned_clock import TurnedClock, fetch_stored
from tests.web.browsing import PASSWORD, furnish_site

LINKS = Unsubscribing(b"a key of the site's own", "https://deals.example")
ALEX = "alex@example.com"
HOME = shop.Address(
    recipient="URGENT evil.example",
    street="1 Evil Lane",
    city="Town",
    postal_code="1",
    country="ZA",
)


@pytest.fixture
def engine() -> Iterator[Engine]:
    with furnished_engine(furnish_site, housekeeping=False) as engine:
        yield engine


@pytest.fixture
def clock() -> TurnedClock:
    return TurnedClock()


@pytest.fixture
def store(engine: Engine, clock: TurnedClock) -> Store:
    store = Store(engine, clock=clock)
    store.run(join(ALEX, PASSWORD, "alex"))
    return store


def post_deal(store: Store, title: str = "A lamp") -> Deal:
    made: Deal = store.run(
        create_deal(
            title,
            link="https://shop.example/lamp",
            price=Decimal("19.99"),
            brand_name="Apple",
            category_name="Home",
        )
    )
    return made


def choose(store: Store, *kinds: MailKind) -> None:
    store.run(save_settings("alex", ALEX, frozenset(kinds)))


def react(store: Store, name: str = "first") -> None:
    """As the worker does; under another name everything is read again."""
    reaction = Notifier(LINKS).reaction
    consumer = consume(store, reaction.table.name, reaction.handle, name=name)
    while any(turn.more for turn in consumer.run_round()):
        pass


def mails(store: Store) -> list[Mail]:
    return list(store.run(scan_all(Mail)))


def place_order(store: Store) -> shop.Order:
    wanted = [shop.OrderedItem(item_id="lamp", price=Decimal(5), title="A lamp")]
    order_id = Ksuid.make(store.clock(), bytes(16))
    made: shop.Order = store.run(shop.save_order("alex", order_id, wanted, ship_to=HOME))
    return made


def move(store: Store, order: shop.Order, *statuses: str) -> None:
    """As the staff does."""
    mover, seen = Mover("ada", "https://deals.example/orders", LINKS), order.status
    for status in map(shop.OrderStatus, statuses):
        store.run(move_order(mover, "alex", order.order_id, seen, status))
        seen = status


# Settings


def test_by_default_only_order_updates_are_mailed(store: Store) -> None:
    settings = store.run(fetch_settings("alex"))
    assert {kind for kind in MailKind if getattr(settings, kind)} == {MailKind.ORDERS}


@pytest.mark.parametrize("kind", MailKind)
def test_each_kind_is_chosen_and_ended_by_itself(store: Store, kind: MailKind) -> None:
    choose(store, *MailKind)
    store.run(end_mails("alex", kind))
    store.run(end_mails("alex", kind))
    settings = store.run(fetch_settings("alex"))
    assert {each for each in MailKind if not getattr(settings, each)} == {kind}
    choose(store, kind)
    settings = store.run(fetch_settings("alex"))
    assert {each for each in MailKind if getattr(settings, each)} == {kind}
    assert store.run(verify(SITE)) == []


def test_mails_can_be_ended_before_anything_was_saved(store: Store) -> None:
    store.run(end_mails("alex", MailKind.ORDERS))
    assert not store.run(fetch_settings("alex")).orders
    assert store.run(verify(SITE)) == []


def test_saving_keeps_the_day_of_the_last_digest(store: Store, clock: TurnedClock) -> None:
    choose(store, MailKind.DIGEST)
    key = NotificationSettings.key("alex")
    store.run(update(key, digest_day=clock.now.date()))
    choose(store, MailKind.DIGEST, MailKind.HOT)
    assert fetch_stored(store, key).digest_day == clock.now.date()


# Links


def test_a_link_names_its_user_and_kind() -> None:
    for kind in MailKind:
        for username in ("alex", "jörg b.", "x" * 64):
            assert LINKS.read(LINKS.token(username, kind)) == (username, kind)


def test_a_link_of_another_site_or_a_changed_one_is_refused() -> None:
    token = LINKS.token("alex", MailKind.HOT)
    other = Unsubscribing(b"another key", LINKS.base_url).token("alex", MailKind.HOT)
    changed = [token[:place] + "A" + token[place + 1 :] for place in range(len(token))]
    for bad in (other, token[1:], token[:-2], token + "AAAA", *changed):
        if bad != token:
            with pytest.raises(UnknownLink):
                LINKS.read(bad)


@given(st.text(max_size=300))
def test_whatever_is_in_the_path_is_no_link(text: str) -> None:
    with pytest.raises(UnknownLink):
        LINKS.read(text)


# Messages


@pytest.mark.parametrize(
    ("kind", "chosen"),
    [
        (MessageKind.HOT, MailKind.HOT),
        (MessageKind.TEST, MailKind.HOT),
        (MessageKind.WATCHED, MailKind.WATCHED),
        (MessageKind.BRAND, MailKind.WATCHED),
        (MessageKind.CATEGORY, MailKind.WATCHED),
    ],
)
def test_a_message_is_mailed_if_its_kind_was_chosen(
    store: Store, kind: MessageKind, chosen: MailKind
) -> None:
    deal = post_deal(store)
    choose(store, *(each for each in MailKind if each != chosen))
    store.run(deliver(deal, kind, ["alex"], at=store.clock()))
    react(store)
    assert mails(store) == []
    choose(store, chosen)
    other = post_deal(store, "A chair")
    store.run(deliver(other, kind, ["alex"], at=store.clock()))
    react(store)
    (mail,) = mails(store)
    assert mail.to == ALEX and "A chair" in mail.text and "A chair" not in mail.subject
    message = message_for(other, kind, "alex", at=store.clock())
    assert f"https://deals.example/inbox/{message.message_id}" in mail.text
    assert mail.unsubscribe == LINKS.link("alex", chosen) and mail.unsubscribe in mail.text
    assert store.run(verify(SITE)) == []


def test_every_kind_of_message_can_be_mailed() -> None:
    assert set(MAILED_KINDS) == set(MessageKind)


def test_a_stream_that_is_read_again_mails_nothing_twice(store: Store) -> None:
    choose(store, MailKind.HOT)
    store.run(deliver(post_deal(store), MessageKind.HOT, ["alex"], at=store.clock()))
    react(store)
    assert len(mails(store)) == 1
    sent: list[EmailMessage] = []
    sender = MailSender(sent.append, "Bigtime <hello@localhost>", LINKS.pepper)
    consumer = consume(store, "Site", sender.reaction.handle, name="mail")
    consumer.run_round()
    assert len(sent) == 1 and mails(store) == []
    react(store, "again")
    assert mails(store) == []
    assert len(store.run(scan_all(MailedEvent))) == 1


def test_a_message_of_the_past_is_not_mailed(store: Store, clock: TurnedClock) -> None:
    choose(store, MailKind.HOT)
    message = message_for(
        post_deal(store), MessageKind.HOT, "alex", at=clock.now - timedelta(hours=3)
    )
    store.run(put(message))
    react(store)
    assert mails(store) == []


def test_an_editors_test_is_mailed_as_the_message_would_be(store: Store) -> None:
    choose(store, MailKind.HOT)
    deal = post_deal(store)
    store.run(send_test_message(deal.deal_id, "alex"))
    react(store)
    assert len(mails(store)) == 1


def test_to_read_a_message_mails_nothing(store: Store) -> None:
    message = message_for(post_deal(store), MessageKind.HOT, "alex", at=store.clock())
    store.run(put(message))
    react(store)
    choose(store, MailKind.HOT)
    store.run(update(message.own_key(), unread=False))
    react(store)
    assert mails(store) == []


def test_nothing_is_mailed_to_an_address_that_is_not_confirmed(store: Store) -> None:
    choose(store, *MailKind)
    store.run(update(Account.key(ALEX), confirmed_at=None))
    store.run(deliver(post_deal(store), MessageKind.HOT, ["alex"], at=store.clock()))
    move(store, place_order(store), "CANCELLED")
    react(store)
    assert mails(store) == []


def test_nothing_is_mailed_to_the_account_of_another(store: Store) -> None:
    """A customer of an import may have the address of an account with another name."""
    choose(store, *MailKind)
    store.run(update(Account.key(ALEX), username="somebody"))
    store.run(deliver(post_deal(store), MessageKind.HOT, ["alex"], at=store.clock()))
    react(store)
    assert mails(store) == []


class Killed(Exception):
    """The process ends here."""


@pytest.mark.parametrize("requests", range(1, 16))
def test_wherever_the_worker_is_killed_a_message_is_mailed_once(
    engine: Engine, store: Store, clock: TurnedClock, requests: int
) -> None:
    choose(store, MailKind.HOT)
    store.run(deliver(post_deal(store), MessageKind.HOT, ["alex"], at=store.clock()))
    seen = 0

    def kill(_: Exchange) -> None:
        nonlocal seen
        seen += 1
        if seen == requests:
            raise Killed

    with suppress(Killed):
        react(Store(engine, clock=clock, hooks=[kill]))
    assert seen == requests or seen > 8  # it may be done after fewer requests
    react(store)
    assert len(mails(store)) == 1


# Orders


def test_what_becomes_of_an_order_is_mailed(store: Store) -> None:
    move(store, place_order(store), "PICKED", "SHIPPED", "DELIVERED")
    assert len(mails(store)) == 3
    for mail in mails(store):
        assert mail.unsubscribe == LINKS.link("alex", MailKind.ORDERS) in mail.text
        assert "evil" not in mail.text.lower()


def test_a_cancellation_is_mailed_in_any_case(store: Store) -> None:
    choose(store)
    move(store, place_order(store), "PICKED", "CANCELLED")
    (mail,) = mails(store)
    assert mail.subject == "Your order was cancelled"
    assert mail.unsubscribe is None and "unsubscribe" not in mail.text


# Headers


def message_of(store: Store, **fields: Any) -> EmailMessage:
    mail = Mail(
        mail_id="x",
        to=ALEX,
        subject="Hello",
        text="Come in.",
        written_at=store.clock(),
        expires_at=store.clock(),
        **fields,
    )
    return new_message(mail, mail.text, "Bigtime <hello@localhost>")


def test_a_mail_that_can_be_ended_has_the_headers_of_one_click(store: Store) -> None:
    link = LINKS.link("alex", MailKind.DIGEST)
    message = message_of(store, unsubscribe=link)
    assert message["List-Unsubscribe"] == f"<{link}>"
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    plain = message_of(store)
    assert plain["List-Unsubscribe"] is None and plain["List-Unsubscribe-Post"] is None


def test_a_long_link_arrives_whole(store: Store) -> None:
    link = LINKS.link("x" * 64, MailKind.DIGEST)
    message = message_of(store, unsubscribe=link)
    with mail_server() as post:
        MailServer.from_url(post.address)(message)
    (taken,) = post.taken
    assert f"List-Unsubscribe: <{link}>" in taken.splitlines()
