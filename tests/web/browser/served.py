"""A site that is served, and who can log in to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Page


@dataclass(frozen=True, slots=True)
class Served:
    """Its address, the passwords of its demo logins by their names, and who has logged in."""

    url: str
    passwords: dict[str, str]
    states: dict[str, Any] = field(default_factory=dict)

    def log_in(self, page: Page, name: str) -> None:
        """Once for each name, for the site lets nobody try too often; then with the same cookie."""
        if name in self.states:
            page.context.add_cookies(self.states[name])
            return
        page.goto("/log-in")
        page.get_by_label("E-mail").fill(f"{name}@example.com")
        page.get_by_label("Password").fill(self.passwords[name])
        page.get_by_role("main").get_by_role("button", name="Sign in").click()
        page.get_by_role("link", name="Inbox").first.wait_for()
        self.states[name] = page.context.cookies()
