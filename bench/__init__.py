"""How fast and how small the engine is, beside others that do the same work."""
