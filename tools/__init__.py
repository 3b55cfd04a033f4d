"""Programs for working on Bigtime."""
