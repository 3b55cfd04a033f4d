"""Programs that crash, tear, fill, race and fuzz the engine, load and kill the site, and count."""
