"""The editor's desk: deals and brands are made here, featured, and told of to everybody."""
