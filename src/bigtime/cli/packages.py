"""The packages that verbs need, each imported on its first use.

Importing all of them takes a second. Most verbs need a few, and `bigtime --help` none.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import ssl

    import pydantic
    import pydantic_core

    from bigtime import advisor, formats, ops, site, web, wire
    from bigtime import engine as engines
    from bigtime import model as bt
    from bigtime import store as stores
    from bigtime.cli import dump as dumps
    from bigtime.cli import load as loads
    from bigtime.cli import parameters
    from bigtime.projections import lake as lakes
    from bigtime.projections import search as searches
    from bigtime.systems import portal

__all__ = ["advisor", "bt", "dumps", "engines", "formats", "lakes", "loads", "ops", "parameters"]
__all__ += ["portal", "pydantic", "pydantic_core", "searches", "site", "ssl", "stores", "web"]
__all__ += ["wire"]


class Package:
    """A lazily imported package."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.name), name)


if not TYPE_CHECKING:
    advisor = Package("bigtime.advisor")
    bt = Package("bigtime.model")
    dumps = Package("bigtime.cli.dump")
    engines = Package("bigtime.engine")
    formats = Package("bigtime.formats")
    lakes = Package("bigtime.projections.lake")
    loads = Package("bigtime.cli.load")
    ops = Package("bigtime.ops")
    parameters = Package("bigtime.cli.parameters")
    portal = Package("bigtime.systems.portal")
    pydantic = Package("pydantic")
    pydantic_core = Package("pydantic_core")
    searches = Package("bigtime.projections.search")
    site = Package("bigtime.site")
    ssl = Package("ssl")
    stores = Package("bigtime.store")
    web = Package("bigtime.web")
    wire = Package("bigtime.wire")
