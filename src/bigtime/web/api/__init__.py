"""The JSON APIs."""
