"""An API with something in it, and those who attack it, each with something of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from starlette.testclient import TestClient

from bigtime.model import Ksuid, load_many
from bigtime.systems.accounts.design import Role
from bigtime.systems.catalog.deals import put_brand, put_deal
from bigtime.systems.catalog.design import Brand
from bigtime.systems.catalog.design import Deal as CatalogDeal
from bigtime.systems.catalog.errors import AlreadyTrending, NotTrending
from bigtime.systems.catalog.trending import start_trending, stop_trending
from bigtime.systems.deals.design import Deal, Message, MessageKind
from bigtime.systems.sessions.design import hash_token
from bigtime.web.api.deals import DEAL_ID
from bigtime.web.http.limits import Limit
from tests.web.api.attacking import Party
from tests.web.api_v1.calling import Caller, again, caller, nobody
from tests.web.browsing import PLENTY, Web, make_web, site_engine

NOW: Final = datetime.now(UTC).replace(microsecond=0)
ENDING: Final = "/me/session"
"""Who asks for such a path may lose their session."""
HOME: Final = {
    "recipient": "Sam Doe",
    "street": "1 Main Street",
    "city": "Omaha",
    "postalCode": "68102",
    "country": "USA",
}
CATALOG_DEAL: Final[dict[str, Any]] = {
    "deal_id": "deal-1",
    "title": "Headphones",
    "description": "They keep the noise out.",
    "price": Decimal("149.99"),
    "brand_id": "brand-1",
    "brand_name": "Sony",
    "category_id": "electronics",
    "category_name": "Electronics",
    "status": "active",
}
OF_ALL: Final = {
    "dealId": DEAL_ID,
    "brandName": "Apple",
    "categoryName": "Home",
    "brandId": "brand-1",
    "categoryId": "electronics",
    "itemSku": DEAL_ID,
    "pageName": "FRONTPAGE",
    "addressName": "home",
    "watchKey": "BRAND#brand-1",
}


@contextmanager
def attacked_scene(data: Path, limits: dict[str, Limit]) -> Iterator[tuple[Web, list[Party]]]:
    with site_engine() as engine:
        front, store = make_web(engine, data, limits=limits)
        with TestClient(front) as served:
            site = served.app.application.state.context  # type: ignore[attr-defined]
            web = Web(front, site, store, served)
            with without_limits(web):
                made = [*parties(web)]
            yield web, made


@contextmanager
def without_limits(web: Web) -> Iterator[None]:
    """Lets what is prepared count for nothing."""
    limits = web.site.limits.limits
    web.site.limits.limits = PLENTY
    try:
        yield
    finally:
        web.site.limits.limits = limits


def parties(web: Web) -> Iterator[Party]:
    """Nobody, and one of each role; there is a deal here and one in the catalogue."""
    web.run(load_many([deal()]))
    web.join("alex")  # who is in the example of a login
    yield Party("nobody", nobody(web).browser, lambda path: None, lambda path: OF_ALL)
    for name, roles in {"shopper": (), "editor": (Role.EDITOR,), "admin": (Role.ADMIN,)}.items():
        yield party(web, caller(web, name, *roles))
    shopper = Caller(web.browser(), "shopper", web.api_token("shopper@example.com"))
    yield Party("token", shopper.browser, lambda path: shopper.token, lambda path: OF_ALL)


def deal() -> Deal:
    """The one that the examples are about."""
    return Deal(
        deal_id=Ksuid(DEAL_ID),
        title="A lamp",
        link="https://shop.example/lamp",
        price=Decimal("19.99"),
        brand="APPLE",
        brand_name="Apple",
        category="HOME",
        category_name="Home",
    )


def party(web: Web, one: Caller) -> Party:
    own = {**OF_ALL, "orderId": new_order(one), "messageId": new_message(web, one)}
    one.put("/me/catalog/watches/brands/brand-1")

    def token(path: str) -> str:
        return again(web, one.username).token if ENDING in path else one.token

    def path_values(path: str) -> dict[str, str]:
        with without_limits(web):
            return {**own, **there_at(web, one, path)}

    return Party(one.username, one.browser, token, path_values)


def there_at(web: Web, one: Caller, path: str) -> dict[str, str]:
    """What those before may have taken away, made anew."""
    if "/catalog/" in path:
        in_catalog(web, is_trending="/trending/{dealId}" in path)
        return {"dealId": "deal-1"}
    if "{sk}" in path:
        return {"sk": one.post("/me/cart/products", {"dealId": DEAL_ID}).json()["sk"]}
    if "{sessionId}" in path:
        return {"sessionId": hash_token(again(web, one.username).token)}
    if "{customer}" in path:
        return {"customer": one.username, "orderId": new_order(one)}
    return {}


def in_catalog(web: Web, *, is_trending: bool) -> None:
    """A brand and a deal, which trends or does not."""
    deal = CatalogDeal(**CATALOG_DEAL, posted_at=NOW)
    web.run(put_brand(Brand(brand_id=deal.brand_id, brand_name="Sony", created_at=NOW)))
    web.run(put_deal(deal))
    with suppress(AlreadyTrending, NotTrending):
        if is_trending:
            web.run(start_trending(deal.deal_id, Decimal(50)))
        else:
            web.run(stop_trending(deal.category_id, deal.deal_id))


def new_order(one: Caller) -> str:
    """A new order of somebody, who has an address and something in the cart."""
    one.put("/me/addresses/home", HOME)
    one.post("/me/cart/products", {"dealId": DEAL_ID})
    mark = one.get("/me/cart").json()["mark"]
    made: str = one.post("/me/orders", {"mark": mark, "addressName": "home"}).json()["orderId"]
    one.post("/me/cart/products", {"dealId": DEAL_ID})
    return made


def new_message(web: Web, one: Caller) -> str:
    """A message of somebody."""
    message_id = Ksuid.make(NOW, bytes(16))
    message = Message(
        username=one.username,
        message_id=message_id,
        kind=MessageKind.HOT,
        deal_id=Ksuid(DEAL_ID),
        subject="A lamp",
    )
    web.run(load_many([message]))
    return message_id
