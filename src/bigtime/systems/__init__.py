"""The commerce systems, each with its tables, its access patterns and its rules."""
