"""Where the simulator saturates, beside the bound of exact loads: three cases of each family of machines.

    python -m benchmarks.saturation                    # all; about a quarter of an hour on a core
    python -m benchmarks.saturation dragonfly xgft     # some families

The bound is what the busiest channel or terminal carries under the routing, if no packet waits for another. A plain
router has 4 virtual channels of 8 flits, packets of 4 flits, and an input port that sends one flit a cycle. Where it
saturates below 90 % of the bound, a generous one is tried: 8 virtual channels of 32 flits, packets of one flit, and
input ports all of whose virtual channels may send in one cycle.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import NamedTuple

from torusweep.errors import BadInput
from torusweep.library.network import network
from torusweep.networks.families import build
from torusweep.networks.topology import Topology
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records

ENOUGH = 0.9  # of the bound
PRECISION = 0.03  # of the bound
ON_ROWS = (("dimension_order", "uniform"), ("dimension_order", "shift"), ("valiant", "shift"))
BY_GROUP = (("by_group", "uniform"), ("by_group", "group_shift"), ("minimal", "uniform"))
ON_TREES = (("minimal", "uniform"), ("minimal", "shift"), ("up_down", "uniform"))
ON_GRAPHS = (("minimal", "uniform"), ("minimal", "shift"), ("minimal", "random_permutation"))
CASES = {
    "hyperx(radices=[4, 4], terminals=4)": ON_ROWS,
    "hamming(radices=[4, 4])": ON_ROWS,
    "generalised_hypercube(radices=[4, 3, 2])": ON_ROWS,
    "full_mesh(radices=[4, 4], terminals=3)": ON_ROWS,
    "dragonfly(a=4, p=2, h=2)": BY_GROUP,
    "megafly(leaves=4, spines=4, p=4, h=2)": BY_GROUP,
    "fat_tree(k=4, n=2)": ON_TREES,
    "xgft(down=[4, 8], up=[1, 2])": ON_TREES,
    "slim_fly(q=5, terminals=4)": ON_GRAPHS,
    "polarfly(q=5, terminals=3)": ON_GRAPHS,
    "random_regular(nodes=32, degree=5)": ON_GRAPHS,
    "jellyfish(switches=32, ports=8, degree=5)": ON_GRAPHS,
    "xpander(degree=5, lift=6, terminals=3)": ON_GRAPHS,
    "kautz(d=3, k=3)": ON_GRAPHS,
    "de_bruijn(d=3, k=3)": ON_GRAPHS,
    "hamming_mesh(board=[2, 2], boards=[3, 3])": ON_GRAPHS,
    "tofu(radices=[3, 2, 2])": ON_ROWS,
    "cube_pod(x=[1, 0], y=[0, 1], z=[0, 1])": ON_GRAPHS,
}
PLAIN = Parameters(virtual_channels=4, buffer_flits=8, packet_flits=4, cycles=3000)
GENEROUS = Parameters(virtual_channels=8, buffer_flits=32, packet_flits=1, input_speedup=8, cycles=3000)


class Saturated(NamedTuple):
    """Saturation of one case, flits per cycle per terminal.

    bound, plain, generous   by exact loads, and by the routers; generous is None where it was not tried
    rule                     the virtual-channel rule; with '!' where it is not proved free of deadlock
    """

    bound: float
    plain: float
    generous: float | None
    rule: str


def saturated(topology: Topology, routing: str, traffic: str) -> Saturated:
    """The bound of a case, and where routers saturate."""
    loads = network(topology).loads(routing, traffic).record
    bound = min(load for load in (loads["saturation_load"], loads["ejection_load"]) if load is not None)
    plain, rule = simulated(topology, replace(PLAIN, routing=routing, traffic=traffic), bound)
    if plain >= ENOUGH * bound:
        return Saturated(bound, plain, None, rule)
    generous, rule = simulated(topology, replace(GENEROUS, routing=routing, traffic=traffic), bound)
    return Saturated(bound, plain, generous, rule)


def simulated(topology: Topology, parameters: Parameters, bound: float) -> tuple[float, str]:
    """(saturation, rule): the rule is the first that is proved free of deadlock, or any virtual channel at any time."""
    mark = ""
    try:
        (row,) = simulation_records(topology, parameters, precision=PRECISION * bound)
    except BadInput:  # none is proved
        parameters, mark = replace(parameters, vc_rule="none", allow_deadlock=True), "!"
        (row,) = simulation_records(topology, parameters, precision=PRECISION * bound)
    return float(row["simulated_saturation"] or 0.0), row["vc_rule"] + mark


def main(families: list[str]) -> None:
    """Print a table in Markdown, a line for each case."""
    print("| network | routing | traffic | bound | plain router | generous router | share | rule |")
    print("|---|---|---|--:|--:|--:|--:|---|")
    for spelling, cases in CASES.items():
        if families and spelling.partition("(")[0] not in families:
            continue
        topology = build(spelling)
        for routing, traffic in cases:
            found = saturated(topology, routing, traffic)
            best = found.plain if found.generous is None else max(found.plain, found.generous)
            generous = "" if found.generous is None else f"{found.generous:.3f}"
            print(
                f"| `{spelling}` | {routing} | {traffic} | {found.bound:.3f} | {found.plain:.3f} | {generous} |"
                f" {best / found.bound:.0%} | {found.rule} |",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
