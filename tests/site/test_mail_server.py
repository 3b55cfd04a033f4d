"""The mail server of the settings: how it is named, and that no password goes over an open wire."""

from __future__ import annotations

import ssl
from email.message import EmailMessage
from pathlib import Path

import pytest
from pydantic import ValidationError

from bigtime.site.mail_server import MailServer, Unreachable
from bigtime.web.http.settings import Settings
from tests.site.smtp import mail_server


def test_a_server_is_named_in_three_ways() -> None:
    assert MailServer.from_url("mail.example:2525") == MailServer("mail.example", 2525)
    assert MailServer.from_url("mail.example") == MailServer("mail.example", 25)
    assert MailServer.from_url("smtp://me%40x:a%2Fb@mail.example:587") == MailServer(
        "mail.example", 587, "me@x", "a/b"
    )
    assert MailServer.from_url("smtps://me:pw@mail.example") == MailServer(
        "mail.example", 465, "me", "pw", is_tls=True
    )


@pytest.mark.parametrize("smtp", ["http://mail.example", "smtp://", "mail.example:x", "a:99999"])
def test_what_names_no_server_is_refused_when_settings_are_read(smtp: str) -> None:
    with pytest.raises(ValidationError, match="BIGTIME_SMTP must name a mail server"):
        Settings(smtp=smtp)  # type: ignore[arg-type]


@pytest.mark.parametrize("sender", ["", "nobody", "a@b.example, c@d.example", "A <a@b\n.example>"])
def test_a_sender_that_no_letter_could_have_is_refused(sender: str) -> None:
    with pytest.raises(ValidationError, match="BIGTIME_MAIL_FROM"):
        Settings(mail_from=sender)


def test_a_password_is_shown_nowhere() -> None:
    settings = Settings(smtp="smtp://me:hush@mail.example:587")  # type: ignore[arg-type]
    server = MailServer.from_url(settings.smtp.get_secret_value())
    assert server.password == "hush"
    assert "hush" not in repr(settings) + repr(server)
    with pytest.raises(ValidationError) as refused:
        Settings(smtp="ftp://me:hush@mail.example")  # type: ignore[arg-type]
    assert "hush" not in str(refused.value)


def test_a_password_is_not_sent_where_there_is_no_tls() -> None:
    with mail_server() as post:
        host, _, port = post.address.partition(":")
        server = MailServer(host, int(port), "me", "hush")
        with pytest.raises(Unreachable):
            server(letter())
    assert not any("AUTH" in line for line in post.heard)
    assert post.taken == []


def test_a_password_is_not_sent_to_a_server_that_nobody_vouches_for(tls: ssl.SSLContext) -> None:
    with mail_server(tls=tls) as post:
        host, _, port = post.address.partition(":")
        with pytest.raises(Unreachable):
            MailServer(host, int(port), "me", "hush")(letter())
    assert not any("AUTH" in line for line in post.heard)


def test_with_tls_it_logs_in_and_hands_in(
    tls: ssl.SSLContext, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with mail_server(tls=tls) as post:
        MailServer.from_url(f"smtp://me:hush@{post.address}")(letter())
    assert any(line.startswith("AUTH PLAIN") for line in post.heard)
    assert len(post.taken) == 1


def letter() -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "hello@localhost", "alex@example.com"
    message.set_content("Come in.")
    return message
