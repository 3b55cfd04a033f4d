"""What is personal on pages that everybody reads."""

from __future__ import annotations

from typing import Any

from bigtime.model import together
from bigtime.site import Visitor, cart_tag, inbox_tag, interests_tag
from bigtime.systems import accounts, cart, deals
from bigtime.web.http import FormTokens
from bigtime.web.pages import Slot, Templates, Words
from bigtime.wire import Steps


def personal_slots(templates: Templates, tokens: FormTokens) -> dict[str, Slot]:
    """How each is rendered, by the names that templates give them."""

    def token_of(visitor: Visitor | None) -> str:
        return tokens.token(visitor.cookie) if visitor else ""

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

    def buy(visitor: Visitor | None, words: Words, fact: Any) -> bytes:
        return templates.bytes(
            "buy.html", visitor=visitor, deal_id=words[0], token=token_of(visitor)
        )

    def interest(visitor: Visitor | None, words: Words, fact: Any) -> bytes:
        kind, name = words[0], " ".join(words[1:])
        return templates.bytes(
            "shopper/interest.html",
            visitor=visitor,
            folder=FOLDERS[kind],
            name=name,
            interest=fact,
            token=token_of(visitor),
        )

    return {
        "header": Slot(
            header,
            unread_and_in_cart,
            lambda visitor: (inbox_tag(visitor.username), cart_tag(visitor.username)),
        ),
        "buy": Slot(buy),
        "interest": Slot(interest, interest_of, lambda visitor: (interests_tag(visitor.username),)),
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
