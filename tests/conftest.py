"""What every test can ask for, and the account of what was not run."""

from __future__ import annotations

import gc
import os
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing

import pytest
from hypothesis import HealthCheck, settings

from bigtime.engine import Engine
from tests.warm_commands import WarmCommands

# The same examples on every run, however busy the machine; `make proofs SHORT=1` tries eight
# times as many, and `make test ARGS=--hypothesis-profile=proof` looks further, and elsewhere each
# time.
for profile, examples in (("test", 25), ("laws", 200)):
    settings.register_profile(
        profile,
        derandomize=True,
        deadline=None,
        max_examples=examples,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.register_profile(
    "proof", deadline=None, max_examples=2_000, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("test")


# A worker would keep search indexes beside the default store; tests of search say where.
os.environ["BIGTIME_SEARCH"] = "off"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests and all their modules stay to the end: the garbage collector, which
    would go through them again and again, need not look at them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture
def engine() -> Iterator[Engine]:
    """An empty engine of this test's own."""
    with Engine.memory() as engine:
        yield engine


@pytest.fixture(scope="session")
def commands() -> Iterator[WarmCommands]:
    """Runs `bigtime` in processes that need not import it first."""
    with closing(WarmCommands()) as commands:
        yield commands


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = terminalreporter.getreports("skipped")
    reasons = Counter({report.nodeid: skip_reason(report) for report in reports}.values())
    terminalreporter.section("skipped, and why")
    for reason, tests in reasons.most_common():
        terminalreporter.write_line(f"{tests:5}  {reason}")
    if not reasons:
        terminalreporter.write_line("nothing was skipped")


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")
