"""The simultaneous users of the site: readers, shoppers, an editor, and API clients.

Each repeats what such a user does, and expects the right kind of response to every single request.
Nobody exceeds a limit: everybody comes from an address of their own, and likes no faster than a
person may. Only the limits for orders and other writes are lifted.

A user whose connection broke continues where they were: the same form is sent again.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from html import unescape
from http import HTTPStatus
from itertools import count
from urllib.parse import quote

from bigtime.site.demo import demo_logins
from bigtime.systems.deals.brands import CATEGORIES
from bigtime.systems.deals.values import category_key
from proofs import pictures
from proofs.browser import Browser, Unexpected
from proofs.orders import Promised

PASSWORD = "correct horse battery"
BRAND = "Proof Works"
CATEGORY = "Kitchen"
HOME = {
    "recipient": "Liz Moyo",
    "street": "1 Long Street",
    "city": "Cape Town",
    "postal_code": "8001",
    "country": "South Africa",
}
PICTURE = re.compile(r"/pictures/\w{32}/\d+\.webp")
PICTURE_EVERY = 4
DEAL = re.compile(r'"/deals/(\w{27})"')
BRAND_LINK = re.compile(r'"(/brands/[^"/?]+)"')
SECONDS_BETWEEN_LIKES = 2.5
SECONDS_HELD = 60.0
SECONDS_FOR_MAIL = 10
CODE = re.compile(r"Your code is (\d{6})")
OLDER = re.compile(r'href="(/outbox\?after=[^"]*)"')
LARGE = 30
"""Products in a cart that is too large for one transaction."""

numbers = count(1)


def address(number: int) -> str:
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


class Person:
    """A user with a browser and an address; `did` counts what they have done."""

    pause = 0.01

    def __init__(self, port: int, name: str) -> None:
        self.port = port
        self.name = name
        self.chance = random.Random(name)
        self.did: Counter[str] = Counter()
        self.answers: Counter[int] = Counter()
        self.browser = self.new_browser()

    def new_browser(self) -> Browser:
        return Browser(self.port, address(next(numbers)), self.answers)

    def arrive(self) -> None:
        """Does what precedes the first visit."""

    def visit(self) -> None:
        raise NotImplementedError

    def sign_up(self, browser: Browser, username: str) -> None:
        email = f"{username}@example.com"
        page = browser.submit(
            "/sign-up",
            "/sign-up",
            to="/confirm-email/",
            username=username,
            email=email,
            password=PASSWORD,
        )
        browser.submit(page, page, to="/", code=self.code_for(browser, email))
        browser.get("/me", shows=username)
        self.did["sign-ups"] += 1

    def code_for(self, browser: Browser, email: str) -> str:
        """The code that was mailed to an address; it is stored after the response was sent."""
        for _ in range(SECONDS_FOR_MAIL * 10):
            page = "/outbox"
            while page:
                shown = browser.get(page)
                for mail in shown.split("<article")[1:]:
                    found = CODE.search(mail) if f"To {email}," in mail else None
                    if found is not None:
                        return found[1]
                older = OLDER.search(shown)
                page = unescape(older[1]) if older else ""
            time.sleep(0.1)
        raise Unexpected(f"no code was mailed to {email}")

    def __str__(self) -> str:
        return self.name


class Reader(Person):
    """A user who is not signed in, and reads public pages."""

    def arrive(self) -> None:
        categories = [f"/categories/{quote(category_key(name))}" for name in CATEGORIES]
        brands = BRAND_LINK.findall(self.browser.get("/brands"))
        self.deals = [f"/deals/{each}" for each in DEAL.findall(self.browser.get("/"))]
        self.pages = ["/", "/categories", "/brands", "/editors-choice", *categories, *brands]

    def visit(self) -> None:
        path = self.chance.choice(self.pages if self.chance.random() < 0.5 else self.deals)
        page = self.browser.get(path, shows="</html>")
        if path == "/":
            self.deals = [f"/deals/{each}" for each in DEAL.findall(page)]
        elif path in self.deals and 'href="/log-in' not in page:
            raise Unexpected(f"{path} is shown as if somebody were signed in")
        self.did["pages read"] += 1
        self.look_at_pictures(page)

    def look_at_pictures(self, page: str) -> None:
        """Loads a few of the pictures on a page, like a browser that has cached the others."""
        found = sorted(set(PICTURE.findall(page)))
        for path in self.chance.sample(found, min(2, len(found))):
            self.browser.get(path, shows="RIFF")
            self.did["pictures read"] += 1


class Shopper(Person):
    """A user who signs up, watches what the editor posts, and buys."""

    pause = 0.05

    def __init__(self, port: int, name: str, *, size: int = 3) -> None:
        super().__init__(port, name)
        self.promised = Promised(name)
        self.size = size
        self.form: dict[str, str] = {}
        self.like_at = 0.0

    def arrive(self) -> None:
        self.sign_up(self.browser, self.name)
        for page in (f"/brands/{quote(BRAND.upper())}", f"/categories/{category_key(CATEGORY)}"):
            self.browser.submit(page, f"{page}/watch")
        pages = [self.browser.get(f"/categories/{category_key(name)}") for name in CATEGORIES]
        self.deals = sorted({deal for page in pages for deal in DEAL.findall(page)})

    def visit(self) -> None:
        self.buy()
        self.read_messages()
        self.like()
        if self.chance.random() < 0.2:
            self.bring_a_friend()

    # Buying

    def buy(self) -> None:
        """Fills the cart and orders it; or repeats an order that got no response."""
        if self.promised.sent is None:
            self.fill_cart()
            self.form = {**self.browser.form("/checkout", "/checkout"), **HOME, "ship_to": "new"}
            self.promised.sent = dict(self.promised.cart)
        order_id = self.send_order(self.browser)
        self.note_order(order_id)
        if self.send_order(self.browser) != order_id:
            raise Unexpected(f"the checkout of order {order_id}, sent again, made another")
        self.did["checkouts sent again"] += 1
        self.look_at_order(order_id)

    def fill_cart(self) -> None:
        cart = self.promised.cart
        wanted = self.size if self.size == LARGE else self.chance.randint(1, self.size)
        fresh = self.chance.sample([deal for deal in self.deals if deal not in cart], wanted)
        for deal in fresh[: max(0, wanted - len(cart))]:
            self.promised.putting = deal
            self.put(deal)
            cart[deal] = cart.get(deal, 0) + 1
            self.promised.putting = None

    def put(self, deal: str) -> None:
        self.browser.submit(f"/deals/{deal}", "/cart/add", to="/cart")

    def send_order(self, browser: Browser) -> str:
        location = browser.post("/checkout", self.form, to="/orders/")
        return location.removeprefix("/orders/").partition("?")[0]

    def send_again(self, browser: Browser) -> str:
        """After a crash: sends the same form again."""
        return self.send_order(browser)

    def note_order(self, order_id: str) -> None:
        promised = self.promised
        assert promised.sent is not None
        promised.orders[order_id] = promised.sent
        promised.sent, promised.cart = None, {}
        self.did["orders"] += 1

    def look_at_order(self, order_id: str) -> None:
        page = self.browser.get(f"/orders/{order_id}", shows=order_id)
        if {*DEAL.findall(page)} != self.promised.orders[order_id].keys():
            raise Unexpected(f"the page of order {order_id} shows other items than were ordered")
        self.browser.get("/cart", shows="Your cart is empty")

    # The rest

    def read_messages(self) -> None:
        page = self.browser.get("/inbox", shows="<h1>Inbox</h1>")
        if 'action="/inbox/read"' in page:
            self.browser.submit("/inbox", "/inbox/read", to="/inbox")
            self.did["messages marked as read"] += 1

    def like(self) -> None:
        """Turns a like on or off, with the button on the page."""
        if time.monotonic() < self.like_at:
            return
        self.like_at = time.monotonic() + SECONDS_BETWEEN_LIKES
        page = f"/categories/{category_key(self.chance.choice(CATEGORIES))}"
        deed = "unlike" if f'action="{page}/unlike"' in self.browser.get(page) else "like"
        self.browser.submit(page, f"{page}/{deed}", to=page)
        self.did["likes"] += 1

    def bring_a_friend(self) -> None:
        """Signs up a new user, who looks around and signs out for good."""
        browser, username = self.new_browser(), f"friend{next(numbers)}"
        self.sign_up(browser, username)
        browser.get(f"/deals/{self.chance.choice(self.deals)}", shows="Add to cart")
        browser.get("/orders", shows="<h1>")
        browser.submit("/me", "/log-out", to="/")
        browser.get("/", shows="Sign in")
        browser.close()


class Editor(Person):
    """The demo's editor, who posts deals of one brand and sends some of them to everybody."""

    def __init__(self, port: int, *, pause: float = 0.1) -> None:
        super().__init__(port, "editor")
        self.pause = pause
        self.posted: dict[str, str] = {}
        self.form: dict[str, str] = {}
        self.hot: list[str] = []
        self.uploaded: list[str] = []

    def arrive(self) -> None:
        who = next(
            demo_login for demo_login in demo_logins() if demo_login.login.startswith("editor")
        )
        self.browser.submit("/log-in", "/log-in", to="/", email=who.login, password=who.password)
        self.browser.submit("/editor/brands/new", "/editor/brands", to="/editor/", name=BRAND)

    def visit(self) -> None:
        deal = self.announce(hot_every=25)
        self.browser.get(f"/deals/{deal}", shows=self.posted[deal])
        if len(self.posted) % 3 == 0:
            self.change(deal)

    def announce(self, *, hot_every: int = 3) -> str:
        """Posts a deal, and sends some of them to everybody."""
        deal = self.post()
        if len(self.posted) % PICTURE_EVERY == 1:
            self.upload(deal)
        if len(self.posted) % hot_every == 1:
            self.tell_everybody(deal)
        return deal

    def upload(self, deal: str) -> None:
        """Uploads a picture of a deal; it is shown once the worker has processed it."""
        page = f"/editor/deals/{deal}"
        fields = {**self.browser.form(page, page), "description": "It boils water."}
        body = pictures.multipart(fields, pictures.draw_photo(len(self.posted)))
        kind = {"Content-Type": f"multipart/form-data; boundary={pictures.BOUNDARY}"}
        self.browser.ask("POST", f"{page}/picture", body, kind, expect=303)
        self.uploaded.append(deal)
        self.did["pictures uploaded"] += 1

    def post(self) -> str:
        """Posts a deal by a form that is sent twice; returns the id of the one deal it creates."""
        if not self.form:
            made = self.browser.form("/editor/deals/new", "/editor/deals")
            self.form = {**made, **self.facts(), "brand_name": BRAND, "category_name": CATEGORY}
        first, second = (
            self.browser.post("/editor/deals", self.form, to="/editor/deals/") for _ in range(2)
        )
        if first != second:
            raise Unexpected(f"one form made two deals, {first} and {second}")
        deal = first.removeprefix("/editor/deals/").partition("?")[0]
        self.posted[deal] = self.form["title"]
        self.form = {}
        self.did["deals posted"] += 1
        return deal

    def facts(self) -> dict[str, str]:
        number = len(self.posted) + 1
        return {
            "title": f"Kettle number {number}",
            "price": f"{number % 90 + 5}.99",
            "link": f"https://shop.example/kettle/{number}",
            "description": "It boils water.",
        }

    def change(self, deal: str) -> None:
        page = f"/editor/deals/{deal}"
        self.browser.submit(page, page, to=page, price="4.50", description="It boils water now.")
        self.browser.get(f"/deals/{deal}", shows="$4.50")
        self.did["deals changed"] += 1

    def tell_everybody(self, deal: str) -> None:
        page = f"/editor/deals/{deal}/hot"
        self.browser.submit(page, page, to=page)
        self.hot.append(deal)
        self.did["hot deals"] += 1


