"""What every pattern costs is what it cost before, or the golden file says so.

After a change of cost that is meant, write the file anew:

    python -m tests.advisor.explanations > tests/advisor/explanations.json

The file began with the estimates of an evaluator of requests that `explain` had of its own. Of
166 patterns, 147 cost the same on the engine. The others were estimated wrongly, and why:

- Samples whose id has one example (tenants, products, orders and campaigns of the portal, and
  sessions) all had that id, so that a page was of one item. Examples are numbered now, and a page
  of 50 products takes 9 read units instead of 0.5. `list_tenants`, `list_tenants_by_status`,
  `list_deleted_tenants`, `list_tenants_to_remind`, `list_products`, `list_deleted_products`,
  `list_product_names`, `count_products`, `list_orders`, `view_sessions` and `delete_sessions` find
  as many as they ask for; `list_campaigns`, `list_upcoming_campaigns`, `list_expired_campaigns`,
  `list_next_and_last_campaigns`, `list_campaigns_by_creation` and `list_deleted_campaigns` look up
  a product for each campaign.
- `send_hot_deal_message` scans in ten segments, each of which found all the users. Now each user
  is in one segment, as in DynamoDB.
- `verify_audit` reads an entry beyond the last and queries again. What was read is found by the
  next query now, as in DynamoDB, so its later queries find more.
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.advisor.explanations import explanations

GOLDEN = Path(__file__).with_name("explanations.json")


def test_every_pattern_costs_what_the_golden_file_says() -> None:
    golden, found = json.loads(GOLDEN.read_text()), explanations()
    different = {name for name in golden | found if golden.get(name) != found.get(name)}
    assert {name: found.get(name) for name in different} == {
        name: golden.get(name) for name in different
    }
