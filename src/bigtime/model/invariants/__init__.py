"""Invariants over several items: unique values, counts, sequences, singletons, copies."""

from bigtime.model.invariants.audit import (
    Audit, BucketAudit, BucketUnlisted, CannotMend, Found, Mend, Violation, changed_attributes,
    look_through, main_key,
)
from bigtime.model.invariants.copies import Copies, copies
from bigtime.model.invariants.invariant import invariants_of
from bigtime.model.invariants.reference_count import reference_count
from bigtime.model.invariants.sequence import sequence
from bigtime.model.invariants.singleton import singleton
from bigtime.model.invariants.unique import unique

__all__ = [
    "Audit", "BucketAudit", "BucketUnlisted", "CannotMend", "Copies", "Found", "Mend", "Violation",
    "changed_attributes", "copies", "invariants_of", "look_through", "main_key", "reference_count",
    "sequence", "singleton", "unique",
]
