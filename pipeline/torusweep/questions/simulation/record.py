"""The rows of the table `simulation`.

The saturation point is the highest offered load that the network accepts, found by repeated division of an interval.
Points of one network share calls of the kernel if their routers and routes are alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Hashable, Sequence
from dataclasses import replace
from math import ceil
from typing import Any, NamedTuple, TypeVar

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.quantities import counted
from torusweep.questions.how import How
from torusweep.questions.simulation.columns import SIMULATION
from torusweep.questions.simulation.packets import Completion
from torusweep.questions.simulation.parameters import MAX_CYCLES, Parameters, check_numbers, request_of
from torusweep.questions.simulation.runs import USUALLY, Experiment, Outcome, groups_of, likeness, run, run_many
from torusweep.questions.simulation.setup import Setup, Shared, set_up
from torusweep.questions.simulation.statistics import figures
from torusweep.questions.stage import LazyNetwork, Rows, attempt, under

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")

LEAST_CYCLES, LEAST_PACKETS = 1000, 100  # cycles and packets of a run that is long enough to measure something
PARTS = 5  # parts of the interval in each round; a round simulates the loads between the parts together
PRECISION = 0.01  # default precision of the saturation point, flits per cycle per terminal


def find_saturation(
    saturated: Callable[[Sequence[float]], Generator[Asked, Answer, Sequence[bool | None]]],
    top: float,
    precision: float,
) -> Generator[Asked, Answer, float]:
    """Return the highest load that is not saturated, to `precision`; `top` if even `top` is not saturated.

    saturated   evaluates several ascending loads at once; None (not decided) counts as not saturated. Like the search
                itself it is a generator, so that the searches of several points proceed together

    The result lies below the lowest saturated load of a round, even if a higher load is not saturated.
    """
    low, high = 0.0, top
    loads = [top * part / PARTS for part in range(1, PARTS + 1)]
    while loads:
        for load, is_saturated in zip(loads, (yield from saturated(loads))):
            if is_saturated:
                high = load
                break
            low = load
        else:
            if low == top:
                return top
        loads = [low + (high - low) * part / PARTS for part in range(1, PARTS)] if high - low > precision else []
    return low


Progress = Callable[[float], None] | None
Steps = Generator[list[Experiment], list[Outcome], list[dict[str, Any]]]


def simulation_records(
    topology: Topology,
    parameters: Parameters,
    *,
    loads: Sequence[float] = (),
    seeds: Sequence[int] = (0,),
    precision: float | None = None,
    packets_each: int | None = None,
    how: How = USUALLY,
    progress: Progress = None,
    completions: list[Completion] | None = None,
    announce: Callable[[], None] | None = None,
) -> list[dict[str, Any]]:
    """Return a row of the table `simulation` for each load, or one for a workload; Python values without NaN.

    loads         offered loads > 0, flits per cycle per terminal, each the mean over the terminals
    seeds         seeds of the random numbers; each load is simulated with every seed, and its row combines all seeds
    precision     also find the saturation point, to this precision in flits per cycle per terminal; without loads,
                  the row is for the highest load that is not saturated
    packets_each  instead of loads: every terminal sends this number of packets, all generated in cycle 0
    progress      called with the number of simulated experiments; an experiment in progress counts as a fraction
    completions   list to which the sending and delivery times of messages are added, for each seed of a workload
    announce      called before the first cycle, when nothing can be refused any more

    Raises BadInput if network, routing, rule, traffic, switching and numbers do not fit each other, or may
    deadlock; Refused if the memory does not suffice.
    """
    if packets_each is None:
        check_numbers(loads, seeds, precision, workload=parameters.workload)
    elif loads or precision is not None or parameters.workload is not None:
        raise BadInput(
            f"packets_each={packets_each}: expected neither loads, a precision nor a workload beside it; leave them out"
        )
    setup = set_up(topology, parameters)
    if packets_each is not None:
        setup = _batch(setup, parameters)
    setup.check(loads)
    counter = _Counter(progress)

    def outcomes_of(experiments: Sequence[Experiment]) -> list[Outcome]:
        outcomes = run(setup, experiments, how, counter)
        counter.before += len(outcomes)
        if completions is not None:
            completions.extend(outcome.completion for outcome in outcomes if outcome.completion is not None)
        return outcomes

    steps = steps_of(setup, loads, seeds, precision, packets_each)
    try:
        experiments = next(steps)
        groups_of(setup, experiments, how)
        if announce is not None:
            announce()
        while True:
            experiments = steps.send(outcomes_of(experiments))
    except StopIteration as end:
        rows: list[dict[str, Any]] = end.value
        return rows


def steps_of(
    setup: Setup, loads: Sequence[float], seeds: Sequence[int], precision: float | None, packets_each: int | None = None
) -> Steps:
    """Make the rows of `simulation_records` step by step: yield experiments, and receive the outcome of each."""
    if packets_each is not None or setup.workload is not None:
        outcomes = yield [Experiment(None, seed, packets_each or 0) for seed in seeds]
        return [_row(setup, seeds, outcomes, packets_each=packets_each)]

    def rows_at(some: Sequence[float]) -> Steps:
        outcomes = yield [Experiment(load, seed) for load in some for seed in seeds]
        return [
            _row(setup, seeds, outcomes[i * len(seeds) : (i + 1) * len(seeds)], load=load)
            for i, load in enumerate(some)
        ]

    rows = (yield from rows_at(loads)) if loads else []
    if precision is None:
        return rows
    rows_of: dict[float, dict[str, Any]] = {}

    def saturated(some: Sequence[float]) -> Generator[list[Experiment], list[Outcome], list[bool | None]]:
        rows_of.update(zip(some, (yield from rows_at(some))))
        return [rows_of[load]["saturated"] for load in some]

    found = yield from find_saturation(saturated, setup.max_load, precision)
    rows = rows or [rows_of[found or min(rows_of)]]
    for row in rows:
        row |= {"simulated_saturation": found, "saturation_precision": precision}
    return rows


def _batch(setup: Setup, requested: Parameters) -> Setup:
    """Return the setup for packets_each, in which source queues are unlimited, as with a workload."""
    for name in ("injection", "source_queue", "warm_up"):
        if (value := getattr(requested, name)) is not None:
            raise BadInput(
                f"{name}={value}: expected without packets_each, whose packets are all ready in cycle 0;"
                " leave out one of them"
            )
    return setup._replace(
        parameters=replace(setup.parameters, source_queue=None), router=setup.router._replace(source_queue=None)
    )


class _Counter:
    """Progress over several calls of `run`: the counter adds the experiments of earlier calls."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.before = progress, 0

    def __call__(self, done: float) -> None:
        if self.progress is not None:
            self.progress(self.before + done)


