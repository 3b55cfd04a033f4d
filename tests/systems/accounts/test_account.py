"""Accounts, wherever the store stands."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest
from argon2.low_level import verify_secret
from hypothesis import example, given
from hypothesis import strategies as st

from bigtime.model import DomainError, create, load_many, setup, transact
from bigtime.store import open_store
from bigtime.systems.accounts import OWN_ACCOUNTS, SYSTEM, design, password
from bigtime.systems.accounts.account import (
    change_password,
    confirm_login,
    count_accounts,
    grant_role,
    link_write,
    list_accounts,
    list_staff,
    prepare_password_reset,
    revoke_role,
    sign_up,
    verify_password,
    view_account,
)
from bigtime.systems.accounts.design import (
    Account,
    Identity,
    LoginTaken,
    Role,
    UnknownLogin,
    WrongCredentials,
)
from bigtime.systems.accounts.password import CURRENT, NOBODY, Cost, hash_password, is_match
from bigtime.wire import Request, Steps
from tests.store.places import Place
from tests.systems.cart.contents import assert_unchanged, check_sound, contents
from tests.systems.cart.racing import continue_steps, in_processes, in_threads

SECRET, NEW = "correct horse", "battery staple"
CHEAP = Cost(memory_kib=64, passes=1)


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hashes that cost little, for what is not about their cost."""
    monkeypatch.setattr(
        password, "hash_password", lambda text, salt: hash_password(text, salt, CHEAP)
    )
    monkeypatch.setattr(password, "CURRENT", CHEAP)


def stored_hash(place: Place) -> str:
    (item,) = contents(place, SYSTEM)["Accounts"]
    text: str = item["PasswordHash"]["S"]
    return text


def test_whoever_has_signed_up_can_sign_in(place: Place) -> None:
    made = place.run(sign_up("Alex@example.com", SECRET, "alex"))
    assert made == Identity("alex@example.com", "alex", None, frozenset({Role.SHOPPER}))
    assert place.run(verify_password("ALEX@example.com ", SECRET)) == made
    with pytest.raises(WrongCredentials):
        place.run(verify_password("alex@example.com", NEW))


@pytest.mark.usefixtures("cheap")
def test_a_login_is_taken_once(place: Place) -> None:
    place.run(sign_up("alex", SECRET, "alex"))
    with assert_unchanged(place, SYSTEM), pytest.raises(LoginTaken):
        place.run(sign_up("Alex", NEW, "another"))


@pytest.mark.usefixtures("cheap")
def test_a_changed_password_is_the_only_one(place: Place) -> None:
    place.run(sign_up("alex", SECRET, "alex"))
    with assert_unchanged(place, SYSTEM), pytest.raises(WrongCredentials):
        place.run(change_password("alex", NEW, SECRET))
    place.run(change_password("alex", SECRET, NEW))
    assert place.run(verify_password("alex", NEW)).login == "alex"
    with pytest.raises(WrongCredentials):
        place.run(verify_password("alex", SECRET))


@pytest.mark.usefixtures("cheap")
def test_roles_are_granted_and_revoked_once_or_twice(place: Place) -> None:
    place.run(sign_up("ada", SECRET, "ada", roles={Role.ADMIN}))
    place.run(sign_up("alex", SECRET, "alex", roles=frozenset()))
    assert place.run(view_account("alex")).roles == frozenset()
    for _ in range(2):
        assert place.run(grant_role("alex", Role.EDITOR)).roles == {Role.EDITOR}
    assert place.run(grant_role("alex", Role.ADMIN)).roles == {Role.EDITOR, Role.ADMIN}
    for _ in range(2):
        assert place.run(revoke_role("alex", Role.EDITOR)).roles == {Role.ADMIN}
    assert place.run(revoke_role("alex", Role.ADMIN)).roles == frozenset()
    assert place.run(verify_password("alex", SECRET)).roles == frozenset()


@pytest.mark.usefixtures("cheap")
def test_the_last_admin_stays_one(place: Place) -> None:
    place.run(sign_up("ada", SECRET, "ada", roles={Role.SHOPPER, Role.ADMIN}))
    place.run(sign_up("erin", SECRET, "erin", roles={Role.EDITOR}))
    with pytest.raises(design.LastAdmin):
        place.run(revoke_role("ada", Role.ADMIN))
    assert Role.ADMIN in place.run(view_account("ada")).roles
    place.run(grant_role("erin", Role.ADMIN))
    assert place.run(revoke_role("ada", Role.ADMIN)).roles == {Role.SHOPPER}
    with pytest.raises(design.LastAdmin):
        place.run(revoke_role("erin", Role.ADMIN))
    check_sound(place, SYSTEM)