class Program(Shopper):
    """An API client that reads and buys, and repeats requests under the same idempotency key."""

    pause = 0.02

    def arrive(self) -> None:
        super().arrive()
        login = {"email": f"{self.name}@example.com", "password": PASSWORD}
        self.browser.token = self.browser.call("POST", "/sessions", login, expect=201)["token"]
        self.browser.cookies.clear()
        self.key = ""

    def visit(self) -> None:
        self.read()
        if self.chance.random() < 0.3:
            self.buy()
        self.read_messages()
        self.like()

    def read(self) -> None:
        deal = self.chance.choice(self.deals)
        if self.browser.call("GET", f"/deals/{deal}")["dealId"] != deal:
            raise Unexpected(f"another deal than {deal} was shown")
        for path in ("/front-page", "/brands", f"/categories/{category_key(CATEGORY)}", "/me/user"):
            self.browser.call("GET", path)
            self.did["API reads"] += 1

    def buy(self) -> None:
        if self.promised.sent is None:
            self.fill_cart()
            mark = self.browser.call("GET", "/me/cart")["mark"]
            self.key = f"order-{next(numbers)}"
            self.form = {"mark": mark}
            self.promised.sent = dict(self.promised.cart)
        order_id = self.send_order(self.browser)
        self.note_order(order_id)
        if self.send_order(self.browser) != order_id:
            raise Unexpected(f"order {order_id}, asked for again under its key, made another")
        self.did["checkouts sent again"] += 1
        self.look_at_order(order_id)

    def put(self, deal: str) -> None:
        """Adds a deal to the cart once, although the request is sent twice."""
        key = f"product-{next(numbers)}"
        for _ in range(2):
            body = {"dealId": deal, "count": 1}
            self.browser.call("POST", "/me/cart/products", body, expect=201, key=key)

    def send_order(self, browser: Browser) -> str:
        to = {**HOME, "postalCode": HOME["postal_code"]}
        del to["postal_code"]
        body = {**self.form, "shipTo": to}
        made = browser.call("POST", "/me/orders", body, expect=201, key=self.key)
        return str(made["orderId"])

    def send_again(self, browser: Browser) -> str:
        """A request that died keeps its key in use for a while: the site then says to try again."""
        until = time.monotonic() + SECONDS_HELD
        while True:
            try:
                return self.send_order(browser)
            except Unexpected as error:
                if error.status != HTTPStatus.CONFLICT or time.monotonic() > until:
                    raise

    def look_at_order(self, order_id: str) -> None:
        items = self.browser.call("GET", f"/me/orders/{order_id}/items")["items"]
        if {item["itemId"]: item["count"] for item in items} != self.promised.orders[order_id]:
            raise Unexpected(f"order {order_id} has other items than were ordered")
        if self.browser.call("GET", "/me/cart")["lines"]:
            raise Unexpected(f"the cart is not empty after order {order_id}")

    def read_messages(self) -> None:
        unread = self.browser.call("GET", "/me/messages/unread")["items"]
        if unread:
            ids = [each["messageId"] for each in unread]
            self.browser.call("POST", "/me/messages/read", {"messageIds": ids}, expect=204)
            self.did["messages marked as read"] += len(ids)

    def like(self) -> None:
        if time.monotonic() >= self.like_at:
            self.like_at = time.monotonic() + SECONDS_BETWEEN_LIKES
            path = f"/me/categories/{category_key(self.chance.choice(CATEGORIES))}/like"
            method = self.chance.choice(["PUT", "DELETE"])
            self.browser.call(method, path, expect=204)
            self.did["likes"] += 1
