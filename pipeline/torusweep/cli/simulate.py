"""The command that simulates a network: simulate."""

from __future__ import annotations

from typing import Any, TextIO

import click

from torusweep.cli import options
from torusweep.cli.describe import complete_topology


def _complete_router(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from torusweep.stages.simulation.presets import PRESETS

    return [name for name in PRESETS if name.startswith(incomplete)]


def _complete_rule(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from torusweep.stages.deadlock.rules import RULES

    return [name for name in RULES if name.startswith(incomplete.replace("-", "_"))]


def _complete_workload(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from torusweep.workloads import WORKLOADS

    return [name for name in WORKLOADS if name.startswith(incomplete.replace("-", "_"))]


@click.command()
@click.argument("topology", shell_complete=complete_topology)
@click.option(
    "--load",
    "loads",
    type=float,
    multiple=True,
    help="Offered load, flits per terminal and cycle; several times for several rows.",
)
@click.option(
    "--find-saturation", is_flag=True, help="Also the load up to which what is offered is accepted, found by bisection."
)
@click.option(
    "--precision",
    type=click.FloatRange(0, 1, min_open=True),
    help="Of that load, flits per terminal and cycle.  [default: 0.01]",
)
@click.option(
    "--packets-each",
    type=click.IntRange(1, 10**6),
    help="Instead of a load: every terminal sends so many packets, all ready at once.",
)
@click.option(
    "--routing",
    help="How packets find their way: adaptive, or as in 'torusweep loads'.  [default: the first that suits]",
)
@click.option(
    "--vc-rule",
    shell_complete=_complete_rule,
    help="Who may use which virtual channel, as in 'torusweep deadlock'.  [default: one that works]",
)
@click.option(
    "--virtual-channels", type=int, help="Virtual channels of every physical one, 1 … 16.  [default: the router's]"
)
@click.option(
    "--buffer-flits",
    type=int,
    help="Flits of a virtual channel's buffer.  [default: the router's, or what the switching needs]",
)
@click.option(
    "--packet-flits", type=int, help="Flits of a packet.  [default: the router's, 16 with each of the list above]"
)
@click.option(
    "--switching",
    type=click.Choice(["wormhole", "virtual-cut-through", "store-and-forward"]),
    help="How packets move.  [default: the router's]",
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
    shell_complete=_complete_router,
    help="A preset of the list above.",
)
@click.option(
    "--traffic", default="uniform", show_default=True, help="Who sends to whom: a pattern, as in 'torusweep loads'."
)
@click.option(
    "--injection",
    help="When packets are generated: bernoulli, poisson or 'bursts(cycles=100, peak=1)'.  [default: the router's]",
)
@click.option(
    "--source-queue",
    type=int,
    help="Packets that a source queue holds; what comes when it is full is refused.  [default: the router's]",
)
@click.option(
    "--workload",
    shell_complete=_complete_workload,
    help="Instead of a load: messages that wait for messages, as listed below, or in a file.",
)
@click.option(
    "--placement",
    type=click.Choice(["consecutive", "random"]),
    help="Of its tasks on terminals; random: anew for each seed.",
)
@click.option(
    "--completions",
    type=click.File("w", encoding="utf-8", lazy=False),
    help="Write when each message was sent and delivered, as CSV.",
)
@click.option(
    "--seed",
    "seeds",
    type=click.IntRange(0, 2**63 - 1),
    multiple=True,
    default=(0,),
    show_default=True,
    help="Of the random packets; several times for a mean over runs.",
)
@click.option("--cycles", type=int, help="Length of a run.  [default: 10,000; of a workload as many as it takes]")
@click.option("--warm-up", type=int, help="Cycles at its beginning that do not count.  [default: detected]")
@click.option("--allow-deadlock", is_flag=True, help="Run what is not shown to be free of deadlock.")
@options.json_output
@options.backend
def simulate(
    topology: str,
    loads: tuple[float, ...],
    find_saturation: bool,
    precision: float | None,
    packets_each: int | None,
    routing: str | None,
    vc_rule: str | None,
    virtual_channels: int | None,
    buffer_flits: int | None,
    packet_flits: int | None,
    switching: str | None,
    input_speedup: int | None,
    router: str,
    traffic: str,
    injection: str | None,
    source_queue: int | None,
    workload: str | None,
    placement: str | None,
    completions: TextIO | None,
    seeds: tuple[int, ...],
    cycles: int | None,
    warm_up: int | None,
    allow_deadlock: bool,
    as_json: bool,
    backend: str,
) -> None:
    """Simulate TOPOLOGY flit by flit: accepted load and latency at an offered load, and where it saturates.

    A routing that is not shown to be free of deadlock is refused; the message names a virtual-channel
    rule that works. Means come with 95 % confidence intervals, by batch means.

    \b
    Routers (docs/simulation.md has their pipelines):
      default      wormhole, 2 virtual channels of 8 flits, 4 cycles a hop
      booksim2     wormhole, 4 virtual channels of 8 flits, 5 cycles a hop
      rahman-2005  wormhole, 2 virtual channels of 2 flits, 2 cycles a hop
      bluegene     virtual cut-through, adaptive, bubble: 1 escape and 2 adaptive channels of 4 packets

    \b
    Workloads: messages that wait for messages, until all have been delivered (docs/simulation.md has models and the file's columns):
      cg(order=14000, rounds=1)        conjugate gradient, NPB's CG without its computation; so are
      is(keys=8388608, buckets=1024)   integer sort
      ft(nx=256, ny=256, nz=128)       Fourier transform
      lu(side=64), mg(side=256)        LU solver, multigrid
      ring_all_reduce(flits=1024), all_to_all(flits=64)
      messages.csv                     a file (or .parquet) of the columns message, source, destination, flits or bytes, depends_on, delay

    \b
    Examples:
      torusweep simulate "torus(k=8, n=2)" --load 0.2 --seed 1
      torusweep simulate "torus(k=8, n=2)" --routing dimension-order --vc-rule dateline --virtual-channels 4 --load 0.1 --load 0.3 --load 0.5
      torusweep simulate "pdtt(a=8)" --router bluegene --traffic uniform --find-saturation --json
      torusweep simulate "mh3dt(m=3, n=4, levels=2, q=0)" --router rahman-2005 --vc-rule r05-wrap --allow-deadlock --load 0.1
      torusweep simulate "hypercube(n=8)" --traffic bit-reversal --packets-each 16
      torusweep simulate "rtt(a=8)" --router bluegene --workload "cg(order=1400)" --placement random --seed 1 --seed 2 --seed 3
      torusweep simulate "torus(k=8, n=2)" --load 0.2 --injection "bursts(cycles=200)" --source-queue 8
    """
    from torusweep.cli.progress import counting, shared
    from torusweep.errors import BadInput
    from torusweep.networks.families import build
    from torusweep.stages.simulation import PRECISION, Completion, Parameters, simulation_records

    if precision is not None and not find_saturation:
        raise BadInput("--precision: expected with --find-saturation only; add that, or leave it out")
    if not (loads or find_saturation or packets_each or workload):
        raise BadInput(
            "expected --load, --find-saturation, --packets-each or --workload, got none; for example --load 0.2"
        )
    if completions and not workload:
        raise BadInput("--completions: expected with --workload only; add that, or leave it out")
    parameters = Parameters(
        router=router,
        routing=routing,
        vc_rule=vc_rule,
        virtual_channels=virtual_channels,
        buffer_flits=buffer_flits,
        packet_flits=packet_flits,
        switching=switching,
        input_speedup=input_speedup,
        traffic=traffic,
        injection=injection,
        source_queue=source_queue,
        workload=workload,
        placement=placement,
        cycles=cycles,
        warm_up=warm_up,
        allow_deadlock=allow_deadlock,
    )
    sought = (precision or PRECISION) if find_saturation else None
    many = None if find_saturation else len(seeds) * max(len(loads), 1)
    done: list[Completion] = []
    how: dict[str, Any] = {"packets_each": packets_each, "backend": backend, "completions": done}
    with counting(None, "runs") if many is None else shared("simulated") as told:
        progress = (lambda done: told(int(done))) if many is None else lambda done: told(done / many)
        network = build(topology)
        rows = simulation_records(
            network, parameters, loads=loads, seeds=seeds, precision=sought, progress=progress, **how
        )
    if completions and workload:
        from torusweep.cli.simulate_csv import write_completions

        write_completions(completions, workload, len(network.terminals), seeds, done)
    if as_json:
        options.print_json(rows if len(rows) > 1 else rows[0])
    else:
        from torusweep.cli.simulate_text import print_simulation

        print_simulation(rows)
