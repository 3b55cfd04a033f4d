"""Brands, which editors create, and the eight categories, which set-up creates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from bigtime import model as bt
from bigtime.systems.deals import errors, values
from bigtime.systems.deals.deals import brand_days, category_days, latest
from bigtime.systems.deals.design import BIG_TIME_DEALS, BRANDS, PAGE, Brand, Brands, Category, Deal


@bt.pattern("Create Brand", index="N/A", takes="N/A")
def create_brand(
    name: values.GivenBrand, *, logo: values.GivenLink | None = None
) -> bt.Steps[Brand]:
    """Editor; Brand and BRANDS set in one transaction."""
    return (yield from make_brand(name, logo=logo))


def make_brand(name: str, *also: bt.Write[Any], logo: str | None = None) -> bt.Steps[Brand]:
    """Creates a brand, in one transaction with the caller's other writes."""
    try:
        brand: Brand
        brand, *_ = yield from bt.transact(
            bt.create(
                Brand(brand=name, name=name, **values.given_fields(logo=logo)),
                unless_exists=errors.BrandExists,
            ),
            BRANDS.update(brands=bt.Add({name})),
            *also,
        )
    except bt.ItemTooLarge as error:
        if error.entity is Brands:
            raise errors.TooManyBrands() from error
        raise
    return brand


@bt.pattern("Fetch all Brands", index="Main table")
def fetch_all_brands() -> bt.Steps[list[str]]:
    """BRANDS item.

    The names as people see them, in the order of their keys.
    """
    stored = yield from BRANDS.get()
    return sorted(stored.brands, key=values.brand_key)


@bt.pattern("Fetch Brand", index="Main table")
def fetch_brand(brand_name: values.BrandName) -> bt.Steps[Brand]:
    """GetItem."""
    return (yield from bt.get(Brand.key(brand_name), missing=errors.UnknownBrand))


# Editing

BRAND_FACTS: Final = ("name", "logo", "description")
"""What an editor may change; of the name only capitals and spaces, as the name is the key."""


@bt.pattern("Update Brand", index="Main table", sample={"description": "Phones."})
def update_brand(
    brand_name: values.BrandName,
    *,
    name: values.GivenBrand | None = None,
    logo: values.GivenLink | None = None,
    description: values.GivenDescription | None = None,
) -> bt.Steps[Brand]:
    """Editor; fields that are not given stay."""
    seen = yield from fetch_brand_for_editor(brand_name)
    given = {"name": name, "logo": logo, "description": description}
    facts = {fact: getattr(seen, fact) for fact in BRAND_FACTS}
    facts |= {fact: value for fact, value in given.items() if value is not None}
    yield from bt.transact(*(yield from brand_writes(seen, facts)))
    return seen.model_copy(update=facts)


def fetch_brand_for_editor(brand_name: values.BrandName) -> bt.Steps[Brand]:
    """Strongly consistent."""
    key = Brand.key(brand_name)
    return (yield from bt.get(key, missing=errors.UnknownBrand, consistent=True))


def brand_writes(seen: Brand, facts: Mapping[str, Any]) -> bt.Steps[list[bt.Write[Any]]]:
    """The writes that change a brand's facts, if they are still those that were seen.

    A new spelling of its name also changes the list of all brands.
    """
    changes = {**dict.fromkeys(BRAND_FACTS), **facts}
    name: str = changes["name"]
    if values.brand_key(name) != seen.brand:
        raise errors.OtherBrand()
    checked = values.given_fields(logo=changes["logo"], description=changes["description"])
    writes: list[bt.Write[Any]] = [
        bt.update(
            seen.own_key(),
            if_exists=errors.UnknownBrand,
            when=bt.unchanged(seen, *BRAND_FACTS),
            otherwise=bt.Conflict,
            **{**changes, **checked},
        )
    ]
    if name != seen.name:
        listed = yield from BRANDS.get(consistent=True)
        names = {each for each in listed.brands if values.brand_key(each) != seen.brand}
        same = bt.unchanged(listed, "brands")
        writes.append(BRANDS.update(brands=names | {name}, when=same, otherwise=bt.Conflict))
    return writes


@bt.reaction(BIG_TIME_DEALS, of=[Brand])
def follow_brand_name(change: bt.Change[bt.Entity]) -> bt.Steps[None]:
    """Gives the deals of a brand the new spelling of its name."""
    event = change.of(Brand)
    if event is None or event.before is None or event.after is None:
        return
    if event.before.name == event.after.name:
        return
    brand = yield from bt.get(event.key, consistent=True)
    position: bt.Position | None = None
    while brand is not None:
        page = yield from bt.newest_first(brand_days(brand.brand), limit=PAGE, after=position)
        outdated = [deal for deal in page if deal.brand_name != brand.name]
        yield from bt.together(*(rename_brand(deal, brand) for deal in outdated))
        position = page.position
        if position is None:
            return


def rename_brand(deal: Deal, brand: Brand) -> bt.Steps[None]:
    """Renames a deal's brand, unless the deal was deleted or has another brand by now."""
    with suppress(errors.UnknownDeal, bt.Conflict):
        yield from bt.update(
            deal.own_key(),
            brand_name=brand.name,
            if_exists=errors.UnknownDeal,
            when=bt.attr("brand") == brand.brand,
            otherwise=bt.Conflict,
        )


# Categories

CATEGORIES: Final = (
    "Electronics", "Computers", "Home", "Kitchen", "Fashion", "Sports", "Toys", "Beauty",
)  # fmt: skip


@bt.pattern("Create Category", index="N/A", takes="N/A")
def create_categories(*, names: Sequence[str] = CATEGORIES) -> bt.Steps[list[Category]]:
    """The fixed eight, at set-up.

    Those that exist stay as they are; returns those that are new.
    """
    created: list[Category] = []
    for category in [Category(category=name, name=name) for name in names]:
        try:
            created.append((yield from bt.create(category, unless_exists=errors.CategoryExists)))
        except errors.CategoryExists:
            continue
    return created


@bt.pattern("Fetch all Categories", index="Main table")
def fetch_all_categories(*, names: Sequence[str] = CATEGORIES) -> bt.Steps[list[Category]]:
    """The fixed eight in one request."""
    found = yield from bt.get_many([Category.key(name) for name in names])
    return [category for category in found if category is not None]


@bt.pattern("Fetch Category & Latest Deals", index="Main table, GSI3")
def fetch_category(
    category_name: values.CategoryName,
    last_deal_id_seen: values.DealId | None = None,
    *,
    after: bt.Position | None = None,
) -> bt.Steps[tuple[Category, bt.Page[Deal]]]:
    """Category item; day partitions for up to 25 deals."""
    return (
        yield from bt.together(
            bt.get(Category.key(category_name), missing=errors.UnknownCategory),
            latest(category_days(category_name), last_deal_id_seen, after=after),
        )
    )
