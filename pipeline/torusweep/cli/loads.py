"""torusweep loads: the load of every channel of one network."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import click
from torusweep_kernels.backend import backend_of_calls, backends_and_device, backends_run, resolved_backends

from torusweep.capacity.throughput import check_capacity
from torusweep.cli import options
from torusweep.cli.loads_text import print_loads
from torusweep.cli.progress import count_progress, share_progress, wait_notice
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.networks.topology import Topology
from torusweep.results import table_text
from torusweep.stages.loads import ChannelLoads, channel_table, exact_loads, record_of, sampled_loads
from torusweep.stages.loads.bounds import bounds_of

DEFAULT_PACKETS = 10_000_000


@click.command()
@options.topology
@options.routing
@click.option(
    "--traffic",
    default="uniform",
    show_default=True,
    shell_complete=options.complete_from("torusweep.traffic:PATTERNS"),
    help="Which terminals send to which: a name of the list above.",
)
@click.option(
    "--method",
    type=click.Choice(["exact", "as-table", "monte-carlo"]),
    default="exact",
    show_default=True,
    help="exact: expected loads, exact sums that are rounded once. as-table: the same numbers, computed over the table "
    "that 'torusweep routes' writes. monte-carlo: loads of random packets, with their standard error.",
)
@click.option(
    "--packets",
    type=click.IntRange(64, 10**12),
    help="Packets at most, with --method monte-carlo.  [default: 10000000]",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Seed of the random packets.  [default: 0]")
@click.option(
    "--relative-error",
    type=options.Real(0, 1, min_open=True, max_open=True),
    help="Stop once the standard error of the largest load is at most this share of that load.",
)
@click.option(
    "--bounds",
    is_flag=True,
    help="Also bound what any routing can carry (a linear programme), and find the worst permutation. "
    "For small networks.",
)
@click.option(
    "--channels",
    is_flag=True,
    help="Print the load of every channel as CSV (with --json as a JSON array), and nothing else.",
)
@options.json_output
@options.backend
@options.symmetry
def loads(
    topology: str,
    routing: str,
    traffic: str,
    method: str,
    packets: int | None,
    seed: int | None,
    relative_error: float | None,
    bounds: bool,
    channels: bool,
    as_json: bool,
    backend: str,
    symmetry: str,
) -> None:
    """Load of every channel of TOPOLOGY under a routing and a traffic pattern, and where the network saturates.

    A load is the flits per cycle over a channel when every terminal injects one flit per cycle.

    \b
    Routings:
      minimal                      any network: every shortest path equally often
      minimal_ecmp                 any network: every next hop on a shortest path equally often
      dimension_order(tie=split)   tori, meshes, hypercubes, HyperX: x, then y, then z;
                                   reverse_order: z, then y, then x (yx);
                                   random_order: the order is drawn per packet (O1TURN)
      romm(tie=split)              the same, by way of a random node between source and destination
      west_first, north_last, negative_first
                                   turn models on meshes and hypercubes
      routing_record(tie=split)    lattices and twisted tori: a minimal record, x then y then z
      minimal_by_address           one shortest route for each relative address: pruned and directed tori, ccc …
      clustering(tie=split)        pruned tori: the routing of their paper
      hierarchical(tie=sign)       mh3dt, h3dt, tesh: gate by gate, level by level
      up_down(root=0)              any bidirectional network, also a faulty one
      by_group                     dragonfly, megafly: one hop between groups at most
      valiant                      two routes, through a random node
      d_mod_k                      fat_tree, xgft: up by the destination's digits, then down
      valiant_by_group             dragonfly, megafly: two routes, through a random group
      table(path="routes.csv")     your own, from a CSV or Parquet file: docs/own-data.md

    \b
    Traffic patterns:
      uniform  uniform_other  all_to_all  nearest_neighbour
      hot_region  hot_spot(node=0, percent=10)
      bit_complement  bit_reversal  perfect_shuffle  transpose
      group_shift(shift=1)                       dragonfly, megafly: all of a group to another one
      tornado  neighbour  random_permutation(seed=0)
      shift(by=1)                                any network; by half of its terminals where left out
      ring_all_reduce  all_reduce_by_dimension   collectives, phase by phase
      demand(path="demand.csv")                  a CSV or Parquet file: docs/own-data.md

    \b
    Examples:
      torusweep loads "rtt(a=16)"
      torusweep loads "pdtt(a=16)" --routing minimal --traffic uniform --method exact --json
      torusweep loads "torus(k=8, n=2)" --routing "dimension-order(tie=positive)" --traffic "hot_spot(node=3)"
      torusweep loads "mh3dt(m=4, n=4, levels=2, q=0)" --routing hierarchical --method monte-carlo --packets 10000000
      torusweep loads "torus(k=8, n=2)" --routing valiant --traffic transpose --bounds
      torusweep loads "mesh(k=4, n=2)" --traffic transpose --channels > channels.csv
    """
    sampled = method == "monte-carlo"
    for name, value in (("--packets", packets), ("--seed", seed), ("--relative-error", relative_error)):
        if value is not None and not sampled:
            raise BadInput(
                f"{name}: expected with --method monte-carlo only, got --method {method}; exact loads need no packets"
            )
    if sampled and symmetry == "off":
        raise BadInput(
            "--symmetry off: expected with --method exact only, got monte-carlo, which uses no symmetry; leave it out"
        )
    if channels and bounds:
        raise BadInput("expected --channels or --bounds, got both; --channels prints channels and nothing else")
    chosen = backend_of_calls(backend)
    network = build(topology)
    request: dict[str, Any] = {"routing": routing, "traffic": traffic, "backend": chosen}
    use_symmetry = symmetry == "on"
    if bounds:
        _check_bounds(network, traffic, use_symmetry=use_symmetry)
    with resolved_backends() as resolved:
        if sampled:
            found = _sampled(network, packets or DEFAULT_PACKETS, seed or 0, relative_error, request)
        else:
            with share_progress("routes followed") as progress:
                found = exact_loads(
                    network, **request, use_symmetry=use_symmetry, as_table=method == "as-table", progress=progress
                )
    if channels:
        as_text = table_text.as_json if as_json else table_text.as_csv
        click.echo(as_text(channel_table(found)), nl=False)
        return
    work = "linear programmes and matchings: some minutes on networks of hundreds of nodes"
    with wait_notice(work) if bounds else nullcontext():
        record = record_of(found, bounds_of(found, use_symmetry=use_symmetry) if bounds else None)
    if as_json:
        options.print_json(record)
    else:
        names, device = backends_and_device(backends_run(chosen, resolved))
        print_loads(record, computed_by=f"{names} on {device}")


def _check_bounds(network: Topology, traffic: str, *, use_symmetry: bool) -> None:
    """Refuse --bounds on a network that is too large for it before anything is computed."""
    try:
        check_capacity(network, traffic, use_symmetry=use_symmetry)
    except Refused as refusal:
        raise Refused(
            f"--bounds: {str(refusal).partition('; choose')[0]}; choose a smaller network, or no --bounds"
        ) from None


def _sampled(
    network: Topology, packets: int, seed: int, relative_error: float | None, request: dict[str, Any]
) -> ChannelLoads:
    """Loads of random packets; warns if they are less precise than relative_error."""
    with count_progress("packets", packets) as progress:
        found = sampled_loads(
            network, **request, packets=packets, seed=seed, relative_error=relative_error, progress=progress
        )
    reached = found.estimate.stderr / max(float(found.load.max(initial=0.0)), 1e-300) if found.estimate else 0.0
    if relative_error is not None and reached > relative_error:
        click.echo(
            f"the relative error is still {reached:.2g} after {packets:,} packets; "
            f"raise --packets for {relative_error:g}",
            err=True,
        )
    return found
