"""Running a Bigtime application: environments, backups, regions. Nothing of it is there yet."""
