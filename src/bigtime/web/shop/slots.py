"""The personal slots of pages: the header, buttons to buy and save a deal, likes and watches."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from bigtime import site
from bigtime.model import together
from bigtime.site import Visitor
from bigtime.systems import accounts, cart, deals
from bigtime.web.http import FormTokens
from bigtime.web.pages import Slot, Templates, Words
from bigtime.wire import Steps

MOST_BUTTONS = 5_000
MOST_FORM_TOKENS = 20_000
"""For signed-in visitors. Signing a token takes longer than everything else in a page's slots."""
TOKEN = "{form token}"
"""The placeholder for the form token in a rendered button; no deal id contains a brace."""


def personal_slots(templates: Templates, tokens: FormTokens) -> dict[str, Slot]:
    """The slots by the names that templates give them."""

    token_for = lru_cache(maxsize=MOST_FORM_TOKENS)(tokens.token)

    def token_of(visitor: Visitor | None) -> str:
        return token_for(visitor.cookie) if visitor else ""

    def insert_token(button: str, visitor: Visitor | None) -> bytes:
        return button.replace(TOKEN, token_of(visitor)).encode()

    def header(visitor: Visitor | None, words: Words, counts: Any) -> bytes:
        unread, in_cart = counts or (0, 0)
        return templates.bytes(
            "header.html",
            visitor=visitor,
            unread=unread,
            in_cart=in_cart,
            token=token_of(visitor),
            is_editor=visitor is not None and visitor.has(accounts.Role.EDITOR),
            is_admin=visitor is not None and visitor.has(accounts.Role.ADMIN),
        )

    @lru_cache(maxsize=MOST_BUTTONS)
    def buy_button(deal_id: str, is_signed_in: bool, is_editor: bool, *, is_expired: bool) -> str:
        return templates.text(
            "buy.html",
            visitor=is_signed_in,
            is_editor=is_editor,
            is_expired=is_expired,
            deal_id=deal_id,
            token=TOKEN,
        )

    def buy(visitor: Visitor | None, words: Words, fact: object) -> bytes:
        # Rendered once for all visitors: their buttons only differ in the token.
        is_editor = visitor is not None and visitor.has(accounts.Role.EDITOR)
        is_expired = "expired" in words[1:]
        button = buy_button(words[0], visitor is not None, is_editor, is_expired=is_expired)
        return insert_token(button, visitor)

    @lru_cache(maxsize=MOST_BUTTONS)
    def save_button(deal_id: str, is_signed_in: bool, is_saved: bool) -> str:
        return templates.text(
            "save.html", visitor=is_signed_in, is_saved=is_saved, deal_id=deal_id, token=TOKEN
        )

    def save(visitor: Visitor | None, words: Words, saved: Any) -> bytes:
        button = save_button(words[0], visitor is not None, words[0] in (saved or ()))
        return insert_token(button, visitor)

    def interest(visitor: Visitor | None, words: Words, fact: object) -> bytes:
        kind, name = words[0], " ".join(words[1:])
        return templates.bytes(
            "shopper/interest.html",
            visitor=visitor,
            folder=FOLDERS[kind],
            name=name,
            interest=fact,
            is_editor=kind == "brand" and visitor is not None and visitor.has(accounts.Role.EDITOR),
            token=token_of(visitor),
        )

    return {
        "header": Slot(
            header,
            unread_and_in_cart,
            lambda visitor: (site.inbox_tag(visitor.username), site.cart_tag(visitor.username)),
        ),
        "buy": Slot(buy),
        "save": Slot(
            save,
            lambda visitor, words: deals.fetch_saved_deals(visitor.username),
            lambda visitor: (site.saved_tag(visitor.username),),
            is_common=True,
        ),
        "interest": Slot(
            interest, interest_of, lambda visitor: (site.interests_tag(visitor.username),)
        ),
    }


FOLDERS = {"brand": "/brands", "category": "/categories"}


def unread_and_in_cart(visitor: Visitor, words: Words) -> Steps[tuple[int, int]]:
    return together(
        deals.count_unread_messages(visitor.username),
        cart.count_products(visitor.username, cart.Status.ACTIVE),
    )


def interest_of(visitor: Visitor, words: Words) -> Steps[deals.Interest]:
    kind, name = words[0], " ".join(words[1:])
    fetch = deals.fetch_brand_interest if kind == "brand" else deals.fetch_category_interest
    return fetch(name, visitor.username)
