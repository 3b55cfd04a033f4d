"""Reports: the questions that a retailer asks, as SQL over the lake.

Each takes a range of days. Reports over history count changes, by the times in the items
themselves; the others read the items as they are now. `$since` and `$until` are the first and last
day.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final, Literal, TypeAlias

Chart: TypeAlias = Literal["lines", "bars", "funnel", "none"]

ADDED: Final = "change = 'INSERT' AND status = 'ACTIVE'"
BOUGHT: Final = "change = 'INSERT' AND status = 'PURCHASED'"
MONEY: Final = "DECIMAL(18,2)"


def within(moment: str) -> str:
    """The SQL condition that a time is in the range."""
    return f"{moment} >= $since::DATE AND {moment} < $until::DATE + INTERVAL 1 DAY"


@dataclass(frozen=True, slots=True)
class Report:
    """A named question; `chart` is how a page draws it: a chart for each group of columns."""

    name: str
    title: str
    description: str
    sql: str
    chart: Chart = "none"
    drawn: tuple[tuple[str, ...], ...] = ()
    is_history: bool = False

    def params(self, since: date, until: date, **more: str) -> dict[str, str]:
        """The parameters that occur in its SQL."""
        given: Mapping[str, str] = {"since": str(since), "until": str(until), **more}
        return {name: value for name, value in given.items() if f"${name}" in self.sql}


CARTS_BY_DAY: Final = Report(
    "carts-by-day",
    "Carts by day",
    "Products put into carts, the carts they were put into, and what they cost in USD.",
    f"""
SELECT day, sum(products)::BIGINT AS products, count(*) AS carts, sum(value)::{MONEY} AS value
FROM (
  SELECT entered_at::DATE AS day, account_id, count(*) AS products, sum(price * count) AS value
  FROM cart_lines_changes
  WHERE {ADDED} AND {within("entered_at")}
  GROUP BY 1, 2
)
GROUP BY 1 ORDER BY 1""",
    "lines",
    (("products", "carts"), ("value",)),
    is_history=True,
)

ABANDONED_CARTS: Final = Report(
    "abandoned-carts",
    "Abandoned carts",
    "Carts that got nothing for a day before the end of the range, dearest first, in USD.",
    f"""
SELECT account_id AS account, count(*) AS products, sum(price * count)::{MONEY} AS value,
  max(entered_at) AS last_added
FROM cart_lines
WHERE status = 'ACTIVE'
GROUP BY 1
HAVING max(entered_at) < $until::DATE AND max(entered_at) >= $since::DATE
ORDER BY value DESC, account LIMIT 100""",
)

MOST_SAVED: Final = Report(
    "most-saved",
    "Most saved products",
    "Products that are saved for later in the most carts, and their value in USD.",
    f"""
SELECT item_sku AS sku, any_value(title) AS title, count(*) AS saved,
  sum(cart_lines.price * count)::{MONEY} AS value
FROM cart_lines LEFT JOIN deals ON deals.deal_id = item_sku
WHERE cart_lines.status = 'SAVED' AND {within("entered_at")}
GROUP BY 1 ORDER BY saved DESC, sku LIMIT 50""",
    "bars",
    (("saved",),),
)

CONVERSION: Final = Report(
    "conversion",
    "Conversion from cart to order",
    "Carts that products were put into, orders that were placed, and orders per hundred carts.",
    f"""
SELECT day, count(*) FILTER (NOT is_order) AS carts, count(*) FILTER (is_order) AS orders,
  round(100.0 * orders / nullif(carts, 0), 1) AS percent
FROM (
  SELECT DISTINCT entered_at::DATE AS day, order_id IS NOT NULL AS is_order,
    coalesce(order_id, account_id) AS id
  FROM cart_lines_changes
  WHERE change = 'INSERT' AND status IN ('ACTIVE', 'PURCHASED') AND {within("entered_at")}
)
GROUP BY 1 ORDER BY 1""",
    "lines",
    (("carts", "orders"),),
    is_history=True,
)

TIME_TO_PURCHASE: Final = Report(
    "time-to-purchase",
    "Time from cart to purchase",
    "How long products were in a cart before they were purchased.",
    f"""
