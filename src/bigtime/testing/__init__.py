"""For the tests of applications: boto3 answered in process, an endpoint, a clock, faults.

`bigtime.pytest_plugin` offers the same as fixtures. What needs boto3, or the server's packages, is
imported on first use.
"""

from typing import TYPE_CHECKING

from bigtime.engine import Engine, Faults
from bigtime.testing.clock import Clock
from bigtime.wire import lazy_names

if TYPE_CHECKING:
    from bigtime.testing.interceptor import Intercept, intercept
    from bigtime.testing.server import Server, serve_in_thread

if not TYPE_CHECKING:  # else any misspelt name would pass the type checker
    __getattr__ = lazy_names(
        __name__,
        interceptor="Intercept intercept",
        server="Server serve_in_thread",
    )

__all__ = ["Clock", "Engine", "Faults", "Intercept", "Server", "intercept", "serve_in_thread"]