@pytest.mark.usefixtures("cheap")
def test_of_admins_who_demote_each_other_one_stays(alone: Place) -> None:
    names = ("ada", "bea", "cleo", "dora")
    for name in names:
        alone.run(sign_up(name, SECRET, name, roles={Role.ADMIN}))
    in_threads([partial(alone.run, revoke_role(name, Role.ADMIN)) for name in names])
    assert [entry.identity.login for entry in alone.run(list_staff(Role.ADMIN))]


@pytest.mark.usefixtures("cheap")
def test_what_goes_along_is_done_once_and_only_with_a_change(alone: Place) -> None:
    alone.run(sign_up("alex", SECRET, "alex"))
    other = Account(login="note", password_hash=NOBODY, username="note")
    for _ in range(2):
        alone.run(grant_role("alex", Role.EDITOR, along=(create(other, unless_exists=LoginTaken),)))
    with pytest.raises(LoginTaken):
        alone.run(grant_role("alex", Role.ADMIN, along=(create(other, unless_exists=LoginTaken),)))
    assert Role.ADMIN not in alone.run(view_account("alex")).roles


@pytest.mark.usefixtures("cheap")
def test_accounts_are_listed_newest_first_and_pages_join_up(place: Place) -> None:
    accounts = [
        Account(
            login=f"user-{number:02}",
            password_hash=NOBODY,
            username=f"user-{number:02}",
            created_at=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=number),
        )
        for number in range(23)
    ]
    place.run(load_many(accounts))
    found: list[str] = []
    after = None
    while True:
        page = place.run(list_accounts(limit=5, after=after))
        found += [entry.identity.login for entry in page]
        after = page.position
        if after is None:
            break
    assert found == [account.login for account in reversed(accounts)]
    oldest = place.run(list_accounts(limit=3, newest_first=False))
    assert [entry.identity.login for entry in oldest] == ["user-00", "user-01", "user-02"]
    assert place.run(count_accounts()) == 23


@pytest.mark.usefixtures("cheap")
def test_staff_are_listed_by_role_and_shoppers_are_not(place: Place) -> None:
    for name, roles in {
        "ada": {Role.SHOPPER, Role.ADMIN},
        "both": {Role.EDITOR, Role.ADMIN},
        "erin": {Role.SHOPPER, Role.EDITOR},
        "sam": {Role.SHOPPER},
    }.items():
        place.run(sign_up(name, SECRET, name, roles=roles))

    def staff_logins(role: Role | None = None) -> list[str]:
        return [entry.identity.login for entry in place.run(list_staff(role))]

    assert staff_logins() == ["ada", "both", "erin"]
    assert (staff_logins(Role.ADMIN), staff_logins(Role.EDITOR)) == (
        ["ada", "both"],
        ["both", "erin"],
    )
    place.run(grant_role("sam", Role.EDITOR))
    place.run(revoke_role("erin", Role.EDITOR))
    assert staff_logins() == ["ada", "both", "sam"]