WITH bought AS (
  SELECT entered_at - create_timestamp AS lasted FROM cart_lines
  WHERE status = 'PURCHASED' AND {within("entered_at")}
), named AS (
  SELECT CASE WHEN lasted < INTERVAL 10 MINUTE THEN 1 WHEN lasted < INTERVAL 1 HOUR THEN 2
    WHEN lasted < INTERVAL 1 DAY THEN 3 WHEN lasted < INTERVAL 7 DAY THEN 4 ELSE 5 END AS place
  FROM bought
)
SELECT ['under 10 minutes', 'under an hour', 'under a day', 'under a week', 'longer'][place]
  AS lasted, count(*) AS products, round(100.0 * count(*) / sum(count(*)) OVER (), 1) AS percent
FROM named GROUP BY place ORDER BY place""",
    "bars",
    (("products",),),
)


def revenue_by(field: str) -> str:
    return f"""
SELECT coalesce({field}, 'unknown') AS {field.removesuffix("_name")},
  count(DISTINCT orders.order_id) AS orders, sum(count)::BIGINT AS pieces,
  sum(order_items.price * count)::{MONEY} AS revenue
FROM order_items JOIN orders USING (order_id) LEFT JOIN deals ON deals.deal_id = item_id
WHERE orders.status <> 'CANCELLED' AND {within("orders.created_at")}
GROUP BY 1 ORDER BY revenue DESC LIMIT 50"""


REVENUE_BY_BRAND: Final = Report(
    "revenue-by-brand",
    "Revenue by brand",
    "What was ordered in the shop in USD, by the deal's brand; cancelled ones do not count.",
    revenue_by("brand_name"),
    "bars",
    (("revenue",),),
)
REVENUE_BY_CATEGORY: Final = Report(
    "revenue-by-category",
    "Revenue by category",
    "What was ordered in the shop in USD, by the deal's category; cancelled ones do not count.",
    revenue_by("category_name"),
    "bars",
    (("revenue",),),
)

CAMPAIGNS: Final = Report(
    "campaigns",
    "Campaigns",
    "Orders of hosting plans by campaign and product, their revenue and the discount in ZAR.",
    f"""
WITH lines AS (
  SELECT id, campaign, unnest(from_json(items, '[{{"product_id": "VARCHAR",
    "product_name": "VARCHAR", "quantity": "BIGINT", "unit_price": "DECIMAL(18,4)"}}]')) AS line
  FROM plan_orders WHERE active AND {within("date_created")}
), priced AS (
  SELECT id, line.product_name AS product, line.quantity AS quantity, line.unit_price AS unit_price,
    CASE WHEN campaign ->> '$.product_id' = line.product_id THEN campaign END AS applied
  FROM lines
)
SELECT coalesce(applied ->> '$.code', 'none') AS campaign, product,
  count(DISTINCT id) AS orders, sum(quantity)::BIGINT AS pieces,
  sum(quantity * unit_price)::{MONEY} AS revenue,
  coalesce(sum(quantity * ((applied ->> '$.original_price')::DECIMAL(18,4)
    - (applied ->> '$.discounted_price')::DECIMAL(18,4))), 0)::{MONEY} AS discount
FROM priced GROUP BY 1, 2 ORDER BY campaign = 'none', revenue DESC LIMIT 100""",
)

TRENDING: Final = Report(
    "trending",
    "Trending history",
    "The ten deals of each day with the most views and clicks to the offer by then.",
    f"""
WITH daily AS (
  SELECT changed_at::DATE AS day, deal_id, max(category_id) AS category, max(title) AS title,
    max(views) AS views, max(clicks) AS clicks
  FROM trending_deals_changes
  WHERE change <> 'REMOVE' AND {within("changed_at")}
  GROUP BY 1, 2
)
SELECT day, title, category, views, clicks FROM daily
QUALIFY row_number() OVER (PARTITION BY day ORDER BY views + 5 * clicks DESC, deal_id) <= 10
ORDER BY day DESC, views + 5 * clicks DESC""",
    is_history=True,
)

ORDERS_BY_DAY: Final = Report(
    "orders-by-day",
    "Orders and revenue",
    "Orders of the shop by day, and their revenue in USD; cancelled ones do not count.",
    f"""
SELECT created_at::DATE AS day, count(*) AS orders, sum(item_count)::BIGINT AS products,
  sum(total)::{MONEY} AS revenue
FROM orders WHERE status <> 'CANCELLED' AND {within("created_at")}
GROUP BY 1 ORDER BY 1""",
    "lines",
    (("orders",), ("revenue",)),
)

PLAN_ORDERS_BY_DAY: Final = Report(
    "plan-orders-by-day",
    "Hosting orders and revenue",
    "Orders of hosting plans by day, and what they come to in ZAR.",
    f"""
