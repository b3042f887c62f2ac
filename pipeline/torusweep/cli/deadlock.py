"""The command about a routing's deadlock freedom: deadlock."""

from __future__ import annotations

import click

from torusweep.cli import options
from torusweep.cli.describe import complete_topology


def _complete_rule(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from torusweep.stages.deadlock.rules import RULES

    return [name for name in RULES if name.startswith(incomplete.replace("-", "_"))]


@click.command()
@click.argument("topology", shell_complete=complete_topology)
@options.routing
@click.option(
    "--vc-rule",
    default="none",
    show_default=True,
    shell_complete=_complete_rule,
    help="Who may use which virtual channel: one of the list above.",
)
@click.option(
    "--virtual-channels", type=int, default=1, show_default=True, help="Virtual channels of every physical one, 1 … 16."
)
@options.json_output
def deadlock(topology: str, routing: str, vc_rule: str, virtual_channels: int, as_json: bool) -> None:
    """Whether packets on TOPOLOGY can lock up: the channel dependency graph, a proof or a cycle.

    An acyclic graph proves that they cannot (Dally & Seitz 1987). A cycle alone proves nothing; it is
    a deadlock where packets that enter together can hold all its channels. Where neither is shown,
    the verdict is "unknown". The exit status is 0 whatever the verdict.

    \b
    Routings: minimal and up_down, in all networks; dimension_order and random_order in grids;
      routing_record in lattices; minimal_by_address, clustering, hierarchical, valiant …;
      adaptive: any shortest path, with dimension_order or routing_record as its escape

    \b
    Virtual-channel rules:
      none              any virtual channel at any time
      dateline          0, and 1 from the dateline of a ring on
      phases            one for each order of random_order, each half of valiant
      phases_dateline   two for each of these (also phases+dateline)
      r05_wrap          0, and 1 from a wraparound link on (reading=dimension, path or will)
      r05_phases        of hierarchical: 0 before the last module, 1 in it (split=last, for
                        two levels; split=levels: one class a level; split=after_first)
      bubble            a flow control that keeps a slot of every ring free

    \b
    Examples:
      torusweep deadlock "torus(k=8, n=2)" --routing dimension-order --vc-rule dateline --virtual-channels 2
      torusweep deadlock "mh3dt(m=4, n=4, levels=2, q=0)" --routing hierarchical --vc-rule r05-wrap --virtual-channels 2
      torusweep deadlock "rtt(a=8)" --routing routing-record --vc-rule bubble
      torusweep deadlock "torus(k=8, n=2)" --routing adaptive --vc-rule dateline --virtual-channels 3
      torusweep deadlock "faulty(torus(k=8, n=3), links=4, seed=1)" --routing up-down --json
    """
    from torusweep.cli.progress import shared
    from torusweep.networks.families import build
    from torusweep.stages.deadlock import deadlock_record

    network = build(topology)
    with shared("dependencies, then the fewest virtual channels") as told:
        record = deadlock_record(
            network, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels, progress=told
        )
    if as_json:
        options.print_json(record)
    else:
        from torusweep.cli.deadlock_text import print_verdict

        print_verdict(record)
