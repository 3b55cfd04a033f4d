"""Deals, brands, categories, users and messages as the API has them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, WithJsonSchema

from bigtime.systems import deals
from bigtime.web.api.errors import TOLD
from bigtime.web.api.paging import Listed
from bigtime.web.api.shapes import UNSAID, Amount, Asked, Shown, example

DEAL_ID: Final = "3M8cT3vYiO0Op0N2BjBaiDdyiKk"
MESSAGE_ID: Final = "3M8cT3vYiO0Op0N2BjBaiDdyiKl"
CREATED: Final = "2026-11-15T10:30:00Z"


PRICE: Final = {"type": "number", "minimum": 0.01, "exclusiveMaximum": 10**12}
GivenTitle = Annotated[
    str, Field(min_length=1, max_length=deals.MOST_TITLE), AfterValidator(deals.checked_title), TOLD
]
GivenLink = Annotated[
    str,
    Field(min_length=1, max_length=deals.MOST_LINK, examples=["https://shop.example/lamp"]),
    AfterValidator(deals.checked_link),
    TOLD,
]
GivenPrice = Annotated[
    Decimal,
    AfterValidator(deals.checked_price),
    TOLD,
    WithJsonSchema({**PRICE, "examples": [19.99]}),
]
GivenDescription = Annotated[
    str, Field(max_length=deals.MOST_DESCRIPTION), AfterValidator(deals.checked_description), TOLD
]
GivenBrand = Annotated[
    str, Field(min_length=1, max_length=deals.MOST_NAME), AfterValidator(deals.brand_key), TOLD
]
GivenCategory = Annotated[
    str, Field(min_length=1, max_length=deals.MOST_NAME), AfterValidator(deals.category_key), TOLD
]
GivenEmail = Annotated[
    str,
    Field(max_length=deals.MOST_EMAIL, examples=["alex@example.com"]),
    AfterValidator(deals.checked_email),
    TOLD,
]
GivenName = Annotated[
    str, Field(min_length=1, max_length=deals.MOST_NAME), AfterValidator(deals.person_name), TOLD
]


def a_brand(name: str) -> str:
    deals.brand_key(name)
    return name


# Deals

FEATURED: Final = {
    "dealId": DEAL_ID,
    "title": "A brass lamp",
    "link": "https://shop.example/lamp",
    "price": 19.99,
    "listPrice": 29.99,
    "brand": "APPLE",
    "brandName": "Apple",
    "category": "HOME",
    "categoryName": "Home",
}
DEAL: Final = {**FEATURED, "description": "It shines.", "createdAt": CREATED}


class FeaturedDealShown(Shown):
    """A deal as it was when an editor featured it."""

    model_config = example(**FEATURED)

    deal_id: str
    title: str
    link: str
    price: Amount
    list_price: Amount | None
    brand: str = Field(description="The brand's name as addresses have it.")
    brand_name: str
    category: str = Field(description="The category's name as addresses have it.")
    category_name: str


class DealShown(FeaturedDealShown):
    """A discounted product somewhere on the web."""

    model_config = example(**DEAL)

    description: str | None
    created_at: datetime


class DealsShown(Shown):
    """Deals that were asked for; what is not there is left out."""

    items: list[DealShown]


class NewDeal(Asked):
    """A deal to be posted."""

    model_config = example(
        title="A brass lamp",
        link="https://shop.example/lamp",
        price=19.99,
        listPrice=29.99,
        description="It shines.",
        brandName="Apple",
        categoryName="Home",
    )

    title: GivenTitle
    link: GivenLink
    price: GivenPrice
    list_price: GivenPrice | None = None
    description: GivenDescription | None = None
    brand_name: GivenBrand
    category_name: GivenCategory


class DealFacts(Asked):
    """All that a deal says of itself; what is not said goes."""

    model_config = example(title="A brass lamp", link="https://shop.example/lamp", price=17.5)

    title: GivenTitle
    link: GivenLink
    price: GivenPrice
    list_price: GivenPrice | None = None
    description: GivenDescription | None = None


class DealChange(Asked):
    """What is to change of a deal; the rest stays. Null takes away what need not be there."""

    model_config = example(price=17.5)

    title: GivenTitle = UNSAID
    link: GivenLink = UNSAID
    price: GivenPrice = UNSAID
    list_price: GivenPrice | None = UNSAID
    description: GivenDescription | None = UNSAID


class FeaturedChoice(Asked):
    """All deals that a page is to feature, in their order."""

    model_config = example(dealIds=[DEAL_ID])

    deal_ids: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=100)]],
        Field(max_length=deals.MOST_FEATURED),
    ]


# Brands and categories


class BrandShown(Shown):
    """Someone whose products are on offer."""

    model_config = example(
        brand="APPLE",
        name="Apple",
        logo="https://shop.example/apple.png",
        likeCount=3,
        watchCount=5,
        createdAt=CREATED,
    )

    brand: str
    name: str
    logo: str | None
    like_count: int
    watch_count: int
    created_at: datetime | None


class NewBrand(Asked):
    """A brand to be made."""

    model_config = example(name="Apple", logo="https://shop.example/apple.png")

    name: Annotated[
        str, Field(min_length=1, max_length=deals.MOST_NAME), AfterValidator(a_brand), TOLD
    ]
    logo: GivenLink | None = None


class NamesShown(Shown):
    """Names as people see them, in the order of the alphabet."""

    model_config = example(items=["Apple", "Sony"])

    items: list[str]


class CategoryShown(Shown):
    """One of the kinds of products."""

    category: str
    name: str
    featured_deals: list[FeaturedDealShown]
    like_count: int
    watch_count: int


class CategoriesShown(Shown):
    """All categories."""

    items: list[CategoryShown]


class CategoryPage(Shown):
    """A category, and a page of its latest deals."""

    category: CategoryShown
    latest: Listed[DealShown]


class FrontPageShown(Shown):
    """What everyone sees first."""

    featured_deals: list[FeaturedDealShown]
    latest: Listed[DealShown]


class FeaturedShown(Shown):
    """The deals that a page features."""

    featured_deals: list[FeaturedDealShown]


# Users


class UserShown(Shown):
    """Somebody who likes, watches and gets messages."""

    model_config = example(
        username="alex", name="Alex", email="alex@example.com", createdAt=CREATED
    )

    username: str
    name: str
    email: str | None
    created_at: datetime | None


class NewUser(Asked):
    """Who the caller is to be; their username is that of their account."""

    model_config = example(name="Alex")

    name: GivenName | None = None
    email: GivenEmail | None = None


class UserChange(Asked):
    """What is to change of the caller; the rest stays."""

    model_config = example(name="Alexandra")

    name: GivenName | None = UNSAID
    email: GivenEmail | None = UNSAID


class InterestShown(Shown):
    """Whether the caller likes something, and whether they watch it."""

    model_config = example(liked=True, watched=False)

    liked: bool
    watched: bool


class NamedInterest(InterestShown):
    """The same, of something by its name."""

    model_config = example(name="Apple", liked=True, watched=False)

    name: str


class InterestsShown(Shown):
    """Of those that were asked for, the ones that the caller likes or watches."""

    items: list[NamedInterest]

    @classmethod
    def of(cls, found: Mapping[str, deals.Interest]) -> Self:
        return cls(
            items=[
                NamedInterest(name=name, liked=one.liked, watched=one.watched)
                for name, one in found.items()
            ]
        )


# Messages


class MessageShown(Shown):
    """News for the caller."""

    model_config = example(
        messageId=MESSAGE_ID,
        kind="hot",
        dealId=DEAL_ID,
        subject="Hot: A brass lamp",
        unread=True,
    )

    message_id: str = Field(description="Newer messages have greater ids.")
    kind: deals.MessageKind
    deal_id: str
    subject: str
    unread: bool


class CountShown(Shown):
    """How many there are."""

    model_config = example(count=3)

    count: int


class MessagesRead(Asked):
    """Messages that were read; all of them are marked, or none."""

    model_config = example(messageIds=[MESSAGE_ID])

    message_ids: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=100)]], Field(max_length=deals.PAGE)
    ]


class ProgressShown(Shown):
    """How far a message to every user has come."""

    model_config = example(told=5120, segments=8, segmentsDone=3, done=False)

    told: int
    segments: int = Field(description="The parts of all users; 0 before it has begun.")
    segments_done: int
    done: bool


class ToldShown(Shown):
    """How many watchers were told who did not know yet."""

    model_config = example(told=17)

    told: int
