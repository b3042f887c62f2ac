"""D-mod-k on fat trees: routes by a plain loop over digits; shift permutations meet no congestion."""

from __future__ import annotations

import sys
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.questions.deadlock.record import deadlock_record
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.monte_carlo import sampled_loads
from torusweep.traffic import GivenTraffic
from torusweep.traffic.matrix import permutation

TREES = [  # spelling, children and parents by level
    ("fat_tree(k=3, n=3)", [3, 3, 3], [1, 3, 3]),
    ("fat_tree(k=2, n=4)", [2] * 4, [1, 2, 2, 2]),
    ("xgft(down=[1, 3, 3, 3], up=[1, 1, 3, 3])", [1, 3, 3, 3], [1, 1, 3, 3]),
    ("xgft(down=[4, 3, 2], up=[1, 2, 3])", [4, 3, 2], [1, 2, 3]),
    ("xgft(down=[1, 4], up=[1, 2])", [1, 4], [1, 2]),
]


def switch_numbers(down, up):
    """{(level, digits): number}, level by level, the first digit varying fastest."""
    found = {}
    for level in range(1, len(down) + 1):
        sides = up[1:level] + down[level:]
        for digits in product(*map(range, reversed(sides))):
            found[level, digits[::-1]] = len(found)
    return found


def route(down, up, source, destination):
    """Switches between two terminals: (level, digits), one after the other."""

    def word(terminal):
        digits = []
        for side in down:
            digits.append(terminal % side)
            terminal //= side
        return digits[1:]

    here, goal, level = word(source), word(destination), 1
    path = [(1, tuple(here))]
    ways = 1
    while here[level - 1 :] != goal[level - 1 :]:
        ways *= up[level - 1]
        here = here[:]
        here[level - 1] = destination // ways % up[level]
        level += 1
        path.append((level, tuple(here)))
    while level > 1:
        level -= 1
        here = here[:]
        here[level - 1] = goal[level - 1]
        path.append((level, tuple(here)))
    return path


def plain_loads(topology, down, up, demands):
    numbers, loads = switch_numbers(down, up), Counter()
    for (source, destination), flits in demands.items():
        for one, other in pairwise(route(down, up, source, destination)):
            loads[numbers[one], numbers[other]] += flits
    found = np.zeros(topology.ports.shape)
    for u, v, port in zip(*(array.tolist() for array in topology.arcs)):
        found[u, port] = loads.pop((u, v), 0)
    assert not loads, "a hop without a link"
    return found


@pytest.mark.parametrize(("spelling", "down", "up"), TREES, ids=[spelling for spelling, *_ in TREES])
def test_uniform_traffic_loads_links_as_a_plain_loop_says(spelling, down, up):
    topology = build(spelling)
    terminals = len(topology.terminals)
    demands = dict.fromkeys(product(range(terminals), repeat=2), 1 / terminals)
    found = exact_loads(topology, routing="d_mod_k").load
    np.testing.assert_allclose(found, plain_loads(topology, down, up, demands), rtol=1e-12, atol=1e-15)
    packets = 50_000
    sampled = sampled_loads(topology, routing="d_mod_k", packets=packets).load
    assert np.abs(sampled - found).max() < 6 * np.sqrt(found.max() * terminals / packets)


@pytest.mark.parametrize(
    ("spelling", "down", "up"),
    [
        ("xgft(down=[1, 3, 3, 3], up=[1, 1, 3, 3])", [1, 3, 3, 3], [1, 1, 3, 3]),
        ("xgft(down=[1, 4, 3], up=[1, 1, 4])", [1, 4, 3], [1, 1, 4]),
    ],
)
def test_no_shift_permutation_loads_a_link_twice(spelling, down, up):
    """Every terminal is a node, the tree is full: each link carries one flow at most (Zahavi 2012)."""
    topology = build(spelling)
    terminals = len(topology.terminals)
    collides = 0
    for shift in range(1, terminals):
        to = (np.arange(terminals) + shift) % terminals
        pattern = GivenTraffic(f"shift by {shift}", permutation(to))
        found = exact_loads(topology, routing="d_mod_k", traffic=pattern).load
        assert (found == plain_loads(topology, down, up, dict.fromkeys(enumerate(to.tolist()), 1))).all()
        assert found.max() == 1
        other = np.random.default_rng(shift).permutation(terminals)
        collides += (
            exact_loads(topology, routing="d_mod_k", traffic=GivenTraffic("any", permutation(other))).load.max() > 1
        )
    assert collides  # other permutations do meet congestion


def test_shifts_of_terminals_that_share_a_switch_saturate_at_one():
    topology = build("fat_tree(k=3, n=3)")
    for shift in range(1, 27):
        pattern = GivenTraffic(f"shift by {shift}", permutation((np.arange(27) + shift) % 27))
        assert exact_loads(topology, routing="d_mod_k", traffic=pattern).load.max() <= 1 + 1e-12


@pytest.mark.parametrize("spelling", ["fat_tree(k=3, n=3)", "xgft(down=[4, 3, 2], up=[1, 2, 3])"])
def test_one_virtual_channel_suffices(spelling):
    found = deadlock_record(build(spelling), routing="d_mod_k", vc_rule="none", virtual_channels=1)
    assert (found["deadlock_free"], found["least_virtual_channels"]) == ("yes", 1)


def test_refusals(monkeypatch):
    with pytest.raises(BadInput, match="expected a fat_tree or xgft without faults"):
        exact_loads(build("torus(k=4, n=2)"), routing="d_mod_k")
    monkeypatch.setattr(sys.modules["torusweep.routing.d_mod_k"], "MOST_ROWS", 10)
    with pytest.raises(Refused, match="expected at most 10 pairs of a switch and a terminal, got 96"):
        exact_loads(build("fat_tree(k=2, n=3)"), routing="d_mod_k")
