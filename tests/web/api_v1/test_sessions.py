"""Sessions: begun with a password, seen and ended by whoever they belong to."""

from __future__ import annotations

import pytest

from bigtime.model import scan_all
from bigtime.systems.accounts.design import Role
from bigtime.systems.sessions.design import Session, hash_token
from bigtime.web.http.limits import Limit
from tests.web.api_v1.calling import Caller, again, caller, faulty, problem
from tests.web.browsing import PASSWORD, Web
from tests.web.portal.scene import later


@pytest.fixture
def sam(web: Web) -> Caller:
    """Somebody with a password."""
    web.join("sam")
    return again(web, "sam")


def test_a_password_begins_a_session(web: Web, sam: Caller, nobody: Caller) -> None:
    begun = nobody.post("/sessions", {"email": "SAM@example.com", "password": PASSWORD})
    told = begun.json()
    assert begun.status_code == 201 and "set-cookie" not in begun.headers
    assert (told["username"], told["roles"]) == ("sam", ["shopper"])
    nobody.token = told["token"]
    assert nobody.get("/me/session").json()["sessionId"] == told["sessionId"]
    stored = web.run(scan_all(Session))
    assert told["sessionId"] == hash_token(told["token"])
    assert told["token"] not in repr(stored)


def test_who_guesses_is_told_nothing(sam: Caller, nobody: Caller) -> None:
    answers = [
        nobody.post("/sessions", {"email": email, "password": password})
        for email, password in (
            ("sam@example.com", "wrong horse"),
            ("somebody@example.com", PASSWORD),
            ("a#b", PASSWORD),
        )
    ]
    assert {problem(answer) for answer in answers} == {(401, "wrong-login")}
    assert len({answer.text for answer in answers}) == 1
    assert faulty(nobody.post("/sessions", {"email": "x"})) == {"password"}
    long = nobody.post("/sessions", {"email": "x", "password": "p" * 1_001})
    assert faulty(long) == {"password"} and "ppp" not in long.text


def test_tries_are_limited(web: Web, sam: Caller, nobody: Caller) -> None:
    web.site.limits.limits["log in as"] = Limit(2, 600)
    wrong = {"email": "sam@example.com", "password": "wrong horse"}
    codes = [problem(nobody.post("/sessions", wrong))[0] for _ in range(3)]
    assert codes == [401, 401, 429]


@pytest.mark.parametrize("spelled", [" {}", "{}  ", "\t{}", "\u2003{}", "{}\u00a0"], ids=ascii)
def test_other_spellings_of_a_login_have_no_tries_of_their_own(
    web: Web, sam: Caller, nobody: Caller, spelled: str
) -> None:
    web.site.limits.limits["log in as"] = Limit(2, 600)
    codes = []
    for email in ("sam@example.com", "SAM@example.com", spelled.format("sam@example.com")):
        refused = nobody.post("/sessions", {"email": email, "password": "wrong horse"})
        codes.append(problem(refused)[0])
    assert codes == [401, 401, 429]


def test_sessions_are_listed_and_ended_one_by_one(web: Web, sam: Caller, bo: Caller) -> None:
    other = again(web, "sam")
    listed = sam.get("/me/sessions").json()["items"]
    assert len(listed) == 2 and [each["isThis"] for each in listed].count(True) == 1
    assert sam.token not in repr(listed) and len(bo.get("/me/sessions").json()["items"]) == 1
    (there,) = [each["sessionId"] for each in listed if not each["isThis"]]

    assert problem(bo.delete(f"/me/sessions/{there}")) == (404, "unknown-session")
    assert problem(sam.delete("/me/sessions/none")) == (422, "unhashed-token")
    assert other.get("/me/session").status_code == 200
    assert sam.delete(f"/me/sessions/{there}").status_code == 204
    assert problem(other.get("/me/session")) == (401, "not-signed-in")
    assert problem(sam.delete(f"/me/sessions/{there}")) == (404, "unknown-session")


def test_a_session_tells_its_device_and_when_it_was_last_seen(web: Web, sam: Caller) -> None:
    program = web.browser(headers={"user-agent": "curl/8.5.0"})
    credentials = {"email": "sam@example.com", "password": PASSWORD}
    begun = program.post("/api/v1/sessions", json=credentials).json()
    later(web, minutes=7)
    web.site.visitors.forget_all()
    sam.token = begun["token"]
    sam.get("/me/cart")
    session = sam.get("/me/session").json()
    assert (session["device"], session["isThis"]) == ("curl", True)
    assert session["createdAt"] == begun["createdAt"] < session["lastSeenAt"]


def test_a_token_of_an_editor_who_is_idle_opens_nothing(web: Web) -> None:
    erin = caller(web, "erin", Role.EDITOR)
    assert erin.get("/me/session").status_code == 200
    later(web, minutes=31)
    web.site.visitors.forget_all()
    assert problem(erin.get("/me/session")) == (401, "not-signed-in")


def test_to_log_out_ends_this_session_at_once(web: Web, sam: Caller) -> None:
    other = again(web, "sam")
    assert sam.delete("/me/session").status_code == 204
    assert problem(sam.get("/me/session")) == (401, "not-signed-in")
    assert other.get("/me/session").status_code == 200


def test_to_log_out_everywhere_may_keep_this_session(web: Web, sam: Caller, bo: Caller) -> None:
    others = [again(web, "sam") for _ in range(2)]
    assert sam.delete("/me/sessions", keepThis="true").json() == {"ended": 2}
    assert {other.get("/me/session").status_code for other in others} == {401}
    assert sam.get("/me/session").status_code == 200
    assert sam.delete("/me/sessions").json() == {"ended": 1}
    assert sam.get("/me/session").status_code == 401
    assert bo.get("/me/session").status_code == 200
