"""Programs for those who work on Bigtime."""
