"""Names of a package that are imported when they are first used (PEP 562).

    if TYPE_CHECKING:
        from bigtime.engine import serve

    __getattr__ = lazy_names(__name__, {"serve": "http"})

So a program that only opens an engine does not pay for importing an HTTP server.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package; `modules` says in which of its modules each name is."""

    def load(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{modules[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
