"""The command about traffic on one network: loads."""

from __future__ import annotations

import click

from pipeline.cli import options
from pipeline.cli.network import complete_topology


def _complete_traffic(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from pipeline.traffic import PATTERNS

    return [name for name in PATTERNS if name.startswith(incomplete)]


def _complete_routing(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from pipeline.loads import ROUTINGS

    return [name for name in ROUTINGS if name.startswith(incomplete)]


@click.command()
@click.argument("topology", shell_complete=complete_topology)
@click.option(
    "--routing",
    default="minimal",
    show_default=True,
    shell_complete=_complete_routing,
    help="minimal: every shortest path alike; minimal_ecmp: at every node, every link alike that leads nearer.",
)
@click.option(
    "--traffic", default="uniform", show_default=True, shell_complete=_complete_traffic, help="Who sends to whom: a pattern of the list above."
)
@click.option("--method", type=click.Choice(["exact"]), default="exact", show_default=True, help="How loads are found.")
@click.option("--channels", is_flag=True, help="The load of every single channel, as CSV (with --json as a JSON array), and nothing else.")
@options.json_output
@options.backend
@options.symmetry
def loads(topology: str, routing: str, traffic: str, method: str, channels: bool, as_json: bool, backend: str, symmetry: str) -> None:
    """How traffic loads the channels of TOPOLOGY, and the injection at which the busiest one is full.

    Loads are flits per cycle over a channel at one flit injected per terminal and cycle.

    \b
    Traffic patterns:
      uniform  uniform_other  all_to_all  nearest_neighbour
      hot_region  hot_spot(node=0, percent=10)
      bit_complement  bit_reversal  perfect_shuffle  transpose
      tornado  neighbour  random_permutation(seed=0)
      ring_all_reduce(bidirectional=false)  all_reduce_by_dimension(bidirectional=false)
      demand(path="demand.csv")     columns source, destination, demand; CSV or Parquet

    \b
    Examples:
      torusweep loads "rtt(a=16)"
      torusweep loads "pdtt(a=16)" --routing minimal --traffic uniform --method exact --json
      torusweep loads "torus(radices=[32, 16])" --traffic "hot_spot(node=3, percent=20)"
      torusweep loads "mesh(k=4, n=2)" --traffic transpose --channels > channels.csv
    """
    from kernels.backend import device_name, resolve
    from pipeline.loads import channel_table, exact_loads, record_of
    from pipeline.topologies import build

    running = resolve(backend)
    found = exact_loads(build(topology), routing=routing, traffic=traffic, backend=running, use_symmetry=symmetry == "on")
    if channels:
        from pipeline.table_text import as_csv
        from pipeline.table_text import as_json as json_array

        table = channel_table(found)
        click.echo(json_array(table) if as_json else as_csv(table), nl=False)
    elif as_json:
        options.print_json(record_of(found))
    else:
        from pipeline.cli.rendering_loads import print_loads

        print_loads(record_of(found), computed_by=f"{running} on {device_name(running)}")
