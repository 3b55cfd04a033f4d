"""Bigtime: design a DynamoDB application by its access patterns, and run it."""

__version__ = "0.1.0"
