"""Every verb a person types."""
