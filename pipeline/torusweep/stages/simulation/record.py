"""The rows of the table `simulation`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.topology import NO_PORT, Topology
from torusweep.stages.simulation.placement import Completion
from torusweep.stages.simulation.request import check_numbers
from torusweep.stages.simulation.runs import Experiment, Outcome, run
from torusweep.stages.simulation.saturation import bisected
from torusweep.stages.simulation.setup import Parameters, Setup, set_up
from torusweep.stages.simulation.statistics import figures
from torusweep.tables.records import SIMULATION

PRECISION = 0.01  # flits per terminal and cycle, to which saturation is found unless told otherwise
Progress = Callable[[float], None] | None


def simulation_records(
    topology: Topology,
    parameters: Parameters,
    *,
    loads: Sequence[float] = (),
    seeds: Sequence[int] = (0,),
    precision: float | None = None,
    packets_each: int | None = None,
    backend: str = "auto",
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress = None,
    completions: list[Completion] | None = None,
) -> list[dict[str, Any]]:
    """A row for each load, or one of the workload, exactly the table's columns, in order, as Python values without NaN.

    loads         offered, in flits per terminal and cycle, on average over the terminals; > 0
    seeds         of the random numbers; every load is simulated with each, and a row is about all of them together
    precision     find saturation, too, to so many flits per terminal and cycle: without loads, the row is of the highest not saturated
    packets_each  instead of loads: every terminal sends so many packets, all ready in cycle 0; the row tells how long it takes
    progress      is told how many experiments have been simulated, those under way by their share
    completions   gets, of a workload, when each message was sent and delivered, seed by seed

    Raises BadInput where network, routing, rule, traffic, switching and numbers do not suit each other, or may lock up;
    Refused where the memory does not suffice.
    """
    if packets_each is None:
        check_numbers(loads, seeds, precision, workload=parameters.workload)
    elif packets_each < 1 or loads or precision is not None or parameters.workload is not None:
        raise BadInput(
            f"packets_each={packets_each}: expected 1 or more, and then neither loads, a precision nor a workload; leave them out"
        )
    setup = set_up(topology, parameters)
    if packets_each is not None:
        setup = _batch(setup, parameters)
    setup.check(loads)
    how: dict[str, Any] = {"backend": backend, "threads": threads, "memory": memory}
    told = _Told(progress)
    if packets_each is not None or setup.workload is not None:
        outcomes = run(setup, [Experiment(None, seed, packets_each or 0) for seed in seeds], **how, progress=told)
        if completions is not None:
            completions += [outcome.completion for outcome in outcomes if outcome.completion is not None]
        return [_row(setup, seeds, outcomes, packets_each=packets_each)]

    def rows_at(some: Sequence[float]) -> list[dict[str, Any]]:
        outcomes = run(setup, [Experiment(load, seed) for load in some for seed in seeds], **how, progress=told)
        told.so_far += len(outcomes)
        return [
            _row(setup, seeds, outcomes[i * len(seeds) : (i + 1) * len(seeds)], load=load)
            for i, load in enumerate(some)
        ]

    rows = rows_at(loads) if loads else []
    if precision is None:
        return rows
    seen: dict[float, dict[str, Any]] = {}

    def saturated(some: Sequence[float]) -> list[bool | None]:
        seen.update(zip(some, rows_at(some)))
        return [seen[load]["saturated"] for load in some]

    found = bisected(saturated, setup.most, precision)
    for row in rows or [seen[found] if found else seen[min(seen)]]:
        row |= {"simulated_saturation": found, "saturation_precision": precision}
    return rows or [seen[found] if found else seen[min(seen)]]


def _batch(setup: Setup, asked: Parameters) -> Setup:
    """For packets that are all ready in cycle 0: source queues have room for them, as they have for a workload's messages."""
    for name in ("injection", "source_queue", "warm_up"):
        if (value := getattr(asked, name)) is not None:
            raise BadInput(
                f"{name}={value}: expected without packets_each, whose packets are all ready in cycle 0; leave out one of them"
            )
    return setup._replace(
        parameters=replace(setup.parameters, source_queue=None), router=setup.router._replace(source_queue=None)
    )


class _Told:
    """Counts experiments over several calls for whoever watches."""

    def __init__(self, progress: Progress) -> None:
        self.progress, self.so_far = progress, 0

    def __call__(self, done: float) -> None:
        if self.progress is not None:
            self.progress(self.so_far + done)


def _row(
    setup: Setup,
    seeds: Sequence[int],
    outcomes: Sequence[Outcome],
    *,
    load: float | None = None,
    packets_each: int | None = None,
) -> dict[str, Any]:
    """The row of several runs that differ in their seeds."""
    parameters, stopped = setup.parameters, [outcome for outcome in outcomes if outcome.stalled >= 0]
    warm_up = 0 if load is None else parameters.warm_up
    if warm_up is not None:
        warm_up = min(warm_up, min(outcome.run.end for outcome in outcomes) - 1)  # a run may stand still before
    found = figures([outcome.run for outcome in outcomes], warm_up)
    present = setup.topology.ports != NO_PORT
    use = np.mean([outcome.use for outcome in outcomes], axis=0)
    if setup.topology.capacity is not None:
        use = use / np.where(present, setup.topology.capacity, 1)
    kinds = setup.topology.link_class
    names = dict(enumerate(setup.topology.plan.classes))
    classes = {
        names.get(number, str(number)): present & (kinds == number) for number in np.unique(kinds[present]).tolist()
    }
    values = {
        **setup.inputs | ({} if packets_each is None else {"injection": None}),
        "packets_each": packets_each,
        "warm_up": found.warm_up,
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
        "saturated": None if load is None else bool(stopped) or found.saturated,
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
        "deadlocked": bool(stopped),
        "deadlock_cycle": stopped[0].stalled if stopped else None,
        "waiting": stopped[0].waiting if stopped else None,
    }
    return {column.name: values[column.name] for column in SIMULATION}


def _messages(setup: Setup, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Columns about a workload's messages between different tasks; those that were not delivered have no latency."""
    if setup.workload is None:
        return {"messages": None, "message_latency": None, "p99_message_latency": None}
    real = setup.workload.source != setup.workload.destination
    done = [one.completion for one in outcomes if one.completion is not None]
    latency = np.concatenate([(one.delivered - one.sent)[real & (one.delivered >= 0)] for one in done])
    most = None if not len(latency) else int(np.quantile(latency, 0.99, method="inverted_cdf"))
    return {
        "messages": int(real.sum()),
        "message_latency": float(latency.mean()) if len(latency) else None,
        "p99_message_latency": most,
    }


def _delivery_time(outcomes: Sequence[Outcome]) -> float | None:
    """Cycles until everything has arrived, in the mean over the runs; None where something has not."""
    arrived = [
        outcome.run.delivered if outcome.completion is None else outcome.completion.delivered for outcome in outcomes
    ]
    if any((delivered < 0).any() for delivered in arrived):
        return None
    return float(np.mean([delivered.max(initial=0) for delivered in arrived]))
