"""The manual of the kit has every name that the kit and the store show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bigtime.model
import bigtime.store

MANUAL = Path(__file__).parents[2] / "docs" / "model.md"
IMPORTS = re.compile(r"^from bigtime\.\w+ import (\(.*?\)|[^(\n]*)$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```python\n.*?^```|`[^`\n]+`", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("package", [bigtime.model, bigtime.store], ids=["model", "store"])
def test_every_public_name_is_explained(package: object) -> None:
    code = " ".join(CODE.findall(IMPORTS.sub("", MANUAL.read_text())))
    names: list[str] = package.__all__  # type: ignore[attr-defined]
    assert [name for name in names if not re.search(rf"\b{name}\b", code)] == []


def test_what_the_manual_imports_it_uses() -> None:
    (imports, *_) = re.findall(r"(?ms)^from bigtime\.model import \((.*?)\)", MANUAL.read_text())
    rest = IMPORTS.sub("", MANUAL.read_text())
    names = re.findall(r"\w+", imports)
    assert [name for name in names if not re.search(rf"\b{name}\b", rest)] == []
