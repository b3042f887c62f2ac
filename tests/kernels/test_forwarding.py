"""Routing tables as graphs of configurations: the compiled kernels against the reference, on random tables."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from torusweep.networks.families import build
from torusweep.routing import routing
from torusweep.routing.tables.as_table import table_of
from torusweep.routing.tables.rows import table_of_kernel
from torusweep_kernels.forwarding import (
    CIRCULAR,
    STUCK,
    Demands,
    assign_layers,
    channels_of,
    order_of,
    reference,
    table_flows,
)


def random_graph(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(first, rows, next, enters) of three destinations; odd seeds may have circles, every third a dead end."""
    random = np.random.default_rng(seed)
    first = np.cumsum([0, *random.integers(1, 9, 3)])
    many = random.integers(1, 4, first[-1])
    rows = np.concatenate([[0], np.cumsum(many)])
    onwards = np.full(rows[-1], -1, np.int32)
    for low, high in pairwise(first):
        for c in range(low, high):
            for row in range(rows[c], rows[c + 1]):
                least = low if seed % 2 else c + 1
                choices = [-1, *range(least, high)] + ([-2] if seed % 3 == 0 else [])
                onwards[row] = random.choice(choices)
    return first, rows, onwards, random.random(first[-1]) < 0.6


@pytest.mark.parametrize("seed", range(40))
def test_order(seed: int):
    given = random_graph(seed)
    found, wanted = order_of(*given), reference.order_of(*given)
    assert np.array_equal(found.order, wanted.order)
    assert np.array_equal(found.first, wanted.first)
    assert (found.fault, found.where) == (wanted.fault, wanted.where)


def test_random_tables_have_every_fault():
    faults = {order_of(*random_graph(seed)).fault for seed in range(40)}
    assert faults == {0, STUCK, CIRCULAR}


@pytest.mark.parametrize(
    ("name", "network"),
    [
        ("minimal", "torus(k=3, n=2)"),
        ("up_down", "mesh(k=3, n=2)"),
        ("valiant", "ring(k=5)"),
        ("romm", "mesh(k=3, n=2)"),
    ],
)
def test_flows_are_rounded_once(name: str, network: str):
    topology = build(network)
    form = table_of(routing(name, topology)[1])
    table = table_of_kernel(form)
    random = np.random.default_rng(3)
    destination, begins = np.unique(form.entry_pair // topology.nodes, return_index=True)
    amount = random.random(len(form.entry)) * 10.0 ** random.integers(-9, 9, len(form.entry))
    demands = Demands(destination, np.append(begins, len(form.entry)), form.entry, amount)
    one, other = np.zeros((2, topology.ports.size)), np.zeros((2, topology.ports.size))
    table_flows(table, demands, *one)
    reference.table_flows(table, demands, *other)
    assert np.array_equal(one[0], other[0])
    assert np.abs(one[1] - other[1]).max() <= 2.0**-90 * one[0].max()


@pytest.mark.parametrize(
    ("name", "network"),
    [
        ("minimal", "ring(k=6)"),
        ("minimal", "torus(k=3, n=2)"),
        ("dimension_order", "torus(k=4, n=2)"),
        ("valiant", "ring(k=4)"),
        ("minimal", "faulty(torus(k=4, n=2), links=3, seed=2)"),
    ],
)
def test_layers(name: str, network: str):
    topology = build(network)
    form = table_of(routing(name, topology)[1])
    given = table_of_kernel(form), channels_of(topology.ports), np.random.default_rng(5).permutation(form.entry)
    found = assign_layers(*given)
    assert np.array_equal(found, reference.assign_layers(*given))
    assert found.max() >= 1
