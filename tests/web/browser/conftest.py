"""The site as a browser sees it: served by its own program, looked at in Chromium."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import ip_address
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect, sync_playwright

from tests.web.browser.served import Served

CHROMIUM = shutil.which("chromium")
PATIENCE = 60_000
NETWORKS = count()
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(scope="session")
def served_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The site with demo data, and its worker."""
    yield from serve_site(tmp_path_factory.mktemp("site"))


def serve_site(folder: Path) -> Iterator[Served]:
    program = [sys.executable, "-c", "from bigtime.cli.app import main; main()", "serve"]
    process = subprocess.Popen(
        [*program, "--port", "0", "--store", f"file:{folder}/site.db"],
        cwd=folder,
        env={**os.environ, "BIGTIME_DATA": str(folder), "BIGTIME_PROXIES": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    said = ""
    while said.count("sign in as") < 3:
        line = process.stdout.readline()
        assert line, f"the site did not start: {said}"
        said += line
    (url,) = re.findall(r"is at (http\S+)", said)
    yield Served(url, dict(re.findall(r"sign in as (\w+)@\S+ with (\S+)", said)))
    process.terminate()
    process.wait(60)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """For one module: while it is there, its event loop lets no other run in this thread."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here: install Debian's package chromium")
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


class Visits:
    """Opens windows of people who have nothing in common, and sees where their requests go."""

    def __init__(self, browser: Browser, site: Served) -> None:
        self.browser = browser
        self.site = site
        self.contexts: list[BrowserContext] = []
        self.elsewhere: list[str] = []
        self.broken: list[str] = []

    def window(self, **options: Any) -> Page:
        """A window of somebody in a network of their own, for limits count by network."""
        network = {"X-Forwarded-For": str(ip_address("198.18.0.1") + 256 * next(NETWORKS))}
        context = self.browser.new_context(
            base_url=self.site.url, extra_http_headers=network, **options
        )
        context.set_default_timeout(PATIENCE)
        self.contexts.append(context)
        context.on("request", self.note)
        page = context.new_page()
        page.on("pageerror", lambda error: self.broken.append(str(error)))
        page.on(
            "console",
            lambda message: (
                self.broken.append(message.text) if "Content Security" in message.text else None
            ),
        )
        return page

    def note(self, request: Request) -> None:
        if urlsplit(request.url).netloc != urlsplit(self.site.url).netloc:
            self.elsewhere.append(request.url)

    def close(self) -> None:
        for context in self.contexts:
            context.close()


@pytest.fixture
def visits(chromium: Browser, served_site: Served) -> Iterator[Visits]:
    """No request may leave the machine, and no script may break, whatever a test does."""
    visits = Visits(chromium, served_site)
    yield visits
    visits.close()
    assert visits.elsewhere == []
    assert visits.broken == []


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which looks for what people cannot read or reach."""
    modules = os.environ.get("BIGTIME_NODE_MODULES", "")
    source = Path(modules) / "axe-core" / "axe.min.js"
    if not modules or not source.exists():
        pytest.skip("axe-core is not installed: .ci/run installs it with npm")
    return source.read_text()
