"""What can be said about a system before it runs for real: explain, check, charts, diff, cost."""

from typing import TYPE_CHECKING

from bigtime.advisor.charges import Measured, measure, units
from bigtime.advisor.charts import chart, markdown
from bigtime.advisor.difference import diff
from bigtime.advisor.design_check import Finding
from bigtime.advisor.load_file import Load, LoadError, read_load
from bigtime.advisor.prices import DEFAULT_REGION, Rate, UnknownPrice, rate, read_price_list
from bigtime.advisor.sample import CannotSample, sample_arguments, sample_item, sample_value
from bigtime.wire import lazy_names

if TYPE_CHECKING:
    from bigtime.advisor.cost import (
        REPLICATION, Budget, CostLine, CostReport, budget_of, cost_report, report_fields,
    )
    from bigtime.advisor.cloudformation import cloudformation_template
    from bigtime.advisor.dry_run import ExplainedRequest
    from bigtime.advisor.explanation import Cost, Explanation, cost_of, explain, price
    from bigtime.advisor.imports import (
        CannotImport, ImportedModule, Note, import_schema, import_table, import_workbench,
    )
    from bigtime.advisor.policy import iam_policy
    from bigtime.advisor.system_check import check_system, open_findings
    from bigtime.advisor.workbench_model import workbench_model

__getattr__ = lazy_names(  # what runs on an engine, which a chart does without
    __name__,
    cloudformation="cloudformation_template",
    cost="Budget CostLine CostReport budget_of REPLICATION cost_report report_fields",
    dry_run="ExplainedRequest",
    explanation="Cost Explanation cost_of explain price",
    imports="CannotImport ImportedModule Note import_schema import_table import_workbench",
    policy="iam_policy",
    system_check="check_system open_findings",
    workbench_model="workbench_model",
)

__all__ = [
    "DEFAULT_REGION", "REPLICATION", "Budget", "CannotImport", "CannotSample", "Cost", "CostLine",
    "CostReport", "ExplainedRequest", "Explanation", "Finding", "ImportedModule", "Load",
    "LoadError", "Measured", "Note", "Rate", "UnknownPrice", "budget_of", "chart", "check_system",
    "cloudformation_template", "cost_of", "cost_report", "diff", "explain", "iam_policy",
    "import_schema", "import_table", "import_workbench", "markdown", "measure", "open_findings",
    "price", "rate", "read_load", "read_price_list", "report_fields", "sample_arguments",
    "sample_item", "sample_value", "units", "workbench_model",
]
