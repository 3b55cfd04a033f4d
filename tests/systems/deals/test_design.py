"""The design as `bigtime check` sees it, and what it costs."""

from __future__ import annotations

from bigtime.advisor import explain, open_findings
from bigtime.model import Ksuid
from bigtime.systems.deals import SYSTEM
from bigtime.systems.deals.deals import fetch_deal
from bigtime.systems.deals.interests import like_brand
from tests.store.places import START


def test_nothing_is_found_that_is_not_accepted() -> None:
    assert open_findings(SYSTEM) == []


def test_a_deal_by_id_is_one_request_and_a_like_is_one_transaction() -> None:
    (got,) = explain(fetch_deal(Ksuid.make(START))).requests
    (liked,) = explain(like_brand("Apple", "alex")).requests
    assert (got.request.operation, liked.request.operation) == ("GetItem", "TransactWriteItems")
    assert len(liked.request.params["TransactItems"]) == 2
