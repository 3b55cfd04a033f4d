"""Whatever anybody sends to `/api/v1`, nothing fails, and every answer is one that is described."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bigtime.web.app import LIMITS
from bigtime.web.http.limits import Limit
from tests.web.api.attacking import Attack, Party, operations, walk
from tests.web.api_v1.attacked import attacked_scene
from tests.web.api_v1.routes import by_system as routes_by_system
from tests.web.browsing import PLENTY, Web

Scene = tuple[Web, list[Party]]

PREFIX = "/api/v1/"
EXAMPLES = 2
REFUSED = {
    "POST /api/v1/me/user": "whoever is signed in has been made one",
    "POST /api/v1/me/customer": "so has whoever has ordered",
    "PUT /api/v1/categories/{categoryName}/featured-deals": "five are featured, and there is one",
    "POST /api/v1/me/orders": "nobody can make up the mark of a cart",
    "POST /api/v1/me/cart/lines/undo": "nor what undoes a removal",
}
"""What nobody is answered well to, however hard they try."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with attacked_scene(tmp_path_factory.mktemp("site"), PLENTY) as scene:
        yield scene


@pytest.fixture(scope="module")
def scene_facts(scene: Scene) -> Any:
    return scene[0].browser().get("/openapi.json").json()


@pytest.fixture(scope="module")
def by_system(scene_facts: Any) -> dict[str, list[Any]]:
    return operations(scene_facts, PREFIX)


@pytest.mark.proof
@pytest.mark.parametrize("system", routes_by_system())
def test_every_answer_is_one_that_is_described(
    system: str, scene: Scene, by_system: dict[str, list[Any]]
) -> None:
    assert len(by_system[system]) == len(routes_by_system()[system])
    attack = Attack(scene[1], examples=EXAMPLES)
    for operation in by_system[system]:
        attack.on(operation)
    assert attack.never_well() <= REFUSED.keys()


@pytest.mark.proof
def test_so_is_every_answer_on_the_way_from_one_to_the_next(scene: Scene, scene_facts: Any) -> None:
    (admin,) = [each for each in scene[1] if each.name == "admin"]
    met = walk(scene_facts, PREFIX, admin, walks=20, steps=6)
    assert len(met) > 10


@pytest.mark.proof
def test_so_is_that_it_was_too_often(tmp_path: Path) -> None:
    once = dict.fromkeys(LIMITS, Limit(1, 3_600))
    with attacked_scene(tmp_path, once) as (web, parties):
        attack = Attack(parties, examples=2)
        for operation in operations(web.browser().get("/openapi.json").json(), PREFIX).values():
            attack.too_often(operation)
