"""Several networks at equal cost: the traffic that each carries for its price, and the Pareto front.

A family may be given with a number of terminals: its nearest *balanced* network, as the family's source calls it, has
as many terminals a router as its links can serve. Tori, meshes and hypercubes have one terminal a router. If two
networks are equally near, the larger one is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

from torusweep.errors import BadInput
from torusweep.networks.families import plan
from torusweep.networks.symmetry import orbits
from torusweep.networks.topology import Topology
from torusweep.questions.cost.arithmetic import equal_cost
from torusweep.questions.loads.channels import record_of
from torusweep.questions.loads.exact import exact_loads
from torusweep.questions.parameters import Spelled
from torusweep.questions.stage import under
from torusweep.questions.static.distances import terminal_distances, terminal_latencies

ROUTINGS = ("minimal", "by_group")
# both stand here, because no row of the table cost depends on a routing or a traffic
ROUTING = Spelled(
    "of several networks: routings, of which each network's best counts, separated by commas;"
    f" {','.join(ROUTINGS)} by default",
    table="torusweep.routing:ROUTINGS",
    called=False,
)
TRAFFIC = Spelled("of several networks: the traffic pattern; uniform by default", table="torusweep.traffic:PATTERNS")
# columns of the table equal_cost
COMPARED = ("routing", "traffic", "mean_distance", "latency", "throughput", "saturation_per_cost", "on_front")
DIMENSIONS = 3  # of tori and meshes


def compared(
    networks: Sequence[Topology], records: list[dict[str, Any]], routings: Sequence[str], traffic: str
) -> list[dict[str, Any]]:
    """The records with the columns COMPARED, the cheapest first; networks in parts and without traffic come last.

    records   rows of the table `cost`, one for each network
    routings  routings among which each network's best counts
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
    """Rows of `loads` under each routing that suits the network. Raises BadInput if none does."""
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


def sized(family: str, terminals: int) -> str:
    """The spelling of a family's balanced network with the number of terminals nearest to the requested one.

    Raises BadInput for a family that has no balanced networks.
    """
    balanced = BALANCED.get(family)
    if balanced is None:
        raise BadInput(
            f"{family}: expected a family whose sizes are known ({', '.join(BALANCED)}), got another;"
            f" write its network, as 'torusweep topologies {family}' explains"
        )
    found = min(_known(balanced(terminals), terminals), key=lambda one: (abs(one[0] - terminals), -one[0]))
    return found[1]


def _known(networks: Iterator[Sized], wanted: int) -> Iterator[Sized]:
    """Yield the networks that exist, in order of size, up to the first that is far too large."""
    for terminals, spelling in networks:
        try:
            plan(spelling)
        except BadInput:
            continue  # no field of this order
        yield terminals, spelling
        if terminals > 2 * wanted:
            return


def _grids(family: str, wanted: int) -> Iterator[Sized]:
    """Yield grids of three dimensions whose sides differ by at most 1."""
    for side in count(2):
        for longer in range(DIMENSIONS):
            sides = [side] * (DIMENSIONS - longer) + [side + 1] * longer
            nodes = side ** (DIMENSIONS - longer) * (side + 1) ** longer
            yield nodes, f"{family}(radices={sides})"


def _dragonflies(wanted: int) -> Iterator[Sized]:
    """Yield Dragonflies with a = 2p = 2h (Kim et al. 2008) and as many groups as needed."""
    for h in count(1):
        group = 2 * h * h
        for groups in {max(2, min(group + 1, wanted // group + more)) for more in (0, 1)}:
            yield group * groups, f"dragonfly(a={2 * h}, p={h}, h={h}, groups={groups})"
        if group * (group + 1) > wanted:
            return


def _slim_flies(wanted: int) -> Iterator[Sized]:
    """Yield Slim Flies with terminals for half of the links (Besta & Hoefler 2014, sec. II-B), rounded both ways."""
    for q in count(3):
        links = (3 * q - ((q + 1) % 4 - 1)) // 2
        for each in sorted({links // 2, -(-links // 2)}):
            yield 2 * q * q * each, f"slim_fly(q={q}, terminals={each})"


def _polarflies(wanted: int) -> Iterator[Sized]:
    """Yield PolarFlies with terminals for half of a router's links (Lakhotia et al. 2022), rounded both ways."""
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
    # two dimensions; as many terminals a router as a side is long, whose uniform traffic just fills the links
    "hyperx": lambda wanted: ((k**3, f"hyperx(radices=[{k}, {k}], terminals={k})") for k in count(2)),
    "fat_tree": _fat_trees,
}
