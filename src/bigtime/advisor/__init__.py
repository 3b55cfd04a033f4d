"""What can be said of a system without running it for real: explain, check, charts, diff, cost."""

from typing import TYPE_CHECKING

from bigtime.advisor.charges import Measured, measure, units
from bigtime.advisor.charts import chart
from bigtime.advisor.difference import Live, describe_live, diff
from bigtime.advisor.design_check import Finding
from bigtime.advisor.prices import UnknownPrice, read_price_list
from bigtime.advisor.sample import CannotSample, sample_arguments, sample_value
from bigtime.wire import lazy_names

if TYPE_CHECKING:
    from bigtime.advisor.dry_run import ExplainedRequest
    from bigtime.advisor.explanation import Cost, Explanation, cost_of, explain, price
    from bigtime.advisor.policy import iam_policy
    from bigtime.advisor.system_check import check_system, open_findings

DRY = {
    "Cost": "explanation",
    "ExplainedRequest": "dry_run",
    "Explanation": "explanation",
    "check_system": "system_check",
    "cost_of": "explanation",
    "explain": "explanation",
    "iam_policy": "policy",
    "open_findings": "system_check",
    "price": "explanation",
}
"""What runs on an engine, which a chart does without."""

__getattr__ = lazy_names(__name__, DRY)

__all__ = [
    "CannotSample", "Cost", "ExplainedRequest", "Explanation", "Finding", "Live", "Measured",
    "UnknownPrice", "chart", "check_system", "cost_of", "describe_live", "diff", "explain",
    "iam_policy", "measure", "open_findings", "price", "read_price_list", "sample_arguments",
    "sample_value", "units",
]
