"""Designs from elsewhere as Python modules: NoSQL Workbench, schema.json, and live tables."""

from bigtime.advisor.imports.draft import CannotImport, Note
from bigtime.advisor.imports.live_table import import_table
from bigtime.advisor.imports.schema_file import import_schema
from bigtime.advisor.imports.trial import ImportedModule
from bigtime.advisor.imports.workbench import KEYS_LINE, VALUES_LINE, import_workbench

__all__ = [
    "KEYS_LINE", "VALUES_LINE", "CannotImport", "ImportedModule", "Note", "import_schema",
    "import_table", "import_workbench",
]
