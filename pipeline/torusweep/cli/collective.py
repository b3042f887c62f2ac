"""torusweep collective: what a collective operation takes on one network, beside the least that it allows."""

from __future__ import annotations

import click

from torusweep.cli import options
from torusweep.cli.collective_text import Row, Timing, print_collective, times_of
from torusweep.cli.progress import wait_notice
from torusweep.collectives.algorithms import OPTIMUM, algorithms_for, schedule_of
from torusweep.collectives.cost import cost_of
from torusweep.collectives.operations import operation_of
from torusweep.collectives.optimum import Optimum, optimum
from torusweep.errors import BadInput, Refused
from torusweep.networks.families import build
from torusweep.networks.topology import Topology
from torusweep.quantities import bandwidth_of, byte_range, seconds_of
from torusweep.stages.collectives.record import record_of
from torusweep.stages.collectives.simulation import simulated

DEFAULT_BANDWIDTH, DEFAULT_LATENCY = "50GB/s", "1us"


@click.command()
@options.topology
@click.argument("operation", shell_complete=options.complete_name("torusweep.collectives.operations:OPERATIONS"))
@click.option(
    "--algorithm",
    multiple=True,
    shell_complete=options.complete_name("torusweep.collectives.algorithms:ALGORITHMS"),
    help="Only these, separated by commas; optimum: none.  [default: all that suit the network]",
)
@click.option(
    "--root", type=click.IntRange(0), default=0, show_default=True, help="Of broadcast and reduce: a terminal."
)
@click.option("--bytes", "sizes", help="Also the time for this size, as 64MiB, or for all powers of 2, as 1MiB:16GiB.")
@click.option("--bandwidth", help=f"Of a link, in each direction, with --bytes.  [default: {DEFAULT_BANDWIDTH}]")
@click.option(
    "--latency", help=f"Of a message for each hop, software included, with --bytes.  [default: {DEFAULT_LATENCY}]"
)
@click.option(
    "--simulate",
    type=click.IntRange(1, 10**6),
    metavar="FLITS",
    help="Also simulate each algorithm flit by flit, with so many flits for each equal part of the data.",
)
@options.json_output
@options.symmetry
def collective(
    topology: str,
    operation: str,
    algorithm: tuple[str, ...],
    root: int,
    sizes: str | None,
    bandwidth: str | None,
    latency: str | None,
    simulate: int | None,
    as_json: bool,
    symmetry: str,
) -> None:
    """What a collective OPERATION takes on TOPOLOGY: every algorithm, beside the least time that any could take.

    Times are in cycles for each flit of the operation's size: of the gathered vector for all_gather, of each terminal's
    vector for the others, as nccl-tests count it. A channel carries a flit a cycle in each direction; a node uses all
    its channels at once. The optimum comes with what proves it: a cut, a partition, or a linear program.

    \b
    Operations:
      all_gather  reduce_scatter  all_reduce  broadcast  reduce  all_to_all

    \b
    Algorithms:
      one_way_ring, ring       one ring through all nodes, in one direction or both
      rings                    all rings that share no link, in both directions
      by_dimension, bucket     along one axis after another; along all axes at once
      halving_doubling, recursive_doubling
                               between ranks whose numbers differ in one bit
      direct                   every rank to every other at once, over all shortest paths
      tree, trees              down one tree; down trees that attain the optimum, in pieces

    \b
    Examples:
      torusweep collective "torus(radices=[4, 4, 8])" all_reduce
      torusweep collective "pdtt(a=4)" all-to-all --json
      torusweep collective "torus(k=8, n=2)" all_gather --bytes 1MiB:1GiB --bandwidth 50GB/s --latency 1us
      torusweep collective "faulty(torus(k=8, n=2), links=1, seed=1)" all_reduce --algorithm trees,ring
      torusweep collective "torus(k=4, n=2)" all_gather --algorithm bucket --simulate 256
    """
    name = operation_of(operation)
    names = options.listed(algorithm)
    chosen = [found for found in algorithms_for(name, names or ["all"]) if found != OPTIMUM]
    timing = _timing(sizes, bandwidth, latency)
    if simulate is not None and not chosen:
        raise BadInput("--simulate: expected an algorithm, got the optimum alone; name one with --algorithm")
    network = build(topology)
    with wait_notice("cuts, trees and programs: some minutes on networks of hundreds of different nodes"):
        best = optimum(network, name, root=root, use_symmetry=symmetry == "on")
        rows, unsuitable = _rows(network, name, root, best, chosen, wanted=bool(names), flits=simulate)
    if as_json:
        options.print_json([row | times_of(row, cost, best, timing) for row, cost, _ in rows])
    else:
        print_collective(rows, best, timing, unsuitable)


def _timing(sizes: str | None, bandwidth: str | None, latency: str | None) -> Timing | None:
    if sizes is None:
        for option, value in (("--bandwidth", bandwidth), ("--latency", latency)):
            if value is not None:
                raise BadInput(f"{option}: expected together with --bytes, got no --bytes; add --bytes 1MiB:1GiB")
        return None
    return Timing(
        options.quantity("--bytes", byte_range, sizes),
        options.quantity("--bandwidth", bandwidth_of, bandwidth or DEFAULT_BANDWIDTH),
        options.quantity("--latency", seconds_of, latency or DEFAULT_LATENCY),
    )


def _rows(
    network: Topology,
    operation: str,
    root: int,
    best: Optimum,
    algorithms: list[str],
    *,
    wanted: bool,
    flits: int | None,
) -> tuple[list[Row], list[str]]:
    """(the optimum and every algorithm, the fastest first; why others do not suit).

    wanted  whether the user named the algorithms: then one that does not suit is an error
    flits   of a part of the data in the simulation; None: none
    """
    found: list[Row] = []
    unsuitable = []
    for algorithm in algorithms:
        try:
            schedule = schedule_of(network, operation, algorithm, root=root)
            run = None if flits is None else simulated(network, schedule, flits)
        except (BadInput, Refused) as refusal:
            if wanted:
                raise
            unsuitable.append(str(refusal))
            continue
        cost = cost_of(network, schedule)
        row = record_of(network, operation, algorithm, root, best, cost, best.method)
        if run is not None:
            row |= run.columns()
        found.append((row, cost, run))
    found.sort(key=lambda row: row[0]["cycles"])
    record = record_of(network, operation, OPTIMUM, root, best, None, best.method)
    return [(record, None, None), *found], unsuitable
