"""Whatever is sent to `/api/v1`, nothing fails, and every answer is one that is described."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.core.transport import Response as Answer
from starlette.testclient import TestClient

from bigtime.engine import Engine
from bigtime.systems.accounts.design import Role
from bigtime.web.api.v1_routes import ENDPOINTS
from tests.web.api_v1.calling import Caller, caller
from tests.web.browsing import Browser, Web, make_web

EXAMPLES = 5
BASE = "http://testserver"
ENDING = "/me/session"
"""What would end the session that asks."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    """Somebody who may everything."""
    with Engine.memory() as engine:
        front, store = make_web(engine, tmp_path_factory.mktemp("site"))
        with TestClient(front) as served:
            site = served.app.application.state.site  # type: ignore[attr-defined]
            yield caller(Web(front, site, store, served), "root", *Role)


@pytest.fixture(scope="module")
def operations(root: Caller) -> dict[str, list[Any]]:
    """The operations by their system."""
    told = root.browser.get("/openapi.json").json()
    schema: Any = schemathesis.openapi.from_dict(told)
    found: dict[str, list[Any]] = {}
    for result in schema.include(path_regex="^/api/v1/").get_all_operations():
        one = result.ok()
        found.setdefault(one.tags[0], []).append(one)
    return found


@pytest.mark.parametrize("system", ENDPOINTS)
def test_every_answer_is_one_that_is_described(
    system: str, root: Caller, operations: dict[str, list[Any]]
) -> None:
    assert len(operations[system]) == len(ENDPOINTS[system])
    for operation in operations[system]:
        if ENDING not in operation.path:
            attack(root.browser, root.token, operation)


def attack(browser: Browser, token: str, operation: Any) -> None:
    @given(case=operation.as_strategy())
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def send(case: Any) -> None:
        sent = case.as_transport_kwargs(base_url=BASE)
        sent["headers"] = {**sent["headers"], "authorization": f"Bearer {token}"}
        sent.pop("cookies", None)
        answer = browser.request(**sent)
        assert answer.status_code < 500, (operation.label, sent, answer.text)
        described = operation.definition.raw["responses"]
        assert str(answer.status_code) in described, (operation.label, sent, answer.text)
        if answer.content:
            told = Answer.from_httpx(answer, verify=False)
            operation.validate_response(told)

    send()
