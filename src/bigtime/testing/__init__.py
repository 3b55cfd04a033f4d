"""For the tests of applications: boto3 answered in process, an endpoint, a clock, faults.

`bigtime.pytest_plugin` has the same as fixtures.
"""

from bigtime.engine import Engine, Faults, serve_in_thread
from bigtime.testing.clock import Clock
from bigtime.testing.interceptor import Intercept, intercept
from bigtime.testing.server import Server

__all__ = ["Clock", "Engine", "Faults", "Intercept", "Server", "intercept", "serve_in_thread"]
