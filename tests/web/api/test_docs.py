"""The documentation: every route of the API is in it, with every answer that was seen."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema_free import *  # noqa: F403
