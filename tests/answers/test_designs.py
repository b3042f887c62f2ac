"""Designs as rows of numbers: which columns of which tables, which rows of a table, and what a sample keeps."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest
from torusweep.all_columns import TABLES
from torusweep.answers.designs import DesignAxis, combinations, designs, is_better_large, sample_of
from torusweep.answers.joined import joined_tables
from torusweep.answers.page import explorer
from torusweep.answers.page.explorer import Explorer, explored
from torusweep.charts import log_ticks
from torusweep.charts.looks import SYMBOLS, group_of, network_looks, value_looks
from torusweep.networks.families import build
from torusweep.questions.static.record import static_record
from torusweep.stages import STAGES

from tests.answers.page_parts import unpacked

NAMES = ("torus(k=4, n=2)", "torus(k=3, n=3)", "mesh(k=4, n=2)", "pruned_xy(k=4)")  # the last is not connected


@pytest.fixture(scope="module")
def static() -> list[dict[str, Any]]:
    return [static_record(build(name)) for name in NAMES]


def load(topology: str, routing: str, traffic: str, saturation: float | None) -> dict[str, Any]:
    row = dict.fromkeys(column.name for column in TABLES["loads"])
    return {
        **row,
        "topology": topology,
        "routing": routing,
        "traffic": traffic,
        "method": "exact",
        "saturation_load": saturation,
    }


def columns(tables: dict[str, Any]) -> dict[tuple[str, str], list[float]]:
    return {(axis.source, axis.name): axis.values.tolist() for axis in designs(tables).axes}


def test_connected_networks_by_size_once_each_with_what_tells_them_apart(static: list[dict[str, Any]]) -> None:
    found = designs({"static": [*static, {**static[0], "fault_nodes": 1}]})
    assert [record["topology"] for record in found.records] == ["mesh(k=4, n=2)", "torus(k=4, n=2)", "torus(k=3, n=3)"]
    assert found.left_out == 1
    axes = {axis.name: axis for axis in found.axes}
    assert axes["nodes"].values.tolist() == [16, 16, 27]
    assert axes["mean_distance"].values.tolist() == [2.5, 2.0, 2.0]
    assert "fault_nodes" not in axes  # null
    assert "components" not in axes  # 1 in all
    assert not {"topology", "family", "distance_histogram", "connected"} & set(axes)
    assert len(designs({}).records) == 0


def test_a_table_of_one_row_a_network_joins_as_it_is(static: list[dict[str, Any]]) -> None:
    found = columns(
        {
            "static": static,
            "loads": [load(NAMES[0], "minimal", "uniform", 2.0), load(NAMES[1], "minimal", "uniform", 3.0)],
        }
    )
    assert found["loads", "saturation_load"] == pytest.approx([math.nan, 2.0, 3.0], nan_ok=True)


def test_combinations_that_most_networks_have_come_first(static: list[dict[str, Any]]) -> None:
    rows = [load(NAMES[0], routing, "tornado", 9.0) for routing in ("minimal", "valiant")]
    rows += [
        load(name, "valiant", "uniform", saturation) for name, saturation in zip(NAMES[:2], (4.0, 5.0), strict=True)
    ]
    rows += [
        load(name, "minimal", "uniform", saturation)
        for name, saturation in zip(NAMES, (1.0, 2.0, math.inf, 7.0), strict=True)
    ]
    found = columns({"static": static, "loads": rows})
    named = [source for source, name in found if name == "saturation_load"]
    assert named == [
        "loads: minimal, uniform",
        "loads: valiant, uniform",
    ]  # the others have one number, which tells nothing apart
    assert found["loads: minimal, uniform", "saturation_load"] == pytest.approx(
        [math.nan, 1.0, 2.0], nan_ok=True
    )  # infinite: no number


def test_of_a_curve_some_points_from_first_to_last(static: list[dict[str, Any]]) -> None:
    empty = dict.fromkeys(column.name for column in TABLES["latency"])
    rows = [
        {**empty, "topology": name, "model": "a model", "rate": rate / 10, "mean_latency": float(rate + place)}
        for rate in range(7)
        for place, name in enumerate(NAMES)
    ]
    found = columns({"static": static, "latency": rows})
    sources = [source for source, name in found if name == "mean_latency"]
    assert sources == [f"latency: rate {rate:g}" for rate in (0.0, 0.2, 0.4, 0.6)]
    assert found["latency: rate 0.2", "mean_latency"] == [4.0, 2.0, 3.0]  # mesh, torus, torus


def test_what_came_out_tells_no_rows_apart_and_a_fuller_row_is_taken(static: list[dict[str, Any]]) -> None:
    rows = [
        {**load(name, "minimal", "uniform", saturation), "link_utilization": 0.5}
        for name, saturation in zip(NAMES[:2], (4.0, 5.0), strict=True)
    ]
    bounded = [{**row, "capacity": row["saturation_load"] + 1, "cut_links": 8} for row in rows]
    few = [load(NAMES[0], "minimal", "tornado", 1.0)]  # of one network: no numbers to compare
    found = columns({"static": static, "loads": [*rows, *bounded, *few]})
    assert {source for source, _ in found if source != "static"} == {"loads: uniform"}
    assert found["loads: uniform", "capacity"] == pytest.approx([math.nan, 5.0, 6.0], nan_ok=True)


@pytest.mark.parametrize("table", joined_tables())
def test_what_distinguishes_rows_is_a_column(table: str) -> None:
    columns, distinguishing = joined_tables()[table]
    assert set(distinguishing) <= {column.name for column in columns}


def test_combinations_of_few_networks_are_left_out() -> None:
    rows = [load(str(i), "minimal", "uniform", float(i)) for i in range(40)] + [
        load(str(i), "valiant", "uniform", float(i)) for i in range(3)
    ]
    assert [words for words, _ in combinations(rows, STAGES["loads"].distinguishing)] == [("minimal",)]
    rows.append(load("3", "valiant", "uniform", 3.0))
    assert [words for words, _ in combinations(rows, STAGES["loads"].distinguishing)] == [
        ("minimal",),
        ("valiant",),
    ]


def test_a_column_that_repeats_statics_is_left_out(static: list[dict[str, Any]]) -> None:
    rows = [
        {
            **dict.fromkeys(column.name for column in TABLES["latency"]),
            "topology": record["topology"],
            "nodes": record["nodes"],
        }
        for record in static
    ]
    for row, delay in zip(rows, (1.0, 2.0, 3.0, 4.0), strict=True):
        row["mean_latency"] = delay
    assert [name for source, name in columns({"static": static, "latency": rows}) if source == "latency"] == [
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
    ],
)
def test_which_way_is_better(column: str, larger: bool) -> None:
    assert is_better_large(column) is larger


def test_a_sample_keeps_every_front_and_is_the_same_again() -> None:
    draw = random.Random(7)
    values = [[float(draw.choice((draw.randrange(40), draw.randrange(4000)))) for _ in range(600)] for _ in range(3)]
    values[2][5] = math.nan
    axes = [DesignAxis(str(i), "static", "", "", i == 1, np.array(column)) for i, column in enumerate(values)]
    kept = sample_of(axes, 600, 150)
    assert len(kept) == 150
    assert np.array_equal(kept, np.unique(kept))
    assert np.array_equal(kept, sample_of(axes, 600, 150))
    sign = (1, -1, 1)
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
    assert sample_of(axes, 600, 600).tolist() == list(range(600))
    assert len(sample_of(axes, 600, 5)) == 5


def body(explorer: Explorer) -> str:
    assert explorer.section is not None
    return explorer.section.body


def test_every_table_of_the_explorer_has_a_title() -> None:
    assert explorer.TITLES.keys() == {"static", *joined_tables()}


def test_what_each_network_has_of_its_own_is_no_choice_of_a_reader(static: list[dict[str, Any]]) -> None:
    """Packings that `automatic` finds differ from network to network: their costs are compared all the same."""

    def cost(*packings: str) -> explorer.Source:
        names = [record["topology"] for record in static[: len(packings)]]
        found = [dict.fromkeys(column.name for column in TABLES["cost"]) for _ in packings]
        rows = [row | {"topology": name, "model": "m"} for row, name in zip(found, names)]
        rows = [row | {"packing": packing, "total_cost": 1.0} for row, packing in zip(rows, packings)]
        rows += [{**rows[0], "packing": "pods"}] * (packings[0] == "asked")
        records = [record for record in static if record["topology"] in names]
        return next(one for one in explorer.sources({"cost": rows}, records, 9) if one.name == "cost")

    alone = cost("folded", "straight")
    assert alone.keys == []
    assert [len(variant.rows) for variant in alone.variants] == [2]
    several = cost("asked", "straight")
    assert several.keys == ["packing"]
    assert sorted(len(variant.rows) for variant in several.variants) == [1, 1, 1]


def test_the_explorers_data_are_what_the_tables_say(
    static: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = explored({"static": static}, designs({"static": static}))
    data = unpacked(made.data)
    assert data["topologies"] == ["mesh(k=4, n=2)", "torus(k=4, n=2)", "torus(k=3, n=3)"]
    assert [data["names"][group] for group in data["groups"]] == ["mesh", "torus", "torus"]
    numbers = {quantity["name"]: quantity["values"] for quantity in data["quantities"]}
    assert numbers["mean_distance"] == [[2.5, 2, 2]]
    assert "All 3 connected designs of the sweep; 1 is left out, being disconnected" in body(made)
    many = [{**static[0], "topology": f"torus(k=4, n={i})", "nodes": i, "cost": i * i} for i in range(2, 902)]
    monkeypatch.setattr(explorer, "MOST", 300)
    assert "A sample of 300 of the 900 connected designs" in body(explored({"static": many}, designs({"static": many})))
    whole = explored({"static": many}, designs({"static": many}))
    monkeypatch.setattr(explorer, "MOST_BYTES", len(whole.data) // 2)
    small = explored({"static": many}, designs({"static": many}))
    assert 100 < len(small.data) <= len(whole.data) / 2
    assert "A sample of 300 " not in body(small)
    assert explored({}, designs({})).section is None
    assert (data["size"], data["sizes"]) == ("nodes", [16, 16, 27])
    switched = [*static, {**static[0], "topology": "fat_tree(k=4, n=2)", "nodes": 24, "terminals": 16}]
    data = unpacked(explored({"static": switched}, designs({"static": switched})).data)
    assert (data["size"], sorted(data["sizes"])) == ("terminals", [16, 16, 16, 27])


def test_a_quantity_has_numbers_for_each_routing_and_traffic(static: list[dict[str, Any]]) -> None:
    rows = [load(NAMES[0], routing, "tornado", 9.0) for routing in ("minimal", "valiant")]
    rows += [load(name, "minimal", "uniform", float(i)) for i, name in enumerate(NAMES)]
    tables = {"static": static, "loads": rows}
    data = unpacked(explored(tables, designs(tables)).data)
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
