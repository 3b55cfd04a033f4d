"""`@intercept` on a class: an engine for each test, or one for all that are set up together."""

from __future__ import annotations

import unittest
from typing import Any

import pytest

from bigtime.testing import intercept
from bigtime.testing.interceptor import ANSWERS
from tests.testing.tables import EARLY, names, table


@intercept
class TestPlainClass:
    @pytest.mark.parametrize("name", ["One", "Two"])
    def test_each_has_an_engine(self, name: str) -> None:
        EARLY.create_table(**table(name))
        assert names() == [name]


@intercept
class TestClassWithSetup:
    def setup_method(self, method: Any) -> None:
        EARLY.create_table(**table(method.__name__))

    @pytest.mark.parametrize("_", range(2))
    def test_what_was_set_up(self, _: int) -> None:
        assert names() == ["test_what_was_set_up"]


@intercept()
class TestClassSetUpOnce:
    @classmethod
    def setup_class(cls) -> None:
        EARLY.create_table(**table("Shared"))

    @pytest.mark.parametrize("name", ["One", "Two"])
    def test_all_share_an_engine(self, name: str) -> None:
        assert "Shared" in names()
        EARLY.create_table(**table(name))

    @classmethod
    def teardown_class(cls) -> None:
        assert names() == ["One", "Shared", "Two"]


def run_tests(tests: type[unittest.TestCase]) -> unittest.TestResult:
    result = unittest.TestResult()
    unittest.TestLoader().loadTestsFromTestCase(tests).run(result)
    assert result.testsRun and not result.errors and not result.failures, result
    return result


def test_a_test_case() -> None:
    @intercept
    class Case(unittest.TestCase):
        def setUp(self) -> None:
            EARLY.create_table(**table())

        def tearDown(self) -> None:
            assert names() == ["Things"]

        def test_first(self) -> None:
            assert names() == ["Things"]

        def test_second(self) -> None:
            assert names() == ["Things"]

    assert run_tests(Case).testsRun == 2


def test_a_test_case_that_is_set_up_once() -> None:
    @intercept
    class Case(unittest.TestCase):
        @classmethod
        def setUpClass(cls) -> None:
            EARLY.create_table(**table("Shared"))

        def test_first(self) -> None:
            assert names() == ["Shared"]

        def test_second(self) -> None:
            assert names() == ["Shared"]

    assert run_tests(Case).testsRun == 2


def test_an_async_test_case() -> None:
    @intercept
    class Case(unittest.IsolatedAsyncioTestCase):
        async def asyncSetUp(self) -> None:
            EARLY.create_table(**table())

        async def test_it(self) -> None:
            assert names() == ["Things"]

    run_tests(Case)


def test_a_setup_that_fails_leaves_nothing_intercepted() -> None:
    @intercept
    class Broken:
        def setup_method(self) -> None:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Broken().setup_method()
    assert not ANSWERS
