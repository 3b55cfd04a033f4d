"""Programs that crash, tear, fill, race and fuzz the engine, and count what they saw."""
