"""Fronts of designs, against a plain loop."""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa
import pytest
from torusweep.answers.choices import EXCLUDED, front, front_of, pareto
from torusweep.errors import BadInput


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


def test_a_hundred_thousand_rows_take_about_a_second():
    values = np.random.default_rng(1).integers(0, 2**40, (100_000, 3))
    start = time.perf_counter()
    assert len(front(values)) > 1
    assert time.perf_counter() - start < 5


DESIGNS = pa.table(
    {
        "nodes": [16, 16, 64, 64, 16, 16],
        "topology": ["a", "b", "c", "d", "e", "f"],
        "cost": [4, 4, 2, 9, 3, None],
        "mean_distance": [2.0, 2.0, 3.0, 1.0, float("nan"), 0.5],
        "bisection": pa.array([8, 8, 9, 1, 5, 2], pa.int64()),
    }
)


def test_the_best_designs_come_first_and_equals_stay():
    found = pareto(DESIGNS, ["mean_distance", "cost"])
    assert found.column("topology").to_pylist() == ["d", "a", "b", "c"]
    assert found.column_names == ["topology", "mean_distance", "cost", "nodes", "bisection"]
    assert found.schema.metadata[EXCLUDED] == b"2"


def test_larger_can_be_better():
    assert pareto(DESIGNS, [], ["bisection"]).column("topology").to_pylist() == ["c"]
    assert pareto(DESIGNS, ["nodes"], ["bisection"]).column("topology").to_pylist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("minimise", "maximise", "says"),
    [
        ([], [], "expected columns"),
        (["costs"], [], "did you mean 'cost'?"),
        (["cost", "cost"], [], "named twice"),
        (["cost"], ["cost"], "named twice"),
        (["topology"], [], "expected numbers, got string"),
    ],
)
def test_columns_that_make_no_front(minimise, maximise, says):
    with pytest.raises(BadInput) as caught:
        pareto(DESIGNS, minimise, maximise)
    assert says in str(caught.value)


def test_a_front_of_results_under_a_condition(results):
    assert front_of(results, minimise=["mean_distance", "cost"]).column("topology").to_pylist() == ["ring(k=8)"]
    assert front_of(results, minimise=["cost", "nodes"]).column_names == [
        "topology",
        "cost",
        "nodes",
        "degree_max",
        "diameter",
    ]
    found = front_of(results, minimise=["mean_distance", "cost"], where="nodes = 16 -- as many as a 4-cube's")
    assert found.column("topology").to_pylist() == ["hypercube(n=4)", "torus(k=4, n=2)"]


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
