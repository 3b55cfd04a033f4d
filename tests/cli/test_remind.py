"""`bigtime remind`: every tenant that waits, once a day."""

from __future__ import annotations

from pathlib import Path

from bigtime.engine import Engine
from bigtime.model import setup
from bigtime.site import SITE, view_outbox
from bigtime.store import Store
from bigtime.systems import portal
from tests.cli.program import invoke

URL = ("--url", "https://portal.example")


def test_each_tenant_is_reminded_once_a_day(tmp_path: Path) -> None:
    place = f"file:{tmp_path}/site.db"
    with Engine.open(tmp_path / "site.db") as engine:
        store = Store(engine)
        store.run(setup(portal.SYSTEM, SITE))
        for number in range(60):  # more than a page
            store.run(portal.tenant_at_checkout(f"tenant{number}@example.com"))
        done = store.run(portal.tenant_at_checkout("done@example.com"))
        code = store.run(portal.issue_code(portal.Purpose.VALIDATE, done.id))
        store.run(portal.validate_tenant(done.id, code))
    first = invoke("remind", *URL, store=place)
    assert first.output == "60 tenants were reminded; 0 had been reminded today.\n"
    again = invoke("remind", *URL, store=place)
    assert again.output == "0 tenants were reminded; 60 had been reminded today.\n"
    with Engine.open(tmp_path / "site.db") as engine:
        mails = Store(engine).run(view_outbox())
    assert mails


def test_what_is_no_address_is_refused(tmp_path: Path) -> None:
    refused = invoke("remind", "--url", "portal.example", store=f"file:{tmp_path}/site.db")
    assert refused.exit_code == 2 and "it begins with https://" in refused.output
