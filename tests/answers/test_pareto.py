"""Fronts of designs, against a plain loop."""

from __future__ import annotations

import time
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from torusweep.answers.choices import EXCLUDED, front, front_of, lister, pareto
from torusweep.answers.query import query
from torusweep.errors import BadInput
from torusweep.questions.screen import bounds
from torusweep.tables.store import publish_table


def by_plain_loops(values: np.ndarray) -> list[int]:
    return [i for i, v in enumerate(values) if not any((w <= v).all() and (w < v).any() for w in values)]


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("rows", [0, 1, 2, 40, 700])
@pytest.mark.parametrize("levels", [3, 1000])
def test_a_front_is_what_plain_loops_find(rows, columns, levels):
    values = np.random.default_rng(rows + columns + levels).integers(-levels, levels, (rows, columns))
    assert sorted(front(values)) == by_plain_loops(values)


@pytest.mark.parametrize("columns", [2, 3, 4])
def test_a_front_of_everything_stays_whole(columns):
    """Points of a sphere do not dominate each other."""
    directions = np.abs(np.random.default_rng(7).normal(size=(600, columns)))
    sphere = -(directions / np.linalg.norm(directions, axis=1)[:, None])
    ranks = np.stack([np.unique(sphere[:, i], return_inverse=True)[1] for i in range(columns)], axis=1)
    assert sorted(front(ranks)) == by_plain_loops(ranks)


@pytest.mark.parametrize("chunk", [1, 7, 100])
@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("levels", [3, 30, 1000])
def test_a_front_that_is_swept_in_chunks_is_what_plain_loops_find(monkeypatch, levels, columns, chunk):
    monkeypatch.setattr(bounds, "CHUNK", chunk)
    values = np.random.default_rng(chunk + columns + levels).integers(-levels, levels, (300, columns))
    spread = np.column_stack([values, -values.sum(axis=1)])[:, -columns:]  # most are on the front
    for some in (values, spread, values * 0.1):
        assert sorted(front(some)) == by_plain_loops(some)


def test_numbers_beyond_those_of_floats_are_compared_exactly():
    table = pa.table({"topology": ["a", "b", "c"], "cost": [2**53, 2**53 + 1, 2**53 - 1], "nodes": [1.0, 1.0, 2.0]})
    assert pareto(table, ["cost", "nodes"]).column("topology").to_pylist() == ["c", "a"]


def test_what_is_not_finite_is_compared_too():
    costs = np.random.default_rng(3).choice([-np.inf, -1e308, 0.0, 1e308, np.inf], (500, 3))
    table = pa.table({"topology": [str(i) for i in range(500)], **{name: costs[:, i] for i, name in enumerate("xyz")}})
    found = pareto(table, ["x", "y"], ["z"])
    ranks = np.stack([np.unique(costs[:, i], return_inverse=True)[1] * (-1 if i == 2 else 1) for i in range(3)], axis=1)
    alike = defaultdict(list)
    for place in by_plain_loops(ranks):
        alike[tuple(costs[place])].append(str(place))
    expected = {(min(names), len(names)) for names in alike.values()}
    assert {*zip(found["topology"].to_pylist(), found["networks"].to_pylist())} == expected


def test_a_hundred_thousand_rows_take_about_a_second():
    values = np.random.default_rng(1).integers(0, 2**40, (100_000, 3))
    start = time.process_time()
    assert len(front(values)) > 1
    assert time.process_time() - start < 5


DESIGNS = pa.table(
    {
        "nodes": [16, 16, 64, 64, 16, 16],
        "topology": ["a", "b", "c", "d", "e", "f"],
        "cost": [4, 4, 2, 9, 3, None],
        "mean_distance": [2.0, 2.0, 3.0, 1.0, float("nan"), 0.5],
        "bisection": pa.array([8, 8, 9, 1, 5, 2], pa.int64()),
    }
)


def test_the_best_designs_come_first_and_equals_are_one_row():
    found = pareto(DESIGNS, ["mean_distance", "cost"])
    assert found.select(["topology", "networks"]).to_pydict() == {"topology": ["d", "a", "c"], "networks": [1, 2, 1]}
    assert found.column_names == ["topology", "mean_distance", "cost", "nodes", "bisection", "networks"]
    assert found.schema.metadata[EXCLUDED] == b"2"


def test_larger_can_be_better():
    assert pareto(DESIGNS, [], ["bisection"]).column("topology").to_pylist() == ["c"]
    assert pareto(DESIGNS, ["nodes"], ["bisection"]).column("topology").to_pylist() == ["a", "c"]


@pytest.mark.parametrize(
    ("minimise", "maximise", "says"),
    [
        ([], [], "expected columns"),
        (["costs"], [], "did you mean 'cost'?"),
        (["cost", "cost"], [], "named twice"),
        (["cost"], ["cost"], "named twice"),
        (["topology"], [], "expected numbers, got string"),
        (["distance_sum", "edge_connectivity"], [], "expected columns of one table, or of tables with rows for each"),
    ],
)
def test_columns_that_make_no_front(results, minimise, maximise, says):
    with pytest.raises(BadInput) as caught:
        front_of(results, minimise=minimise, maximise=maximise)
    assert says in str(caught.value)


