"""Entities: what a declaration makes of a class, and what it refuses to."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from bigtime.engine import Engine
from bigtime.model.errors import DesignError, ItemMismatch, ValueRefused
from bigtime.model.operations.get import get
from bigtime.model.operations.put import put
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.ksuid import Ksuid
from bigtime.model.schema.secret import SecretText
from bigtime.model.schema.stored import EpochSeconds, Seconds
from bigtime.model.schema.table import (
    Table,
    binary,
    camel_case,
    global_index,
    local_index,
    number,
    pascal_case,
)
from bigtime.wire import Item
from tests.model.designs import BIG_TIME_DEALS, NOON, Brand, Brands, Deal, User, ksuid
from tests.model.test_attribute import (
    Address,
    Level,
    Size,
    addresses,
    ksuids,
    moments,
    plain,
    seconds,
)
from tests.model.world import World
from tests.strategies import decimals, texts

Handle = Annotated[str, AfterValidator(str.lower), Field(max_length=40)]

EVERYTHING = Table(
    "Everything",
    "PK",
    "SK",
    indexes=[
        global_index("ByDay", "ByDayPK", "ByDaySK"),
        global_index("ByScore", "Handle", number("Score")),
        local_index("ByBlob", binary("Blob")),
    ],
    naming=pascal_case,
    type_attribute="Type",
    ttl="Expires",
)
TABLES = [EVERYTHING, BIG_TIME_DEALS]


class Thing(Entity, table=EVERYTHING):
    """One field of every kind."""

    keys = Keys(
        main=("THING#{handle}#{number:plain}", "THING#{uid}"),
        ByDay=("DAY#{day}#{size}", "{at}#{flag}"),
        ByScore=("{handle}", "{score}"),
        ByBlob=("THING#{handle}#{number:plain}", "{blob}"),
    )
    handle: Handle
    number: int
    uid: UUID
    ksuid: Ksuid | None = None
    price: Decimal = Decimal("9.99")
    flag: bool | None = None
    at: datetime | None
    second: Annotated[datetime, Seconds] | None = None
    expires: Annotated[datetime, EpochSeconds] | None = None
    day: date | None = None
    size: Size = Size.SMALL
    level: Level | None = None
    blob: bytes | None = None
    score: Decimal | None = None
    mood: Literal["good", "bad"] = "good"
    tags: set[str]
    numbers: frozenset[int] = frozenset({1})
    names: list[str] = []
    counts: dict[str, int] = {}
    home: Address | None = None
    homes: dict[str, Address] = {}
    whatever: Any = None
    either: int | list[str] = 0


class Other(Entity, table=EVERYTHING):
    keys = Keys(main=("OTHER#{number:plain}", "OTHER"))
    number: int


things = st.builds(
    Thing,
    handle=texts,
    number=st.integers(-(10**30), 10**30),
    uid=st.uuids(),
    ksuid=st.none() | ksuids,
    price=decimals,
    flag=st.none() | st.booleans(),
    at=st.none() | moments,
    second=st.none() | seconds,
    expires=st.none() | seconds,
    day=st.none() | st.dates(),
    size=st.sampled_from(Size),
    level=st.none() | st.sampled_from(Level),
    blob=st.none() | st.binary(min_size=1),
    score=st.none() | decimals,
    mood=st.sampled_from(["good", "bad"]),
    tags=st.sets(texts),
    numbers=st.frozensets(st.integers(-9, 9)),
    names=st.lists(texts, max_size=3),
    counts=st.dictionaries(texts, st.integers(-9, 9), max_size=3),
    home=st.none() | addresses,
    homes=st.dictionaries(texts, addresses, max_size=2),
    whatever=plain,
    either=st.integers(-9, 9) | st.lists(texts, max_size=2),
).filter(lambda thing: thing.handle != "")


@pytest.fixture(scope="module")
def all_items() -> Any:
    with Engine.memory(housekeeping=False) as engine:
        yield World(engine, EVERYTHING)


@given(thing=things)
def test_an_entity_comes_back_from_the_table_as_it_went_in(all_items: World, thing: Thing) -> None:
    assert all_items.run(put(thing)) == thing
    assert all_items.run(get(thing.own_key())) == thing
    assert all_items.run(get(Thing.key(thing.handle, thing.number, thing.uid))) == thing


@given(thing=things)
def test_a_key_is_told_by_its_item(all_items: World, thing: Thing) -> None:
    item = Thing.layout.to_item(thing)
    assert Thing.key_of(item).item == thing.own_key().item
    assert Thing.key_of(item).fields == thing.own_key().fields


def test_an_item_has_its_keys_its_type_and_the_fields_that_are_there() -> None:
    deal = Deal(deal_id=ksuid(NOON, 1), title="Phone", created_at=NOON)
    key = f"DEAL#{deal.deal_id}"
    assert Deal.layout.to_item(deal) == {
        "Type": {"S": "Deal"},
        "PK": {"S": key},
        "SK": {"S": key},
        "GSI1PK": {"S": "DEALS#2026-03-10T00:00:00"},
        "GSI1SK": {"S": key},
        "GSI2PK": {"S": "BRAND#APPLE#2026-03-10T00:00:00"},
        "GSI2SK": {"S": key},
        "GSI3PK": {"S": "CATEGORY#ELECTRONICS#2026-03-10T00:00:00"},
        "GSI3SK": {"S": key},
        "DealId": {"S": str(deal.deal_id)},
        "Title": {"S": "Phone"},
        "Price": {"N": "1"},
        "Brand": {"S": "APPLE"},
        "Category": {"S": "ELECTRONICS"},
        "CreatedAt": {"S": "2026-03-10T12:00:00.000000Z"},
    }


def test_an_empty_set_is_not_stored_and_is_read_as_empty(world: World) -> None:
    world.run(put(Brands(names=set())))
    assert world.items(BIG_TIME_DEALS)[0].keys() == {"PK", "SK", "Type"}
    assert world.run(get(Brands.key())) == Brands(names=set())


def test_null_is_read_as_none_where_others_have_stored_it(world: World) -> None:
    thing = Thing(handle="a", number=1, uid=UUID(int=0), at=None, tags=set())
    item = {**Thing.layout.to_item(thing), "At": {"NULL": True}, "Home": {"NULL": True}}
    assert Thing.layout.from_item(item) == thing
    item["Handle"] = {"NULL": True}
    with pytest.raises(ItemMismatch, match="handle: Field required") as caught:
        Thing.layout.from_item(item)
    assert caught.value.item is item


# Keys


def test_a_key_is_checked_as_its_fields_are() -> None:
    assert Thing.key("BIG", "5", str(UUID(int=0))).item == {
        "PK": {"S": "THING#big#5"},
        "SK": {"S": f"THING#{UUID(int=0)}"},
    }
    with pytest.raises(ValueRefused, match=r"Thing.number: Input should be a valid integer"):
        Thing.key("big", "many", UUID(int=0))
    with pytest.raises(ValueRefused, match=r"Thing.handle: Value should have at most 40"):
        Thing.key("x" * 41, 1, UUID(int=0))


def test_a_key_takes_its_fields_in_order_or_by_name() -> None:
    key = Thing.key("big", uid=UUID(int=0), number=1)
    assert repr(key) == (f"Thing.key(handle='big', uid={UUID(int=0)!r}, number=1)")
    for values, named in (
        ((), {}),
        (("big", 1, UUID(int=0), 4), {}),
        (("big", 1, UUID(int=0)), {"title": "x"}),
        (("big", 1, UUID(int=0)), {"handle": "small"}),
    ):
        with pytest.raises(TypeError, match=r"Thing\.key"):
            Thing.key(*values, **named)


def test_keys_of_one_item_are_equal() -> None:
    assert Brand.key("X") == Brand(brand="X").own_key()
    assert Brand.key("X") != Brand.key("Y")
    assert Brand.key("X") != User.key("X")
    assert Brand.key("X") != "X"
    assert len({Brand.key("X"), Brand.key(brand="X"), Brand.key("Y")}) == 2

    class Measure(Entity, table=Table("Measures", "PK", number("size"))):
        keys = Keys(main=("MEASURES", "{size}"))
        size: Decimal

    assert len({Measure.key("1.5"), Measure.key(Decimal("1.50"))}) == 1


def test_a_singleton_has_a_key_without_fields() -> None:
    assert Brands.key().item == {"PK": {"S": "BRANDS"}, "SK": {"S": "BRANDS"}}
    with pytest.raises(TypeError, match=r"Brands\.key takes nothing"):
        Brands.key("x")


def test_a_field_whose_attribute_is_a_key_is_stored_as_the_key_has_it() -> None:
    table = Table("Events", "name", "at", indexes=[global_index("ByN", "rank", number("n"))])

    class Event(Entity, table=table):
        keys = Keys(main=("EVENT#{name}", "{at:seconds}"), ByN=("{rank:03}", "{n}"))
        name: str
        at: datetime
        rank: int | None = None
        n: int | None = None

    event = Event(name="x", at=NOON, rank=7, n=1)
    item = Event.layout.to_item(event)
    assert item == {
        "name": {"S": "EVENT#x"},
        "at": {"S": "2026-03-10T12:00:00Z"},
        "rank": {"S": "007"},
        "n": {"N": "1"},
    }
    assert Event.layout.from_item(item) == event


# Items that do not fit


def thing_item(**attributes: Any) -> Item:
    thing = Thing(handle="a", number=1, uid=UUID(int=0), at=NOON, tags={"x"}, home=None)
    return {**Thing.layout.to_item(thing), **attributes}


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"Price": {"S": "9"}}, "price: stored as S, not as N"),
        ({"Price": {"N": "9"}, "Mood": {"S": "odd"}}, "mood: Input should be 'good' or 'bad'"),
        ({"At": {"S": "yesterday"}}, "at: Input should be a valid datetime"),
        ({"Level": {"N": "3"}}, "level: Input should be 1 or 10"),
        ({"Names": {"L": [{"S": "a"}, {"N": "1"}]}}, "names: an attribute inside it has another"),
        ({"Home": {"M": {"Floor": {"S": "x"}}}}, "home: an attribute inside it has another"),
        ({"Home": {"M": {"Floor": {"N": "1"}}}}, "home.street_name: Field required"),
        ({"Blob": {"B": "A"}}, "blob: Invalid base64"),
        ({"Expires": {"N": "1E+30"}}, "expires: is beyond the years"),
        ({"Either": {"BOOL": True}}, "either: an attribute inside it has another type"),
        ({"Uid": {"NULL": True}}, "uid: Field required"),
    ],
)
def test_an_item_that_does_not_fit_names_its_key_and_field(
    attributes: dict[str, Any], words: str
) -> None:
    item = thing_item(**attributes)
    with pytest.raises(ItemMismatch) as caught:
        Thing.layout.from_item(item)
    said = str(caught.value)
    assert said.startswith("Thing at {'PK': {'S': 'THING#a#1'}, 'SK': {'S': 'THING#0000")
    assert words in said
    assert caught.value.item is item


def test_a_value_that_slipped_past_pydantic_is_refused_before_it_is_sent() -> None:
    thing = Thing(handle="a", number=1, uid=UUID(int=0), at=NOON, tags={"x"})
    for name, value, words in (
        ("price", "cheap", "Thing.price takes an int or a Decimal, not 'cheap'"),
        ("home", "here", "Thing.home 'str' object has no attribute"),
        ("names", 5, "Thing.names 'int' object is not iterable"),
        (
            "names",
            ["\ud800"],
            "Thing.names has a lone surrogate at 0, '\\ud800', which is no character",
        ),
        ("at", datetime(2026, 1, 1), "Thing.at is 2026-01-01 00:00:00, which has no time zone"),
        ("handle", None, "Thing: handle must be there: the main key is made of it"),
    ):
        with pytest.raises(ValueRefused) as caught:
            Thing.layout.to_item(thing.model_copy(update={name: value}))
        assert words in str(caught.value)


def test_a_secret_is_kept_out_of_repr_and_out_of_errors() -> None:
    table = Table("Accounts", "login")

    class Account(Entity, table=table):
        keys = Keys(main="{login}")
        login: str
        password_hash: Annotated[SecretText, Field(min_length=20)]

    account = Account(login="alex", password_hash="argon2id" * 4)
    assert "argon2id" not in repr(account)
    with pytest.raises(ItemMismatch) as caught:
        Account.layout.from_item({"login": {"S": "alex"}, "password_hash": {"S": "argon2id"}})
    assert "argon2id" not in str(caught.value)


def test_an_entity_never_changes() -> None:
    with pytest.raises(ValueError, match="frozen"):
        User(username="alex").username = "sam"
    with pytest.raises(ValueError, match="Extra inputs"):
        User(username="alex", nickname="al")  # type: ignore[call-arg]


# Declarations that cannot work


def table_of(**more: Any) -> Table:
    return Table("Things", "PK", "SK", naming=camel_case, **more)


def no_keys() -> None:
    class A(Entity, table=table_of()):
        name: str


def no_table() -> None:
    class A(Entity):
        keys = Keys(main=("{name}", "{name}"))
        name: str


def child_of_an_entity() -> None:
    class A(User):
        pass


def float_field() -> None:
    class A(Entity, table=table_of()):
        keys = Keys(main=("{name}", "{name}"))
        name: str
        price: float


def default_that_is_not_none() -> None:
    class A(Entity, table=table_of()):
        keys = Keys(main=("{name}", "{name}"))
        name: str
        note: str | None = "none"


def type_attribute_as_a_field() -> None:
    class A(Entity, table=table_of(type_attribute="kind")):
        keys = Keys(main=("{name}", "{name}"))
        name: str
        kind: str


def two_fields_of_one_name() -> None:
    class A(Entity, table=table_of()):
        keys = Keys(main=("{a_b}", "{a_b}"))
        a_b: str
        aB: str  # noqa: N815


def ttl_that_is_text() -> None:
    class A(Entity, table=table_of(ttl="expires")):
        keys = Keys(main=("{name}", "{name}"))
        name: str
        expires: datetime


def field_under_a_key() -> None:
    class A(Entity, table=Table("Things", "name")):
        keys = Keys(main="USER#{name}#{email}")
        name: str
        email: str


def field_under_a_bucket() -> None:
    class A(Entity, table=Table("Things", "id", indexes=[global_index("ByDay", "at")])):
        keys = Keys(main="{id}", ByDay="{at:day}")
        id: str
        at: datetime


def unknown_role() -> None:
    class A(Entity, table=table_of(), updated="changed_at"):
        keys = Keys(main=("{name}", "{name}"))
        name: str


def version_that_is_text() -> None:
    class A(Entity, table=table_of(), version="name"):
        keys = Keys(main=("X", "X"))
        name: str


def time_that_is_a_day() -> None:
    class A(Entity, table=table_of(), created="day"):
        keys = Keys(main=("X", "X"))
        day: date | None = None


def deleted_from_the_start() -> None:
    class A(Entity, table=table_of(), deleted="deleted_at"):
        keys = Keys(main=("X", "X"))
        deleted_at: datetime


def version_in_the_key() -> None:
    class A(Entity, table=table_of(), version="version"):
        keys = Keys(main=("{name}", "{version:08}"))
        name: str
        version: int = 0


def decorated_field() -> None:
    class A(Entity, table=table_of()):
        keys = Keys(main=("{name}", "{name}"))
        name: str

        @field_validator("name")
        @classmethod
        def lower(cls, name: str) -> str:
            return name.lower()


def lower_by_configuration() -> None:
    class A(Entity, table=table_of()):
        model_config = ConfigDict(str_to_lower=True)
        keys = Keys(main=("{name}", "{name}"))
        name: str


def field_that_every_entity_has() -> None:
    class A(Entity, table=table_of()):
        keys = Keys(main=("{name}", "{name}"))
        name: str
        key: str  # type: ignore[assignment]


def index_that_nobody_meant() -> None:
    class A(Entity, table=Table("Things", "id", indexes=[global_index("ByOwner", "owner", "id")])):
        keys = Keys(main="{id}")
        id: str
        owner: str


def index_key_of_another_type() -> None:
    class A(Entity, table=Table("Things", "id", indexes=[global_index("ByN", "x", number("n"))])):
        keys = Keys(main="{id}")
        id: str
        n: str


def field_without_a_stored_name() -> None:
    class A(Entity, table=Table("Things", "id", naming=lambda name: name.removeprefix("note"))):
        keys = Keys(main="{id}")
        id: str
        note: str


def declared_after_use() -> None:
    table = table_of()

    class A(Entity, table=table):
        keys = Keys(main=("A", "A#{name}"))
        name: str

    A.key("x")

    class B(Entity, table=table):
        keys = Keys(main=("A", "A#{name}#B#{number:03}"))
        name: str
        number: int


@pytest.mark.filterwarnings("ignore:Field name:UserWarning")
@pytest.mark.parametrize(
    ("declare", "words"),
    [
        (no_keys, "A declares no keys; add `keys = Keys(main=...)`"),
        (no_table, "A has keys but no table; add `table=` to its class"),
        (child_of_an_entity, "A inherits from an entity, and is none itself"),
        (float_field, "A.price: float loses digits that DynamoDB keeps; declare Decimal"),
        (default_that_is_not_none, "A.note: it may be None, which is stored as nothing"),
        (type_attribute_as_a_field, "A.kind is stored as 'kind', which says what an item is"),
        (two_fields_of_one_name, "A: a_b and aB would both be stored as 'aB'; rename one"),
        (ttl_that_is_text, "A.expires is stored as 'expires', by which items expire"),
        (field_under_a_key, "A: attribute name is both the field name and a key of index main"),
        (field_under_a_bucket, "A: attribute at is both the field at and a key of index ByDay"),
        (unknown_role, "A: updated='changed_at' is not one of its fields"),
        (
            version_that_is_text,
            "A.name: version must be of type int; declare it as `name: int | None = None`",
        ),
        (time_that_is_a_day, "A.day: created must be of type datetime; declare it as"),
        (deleted_from_the_start, "A.deleted_at: deleted must be None while it is not"),
        (version_in_the_key, "A: version='version' changes with every write"),
        (decorated_field, "A: a decorator checks name, but not in keys and updates"),
        (lower_by_configuration, "A: str_to_lower would not apply to keys and updates"),
        (field_that_every_entity_has, "A.key: every entity has a key; rename it"),
        (index_that_nobody_meant, "A has all key attributes of index ByOwner"),
        (index_key_of_another_type, "A: n is a key of index ByN and of type N, not S"),
        (field_without_a_stored_name, "A: note would be stored as '', and a name has 1 to 65,535"),
        (declared_after_use, "B continues a key of A, which is in use already"),
    ],
)
def test_a_declaration_that_cannot_work_says_what_to_change(
    declare: Callable[[], None], words: str
) -> None:
    with pytest.raises(DesignError) as caught:
        declare()
    assert words in str(caught.value)


def test_entities_may_share_fields_of_a_class_without_a_table() -> None:
    class Named(Entity):
        name: str

    class A(Named, table=table_of()):
        keys = Keys(main=("A#{name}", "A"))

    assert A.key("x").item == {"PK": {"S": "A#x"}, "SK": {"S": "A"}}


def test_an_entity_may_hold_models_with_aliases() -> None:
    class Line(BaseModel):
        unit_price: Decimal = Field(alias="unitPrice")

    class Invoice(Entity, table=table_of()):
        keys = Keys(main=("INVOICE#{number:08}", "INVOICE"))
        number: int = Field(alias="no")
        lines: list[Line]

    invoice = Invoice.model_validate({"no": 5, "lines": [{"unitPrice": "1.50"}]})
    item = Invoice.layout.to_item(invoice)
    assert item["lines"] == {"L": [{"M": {"unitPrice": {"N": "1.50"}}}]}
    assert Invoice.layout.from_item(item) == invoice


def test_utc_is_what_a_time_is_read_in() -> None:
    read = Deal.layout.from_item(
        Deal.layout.to_item(Deal(deal_id=ksuid(NOON, 1), title="x", created_at=NOON))
    )
    assert read.created_at.utcoffset() == NOON.astimezone(UTC).utcoffset()