def _row(
    setup: Setup,
    seeds: Sequence[int],
    outcomes: Sequence[Outcome],
    *,
    load: float | None = None,
    packets_each: int | None = None,
) -> dict[str, Any]:
    """Return the row of runs that differ only in their seeds."""
    parameters, deadlocked = setup.parameters, [outcome for outcome in outcomes if outcome.stalled >= 0]
    warm_up = 0 if load is None else parameters.warm_up
    if warm_up is not None:
        warm_up = min(warm_up, min(outcome.run.end for outcome in outcomes) - 1)  # a deadlock may end a run before
    found = figures([outcome.run for outcome in outcomes], warm_up)
    present = setup.topology.ports != NO_PORT
    use = np.mean([outcome.use for outcome in outcomes], axis=0)
    use = setup.topology.load_of(use)
    link_class = setup.topology.link_class
    names = dict(enumerate(setup.topology.plan.classes))
    classes = {
        names.get(number, str(number)): present & (link_class == number)
        for number in np.unique(link_class[present]).tolist()
    }
    values = {
        **setup.inputs | ({} if packets_each is None else {"injection": None}),
        "packets_each": packets_each,
        "cycle_ns": None if setup.clock.cycle is None else float(setup.clock.cycle * 10**9),
        "warm_up": found.warm_up,
        "stationary": found.stationary,
        "seeds": list(seeds),
        "offered_load": load,
        "generated_load": found.generated.mean,
        "accepted_load": found.accepted.mean,
        "accepted_load_error": found.accepted.half_width,
        "network_latency": found.network.mean,
        "network_latency_error": found.network.half_width,
        "total_latency": found.total.mean,
        "total_latency_error": found.total.half_width,
        "p50_latency": None if found.quantiles is None else found.quantiles[0],
        "p99_latency": None if found.quantiles is None else found.quantiles[1],
        "latency_histogram": [{"latency": latency, "packets": packets} for latency, packets in found.histogram],
        "packets": found.packets,
        "refused_packets": found.refused,
        "saturated": None if load is None else bool(deadlocked) or found.saturated,
        "simulated_saturation": None,
        "saturation_precision": None,
        "mean_channel_utilization": float(use[present].mean()) if present.any() else None,
        "max_channel_utilization": float(use[present].max()) if present.any() else None,
        "per_class_utilization": {
            name: {"mean": float(use[own].mean()), "max": float(use[own].max())} for name, own in classes.items()
        },
        "vc_occupancy": np.mean([outcome.occupancy for outcome in outcomes], axis=0).tolist(),
        **_messages(setup, outcomes),
        "delivery_time": None if load is not None else _delivery_time(outcomes),
        "deadlocked": bool(deadlocked),
        "deadlock_cycle": deadlocked[0].stalled if deadlocked else None,
        "waiting": deadlocked[0].waiting if deadlocked else None,
        **setup.lost.columns,
    }
    return {column.name: values[column.name] for column in SIMULATION}


