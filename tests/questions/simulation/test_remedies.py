"""The remedies in refusals work: tested on a network of every family."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import FAMILIES, build
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.setup import set_up

from tests.questions.deadlock.least import once

NETWORKS = (
    *(
        "torus(k=4, n=2)",
        "torus(k=4, n=2, directed=true)",
        "mesh(k=3, n=2)",
        "slice(radices=[4, 3], wrap=[true, false])",
        "pod_slice(shape=[2, 4], twisted=true)",
        "ring(k=5)",
        "hypercube(n=3)",
        "illiac(k=4)",
        "circulant(n=13, steps=[1, 5])",
    ),
    *(
        "pruned_torus(k=4, n=3)",
        "directed_torus(k=4, n=2)",
        "pruned_directed_torus(k=4, n=3)",
        "pruned_t1(k=4)",
        "pruned_t2(k=4)",
    ),
    *("rt(a=3)", "rtt(a=3)", "pt(a=2)", "ptt(a=2)", "pdtt(a=2)", "twisted_torus(radices=[8, 4], twists={1: {0: 4}})"),
    *("lattice(matrix=[[4, 2], [0, 4]])", "lattice(matrix=[[4, 0], [0, 4]])", "ccc(n=3)", "sequin(k=8, s=3, t=2)"),
    "hexagonal_torus(a=1, b=2)",
    *(
        "partly_pruned_torus(k=4, n=4, intact=2)",
        "faulty(torus(k=4, n=2), links=2, seed=1)",
        "without(torus(k=4, n=2), links=[[0, 1]], nodes=[10])",
        "concentrated(torus(k=4, n=2), terminals=2)",
        "with_links(torus(k=4, n=2), bandwidths=[1, 2], latencies=[1, 5])",
        "tesh(m=2, levels=2, q=0)",
    ),
    *("h3dt(m=3, n=2, levels=2, q=0)", "mh3dt(m=3, n=2, levels=2, q=0)"),
    *("hyperx(radices=[3, 2], terminals=2)", "dragonfly(a=2, p=1, h=1)", "fat_tree(k=2, n=2)", "kautz(d=2, k=2)"),
)
# whose refusals are those of other networks without addresses, terminals at every node, or both
LIKE_OTHERS = {
    *("hamming", "generalised_hypercube", "full_mesh", "megafly", "xgft", "slim_fly", "polarfly", "random_regular"),
    *("boardfly", "jellyfish", "xpander", "de_bruijn", "hamming_mesh", "tofu", "cube_pod"),
}
UNCONNECTED = "pruned_xy(k=4)"
REFUSED = [
    {"virtual_channels": 1},
    {"vc_rule": "none", "virtual_channels": 1},
    {"routing": "dimension_order", "virtual_channels": 1},
    {"routing": "minimal"},
    {"routing": "minimal", "vc_rule": "dateline"},
    {"routing": "routing_record", "vc_rule": "none"},
    {"routing": "valiant", "virtual_channels": 2},
    {"routing": "hierarchical", "virtual_channels": 1},
    {"routing": "adaptive", "virtual_channels": 1},
    {"routing": "adaptive", "vc_rule": "dateline", "virtual_channels": 1},
    {"routing": "adaptive", "vc_rule": "none"},
    {"routing": "adaptive(escape=routing_record)", "vc_rule": "dateline", "virtual_channels": 4},
    {"routing": "clustering", "vc_rule": "bubble", "switching": "virtual-cut-through"},
]
CHOOSE = re.compile(
    r"; choose (?:routing (?P<routing>\S+) with )?rule (?P<rule>\S+) with "
    r"(?:switching (?P<switching>\S+) and )?(?P<number>\d+) virtual channels? or more"
)
ALLOW = re.compile(r"; allow deadlock(?: with routing (?P<routing>\w+))?, since no routing")


def test_every_family_has_a_network():
    assert {spelling.partition("(")[0] for spelling in (*NETWORKS, UNCONNECTED)} == set(FAMILIES) - LIKE_OTHERS - {
        "graph"
    }


def follow(requested: Parameters, text: str) -> Parameters:
    """The parameters, changed as the refusal says."""
    if found := CHOOSE.search(text):
        routing = found["routing"] or requested.routing or text.removeprefix("routing ").split(" on ")[0]
        switching = found["switching"] or requested.switching
        return replace(
            requested,
            routing=routing,
            vc_rule=found["rule"],
            virtual_channels=int(found["number"]),
            switching=switching,
        )
    found = ALLOW.search(text)
    assert found, text
    return replace(requested, routing=found["routing"] or requested.routing, vc_rule=None, allow_deadlock=True)


LEAST = once()


@pytest.mark.parametrize("spelling", NETWORKS)
def test_remedies_work(spelling: str, monkeypatch: pytest.MonkeyPatch):
    for module in ("deadlock.record", "simulation.choice"):
        monkeypatch.setattr(f"torusweep.questions.{module}.least_virtual_channels", LEAST)
    network, refusals = build(spelling), 0
    for entry in REFUSED:
        requested = Parameters(**entry)
        try:
            set_up(network, requested)
        except BadInput as refusal:
            refusals += 1
            set_up(network, follow(requested, str(refusal)))
    assert refusals >= 3


@pytest.mark.parametrize("routing", [None, "dimension_order", "minimal", "adaptive"])
def test_no_routing_is_a_remedy_for_an_unconnected_network(routing: str | None):
    with pytest.raises(BadInput, match=r"have no path to others; choose a connected network"):
        set_up(build(UNCONNECTED), Parameters(routing=routing))


def test_remedy_without_a_proof():
    """A sweep builds no dependency graph for a remedy; the defaults work."""
    requested, mesh = Parameters(routing="routing_record", vc_rule="none"), build("mesh(k=3, n=2)")
    with pytest.raises(BadInput, match="; leave out routing and rule to get defaults that work"):
        set_up(mesh, requested, skip_proof=True)
    assert set_up(mesh, replace(requested, routing=None, vc_rule=None)).parameters.routing == "dimension_order"
