"""The command about traffic on one network: loads."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import click

from torusweep.cli import options
from torusweep.cli.describe import complete_topology


def _complete_traffic(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from torusweep.traffic import PATTERNS

    return [name for name in PATTERNS if name.startswith(incomplete.replace("-", "_"))]


@click.command()
@click.argument("topology", shell_complete=complete_topology)
@options.routing
@click.option(
    "--traffic",
    default="uniform",
    show_default=True,
    shell_complete=_complete_traffic,
    help="Who sends to whom: a pattern of the list above.",
)
@click.option(
    "--method",
    type=click.Choice(["exact", "monte-carlo"]),
    default="exact",
    show_default=True,
    help="Expected loads, or loads of random packets with their standard error.",
)
@click.option(
    "--packets",
    type=click.IntRange(64, 10**12),
    help="Packets at most, with --method monte-carlo.  [default: 10000000]",
)
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), help="Seed of the random packets.  [default: 0]")
@click.option(
    "--relative-error",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Stop once the standard error of the largest load is that share of it.",
)
@click.option(
    "--bounds",
    is_flag=True,
    help="Also what the best routing could carry (a linear programme) and the worst permutation: small networks.",
)
@click.option(
    "--channels",
    is_flag=True,
    help="The load of every single channel, as CSV (with --json as a JSON array), and nothing else.",
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
    """How traffic loads the channels of TOPOLOGY, and the injection at which the busiest one is full.

    Loads are flits per cycle over a channel at one flit injected per terminal and cycle.

    \b
    Routings:
      minimal  minimal_ecmp               every network: every shortest path alike; every next hop alike
      dimension_order(tie=split)          tori, meshes, hypercubes; random_order: in an order drawn per packet (O1TURN)
      routing_record(tie=split)           lattices and twisted tori: a minimal record, x then y then z
      minimal_by_address                  one shortest route per relative address: pruned, directed tori, ccc …
      clustering(tie=split)               the pruned torus's own
      hierarchical(tie=sign)              mh3dt, h3dt, tesh: gate by gate, level by level
      up_down(root=0)                     any bidirectional network, faulty ones too
      valiant                             two routes, by way of a random node

    \b
    Traffic patterns:
      uniform  uniform_other  all_to_all  nearest_neighbour
      hot_region  hot_spot(node=0, percent=10)
      bit_complement  bit_reversal  perfect_shuffle  transpose
      tornado  neighbour  random_permutation(seed=0)
      ring_all_reduce  all_reduce_by_dimension     collectives, phase by phase
      demand(path="demand.csv")     columns source, destination, demand; CSV or Parquet

    \b
    Examples:
      torusweep loads "rtt(a=16)"
      torusweep loads "pdtt(a=16)" --routing minimal --traffic uniform --method exact --json
      torusweep loads "torus(radices=[32, 16])" --routing "dimension-order(tie=positive)" --traffic "hot_spot(node=3, percent=20)"
      torusweep loads "mh3dt(m=4, n=4, levels=2, q=0)" --routing hierarchical --method monte-carlo --packets 10000000
      torusweep loads "torus(k=8, n=2)" --routing valiant --traffic transpose --bounds
      torusweep loads "mesh(k=4, n=2)" --traffic transpose --channels > channels.csv
    """
    from torusweep_kernels.backend import device_name, resolve

    from torusweep.cli.progress import counting, shared, waiting
    from torusweep.errors import BadInput
    from torusweep.networks.families import build
    from torusweep.stages.loads import channel_table, exact_loads, record_of, sampled_loads
    from torusweep.stages.loads.bounds import bounds_of

    sampled = method == "monte-carlo"
    for name, given in (("--packets", packets), ("--seed", seed), ("--relative-error", relative_error)):
        if given is not None and not sampled:
            raise BadInput(
                f"{name}: expected with --method monte-carlo only, got --method exact; exact loads need no packets"
            )
    if sampled and symmetry == "off":
        raise BadInput(
            "--symmetry off: expected with --method exact only, got monte-carlo, which uses no symmetry; leave it out"
        )
    if channels and bounds:
        raise BadInput("expected --channels or --bounds, got both; --channels prints channels and nothing else")
    running = resolve(backend)
    network = build(topology)
    what: dict[str, Any] = {"routing": routing, "traffic": traffic, "backend": running}
    if sampled:
        most = packets or 10_000_000
        with counting(most) as progress:
            found = sampled_loads(
                network, **what, packets=most, seed=seed or 0, relative_error=relative_error, progress=progress
            )
        reached = found.estimate.stderr / max(float(found.load.max(initial=0.0)), 1e-300) if found.estimate else 0.0
        if relative_error is not None and reached > relative_error:
            click.echo(
                f"the relative error is still {reached:.2g} after {most:,} packets; raise --packets for {relative_error:g}",
                err=True,
            )
    else:
        with shared("routes followed") as told:
            found = exact_loads(network, **what, use_symmetry=symmetry == "on", progress=told)
    if channels:
        from torusweep.results.table_text import as_csv
        from torusweep.results.table_text import as_json as json_array

        table = channel_table(found)
        click.echo(json_array(table) if as_json else as_csv(table), nl=False)
        return
    with (
        waiting("linear programmes and matchings: some minutes on networks of hundreds of nodes")
        if bounds
        else nullcontext()
    ):
        record = record_of(found, bounds_of(found, use_symmetry=symmetry == "on") if bounds else None)
    if as_json:
        options.print_json(record)
    else:
        from torusweep.cli.loads_text import print_loads

        print_loads(record, computed_by=f"{running} on {device_name(running)}")
