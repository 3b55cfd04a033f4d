"""Who may do what: every route of `/api/v1` against every role."""

from __future__ import annotations

import re

from bigtime.systems.accounts.design import Role
from bigtime.web.api import V1
from tests.web.api_v1.calling import again, caller, nobody, problem
from tests.web.browsing import Web

TABLE = """
everybody GET    /front-page
everybody GET    /editors-choice
everybody GET    /deals
everybody GET    /deals/{dealId}
everybody GET    /brands
everybody GET    /brands/{brandName}
everybody GET    /brands/{brandName}/deals
everybody GET    /categories
everybody GET    /categories/{categoryName}
editor    POST   /deals
editor    PUT    /deals/{dealId}
editor    PATCH  /deals/{dealId}
editor    POST   /brands
editor    PATCH  /brands/{brandName}
editor    PUT    /categories
editor    PUT    /front-page/featured-deals
editor    PUT    /editors-choice/featured-deals
editor    PUT    /categories/{categoryName}/featured-deals
editor    POST   /categories/{categoryName}/featured-deals/refresh
editor    POST   /pages/{pageName}/refresh
editor    POST   /front-page/copies
editor    GET    /deals/{dealId}/hot-message
editor    POST   /deals/{dealId}/hot-message
editor    POST   /deals/{dealId}/hot-message/test
editor    POST   /deals/{dealId}/unpublish
editor    POST   /deals/{dealId}/publish
editor    POST   /deals/{dealId}/brand-message
editor    POST   /deals/{dealId}/category-message
signed-in GET    /me/user
signed-in POST   /me/user
signed-in PATCH  /me/user
signed-in GET    /me/brands
signed-in GET    /me/brands/{brandName}
signed-in PUT    /me/brands/{brandName}/like
signed-in DELETE /me/brands/{brandName}/like
signed-in PUT    /me/brands/{brandName}/watch
signed-in DELETE /me/brands/{brandName}/watch
signed-in GET    /me/categories
signed-in GET    /me/categories/{categoryName}
signed-in PUT    /me/categories/{categoryName}/like
signed-in DELETE /me/categories/{categoryName}/like
signed-in PUT    /me/categories/{categoryName}/watch
signed-in DELETE /me/categories/{categoryName}/watch
signed-in GET    /me/saved-deals
signed-in PUT    /me/saved-deals/{dealId}
signed-in DELETE /me/saved-deals/{dealId}
signed-in GET    /me/messages
signed-in GET    /me/messages/unread
signed-in GET    /me/messages/unread/count
signed-in GET    /me/messages/{messageId}
signed-in PUT    /me/messages/{messageId}/read
signed-in POST   /me/messages/read
everybody GET    /catalog/deals/{dealId}
everybody GET    /catalog/brands/{brandId}
everybody GET    /catalog/brands/{brandId}/deals
everybody GET    /catalog/brands/{brandId}/recent-deals
everybody GET    /catalog/brands/{brandId}/high-discounts
everybody GET    /catalog/categories/{categoryId}/deals
everybody GET    /catalog/categories/{categoryId}/trending
everybody GET    /catalog/categories/{categoryId}/trending/{dealId}
everybody GET    /catalog/categories/{categoryId}/highly-engaged
editor    POST   /catalog/deals
editor    PUT    /catalog/deals/{dealId}
editor    PATCH  /catalog/deals/{dealId}
editor    PUT    /catalog/deals/{dealId}/status
editor    POST   /catalog/deals/{dealId}/expiry
editor    POST   /catalog/deals/{dealId}/trending
editor    POST   /catalog/brands
editor    PUT    /catalog/brands/{brandId}
editor    PATCH  /catalog/brands/{brandId}
staff     GET    /catalog/brands/{brandId}/watchers
staff     GET    /catalog/categories/{categoryId}/watchers
staff     GET    /catalog/watches
editor    POST   /catalog/categories/{categoryId}/trending/{dealId}/engagement
editor    DELETE /catalog/categories/{categoryId}/trending/{dealId}
signed-in GET    /me/catalog/user
signed-in POST   /me/catalog/user
signed-in PUT    /me/catalog/user
signed-in PATCH  /me/catalog/user
signed-in GET    /me/catalog/watches
signed-in PUT    /me/catalog/watches/brands/{brandId}
signed-in PUT    /me/catalog/watches/categories/{categoryId}
signed-in PUT    /me/catalog/watches/brands/{brandId}/categories/{categoryId}
signed-in DELETE /me/catalog/watches/{watchKey}
signed-in GET    /me/catalog/activities
signed-in GET    /me/catalog/activities/since
signed-in POST   /me/catalog/activities
signed-in GET    /me/catalog/notifications
signed-in GET    /me/cart
signed-in POST   /me/cart/products
signed-in PUT    /me/cart/products/{itemSku}/count
signed-in PUT    /me/cart/products/{itemSku}/price
signed-in GET    /me/cart/lines
signed-in POST   /me/cart/lines/undo
signed-in PUT    /me/cart/lines/{sk}/status
signed-in DELETE /me/cart/lines/{sk}
signed-in POST   /me/purchases/completion
signed-in GET    /me/purchases/{orderId}
admin     GET    /skus/{itemSku}/carts
admin     GET    /skus/{itemSku}/carts-of-day
signed-in GET    /me/customer
signed-in POST   /me/customer
signed-in PUT    /me/addresses/{addressName}
signed-in DELETE /me/addresses/{addressName}
signed-in POST   /me/orders
signed-in GET    /me/orders/{orderId}
signed-in GET    /me/orders/{orderId}/items
signed-in PUT    /me/orders/{orderId}/status
admin     PUT    /customers/{customer}/orders/{orderId}/status
everybody POST   /sessions
signed-in GET    /me/session
signed-in DELETE /me/session
signed-in GET    /me/sessions
signed-in DELETE /me/sessions
signed-in DELETE /me/sessions/{sessionId}
"""
ROWS = [(may, method, path) for may, method, path in map(str.split, TABLE.split("\n")[1:-1])]
MAY: dict[str, set[str]] = {
    "everybody": {"nobody", "shopper", "editor", "admin"},
    "signed-in": {"shopper", "editor", "admin"},
    "editor": {"editor"},
    "admin": {"admin"},
    "staff": {"editor", "admin"},
}
ROLES: dict[str, tuple[Role, ...]] = {
    "shopper": (),
    "editor": (Role.EDITOR,),
    "admin": (Role.ADMIN,),
}


