from __future__ import annotations

import pytest
from hypothesis import assume, given

from bigtime.wire import Item
from tests.engine.expressions.reading import item, map_value, project, read
from tests.strategies import items

ITEM = item(
    a=1,
    seq=[0, map_value(x=1, y=2), [5, 6]],
    doc=map_value(x=1, core=map_value(y=2, z=3), seq=[7, 8]),
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", item(a=1)),
        ("a, gone", item(a=1)),
        ("gone", {}),
        ("doc.x", item(doc=map_value(x=1))),
        ("doc.x, doc.core.z", item(doc=map_value(x=1, core=map_value(z=3)))),
        ("doc.core.y, a, doc.core.z", item(a=1, doc=map_value(core=map_value(y=2, z=3)))),
        ("doc.gone", {}),
        ("doc.gone.deeper, doc.x", item(doc=map_value(x=1))),
        ("a.x", {}),
        ("a[0]", {}),
        ("seq[0]", item(seq=[0])),
        ("seq[2], seq[0]", item(seq=[0, [5, 6]])),
        ("seq[1].y", item(seq=[map_value(y=2)])),
        ("seq[1].y, seq[2][1]", item(seq=[map_value(y=2), [6]])),
        ("seq[7]", {}),
        ("seq[1].gone, seq[0]", item(seq=[0])),
        ("doc.seq[1], doc.x", item(doc=map_value(x=1, seq=[8]))),
    ],
)
def test_what_a_projection_leaves(text: str, expected: Item) -> None:
    assert project(text, ITEM) == expected


@given(items.filter(bool))
def test_naming_every_attribute_changes_nothing(subject: Item) -> None:
    aliases = {f"#{number}": name for number, name in enumerate(subject)}
    assert project(", ".join(aliases), subject, aliases) == subject


@given(items.filter(bool))
def test_projecting_twice_is_projecting_once(subject: Item) -> None:
    name = next(iter(subject))
    assume(name not in ("a", "c"))
    aliases = {"#0": name}
    once = project("#0, a.b, c[0]", subject, aliases)
    assert project("#0, a.b, c[0]", once, aliases) == once


def test_a_projection_knows_its_attributes() -> None:
    projection = read("ProjectionExpression", "a, #m.b, c[1]", {"#m": "doc"}).projection
    assert projection is not None
    assert projection.attributes == {"a", "doc", "c"}
    assert projection.nested_attributes == {"doc", "c"}
