"""Forms submitted after a session had ended, kept until the sender signs in again.

What is kept is what was typed, for an hour, under an id that cannot be guessed. Passwords,
one-time codes and form tokens are left out. A form that is too large is not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from bigtime import model as bt
from bigtime.site.design import SavedForm
from bigtime.wire import Steps

LASTS: Final = timedelta(hours=1)
MOST_CHARACTERS: Final = 20_000
TOKENS: Final = frozenset({"form_token", "code"})


@bt.pattern("Save Form", index="Main table", sample={"fields": {"title": "A lamp"}})
def save_form(fields: Mapping[str, str]) -> Steps[str | None]:
    """Returns the id that the form is found by; None if there is nothing to keep, or too much."""
    typed = {name: text for name, text in fields.items() if text and not is_secret(name)}
    size = sum(map(len, (*typed, *typed.values())))
    if not 0 < size <= MOST_CHARACTERS:
        return None
    form_id = (yield from bt.random_bytes(16)).hex()
    expires_at = (yield from bt.now()) + LASTS
    yield from bt.create(SavedForm(form_id=form_id, fields=typed, expires_at=expires_at))
    return form_id


@bt.pattern("Fetch saved Form", index="Main table", sample={"form_id": "0" * 32})
def fetch_saved_form(form_id: str) -> Steps[dict[str, str]]:
    """The fields as they were typed; empty if there is no such form, or it has expired."""
    found = yield from bt.get(SavedForm.key(form_id), consistent=True)
    if found is None or found.expires_at <= (yield from bt.now()):
        return {}
    return found.fields


def is_secret(name: str) -> bool:
    return name in TOKENS or "password" in name
