"""The design of accounts: as charted, as checked, as stored."""

from __future__ import annotations

from pathlib import Path
from random import Random

from argon2 import extract_parameters

from bigtime.advisor import open_findings
from bigtime.model import Scale, load_many
from bigtime.systems.accounts import SYSTEM
from bigtime.systems.accounts.account import (
    demo_accounts,
    drawn_passwords,
    login_of,
    sign_up,
    verify_password,
)
from bigtime.systems.accounts.design import Account, Role
from tests.store.places import Place
from tests.systems.cart.charted import expected_rows, generated_rows
from tests.systems.cart.contents import check_sound, contents


def test_the_charts_are_the_contract_s() -> None:
    assert generated_rows(SYSTEM) == expected_rows(Path(__file__).parent)


def test_nothing_about_it_is_open() -> None:
    assert open_findings(SYSTEM) == []


def test_what_is_stored_of_a_password_is_an_argon2id_hash(alone: Place) -> None:
    alone.run(sign_up("Alex@Example.com", "correct horse", "Alex", tenant_id="T1"))
    (item,) = contents(alone, SYSTEM)["Accounts"]
    made = extract_parameters(item.pop("PasswordHash")["S"])
    assert (made.type.name, made.memory_cost, made.time_cost, made.parallelism) == (
        "ID",
        19_456,
        2,
        1,
    )
    assert item == {
        "Login": {"S": "alex@example.com"},
        "Username": {"S": "alex"},
        "TenantId": {"S": "T1"},
        "Roles": {"SS": ["shopper"]},
        "CreatedAt": {"S": "2026-11-15T12:00:00.000000Z"},
        "ChangedAt": {"S": "2026-11-15T12:00:00.000000Z"},
        "Shard": {"N": "0"},
        "NewestPK": {"S": "ACCOUNTS#0"},
        "IsStaff": {"BOOL": False},
    }


def test_the_hash_does_not_show() -> None:
    account = Account(login="alex", password_hash="$argon2id$secret", username="alex")
    assert "argon2id" not in f"{account!r} {account} {account.identity}"


def test_demo_accounts_can_sign_in_with_the_passwords_that_are_drawn(alone: Place) -> None:
    demo = SYSTEM.demo
    assert demo is not None
    made = list(demo.entities(Scale.LARGE, Random(7)))
    assert len(made) == demo.count(Scale.LARGE) == 3
    alone.run(load_many(made))
    roles = {
        name: alone.run(verify_password(login_of(name), password)).roles
        for name, password in drawn_passwords(Random(7)).items()
    }
    assert roles == {
        "shopper": {Role.SHOPPER},
        "editor": {Role.SHOPPER, Role.EDITOR},
        "admin": set(Role),
    }
    check_sound(alone, SYSTEM)


def test_demo_accounts_take_the_passwords_that_are_given(alone: Place) -> None:
    given = dict.fromkeys(("shopper", "editor", "admin"), "open sesame")
    alone.run(load_many(demo_accounts(given, Random(7))))
    assert alone.run(verify_password("admin@example.com", "open sesame")).username == "admin"
