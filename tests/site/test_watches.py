"""A watch is in both designs or in neither; of a new deal its user hears once from each."""

from __future__ import annotations

import pytest

from bigtime import site
from bigtime.model import now
from bigtime.site.catalog_projection import catalog_deal
from bigtime.store import consume
from bigtime.systems import catalog, deals
from bigtime.systems.catalog.watches import notify_watchers
from bigtime.systems.deals.notifications import announce_deal
from bigtime.wire import Steps
from tests.web.cart.scene import Scene, deal


def watch_keys(scene: Scene, username: str = "liz") -> list[str]:
    return [watch.watch_key for watch in scene.run(catalog.get_user_watches(username))]


def is_watched(scene: Scene, username: str = "liz") -> tuple[bool, bool]:
    brand = scene.run(deals.fetch_brand_interest("APPLE", username))
    category = scene.run(deals.fetch_category_interest("HOME", username))
    return brand.watched, category.watched


def test_a_watch_is_made_and_ended_in_both_designs(scene: Scene) -> None:
    scene.run(site.watch_brand("Apple", "liz"))
    scene.run(site.watch_category("home", "liz"))
    assert is_watched(scene) == (True, True)
    brand, category = scene.run(catalog.get_user_watches("liz"))
    assert (brand.watch_key, brand.brand_id, brand.target_name) == ("BRAND#APPLE", "APPLE", "Apple")
    assert (category.watch_key, category.target_name) == ("CATEGORY#HOME", "Home")
    assert scene.run(deals.fetch_brand("APPLE")).watch_count == 1

    scene.run(site.unwatch_brand("Apple", "liz"))
    scene.run(site.unwatch_category("home", "liz"))
    assert is_watched(scene) == (False, False)
    assert watch_keys(scene) == []
    assert scene.run(deals.fetch_brand("APPLE")).watch_count == 0


def test_a_second_watch_changes_nothing_and_counts_once(scene: Scene) -> None:
    scene.run(site.watch_brand("APPLE", "liz"))
    with pytest.raises(deals.AlreadyWatched):
        scene.run(site.watch_brand("APPLE", "liz"))
    assert scene.run(deals.fetch_brand("APPLE")).watch_count == 1
    scene.run(site.unwatch_brand("APPLE", "liz"))
    with pytest.raises(deals.NotWatched):
        scene.run(site.unwatch_brand("APPLE", "liz"))
    assert scene.run(deals.fetch_brand("APPLE")).watch_count == 0


def test_what_does_not_exist_cannot_be_watched(scene: Scene) -> None:
    with pytest.raises(deals.UnknownBrand):
        scene.run(site.watch_brand("NONE", "liz"))
    with pytest.raises(deals.UnknownCategory):
        scene.run(site.watch_category("NONE", "liz"))
    assert watch_keys(scene) == []


def test_a_watch_made_in_the_catalogue_alone_is_no_obstacle(scene: Scene) -> None:
    scene.run(catalog.watch_category("liz", "HOME"))
    scene.run(site.watch_category("HOME", "liz"))
    assert watch_keys(scene) == ["CATEGORY#HOME"]
    assert is_watched(scene) == (False, True)


def test_of_a_new_deal_a_user_gets_one_message_and_one_activity(scene: Scene) -> None:
    """Though both its brand and its category are watched, and the streams are read twice."""
    scene.run(site.watch_brand("APPLE", "liz"))
    scene.run(site.watch_category("HOME", "liz"))
    posted = scene.run(post_now())
    for name in ("first", "again"):
        for table, reaction in (("BigTimeDeals", announce_deal), ("Deals", notify_watchers)):
            consumer = consume(scene.store, table, reaction.handle, name=f"{table} {name}")
            scene.wait(consumer.run_once())
    (message,) = scene.run(deals.view_messages("liz"))
    assert message.deal_id == posted.deal_id
    assert "Apple" in message.subject and "Home" in message.subject
    (activity,) = scene.run(catalog.get_user_notifications("liz"))
    assert activity.details is not None and activity.details["deal_id"] == posted.deal_id


def post_now() -> Steps[deals.Deal]:
    sample = deal(0)
    posted = yield from deals.create_deal(sample.title, sample.link, sample.price, "Apple", "Home")
    yield from catalog.create_deal(catalog_deal(posted))
    assert (yield from now()) >= posted.created_at
    return posted
