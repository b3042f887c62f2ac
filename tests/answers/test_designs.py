"""The explorer's designs: which columns of which tables, which rows of a table, and what a sample keeps."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from torusweep.all_columns import DECLARED
from torusweep.answers.joined import joined_tables
from torusweep.answers.page import explorer
from torusweep.answers.page.explorer import Explorer, explored
from torusweep.charts import log_ticks
from torusweep.charts.looks import SYMBOLS, group_of, network_looks, value_looks
from torusweep.charts.section import sampled
from torusweep.networks.families import build
from torusweep.questions.static.record import static_record

from tests.answers.page_parts import unpacked

NAMES = ("torus(k=4, n=2)", "torus(k=3, n=3)", "mesh(k=4, n=2)", "pruned_xy(k=4)")  # the last is not connected


@pytest.fixture(scope="module")
def static() -> list[dict[str, Any]]:
    return [static_record(build(name)) for name in NAMES]


def load(topology: str, routing: str, traffic: str, saturation: float | None) -> dict[str, Any]:
    row = dict.fromkeys(DECLARED["loads"].names)
    return {
        **row,
        "topology": topology,
        "routing": routing,
        "traffic": traffic,
        "method": "exact",
        "saturation_load": saturation,
    }


def data_of(tables: dict[str, Any]) -> dict[str, Any]:
    return unpacked(explored(tables).data)


def columns(tables: dict[str, Any]) -> dict[tuple[str, str], list[list[float] | None]]:
    return {(one["table"], one["name"]): one["values"] for one in data_of(tables)["quantities"]}


def test_connected_networks_by_size_once_each_with_what_tells_them_apart(static: list[dict[str, Any]]) -> None:
    tables = {"static": [*static, {**static[0], "fault_nodes": 1}]}
    data, found = data_of(tables), {name: values for (_, name), values in columns(tables).items()}
    assert data["topologies"] == ["mesh(k=4, n=2)", "torus(k=4, n=2)", "torus(k=3, n=3)"]
    assert found["nodes"] == [[16, 16, 27]]
    assert found["mean_distance"] == [[2.5, 2.0, 2.0]]
    assert "fault_nodes" not in found  # null
    assert "components" not in found  # 1 in all
    assert not {"topology", "family", "distance_histogram", "connected"} & set(found)
    assert explored({}).section is None


def test_a_fuller_row_is_taken_and_infinity_is_no_number(static: list[dict[str, Any]]) -> None:
    rows = [load(name, "minimal", "uniform", value) for name, value in zip(NAMES, (4.0, 5.0, math.inf))]
    bounded = [{**row, "capacity": row["saturation_load"] + 1, "cut_links": 8} for row in rows[:2]]
    found = columns({"static": static, "loads": [*rows, *bounded]})
    assert found["loads", "capacity"] == [[None, 5, 6]]  # mesh, torus, torus
    assert found["loads", "saturation_load"] == [[None, 4, 5]]


def test_a_column_that_repeats_statics_is_left_out(static: list[dict[str, Any]]) -> None:
    empty = dict.fromkeys(DECLARED["latency"].names)
    rows = [
        {**empty, "topology": record["topology"], "nodes": record["nodes"], "mean_latency": float(place)}
        for place, record in enumerate(static)
    ]
    assert [name for table, name in columns({"static": static, "latency": rows}) if table == "latency"] == [
        "mean_latency"
    ]


@pytest.mark.parametrize(
    ("column", "larger"),
    [
        ("nodes", True),
        ("saturation_load", True),
        ("bus_bandwidth", True),
        ("edge_connectivity", True),
        ("bisection_upper", True),
        ("saturation_rate_corrected", True),
        ("mean_distance", False),
        ("cost", False),
        ("max_channel_load", False),
        ("mean_latency", False),
        ("links", False),
        ("accepted_load", True),
        ("effective_cut_links", True),
        ("saturation_precision", False),
        ("throughput", True),
        ("saturation_per_cost", True),
        ("cost_per_terminal", False),
    ],
)
def test_which_way_is_better(column: str, larger: bool) -> None:
    declared = [one for table in DECLARED.values() for one in table.columns if one.name == column]
    assert {one.cost(2.0) for one in declared} == {-2.0 if larger else 2.0}


def test_a_sample_keeps_every_front_and_is_the_same_again() -> None:
    draw = random.Random(7)
    values = [[float(draw.choice((draw.randrange(40), draw.randrange(4000)))) for _ in range(600)] for _ in range(3)]
    values[2][5] = math.nan
    sign = (1, -1, 1)
    costs = [way * np.array(column) for way, column in zip(sign, values)]
    kept = sampled(costs, 600, 150)
    assert len(kept) == 150
    assert np.array_equal(kept, np.unique(kept))
    assert np.array_equal(kept, sampled(costs, 600, 150))
    for a, b in itertools.combinations(range(3), 2):
        points = {
            i: (sign[a] * values[a][i], sign[b] * values[b][i])
            for i in range(600)
            if not math.isnan(values[a][i] + values[b][i])
        }
        front = {
            p for p in points.values() if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points.values())
        }
        assert front <= {points[i] for i in kept.tolist() if i in points}
    gaps = np.diff(kept)
    assert gaps.max() < 20  # the others lie evenly
    assert sampled(costs, 600, 600).tolist() == list(range(600))
    assert len(sampled(costs, 600, 5)) == 5
    # all are equal in the second cost: the front is design 3, and 0, the first of the equals
    assert {0, 3} < set(sampled([np.array([3.0, 2.0, 1.0, 0.0]), np.ones(4)], 4, 3).tolist())


def body(explorer: Explorer) -> str:
    assert explorer.section is not None
    return explorer.section.body


def test_every_table_of_the_explorer_has_a_title() -> None:
    titles = {table.title or table.name for table in joined_tables().values()}
    assert not any("_" in title for title in titles)


def test_what_each_network_has_of_its_own_is_no_choice_of_a_reader(static: list[dict[str, Any]]) -> None:
    """Packings that `automatic` finds differ from network to network: their costs are compared all the same."""

    def cost(*packings: str) -> explorer.Source:
        names = [record["topology"] for record in static[: len(packings)]]
        found = [dict.fromkeys(DECLARED["cost"].names) for _ in packings]
        rows = [row | {"topology": name, "model": "m"} for row, name in zip(found, names)]
        rows = [row | {"packing": packing, "total_cost": 1.0} for row, packing in zip(rows, packings)]
        rows += [{**rows[0], "packing": "pods"}] * (packings[0] == "asked")
        return next(one for one in explorer.sources({"cost": rows}, names, 9) if one.name == "cost")

    alone = cost("folded", "straight")
    assert alone.keys == []
    assert [len(variant.rows) for variant in alone.variants] == [2]
    several = cost("asked", "straight")
    assert several.keys == ["packing"]
    assert sorted(len(variant.rows) for variant in several.variants) == [1, 1, 1]


def test_the_explorers_data_are_what_the_tables_say(
    static: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = explored({"static": static})
    data = unpacked(made.data)
    assert data["topologies"] == ["mesh(k=4, n=2)", "torus(k=4, n=2)", "torus(k=3, n=3)"]
    assert [data["names"][group] for group in data["groups"]] == ["mesh", "torus", "torus"]
    numbers = {quantity["name"]: quantity["values"] for quantity in data["quantities"]}
    assert numbers["mean_distance"] == [[2.5, 2, 2]]
    assert "All 3 connected designs of the sweep; 1 is left out, being disconnected" in body(made)
    many = [{**static[0], "topology": f"torus(k=4, n={i})", "nodes": i, "cost": i * i} for i in range(2, 902)]
    monkeypatch.setattr(explorer, "MOST", 300)
    assert "A sample of 300 of the 900 connected designs" in body(explored({"static": many}))
    whole = explored({"static": many})
    monkeypatch.setattr(explorer, "MOST_BYTES", len(whole.data) // 2)
    small = explored({"static": many})
    assert 100 < len(small.data) <= len(whole.data) / 2
    assert "A sample of 300 " not in body(small)
    assert explored({}).section is None
    assert (data["size"], data["sizes"]) == ("nodes", [16, 16, 27])
    switched = [*static, {**static[0], "topology": "fat_tree(k=4, n=2)", "nodes": 24, "terminals": 16}]
    data = unpacked(explored({"static": switched}).data)
    assert (data["size"], sorted(data["sizes"])) == ("terminals", [16, 16, 16, 27])


def test_a_quantity_has_numbers_for_each_routing_and_traffic(static: list[dict[str, Any]]) -> None:
    rows = [load(NAMES[0], routing, "tornado", 9.0) for routing in ("minimal", "valiant")]
    rows += [load(name, "minimal", "uniform", float(i)) for i, name in enumerate(NAMES)]
    tables = {"static": static, "loads": rows}
    data = unpacked(explored(tables).data)
    assert data["tables"]["loads"] == {
        "keys": ["routing", "traffic"],
        "choices": [["minimal", "uniform"], ["minimal", "tornado"], ["valiant", "tornado"]],  # of most networks first
        "at": [[0, 1, 2], [1], [1]],  # places of mesh, torus, torus
    }
    (saturation,) = [quantity for quantity in data["quantities"] if quantity["name"] == "saturation_load"]
    assert saturation["values"] == [[2, 0, 1], [9], [9]]
    assert (saturation["table"], saturation["larger"]) == ("loads", True)
    assert [quantity["table"] for quantity in data["quantities"] if quantity["name"] == "nodes"] == ["static"]


def test_families_differ_in_colour_or_symbol() -> None:
    records = [
        {"family": family, "directed": False}
        for family in ("torus", "ring", "rtt", "ptt", "pdtt", "illiac", "lattice", "sequin", "graph")
    ]
    groups = network_looks(map(group_of, [*records, {"family": "torus", "directed": True}]))
    assert len({(group.colour, group.symbol) for group in groups}) == len(groups) == 10
    assert [group.name for group in groups][:2] == ["ring", "torus"]
    assert "torus, directed" in {group.name for group in groups}
    assert len({(group.colour, group.symbol) for group in value_looks(map(str, range(56)))}) == 56
    assert {group.symbol for group in groups} <= set(SYMBOLS)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ((240.0, 384.0), [250, 300, 350]),
        ((3.0, 40.0), [1, 2, 5, 10, 20, 50, 100, 200, 500]),
        ((0.5, 5000.0), [0.1, 1, 10, 100, 1000, 10000]),
        ((-1.0, 0.0, 3.0, 40.0, float("inf")), [1, 2, 5, 10, 20, 50, 100, 200, 500]),  # a table that was altered
    ],
)
def test_labels_of_a_logarithmic_axis(values: tuple[float, ...], ticks: list[float]) -> None:
    assert log_ticks(values) == pytest.approx(ticks)
