"""What `check` finds in a design and in its patterns, and what it leaves alone."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any, cast

from bigtime.advisor.design_check import Finding
from bigtime.advisor.system_check import check_system, open_findings
from bigtime.model.operations.get import get
from bigtime.model.operations.query import all_of
from bigtime.model.pattern import pattern
from bigtime.model.system import System
from bigtime.wire.requests import Steps
from tests.model import deals, flawed
from tests.model.deals import Brand, Message


def findings_of(system: System) -> dict[str, Finding]:
    return {each.key: each for each in check_system(system)}


FOUND = findings_of(flawed.SYSTEM)


def of_code(code: str) -> set[str]:
    return {each.subject for each in FOUND.values() if each.code == code}


# --- The design ---------------------------------------------------------------------------------


def test_a_partition_key_of_few_values_is_hot() -> None:
    assert of_code("hot-partition") == {
        "Product.StatusIndex",
        "Product.ActiveIndex",
        "Product.KindIndex",
        "Product.SameKindIndex",
    }
    assert "into 2 partitions" in FOUND["hot-partition Product.StatusIndex"].sentence
    assert "into 6 partitions" in FOUND["hot-partition Product.KindIndex"].sentence


def test_a_partition_key_without_a_field_is_hot() -> None:
    assert "into one partition" in findings_of(deals.SYSTEM)["hot-partition Brands"].sentence


def test_an_index_with_the_keys_of_another_is_superfluous() -> None:
    assert of_code("duplicate-index") == {
        "FlawedProducts.ActiveIndex",
        "FlawedProducts.SameKindIndex",
    }
    same = FOUND["duplicate-index FlawedProducts.ActiveIndex"]
    assert same.sentence.startswith("it has the same key attributes as StatusIndex")
    assert same.remedy == "drop it, and ask StatusIndex instead"


def test_a_collection_without_a_greatest_length_is_unbounded() -> None:
    assert of_code("unbounded-collection") == {"Product.notes", "Product.reviews.tags"}


def test_an_item_that_may_come_near_400_kb_is_too_large() -> None:
    large = FOUND["large-item Product"]
    assert "368," in large.sentence
    assert "most of it in description" in large.sentence


# --- The patterns -------------------------------------------------------------------------------


def test_a_scan_is_answered_by_no_index() -> None:
    assert of_code("scan") == {"list_products"}
    assert "it scans the table FlawedProducts" in FOUND["scan list_products"].sentence


def test_a_chart_that_names_another_index_is_found() -> None:
    assert of_code("index") == {"products_of", "fetch_product"}
    assert FOUND["index products_of"].sentence == (
        "its chart says 'Main table', but it goes by FlawedProducts.StatusIndex and it never goes"
        " by Main table"
    )
    assert "there is no GSI9" in FOUND["index fetch_product"].sentence


def test_a_pattern_without_sample_arguments_is_found() -> None:
    assert of_code("dry-run") == {"fetch_by_rule"}
    assert "parameter rule" in FOUND["dry-run fetch_by_rule"].sentence


def finding_about(function: Any, index: str = "Main table") -> Finding:
    """The one finding about a pattern of a test's own."""
    module = ModuleType("patterns")
    function.__module__ = module.__name__
    vars(module)["it"] = pattern("Try", index=index)(function)
    system = System("try", (deals.BIG_TIME_DEALS,), (module,), deals.SYSTEM.accepted)
    (one,) = open_findings(system)
    return one


def test_a_pattern_that_breaks_is_found() -> None:
    def breaking() -> Steps[None]:
        yield from get(Brand.key("APPLE"))
        raise ZeroDivisionError("by zero")

    assert finding_about(breaking).sentence == (
        "it cannot be run dry on sample answers: ZeroDivisionError: by zero"
    )


def test_a_pattern_that_does_not_expect_nothing_is_found() -> None:
    def careless(brand: str) -> Steps[int]:
        found = yield from get(Brand.key("APPLE"))
        return cast(Brand, found).like_count

    assert finding_about(careless).sentence.startswith(
        "it cannot be run dry on empty tables: AttributeError: 'NoneType' object"
    )


def test_a_pattern_that_ends_early_is_told_to_have_another_sample() -> None:
    def early(username: str) -> Steps[None]:
        yield from get(Brand.key("APPLE"))
        raise deals.UnknownBrand()
        yield from all_of(Message.within("GSI1", unread_by=username))

    found = finding_about(early, index="Main table, GSI1")
    assert found.sentence.endswith("but it never goes by GSI1")
    assert found.remedy.endswith("or give it a sample that does not end in UnknownBrand")


def test_what_only_writes_may_have_no_index_in_its_chart() -> None:
    def reading() -> Steps[Any]:
        return (yield from all_of(Message.within("GSI1", unread_by="alex")))

    assert "but it goes by BigTimeDeals.GSI1" in finding_about(reading, index="N/A").sentence


def test_both_ways_of_a_pattern_that_looks_and_decides_are_seen() -> None:
    assert not [each for each in check_system(deals.SYSTEM) if each.code == "index"]


# --- What is accepted ---------------------------------------------------------------------------


def test_a_good_system_has_no_open_finding() -> None:
    assert open_findings(deals.SYSTEM) == []


def test_what_is_accepted_is_kept_with_its_reason() -> None:
    accepted = {each.key: each.accepted for each in check_system(deals.SYSTEM)}
    assert accepted == {
        "hot-partition Brands": "a single item, read through a cache",
        "scan send_to_all": "it is for every user there is",
    }


def test_an_excuse_that_excuses_nothing_is_found() -> None:
    assert "accepted 'scan fetch_well'" in FOUND
    system = replace(deals.SYSTEM, accepted={"large-item Deal": "never"})
    keys = {open_finding.key for open_finding in open_findings(system)}
    assert keys == {"accepted 'large-item Deal'", "hot-partition Brands"}


def test_a_finding_reads_as_a_sentence_with_a_remedy() -> None:
    one = Finding("code", "Subject", "it is so", "make it otherwise", accepted="we like it")
    assert str(one) == "code Subject: it is so; make it otherwise (accepted: we like it)"
