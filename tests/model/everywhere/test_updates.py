"""Updates: every change, conditions, and index keys that follow their fields."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from bigtime.model import (
    Add,
    Append,
    At,
    Discard,
    IfMissing,
    Remove,
    Set,
    add,
    all_of,
    attr,
    get,
    put,
    update,
)
from bigtime.model.operations.op import Runnable, steps_of
from bigtime.wire import DynamoDBError, Steps
from tests.model.designs import BIG_TIME_DEALS, NOON, Deal, Message, deal, ksuid
from tests.model.everywhere.scenario import everywhere, refusal
from tests.model.portal import PORTAL, Maker, Player, Product, TooDear, UnknownProduct

PLAYER = Player(
    name="al",
    team="red",
    score=5,
    tags={"a", "b"},
    notes=["x"],
    counts={"won": 1},
    maker=Maker(full_name="Ace", labels={"l"}),
    makers={"a.b": Maker(full_name="Bee", founded_in=7)},
    lines=[Maker(full_name="Cee")],
)


@everywhere(PORTAL)
def test_every_change_of_a_field() -> Steps[object]:
    yield from put(PLAYER)
    changed = yield from update(
        PLAYER.own_key(),
        level=Set("high"),
        tags=Discard({"a", "z"}),
        notes=Append(["y", "z"]),
        rating=IfMissing(Decimal("4.5")),
        maker=Remove(),
    )
    assert changed == PLAYER.model_copy(
        update={
            "level": "high",
            "tags": {"b"},
            "notes": ["x", "y", "z"],
            "rating": Decimal("4.5"),
            "maker": None,
        }
    )
    again = yield from update(
        PLAYER.own_key(),
        score=Add(-3),
        tags=Add({"c"}),
        notes=Append(["w"], at_start=True),
        rating=IfMissing(Decimal(1)),
        at=NOON,
    )
    assert (again.score, again.tags, again.rating) == (2, {"b", "c"}, Decimal("4.5"))
    assert again.notes == ["w", "x", "y", "z"]
    return again, (yield from get(PLAYER.own_key()))


@everywhere(PORTAL)
def test_every_change_inside_a_field() -> Steps[object]:
    yield from put(PLAYER)
    changed = yield from update(
        PLAYER.own_key(),
        At("counts.won", Add(2)),
        At("counts.lost", Set(1)),
        At("maker.labels", Add({"m"})),
        At(("makers", "a.b", "founded_in"), Remove()),
        At(("makers", "c"), Maker(full_name="Dee")),
        At("lines[0].full_name", "Sea"),
    )
    assert changed.counts == {"won": 3, "lost": 1}
    assert changed.maker == Maker(full_name="Ace", labels={"l", "m"})
    assert changed.makers == {"a.b": Maker(full_name="Bee"), "c": Maker(full_name="Dee")}
    assert changed.lines == [Maker(full_name="Sea")]
    return changed


@everywhere(PORTAL)
def test_what_is_taken_away_to_nothing_is_gone() -> Steps[object]:
    yield from put(PLAYER)
    changed = yield from update(
        PLAYER.own_key(), tags=Discard({"a", "b"}), notes=Remove(), team=None
    )
    assert (changed.tags, changed.notes, changed.team) == (set(), [], None)
    return changed


@everywhere(PORTAL)
def test_an_update_must_find_an_item_unless_it_may_make_one() -> Steps[object]:
    nobody = Player.key("bo")
    assert (yield from refusal(update(nobody, level="high"))) == "item-missing"
    assert (yield from get(nobody)) is None
    made = yield from update(nobody, upsert=True, score=Add(3), team="red", level="low")
    assert (made.score, made.team) == (3, "red")
    assert (yield from all_of(Player.within("ByOwner", team="red"))) == [made]
    return made


@everywhere(PORTAL)
def test_the_condition_of_an_update() -> Steps[object]:
    yield from put(Product(product_id="p", price=Decimal(5)))

    def raise_price(product_id: str) -> Steps[str]:
        dearer = update(
            Product.key(product_id),
            price=Add(1),
            if_exists=UnknownProduct,
            when=attr("price") < 5,
            otherwise=TooDear,
        )
        return (yield from refusal(dearer))

    assert (yield from raise_price("p")) == "too-dear"
    assert (yield from raise_price("q")) == "unknown-product"
    return (yield from add(Product.key("p"), price=Decimal("0.10")))


@everywhere(PORTAL)
def test_an_index_key_follows_the_fields_that_it_is_made_of() -> Steps[object]:
    player = yield from put(PLAYER)
    places: list[list[Player]] = []

    def look() -> Steps[None]:
        for team, level in (("red", "low"), ("red", "high"), ("blue", "high")):
            places.append((yield from all_of(Player.within("ByScore", team=team, level=level))))

    yield from look()
    # By its key, it has to read what it is not told: the team and the score.
    risen = yield from update(player.own_key(), level="high")
    yield from look()
    # Given the item, it knows.
    moved = yield from update(risen, team="blue", score=9)
    yield from look()
    # Without a team it is in no index.
    alone = yield from update(moved.own_key(), team=None)
    yield from look()
    assert places == [
        *([player], [], []),
        *([], [risen], []),
        *([], [], [moved]),
        *([], [], []),
    ]
    assert (yield from all_of(Player.within("ByOwner", team="blue"))) == []
    return alone


@everywhere(BIG_TIME_DEALS)
def test_an_item_leaves_and_enters_a_sparse_index() -> Steps[object]:
    message = Message(username="al", message_id=ksuid(NOON, 1), subject="Hi", unread_by="al")
    yield from put(message)
    unread = Message.within("GSI1", unread_by="al")
    assert (yield from all_of(unread)) == [message]
    read = yield from update(message.own_key(), unread_by=None)
    assert (yield from all_of(unread)) == []
    assert (yield from update(read, unread_by="al")) == message
    return (yield from all_of(unread))


@everywhere(BIG_TIME_DEALS)
def test_a_deal_moves_in_all_its_indexes() -> Steps[object]:
    first = yield from put(deal(NOON, 1))
    moved = yield from update(first.own_key(), brand="SONY", category="TV")
    assert (yield from all_of(Deal.within("GSI2", brand="APPLE", created_at=NOON))) == []
    by_brand = yield from all_of(Deal.within("GSI2", brand="SONY", created_at=NOON))
    by_category = yield from all_of(Deal.within("GSI3", category="TV", created_at=NOON))
    by_day = yield from all_of(Deal.within("GSI1", created_at=NOON))
    assert by_brand == by_category == by_day == [moved]
    return moved


def overtaken(steps: Steps[Any], meanwhile: Runnable[Any]) -> Steps[Any]:
    """The steps, with something happening after their first request was answered."""
    answer = yield next(steps)
    yield from steps_of(meanwhile)
    while True:
        try:
            step = steps.send(answer)
        except StopIteration as end:
            return end.value
        try:
            answer = yield step
        except DynamoDBError as error:
            answer = yield steps.throw(error)


@everywhere(PORTAL)
def test_an_update_that_was_overtaken_reads_again() -> Steps[object]:
    player = yield from put(PLAYER)
    rising = iter(update(player.own_key(), level="high"))
    risen = yield from overtaken(rising, update(player, team="blue", score=9))
    assert (risen.team, risen.level, risen.score) == ("blue", "high", 9)
    for team, level, found in (("red", "high", []), ("blue", "low", []), ("blue", "high", [risen])):
        assert (yield from all_of(Player.within("ByScore", team=team, level=level))) == found
    return risen
