"""Letters: each is sent once, none holds up another, and a refused one says why."""

from __future__ import annotations

import logging
import re
import socket
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage

import pytest

from bigtime.engine import Engine
from bigtime.model import Page, setup
from bigtime.site.design import Mail
from bigtime.site.mail import MailSender, SendMessage, mail_text, view_outbox
from bigtime.site.mail_server import MailServer, Unreachable
from bigtime.site.systems import SYSTEMS
from bigtime.store import Store, TransportError
from bigtime.store.consumption import Handler
from bigtime.systems.portal.registration import code_from
from bigtime.web.http.settings import Settings, pepper_of
from bigtime.web.worker import RetriedConsumer, Worker, handlers
from tests.site.letters import write_letter
from tests.site.smtp import mail_server
from tests.web.browsing import SECRET

PEPPER = b"a key of the site's own"


class Clock:
    """A clock that somebody turns."""

    def __init__(self) -> None:
        self.now = datetime.now(UTC).replace(microsecond=0)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(engine: Engine, clock: Clock) -> Store:
    store = Store(engine, clock=clock)
    store.run(setup(*SYSTEMS))
    return store


def write(store: Store, *to: str, **but: object) -> None:
    for number, each in enumerate(to):
        told = {"subject": "Hello", "text": "Come in.", **but}
        store.run(write_letter(f"letter {each} {number}", each, **told))  # type: ignore[arg-type]


def outbox(store: Store) -> list[Mail]:
    page: Page[Mail] = store.run(view_outbox())
    return page.items


def mail_consumer(store: Store, smtp: str) -> RetriedConsumer:
    """The consumer that sends letters, in a new worker."""
    settings = Settings(smtp=smtp, secret=SECRET)  # type: ignore[arg-type]
    (found,) = [each for each in Worker(store, settings).consuming if each.name == "site.mail"]
    return found


def send_all(store: Store, smtp: str) -> None:
    sending = mail_consumer(store, smtp)
    while sending.take_turn():
        pass


def send_again(store: Store, smtp: str) -> None:
    post = MailSender(MailServer.from_url(smtp), "Bigtime <hello@localhost>", PEPPER)
    store.run(post.send_again())


def test_a_letter_that_is_sent_is_gone(store: Store) -> None:
    with mail_server() as post:
        write(store, "alex@example.com", "bea@bücher.example")
        send_all(store, post.address)
    assert post.to() == ["alex@example.com", "bea@xn--bcher-kva.example"]
    assert outbox(store) == []
    (first,) = [each for each in post.taken if "To: alex" in each]
    assert "From: Bigtime <hello@localhost>" in first and "Come in." in first
    assert re.search(r"^Message-ID: <[0-9a-f]{32}@bigtime>$", first, re.MULTILINE)


