"""The JSON APIs."""

from bigtime.web.api.docs import Documentation
from bigtime.web.api.errors import faults_of
from bigtime.web.api.routes import API

__all__ = ["API", "Documentation", "faults_of"]
