"""Takes the pictures of the site that the guides show, into docs/screenshots/.

The site runs in this process with small demo data, on an engine that is gone at the end, and
Chromium walks through it as a shopper, an editor and an admin. The pictures are to be the same
every time, so nothing in them is left to chance:

1. the clock stands at the moment for which the demo data is made, and the walk moves it on;
2. the randomness is drawn from a seed, which every part of the walk sets anew;
3. what the worker does is done when the walk says so, in this thread.

Fonts and Chromium's version are the machine's own: pictures of two machines may differ in them.
A folder can be named, to have the pictures there instead.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal
from http import HTTPStatus
from pathlib import Path
from random import Random
from typing import Any, Final

import uvicorn
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Response, sync_playwright
from pydantic import SecretStr

from bigtime.engine import Engine
from bigtime.model import UNTIL, Ksuid, setup, update
from bigtime.pictures import place_at
from bigtime.site.demo import demo_logins, load_demo
from bigtime.site.demo_pictures import DemoPictures
from bigtime.site.systems import SYSTEMS
from bigtime.store import AsyncStore, Store
from bigtime.store.driver import Exchange
from bigtime.systems.cart.design import Status
from bigtime.systems.cart.line import remove_line, view_products
from bigtime.systems.deals.brands import create_categories
from bigtime.systems.deals.deals import create_deal, fetch_deal
from bigtime.systems.deals.interests import watch_category
from bigtime.systems.deals.notifications import send_hot_deal_message
from bigtime.testing import Clock
from bigtime.web.app import make_app
from bigtime.web.http.settings import Settings
from bigtime.web.worker import Worker

FOLDER: Final = Path(__file__).parent / "screenshots"
CHROMIUM: Final = shutil.which("chromium") or shutil.which("chromium-browser")
ARGUMENTS: Final = ["--no-sandbox", "--disable-gpu", "--disable-lcd-text", "--hide-scrollbars"]
DESKTOP: Final[dict[str, Any]] = {"viewport": {"width": 1280, "height": 800}}
PHONE: Final[dict[str, Any]] = {"viewport": {"width": 360, "height": 740}, "has_touch": True}

WATCHED: Final = "Voltaic"
POSTED: Final = (
    ("Lumora soundbar, graphite", "149.00", "229.99", "Lumora", "Electronics"),
    ("Voltaic power bank, navy", "24.95", "39.99", "Voltaic", "Electronics"),
    ("Cast & Crumb cast-iron pan, 28 cm", "42.00", "69.99", "Cast & Crumb", "Kitchen"),
    ("Ember Kitchen pour-over kettle, black", "58.50", "94.99", "Ember Kitchen", "Kitchen"),
)
"""What editors have posted this morning: title, price, list price, brand and category."""
PARTS_SENT: Final = 5
"""How far the hot deal is when its picture is taken."""
HEARD_SECONDS: Final = 0.4
"""After this time every page has heard of a change."""


class StoppedClock(Clock):
    """Stands still until it is moved on, and so do the clocks of the windows."""

    def __init__(self) -> None:
        super().__init__()
        self.stop(UNTIL)
        self.windows: list[BrowserContext] = []

    def move_on(self, minutes: int) -> None:
        self.advance(minutes=minutes)
        for window in self.windows:
            window.clock.set_fixed_time(self())

    def show_in(self, window: BrowserContext) -> None:
        self.windows.append(window)
        window.clock.set_fixed_time(self())


class Chance:
    """Draws the same bytes after the same words."""

    def __init__(self) -> None:
        self.random = Random(0)

    def __call__(self, count: int) -> bytes:
        return self.random.randbytes(count)

    def begin(self, words: str) -> None:
        self.random = Random(words)


class Stage:
    """The site with its data, its clock and its worker."""

    def __init__(self, folder: Path) -> None:
        self.clock, self.chance = StoppedClock(), Chance()
        self.engine = Engine.memory(clock=self.clock.seconds)
        self.store = Store(self.engine, clock=self.clock, randomness=self.chance)
        self.settings = Settings(
            data=folder,
            secret=SecretStr("the same for every picture"),
            search="off",
            pictures=str(folder / "pictures"),
        )
        self.store.run(setup(*SYSTEMS))
        self.store.run(create_categories())
        place = place_at(self.settings.picture_place)
        self.pictures = DemoPictures(place)
        load_demo(self.store, until=UNTIL, place=place)
        self.worker = Worker(self.store, self.settings)
        self.catch_up()

    def draw_picture(self, deal_id: str) -> None:
        """Gives a deal a picture, as the demo data have it."""
        deal = self.store.run(fetch_deal(Ksuid(deal_id)))
        self.store.run(update(deal.own_key(), picture=self.pictures.of_deal(deal)))

    def catch_up(self) -> None:
        """Has the worker do all that there is to do, and the pages hear of it."""
        turns = [True]
        while any(turns):
            turns = [each.take_turn() for each in self.worker.consuming]
        time.sleep(HEARD_SECONDS)

    @contextmanager
    def serve(self) -> Iterator[str]:
        """The address of the site."""
        store = AsyncStore(self.engine, clock=self.clock, randomness=self.chance)
        app = make_app(self.settings, store, version=self.engine.version)
        server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            time.sleep(0.05)
        try:
            yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


class Walk:
    """Goes through the site in the windows of several people, and takes pictures."""

    def __init__(self, stage: Stage, browser: Browser, url: str, folder: Path) -> None:
        self.stage = stage
        self.browser = browser
        self.url = url
        self.folder = folder
        self.cookies: dict[str, Any] = {}
        self.taken: set[str] = set()
        self.refused: list[str] = []

    def window(self, who: str | None = None, **look: Any) -> Page:
        context = self.browser.new_context(base_url=self.url, **{**DESKTOP, **look})
        context.set_default_timeout(10_000)
        self.stage.clock.show_in(context)
        context.on("response", self.note)
        page = context.new_page()
        if who in self.cookies:
            context.add_cookies(self.cookies[who])
        elif who is not None:
            self.log_in(page, who)
            self.cookies[who] = context.cookies()
        return page

    def note(self, response: Response) -> None:
        if response.status >= HTTPStatus.BAD_REQUEST:
            self.refused.append(f"{response.status} for {response.url}")

    def log_in(self, page: Page, who: str) -> None:
        (login,) = (
            demo_login for demo_login in demo_logins() if demo_login.login.startswith(f"{who}@")
        )
        page.goto("/log-in")
        page.get_by_label("E-mail").fill(login.login)
        page.get_by_label("Password").fill(login.password)
        page.get_by_role("main").get_by_role("button", name="Sign in").click()
        page.get_by_role("link", name="Inbox").first.wait_for()

    def take(self, page: Page, name: str, path: str | None = None) -> None:
        """A picture of a page, or of the one that is open."""
        if path is not None:
            page.goto(path)
        page.wait_for_load_state("networkidle")
        page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
        page.mouse.move(0, 0)
        page.screenshot(path=self.folder / f"{name}.png", animations="disabled", caret="hide")
        self.taken.add(name)


# What happens, in its order


def look_around(walk: Walk) -> None:
    page = walk.window()
    walk.take(page, "front-page", "/")
    walk.take(page, "pricing", "/pricing")
    walk.take(page, "campaign", "/campaigns/SWITCH2US")
    walk.take(page, "api", "/docs")
    walk.take(walk.window(color_scheme="dark"), "front-page-dark", "/")
    walk.take(walk.window(**PHONE), "front-page-phone", "/")


def watch_something(walk: Walk) -> None:
    page = walk.window("shopper")
    page.goto(f"/brands/{WATCHED.upper()}")
    for name in ("Like", "Watch"):
        page.get_by_role("button", name=name).click()
        page.get_by_role("button", name=name, pressed=True).wait_for()
    walk.stage.catch_up()
    walk.take(page, "brand", page.url)
    walk.stage.store.run(watch_category("Kitchen", "shopper"))


def post_deals(walk: Walk) -> None:
    for title, price, before, brand, category in POSTED:
        walk.stage.clock.move_on(25)
        link = "https://dealharbour.example/offer"
        deal = create_deal(title, link, Decimal(price), brand, category, list_price=Decimal(before))
        walk.stage.draw_picture(walk.stage.store.run(deal).deal_id)
        walk.stage.catch_up()


def edit(walk: Walk) -> None:
    page = walk.window("editor")
    page.goto("/editor/deals/new")
    typed = {
        "Brand": WATCHED,
        "Title": "Voltaic noise-cancelling headphones, forest green",
        "Price in $": "119.00",
        "List price in $": "199.99",
        "Link to the offer": "https://bargainbarn.example/headphones",
        "Description": "Thirty hours to a charge, and quiet on the train.",
    }
    page.get_by_label("Category").select_option("Electronics")
    for label, value in typed.items():
        page.get_by_label(re.compile(f"^{re.escape(label)}")).fill(value)
    page.locator("#preview").get_by_text("quiet on the train").wait_for()
    walk.take(page, "new-deal")
    walk.stage.clock.move_on(10)
    page.get_by_role("button", name="Publish").click()
    page.get_by_text("Deal published.").wait_for()
    walk.stage.draw_picture(page.url.partition("?")[0].rpartition("/")[2])
    walk.stage.catch_up()
    walk.take(page, "desk", "/editor")
    feature(walk, page)
    tell_everybody(walk, page)


def feature(walk: Walk, page: Page) -> None:
    """Puts the new deal first on the front page."""
    page.goto("/editor/featured")
    page.get_by_role("main").get_by_role("link", name="Front page").click()
    page.get_by_role("heading", name="Add a deal").wait_for()
    button = page.get_by_role("button", name=re.compile(r"^(Add|Up)\s*: Voltaic noise"))
    while button.count():
        press(page, button)
    walk.take(page, "featured")
    page.get_by_role("button", name="Publish").click()
    page.get_by_text("Published.").wait_for()


def press(page: Page, button: Locator) -> None:
    """Until the address is another."""
    before = page.url
    button.click()
    page.wait_for_url(lambda url: url != before)


def tell_everybody(walk: Walk, page: Page) -> None:
    """The worker is stopped on its way, for a picture of it, and goes on afterwards."""
    page.goto("/editor")
    page.get_by_role("link", name=re.compile("^Notify all users of Voltaic noise")).click()
    page.get_by_role("button", name="Send to all users").click()
    page.locator("#progress").wait_for()
    deal_id = page.url.split("/")[-2]
    with suppress(Enough):
        stopping = Store(walk.stage.engine, clock=walk.stage.clock, hooks=[stop_after(PARTS_SENT)])
        stopping.run(send_hot_deal_message(Ksuid(deal_id)))
    page.get_by_text(f"{PARTS_SENT} of").wait_for()
    walk.take(page, "hot-deal")
    walk.stage.catch_up()


class Enough(Exception):
    """That many parts are sent."""


def stop_after(parts: int) -> Callable[[Exchange], None]:
    """Stops whoever has written down that so many parts are done."""
    written = 0

    def count(exchange: Exchange) -> None:
        nonlocal written
        written += exchange.request.operation == "PutItem"
        if written == parts:
            raise Enough

    return count


def shop(walk: Walk) -> None:
    walk.stage.clock.move_on(15)
    empty_cart(walk.stage.store)
    page = walk.window("shopper")
    walk.take(page, "inbox", "/inbox")
    page.get_by_role("link", name=re.compile("Hot: Voltaic noise")).click()
    page.get_by_role("link", name="See deal").click()
    walk.take(page, "deal")
    walk.take(walk.window("shopper", color_scheme="dark", **PHONE), "deal-phone", page.url)
    put_in_cart(page)
    for title, _, _, _, _ in POSTED[1:]:
        walk.stage.clock.move_on(1)
        page.goto("/")
        page.get_by_role("link", name=title).click()
        put_in_cart(page)
    page.get_by_role("button", name=re.compile(r"^Save for later\s*: Ember")).click()
    walk.take(page, "cart", "/cart")
    walk.stage.chance.begin("checkout")
    page.goto("/checkout")
    page.get_by_role("button", name=re.compile("^Place order")).click()
    walk.take(page, "order")
    walk.take(page, "saved", "/me/saved")
    walk.stage.catch_up()


def empty_cart(store: Store) -> None:
    """Takes out what the demo data has put there."""
    for status in (Status.ACTIVE, Status.SAVED):
        for line in store.run(view_products("shopper", status)):
            store.run(remove_line("shopper", line.sk))


def put_in_cart(page: Page) -> None:
    page.get_by_role("button", name="Add to cart").click()
    page.get_by_role("heading", level=1, name="Cart").wait_for()


def administer(walk: Walk) -> None:
    page = walk.window("admin")
    walk.take(page, "admin", "/admin")
    walk.take(page, "tenants", "/admin/tenants")
    walk.take(page, "orders", "/admin/orders")
    page.goto("/admin/products")
    page.get_by_role("main").get_by_role(
        "link", name="WordPress Professional Plan", exact=True
    ).click()
    page.get_by_role("link", name="Full history").click()
    walk.take(page, "history")


PARTS: Final = (look_around, watch_something, post_deals, edit, shop, administer)


def main(arguments: list[str]) -> None:
    if CHROMIUM is None:
        raise SystemExit("There is no Chromium here: install Debian's package chromium")
    folder = Path(arguments[0]) if arguments else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        stage = Stage(Path(scratch))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        with stage.serve() as url:
            walk = Walk(stage, browser, url, folder)
            for part in PARTS:
                stage.chance.begin(part.__name__)
                part(walk)
            browser.close()
        stage.engine.close()
    if walk.refused:
        raise SystemExit(f"These are no pictures to show: the site answered {walk.refused}")
    print(f"{len(walk.taken)} pictures are in {folder}")


if __name__ == "__main__":
    main(sys.argv[1:])
