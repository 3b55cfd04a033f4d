"""The commerce systems: each a design, its patterns and its rules."""
