"""The `bigtime` command."""
