"""Items that other code or an older version stored: their types, names, versions and extras."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field

from bigtime.engine import Engine
from bigtime.model import (
    Add,
    DesignError,
    Entity,
    ItemMismatch,
    Keys,
    System,
    Table,
    add,
    all_of,
    count,
    get,
    get_many,
    put,
    query,
    repair,
    scan_all,
    setup,
    update,
    verify,
)
from bigtime.model.errors import NotUpgraded
from bigtime.store import Store
from bigtime.wire import Item, Request

ZOO = Table(
    "Zoo",
    "PK",
    "SK",
    type_attribute="kind",
    type_values={"USER": "User", "user": "User"},
    schema_attribute="v",
)


class User(Entity, table=ZOO, was="Person", stored={"about": "bio"}):
    keys = Keys(main=("USER#{username}", "USER"))
    username: str
    about: str = ""


class Cat(Entity, table=ZOO, type_name="cat"):
    keys = Keys(main=("CAT#{name}", "CAT"))
    name: str


class Dog(Entity, table=ZOO):
    keys = Keys(main=("CAT#{name}", "DOG#{age:04}"))
    name: str
    age: int


class Post(Entity, table=ZOO, old_names={"text": ("body", "content"), "likes": "hearts"}):
    keys = Keys(main=("POST#{post_id}", "POST"))
    post_id: str
    text: str = ""
    likes: int = 0


class Account(Entity, table=ZOO, schema=2):
    keys = Keys(main=("ACCOUNT#{account_id}", "ACCOUNT"))
    account_id: str
    name: str
    cents: int

    @classmethod
    def upgrade(cls, item: Item) -> Item:
        item["name"] = item.pop("owner")
        item["cents"] = {"N": str(int(item.pop("euros")["N"]) * 100)}
        return item


SYSTEM = System("zoo", (ZOO,))


@pytest.fixture
def store(engine: Engine) -> Store:
    store = Store(engine)
    store.run(setup(SYSTEM))
    return store


def put_raw(store: Store, **attributes: Any) -> None:
    item = {
        name: {"S": value} if isinstance(value, str) else value
        for name, value in attributes.items()
    }
    store.send(Request("PutItem", {"TableName": "Zoo", "Item": item}))


def raw(store: Store, key: Any) -> Item:
    item: Item = store.send(Request("GetItem", {"TableName": "Zoo", "Key": key.item}))["Item"]
    return item


# Types


def test_an_entity_is_an_item_and_back() -> None:
    item = User(username="al", about="x").to_item()
    assert item == {
        "PK": {"S": "USER#al"},
        "SK": {"S": "USER"},
        "kind": {"S": "USER"},
        "username": {"S": "al"},
        "bio": {"S": "x"},
    }
    assert User.from_item(item) == User(username="al", about="x")


@pytest.mark.parametrize("kind", ["user", "USER", "Person"])
def test_every_type_value_of_a_class_is_found(store: Store, kind: str) -> None:
    put_raw(store, PK="USER#al", SK="USER", kind=kind, username="al", bio="x")
    al = User(username="al", about="x")
    assert store.run(get(User.key("al"))) == al
    assert store.run(get_many([User.key("al")])) == [al]
    assert store.run(all_of(User.within("main", username="al"))) == [al]
    assert store.run(count(User.within("main", username="al"))) == 1
    assert store.run(scan_all(User)) == [al]


def test_an_item_of_another_type_is_refused(store: Store) -> None:
    put_raw(store, PK="CAT#tom", SK="CAT", kind="Dog", name="tom")
    for steps in (get(Cat.key("tom")), get_many([Cat.key("tom")])):
        with pytest.raises(ItemMismatch, match="it is of type 'Dog', not 'cat'"):
            store.run(steps)
    with pytest.raises(ItemMismatch, match="of type 'Dog'"):
        Cat.from_item(raw(store, Cat.key("tom")))


def test_without_a_type_the_key_decides(store: Store) -> None:
    put_raw(store, PK="CAT#tom", SK="CAT", name="tom")
    assert store.run(get(Cat.key("tom"))) == Cat(name="tom")
    assert store.run(scan_all(Cat)) == []  # its filter asks for the type
    assert store.run(query(Cat.within("main", name="tom"))).items == [Cat(name="tom")]


def test_two_entities_cannot_share_a_type_name() -> None:
    table = Table("Names", "PK", type_attribute="kind")

    class Bear(Entity, table=table, type_name="x"):
        keys = Keys(main="BEAR#{name}")
        name: str

    with pytest.raises(DesignError, match="Wolf and Bear are both stored with the type 'x'"):

        class Wolf(Entity, table=table, was=("x",)):
            keys = Keys(main="WOLF#{name}")
            name: str


# Fields that are in a key alone


def test_a_field_is_read_from_its_key(store: Store) -> None:
    put_raw(store, PK="CAT#tom", SK="DOG#0007", kind="Dog")
    put_raw(store, PK="CAT#rex", SK="DOG#0008", kind="Dog")
    dog = Dog(name="tom", age=7)
    for _ in range(2):  # the second time it is expected
        assert store.run(get(Dog.key("tom", 7))) == dog
    assert sorted(dog.age for dog in store.run(scan_all(Dog))) == [7, 8]
    assert store.run(verify(SYSTEM)) == []


def test_a_default_does_not_hide_what_a_key_tells() -> None:
    table = Table("Defaults", "PK", "SK")

    class Line(Entity, table=table):
        keys = Keys(main=("ORDER#{order}", "LINE#{number:04}"))
        order: str
        number: int = 1

    item: Item = {"PK": {"S": "ORDER#a"}, "SK": {"S": "LINE#0007"}}
    assert Line.from_item(item) == Line(order="a", number=7)


# Names


def test_a_nested_field_has_its_alias() -> None:
    table = Table("Nested", "PK")

    class Home(BaseModel):
        street: str = Field(serialization_alias="str")

    class Person(Entity, table=table):
        keys = Keys(main="P#{name}")
        name: str
        home: Home
        nick: str = Field(default="", alias="n")

    person = Person(name="al", home=Home(street="x"), n="a")
    assert person.to_item()["home"] == {"M": {"str": {"S": "x"}}}
    assert person.to_item()["n"] == {"S": "a"}
    assert Person.from_item(person.to_item()) == person


def test_a_renamed_attribute_is_found_and_moved(store: Store) -> None:
    put_raw(store, PK="POST#1", SK="POST", kind="Post", post_id="1", body="hi", hearts={"N": "3"})
    post = store.run(get(Post.key("1")))
    assert post == Post(post_id="1", text="hi", likes=3)
    (violation,) = store.run(verify(SYSTEM))
    assert "text is stored as body" in str(violation)
    with pytest.raises(NotUpgraded):
        store.run(add(Post.key("1"), likes=1))
    assert store.run(update(Post.key("1"), text="ho")).text == "ho"
    assert "body" not in raw(store, Post.key("1"))
    store.run(repair(store.run(verify(SYSTEM))[0]))
    assert store.run(verify(SYSTEM)) == []
    assert store.run(add(Post.key("1"), likes=1)) == Post(post_id="1", text="ho", likes=4)


def test_the_new_name_wins_over_the_old(store: Store) -> None:
    put_raw(store, PK="POST#1", SK="POST", kind="Post", post_id="1", content="old", text="new")
    assert store.run(get(Post.key("1"))) == Post(post_id="1", text="new")


# Versions


def test_an_older_item_is_upgraded(store: Store) -> None:
    old = {"PK": "ACCOUNT#1", "SK": "ACCOUNT", "kind": "Account", "account_id": "1"}
    put_raw(store, **old, owner="al", euros={"N": "5"})
    account = store.run(get(Account.key("1")))
    assert account == Account(account_id="1", name="al", cents=500)
    with pytest.raises(NotUpgraded):
        store.run(update(Account.key("1"), name="bo"))
    (violation,) = store.run(verify(SYSTEM))
    store.run(repair(violation))
    assert store.run(verify(SYSTEM)) == []
    stored = raw(store, Account.key("1"))
    assert stored["v"] == {"N": "2"} and stored["cents"] == {"N": "500"} and "owner" not in stored
    assert store.run(update(Account.key("1"), name="bo")).name == "bo"


def test_an_upgraded_entity_is_put_back_in_the_new_form(store: Store) -> None:
    old = {"PK": "ACCOUNT#1", "SK": "ACCOUNT", "kind": "Account", "account_id": "1"}
    put_raw(store, **old, owner="al", euros={"N": "5"})
    account = store.run(get(Account.key("1")))
    assert account is not None
    store.run(put(account))
    assert raw(store, Account.key("1")) == account.to_item()


def test_an_upgrade_that_fails_names_the_item(store: Store) -> None:
    put_raw(store, PK="ACCOUNT#1", SK="ACCOUNT", kind="Account", account_id="1")
    with pytest.raises(ItemMismatch, match=r"ACCOUNT#1.*its upgrade raised KeyError: 'owner'"):
        store.run(get(Account.key("1")))


def test_a_predicate_says_what_is_outdated() -> None:
    table = Table("Predicates", "PK")

    class Thing(Entity, table=table):
        keys = Keys(main="T#{name}")
        name: str
        size: int

        @classmethod
        def is_outdated(cls, item: Item) -> bool:
            return "S" in item.get("size", {})

        @classmethod
        def upgrade(cls, item: Item) -> Item:
            return {**item, "size": {"N": item["size"]["S"]}}

    item: Item = {"PK": {"S": "T#a"}, "name": {"S": "a"}, "size": {"S": "4"}}
    assert Thing.from_item(item) == Thing(name="a", size=4)


def test_an_upgrade_without_a_rule_is_refused() -> None:
    with pytest.raises(DesignError, match="say which those are"):

        class Thing(Entity, table=Table("NoRule", "PK")):
            keys = Keys(main="T#{name}")
            name: str

            @classmethod
            def upgrade(cls, item: Item) -> Item:
                return item


def test_an_upsert_over_versions_is_refused() -> None:
    with pytest.raises(DesignError, match="may meet an item of an older schema"):
        update(Account.key("1"), name="x", cents=Add(1), upsert=True)


# What is not declared


def test_undeclared_attributes_are_put_back(store: Store) -> None:
    put_raw(store, PK="CAT#tom", SK="CAT", kind="cat", name="tom", colour="red")
    tom = store.run(get(Cat.key("tom")))
    assert tom is not None
    assert (tom, repr(tom)) == (Cat(name="tom"), "Cat(name='tom')")
    assert tom.model_dump() == {"name": "tom"}
    store.run(put(tom.model_copy()))
    assert raw(store, Cat.key("tom"))["colour"] == {"S": "red"}
    (violation,) = store.run(verify(SYSTEM))
    assert "has colour, which Cat does not declare" in str(violation)


def test_extra_fields_are_refused() -> None:
    with pytest.raises(DesignError, match="extra='allow' would take fields that nothing stores"):

        class Open(Entity, table=Table("Open", "PK")):
            model_config = ConfigDict(extra="allow")
            keys = Keys(main="O#{name}")
            name: str


def test_no_field_of_the_main_key_may_be_none() -> None:
    with pytest.raises(DesignError, match="name may be None, and the main key is made of it"):

        class Maybe(Entity, table=Table("Maybe", "PK")):
            keys = Keys(main="M#{name}")
            name: str | None = None


def test_a_type_value_of_no_class_is_refused() -> None:
    table = Table("Values", "PK", type_attribute="kind", type_values={"x": "Nothing"})

    class Thing(Entity, table=table):
        keys = Keys(main="T#{name}")
        name: str

    with pytest.raises(DesignError, match="type_values names Nothing"):
        System("values", (table,))
