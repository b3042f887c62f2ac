"""torusweep deadlock: whether packets on one network can deadlock."""

from __future__ import annotations

from pathlib import Path

import click

from torusweep.cli import options
from torusweep.cli.deadlock_text import print_verdict
from torusweep.cli.progress import share_progress
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.results import table_text
from torusweep.stages.deadlock import deadlock_record
from torusweep.stages.deadlock.layers import layers


@click.command()
@options.topology
@options.routing
@click.option(
    "--vc-rule",
    default="none",
    show_default=True,
    shell_complete=options.complete_vc_rule,
    help="Which packets may use which virtual channels: a name of the list above.",
)
@click.option(
    "--virtual-channels",
    type=int,
    default=1,
    show_default=True,
    help="Virtual channels of each physical channel, 1 … 16.",
)
@click.option(
    "--layers",
    "with_layers",
    is_flag=True,
    help="Also divide the paths among as few layers of virtual channels as a greedy search finds, without a cycle in "
    "any layer.",
)
@click.option(
    "--layer-table",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the layer of every pair to this CSV file, with --layers.",
)
@options.json_output
def deadlock(
    topology: str,
    routing: str,
    vc_rule: str,
    virtual_channels: int,
    with_layers: bool,
    layer_table: Path | None,
    as_json: bool,
) -> None:
    """Whether packets on TOPOLOGY can deadlock: the channel dependency graph, a proof or a cycle.

    An acyclic graph proves that they cannot (Dally & Seitz 1987). A cycle alone proves nothing: it is
    a deadlock if packets that enter together can hold all its channels. Where neither is shown, the
    verdict is "unknown". The exit status is 0 for every verdict.

    \b
    Routings ('torusweep loads --help' explains them):
      minimal, up_down                   on every network
      dimension_order, reverse_order, random_order, romm
                                         on tori, meshes, hypercubes
      west_first, north_last, negative_first
                                         on meshes and hypercubes
      routing_record                     on lattices and twisted tori
      minimal_by_address, clustering, hierarchical, valiant
      by_group, valiant_by_group         on dragonfly and megafly
      d_mod_k                            on fat_tree and xgft
      ugal, progressive                  all routes between which these choose, on the same networks
      table(path="routes.csv")           your own, from a file: docs/own-data.md
      adaptive                           any shortest path; dimension_order or routing_record is its escape

    \b
    Virtual-channel rules:
      none              every virtual channel at any time
      dateline          0 before the dateline of a ring, 1 from it on
      phases            one for each order of random_order, one for each half of valiant or romm
      phases_dateline   two for each of these (also phases+dateline)
      r05_wrap          0 before a wraparound link, 1 from it on (reading=dimension, path or will)
      r05_phases        for hierarchical: 0 before the last module, 1 in it (split=last, for two
                        levels; split=levels: a class for each level; split=after_first)
      bubble            any, under a flow control that keeps one packet's space of every ring free
      table             the class that a routing table names, in its column virtual_channel
      hops              the number of hops done; the last class takes all that are left
      class_hops        the number of hops done over links of one class (link_class=1: between groups)

    \b
    Examples:
      torusweep deadlock "dragonfly(a=4, p=2, h=2)" --routing ugal --vc-rule class_hops --virtual-channels 3
      torusweep deadlock "torus(k=8, n=2)" --routing dimension-order --vc-rule dateline --virtual-channels 2
      torusweep deadlock "mh3dt(m=4, n=4, levels=2, q=0)" --routing hierarchical --vc-rule r05-wrap --virtual-channels 2
      torusweep deadlock "rtt(a=8)" --routing routing-record --vc-rule bubble
      torusweep deadlock "torus(k=8, n=2)" --routing adaptive --vc-rule dateline --virtual-channels 3
      torusweep deadlock "faulty(torus(k=8, n=3), links=4, seed=1)" --routing up-down --json
      torusweep deadlock "torus(k=4, n=2)" --routing "dimension_order(tie=positive)" --layers
    """
    if layer_table is not None and not with_layers:
        raise BadInput("--layer-table: expected with --layers only, got it alone; add --layers")
    network = build(topology)
    with share_progress("dependencies, then the least number of virtual channels") as progress:
        record = deadlock_record(
            network, routing=routing, vc_rule=vc_rule, virtual_channels=virtual_channels, progress=progress
        )
    found = layers(network, routing) if with_layers else None
    if found is not None and layer_table is not None:
        try:
            layer_table.write_text(table_text.as_csv(found.table))
        except OSError as error:
            raise BadInput(
                f"--layer-table {layer_table}: expected a file that can be written, got: {error.strerror}"
            ) from None
    if as_json:
        options.print_json(record if found is None else {**record, "layered": found.record})
    else:
        print_verdict(record, None if found is None else found.record)