def test_a_front_of_results_under_a_condition(results):
    assert front_of(results, minimise=["mean_distance", "cost"]).column("topology").to_pylist() == ["ring(k=8)"]
    assert front_of(results, minimise=["cost", "nodes"]).column_names == [
        "topology",
        "cost",
        "nodes",
        "degree_max",
        "diameter",
        "networks",
    ]
    found = front_of(results, minimise=["mean_distance", "cost"], where="nodes = 16 -- as many as a 4-cube's")
    assert (found["topology"].to_pylist(), found["networks"].to_pylist()) == (["hypercube(n=4)"], [2])
    assert query(lister(found), results)["topology"].to_pylist() == ["hypercube(n=4)", "torus(k=4, n=2)"]


def designs(seed: int, rows: int = 200) -> pa.Table:
    """Networks of few sizes and distances, some of them disconnected or without a cost."""
    random = np.random.default_rng(seed)
    costs = [None if none else int(cost) for none, cost in zip(random.random(rows) < 0.1, random.integers(1, 9, rows))]
    return pa.table(
        {
            "topology": [f"network(seed={number})" for number in random.permutation(rows)],
            "nodes": random.integers(1, 9, rows),
            "degree_max": random.integers(1, 5, rows),
            "diameter": random.integers(1, 5, rows),
            "cost": pa.array(costs, pa.int64()),
            "mean_distance": random.integers(1, 9, rows) / 4,
            "connected": random.random(rows) < 0.8,
            "fault_nodes": pa.array([None] * rows, pa.int64()),
        }
    )


def front_by_loops(rows: list[dict]) -> list[dict]:
    """As sets of rows: less mean distance and cost, more nodes, of the connected ones with a cost."""
    valued = [row for row in rows if row["connected"] and row["cost"] is not None]
    values = np.array([(row["mean_distance"], row["cost"], -row["nodes"]) for row in valued])
    return [valued[place] for place in by_plain_loops(values)]


def one_of_each_value(rows: list[dict]) -> list[tuple]:
    """The sweep, the first network and the number of networks of each value of the front, the best value first."""
    alike = defaultdict(list)
    for row in front_by_loops(rows):
        alike[row["mean_distance"], row["cost"], -row["nodes"], row.get("sweep", "")].append(row["topology"])
    return [(key[-1], min(names), len(names)) for key, names in sorted(alike.items())]


ASKED = {"minimise": ["mean_distance", "cost"], "maximise": ["nodes"]}


@pytest.mark.parametrize("repeated", [False, True])
def test_a_front_of_results_is_in_order_and_counts_what_it_leaves_out(tmp_path, repeated):
    """Where a network has several rows, as of old tables, it counts once; the answer is the same."""
    table = designs(1)
    publish_table(tmp_path, "static", pa.concat_tables([table] * (2 if repeated else 1)))
    found = front_of(tmp_path, **ASKED)
    expected = one_of_each_value(table.to_pylist())
    assert [("", row["topology"], row["networks"]) for row in found.to_pylist()] == expected
    lacking = [row for row in table.to_pylist() if row["connected"] and row["cost"] is None]
    assert found.schema.metadata[EXCLUDED] == str(len(lacking)).encode()


def test_a_front_of_several_sweeps_names_each(tmp_path):
    larger = [
        {**row, "nodes": row["nodes"] + 1, "mean_distance": row["mean_distance"] + 0.25}
        for row in designs(6).to_pylist()
    ]
    tables = {"one": designs(1), "two": pa.Table.from_pylist(larger, schema=designs(1).schema)}
    for name, table in tables.items():
        publish_table(tmp_path / name, "static", table)
    found = front_of([tmp_path / "one", tmp_path / "two"], **ASKED)
    rows = [{**row, "sweep": name} for name, table in tables.items() for row in table.to_pylist()]
    expected = one_of_each_value(rows)
    assert found.column_names[:2] == ["sweep", "topology"]
    assert [(row["sweep"], row["topology"], row["networks"]) for row in found.to_pylist()] == expected
    assert len({sweep for sweep, *_ in expected}) == 2
    one = front_of([tmp_path / "one", tmp_path / "two"], **ASKED, where="sweep = 'one'")
    assert one.column("topology").to_pylist() == front_of(tmp_path / "one", **ASKED).column("topology").to_pylist()


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("nodes >", "got 'nodes >': syntax error"),
        ("nodes = 16) OR (true", "got 'nodes = 16) OR (true': syntax error"),
        ("nodes = 16); DROP VIEW static; --", "syntax error"),
        ("nodes = 16;", "leave out the semicolon"),
        ("nodes = 16; SELECT 1", "more than a condition"),
        ("nodes = 16; DROP TABLE static", "more than a condition; leave out what follows it"),
        ("true; PRAGMA database_list", "more than a condition; leave out what follows it"),
        ("true LIMIT 1", "more than a condition"),
        ("true GROUP BY nodes", "more than a condition"),
        ("true UNION SELECT 1", "more than a condition"),
        ("true\nORDER BY\nnodes", "got 'true ORDER BY nodes': more than a condition"),
        ("\n", "syntax error"),
        ('topology = "ring"', "text stands in single quotes: 'ring'"),
        ("topology = ring", "text stands in single quotes, as 'ring'; 'torusweep query --schema' lists"),
        ("nodez > 1", "--where 'nodez > 1' cannot be answered"),
        ("nodes IN (SELECT * FROM read_csv('/etc/passwd'))", "and no files"),
        ("topology = ';' LIMIT 1", "more than a condition"),
    ],
)
def test_a_condition_is_one_expression(results, where, says):
    with pytest.raises(BadInput) as caught:
        front_of(results, minimise=["cost"], where=where)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
