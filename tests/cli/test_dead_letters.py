"""`bigtime dead-letters` also for the search indexes and the lake of a system."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pytest

from bigtime.model import setup
from bigtime.projections.lake import FolderPlace, LakeWriter, run_query
from bigtime.projections.lake.columns import RowMaker
from bigtime.projections.search import Follower, open_backend
from bigtime.store import Store, open_store
from bigtime.systems import cart, deals
from bigtime.wire import Request
from tests.cli.program import invoke

LAKES = cart.SYSTEM.lakes
SKUS = "SELECT item_sku, change FROM cart_lines_changes ORDER BY position, changed_at, item_sku"


@pytest.fixture
def setting(tmp_path: Path) -> str:
    return f"file:{tmp_path}/site.db"


def shop(store: Store, *skus: str) -> None:
    for sku in skus:
        store.run(cart.put_in_cart("alex", sku, Decimal(2), 1))


def fail_to_make_row(setting: str, place: FolderPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lake sets the record of one product aside."""
    make = RowMaker.fields_of

    def refuse_tea(self: RowMaker, item: dict[str, dict[str, str]]) -> tuple[object, ...]:
        if item["ItemSKU"]["S"] == "TEA":
            raise ValueError("no tea here")
        return make(self, item)

    with open_store(setting) as store, monkeypatch.context() as patch:
        store.run(setup(cart.SYSTEM))
        shop(store, "LAMP", "TEA", "MILK")
        patch.setattr(RowMaker, "fields_of", refuse_tea)
        with LakeWriter(store, LAKES, place) as writer:
            for _ in range(6):
                with suppress(ValueError):
                    writer.drain()


def test_changes_of_the_lake_are_listed_and_retried(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = FolderPlace(tmp_path / "lake")
    fail_to_make_row(setting, place, monkeypatch)
    assert [row[0] for row in run_query(place, LAKES, SKUS).rows] == ["LAMP", "MILK"]
    listed = invoke("dead-letters", "list", "cart", store=setting)
    assert "lake.CartTable" in listed.stdout and "no tea here" in listed.stdout

    done = invoke("dead-letters", "retry", "cart", "--lake", str(place.folder), store=setting)
    assert done.exit_code == 0, done.output
    assert sorted(row[0] for row in run_query(place, LAKES, SKUS).rows) == ["LAMP", "MILK", "TEA"]
    current = run_query(place, LAKES, "SELECT item_sku FROM cart_lines ORDER BY 1").rows
    assert current == [["LAMP"], ["MILK"], ["TEA"]]
    again = invoke("dead-letters", "list", "cart", store=setting)
    assert again.stdout == "cart has no dead letters.\n"


def test_a_worker_that_writes_the_lake_is_asked_to_retry(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = FolderPlace(tmp_path / "lake")
    fail_to_make_row(setting, place, monkeypatch)
    with open_store(setting) as store, LakeWriter(store, LAKES, place) as writer:
        said = invoke("dead-letters", "retry", "cart", "--lake", str(place.folder), store=setting)
        assert said.exit_code == 0 and "The worker writes this lake" in said.stdout
        writer.maintain()
        assert store.run(cart.view_products("alex", cart.Status.ACTIVE)).items
    assert len(run_query(place, LAKES, SKUS).rows) == 3
    assert "no dead letters" in invoke("dead-letters", "list", "cart", store=setting).stdout


def test_a_change_that_fails_again_stays(
    setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = FolderPlace(tmp_path / "lake")
    fail_to_make_row(setting, place, monkeypatch)

    def refuse(self: RowMaker, item: object) -> tuple[object, ...]:
        raise ValueError("still no tea")

    monkeypatch.setattr(RowMaker, "fields_of", refuse)
    done = invoke("dead-letters", "retry", "cart", "--lake", str(place.folder), store=setting)
    assert done.exit_code == 1
    assert "lake.CartTable cannot handle record" in done.stderr and "still no tea" in done.stderr
    assert "lake.CartTable" in invoke("dead-letters", "list", "cart", store=setting).stdout


def test_records_of_search_are_listed_and_retried(setting: str, tmp_path: Path) -> None:
    folder = f"folder:{tmp_path}/search"
    backend = open_backend(folder, deals.DEAL_SEARCH)
    with open_store(setting) as store:
        store.run(setup(deals.SYSTEM))
        store.run(deals.create_categories())
        store.run(deals.create_brand("Voltaic"))
        follower = Follower(store, backend)
        follower.run_round()
        link = "https://shop.example/1"
        made = store.run(deals.create_deal("A lamp", link, Decimal(5), "Voltaic", "Electronics"))
        item = made.to_item()
        broken = {name: value for name, value in item.items() if name != "Title"}
        store.send(Request("PutItem", {"TableName": "BigTimeDeals", "Item": broken}))
        for _ in range(7):
            with suppress(Exception):
                follower.run_round()
        follower.close()
    assert "search.deals" in invoke("dead-letters", "list", "deals", store=setting).stdout
    failed = invoke("dead-letters", "retry", "deals", "--search", folder, store=setting)
    assert failed.exit_code == 1 and "search.deals cannot handle record" in failed.stderr

    with open_store(setting) as store:
        store.send(Request("PutItem", {"TableName": "BigTimeDeals", "Item": item}))
    done = invoke("dead-letters", "retry", "deals", "--search", folder, store=setting)
    assert done.exit_code == 0, done.output
    found = invoke("search", "find", "deals", "lamp", "--search", folder, store=setting)
    assert "1 found" in found.output
    assert "no dead letters" in invoke("dead-letters", "list", "deals", store=setting).stdout
