"""Collectives on links of unequal bandwidths: all sets of nodes tried, and algorithms against the optimum."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from torusweep.collectives.algorithms import check_suits, schedule_of
from torusweep.collectives.cost import cost_of
from torusweep.collectives.optimum import Cut, Partition, optimum
from torusweep.errors import Refused
from torusweep.networks.families import build, plan
from torusweep.questions.collectives.record import collective_record

NETWORKS = [
    "with_links(torus(radices=[3, 2]), bandwidths=[2, 1])",
    "with_links(torus(radices=[3, 2]), bandwidths=[0.5, '25/12'])",
    "with_links(mesh(radices=[3, 2]), bandwidths=[1, 0.25])",
    "with_links(hyperx(radices=[2, 3], widths=[2, 1]), bandwidths=['1/3', 2])",
    "with_links(ring(k=5), bandwidths=['7/5'])",
    "with_links(slim_fly(q=3), bandwidths=[2, 2])",
    "faulty(with_links(torus(radices=[3, 2]), bandwidths=[2, 1]), links=1, seed=1)",
]
DIRECTED = "with_links(torus(radices=[3, 2], directed=true), bandwidths=[2, 1])"


def flits(topology):
    """{(tail, head): Fraction flits a cycle}"""
    found = {}
    for u, v, port in zip(*(column.tolist() for column in topology.arcs)):
        parallel = 1 if topology.capacity is None else int(topology.capacity[u, port])
        widths = topology.plan.bandwidths or (Fraction(1),) * 9
        found[u, v] = parallel * widths[topology.link_class[u, port]]
    return found


def out_of(channels, inside):
    return sum(width for (u, v), width in channels.items() if inside[u] and not inside[v])


def every_set(nodes):
    return [inside for inside in product([False, True], repeat=nodes) if 0 < sum(inside) < nodes]


def every_partition(nodes, parts=0, begun=()):
    """Restricted growth strings: each partition of the nodes once."""
    if len(begun) == nodes:
        yield begun
        return
    for part in range(parts + 1):
        yield from every_partition(nodes, max(parts, part + 1), (*begun, part))


SMALL = [spelling for spelling in NETWORKS if "slim_fly" not in spelling]


@pytest.mark.parametrize("spelling", [*SMALL, DIRECTED])
def test_gathering_takes_as_long_as_the_narrowest_cut(spelling):
    topology = build(spelling)
    channels, nodes = flits(topology), topology.nodes
    most = max(sum(inside) / out_of(channels, inside) for inside in every_set(nodes))
    for operation in ("all_gather", "reduce_scatter"):
        found = optimum(topology, operation)
        assert found.bound == found.attained == pytest.approx(float(most / nodes), rel=1e-15)
        assert isinstance(found.proof, Cut)
        inside = np.isin(np.arange(nodes), found.proof.nodes)
        crossing = out_of(channels, ~inside if found.proof.enters else inside)
        assert found.proof.capacity == crossing


@pytest.mark.parametrize("spelling", [*SMALL, DIRECTED])
def test_broadcast_takes_as_long_as_the_narrowest_cut_behind_the_root(spelling):
    topology = build(spelling)
    channels = flits(topology)
    least = min(out_of(channels, inside) for inside in every_set(topology.nodes) if inside[0])
    assert optimum(topology, "broadcast").bound == pytest.approx(float(1 / least), rel=1e-15)


@pytest.mark.parametrize("spelling", SMALL)
def test_all_reduce_takes_as_long_as_the_worst_partition(spelling):
    topology = build(spelling)
    channels, worst = flits(topology), Fraction(0)
    for part in every_partition(topology.nodes):
        parts = max(part) + 1
        if parts > 1:
            across = sum(width for (u, v), width in channels.items() if part[u] != part[v])
            worst = max(worst, 2 * (parts - 1) / across)
    found = optimum(topology, "all_reduce")
    assert found.bound == found.attained == pytest.approx(float(worst), rel=1e-15)
    assert isinstance(found.proof, Partition)
    across = sum(width for (u, v), width in channels.items() if found.proof.part[u] != found.proof.part[v])
    assert found.proof.capacity == across


@pytest.mark.parametrize("spelling", NETWORKS)
@pytest.mark.parametrize("operation", ["all_gather", "reduce_scatter", "all_reduce", "broadcast"])
def test_trees_attain_the_optimum(spelling, operation):
    """`cost_of` counts the flits of the trees' messages on each channel."""
    topology = build(spelling)
    cost = cost_of(topology, schedule_of(topology, operation, "trees"))
    assert cost.cycles == pytest.approx(optimum(topology, operation).attained, rel=1e-12)


def test_a_ring_of_wide_links():
    """A ring algorithm sends N − 1 parts in each direction's half: over links of b flits, 1/b of the time."""
    plain, wide = build("ring(k=6)"), build("with_links(ring(k=6), bandwidths=['5/2'])")
    for algorithm in ("ring", "one_way_ring"):
        few, many = (cost_of(network, schedule_of(network, "all_gather", algorithm)) for network in (plain, wide))
        assert many.cycles == pytest.approx(few.cycles / 2.5, rel=1e-12)
        assert (many.steps, many.hops) == (few.steps, few.hops)


@pytest.mark.parametrize("operation", ["all_gather", "all_reduce", "broadcast", "all_to_all"])
def test_wide_links_are_as_good_as_parallel_ones(operation):
    wide = optimum(build("with_links(hyperx(radices=[3, 2]), bandwidths=[3, 1])"), operation)
    parallel = optimum(build("hyperx(radices=[3, 2], widths=[3, 1])"), operation)
    assert wide.bound == pytest.approx(parallel.bound, rel=1e-6)


def test_a_row_counts_links_and_flits():
    row = collective_record(build("with_links(ring(k=4), bandwidths=[0.5])"), "all_gather", "optimum")
    assert (row["cut_capacity"], row["cut_bandwidth"]) == (2, 1.0)
    plain = collective_record(build("ring(k=4)"), "all_gather", "optimum")
    assert (plain["cut_capacity"], plain["cut_bandwidth"]) == (2, 2.0)
    assert row["cycles"] == 2 * plain["cycles"]
    reduced = collective_record(build("with_links(ring(k=4), bandwidths=[0.5])"), "all_reduce", "optimum")
    assert "8 channels of 4 flits a cycle" in reduced["method"]


def test_denominators_without_a_common_multiple_in_64_bits_are_refused():
    network = "with_links(hypercube(n=4), bandwidths=['1/999983', '1/999979', '1/999961', 1])"
    with pytest.raises(Refused, match="smaller common denominator"):
        optimum(build(network), "all_gather")


def test_other_links_leave_a_mesh_its_axes():
    """A sweep asks the plan alone; the network then has a schedule, as without with_links."""
    for spelling in ("mesh(radices=[3, 2])", "with_links(mesh(radices=[3, 2]), bandwidths=[1, 0.25])"):
        name, planned = plan(spelling)
        check_suits("bucket", "all_gather", planned, name, lambda: 6)
        assert schedule_of(build(spelling), "all_gather", "bucket").steps > 0
