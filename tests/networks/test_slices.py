"""Slices of pods: known loads of uniform traffic on twisted ones, and the networks that they are."""

from __future__ import annotations

from math import ceil

import igraph
import networkx
import numpy as np
import pytest
from torusweep.capacity import capacity
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.routing import routing as routing_on


@pytest.mark.parametrize(
    ("shape", "rounds"),
    [((2, 4), 3), ((2, 2, 4), 5), ((2, 4, 4), 11), ((4, 8), 21), ((4, 4, 8), 74)],
)
def test_rounds_of_an_all_to_all_on_a_twisted_slice(shape, rounds):
    """N × the largest load of the best minimal routing: rounds in which every channel takes one of the N² flows."""
    found = capacity(build(f"pod_slice(shape={list(shape)}, twisted=true)"), "uniform", routes="minimal")
    assert found.gap < 1e-6
    assert ceil(np.prod(shape) / found.throughput - 1e-6) == rounds


@pytest.mark.parametrize(
    ("slice", "other"),
    [
        ("pod_slice(shape=[8, 4], twisted=true)", "rtt(a=4)"),
        ("pod_slice(shape=[8, 4, 4], twisted=true)", "pdtt(a=4)"),
        ("slice(radices=[4, 4], wrap=[false, false])", "mesh(k=4, n=2)"),
        ("slice(radices=[4, 5], wrap=[true, true])", "torus(radices=[4, 5])"),
        ("pod_slice(shape=[16, 8])", "slice(radices=[16, 8], wrap=[true, false])"),
        ("pod_slice(shape=[8, 8, 8])", "torus(k=8, n=3)"),
    ],
)
def test_two_names_of_one_network(slice, other):
    assert np.array_equal(build(slice).ports, build(other).ports)


@pytest.mark.parametrize(
    ("network", "orbits"),
    [
        ("pod_slice(shape=[4, 8], twisted=true)", 1),
        ("pod_slice(shape=[4, 4, 8], twisted=true)", 1),
        ("pod_slice(shape=[4, 8, 8], twisted=true)", 1),
        ("pod_slice(shape=[4, 4, 8])", 2),
    ],
)
def test_a_twist_makes_all_links_alike(network, orbits):
    """Orbits of the links under the whole automorphism group, by BLISS."""
    tail, head, _ = build(network).arcs
    links = np.stack([tail, head], axis=1)[tail < head].tolist()
    number = {tuple(link): place for place, link in enumerate(links)}
    moved = networkx.Graph()
    moved.add_nodes_from(number.values())
    for image in igraph.Graph(int(tail.max()) + 1, links).automorphism_group():
        moved.add_edges_from((place, number[tuple(sorted((image[a], image[b])))]) for (a, b), place in number.items())
    assert networkx.number_connected_components(moved) == orbits


def test_only_what_pods_offer_goes_without_a_note():
    assert build("pod_slice(shape=[4, 8, 8], twisted=true)").plan.notes == ()
    assert "no pod has this slice" in build("pod_slice(shape=[2, 4, 4], twisted=true)").plan.notes[0]


@pytest.mark.parametrize("routing", ["dimension_order", "minimal"])
def test_routings_of_grids_take_a_slice(routing):
    assert routing_on(routing, build("slice(radices=[4, 3], wrap=[true, false])"))


def test_turn_models_say_why_they_take_no_rings():
    with pytest.raises(BadInput, match="got wraparound links"):
        routing_on("west_first", build("slice(radices=[4, 3], wrap=[true, false])"))
