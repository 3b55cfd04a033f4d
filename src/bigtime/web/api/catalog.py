"""The API of the catalogue: patterns 1 to 18 of its schema, and the others."""

from __future__ import annotations

from typing import Final

from bigtime.web.api.catalog_editing import EDITING
from bigtime.web.api.catalog_own import OF_CALLER
from bigtime.web.api.catalog_reading import READING
from bigtime.web.api.v1_router import v1_router

CATALOG: Final = (*EDITING, *READING, *OF_CALLER)

catalog_api = v1_router("catalog", CATALOG)