@pytest.mark.parametrize(
    "says",
    [{"RCPT TO:<BAD": "550 no such user"}, {"TO: BAD": "554 spam"}],
    ids=["recipient", "content"],
)
def test_a_letter_that_is_refused_says_why_and_holds_up_no_other(
    store: Store, says: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    write(store, "alex@example.com", "bad@example.com", "cara@example.com")
    with mail_server(says) as post, caplog.at_level(logging.ERROR, "bigtime.worker"):
        send_all(store, post.address)
        send_all(store, post.address)
        send_again(store, post.address)
    assert post.to() == ["alex@example.com", "cara@example.com"]
    (left,) = outbox(store)
    assert left.to == "bad@example.com" and left.refused in ("550 no such user", "554 spam")
    assert "letter bad@example.com 1 is refused" in caplog.text


def test_what_no_letter_can_be_made_of_is_refused(store: Store) -> None:
    write(store, "~;`@>*.b,<", "é@example.com", "alex@" + "b" * 70 + ".example")
    write(store, "bea@example.com", subject="One\nBcc: everybody@example.com")
    write(store, "cara@example.com")
    with mail_server() as post:
        send_all(store, post.address)
    assert post.to() == ["cara@example.com"]
    assert len(outbox(store)) == 4
    assert all(each.refused for each in outbox(store))


def test_a_letter_that_is_not_taken_now_is_tried_later_and_holds_up_no_other(
    store: Store, clock: Clock
) -> None:
    write(store, "slow@example.com", "alex@example.com")
    with mail_server({"RCPT TO:<SLOW": "450 come back"}) as post:
        send_all(store, post.address)
        send_again(store, post.address)
        assert post.to() == ["alex@example.com"]
        (left,) = outbox(store)
        assert left.refused is None and left.try_at == clock.now + timedelta(seconds=30)

        clock.now += timedelta(seconds=31)
        send_again(store, post.address)
        assert outbox(store)[0].try_at == clock.now + timedelta(seconds=60)
    clock.now += timedelta(seconds=61)
    with mail_server() as post:
        send_again(store, post.address)
        assert post.to() == ["slow@example.com"]
    assert outbox(store) == []


def test_a_server_that_hangs_up_amid_a_letter_has_not_taken_it(store: Store) -> None:
    write(store, "rude@example.com", "alex@example.com")
    with mail_server({"RCPT TO:<RUDE": ""}) as post:
        send_all(store, post.address)
    assert post.to() == ["alex@example.com"]
    assert [each.to for each in outbox(store) if each.try_at] == ["rude@example.com"]


def test_a_letter_is_not_sent_again_because_the_server_says_goodbye_badly(store: Store) -> None:
    write(store, "alex@example.com")
    for goodbye in ("500 what", ""):
        with mail_server({"QUIT": goodbye}) as post:
            send_all(store, post.address)
        assert outbox(store) == []


def test_while_the_server_is_away_letters_wait_and_then_each_goes_once(store: Store) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
    write(store, "alex@example.com", "bea@example.com")
    sending = mail_consumer(store, address)
    assert sending.take_turn() is False and sending.pause > 0
    assert [each.tries for each in outbox(store)] == [0, 0]
    with mail_server() as post:
        send_all(store, post.address)
        send_all(store, post.address)
    assert post.to() == ["alex@example.com", "bea@example.com"]


def test_a_sender_that_the_server_does_not_take_refuses_no_letter(store: Store) -> None:
    write(store, "alex@example.com")
    with mail_server({"MAIL FROM": "553 not you"}) as post:
        assert mail_consumer(store, post.address).take_turn() is False
    assert [each.refused for each in outbox(store)] == [None]


def test_of_letters_on_one_page_none_goes_twice_because_another_fails(store: Store) -> None:
    """As when the store is away between two of them."""
    write(store, "alex@example.com", "bea@example.com")
    with mail_server() as post:
        server = MailServer.from_url(post.address)
        tried: list[str] = []

        def send(message: EmailMessage) -> None:
            tried.append(message["To"])
            if len(tried) == 2:
                raise TransportError("The store is away.", uncertain=False)
            server(message)

        failing = mail_consumer(store, post.address)
        failing.consumer.consumption.handle = handle_with(send)
        assert failing.take_turn() is False
        send_all(store, post.address)
    assert post.to() == ["alex@example.com", "bea@example.com"]


def handle_with(send: SendMessage) -> Handler:
    return handlers(MailSender(send, "Bigtime <hello@localhost>", PEPPER))["site.mail"][1]


def test_a_code_stands_in_no_table(store: Store) -> None:
    seed = b"0123456789abcdef"
    pepper = pepper_of(Settings(secret=SECRET))  # type: ignore[arg-type]
    code = code_from(seed, pepper)
    write(store, "alex@example.com", text="Your code is {code}.", seed=seed)
    (mail,) = outbox(store)
    assert code not in mail.text
    assert mail_text(mail, pepper) == f"Your code is {code}."
    assert code_from(seed, b"another key") != code
    with mail_server() as post:
        send_all(store, post.address)
    assert f"Your code is {code}." in post.taken[0]


def test_a_letter_that_is_too_old_is_not_sent(store: Store, clock: Clock) -> None:
    write(store, "alex@example.com", expires_after=timedelta(minutes=10))
    clock.now += timedelta(minutes=11)
    with mail_server() as post:
        send_all(store, post.address)
    assert post.taken == []


def test_unreachable_is_told_as_such() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        address = f"127.0.0.1:{nobody.getsockname()[1]}"
    with (
        pytest.raises(Unreachable, match="does not let us in"),
        MailServer.from_url(address).connection(),
    ):
        pass


@pytest.mark.parametrize("contact", ["", "help@deals.example"])
def test_a_letter_says_whom_to_ask(store: Store, contact: str) -> None:
    write(store, "alex@example.com")
    sent: list[EmailMessage] = []
    sender = MailSender(sent.append, "Bigtime <hello@localhost>", PEPPER, contact)
    (mail,) = outbox(store)
    store.run(sender.try_to_send(mail))
    (message,) = sent
    text = message.get_content()
    assert text.startswith("Come in.")
    assert ("Questions? Contact us: help@deals.example" in text) == bool(contact)
