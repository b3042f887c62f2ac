"""Link classes with bandwidths and latencies: their tables against the class of each link, symmetries, refusals."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import networkx as nx
import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build, plan
from torusweep.networks.link_lists import bandwidth_of
from torusweep.networks.symmetry import is_automorphism, orbits, proved_symmetries

UNEQUAL = "with_links(torus(radices=[4, 3]), bandwidths=[1, 2], latencies=[1, 10])"


def test_every_channel_has_the_numbers_of_its_class():
    topology = build(
        "with_links(hyperx(radices=[4, 2, 3], widths=[1, 3, 2]), bandwidths=[0.5, '25/12', 2], latencies=[1, 7, 3])"
    )
    assert topology.plan.bandwidths == (Fraction(1, 2), Fraction(25, 12), Fraction(2))
    for u, v, port in zip(*(column.tolist() for column in topology.arcs)):
        digit = [u % 4 != v % 4, u // 4 % 2 != v // 4 % 2, u // 8 != v // 8].index(True)  # in which the ends differ
        parallel = [1, 3, 2][digit]
        assert topology.capacity[u, port] == parallel
        assert topology.bandwidth[u, port] == parallel * [0.5, 25 / 12, 2.0][digit]
        assert topology.latency[u, port] == [1, 7, 3][digit]
    topology = build('with_links(dragonfly(a=6, p=1, h=1, local=[3, 2]), bandwidths=[1, "25/28", 3])')  # as a Cray XC
    for u, v, port in zip(*(column.tolist() for column in topology.arcs)):
        expected = 25 / 28 if u // 6 != v // 6 else 1 if u // 3 == v // 3 else 3
        assert topology.bandwidth[u, port] == expected
    absent = build("with_links(mesh(k=3, n=2), bandwidths=[2, 3], latencies=[4, 5])")
    assert (absent.bandwidth[absent.ports == -1] == 0).all()
    assert (absent.latency[absent.ports == -1] == 0).all()


def test_numbers_that_are_all_one_are_today_s_network():
    plain, ones = build("torus(k=3, n=2)"), build("with_links(torus(k=3, n=2), bandwidths=[1, 1], latencies=[1])")
    assert ones.plan.bandwidths == ones.plan.latencies == ()
    assert ones.bandwidth is None
    assert ones.latency is None
    assert ones.kinds is None
    assert np.array_equal(plain.ports, ones.ports)
    assert len(plain.plan.symmetries()) == len(ones.plan.symmetries())
    wide = build("hyperx(radices=[3, 2], widths=[2, 1])")
    assert np.array_equal(wide.bandwidth, wide.capacity)


def test_spellings_and_families():
    named, planned = plan('with_links(torus(n=2,k=4), latencies=[1,10], bandwidths=[1.0, "25/12"])')
    assert named == 'with_links(torus(k=4, n=2), bandwidths=[1, "25/12"], latencies=[1, 10])'
    assert plan(named)[0] == named
    assert planned.classes == ("x", "y")
    assert build(named).family == "torus"
    assert build("with_links(with_links(ring(k=4), bandwidths=[3]), latencies=[2])").plan.bandwidths == (3,)
    assert build("with_links(faulty(torus(k=4, n=2), links=2), bandwidths=[3])").family == "faulty"


def test_with_links_and_faults_in_either_order():
    inside = build(
        "faulty(with_links(dragonfly(a=4, p=2, h=2), bandwidths=[1, 2], latencies=[1, 9]), links=9, nodes=1)"
    )
    outside = build(
        "with_links(faulty(dragonfly(a=4, p=2, h=2), links=9, nodes=1), bandwidths=[1, 2], latencies=[1, 9])"
    )
    for name in ("ports", "link_class", "terminals", "bandwidth", "latency"):
        assert np.array_equal(getattr(inside, name), getattr(outside, name))
    assert set(np.unique(inside.latency)) == {0, 1, 9}


def kinds_of(topology):
    """{(tail, head): (parallel links, flits a cycle, cycles)}"""
    found = {}
    for u, v, port in zip(*(column.tolist() for column in topology.arcs)):
        one = 1 if topology.bandwidth is None else topology.bandwidth[u, port]
        parallel = 1 if topology.capacity is None else topology.capacity[u, port]
        found[u, v] = parallel, one, 1 if topology.latency is None else int(topology.latency[u, port])
    return found


def keeps(kinds, image):
    """Whether a permutation keeps every link with its bandwidth and latency, by a plain loop."""
    return all(kinds.get((image[u], image[v])) == kind for (u, v), kind in kinds.items())


SMALL = [
    "with_links(torus(radices=[3, 2]), bandwidths=[1, 2])",
    "with_links(torus(radices=[3, 2]), latencies=[5, 1])",
    "with_links(hypercube(n=3), bandwidths=[1, 2, 1])",
    "with_links(hypercube(n=3), latencies=[1, 2, 3])",
    "with_links(hyperx(radices=[2, 2], widths=[2, 1]), bandwidths=[1, 2])",
    "with_links(ring(k=7), bandwidths=[3])",
    "with_links(directed_torus(k=2, n=3), bandwidths=[1, 1, 4])",
]


@pytest.mark.parametrize("spelling", SMALL)
def test_orbits_of_the_kept_symmetries_are_those_of_all_permutations(spelling):
    topology = build(spelling)
    kinds = kinds_of(topology)
    assert all(keeps(kinds, image.tolist()) for image in proved_symmetries(topology))
    kept = nx.Graph()
    for image in permutations(range(topology.nodes)):
        if keeps(kinds, image):
            assert is_automorphism(topology, np.array(image, np.int32))
            kept.add_edges_from(enumerate(image))
    assert len(orbits(topology).sizes) == nx.number_connected_components(kept)


@pytest.mark.parametrize(
    ("spelling", "image"),
    [("bandwidths=[1, 2]", False), ("latencies=[1, 2]", False), ("bandwidths=[2, 2], latencies=[3]", True)],
)
def test_exchange_of_dimensions_keeps_links_only_where_they_are_alike(spelling, image):
    topology = build(f"with_links(torus(k=4, n=2), {spelling})")
    exchanged = np.arange(16, dtype=np.int32).reshape(4, 4).T.reshape(-1)
    assert is_automorphism(topology, np.ascontiguousarray(exchanged)) == image == keeps(kinds_of(topology), exchanged)
    assert len(orbits(topology).sizes) == 1  # translations are kept in any case


def test_unit_translations_of_a_lattice_stay_first():
    """traffic/rings.py takes the first symmetries of a lattice as its translations."""
    spelling = "twisted_torus(radices=[4, 4, 8], twists={0: {2: 4}, 1: {2: 4}})"
    plain, unequal = build(spelling), build(f"with_links({spelling}, bandwidths=[1, 2, 3])")
    for before, after in zip(plain.plan.symmetries()[:3], unequal.plan.symmetries()[:3], strict=True):
        assert np.array_equal(before, after)
    assert len(orbits(unequal).sizes) == 1


BAD = [
    ("with_links(torus(k=4, n=2), bandwidths=[1, 2, 3])", "expected 2 numbers, or one for all"),
    ("with_links(ring(k=4), latencies=[1, 2])", "expected 1 number"),
    ("with_links(ring(k=4), bandwidths=[0])", "expected flits a cycle above 0"),
    ("with_links(ring(k=4), bandwidths=[-1])", "expected flits a cycle above 0"),
    ("with_links(ring(k=4), bandwidths=['1e999999999'])", "expected flits a cycle above 0"),
    ("with_links(ring(k=4), bandwidths=['1/0'])", "expected flits a cycle above 0"),
    ("with_links(ring(k=4), bandwidths=['x'])", "expected flits a cycle above 0"),
    ("with_links(ring(k=4), bandwidths=[1e-7])", "denominator"),
    ("with_links(ring(k=4), bandwidths=[2000000])", "1,048,576"),
    ("with_links(ring(k=4), bandwidths=2)", 'a list of numbers or "strings"'),
    ("with_links(ring(k=4), latencies=[0])", "cycles of 1 … 1,000,000,000"),
    ("with_links(ring(k=4), latencies=[1000000001])", "cycles of 1 … 1,000,000,000"),
    ("with_links(ring(k=4), latencies=[1.5])", "whole numbers"),
    ("with_links(bandwidths=[2])", "expected a network as the first argument"),
]


@pytest.mark.parametrize(("spelling", "says"), BAD)
def test_refusals_are_one_line(spelling, says):
    with pytest.raises(BadInput, match=says) as refusal:
        plan(spelling)
    assert "\n" not in str(refusal.value)


def test_bandwidths_are_exact():
    assert bandwidth_of(0.1) == Fraction(1, 10)
    assert bandwidth_of("25/12") == Fraction(25, 12)
    assert bandwidth_of(2) == 2
    assert bandwidth_of("0.25") == Fraction(1, 4)
