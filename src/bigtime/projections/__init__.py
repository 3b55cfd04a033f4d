"""Copies of the data, kept up to date by streams: an index for search, Parquet for analytics.

A projection is declared beside its entity as a plain value (`search`, `lake`). It can be rebuilt
from the tables, and reports how far behind them it is.
"""
