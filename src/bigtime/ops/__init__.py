"""Running a Bigtime application: environments, infrastructure, alarms."""

from bigtime.ops.account import check_store
from bigtime.ops.alarms import COUNTERS, alertmanager_example, prometheus_rules
from bigtime.ops.infrastructure import (
    compare_file, environments_of, infrastructure, write_infrastructure,
)
from bigtime.ops.schema_check import Fault, check_file, schema_files
from bigtime.ops.schema_files import schema_document, schema_path, schema_text, table_of
from bigtime.ops.settings import settle

__all__ = [
    "COUNTERS", "Fault", "alertmanager_example", "check_file", "check_store", "compare_file",
    "environments_of", "infrastructure", "prometheus_rules", "schema_document", "schema_files",
    "schema_path", "schema_text", "settle", "table_of", "write_infrastructure",
]
