"""Secrets are stored, and shown nowhere."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Annotated, Any, NewType

import pytest
from pydantic import BaseModel, Field, ValidationError

from bigtime.advisor.explanation import explain
from bigtime.engine import Engine
from bigtime.model.errors import ItemMismatch, ValueRefused
from bigtime.model.invariants.unique import unique
from bigtime.model.operations.batch import get_many, load_many, put_many
from bigtime.model.operations.change import Add, Append, At, Discard, IfMissing
from bigtime.model.operations.collection import partition
from bigtime.model.operations.create_table import setup
from bigtime.model.operations.delete import check, delete
from bigtime.model.operations.get import get
from bigtime.model.operations.put import create, put
from bigtime.model.operations.query import query
from bigtime.model.operations.scan import scan
from bigtime.model.operations.transact import get_together, transact
from bigtime.model.operations.update import update
from bigtime.model.schema.condition import attr
from bigtime.model.schema.entity import Entity
from bigtime.model.schema.key_range import less_than
from bigtime.model.schema.keys import Keys
from bigtime.model.schema.secret import Secret, SecretText
from bigtime.model.schema.table import Table, global_index, pascal_case
from bigtime.model.schema.view import View
from bigtime.model.stream import decode
from bigtime.model.system import System
from bigtime.model.verification import verify
from bigtime.store import Exchange, Store
from bigtime.wire import Item, Request

HUSH = "correct-horse"

ACCOUNTS = Table(
    "Accounts",
    "PK",
    "SK",
    indexes=[global_index("ByUser", "UserPK", "UserSK")],
    naming=pascal_case,
    type_attribute="Type",
)
Pin = NewType("Pin", SecretText)


class Card(BaseModel):
    holder: str = "al"
    number: SecretText | None = None


class Named(Entity):
    login: str
    nickname: SecretText | None = None


class Account(Named, table=ACCOUNTS):
    keys = Keys(main=("ACCOUNT#{login}", "ACCOUNT"))
    plain: SecretText = HUSH
    outside: Annotated[str | None, Secret] = None
    inside: Annotated[str, Secret] | None = None
    limited: Annotated[SecretText | None, Field(max_length=20)] = None
    pin: Pin | None = None
    old: list[SecretText] = []
    named: dict[str, SecretText] = {}
    codes: set[SecretText] = set()
    card: Card | None = None
    cards: list[Card] = []
    note: str = "note"


class Session(Entity, table=ACCOUNTS):
    keys = Keys(main=("SESSION#{token}", "SESSION"), ByUser=("USER#{user}", "SESSION#{token}"))
    token: Annotated[SecretText, Field(max_length=30)]
    user: str = "al"


class Secretive(View, of=Account):
    login: str
    inside: Annotated[str, Secret] | None = None


ACCOUNT = Account(
    login="al",
    nickname=HUSH,
    plain=HUSH,
    outside=HUSH,
    inside=HUSH,
    limited=HUSH,
    pin=Pin(HUSH),
    old=[HUSH],
    named={"a": HUSH},
    codes={HUSH},
    card=Card(number=HUSH),
    cards=[Card(number=HUSH)],
)
SESSION = Session(token=HUSH)


def test_a_secret_is_left_out_of_repr_wherever_its_mark_stands() -> None:
    for shown in (repr(ACCOUNT), str(ACCOUNT), repr([ACCOUNT, SESSION]), f"{ACCOUNT.card}"):
        assert HUSH not in shown
    assert "note='note'" in repr(ACCOUNT)
    assert "holder='al'" in repr(ACCOUNT)
    assert HUSH not in repr(Secretive(login="al", inside=HUSH))
    assert HUSH not in repr(SESSION.own_key())
    assert repr(SESSION.own_key()) == "Session.key(token=***)"


def test_a_secret_is_stored_and_read_like_anything_else(engine: Engine) -> None:
    store = Store(engine)
    store.run(setup(ACCOUNTS))
    for entity in (ACCOUNT, SESSION):
        store.run(put(entity))
        assert store.run(get(entity.own_key())) == entity


def test_a_secret_that_may_be_none_is_declared_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")

        class Quiet(Entity, table=Table("Quiet", "id")):
            keys = Keys(main="{id}")
            id: str
            hush: SecretText | None = None

        assert HUSH not in repr(Quiet(id="a", hush=HUSH))


def broken_item(**stored: Any) -> Item:
    return {**Account.layout.to_item(ACCOUNT), **stored}


def wrong(**fields: Any) -> Account:
    return ACCOUNT.model_copy(update=fields)


LEAKS: dict[str, Callable[[], Any]] = {
    "a new entity": lambda: Account(login="al", plain=[HUSH]),  # type: ignore[arg-type]
    "a model inside one": lambda: Account(login="al", card={"number": [HUSH]}),  # type: ignore[arg-type]
    "a put": lambda: put(wrong(plain=[HUSH])).request(),
    "a put of a set": lambda: put(wrong(codes={(HUSH,)})).request(),
    "a put of a model": lambda: put(wrong(card=Card.model_construct(number=[HUSH]))).request(),
    "a put of a key": lambda: put(SESSION.model_copy(update={"token": [HUSH]})).request(),
    "a key": lambda: Session.key(HUSH * 9),
    "a key of another type": lambda: Session.key([HUSH]),
    "an update": lambda: update(ACCOUNT.own_key(), plain=[HUSH]),
    "an addition": lambda: update(ACCOUNT.own_key(), codes=Add([HUSH])),
    "a subtraction": lambda: update(ACCOUNT.own_key(), codes=Discard({(HUSH,)})),
    "a longer list": lambda: update(ACCOUNT.own_key(), old=Append([[HUSH]])),
    "a default": lambda: update(ACCOUNT.own_key(), inside=IfMissing([HUSH])),
    "a place": lambda: update(ACCOUNT.own_key(), At("card.number", [HUSH])),
    "a condition": lambda: delete(ACCOUNT.own_key(), when=attr("plain") == [HUSH]).request(),
    "a member": lambda: delete(ACCOUNT.own_key(), when=attr("codes").contains([HUSH])).request(),
    "a range": lambda: delete(ACCOUNT.own_key(), when=attr("plain").between(HUSH, "a")).request(),
    "a query": lambda: Session.within("ByUser", user="al", token=[HUSH]),
    "a stretch": lambda: Session.within("ByUser", user="al", token=less_than([HUSH])),
    "a partition": lambda: partition(Session, "main", token=[HUSH]),
    "an item": lambda: Account.layout.from_item(broken_item(Plain={"N": HUSH})),
    "an item with a list": lambda: Account.layout.from_item(broken_item(Old={"L": [{"N": HUSH}]})),
    "an item that is too long": lambda: Account.layout.from_item(
        broken_item(Limited={"S": HUSH * 9})
    ),
    "an item's key": lambda: Session.key_of({"PK": {"S": HUSH}, "SK": {"S": "SESSION"}}),
    "an item at a secret key": lambda: Session.layout.from_item(
        {**Session.layout.to_item(SESSION), "User": {"N": "1"}}
    ),
    "a record": lambda: decode(
        {
            "eventName": "INSERT",
            "dynamodb": {
                "Keys": SESSION.own_key().item,
                "NewImage": {**Session.layout.to_item(SESSION), "User": {"N": "1"}},
            },
        },
        [ACCOUNTS],
    ),
}


@pytest.mark.parametrize("speak", LEAKS.values(), ids=LEAKS)
def test_no_error_shows_a_secret(speak: Callable[[], Any]) -> None:
    with pytest.raises((ValueRefused, ItemMismatch, ValidationError)) as caught:
        speak()
    error: BaseException | None = caught.value
    while error is not None:
        assert HUSH not in str(error) + repr(error)
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


EXPLAINED: dict[str, Callable[[], Any]] = {
    "put": lambda: create(ACCOUNT),
    "put of a key": lambda: create(SESSION),
    "get": lambda: get(SESSION.own_key()),
    "get many": lambda: get_many([SESSION.own_key()]),
    "put many": lambda: put_many([ACCOUNT, SESSION]),
    "get together": lambda: get_together(SESSION.own_key()),
    "update": lambda: update(ACCOUNT, plain=HUSH, inside=HUSH, old=Append([HUSH])),
    "update of a set": lambda: update(ACCOUNT, codes=Add({HUSH})),
    "update of another": lambda: update(ACCOUNT, codes=Discard({HUSH}), pin=IfMissing(HUSH)),
    "update of a place": lambda: update(ACCOUNT, At("card.number", HUSH)),
    "delete": lambda: delete(SESSION.own_key()),
    "condition": lambda: delete(
        ACCOUNT.own_key(),
        when=(attr("plain") == HUSH)
        | attr("inside").between(HUSH, HUSH)
        | attr("outside").one_of(HUSH, "x")
        | attr("limited").begins_with(HUSH)
        | ~attr("codes").contains(HUSH),
    ),
    "transaction": lambda: transact(
        put(SESSION), check(ACCOUNT.own_key(), when=attr("plain") == HUSH)
    ),
    "query": lambda: query(Session.within("main", token=HUSH)),
    "query of an index": lambda: query(
        Session.within("ByUser", user="al", token=less_than(HUSH)), limit=1
    ),
    "scan": lambda: scan(Account, filter=attr("inside") == HUSH),
}


@pytest.mark.parametrize("make", EXPLAINED.values(), ids=EXPLAINED)
def test_no_explanation_shows_a_secret(make: Callable[[], Any]) -> None:
    explained = explain(make(), tables=[ACCOUNTS])
    assert HUSH not in str(explained)
    assert "***" in str(explained)
    assert any(HUSH in str(request.request) for request in explained.requests)


def test_what_is_not_secret_is_explained_as_it_is() -> None:
    told = str(explain(update(ACCOUNT, note="loud", plain=HUSH), tables=[ACCOUNTS]))
    assert "loud" in told
    assert "ACCOUNT#al" in told


class Badge(Entity, table=ACCOUNTS):
    keys = Keys(main=("BADGE#{number}", "BADGE"), ByUser=("PIN#{pin}", "BADGE#{number:04}"))
    number: int
    pin: SecretText | None = None
    note: str = ""


class BadgePin(Entity, table=ACCOUNTS):
    keys = Keys(main=("BADGEPIN#{pin}", "BADGEPIN"))
    pin: SecretText
    number: int


unique(Badge, "pin", marker=BadgePin)


def test_no_violation_shows_a_secret(engine: Engine) -> None:
    store = Store(engine)
    system = System("accounts", (ACCOUNTS,))
    store.run(setup(system))
    store.run(load_many([Badge(number=1, pin=HUSH), Badge(number=2, pin=f"{HUSH}2")]))
    store.run(load_many([BadgePin(pin=f"{HUSH}2", number=9), SESSION]))
    for key, attribute in (
        (Badge.key(1), "UserPK"),
        (SESSION.own_key(), "Token"),
        (BadgePin.key(f"{HUSH}3"), "Note"),  # has no number, and cannot be read
    ):
        store.send(
            Request(
                "UpdateItem",
                {
                    "TableName": ACCOUNTS.name,
                    "Key": key.item,
                    "UpdateExpression": "SET #name = :value",
                    "ExpressionAttributeNames": {"#name": attribute},
                    "ExpressionAttributeValues": {":value": {"S": f"PIN#{HUSH}4"}},
                },
            )
        )
    violations = store.run(verify(system))
    assert len({type(violation) for violation in violations}) == 5
    for violation in violations:
        assert HUSH not in f"{violation} {violation!r} {violation.sentence}"
        assert "***" in f"{violation}"


def test_an_exchange_shows_what_was_asked_and_nothing_of_the_data(engine: Engine) -> None:
    seen: list[Exchange] = []
    store = Store(engine, hooks=[seen.append])
    store.run(setup(ACCOUNTS))
    store.run(put(ACCOUNT))
    store.run(get(ACCOUNT.own_key()))
    shown = repr(seen)
    assert HUSH not in shown
    assert "PutItem" in shown and "GetItem" in shown
