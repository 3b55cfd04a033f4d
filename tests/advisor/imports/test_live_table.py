"""A live table becomes a module that reads its items back."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random
from types import ModuleType

import pytest

from bigtime import model as bt
from bigtime.advisor import CannotImport, diff, import_table
from bigtime.store import Store, open_store
from bigtime.systems import deals, portal, shop
from bigtime.wire import Item, Request
from tests.advisor.imports.imported import load, templates


def fill_store(module: ModuleType) -> Store:
    store = open_store("memory:")
    system: bt.System = module.SYSTEM
    store.run(bt.setup(system))
    assert system.demo is not None
    store.run(bt.load_many(islice(system.demo.entities(bt.Scale.SMALL, Random(1)), 1_500)))
    return store


def items_in(store: Store, table: str) -> list[Item]:
    items: list[Item] = store.send(Request("Scan", {"TableName": table}))["Items"]
    return items


@pytest.mark.parametrize("module", [shop, deals, portal], ids=lambda module: module.__name__)
def test_every_item_is_read_back_and_written_as_it_was(module: ModuleType, tmp_path: Path) -> None:
    with fill_store(module) as store:
        for table in module.SYSTEM.tables:
            made = store.run(import_table(table.name, sample=100_000))
            assert "# Undecided" not in made.text
            system = load(made, tmp_path).SYSTEM
            assert store.run(diff(system)) == []
            assert [str(each) for each in store.run(bt.verify(system))] == []
            for item in items_in(store, table.name):
                kinds = [kind for kind in system.entities if fits(kind, item)]
                assert len(kinds) == 1
                assert kinds[0].from_item(item).to_item().items() >= item.items()


def fits(kind: type[bt.Entity], item: Item) -> bool:
    return bt.fields_in_key(kind.layout.keys[bt.MAIN].parts, item) is not None


def test_the_templates_of_a_shop_are_found_in_its_keys(tmp_path: Path) -> None:
    with fill_store(shop) as store:
        made = store.run(import_table("EcommerceTable"))
    found = templates(load(made, tmp_path).SYSTEM)
    assert found == {name: text for name, text in templates(shop.SYSTEM).items() if name in found}
    assert {name for name, _ in found} == {"Customer", "CustomerEmail", "Order", "OrderItem"}


def test_a_sample_is_bounded_and_it_is_told(tmp_path: Path) -> None:
    scanned: list[int] = []
    with fill_store(deals) as store:
        store.hooks = (
            lambda exchange: (
                scanned.append(exchange.request.params["Limit"])
                if exchange.request.operation == "Scan"
                else None
            ),
        )
        made = store.run(import_table("BigTimeDeals", sample=80))
    assert scanned == [10] * 8
    assert "80 of its items were looked at" in made.notes[0].problem


def test_nothing_that_is_stored_gets_into_the_module(tmp_path: Path) -> None:
    with fill_store(shop) as store:
        made = store.run(import_table("EcommerceTable"))
        values = {
            value["S"]
            for item in items_in(store, "EcommerceTable")
            for name, value in item.items()
            if "S" in value and name not in ("Type", "Status")
        }
    assert [value for value in values if len(value) > 3 and value in made.text] == []


def test_settings_of_the_table_are_declared(tmp_path: Path) -> None:
    table = bt.Table(
        "Legacy",
        bt.number("Id"),
        indexes=[bt.global_index("ByOwner", "Owner", include=["Name"])],
        ttl="ExpiresAt",
        stream="KEYS_ONLY",
        tags={"team": "shop"},
        deletion_protection=True,
        point_in_time_recovery=True,
        throughput=bt.Throughput(3, 2),
    )

    class Thing(bt.Entity, table=table, stored={"id_": "Id", "owner": "Owner"}):
        keys = bt.Keys(main="{id_}", ByOwner="{owner}")
        id_: int
        owner: str
        ExpiresAt: int = 9

    with open_store("memory:") as store:
        store.run(bt.setup(table))
        store.run(bt.put(Thing(id_=1, owner="al")))
        made = store.run(import_table("Legacy"))
        system = load(made, tmp_path).SYSTEM
        assert store.run(diff(system)) == []
    again = system.tables[0]
    assert (again.throughput, again.point_in_time_recovery) == (bt.Throughput(3, 2), 35)
    assert made.notes == ()


def test_an_empty_table_has_fields_for_keys_and_no_table_is_an_error(tmp_path: Path) -> None:
    with open_store("memory:") as store:
        store.run(bt.setup(deals.SYSTEM))
        made = store.run(import_table("BigTimeDeals"))
        system = load(made, tmp_path).SYSTEM
        assert templates(system)["BigTimeDeals", "main"] == ("{pk}", "{sk}")
        assert store.run(diff(system)) == []
        with pytest.raises(CannotImport, match="table Nothing: there is no such table"):
            store.run(import_table("Nothing"))
