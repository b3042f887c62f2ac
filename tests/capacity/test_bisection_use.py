"""Effective bisection bandwidth, against Cámara et al. 2010 and sums over pairs and channels."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from torusweep.capacity import best_half, effective_bisection
from torusweep.capacity.bounds import crossing_demand
from torusweep.networks.cuts import cut_width
from torusweep.networks.families import build
from torusweep.networks.links import channel_matrix
from torusweep_kernels.loads import minimal_loads

from tests.capacity.networks import MAKERS, between_nodes, demands, make


def uniform_loads(topology):
    """Exact loads of uniform traffic over shortest paths."""
    nodes = np.arange(topology.nodes, dtype=np.int32)
    return minimal_loads(topology.ports, nodes, demand=np.full(topology.nodes, 1 / topology.nodes)).load


@pytest.mark.parametrize("a", [4, 8, 16])
def test_effective_bisection_of_twisted_tori(a):
    """Cámara et al. 2010, sec. 5.2: 4a links, of which 3a are effective, for large a.

    Exactly: half of the traffic crosses, N/2 = a² flits; the 8a channels of the cut each carry mean/4
    with the mean of Corollary 7, so 4a · a² / (2a · mean) links' worth are used.
    """
    built = build(f"rtt(a={a})")
    found = effective_bisection(built, uniform_loads(built), between_nodes(built, "uniform"), best_half(built))
    assert found.links == 4 * a
    assert found.crossing == pytest.approx(a * a, rel=1e-12)
    assert found.effective == pytest.approx(float(F(12 * a**3, 4 * a * a - 1)), rel=1e-12)
    assert abs(found.effective / (3 * a) - 1) < 1 / (3 * a * a)


@pytest.mark.parametrize("a", [4, 8])
def test_effective_bisection_of_tori(a):
    """Cámara et al. 2010, sec. 5.1: 2a links; no minimal route leaves its half and returns."""
    built = build(f"rt(a={a})")
    found = effective_bisection(built, uniform_loads(built), between_nodes(built, "uniform"), best_half(built))
    assert (found.links, found.effective) == (2 * a, pytest.approx(2 * a, rel=1e-12))


@pytest.mark.parametrize("pattern", ["uniform_other", "hot_spot(percent=60)", "random_permutation(seed=5)"])
@pytest.mark.parametrize("name", MAKERS)
def test_use_of_a_cut(name, pattern):
    """Against sums over pairs and channels."""
    topology = make(name)
    random = np.random.default_rng(3)
    half, load = random.permutation(topology.nodes) < 3, random.uniform(size=topology.ports.shape)
    found = effective_bisection(topology, load, between_nodes(topology, pattern), half)
    crossing = sum(flits for (s, t), flits in demands(topology, pattern).items() if half[s] != half[t])
    leaving, entering, carried = 0, 0, 0.0
    for node, port in np.argwhere(topology.ports >= 0).tolist():
        head, size = topology.ports[node, port], 1 if topology.capacity is None else int(topology.capacity[node, port])
        leaving += size * bool(half[node] and not half[head])
        entering += size * bool(half[head] and not half[node])
        carried += size * load[node, port] * bool(half[node] != half[head])
    assert found.links == min(leaving, entering)
    assert (found.crossing, found.carried) == (pytest.approx(crossing), pytest.approx(carried))
    assert found.effective == pytest.approx(found.links * crossing / carried)
    assert crossing_demand(between_nodes(topology, pattern), ~half) == pytest.approx(crossing)


def test_a_cut_without_traffic_uses_nothing():
    built = build("ring(k=4)")
    silent = effective_bisection(built, np.zeros(built.ports.shape), between_nodes(built, "uniform"), np.arange(4) < 2)
    assert (silent.links, silent.effective, silent.carried) == (2, 0, 0)


@pytest.mark.parametrize(
    ("name", "width"), [("rtt(a=4)", 16), ("torus(k=4, n=3)", 32), ("directed_torus(k=4, n=2)", 4), ("ccc(n=3)", 4)]
)
def test_best_half(name, width):
    built = build(name)
    half = best_half(built)
    assert half.sum() == built.nodes // 2
    assert cut_width(channel_matrix(built), half) == width
