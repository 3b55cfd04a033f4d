"""Running a Bigtime application: environments, backups, regions, cost."""
