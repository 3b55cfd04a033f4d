"""`bigtime import` and `bigtime export`: whole files or none, and sentences for people."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bigtime.cli import import_export
from tests.cli.program import ask, invoke

FOLDER = Path(__file__).parents[1] / "advisor" / "imports"
CART = FOLDER / "CartModel.json"
SCHEMA = FOLDER / "schema.json"


def test_a_module_is_written_and_passes_the_check(tmp_path: Path) -> None:
    done = ask("import", "workbench", CART, "--out", "carts_here.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.count("to decide  ") == 3
    assert "wrote carts_here.py; next: bigtime check carts_here:SYSTEM" in done.stderr
    checked = ask("check", "carts_here:SYSTEM", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    again = ask("import", "workbench", CART, "--out", "carts_here.py", cwd=tmp_path)
    assert again.returncode == 2
    assert "carts_here.py is there already; name another file" in again.stderr
    forced = ask("import", "workbench", CART, "--out", "carts_here.py", "--force", cwd=tmp_path)
    assert forced.returncode == 0
    assert [path.name for path in tmp_path.glob("*.py")] == ["carts_here.py"]


def test_without_a_file_the_module_is_printed() -> None:
    done = invoke("import", "schema", SCHEMA)
    assert done.exit_code == 0
    assert done.stdout.endswith(")\n") and "def get_deal_by_id(" in done.stdout
    assert "to decide" not in done.stdout


@pytest.mark.proof  # mypy goes through all of Bigtime
def test_mypy_accepts_what_is_written(tmp_path: Path) -> None:
    assert invoke("import", "workbench", CART, "--out", tmp_path / "carts.py").exit_code == 0
    assert invoke("import", "schema", SCHEMA, "--out", tmp_path / "offers.py").exit_code == 0
    model = tmp_path / "deals.json"
    assert invoke("export", "workbench", "deals", "--out", model).exit_code == 0
    assert invoke("import", "workbench", model, "--out", tmp_path / "deals.py").exit_code == 0
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    source = Path(import_export.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "carts.py", "offers.py", "deals.py"],
        cwd=tmp_path,
        env={**environment, "MYPYPATH": str(source)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_a_live_table_is_imported(store: str, tmp_path: Path) -> None:
    out = tmp_path / "live_orders.py"
    done = invoke("import", "table", "Orders", "--out", out, store=store)
    assert done.exit_code == 0, done.stderr
    assert 'bt.Table("Orders"' in out.read_text() or '    "Orders",' in out.read_text()
    missing = invoke("import", "table", "Nothing", store=store)
    assert missing.exit_code == 1
    assert "table Nothing: there is no such table; check its name and --store." in missing.stderr


@pytest.mark.parametrize("verb", ["workbench", "schema"])
def test_a_fault_leaves_no_file_and_says_where_it_is(verb: str, tmp_path: Path) -> None:
    source = tmp_path / "design.json"
    source.write_text('{"a": 1,}')
    done = invoke("import", verb, source, "--out", tmp_path / "design.py")
    assert done.exit_code == 1
    assert "design.json, line 1, column" in done.stderr and "correct it there." in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["design.json"]


def test_an_interrupted_write_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "carts.py"
    out.write_text("before")

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    done = invoke("import", "workbench", CART, "--out", out, "--force")
    assert done.exit_code == 1
    assert "carts.py cannot be written: No space left on device." in done.stderr
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [
        ("carts.py", "before")
    ]


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    done = invoke("export", "cloudformation", "shop", "--out", tmp_path / "none" / "shop.json")
    assert done.exit_code == 1
    assert "cannot be written: No such file or directory." in done.stderr


def test_designs_are_exported_for_other_tools(tmp_path: Path) -> None:
    template = json.loads(invoke("export", "cloudformation", "shop").stdout)
    assert list(template["Resources"]) == ["EcommerceTable"]
    done = invoke("export", "workbench", "shop")
    assert done.exit_code == 0, done.output + repr(done.exception)
    model = json.loads(done.stdout)
    assert model["ModelMetadata"]["Version"] == "3.0"
    facets = [facet["FacetName"] for facet in model["DataModel"][0]["TableFacets"]]
    assert facets == ["Customer", "CustomerEmail", "Order", "OrderItem"]
