"""Copies of the data for other uses, kept by streams: an index for search, Parquet for analytics.

A projection is declared beside its entity as a plain value of the model (`search`, `lake`). It can
be rebuilt from the tables, and can say how far behind them it is.
"""
