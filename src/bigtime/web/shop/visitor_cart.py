"""Where a visitor's cart is: in the table or, for a visitor who is not signed in, in a cookie.

The same pages show and change both. A change of the cookie is in the headers of its response.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from fastapi import Response

from bigtime import site
from bigtime.model import Page, Position
from bigtime.site import CartAddition, GuestCart, PricedCart, Visitor
from bigtime.systems import cart
from bigtime.systems.deals import deal_id_of, fetch_deal
from bigtime.web.http import Header, see_other
from bigtime.web.pages import AppContext, AppRequest


class AccountCart:
    """The cart of a visitor who is signed in."""

    is_guest = False

    def __init__(self, context: AppContext, visitor: Visitor) -> None:
        self.context = context
        self.account_id = visitor.username

    async def view(self, after: Position | None) -> PricedCart:
        steps = site.all_lines(self.account_id, after=after)
        active, saved = await self.context.store.run(steps)
        skus = [line.item_sku for line in (*active, *saved)]
        deals = await self.context.deals.by_ids(skus, unpublished=True)
        return site.price_cart(active, saved, deals)

    async def add(self, addition: CartAddition) -> None:
        """Adds a deal, at its current price."""
        context = self.context
        steps = site.put_deal_in_cart(self.account_id, addition.deal_id, addition.count)
        line = await context.store.run(steps)
        deals = await context.deals.by_ids([line.item_sku])
        if deals and deals[0].price != line.price:  # the follower has not seen its change yet
            context.cache.invalidate({site.deal_tag(line.item_sku)})

    async def set_counts(self, counts: Mapping[str, int]) -> None:
        await self.context.store.run(site.set_counts(self.account_id, counts))

    async def remove(self, sk: str) -> cart.CartLine:
        return await self.context.store.run(cart.remove_line(self.account_id, sk))

    async def put_back(self, line: cart.CartLine) -> None:
        await self.context.store.run(cart.put_back(line))

    def redirect(self, target: str) -> Response:
        return see_other(target)

    def clearing_headers(self, request: AppRequest) -> list[Header]:
        """None: the cart is in the table, not in a cookie."""
        return []


class BrowserCart:
    """The cart of a visitor who is not signed in, in the cookie of their browser."""

    is_guest = True

    def __init__(self, context: AppContext, guest: GuestCart) -> None:
        self.context = context
        self.guest = guest

    @property
    def account_id(self) -> str:
        return self.guest.account_id

    async def view(self, after: Position | None) -> PricedCart:
        skus = [line.item_sku for line in self.guest.lines]
        deals = await self.context.deals.by_ids(skus, unpublished=True)
        return site.price_cart(self.guest.lines, Page([]), deals)

    async def add(self, addition: CartAddition) -> None:
        deal = await self.context.store.run(fetch_deal(deal_id_of(addition.deal_id)))
        self.guest = self.guest.add_deal(deal, addition.count)

    async def set_counts(self, counts: Mapping[str, int]) -> None:
        self.guest = self.guest.set_counts(counts)

    async def remove(self, sk: str) -> cart.CartLine:
        line = self.guest.find(sk)
        self.guest = self.guest.remove(line)
        return line

    async def put_back(self, line: cart.CartLine) -> None:
        self.guest = self.guest.add_line(line)

    def redirect(self, target: str) -> Response:
        response = see_other(target)
        response.raw_headers.append(self.context.guest_carts.set_header(self.guest))
        return response

    def clearing_headers(self, request: AppRequest) -> list[Header]:
        """Clears a cookie that is not a valid cart."""
        carts, sent = self.context.guest_carts, request.scope["headers"]
        is_bad = carts.is_sent(sent) and carts.read(sent) is None
        return [carts.clear_header()] if is_bad else []


AnyCart: TypeAlias = AccountCart | BrowserCart


async def cart_of(request: AppRequest) -> AnyCart:
    """The signed-in visitor's cart, or else the browser's."""
    visitor = await request.visitor()
    if visitor is not None:
        return AccountCart(request.context, visitor)
    carts = request.context.guest_carts
    return BrowserCart(request.context, carts.read(request.scope["headers"]) or carts.new())
