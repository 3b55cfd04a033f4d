"""Mails for tests: drafted and written in one step."""

from __future__ import annotations

from typing import Any

from bigtime.site.mail import draft_mail, write_mail
from bigtime.wire import Steps


def write_letter(mail_id: str, to: str, subject: str, text: str, **options: Any) -> Steps[None]:
    yield from write_mail((yield from draft_mail(mail_id, to, subject, text, **options)))