SELECT date_created::DATE AS day, count(*) AS orders, sum(total)::{MONEY} AS revenue
FROM plan_orders WHERE active AND {within("date_created")}
GROUP BY 1 ORDER BY 1""",
    "lines",
    (("orders",), ("revenue",)),
)

SIGN_UPS: Final = Report(
    "sign-ups",
    "Sign-ups",
    "New users of the shop, and new tenants of the portal, by day.",
    f"""
SELECT day, count(*) FILTER (kind = 'user') AS users, count(*) FILTER (kind = 'tenant') AS tenants
FROM (
  SELECT created_at::DATE AS day, 'user' AS kind FROM users WHERE {within("created_at")}
  UNION ALL
  SELECT date_created::DATE, 'tenant' FROM tenants WHERE {within("date_created")}
)
GROUP BY 1 ORDER BY 1""",
    "lines",
    (("users", "tenants"),),
)

DAILY_ENGAGEMENT: Final = """
  SELECT deal_id, changed_at::DATE AS day, max(views) AS views, max(clicks) AS clicks
  FROM trending_deals_changes WHERE change <> 'REMOVE' GROUP BY 1, 2
"""
"""The views and clicks of each deal at the end of each day; they never decrease."""

FUNNEL: Final = Report(
    "funnel",
    "From view to order",
    "Views of deals, clicks to their offers, products put into carts, and products purchased.",
    f"""
WITH daily AS ({DAILY_ENGAGEMENT}), new AS (
  SELECT day, views - coalesce(lag(views) OVER earlier, 0) AS views,
    clicks - coalesce(lag(clicks) OVER earlier, 0) AS clicks
  FROM daily WINDOW earlier AS (PARTITION BY deal_id ORDER BY day)
), lines AS (
  SELECT count(*) FILTER ({ADDED}) AS added, count(*) FILTER ({BOUGHT}) AS bought
  FROM cart_lines_changes WHERE {within("entered_at")}
), engaged AS (
  SELECT coalesce(sum(views), 0)::BIGINT AS views, coalesce(sum(clicks), 0)::BIGINT AS clicks
  FROM new WHERE {within("day")}
)
SELECT unnest(['Viewed', 'Clicked to the offer', 'Put in a cart', 'Purchased']) AS step,
  unnest([views, clicks, added, bought]) AS number
FROM engaged, lines""",
    "funnel",
    (("number",),),
    is_history=True,
)

DEAL_ENGAGEMENT: Final = Report(
    "deal-engagement",
    "Views, clicks and cart adds",
    "Of one deal, by day.",
    f"""
WITH daily AS (
  SELECT changed_at::DATE AS day, max(views) AS views, max(clicks) AS clicks
  FROM trending_deals_changes WHERE change <> 'REMOVE' AND deal_id = $deal_id GROUP BY 1
), engaged AS (
  SELECT day, views - coalesce(lag(views) OVER (ORDER BY day), 0) AS views,
    clicks - coalesce(lag(clicks) OVER (ORDER BY day), 0) AS clicks
  FROM daily
), added AS (
  SELECT entered_at::DATE AS day, count(*) AS cart_adds FROM cart_lines_changes
  WHERE {ADDED} AND item_sku = $deal_id GROUP BY 1
)
SELECT coalesce(engaged.day, added.day) AS day, coalesce(views, 0) AS views,
  coalesce(clicks, 0) AS clicks, coalesce(cart_adds, 0) AS cart_adds
FROM engaged FULL JOIN added USING (day)
WHERE {within("coalesce(engaged.day, added.day)")}
ORDER BY day""",
    "lines",
    (("views",), ("clicks", "cart_adds")),
    is_history=True,
)

REPORTS: Final[dict[str, Report]] = {
    report.name: report
    for report in (
        ORDERS_BY_DAY,
        REVENUE_BY_BRAND,
        REVENUE_BY_CATEGORY,
        CARTS_BY_DAY,
        CONVERSION,
        FUNNEL,
        TIME_TO_PURCHASE,
        ABANDONED_CARTS,
        MOST_SAVED,
        TRENDING,
        CAMPAIGNS,
        PLAN_ORDERS_BY_DAY,
        SIGN_UPS,
    )
}
"""By name, in the order in which pages show them."""
