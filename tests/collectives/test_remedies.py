"""What a refused or answered `collective` names instead: each algorithm is run, and what it is said to do holds."""

from __future__ import annotations

import re

import pytest
import torusweep as ts
from torusweep.collectives.algorithms import ALGORITHMS
from torusweep.collectives.operations import OPERATIONS
from torusweep.errors import BadInput

NETWORKS = (
    "torus(k=3, n=2)",
    "mesh(radices=[3, 2])",
    "faulty(torus(k=4, n=2), links=1, seed=1)",
    "faulty(torus(k=3, n=2), nodes=1, seed=1)",
    "de_bruijn(d=2, k=3)",  # links of one direction, no ring is known
    "directed_torus(k=4, n=2)",
    "ccc(n=3)",
    "xgft(down=[3, 2], up=[1, 2])",  # switches without terminals
    "dragonfly(a=3, p=2, h=1)",  # several terminals a router
    "concentrated(torus(k=3, n=2), terminals=2)",
    "with_links(mesh(radices=[3, 2]), bandwidths=[1, 0.25])",
)


def proposed(refusal: str) -> list[str]:
    """The algorithms that a refusal names behind its remedy."""
    remedy = refusal.partition("; choose ")[2].removesuffix(", or optimum")
    return [word for word in re.findall(r"\w+", remedy) if word in ALGORITHMS]


def refused(network: ts.Network, operation: str, algorithm: str) -> str:
    """The refusal of an algorithm; '' where there is none."""
    try:
        network.collective(operation, algorithm)
    except BadInput as refusal:
        return str(refusal)
    return ""


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("spelling", NETWORKS)
def test_each_remedy_of_a_refused_algorithm_works(spelling, operation):
    network = ts.network(spelling)
    for name in (name for name, algorithm in ALGORITHMS.items() if operation in algorithm.operations):
        refusal = refused(network, operation, name)
        if refusal:
            named = proposed(refusal)
            assert named, refusal
            assert name not in named
            for other in named:
                assert network.collective(operation, other).rows[1]["algorithm"] == other, refusal
            assert refusal.endswith(", or optimum")
            assert network.collective(operation, "optimum").bound > 0


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_does_not_compute_an_operation_names_one_for_any_network(operation):
    others = [name for name, algorithm in ALGORITHMS.items() if operation not in algorithm.operations]
    assert others
    for name in others:
        with pytest.raises(BadInput, match="choose direct, which suits any network, or"):
            ts.network("torus(k=3, n=2)").collective(operation, name)
    for spelling in NETWORKS:
        assert ts.network(spelling).collective(operation, "direct").rows[1]["algorithm"] == "direct"


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("spelling", NETWORKS)
def test_the_algorithm_said_to_attain_the_optimum_does(spelling, operation):
    network = ts.network(spelling)
    alone, whole = network.collective(operation, "optimum"), network.collective(operation)
    fastest = min(row["cycles"] for row in whole.rows[1:])
    for answer in (alone, whole):
        assert set(answer.attained_by) <= set(ALGORITHMS)
        if answer.optimum is None:
            assert not answer.attained_by
        for name in answer.attained_by:
            assert network.collective(operation, name).rows[1]["cycles"] == pytest.approx(answer.optimum, rel=1e-6)
    if whole.optimum is not None:  # named just where one of the algorithms takes no longer
        assert bool(whole.attained_by) == (fastest <= whole.optimum * (1 + 1e-6))


def test_where_no_routing_is_free_of_deadlock_all_algorithms_stay_without_a_simulation():
    network = ts.network("directed_torus(k=4, n=2)")
    plain, simulated = network.collective("all_gather"), network.collective("all_gather", simulate=4)
    cycles = {row["algorithm"]: row["cycles"] for row in plain.rows}
    assert {row["algorithm"]: row["cycles"] for row in simulated.rows} == cycles
    assert set(cycles) - {"optimum", "best_known"} <= set(simulated.left_out)
    assert all("simulated_cycles" not in row for row in simulated.rows)
    assert len({why for why in simulated.left_out.values() if "leave the simulation out" in why}) == 1


def test_terminals_of_one_router_are_said_to_be_at_one_node():
    with pytest.raises(BadInput, match="got 4 terminals at one node; links inside a router are not modelled"):
        ts.network("xgft(down=[4], up=[1])").collective("all_reduce")
    with pytest.raises(BadInput, match="got 1 terminal at one node; choose a larger network"):
        ts.network("xgft(down=[1], up=[1])").collective("all_reduce")


def test_all_is_every_algorithm_that_suits():
    network = ts.network("mesh(k=3, n=2)")
    assert network.collective("all_gather", "all").json == network.collective("all_gather").json
