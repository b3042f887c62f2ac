"""torusweep simulate: one network, flit by flit."""

from __future__ import annotations

import os
from collections.abc import Sequence
from math import floor, isfinite, nan
from typing import Any, TextIO

import click

from torusweep.cli import options
from torusweep.cli.progress import count_progress, share_progress
from torusweep.cli.simulate_csv import write_completions
from torusweep.cli.simulate_text import print_simulation
from torusweep.counts import counted, duration
from torusweep.errors import BadInput, one_line
from torusweep.networks.families import build
from torusweep.networks.topology import Topology
from torusweep.questions.stage import Network
from torusweep.stages.simulation import PRECISION, Completion, Parameters, Request, simulation_records
from torusweep.stages.simulation.stage import NODE_CYCLE, SimulationRequest, SimulationStage
from torusweep.workloads import workload as workload_of
from torusweep.workloads.messages import least_cycles

MAX_LOADS = 10_000
ANNOUNCED_SECONDS = 5.0  # a run that takes longer is announced


def loads_of(given: Sequence[str]) -> tuple[float, ...]:
    """The loads of --load 0.1,0.2 and --load 0.1:0.9:0.1 (both ends included), in the order given."""
    found: list[float] = []
    for part in (part for text in given for part in text.split(",")):
        numbers = [_number(part, text) for text in part.split(":")]
        if len(numbers) == 1:
            found += numbers
            continue
        first, last, step = numbers if len(numbers) == 3 else (0.0, 0.0, 0.0)
        if not (step > 0 and first <= last and (last - first) / step < MAX_LOADS):
            raise BadInput(f"--load {part}: expected from:to:step, as in 0.1:0.9:0.1, of at most {MAX_LOADS:,} loads")
        steps = floor((last - first) / step * (1 + 1e-12) + 1e-12)  # rounding may not lose the last one
        found += [float(f"{first + step * number:.15g}") for number in range(steps + 1)]
    return tuple(found)


