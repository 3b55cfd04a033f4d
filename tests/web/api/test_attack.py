"""Whatever anybody sends to `/v1.0`, nothing fails, and every answer is one that is described."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from bigtime.model import DomainError
from bigtime.site import ApiArea
from bigtime.systems.accounts.design import Role
from bigtime.systems.portal.design import Tenant
from bigtime.systems.portal.registration import override_tenant_status
from bigtime.systems.portal.tenants import update_tenant
from bigtime.systems.portal.values import Status
from bigtime.web.app import LIMITS
from bigtime.web.http.limits import Limit
from tests.systems.portal.scenes import ADMIN, new_product
from tests.web.api.attacking import Attack, Party, operations, walk
from tests.web.api.portal_client import Program, openapi, program_of
from tests.web.browsing import PLENTY, Web, make_web, site_engine
from tests.web.portal.scene import customer, running_campaign

Scene = tuple[Web, list[Party]]

PREFIX = "/v1.0/"
EXAMPLES = 8
NUMBERS = count()
TAGS = ("tenants", "products", "campaigns", "checkout")


@contextmanager
def attacked_scene(data: Path, limits: dict[str, Limit]) -> Iterator[Scene]:
    """A portal with a product, a campaign, and a customer who has ordered."""
    with site_engine() as engine:
        front, store = make_web(engine, data, limits=limits)
        with TestClient(front) as served:
            site = served.app.application.state.context  # type: ignore[attr-defined]
            web = Web(front, site, store, served)
            yield web, [*parties(web)]


def parties(web: Web) -> Iterator[Party]:
    tenant, _ = customer(web, "cara@example.com")
    cara = Program(web, tenant.email)
    wanted = {"items": [{"productId": new_product(web).id, "quantity": 2}]}
    order = cara.post("/v1.0/checkout", wanted).json()
    programs = {
        "nobody": Program(web),
        "customer": cara,
        "editor": program_of(web, "edith", Role.EDITOR),
        "admin": program_of(web, "ada", Role.ADMIN),
    }

    def path_values(path: str) -> dict[str, str]:
        """What those before may have changed or archived is made anew."""
        revive(web, tenant)
        product = new_product(web)
        there = {"productId": product.id, "tenantId": tenant.id, "orderId": order["id"]}
        if "{email}" in path:
            return {**there, "email": tenant.email}
        if "{code}" in path:
            code = f"KNOWN{next(NUMBERS)}"
            return {**there, "code": running_campaign(web, product.id, code=code).code}
        return there

    for name, program in programs.items():
        yield Party(name, program.client, token_of(program), path_values)
    token = web.api_token("ada@example.com", ApiArea.DEALS, ApiArea.PORTAL)
    yield Party("token", web.browser(), lambda path: token, path_values)


def token_of(program: Program) -> Callable[[str], str | None]:
    token = program.headers.get("authorization", "").removeprefix("Bearer ") or None
    return lambda path: token


def revive(web: Web, tenant: Tenant) -> None:
    for steps in (
        update_tenant(tenant.id, {"active": True}, by=ADMIN),
        override_tenant_status(tenant.id, Status.REGISTERED, "as it was", by=ADMIN),
    ):
        with suppress(DomainError):
            web.run(steps)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with attacked_scene(tmp_path_factory.mktemp("site"), PLENTY) as scene:
        yield scene


@pytest.fixture(scope="module")
def by_tag(scene: Scene) -> dict[str, list[Any]]:
    return operations(openapi(scene[0]), PREFIX)


@pytest.mark.proof
@pytest.mark.parametrize("tag", TAGS)
def test_every_answer_is_one_that_is_described(
    tag: str, scene: Scene, by_tag: dict[str, list[Any]]
) -> None:
    assert by_tag.keys() == {*TAGS}
    attack = Attack(scene[1], examples=EXAMPLES)
    for operation in by_tag[tag]:
        attack.on(operation)
    assert attack.never_well() == set()


@pytest.mark.proof
def test_so_is_every_answer_on_the_way_from_one_to_the_next(scene: Scene) -> None:
    (admin,) = [each for each in scene[1] if each.name == "admin"]
    met = walk(openapi(scene[0]), PREFIX, admin, walks=20, steps=6)
    assert len(met) > 5


@pytest.mark.proof
def test_so_is_that_it_was_too_often(tmp_path: Path) -> None:
    once = dict.fromkeys(LIMITS, Limit(1, 3_600))
    with attacked_scene(tmp_path, once) as (web, parties):
        attack = Attack(parties, examples=2)
        for operation in operations(openapi(web), PREFIX).values():
            attack.too_often(operation)
