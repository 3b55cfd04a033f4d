"""The site over the systems: pages and JSON APIs."""
