"""Shares of pairs in channels against walked routes, and bounds against closed forms."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torusweep as ts
from torusweep.capacity import worst_permutation
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.networks.topology import no_symmetries
from torusweep.questions.how import How
from torusweep.questions.loads.bounds import bounds_of, pair_shares, representative_channels
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.record import record_of
from torusweep.questions.loads.stage import QUESTION
from torusweep.questions.stage import LazyNetwork
from torusweep.routing import routing

from tests.networks import plain_hosts as plain
from tests.routing.plain_routes import routes_between

SHARES = [
    *(("torus(k=4, n=2)", name) for name in ("dimension_order", "random_order", "minimal", "minimal_ecmp", "up_down")),
    *(("rtt(a=2)", name) for name in ("routing_record", "minimal", "minimal_by_address", "valiant")),
    *(("mesh(k=3, n=2)", name) for name in ("dimension_order", "minimal", "valiant")),
    ("faulty(torus(k=3, n=2), links=2, seed=1)", "minimal_ecmp"),
    ("directed_torus(k=4, n=2)", "minimal"),
]


@pytest.mark.parametrize(("network", "name"), SHARES)
def test_shares_against_walked_routes(network: str, name: str):
    topology = build(network)
    form = routing(name, topology)[1]
    channels = np.flatnonzero(topology.ports >= 0)
    expected = np.zeros((topology.ports.size, topology.nodes, topology.nodes))
    for source in range(topology.nodes):
        for destination in range(topology.nodes):
            for share, hops in routes_between(form, source, destination):
                for node, port in hops:
                    expected[node * topology.ports.shape[1] + port, source, destination] += share
    np.testing.assert_allclose(pair_shares(form, channels), expected[channels], atol=1e-12)


@pytest.mark.parametrize(("network", "name"), SHARES)
def test_representative_channels_have_the_worst_permutation(network: str, name: str):
    form = routing(name, build(network))[1]
    all_channels = np.flatnonzero(form.topology.ports >= 0)
    representatives = representative_channels(form)
    assert set(representatives) <= set(all_channels)
    worst = [worst_permutation(pair_shares(form, channels)).load for channels in (representatives, all_channels)]
    assert worst[0] == pytest.approx(worst[1], rel=1e-12)


@pytest.mark.parametrize("name", ["dimension_order", "minimal", "valiant"])
def test_worst_permutation_of_a_small_ring_by_enumeration(name: str):
    topology = build("ring(k=5)")
    form = routing(name, topology)[1]
    shares = pair_shares(form, np.flatnonzero(topology.ports >= 0))
    most = max(shares[:, range(5), order].sum(axis=1).max() for order in permutations(range(5)))
    found = bounds_of(exact_loads(topology, routing=name)).worst_case_saturation_load
    assert found == pytest.approx(1 / most, rel=1e-12)


@pytest.mark.parametrize(
    ("network", "name", "worst"),
    [
        # Towles & Dally 2002, sec. 5: a tornado-like matching in a row, (k − 1)/2 flits
        ("torus(k=8, n=2)", "dimension_order", 2 / 7),
        ("torus(k=8, n=2)", "valiant", 4 / 8),  # two uniform halves of k/8 each
        ("ring(k=8)", "valiant", 4 / 8),
    ],
)
def test_known_worst_permutations(network: str, name: str, worst: float):
    bounds = bounds_of(exact_loads(build(network), routing=name))
    assert bounds.worst_case_saturation_load == pytest.approx(worst, rel=1e-12)


@pytest.mark.parametrize(
    ("network", "name", "worst"),
    [
        # Kim et al. 2008, sec. 4.2: the a · p terminals of a group share one global channel
        ("dragonfly(a=4, p=2, h=2)", "by_group", 1 / 8),
        # three of a switch's terminals send to three others that share the last digit, over one link up
        ("xgft(down=[1, 4, 4], up=[1, 1, 4])", "d_mod_k", 1 / 3),
        ("fat_tree(k=4, n=3)", "minimal", 1.0),  # packets are spread over all links up
        ("concentrated(ring(k=4), terminals=3)", "dimension_order(tie=positive)", 1 / 6),  # two hops, from three each
        ("full_mesh(radices=[5], terminals=4)", "minimal", 1 / 4),
    ],
)
def test_worst_permutations_of_several_terminals_a_router(network: str, name: str, worst: float, tmp_path: Path):
    found = ts.network(network).loads(name, bounds=True)
    assert found.record["worst_case_saturation_load"] == pytest.approx(worst, rel=1e-12)
    pq.write_table(found.worst_permutation, tmp_path / "worst.parquet")
    traffic = f'demand(path="{tmp_path / "worst.parquet"}")'
    assert ts.network(network).loads(name, traffic).saturation_load == pytest.approx(worst, rel=1e-12)


@pytest.mark.parametrize("name", ["minimal", "minimal_ecmp"])
@pytest.mark.parametrize("seed", [3, 5, 6, 7])
def test_worst_permutations_of_hosts_by_enumeration(seed: int, name: str):
    """Hosts forward nothing, and one may have two terminals: plain paths of each pair, over all permutations."""
    topology, divide = plain.fabric(seed), plain.by_paths if name == "minimal" else plain.by_next_hops
    of_pair = {pair: divide(plain.minimal_paths(topology, *pair)) for pair in {*plain.pairs(topology)}}
    channels = {channel: place for place, channel in enumerate({c for shares in of_pair.values() for c in shares})}
    at = topology.terminals.tolist()
    shares = np.zeros((len(at), len(at), len(channels)))
    for s, t in permutations(range(len(at)), 2):
        for channel, share in of_pair.get((at[s], at[t]), {}).items():
            shares[s, t, channels[channel]] += share
    most = max(shares[range(len(at)), order].sum(axis=0).max() for order in permutations(range(len(at))))
    found = bounds_of(exact_loads(topology, routing=name))
    assert found.worst_case_saturation_load == pytest.approx(1 / most, rel=1e-12)
    assert shares[range(len(at)), found.worst_permutation].sum(axis=0).max() == pytest.approx(most, rel=1e-12)


def test_terminals_at_some_nodes_of_a_regular_network():
    """Routes are alike from every node, but two nodes alone have terminals, two each."""
    ring = build("ring(k=6)")
    plan = replace(ring.plan, symmetries=no_symmetries)
    ring = replace(ring, plan=plan, terminals=np.array([1, 1, 2, 2], np.int32))
    assert bounds_of(exact_loads(ring, routing="dimension_order")).worst_case_saturation_load == 1 / 2


@pytest.mark.parametrize(
    ("network", "bounds", "expected"),
    [("ring(k=5)", False, "expected bounds=True"), ("without(ring(k=3), nodes=[0, 1])", True, "there are no channels")],
)
def test_a_worst_permutation_that_was_not_sought(network: str, bounds: bool, expected: str):
    with pytest.raises(BadInput, match=expected):
        _ = ts.network(network).loads(bounds=bounds).worst_permutation


@pytest.mark.parametrize(
    ("network", "name", "capacity", "cut", "effective"),
    [
        ("torus(k=8, n=2)", "dimension_order", 1.0, 16, 16.0),  # 8/k
        # 4/k: half of the flits of 512/2 nodes cross the 64 links of the cut, one way
        ("pruned_torus(k=8, n=3)", "clustering", 0.5, 64, 64.0),
        # C10 sec. 5.2: 3a of 4a for large a
        ("rtt(a=8)", "routing_record", 24 * 8 / (4 * 64 - 1), 32, 12 * 8**3 / (4 * 64 - 1)),
        ("mesh(k=4, n=2)", "dimension_order", 1.0, 4, 4.0),  # 4/k
    ],
)
def test_capacity_and_effective_cut_under_uniform_traffic(
    network: str, name: str, capacity: float, cut: int, effective: float
):
    record = record_of(loads := exact_loads(build(network), routing=name), bounds_of(loads))
    assert record["capacity"] == pytest.approx(capacity, rel=1e-9)
    assert record["capacity_minimal"] <= record["capacity"] * (1 + 1e-9)
    assert record["capacity_share"] == pytest.approx(record["saturation_load"] / capacity, rel=1e-9)
    assert record["capacity_share"] <= 1 + 1e-9
    assert (record["cut_links"], record["effective_cut_links"]) == (cut, pytest.approx(effective, rel=1e-9))
    assert record["worst_case_saturation_load"] <= record["saturation_load"]


def test_a_sweep_has_a_row_where_a_command_refuses_bounds():
    """Under bit_complement each of the 512 nodes is a root of its own, with a flow on all 2,048 channels but its own
    four incoming ones.
    """
    asked = {one.name: None for one in QUESTION.swept} | {"routing": "minimal", "traffic": "bit_complement"}
    request = QUESTION.Request(**asked | {"bounds": True})
    (row,) = QUESTION.rows(LazyNetwork("rt(a=16)"), request, How())
    assert row["capacity"] is None
    assert f"{512 * (2048 - 4):,} flows" in row["bounds_method"]
    assert row["max_channel_load"] > 0
    with pytest.raises(Refused, match="choose a smaller network, or no bounds"):
        ts.network("rt(a=16)").loads(traffic="bit_complement", bounds=True)


def test_bounds_that_are_too_large_are_null_with_a_reason():
    bounds = bounds_of(exact_loads(build("mesh(k=40, n=2)"), routing="dimension_order"))
    assert bounds.worst_case_saturation_load is None
    assert "worst permutation: expected at most 1,024 terminals" in bounds.bounds_method
    assert bounds.cut_links == 40
