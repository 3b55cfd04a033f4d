"""Filters of which one of a few is chosen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bigtime.web.pages import SubmittedForm


def check_choice(form: SubmittedForm[Any], name: str, choices: Iterable[tuple[str, str]]) -> None:
    """Refuses what is none of the choices; nothing chosen is the first of them."""
    if form.typed.get(name, "") not in dict(choices):
        refuse_choice(form, name, "Choose one of these.")


def refuse_choice(form: SubmittedForm[Any], name: str, why: str) -> None:
    form.value = None
    form.wrong[name] = why