def test_an_unknown_login_costs_as_much_as_a_wrong_password(
    alone: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone.run(sign_up("alex", SECRET, "alex"))
    verified: list[str] = []

    def verify_and_note(stored: bytes, *more: Any) -> bool:
        verified.append(stored.decode().rpartition("$")[0].rpartition("$")[0])
        return verify_secret(stored, *more)

    monkeypatch.setattr(password, "verify_secret", verify_and_note)
    for login in ("alex", "nobody", "no#body", "", "x" * 300):
        with pytest.raises(WrongCredentials):
            alone.run(verify_password(login, NEW))
    assert verified == ["$argon2id$v=19$m=19456,t=2,p=1"] * 5


def test_nobody_has_a_password() -> None:
    assert not is_match(NOBODY, "")
    assert NOBODY.startswith(hash_password(SECRET, bytes(16), CURRENT).rpartition("$")[0])


def test_a_hash_of_other_parameters_is_made_anew_and_only_then(place: Place) -> None:
    weak = hash_password(SECRET, bytes(16), CHEAP)
    place.run(load_many([Account(login="alex", password_hash=weak, username="alex")]))
    with pytest.raises(WrongCredentials):
        place.run(verify_password("alex", NEW))
    assert stored_hash(place) == weak
    place.run(verify_password("alex", SECRET))
    strong = stored_hash(place)
    assert "m=19456,t=2,p=1" in strong
    place.run(verify_password("alex", SECRET))
    assert stored_hash(place) == strong


@pytest.mark.usefixtures("cheap")
def test_a_password_that_was_changed_while_another_was_shown_stays(alone: Place) -> None:
    alone.run(sign_up("alex", SECRET, "alex"))
    late = change_password("alex", SECRET, "a third one")
    seen = next(late)
    assert isinstance(seen, Request)
    response = alone.ask(seen.operation, **seen.params)
    alone.run(change_password("alex", SECRET, NEW))
    with assert_unchanged(alone, SYSTEM), pytest.raises(design.PasswordChanged):
        alone.run(continue_steps(late, response))
    assert alone.run(verify_password("alex", NEW)).login == "alex"


@pytest.mark.usefixtures("cheap")
def test_the_same_randomness_makes_the_same_hash(alone: Place) -> None:
    for login, seed in (("al", 1), ("bo", 1), ("cy", 2)):
        alone.store.randomness = Random(seed).randbytes
        alone.run(sign_up(login, SECRET, login))
    items = contents(alone, SYSTEM)["Accounts"]
    hashes = {item["Login"]["S"]: item["PasswordHash"]["S"] for item in items}
    assert hashes["al"] == hashes["bo"] != hashes["cy"]


def test_the_patterns_are_the_port_s() -> None:
    assert OWN_ACCOUNTS.verify_password is verify_password


@given(st.text(st.characters(codec=None), max_size=30))
@example("Å" * 8)
def test_whatever_is_long_enough_is_a_password_and_nothing_else_matches_it(text: str) -> None:
    made = hash_password(text, bytes(16), CHEAP)
    assert is_match(made, text)
    assert not is_match(made, text + "x")


def test_a_password_is_what_is_typed_however_it_is_composed() -> None:
    made = hash_password("Zürich-Zürich", bytes(16), CHEAP)
    assert is_match(made, "Zu\u0308rich-Zu\u0308rich")


BAD_INPUT: dict[str, tuple[Callable[[], Steps[Any]], type[DomainError]]] = {
    "empty login": (lambda: sign_up(" ", SECRET, "bo"), design.InvalidLogin),
    "long login": (lambda: sign_up("b" * 255, SECRET, "bo"), design.InvalidLogin),
    "login with #": (lambda: sign_up("b#o", SECRET, "bo"), design.InvalidLogin),
    "empty username": (lambda: sign_up("bo", SECRET, ""), design.InvalidUsername),
    "username with #": (lambda: sign_up("bo", SECRET, "b#o"), design.InvalidUsername),
    "tenant with #": (lambda: sign_up("bo", SECRET, "bo", tenant_id="#"), design.InvalidTenantId),
    "short password": (lambda: sign_up("bo", "7 chars", "bo"), password.PasswordTooShort),
    "long password": (lambda: sign_up("bo", "x" * 257, "bo"), password.PasswordTooLong),
    "short new password": (lambda: change_password("alex", SECRET, "x"), password.PasswordTooShort),
    "long wrong password": (lambda: verify_password("alex", "x" * 10**6), WrongCredentials),
    "nobody's password": (lambda: change_password("nobody", SECRET, NEW), WrongCredentials),
    "nobody's role": (lambda: grant_role("nobody", Role.ADMIN), UnknownLogin),
    "nobody's role back": (lambda: revoke_role("nobody", Role.ADMIN), UnknownLogin),
    "nobody": (lambda: view_account("nobody"), UnknownLogin),
    "nobody's name": (lambda: view_account("no#body"), design.InvalidLogin),
}


@pytest.mark.usefixtures("cheap")
@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_its_own_error_and_leaves_no_trace(alone: Place, case: str) -> None:
    steps, error = BAD_INPUT[case]
    alone.run(sign_up("alex", SECRET, "alex"))
    with assert_unchanged(alone, SYSTEM), pytest.raises(error) as refused:
        alone.run(steps())
    assert str(refused.value).endswith(".")
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("weak", "says"),
    [
        ("password1", "This is a very common password."),
        ("qwertyuiop", "Uncommon words are better."),
        ("abcabcabc", "Repeats like"),
        ("aaaaaaaaaaaa", "Avoid repeated words and characters."),
        ("alexmoyo99", "Add another word or two."),
        ("alex.moyo@example.com", "easy to guess"),
        ("Moyo1985", "easy to guess"),
        ("x" * 256, "easy to guess"),
    ],
)
@pytest.mark.usefixtures("cheap")
def test_a_password_that_is_easy_to_guess_is_refused_with_advice(
    alone: Place, weak: str, says: str
) -> None:
    login, username = "alex.moyo@example.com", "alexmoyo99"
    with pytest.raises(password.PasswordTooWeak) as refused:
        alone.run(sign_up(login, weak, username))
    assert says in str(refused.value) and str(refused.value).endswith(".")
    alone.run(sign_up(login, SECRET, username))
    with assert_unchanged(alone, SYSTEM), pytest.raises(password.PasswordTooWeak):
        alone.run(change_password(login, SECRET, weak))
    with assert_unchanged(alone, SYSTEM), pytest.raises(password.PasswordTooWeak):
        alone.run(prepare_password_reset(login, weak))


