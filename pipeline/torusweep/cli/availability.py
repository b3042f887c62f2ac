"""torusweep availability: what is left of one network after failures."""

from __future__ import annotations

import click

from torusweep.cli import options
from torusweep.cli.availability_text import print_availability
from torusweep.cli.progress import wait_notice
from torusweep.errors import BadInput
from torusweep.networks.families import build, plan
from torusweep.questions.stage import Options
from torusweep.stages.availability import AvailabilityRequest, availability_rows
from torusweep.stages.availability.memory import check_memory
from torusweep.stages.availability.request import MOST_DRAWS, failures_of, measures_of

FAILURES = "a number at a time, or the probability that each fails, as 0.5%; or several, separated by commas."


@click.command()
@options.topology
@click.option("--links", multiple=True, metavar="NUMBER", help=f"Links that fail: {FAILURES}")
@click.option("--routers", multiple=True, metavar="NUMBER", help="The same of routers, with their terminals.")
@click.option("--cubes", multiple=True, metavar="NUMBER", help="The same of cubes, all of whose nodes fail.")
@click.option(
    "--draws",
    type=click.IntRange(1, MOST_DRAWS),
    default=1000,
    show_default=True,
    help="Random draws. All combinations are taken, and the result is exact, where there are no more.",
)
@click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Seed of the random draws."
)
@click.option(
    "--measure",
    multiple=True,
    shell_complete=options.complete_name("torusweep.stages.availability.measures:MEASURES"),
    help="What is measured, separated by commas; all: every one.  [default: connectivity, distances, saturation]",
)
@click.option(
    "--sample",
    type=click.IntRange(1, MOST_DRAWS),
    help="Draws on which costly measures are computed.  [default: as many as take some seconds]",
)
@options.json_output
@options.backend
def availability(
    topology: str,
    links: tuple[str, ...],
    routers: tuple[str, ...],
    cubes: tuple[str, ...],
    draws: int,
    seed: int,
    measure: tuple[str, ...],
    sample: int | None,
    as_json: bool,
    backend: str,
) -> None:
    """What is left of TOPOLOGY after failures: the distribution of each measure over thousands of draws.

    Each draw lets links, routers or cubes fail at random. Where all combinations are no more than --draws, all are
    taken. Cubes are blocks of 4 nodes along each axis of a torus, mesh or slice, and the cubes of cube_pod.

    \b
    Measures:
      connectivity       whether all surviving terminals reach each other; the share in the largest component
      distances          diameter, mean distance
      saturation         saturation load of uniform traffic under minimal routing (a sample of the draws)
      all_reduce         least time of an all-reduce (a sample)
      rerouting          whether a routing free of deadlock exists: up*/down*, one virtual channel
      minimal_rerouting  virtual channels that are enough for minimal routes, in layers (a sample)

    \b
    Examples:
      torusweep availability "torus(k=8, n=3)" --links 2 --draws 5000
      torusweep availability "dragonfly(a=8, p=4, h=4)" --links 0,1%,5% --measure distances,saturation
      torusweep availability "cube_pod(x=[1, 0], y=[0, 1], z=[0, 1])" --cubes 1 --measure all --sample 10
      torusweep availability "hypercube(n=4)" --routers 3 --json
    """
    asked = [
        (fails, failures_of(number, f"--{fails}"))
        for fails, given in (("links", links), ("routers", routers), ("cubes", cubes))
        for number in options.listed(given)
    ]
    if not asked:
        raise BadInput("expected --links, --routers or --cubes, got none; add --links 1")
    measures = measures_of(options.listed(measure)) if measure else AvailabilityRequest.measures
    requests = [
        AvailabilityRequest(fails, count, probability, draws, seed, sample, measures)
        for fails, (count, probability) in asked
    ]
    spelling, planned = plan(topology)
    for request in requests:
        check_memory(spelling, planned, request)
    network = build(topology)
    with wait_notice("draws of failures: some seconds for each costly measure, more on large networks"):
        rows = [availability_rows(network, request, Options(backend=backend)) for request in requests]
    if as_json:
        options.print_json([row for of_request in rows for row in of_request])
    else:
        print_availability(network.spelling, list(zip(requests, rows)))
