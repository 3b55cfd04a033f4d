"""A package shows its interface in its `__init__`, and nobody in `src` imports past it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
NAMESPACES = {"bigtime", "bigtime.projections", "bigtime.systems"}
"""Packages that hold others and have no interface of their own."""


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in SOURCE.rglob("*.py")}
PACKAGES = {name for name, path in MODULES.items() if path.name == "__init__.py"}


def imported_modules(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                is_module = full in MODULES and alias.name not in interface(node.module)
                yield full if is_module else node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@cache
def interface(package: str) -> set[str]:
    """The names in a package's `__all__`."""
    if package not in PACKAGES:
        return set()
    for node in ast.parse(MODULES[package].read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def entered_package(module: str, importer: str) -> str | None:
    """The outermost package around `module` that has an interface and does not hold `importer`."""
    parts = module.split(".")
    for count in range(1, len(parts)):
        package = ".".join(parts[:count])
        is_inside = importer == package or importer.startswith(f"{package}.")
        if package in PACKAGES and package not in NAMESPACES and not is_inside:
            return package
    return None


@pytest.mark.parametrize("importer", sorted(MODULES))
def test_nobody_imports_past_an_interface(importer: str) -> None:
    past = [
        f"{module}: import it from {package}"
        for module in imported_modules(MODULES[importer])
        if (package := entered_package(module, importer))
    ]
    assert past == []


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_a_package_says_what_it_is(package: str) -> None:
    assert ast.get_docstring(ast.parse(MODULES[package].read_text()))