def _messages(setup: Setup, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return columns on a workload's messages between different tasks. Latencies omit undelivered messages."""
    if setup.workload is None:
        return {"messages": None, "message_latency": None, "p99_message_latency": None}
    real = setup.workload.source != setup.workload.destination
    done = [one.completion for one in outcomes if one.completion is not None]
    latency = np.concatenate([(one.delivered - one.sent)[real & (one.delivered >= 0)] for one in done])
    return {
        "messages": int(real.sum()),
        "message_latency": float(latency.mean()) if len(latency) else None,
        "p99_message_latency": int(np.quantile(latency, 0.99, method="inverted_cdf")) if len(latency) else None,
    }


def _delivery_time(outcomes: Sequence[Outcome]) -> float | None:
    """Return the cycles until the last delivery, averaged over the runs; None if a packet or message did not arrive."""
    times = [(outcome.completion or outcome.run).delivered for outcome in outcomes]
    if any((delivered < 0).any() for delivered in times):
        return None
    return float(np.mean([delivered.max(initial=0) for delivered in times]))


class BegunPoint(NamedTuple):
    """The setup of a sweep's point, and the generator that makes its rows (`record.steps_of`)."""

    setup: Setup
    steps: Steps


def rows_together(network: LazyNetwork, requests: Sequence[str], options: How) -> list[Rows | Exception]:
    """Return the rows of each request, or the exception that it raised. An exception does not stop other requests.

    requests   texts that `RunRequest.spelled` wrote
    """
    found: dict[int, Rows | Exception] = {}
    groups: dict[Hashable, dict[int, BegunPoint]] = defaultdict(dict)
    shared = Shared({}, {})
    for place, request in enumerate(requests):
        begun = attempt(_begin, network, request, shared)
        if isinstance(begun, BegunPoint):
            groups[likeness(begun.setup)][place] = begun
        else:
            found[place] = begun
    for alike in groups.values():
        found |= _in_lockstep(alike, options)
    return [found[place] for place in range(len(requests))]


def _begin(network: LazyNetwork, request: str, shared: Shared) -> BegunPoint:
    """Prepare a sweep's point for its first run. Raises BadInput or Refused if it cannot be simulated."""
    parameters, loads, seeds, precision = request_of(request)
    check_numbers(loads, seeds, precision, workload=parameters.workload)
    setup = set_up(network.topology, parameters, shared=shared)
    setup.check(loads)
    return BegunPoint(setup, steps_of(setup, loads, seeds, precision))


def _in_lockstep(points: dict[int, BegunPoint], options: How) -> dict[int, Rows | Exception]:
    """Return the rows of points with similar setups: run the first step of all points, then the second, and so on."""
    found: dict[int, Rows | Exception] = {}
    asked = {place: next(begun.steps) for place, begun in points.items()}
    while asked:
        further = {}
        requests = [(points[place].setup, experiments) for place, experiments in asked.items()]
        answers = run_many(requests, options)
        for place, outcomes in zip(asked, answers):
            if isinstance(outcomes, Exception):
                found[place] = outcomes
                continue
            try:
                further[place] = points[place].steps.send(outcomes)
            except StopIteration as end:
                found[place] = end.value
            except Exception as error:  # whatever one point does, the other points are computed
                found[place] = error
        asked = further
    return found


def expect_packets(network: Topology, rows: Sequence[dict[str, Any]]) -> None:
    """Raise BadInput if a run at a load was too short to measure a packet; 0 accepted flits would mean nothing."""
    for row in rows:
        load = row["offered_load"]
        if not load or row["packets"] or row["deadlocked"] or (network.terminals == network.terminals[:1]).all():
            continue  # terminals of a single router send nothing over the network, however long
        flits = row["packet_flits"] or 1
        packets = f"packets of {counted(flits, 'flit')}"
        wanted = max(LEAST_CYCLES, LEAST_PACKETS * flits / (load * len(network.terminals)))
        remedy = f"{ceil(wanted):,} or more" if wanted <= MAX_CYCLES else "a higher load"
        with under("cycles"):
            raise BadInput(
                f"expected enough for {packets} to arrive after the warm-up at load {load:g}, got"
                f" {row['cycles']:,}, in which none did; choose {remedy}"
            )
