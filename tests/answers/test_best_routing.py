"""The best routing of a network: one rule, in the view `designs`, the table of machines and the table `equal_cost`."""

from __future__ import annotations

import random

import duckdb
import pyarrow as pa
import pytest
from torusweep.answers.page.machines import compared
from torusweep.questions.cost.arithmetic import equal_cost
from torusweep.questions.loads.columns import TABLE as LOADS
from torusweep.tables.table import order

NETWORK = {"topology": "a", "connected": True, "terminals": 16, "mean_distance": 2.0, "latency_mean": 2.0}
PRICE = {"topology": "a", "cost_model": "m", "packing": "boxes", "terminals": 16, "cost_per_terminal": 1.0}


def rows(*found: tuple[str, float | None, int | None]) -> list[dict]:
    return [
        {
            **{"topology": "a", "traffic": "uniform", "routing": routing, "saturation_load": load, "lost_pairs": lost},
            **{"terminal_saturation_load": load, "collective_time": None},
        }
        for routing, load, lost in found
    ]


def chosen(loads: list[dict]) -> tuple[str, str | None, str | None]:
    """The routing that the view, the page's machines and the table of equal cost take."""
    with duckdb.connect() as connection:
        connection.register("loads", pa.Table.from_pylist(loads))
        ((first,),) = connection.execute(f"SELECT routing FROM loads ORDER BY {order(LOADS.best)} LIMIT 1").fetchall()
    return first, _machines(loads), _equal_cost(loads)


def _machines(loads: list[dict]) -> str | None:
    label = {"topology": "a", "comparison": "c", "label": "A"}
    (found,) = compared({"labels": [label], "static": [NETWORK], "loads": loads})
    return found.uniform and found.uniform["routing"]


def _equal_cost(loads: list[dict]) -> str | None:
    found = equal_cost([NETWORK], loads, [{**PRICE, "currency": "USD"}])
    return found[0]["routing"] if found else None


def test_a_routing_that_loses_pairs_never_counts():
    """faulty(torus(k=4, n=2), links=6, seed=1): dimension order loses 55 pairs, and saturates later for it."""
    assert chosen(rows(("dimension_order", 4 / 3, 55), ("minimal", 0.943, 0))) == ("minimal", "minimal", "minimal")


@pytest.mark.parametrize("seed", range(40))
def test_every_reader_takes_the_same_routing(seed: int):
    """Of loads that differ, that are equal but for rounding, and that are absent; by a plain loop, too."""
    draw = random.Random(seed)
    names = draw.sample(["minimal", "valiant", "by_group", "dimension_order", "up_down"], draw.randint(1, 5))
    found = rows(*((name, draw.choice([0.5, 0.5 + 1e-13, 0.7, 1.5, 2.0]), draw.choice([0, 0, 3])) for name in names))
    complete = [row for row in found if not row["lost_pairs"]]
    if not complete:
        assert chosen(found)[1:] == (None, None)
        return
    most = max(round(row["saturation_load"], 9) for row in complete)
    equal = sorted(row["routing"] for row in complete if round(row["saturation_load"], 9) == most)
    expected = "minimal" if "minimal" in equal else equal[0]
    assert {*chosen(found)} == {expected}
    assert min(found, key=LOADS.best_first)["routing"] == expected
