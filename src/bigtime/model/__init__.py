"""Tables, entities, keys and access patterns as Python declarations; no I/O."""
