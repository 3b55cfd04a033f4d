"""The worker backs the site up where it is told to."""

from __future__ import annotations

from pathlib import Path

from bigtime import model as bt
from bigtime import ops
from bigtime.site import SYSTEMS
from bigtime.store import open_store
from bigtime.web.http import Settings
from bigtime.web.worker import backup_runs


def test_the_worker_backs_the_whole_site_up(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    settings = Settings(
        store=f"file:{tmp_path / 'site.db'}", environment="dev", backups=str(folder)
    )
    with open_store(settings.store) as store:
        for system in SYSTEMS:
            store.run(bt.setup(system))
        runs = backup_runs(store, settings)
        assert runs is not None and runs.plan.schedule.text == "cron(0 1 * * ? *)"
        done = runs.round()
        assert done.faults == [] and done.made is not None
        names = {table.name for table in done.made.tables}
        assert "tenants" in names and "codes" not in names and len(names) > 8
        assert runs.round().made is None
        assert backup_runs(store, Settings(store=settings.store)) is None
    with open_store("memory:") as empty:
        place = ops.FolderPlace(folder)
        ops.restore_backup(place, done.made.name, empty, engine=ops.engine_of(empty))
