"""The `bigtime` command."""

from __future__ import annotations

import sys

from bigtime.extras import MissingExtra, extra


def main() -> None:
    """Runs `bigtime`; if a verb's packages are not installed, ends with a sentence that says so."""
    try:
        with extra("cli"):
            from bigtime.cli.app import main as run
        run()
    except MissingExtra as error:
        sys.exit(f"bigtime: {error}")
