"""A site on an engine in memory, and somebody who looks at it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from jinja2 import Environment
from starlette.testclient import TestClient

from bigtime.engine import Engine
from bigtime.model import Ksuid, load_many
from bigtime.systems.accounts import password
from bigtime.systems.accounts.design import Role
from bigtime.systems.deals.deals import create_deal
from bigtime.systems.deals.design import Deal
from bigtime.web.app import LIMITS
from tests.web.browsing import Browser, Web, make_web, site_engine

PostDeal: TypeAlias = Callable[..., Deal]

COMPILED: dict[tuple[Any, ...], Any] = {}


# Of a module, not of the session: tests of something else may come after these.
@pytest.fixture(scope="module", autouse=True)
def templates_compiled_once() -> Iterator[None]:
    """Nearly every test makes a site, and each site would compile the same templates again."""
    compile_template = Environment.compile

    def compile_once(self: Environment, source: Any, name: Any = None, file: Any = None) -> Any:
        key = (type(self), source, name, file)
        if file is None:
            return compile_template(self, source, name)
        if key not in COMPILED:
            COMPILED[key] = compile_template(self, source, name, file)
        return COMPILED[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Environment, "compile", compile_once)
        yield


@pytest.fixture(scope="module", autouse=True)
def passwords_hashed_quickly() -> Iterator[None]:
    """Nearly every test makes an account; what a real hash costs is for tests of the accounts."""
    cheap = password.Cost(memory_kib=8, passes=1)
    nobody = re.sub(r"\$m=\d+,t=\d+,", "$m=8,t=1,", password.NOBODY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(password, "CURRENT", cheap)
        patch.setattr(password.hash_password, "__defaults__", (cheap,))
        patch.setattr(password, "NOBODY", nobody)
        yield


@pytest.fixture
def engine() -> Iterator[Engine]:
    """An engine of this test's own, with the tables and the data that every site needs."""
    with site_engine() as engine:
        yield engine


@pytest.fixture
def web(engine: Engine, tmp_path: Path) -> Iterator[Web]:
    """The site, its caches following the data."""
    front, store = make_web(engine, tmp_path)
    with TestClient(front, follow_redirects=False) as served:
        yield Web(front, served.app.application.state.context, store, served)  # type: ignore[attr-defined]


@pytest.fixture
def limited_web(engine: Engine, tmp_path: Path) -> Iterator[Web]:
    """The site with the limits that it has in production."""
    front, store = make_web(engine, tmp_path, limits=LIMITS)
    with TestClient(front, follow_redirects=False) as served:
        yield Web(front, served.app.application.state.context, store, served)  # type: ignore[attr-defined]


@pytest.fixture
def visitor(web: Web) -> Browser:
    """Somebody who is not signed in."""
    return web.browser()


@pytest.fixture
def alex(web: Web) -> Browser:
    """A shopper who is signed in."""
    return web.signed_in("alex")


@pytest.fixture
def erin(web: Web) -> Browser:
    """An editor who is signed in."""
    return web.signed_in("erin", Role.EDITOR)


@pytest.fixture
def ada(web: Web) -> Browser:
    """An admin who is signed in."""
    return web.signed_in("ada", Role.ADMIN)


@pytest.fixture
def post_deal(web: Web) -> PostDeal:
    """Posts a deal as an editor does, in what it is told differently."""

    def post(title: str = "A lamp", **told: Any) -> Deal:
        facts: dict[str, Any] = {
            "link": "https://shop.example/lamp",
            "price": Decimal("19.99"),
            "brand_name": "Apple",
            "category_name": "Home",
        }
        made: Deal = web.run(create_deal(title, **{**facts, **told}))
        return made

    return post


@pytest.fixture
def old_deals(web: Web) -> Callable[[int], list[Deal]]:
    """Loads so many deals of the past hours, newest first."""

    def load(count: int) -> list[Deal]:
        now = datetime.now(UTC).replace(microsecond=0)
        deals = [
            old_deal(now - timedelta(minutes=5 * (number + 1)), number) for number in range(count)
        ]
        web.run(load_many(deals))
        return deals

    return load


def old_deal(at: datetime, number: int) -> Deal:
    return Deal(
        deal_id=Ksuid.make(at, sha256(f"{number}".encode()).digest()[:16]),
        title=f"Lamp {number}",
        link="https://shop.example/lamp",
        price=Decimal("19.99"),
        list_price=Decimal("29.99"),
        brand="APPLE",
        brand_name="Apple",
        category="HOME",
        category_name="Home",
    )