def name_in(path: str) -> str:
    return re.sub(r"{\w+}", "x", path)


def test_the_table_has_every_route_and_no_other() -> None:
    routes = {
        (method, re.sub(":path", "", route.path).removeprefix("/api/v1"))  # type: ignore[attr-defined]
        for router in V1
        for route in router.routes
        for method in route.methods  # type: ignore[attr-defined]
    }
    assert {(method, path) for _, method, path in ROWS} == routes
    assert len(ROWS) == len(routes) == 115


def test_who_is_not_signed_in_may_only_what_everybody_may(web: Web) -> None:
    for may, method, path in ROWS:
        answer = nobody(web).ask(method, name_in(path))
        if may == "everybody":
            assert answer.status_code not in (401, 403), (method, path)
        else:
            assert problem(answer) == (401, "not-signed-in"), (method, path)


def test_a_token_that_is_nobodys_is_refused_where_somebody_is_wanted(web: Web) -> None:
    stranger = nobody(web)
    stranger.token = "made-up"
    for may, method, path in ROWS:
        if may != "everybody":
            assert problem(stranger.ask(method, name_in(path))) == (401, "not-signed-in")


def test_each_role_may_what_the_table_says(web: Web) -> None:
    for role, roles in ROLES.items():
        caller(web, role, *roles)
        for may, method, path in ROWS:
            answer = again(web, role).ask(method, name_in(path))
            if role in MAY[may]:
                assert answer.status_code not in (401, 403), (role, method, path, answer.text)
            else:
                assert problem(answer) == (403, "not-allowed"), (role, method, path)


def test_a_cookie_alone_changes_nothing(web: Web) -> None:
    """A browser sends it along with whatever a page elsewhere makes it send."""
    browser = web.signed_in("robin", Role.EDITOR, Role.ADMIN)
    for may, method, path in ROWS:
        answer = browser.request(method, "/api/v1" + name_in(path))
        if may == "everybody" or method == "GET":
            assert answer.status_code not in (401, 403), (method, path)
        else:
            assert problem(answer) == (403, "no-form-token"), (method, path)


def test_a_cookie_with_its_form_token_may_change_things(web: Web) -> None:
    browser = web.signed_in("robin")
    headers = {"x-form-token": browser.token()}
    answer = browser.put("/api/v1/me/brands/APPLE/like", headers=headers)
    assert answer.status_code == 204
