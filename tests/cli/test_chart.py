"""`bigtime chart`: the charts, ready for a document."""

from __future__ import annotations

from pathlib import Path

from bigtime.advisor.charts import chart
from tests.cli.program import ask, run
from tests.model.deals import SYSTEM

ROOT = Path(__file__).parents[2]


def test_a_chart_is_printed_as_it_is_made() -> None:
    done = run("chart", "tests.model.deals:SYSTEM", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout == chart(SYSTEM)


def test_ones_own_system_is_found_where_one_is(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        "from bigtime.model.schema.entity import Entity\n"
        "from bigtime.model.schema.keys import Keys\n"
        "from bigtime.model.system import System\n"
        "from bigtime.model.schema.table import Table\n"
        "ORDERS = Table('Orders', 'order_id')\n"
        "class Order(Entity, table=ORDERS):\n"
        "    keys = Keys(main='{order_id}')\n"
        "    order_id: str\n"
        "MINE = System('mine', (ORDERS,))\n"
    )
    done = ask("chart", "shop:MINE", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "| Order | `<OrderId>` | |" in done.stdout
