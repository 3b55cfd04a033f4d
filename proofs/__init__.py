"""Programs that crash, tear, fill, race, fuzz and load the engine and the site, and count."""
