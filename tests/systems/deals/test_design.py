"""The design as `bigtime check` sees it, and what it costs."""

from __future__ import annotations

from bigtime.advisor import explain, open_findings
from bigtime.model import Ksuid
from bigtime.systems.deals import FOR_EDITORS, MERGED, SYSTEM
from bigtime.systems.deals.deals import fetch_deal
from bigtime.systems.deals.likes import like_brand
from tests.store.places import START


def test_nothing_is_found_that_is_not_accepted() -> None:
    assert open_findings(SYSTEM) == []
    assert open_findings(MERGED) == []


def test_what_only_editors_may_do_is_among_the_patterns() -> None:
    """B39."""
    assert set(SYSTEM.patterns) > FOR_EDITORS
    charted = {name for name, one in SYSTEM.patterns.items() if one.index == "N/A"}
    assert charted | {"send_hot_deal_message"} <= FOR_EDITORS


def test_a_deal_by_id_is_one_request_and_a_like_is_one_transaction() -> None:
    (got,) = explain(fetch_deal(Ksuid.make(START))).requests
    (liked,) = explain(like_brand("Apple", "alex")).requests
    assert (got.request.operation, liked.request.operation) == ("GetItem", "TransactWriteItems")
    assert len(liked.request.params["TransactItems"]) == 2
