"""What two regions have both written, as their streams tell."""

from __future__ import annotations

import pytest

from bigtime.ops.comparison import Written, conflict_of

SINCE = 1_000.0


def writes(text: str) -> list[Written]:
    """As in `a@990 b@1005`."""
    pairs = (part.split("@") for part in text.split())
    return [Written(float(at), image) for image, at in pairs]


@pytest.mark.parametrize(
    ("old", "new", "conflict"),
    [
        # All of it replicated before the switch, and afterwards by the new writer alone.
        ("a@990", "a@990", None),
        ("a@990 b@1001", "a@990 b@1001", None),
        ("a@990 b@1002", "a@990 b@1001", None),
        ("a@990 b@1001 c@1001", "a@990 b@1001 c@1001", None),
        # The old region wrote what had not arrived; the new one did not touch it.
        ("a@990 b@999", "a@990 b@1005", None),
        ("a@990 b@999", "a@990", None),
        # Both wrote: the new region's write stayed, or the old region's, or they are apart still.
        ("a@990 b@999 c@1005", "a@990 c@1003", ("b", "c")),
        ("a@990 b@999", "a@990 c@1003", ("b", "c")),
        ("a@990 b@1004", "a@990 c@1003 b@1006", ("b", "c")),
        ("a@990 b@1004", "a@990 c@1004 b@1004", ("b", "c")),
        ("a@990 b@999 c@1003", "a@990 c@1003", ("b", "c")),
    ],
)
def test_a_conflict_is_a_write_that_the_other_region_did_not_take(
    old: str, new: str, conflict: tuple[str, str] | None
) -> None:
    found = conflict_of(writes(old), writes(new), SINCE)
    assert (found and tuple(write.image for write in found)) == conflict
