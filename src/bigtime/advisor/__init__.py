"""What can be said of a system without running it for real: explain, check, charts, diff, cost."""

from typing import TYPE_CHECKING

from bigtime.advisor.charges import Measured, measure, units
from bigtime.advisor.charts import chart
from bigtime.advisor.difference import diff
from bigtime.advisor.design_check import Finding
from bigtime.advisor.prices import UnknownPrice, read_price_list
from bigtime.advisor.sample import CannotSample, sample_arguments, sample_value
from bigtime.wire import lazy_names

if TYPE_CHECKING:
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
    "CannotImport": "imports",
    "Cost": "explanation",
    "ExplainedRequest": "dry_run",
    "Explanation": "explanation",
    "ImportedModule": "imports",
    "Note": "imports",
    "check_system": "system_check",
    "cloudformation_template": "cloudformation",
    "cost_of": "explanation",
    "explain": "explanation",
    "iam_policy": "policy",
    "import_schema": "imports",
    "import_table": "imports",
    "import_workbench": "imports",
    "open_findings": "system_check",
    "price": "explanation",
    "workbench_model": "workbench_model",
}
"""What runs on an engine, which a chart does without."""

__getattr__ = lazy_names(__name__, DRY)

__all__ = [
    "CannotImport", "CannotSample", "Cost", "ExplainedRequest", "Explanation", "Finding",
    "ImportedModule", "Measured", "Note", "UnknownPrice", "chart", "check_system",
    "cloudformation_template", "cost_of", "diff", "explain", "iam_policy", "import_schema",
    "import_table", "import_workbench", "measure", "open_findings", "price", "read_price_list",
    "sample_arguments", "sample_value", "units", "workbench_model",
]
