"""The admin's part of the portal."""
