"""The deals catalogue: six tables with the plainest keys that answer their patterns.

Deals, users and brands are read by id far more often than by anything else, so their tables have
a partition key and nothing more. Indexes answer the rest: a brand's deals and a category's, who
watches what, what is discounted. Reads that may be answered from a cache are not consistent ones,
and say so; a deal by its id is read consistently unless told otherwise.

Watchers hear of a new deal in their activities (see notifications). Search is not here.
"""

from bigtime.model import System
from bigtime.systems.catalog import (
    activities,
    brands,
    deals,
    notifications,
    trending,
    users,
    watches,
)
from bigtime.systems.catalog.demo import DEMO
from bigtime.systems.catalog.design import (
    BRANDS,
    DEALS,
    TRENDING_DEALS,
    USER_ACTIVITIES,
    USER_WATCHES,
    USERS,
)

SYSTEM = System(
    "catalog",
    tables=(DEALS, USERS, BRANDS, USER_WATCHES, USER_ACTIVITIES, TRENDING_DEALS),
    modules=(deals, users, brands, watches, activities, trending, notifications),
    accepted={
        "hot-partition UserWatch.WatchesByType": "the schema asks for watches by type, of which"
        " there are three; nothing on the site does so for a visitor, and a shard would change the"
        " key",
    },
    demo=DEMO,
)
