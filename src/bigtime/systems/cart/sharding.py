"""Over how many partitions the index spreads the lines of one SKU.

One partition takes about a thousand writes a second, and the design trusts that no product is put
into more carts than that. Where one is, say how many partitions it takes before the first line is
stored: the index then has another key attribute, and the views ask all of them and merge.
"""

SKU_SHARDS: int = 1
