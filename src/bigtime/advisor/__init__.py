"""What can be said of a system without running it for real: explain, check, charts, diff, cost."""

from typing import TYPE_CHECKING

from bigtime.advisor.charges import Measured, consumed_charges, measure, units
from bigtime.advisor.charts import chart, markdown
from bigtime.advisor.difference import Live, describe_live, diff
from bigtime.advisor.design_check import Finding
from bigtime.advisor.load_file import Load, LoadError, RequestLoad, read_load
from bigtime.advisor.prices import DEFAULT_REGION, Rate, UnknownPrice, rate, read_price_list
from bigtime.advisor.sample import CannotSample, sample_arguments, sample_item, sample_value
from bigtime.wire import lazy_names

if TYPE_CHECKING:
    from bigtime.advisor.cost import Budget, CostReport, budget_of, cost_report, report_fields
    from bigtime.advisor.dry_run import ExplainedRequest
    from bigtime.advisor.explanation import Cost, Explanation, cost_of, explain, price
    from bigtime.advisor.policy import iam_policy
    from bigtime.advisor.system_check import check_system, open_findings

DRY = {
    "Budget": "cost",
    "Cost": "explanation",
    "CostReport": "cost",
    "ExplainedRequest": "dry_run",
    "Explanation": "explanation",
    "budget_of": "cost",
    "check_system": "system_check",
    "cost_of": "explanation",
    "cost_report": "cost",
    "explain": "explanation",
    "iam_policy": "policy",
    "open_findings": "system_check",
    "price": "explanation",
    "report_fields": "cost",
}
"""What runs on an engine, which a chart does without."""

__getattr__ = lazy_names(__name__, DRY)

__all__ = [
    "DEFAULT_REGION", "Budget", "CannotSample", "Cost", "CostReport", "ExplainedRequest",
    "Explanation", "Finding", "Live", "Load", "LoadError", "Measured", "Rate", "RequestLoad",
    "UnknownPrice", "budget_of", "chart", "check_system", "consumed_charges", "cost_of",
    "cost_report", "describe_live", "diff", "explain", "iam_policy", "markdown", "measure",
    "open_findings", "price", "rate", "read_load", "read_price_list", "report_fields",
    "sample_arguments", "sample_item", "sample_value", "units",
]
