"""The portal's three environments, as its operators have asked for them."""

from __future__ import annotations

from bigtime.systems.portal import SYSTEM


def test_the_matrix() -> None:
    where = [(there.name, there.account, there.regions) for there in SYSTEM.environments]
    assert where == [
        ("dev", "536580886816", ("af-south-1",)),
        ("sit", "815856636111", ("af-south-1",)),
        ("prod", "093646564004", ("af-south-1", "eu-west-1")),
    ]
    backups = [
        (there.backup_schedule, there.retention_days, there.recovery_days, there.backup_vault)
        for there in SYSTEM.environments
    ]
    assert backups == [
        ("cron(0 1 * * ? *)", 7, 35, "bbws-backup-vault-dev"),
        ("cron(0 2 * * ? *)", 14, 35, "bbws-backup-vault-sit"),
        ("cron(0 * * * ? *)", 90, 35, "bbws-backup-vault-prod"),
    ]
    rest = [
        (there.protected, there.budget_dollars, sum(there.estimates.values()), len(there.tags))
        for there in SYSTEM.environments
    ]
    assert rest == [(False, 500, 65, 7), (False, 1_000, 130, 7), (True, 5_000, 2_100, 10)]


def test_one_time_codes_are_not_backed_up() -> None:
    saved = [table.name for table in SYSTEM.saved_tables]
    assert saved == ["tenants", "products", "campaigns", "orders", "audit"]
