"""torusweep cost: what networks cost by a cost model, and which of several is worth it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from torusweep import costs
from torusweep.cli import options
from torusweep.cli.cost_text import print_comparison, print_cost, print_models
from torusweep.cli.progress import wait_notice
from torusweep.costs.equal_cost import equal_cost
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.networks.symmetry import orbits
from torusweep.networks.topology import Topology
from torusweep.stages.cost import AUTOMATIC, cost_record
from torusweep.stages.cost.packing import spelling_of
from torusweep.stages.loads import exact_loads, record_of
from torusweep.stages.static.distances import terminal_distances
from torusweep.stages.static.latencies import terminal_latencies

ROUTINGS = "minimal,by_group"
TRAFFIC = "uniform"
COMPARED = ("routing", "traffic", "mean_distance", "latency", "throughput", "saturation_per_cost", "on_front")


@click.command()
@click.argument(
    "topologies",
    nargs=-1,
    metavar="TOPOLOGY…",
    shell_complete=options.complete_from("torusweep.networks.families:FAMILIES", skip=0),
)
@click.option(
    "--model",
    default=costs.DEFAULT_MODEL,
    show_default=True,
    shell_complete=options.complete_name("torusweep.costs:MODELS"),
    help="A cost model: a name that --models lists, or a YAML file.",
)
@click.option(
    "--packing",
    default=AUTOMATIC,
    show_default=True,
    help="Which routers share a cabinet: automatic, or a placement, as in straight(dimensions=2, block=[4, 4]).",
)
@click.option(
    "--routing",
    "routings",
    show_default=ROUTINGS,
    help="Of several networks: routings, of which each network's best counts; separated by commas.",
)
@click.option("--traffic", show_default=TRAFFIC, help="Of several networks: the traffic pattern.")
@click.option("--models", is_flag=True, help="List the cost models, and nothing else.")
@click.option("--print-model", is_flag=True, help="Print the cost model as YAML, to be edited, and nothing else.")
@options.json_output
def cost(
    topologies: tuple[str, ...],
    model: str,
    packing: str,
    routings: str | None,
    traffic: str | None,
    models: bool,
    print_model: bool,
    as_json: bool,
) -> None:
    """What each TOPOLOGY costs: routers by their ports, cables by their length, circuit switches, watts.

    A cost model has the prices, each with its date and source; the sums are the same for all. Lengths of cables follow
    from cabinets on a floor. Several networks are also compared at equal cost: by what they carry of a traffic for
    their price, and by the Pareto front of throughput, latency and cost per terminal.

    \b
    Cost models:
      2014-besta       InfiniBand FDR10, 40 Gb/s: the prices of the Slim Fly paper
      2011-mudigonda   Ethernet of four lanes, 40 Gb/s
      2008-kim         electrical and active optical cables of the Dragonfly paper; estimates
      2023-circuits    400 Gb/s and optical circuit switches; estimates
      my.yaml          yours: docs/cost.md

    \b
    Examples:
      torusweep cost "dragonfly(a=8, p=4, h=4)"
      torusweep cost "slim_fly(q=9, terminals=6)" --model 2008-kim --json
      torusweep cost "torus(radices=[8, 8, 16])" "dragonfly(a=8, p=4, h=4)" "slim_fly(q=9, terminals=6)"
      torusweep cost "slim_fly(q=9, terminals=6)" --packing "straight(dimensions=2, block=[9, 1, 2])"
      torusweep cost --print-model > my.yaml
      torusweep cost "torus(k=8, n=3)" --model my.yaml
    """
    if models:
        print_models(as_json)
        return
    name = costs.canonical(model)
    if print_model:
        costs.cost_model(name)  # what is wrong is said first
        click.echo(costs.file_of(name).read_text(encoding="utf-8"), nl=False)
        return
    if not topologies:
        raise BadInput("expected a topology, got none; 'torusweep topologies' lists the families")
    packed = spelling_of(packing)
    for option, given in (("--routing", routings), ("--traffic", traffic)):
        if given is not None and len(set(topologies)) == 1:
            raise BadInput(f"expected several networks with {option}, got one; add another, or leave {option} out")
    networks = [build(spelling) for spelling in dict.fromkeys(topologies)]
    records = [cost_record(network, name, packed) for network in networks]
    if len(networks) == 1:
        if as_json:
            options.print_json(records[0])
        else:
            print_cost(records[0])
        return
    asked = options.listed([ROUTINGS if routings is None else routings])
    with wait_notice("loads of each network: some seconds, of large ones some minutes"):
        rows = _compared(networks, records, asked, TRAFFIC if traffic is None else traffic)
    if as_json:
        options.print_json(rows)
    else:
        print_comparison(rows)


def _compared(
    networks: Sequence[Topology], records: list[dict[str, Any]], routings: Sequence[str], traffic: str
) -> list[dict[str, Any]]:
    """The records with the columns COMPARED, the cheapest first; networks in parts and without traffic come last."""
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
    compared = [record | {key: rows.get(record["topology"], {}).get(key) for key in COMPARED} for record in records]
    order = {name: place for place, name in enumerate(rows)}
    return sorted(compared, key=lambda row: order.get(row["topology"], len(order)))


def _loads(network: Topology, routings: Sequence[str], traffic: str) -> list[dict[str, Any]]:
    """Rows of `loads` under each routing that suits the network. Raises BadInput where none does."""
    found = []
    refusals = []
    for routing in routings:
        try:
            found.append(record_of(exact_loads(network, routing=routing, traffic=traffic), None))
        except BadInput as refusal:
            refusals.append(refusal)
    if not found:
        raise refusals[0] if refusals else BadInput("--routing: expected a routing, got none; write minimal")
    return found
