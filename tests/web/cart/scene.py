"""A small site in this process: a few deals, and browsers of those who look at them."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from decimal import Decimal
from hashlib import sha256
from typing import Any, TypeVar

import httpx
from pydantic import SecretStr

from bigtime.engine import Engine
from bigtime.model import Ksuid, create, load_many, setup
from bigtime.site.systems import SYSTEMS
from bigtime.store import AsyncStore, Store
from bigtime.store.driver import Exchange, Runnable
from bigtime.systems.accounts.design import Account, Role
from bigtime.systems.accounts.password import NOBODY
from bigtime.systems.cart.design import CartLine, Status
from bigtime.systems.cart.line import put_in_cart, view_products
from bigtime.systems.deals.brands import create_categories
from bigtime.systems.deals.design import Brand, Deal
from bigtime.systems.deals.users import create_user
from bigtime.systems.sessions.design import hash_token
from bigtime.systems.sessions.session import create_session
from bigtime.web.app import make_app
from bigtime.web.http.settings import Settings
from bigtime.web.pages.app_context import AppContext
from bigtime.web.pages.page_cache import CacheFollower
from tests.furnished import furnished_engine
from tests.store.places import START, Time
from tests.web.cart.page_forms import PageForm, form_of

T = TypeVar("T")

SECRET = "of the tests, and longer than 32 characters"
PRICE = Decimal("19.99")


def deal(number: int = 0, **told: Any) -> Deal:
    """A deal by its number."""
    facts: dict[str, Any] = {
        "deal_id": Ksuid.make(START, sha256(f"deal {number}".encode()).digest()[:16]),
        "title": f"Lamp {number}",
        "link": f"https://shop.example/lamps/{number}",
        "price": PRICE,
        "brand": "APPLE",
        "brand_name": "Apple",
        "category": "HOME",
        "category_name": "Home",
    }
    return Deal(**{**facts, **told})


class Scene:
    """A site over an engine, and whoever uses it."""

    def __init__(self, engine: Engine, time: Time, runner: asyncio.Runner) -> None:
        self.engine = engine
        self.time = time
        self.runner = runner
        self.exchanges: list[Exchange] = []
        self.store = AsyncStore(engine, clock=time.clock, hooks=[self.exchanges.append])
        settings = Settings(secret=SecretStr(SECRET), public_url="http://site.example")
        self.front = make_app(settings, self.store, version=engine.version)
        self.site: AppContext = self.front.application.state.context  # type: ignore[attr-defined]
        self.follower = CacheFollower(self.site.store, self.site.cache, version=engine.version)

    def wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(coroutine)

    def run(self, steps: Runnable[T]) -> T:
        return self.wait(self.store.run(steps))

    def catch_up(self) -> None:
        """Lets the site hear what has changed since the last time, as it soon does by itself."""
        self.wait(self.follower.catch_up())

    def take_operations(self) -> list[str]:
        """The operations since the last time that somebody wanted to know."""
        told = [exchange.request.operation for exchange in self.exchanges]
        self.exchanges.clear()
        return told

    def browser(self, username: str | None = None, *roles: Role) -> Browser:
        """That of a user who has signed in, or of nobody."""
        if username is None:
            return Browser(self, None)
        login, token = f"{username}@example.com", sha256(username.encode()).hexdigest()
        account = Account(
            login=login,
            password_hash=NOBODY,
            username=username,
            roles={Role.SHOPPER, *roles},
            confirmed_at=START,
        )
        self.run(create(account))
        self.run(create_user(username, name=username.title(), email=login))
        self.run(create_session(hash_token(token), login))
        return Browser(self, token)

    def post(self, *deals: Deal) -> None:
        self.run(load_many(deals))

    def fill(self, username: str, number: int) -> None:
        """So many products in somebody's cart."""
        deals = [deal(each) for each in range(number)]
        self.post(*deals)
        for each in deals:
            self.run(put_in_cart(username, each.deal_id, each.price))

    def lines(self, username: str, status: Status = Status.ACTIVE) -> list[CartLine]:
        return list(self.run(view_products(username, status, limit=1_000)))


class Browser:
    """Asks for pages and sends their forms, with the cookie of a session."""

    def __init__(self, scene: Scene, cookie: str | None) -> None:
        self.scene = scene
        self.cookie = cookie
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=scene.front),
            base_url="http://testserver",
            cookies={"session": cookie} if cookie else {},
        )

    def get(self, path: str) -> httpx.Response:
        return self.scene.wait(self.client.get(path))

    def send(self, path: str, **fields: str) -> httpx.Response:
        """A form with these fields, and with the token that the site's own pages have."""
        return self.scene.wait(self.sending(path, **fields))

    async def sending(self, path: str, **fields: str) -> httpx.Response:
        token = self.scene.site.form_tokens.token(self.cookie or "")
        return await self.client.post(path, data={"form_token": token, **fields})

    def submit(self, page: httpx.Response, action: str, **typed: str) -> httpx.Response:
        """A form of a page, with something typed into it."""
        return self.submit_form(form_of(page.text, action), **typed)

    def submit_form(self, form: PageForm, **typed: str) -> httpx.Response:
        assert form.method == "post"
        return self.scene.wait(self.client.post(form.action, data={**form.fields, **typed}))

    def follow(self, response: httpx.Response) -> httpx.Response:
        assert response.status_code == 303, response.text
        return self.get(response.headers["location"])


@contextmanager
def scene() -> Iterator[Scene]:
    time = Time()
    settings: dict[str, Any] = {"clock": time.seconds, "shard_seconds": 3600.0}
    with (
        furnished_engine(furnish_scene, housekeeping=False, **settings) as engine,
        asyncio.Runner() as runner,
    ):
        yield Scene(engine, time, runner)


def furnish_scene(engine: Engine) -> None:
    store = Store(engine, clock=Time().clock)
    store.run(setup(*SYSTEMS))
    store.run(create_categories())
    store.run(load_many([Brand(brand="APPLE", name="Apple", created_at=START)]))
