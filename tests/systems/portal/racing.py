"""A process of its own, for races between processes: checks out, and then pulls at a tenant."""

from __future__ import annotations

import sys
from contextlib import suppress

from bigtime.model import Conflict
from bigtime.store import open_store
from bigtime.systems.portal.errors import MoveRefused
from bigtime.systems.portal.registration import update_tenant_status
from bigtime.systems.portal.tenants import tenant_at_checkout, update_tenant
from bigtime.systems.portal.values import Status
from bigtime.wire import Steps


def pull(tenant_id: str, name: str, times: int) -> Steps[int]:
    """Renames a tenant again and again, and tries to validate it; how often that went through."""
    validated = 0
    for number in range(times):
        with suppress(MoveRefused):
            yield from update_tenant_status(tenant_id, Status.VALIDATED, by=name)
            validated += 1
        while True:
            with suppress(Conflict):
                told = {"organization_name": f"{name} {number}"}
                yield from update_tenant(tenant_id, told, by=name)
                break
    return validated


def main(file: str, name: str, addresses: int, times: int) -> None:
    with open_store(f"file:{file}") as store:
        print("ready", flush=True)
        sys.stdin.readline()
        ids = [store.run(tenant_at_checkout(f"t{n}@example.com")).id for n in range(addresses)]
        validated = store.run(pull(ids[0], name, times))
    print(validated, *ids)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