def test_the_word_lists_are_loaded_when_a_password_is_set_and_not_before() -> None:
    program = "import sys, bigtime.systems.accounts; assert 'zxcvbn' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.usefixtures("cheap")
def test_a_login_is_confirmed_once_its_owner_has_shown_it(place: Place) -> None:
    assert not place.run(sign_up("alex", SECRET, "alex")).is_confirmed
    for _ in range(2):
        assert place.run(confirm_login("Alex")).is_confirmed
    assert place.run(verify_password("alex", SECRET)).is_confirmed
    with pytest.raises(UnknownLogin):
        place.run(confirm_login("nobody"))


def test_of_threads_that_want_one_login_one_gets_it(alone: Place) -> None:
    racers = [lambda: alone.run(sign_up("alex", SECRET, "alex")).login for _ in range(4)]
    assert sorted(in_threads(racers)) == ["alex", *["login-taken"] * 3]


def test_of_threads_that_change_one_password_one_does(alone: Place) -> None:
    alone.run(sign_up("alex", SECRET, "alex"))
    words = [f"new password {number}" for number in range(4)]
    racers = [
        lambda word=word: alone.run(change_password("alex", SECRET, word)).login for word in words
    ]
    told = in_threads(racers)
    assert told.count("alex") == 1
    assert alone.run(verify_password("alex", words[told.index("alex")])).login == "alex"


def test_of_processes_that_want_one_login_one_gets_it(tmp_path: Path) -> None:
    file = tmp_path / "accounts.db"
    racer = "tests.systems.accounts.racers:join"
    with open_store(f"file:{file}") as store:
        store.run(setup(SYSTEM))
        told = in_processes(file, [(racer, name, SECRET) for name in ("al", "bo", "cy")])
        owner = store.run(view_account("one")).username
    assert sorted(told) == sorted([owner, "login-taken", "login-taken"])


def test_an_account_becomes_one_tenants_and_stays_it(place: Place) -> None:
    place.run(sign_up("alex@example.com", SECRET, "alex"))
    for _ in range(2):
        place.run(transact(link_write("alex@example.com", "tenant_1")))
        assert place.run(view_account("alex@example.com")).tenant_id == "tenant_1"
    with pytest.raises(design.OtherTenant):
        place.run(transact(link_write("alex@example.com", "tenant_2")))
    with pytest.raises(UnknownLogin):
        place.run(transact(link_write("nobody@example.com", "tenant_1")))
    assert place.run(view_account("alex@example.com")).tenant_id == "tenant_1"


def test_each_change_of_the_password_is_another_version_of_it(place: Place) -> None:
    made = place.run(sign_up("alex@example.com", SECRET, "alex"))
    first = place.run(change_password("alex@example.com", SECRET, NEW))
    second = place.run(change_password("alex@example.com", NEW, SECRET))
    versions = [each.password_version for each in (made, first, second)]
    assert versions == [0, 1, 2]
    assert place.run(view_account("alex@example.com")).password_version == 2