def _number(part: str, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = nan
    if not isfinite(number):
        raise BadInput(f"--load {one_line(part, 60)}: expected a number, several (0.1,0.2) or a range (0.1:0.9:0.1)")
    return number


@click.command()
@options.topology
@click.option(
    "--load",
    "loads",
    multiple=True,
    callback=lambda context, parameter, given: loads_of(given),
    help="Offered load, flits per terminal and cycle: 0.2, several (0.1,0.2), a range (0.1:0.9:0.1); may be repeated.",
)
@click.option("--find-saturation", is_flag=True, help="Also find the largest load that is accepted, by bisection.")
@click.option(
    "--precision",
    type=options.Real(0, 1, min_open=True),
    help="Precision of that load, flits per terminal and cycle.  [default: 0.01]",
)
@click.option(
    "--packets-each",
    type=click.IntRange(1, 10**6),
    help="Instead of a load: every terminal sends this many packets, all ready at cycle 0.",
)
@click.option(
    "--routing",
    help="How packets are routed: adaptive, ugal, progressive, or a name from 'torusweep loads --help'.  "
    "[default: the first that suits the network]",
)
@click.option(
    "--vc-rule",
    shell_complete=options.complete_vc_rule,
    help="Which packets may use which virtual channels: a name from 'torusweep deadlock --help'.  "
    "[default: one without deadlock]",
)
@click.option(
    "--virtual-channels",
    type=int,
    help="Virtual channels of each physical channel, 1 … 16.  [default: the router's]",
)
@click.option(
    "--buffer-flits",
    type=int,
    help="Buffer of a virtual channel, in flits.  [default: the router's, or what the switching needs]",
)
@click.option(
    "--packet-flits", type=int, help="Packet length, in flits.  [default: the router's; 16 for all of the list above]"
)
@click.option(
    "--packet-mix",
    help="Lengths of packets and their shares, as in 1:0.5,5:0.5; each packet draws one.  [default: one length]",
)
@click.option(
    "--switching",
    type=click.Choice(["wormhole", "virtual-cut-through", "store-and-forward"]),
    help="Switching technique.  [default: the router's]",
)
@click.option(
    "--input-speedup",
    type=int,
    help="Virtual channels of an input port that may send in the same cycle, 1 … 16.  [default: the router's]",
)
@click.option(
    "--router",
    default="default",
    show_default=True,
    shell_complete=options.complete_name("torusweep.stages.simulation.presets:PRESETS"),
    help="A router of the list above.",
)
@click.option(
    "--traffic",
    default="uniform",
    show_default=True,
    shell_complete=options.complete_from("torusweep.traffic:PATTERNS"),
    help="Which terminals send to which: a name from 'torusweep loads --help'.",
)
@click.option(
    "--injection",
    help="When packets are generated: bernoulli, poisson or 'bursts(cycles=100, peak=1)'.  [default: the router's]",
)
@click.option(
    "--source-queue",
    type=int,
    help="Packets that a source queue holds; more are refused.  [default: the router's]",
)
@click.option(
    "--workload",
    shell_complete=options.complete_from("torusweep.workloads:WORKLOADS"),
    help="Instead of a load: messages that depend on messages, of the list above or from a file.",
)
@click.option(
    "--placement",
    type=click.Choice(["consecutive", "random"]),
    help="How the workload's tasks are placed on terminals; random differs for each seed.",
)
@click.option(
    "--completions",
    type=click.File("w", encoding="utf-8", lazy=False),
    help="Write when each message was sent and delivered to this file, as CSV.",
)
@click.option(
    "--seed",
    "seeds",
    type=click.IntRange(0, 2**63 - 1),
    multiple=True,
    default=(0,),
    show_default=True,
    help="Seed of the random packets; may be repeated, for a mean over runs.",
)
@click.option("--cycles", type=int, help="Cycles of a run.  [default: 10,000; with a workload, until all is delivered]")
@click.option("--warm-up", type=int, help="Cycles at the beginning that are not measured.  [default: detected]")
@click.option("--allow-deadlock", is_flag=True, help="Run even if the routing might deadlock.")
@options.json_output
@options.backend
def simulate(
    topology: str,
    loads: tuple[float, ...],
    find_saturation: bool,
    precision: float | None,
    packets_each: int | None,
    workload: str | None,
    completions: TextIO | None,
    seeds: tuple[int, ...],
    as_json: bool,
    backend: str,
    **parameters: Any,
) -> None:
    """Simulate TOPOLOGY flit by flit: accepted load and latency at an offered load, and where it saturates.

    If a routing might deadlock, it is refused; the message names a virtual-channel rule that works.
    Means have 95 % confidence intervals, by batch means.

    \b
    Routers (docs/simulation.md has their pipelines):
      default      wormhole, 2 virtual channels of 8 flits, 4 cycles a hop
      booksim2     wormhole, 4 virtual channels of 8 flits, 5 cycles a hop. BookSim2 divides the channels of a torus
                   as --vc-rule "r05_wrap(reading=will)" does, and its torus links take 2 cycles by default
      rahman-2005  wormhole, 2 virtual channels of 2 flits, 2 cycles a hop
      bluegene     virtual cut-through, adaptive, bubble: 1 escape and 2 adaptive channels of 4 packets

    \b
    Workloads: messages that depend on messages, until all are delivered (docs/simulation.md explains them):
      cg(order=14000, rounds=1)        conjugate gradient: messages of the NAS benchmark, without its computation
      is(keys=8388608, buckets=1024)   integer sort, likewise
      ft(nx=256, ny=256, nz=128)       Fourier transform, likewise
      lu(side=64), mg(side=256)        LU solver, multigrid, likewise
      ring_all_reduce(flits=1024), all_to_all(flits=64)
      messages.csv                     a file (or .parquet) with the columns message, source, destination,
                                       flits or bytes, depends_on, delay
      app.goal                         a trace: GOAL schedule of LogGOPSim. goal(path="app.goal", cycles_per_us=1000,
                                       flit_bytes=4) says what a nanosecond and a byte are
      app.0.et                         traces: MLCommons Chakra, a file a rank; the others lie beside it.
                                       chakra(path="app.0.et", algorithm=one_way_ring, groups="groups.json")

    \b
    Examples:
      torusweep simulate "torus(k=8, n=2)" --load 0.2 --seed 1
      torusweep simulate "torus(k=8, n=2)" --load 0.05:0.4:0.05
      torusweep simulate "torus(k=8, n=2)" --load 0.1,0.3 --routing dimension-order --vc-rule dateline
      torusweep simulate "pdtt(a=8)" --router bluegene --traffic uniform --find-saturation --json
      torusweep simulate "torus(k=8, n=2)" --load 0.8 --routing dimension-order --vc-rule none --allow-deadlock
      torusweep simulate "mh3dt(m=3, n=4, levels=2, q=0)" --load 0.01 --router rahman-2005
      torusweep simulate "hypercube(n=8)" --traffic bit-reversal --packets-each 16
      torusweep simulate "rtt(a=8)" --router bluegene --workload "cg(order=1400)" --placement random --seed 1 --seed 2
      torusweep simulate "torus(k=4, n=2)" --workload 'goal(path="app.goal", cycles_per_us=500)'
      torusweep simulate "torus(k=8, n=2)" --load 0.2 --injection "bursts(cycles=200)" --source-queue 8
    """
    if precision is not None and not find_saturation:
        raise BadInput("--precision: expected with --find-saturation only; add that, or leave it out")
    if not (loads or find_saturation or packets_each or workload):
        raise BadInput(
            "expected --load, --find-saturation, --packets-each or --workload, got none; for example --load 0.2"
        )
    if completions and not workload:
        raise BadInput("--completions: expected with --workload only; add that, or leave it out")
    done: list[Completion] = []
    runs = len(seeds) * max(len(loads), 1)
    network, requested = build(topology), Parameters(workload=workload, **parameters)
    notes: tuple[str, ...] = ()
    if workload:
        notes = _announce_workload(network, requested, len(seeds))
    elif not packets_each:
        _announce(network, Request(requested, loads, seeds, (precision or PRECISION) if find_saturation else None))
    with count_progress("runs") if find_saturation else share_progress("simulated", runs) as progress:
        rows = simulation_records(
            network,
            requested,
            loads=loads,
            seeds=seeds,
            precision=(precision or PRECISION) if find_saturation else None,
            packets_each=packets_each,
            backend=backend,
            completions=done,
            progress=progress,
        )
    for note in notes:
        click.echo(note, err=True)
    if completions and workload:
        write_completions(completions, workload, len(network.terminals), seeds, done)
    if as_json:
        options.print_json(rows)
    else:
        print_simulation(rows)


def _announce(network: Topology, request: Request) -> None:
    """Say on standard error what the runs will take, if that is long."""
    request = request.canonical()
    point = SimulationRequest(str(request.parameters.traffic), request.spelled())
    at_once = len(request.seeds) * max(len(request.loads), 1)
    seconds = SimulationStage().seconds(Network(network.spelling), point) / min(_cores(), at_once)
    search = "the runs that find the saturation"
    runs = f"{counted(at_once, 'run')}{f' and {search}' if request.precision else ''}" if request.loads else search
    _say_duration(f"{runs}, {request.parameters.cycles:,} cycles on {counted(network.nodes, 'node')}: about", seconds)


def _announce_workload(network: Topology, parameters: Parameters, seeds: int) -> tuple[str, ...]:
    """Say on standard error what a workload will take at least, if that is long; returns the notes of a trace."""
    assert parameters.workload is not None
    spelling, messages = workload_of(parameters.workload, len(network.terminals))
    cycles = least_cycles(messages)
    runs = f"{counted(seeds, 'run')} of {spelling}, at least {cycles:,} cycles on {counted(network.nodes, 'node')}"
    _say_duration(f"{runs}: at least about", NODE_CYCLE * network.nodes * cycles * seeds / min(_cores(), seeds))
    return tuple(f"note: {spelling}: {note}" for note in messages.notes)


def _say_duration(what: str, seconds: float) -> None:
    if seconds >= ANNOUNCED_SECONDS:
        click.echo(f"{what} {duration(seconds)} on {counted(_cores(), 'core')}", err=True)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
