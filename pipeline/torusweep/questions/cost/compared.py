"""Compare several networks at equal cost: how much traffic each carries for its price, and the Pareto front.

A family can also be given by its name and a number of terminals. Then the family's *balanced* network of the nearest
size is taken, in which each router has as many terminals as its links can serve (one in tori, meshes and hypercubes).
If two networks are equally near, the larger network is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

from torusweep.errors import BadInput
from torusweep.networks.families import FAMILIES, plan
from torusweep.networks.symmetry import orbits
from torusweep.networks.topology import Topology
from torusweep.questions.cost.arithmetic import equal_cost
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.loads.record import record_of
from torusweep.questions.parameters import Spelled
from torusweep.questions.stage import under
from torusweep.questions.static.distances import terminal_distances, terminal_latencies

ROUTINGS = ("minimal", "by_group")
# these parameters are only for several networks: no row of the table cost depends on a routing or a traffic
ROUTING = Spelled(
    "for several networks: routings, separated by commas, of which the best is taken for each network;"
    f" {','.join(ROUTINGS)} by default",
    table="torusweep.routing:ROUTINGS",
    called=False,
)
TRAFFIC = Spelled("for several networks: the traffic pattern; uniform by default", table="torusweep.traffic:PATTERNS")
# columns of the table equal_cost that `compared` adds to rows of the table cost
COMPARED = ("routing", "traffic", "mean_distance", "latency", "throughput", "saturation_per_cost", "on_front")
DIMENSIONS = 3  # number of dimensions of balanced tori and meshes


def compared(
    networks: Sequence[Topology], records: list[dict[str, Any]], routings: Sequence[str], traffic: str
) -> list[dict[str, Any]]:
    """Add the columns COMPARED to rows of the table `cost`, and sort them, the cheapest first.

    records   rows of the table `cost`, one for each network
    routings  routings, of which the best counts for each network
    returns   rows; networks that are not connected, or carry no traffic, come last, with None in the added columns
    """
    static, loads = [], []
    for network in networks:
        nodes = orbits(network)
        found = terminal_distances(network, nodes, use_symmetry=True, backend="auto", threads=None)
        cycles = terminal_latencies(network, found, nodes, use_symmetry=True)
        static.append(
            {
                "topology": network.spelling,
                "connected": sum(found.histogram) == len(network.terminals) ** 2,
                "mean_distance": found.mean,
                "latency_mean": None if cycles is None else cycles.mean,
            }
        )
        loads += _loads(network, routings, traffic)
    rows = {row["topology"]: row for row in equal_cost(static, loads, records)}
    found_rows = [record | {key: rows.get(record["topology"], {}).get(key) for key in COMPARED} for record in records]
    order = {name: place for place, name in enumerate(rows)}
    return sorted(found_rows, key=lambda row: order.get(row["topology"], len(order)))


def _loads(network: Topology, routings: Sequence[str], traffic: str) -> list[dict[str, Any]]:
    """Return rows of the table `loads` for each routing that fits the network. Raises BadInput if no routing does."""
    found = []
    refusals = []
    for routing in routings:
        try:
            found.append(record_of(exact_loads(network, routing=routing, traffic=traffic), None))
        except BadInput as refusal:
            refusals.append(refusal)
    if refusals and not found:
        raise refusals[0]
    if not found:
        with under("routing"):
            raise BadInput("expected a routing, got none; write minimal")
    return found


Sized = tuple[int, str]  # terminals, spelling


def sized(text: str, terminals: Any) -> str:
    """Return the spelling of a family's balanced network with about so many terminals, or any other text unchanged.

    Raises BadInput for a family that is not in BALANCED.
    """
    family = text.strip().lower().replace("-", "_")
    if not isinstance(terminals, int) or terminals < 2 or family not in FAMILIES:
        return text
    balanced = BALANCED.get(family)
    if balanced is None:
        raise BadInput(
            f"{family}: expected a family whose sizes are known ({', '.join(BALANCED)}), got another;"
            f" write its network, as 'torusweep topologies {family}' explains"
        )
    found = min(_known(balanced(terminals), terminals), key=lambda one: (abs(one[0] - terminals), -one[0]))
    return found[1]


def _known(networks: Iterator[Sized], wanted: int) -> Iterator[Sized]:
    """Yield the networks that exist, up to the first with more than twice the wanted number of terminals."""
    for terminals, spelling in networks:
        try:
            plan(spelling)
        except BadInput:
            continue  # no field of this order
        yield terminals, spelling
        if terminals > 2 * wanted:
            return


def _grids(family: str, wanted: int) -> Iterator[Sized]:
    """Yield three-dimensional grids of the family, whose sides differ by at most 1, in order of size."""
    for side in count(2):
        for longer in range(DIMENSIONS):
            sides = [side] * (DIMENSIONS - longer) + [side + 1] * longer
            nodes = side ** (DIMENSIONS - longer) * (side + 1) ** longer
            yield nodes, f"{family}(radices={sides})"


def _dragonflies(wanted: int) -> Iterator[Sized]:
    """Yield Dragonflies with a = 2p = 2h (Kim et al. 2008) whose number of groups suits the number of terminals."""
    for h in count(1):
        group = 2 * h * h
        for groups in {max(2, min(group + 1, wanted // group + more)) for more in (0, 1)}:
            yield group * groups, f"dragonfly(a={2 * h}, p={h}, h={h}, groups={groups})"
        if group * (group + 1) > wanted:
            return


def _slim_flies(wanted: int) -> Iterator[Sized]:
    """Yield Slim Flies with half as many terminals as links at a router, rounded both ways (Besta & Hoefler 2014)."""
    for q in count(3):
        links = (3 * q - ((q + 1) % 4 - 1)) // 2
        for each in sorted({links // 2, -(-links // 2)}):
            yield 2 * q * q * each, f"slim_fly(q={q}, terminals={each})"


def _polarflies(wanted: int) -> Iterator[Sized]:
    """Yield PolarFlies with half as many terminals as links at a router, rounded both ways (Lakhotia et al. 2022)."""
    for q in count(2):
        for each in sorted({(q + 1) // 2, -(-(q + 1) // 2)}):
            yield (q * q + q + 1) * each, f"polarfly(q={q}, terminals={each})"


def _fat_trees(wanted: int) -> Iterator[Sized]:
    """Yield fat trees of switches with at most 64 ports, in order of size."""
    found = [(k**n, f"fat_tree(k={k}, n={n})") for n in (2, 3, 4, 5) for k in range(2, 33)]
    yield from sorted(found)


BALANCED: dict[str, Callable[[int], Iterator[Sized]]] = {
    "torus": lambda wanted: _grids("torus", wanted),
    "mesh": lambda wanted: _grids("mesh", wanted),
    "hypercube": lambda wanted: ((2**n, f"hypercube(n={n})") for n in count(1)),
    "dragonfly": _dragonflies,
    "slim_fly": _slim_flies,
    "polarfly": _polarflies,
    # two dimensions, and k terminals at each router, whose uniform traffic just saturates the links
    "hyperx": lambda wanted: ((k**3, f"hyperx(radices=[{k}, {k}], terminals={k})") for k in count(2)),
    "fat_tree": _fat_trees,
}
