"""What a package exports can be imported from it, and `bigtime` shows what most programs need."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

import pytest

import bigtime

PACKAGES = [
    "bigtime",
    *(found.name for found in walk_packages(bigtime.__path__, "bigtime.") if found.ispkg),
]
EXPORTING = [name for name in PACKAGES if hasattr(import_module(name), "__all__")]
LOWER = "advisor engine model store testing wire".split()
MOST_NAMES = 50


def sort_key(name: str) -> tuple[int, str]:
    """Constants, then classes, then functions, as ruff sorts `__all__`."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


@pytest.mark.parametrize("name", EXPORTING)
def test_exported_names_are_sorted_and_there(name: str) -> None:
    package = import_module(name)
    exported = package.__all__
    assert exported == sorted(set(exported), key=sort_key)
    assert [each for each in exported if not hasattr(package, each)] == []


def test_every_layer_below_the_site_exports_names() -> None:
    assert {f"bigtime.{layer}" for layer in LOWER} <= set(EXPORTING)


def test_bigtime_shows_few_names_and_those_of_its_packages() -> None:
    packages = {name for name in bigtime.__all__ if isinstance(getattr(bigtime, name), ModuleType)}
    assert packages == set(LOWER)
    assert len(set(bigtime.__all__) - packages) <= MOST_NAMES
    for name in set(bigtime.__all__) - packages:
        home = import_module(f"bigtime.{bigtime.OUTSIDE_MODEL.get(name, 'model')}")
        assert name in home.__all__
        assert getattr(bigtime, name) is getattr(home, name)


def test_bigtime_lists_its_names_before_they_are_imported() -> None:
    program = "import bigtime; print(*dir(bigtime))"
    listed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert set(bigtime.__all__) <= set(listed)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'bigtime' has no attribute 'Entty'"):
        bigtime.Entty  # type: ignore[attr-defined]  # noqa: B018


def test_a_name_of_a_package_is_found_there() -> None:
    assert bigtime.model.random_bytes
    with pytest.raises(AttributeError, match=r"it is bigtime\.model\.random_bytes"):
        bigtime.random_bytes  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize(
    ("use", "not_imported"),
    [
        ("bt.__version__", {"bigtime.wire", "pydantic", "apsw"}),
        ("bt.Engine", {"bigtime.model", "pydantic"}),
        ("bt.Entity", {"bigtime.engine", "bigtime.advisor", "apsw"}),
    ],
)
def test_a_name_brings_only_what_it_needs(use: str, not_imported: set[str]) -> None:
    program = f"import sys, bigtime as bt; {use}; print(*sys.modules)"
    imported = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not_imported & set(imported) == set()
