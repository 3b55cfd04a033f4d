"""Codes from the outbox, where mails stay in development."""

from __future__ import annotations

import re

from playwright.sync_api import Page

TRIES = 120
PAUSE_MILLISECONDS = 250


def code_to(page: Page, address: str) -> str:
    """The newest code to an address; it is mailed after the response that asks for it."""
    asked = page.url
    wanted = re.compile(rf"{re.escape(address)}[^@]*?Your code is (\d{{6}})")
    for _ in range(TRIES):
        page.goto("/outbox")
        code = wanted.search(page.get_by_role("main").inner_text())
        if code:
            page.goto(asked)
            return code[1]
        page.wait_for_timeout(PAUSE_MILLISECONDS)
    raise AssertionError(f"no code to {address}: {page.get_by_role('main').inner_text()}")
