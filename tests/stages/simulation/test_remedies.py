"""What a refusal advises is not refused again: tried on a network of every family."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import FAMILIES, build
from torusweep.stages.simulation import Parameters, set_up

NETWORKS = (
    *(
        "torus(k=4, n=2)",
        "torus(k=4, n=2, directed=true)",
        "mesh(k=3, n=2)",
        "ring(k=5)",
        "hypercube(n=3)",
        "illiac(k=4)",
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
    *(
        "partly_pruned_torus(k=4, n=4, intact=2)",
        "faulty(torus(k=4, n=2), links=2, seed=1)",
        "tesh(m=2, levels=2, q=0)",
    ),
    *("h3dt(m=3, n=2, levels=2, q=0)", "mh3dt(m=3, n=2, levels=2, q=0)"),
)
UNCONNECTED = "pruned_xy(k=4)"
ASKED = [
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
ALLOW = re.compile(r"; allow deadlock(?: with routing (?P<routing>\w+))?, there being no routing")


def test_every_family_is_tried():
    assert {spelling.partition("(")[0] for spelling in (*NETWORKS, UNCONNECTED)} == set(FAMILIES) - {"graph"}


def followed(asked: Parameters, text: str) -> Parameters:
    """What is asked for, changed as the refusal advises."""
    if found := CHOOSE.search(text):
        routing = found["routing"] or asked.routing or text.removeprefix("routing ").split(" on ")[0]
        switching = found["switching"] or asked.switching
        return replace(
            asked, routing=routing, vc_rule=found["rule"], virtual_channels=int(found["number"]), switching=switching
        )
    found = ALLOW.search(text)
    assert found, text
    return replace(asked, routing=found["routing"] or asked.routing, vc_rule=None, allow_deadlock=True)


@pytest.mark.parametrize("spelling", NETWORKS)
def test_what_is_advised_works(spelling: str):
    network, refusals = build(spelling), 0
    for entry in ASKED:
        asked = Parameters(**entry)
        try:
            set_up(network, asked)
        except BadInput as refusal:
            refusals += 1
            set_up(network, followed(asked, str(refusal)))
    assert refusals >= 3


@pytest.mark.parametrize("routing", [None, "dimension_order", "minimal", "adaptive"])
def test_what_is_not_connected_can_be_cured_by_no_routing(routing: str | None):
    with pytest.raises(BadInput, match=r"have no path to others; choose a connected network"):
        set_up(build(UNCONNECTED), Parameters(routing=routing))


def test_a_sweep_is_not_kept_waiting_for_advice():
    """Nor sent in circles: what is left out is chosen so that it works."""
    asked, mesh = Parameters(routing="routing_record", vc_rule="none"), build("mesh(k=3, n=2)")
    with pytest.raises(BadInput, match="; leave out routing and rule, so that some that work are taken"):
        set_up(mesh, asked, unproved=True)
    assert set_up(mesh, replace(asked, routing=None, vc_rule=None)).parameters.routing == "dimension_order"
