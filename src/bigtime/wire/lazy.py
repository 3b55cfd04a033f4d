"""Names of a package that are imported on first use (PEP 562).

    if TYPE_CHECKING:
        from bigtime.engine.http import serve, serve_in_thread

    __getattr__ = lazy_names(__name__, http="serve serve_in_thread")

So a program that only opens an engine does not pay for importing an HTTP server.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def lazy_names(package: str, **modules: str) -> Callable[[str], Any]:
    """A package's `__getattr__`; `modules` lists the names that each of its modules has."""
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{module_of[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    return load
