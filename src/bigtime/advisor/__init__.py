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
    from bigtime.advisor.cloudformation import cloudformation_template
    from bigtime.advisor.dry_run import ExplainedRequest
    from bigtime.advisor.explanation import Cost, Explanation, cost_of, explain, price
    from bigtime.advisor.imports import (
        CannotImport, ImportedModule, Note, import_schema, import_table, import_workbench,
    )
    from bigtime.advisor.policy import iam_policy
    from bigtime.advisor.system_check import check_system, open_findings
    from bigtime.advisor.workbench_model import workbench_model

DRY = {
    "Budget": "cost",
    "CannotImport": "imports",
    "Cost": "explanation",
    "CostReport": "cost",
    "ExplainedRequest": "dry_run",
    "Explanation": "explanation",
    "budget_of": "cost",
    "ImportedModule": "imports",
    "Note": "imports",
    "check_system": "system_check",
    "cloudformation_template": "cloudformation",
    "cost_of": "explanation",
    "cost_report": "cost",
    "explain": "explanation",
    "iam_policy": "policy",
    "import_schema": "imports",
    "import_table": "imports",
    "import_workbench": "imports",
    "open_findings": "system_check",
    "price": "explanation",
    "report_fields": "cost",
    "workbench_model": "workbench_model",
}
"""What runs on an engine, which a chart does without."""

__getattr__ = lazy_names(__name__, DRY)

__all__ = [
    "DEFAULT_REGION", "Budget", "CannotImport", "CannotSample", "Cost", "CostReport",
    "ExplainedRequest", "Explanation", "Finding", "ImportedModule", "Live", "Load", "LoadError",
    "Measured", "Note", "Rate", "RequestLoad", "UnknownPrice", "budget_of", "chart", "check_system",
    "cloudformation_template", "consumed_charges", "cost_of", "cost_report", "describe_live",
    "diff", "explain", "iam_policy", "import_schema", "import_table", "import_workbench",
    "markdown", "measure", "open_findings", "price", "rate", "read_load", "read_price_list",
    "report_fields", "sample_arguments", "sample_item", "sample_value", "units", "workbench_model",
]
