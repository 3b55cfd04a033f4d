"""How a test runs pytest in a process of its own: with the plugins that it needs, and no other.

To import every plugin of the development environment takes longer than most of these tests.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

COMMAND = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]


def nested_pytest(*arguments: str, plugins: tuple[str, ...] = ("bigtime",)) -> list[str]:
    """The command; it needs the variables of `without_plugins`."""
    return [*COMMAND, *(f"-p{plugin}" for plugin in plugins), *arguments]


def without_plugins(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables of a process whose pytest loads only the plugins that it is given."""
    return {**environment, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
