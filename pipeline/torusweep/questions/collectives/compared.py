"""Compare the algorithms of a collective operation on a network with the bound, and compute times for given sizes.

An algorithm's time follows from the loads of the links. Its steps can also be simulated flit by flit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from torusweep.collectives.algorithms import ALGORITHMS, OPTIMUM, OR_OPTIMUM, schedule_of
from torusweep.collectives.best_known import best_known
from torusweep.collectives.cost import AlgorithmCost, cost_of, messages_of
from torusweep.collectives.operations import has_switches
from torusweep.collectives.optimum import Optimum
from torusweep.collectives.schedule import Schedule
from torusweep.collectives.trees import MOST_PACKED
from torusweep.errors import BadInput, Refused
from torusweep.networks.physical import LinkSpeed, unit_of, waiting_of
from torusweep.networks.topology import Plan, Topology
from torusweep.quantities import byte_range
from torusweep.questions.collectives.record import record_of
from torusweep.questions.simulation.parameters import MAX_CYCLES, Parameters
from torusweep.questions.simulation.presets import ALL_FLITS, clock_for, preset, round_trip
from torusweep.questions.simulation.runs import Experiment, run
from torusweep.questions.simulation.setup import set_up
from torusweep.questions.stage import under
from torusweep.workloads import Workload

PACKET_FLITS = 64  # long packets, so that heads cost little
BUFFER_FLITS = 16  # flits of a virtual channel's buffer; more if links are long
ROUTER = Parameters(virtual_channels=4, input_speedup=4, packet_flits=PACKET_FLITS, cycles=MAX_CYCLES)
DEFAULT = preset(ROUTER.router)
MOST_FLITS = 100_000_000  # flits of all messages; their simulation takes a minute or more
WINDOW = 2  # pieces of a chunk that are under way to a neighbour at once, so that other chunks get their turn
NEVER = -1
TREES = "trees"


class Simulated(NamedTuple):
    """Simulated cycles of an algorithm until everything is delivered.

    size    size of the operation's data in flits
    pieces  number of pieces into which a pipeline cuts each chunk; 1 without a pipeline
    alone   cycles per flit of a piece that goes through all steps alone; None without a pipeline
    """

    cycles: int
    size: int
    pieces: int
    alone: float | None

    @property
    def cycles_per_flit(self) -> float:
        return self.cycles / self.size

    def difference(self, cycles_per_flit: float) -> float:
        """Return by which share the simulated time exceeds the computed time, in which a first piece travels alone."""
        alone = cycles_per_flit if self.alone is None else self.alone
        return self.cycles_per_flit / (cycles_per_flit + (alone - cycles_per_flit) / self.pieces) - 1

    def columns(self) -> dict[str, Any]:
        """Return the simulated time as columns of a row."""
        numbers = {"simulated_cycles": self.cycles, "simulated_flits": self.size, "simulated_pieces": self.pieces}
        return {**numbers, "simulated_alone": self.alone}


def simulated(topology: Topology, schedule: Schedule, flits: int) -> Simulated:
    """Simulate a schedule with `flits` flits for each unit of its data, until everything is delivered.

    A node can send on all its channels at once, and accepts all flits that arrive. A rank begins a step when all
    messages that it sent or received in the previous step are delivered. In a pipeline each chunk is cut into pieces,
    and a node forwards each piece as soon as it has arrived. Raises BadInput if no routing is proved free of deadlock,
    or if the simulation deadlocks, and Refused if it would take too long.
    """
    name = f"simulation of {schedule.operation} on {topology.spelling}"
    if not np.array_equal(schedule.node, topology.terminals):
        raise BadInput(f"{name}: expected messages between terminals, got sums in switches; leave the simulation out")
    moved = float(schedule.size[schedule.chunk].sum()) * flits
    if moved > MOST_FLITS:
        raise Refused(f"{name}: expected at most {MOST_FLITS:,} flits in all messages, got {moved:.3g}; choose fewer")
    try:
        buffers = max(BUFFER_FLITS, round_trip(topology, DEFAULT, clock_for(topology, None)))
        setup = set_up(topology, replace(ROUTER, buffer_flits=buffers))
    except Refused:
        raise
    except BadInput:
        raise BadInput(
            f"{name}: expected a network with a built-in routing that is proved free of deadlock with"
            f" {ROUTER.virtual_channels} virtual channels, got none; leave the simulation out"
        ) from None
    ports = topology.ports.shape[1]
    setup = setup._replace(
        router=setup.router._replace(injection_flits=min(4 * ports, ALL_FLITS - ports), ejection_flits=ALL_FLITS),
        parameters=replace(setup.parameters, workload="collective", placement="consecutive"),
        workload=_in_pieces(schedule, flits) if schedule.pipelined else _in_steps(schedule, flits),
    )
    (outcome,) = run(setup, [Experiment(None, 0)])
    completion = outcome.completion
    if completion is None or outcome.stalled >= 0 or (completion.delivered == NEVER).any():
        raise BadInput(f"{name}: expected that all messages arrive, got a deadlock; choose another algorithm")
    pieces, alone = 1, None
    if schedule.pipelined:
        pieces, alone = _pieces(schedule, flits), cost_of(topology, schedule._replace(pipelined=False)).cycles
    return Simulated(int(completion.delivered.max()) + 1, schedule.units * flits, pieces, alone)


def _in_steps(schedule: Schedule, flits: int) -> Workload:
    """Return a schedule's workload in packets, step by step. A rank ends each step with an empty message to itself."""
    step, source, destination, units = messages_of(schedule)
    ranks, steps = len(schedule.node), schedule.steps
    whole = units.astype(np.int64) * flits
    many = -(-whole // PACKET_FLITS)
    message = np.repeat(np.arange(len(step)), many)
    piece = np.arange(len(message)) - np.repeat(np.cumsum(many) - many, many)
    turn = np.random.default_rng(0).permutation(len(step))  # random, lest all ranks send to the same rank at once
    order = np.lexsort((turn[message], piece, step[message]))  # the messages of a step take turns packet by packet
    message, piece = message[order], piece[order]
    length = np.minimum(PACKET_FLITS, whole[message] - piece * PACKET_FLITS)
    before = np.searchsorted(step[message], np.arange(steps + 1))  # number of packets in earlier steps
    rank = np.tile(np.arange(ranks), steps)
    number = np.arange(len(message)) + ranks * step[message]
    join = (before[1:, None] + ranks * np.arange(steps)[:, None] + np.arange(ranks)).ravel()
    total = len(message) + len(join)
    columns = np.zeros((3, total), np.int64)
    columns[:, number] = source[message], destination[message], length
    columns[:2, join] = rank
    joins = join.reshape(steps, ranks)
    ends = [np.stack([joins[step[message], end[message]], number], axis=1) for end in (source, destination)]
    later = step[message] > 0
    starts = np.stack([number[later], joins[step[message][later] - 1, source[message][later]]], axis=1)
    chain = np.stack([joins[1:].ravel(), joins[:-1].ravel()], axis=1)
    return _workload(columns, np.concatenate([*ends, starts, chain]), ranks)


def _pieces(schedule: Schedule, flits: int) -> int:
    """Return the number of pieces into which a pipeline cuts every chunk. A piece is at least a packet."""
    return max(1, int(schedule.size.min()) * flits // PACKET_FLITS)


def _in_pieces(schedule: Schedule, flits: int) -> Workload:
    """Return the workload of a pipeline: a message for each piece of a transfer, sent when its source has the piece."""
    pieces = _pieces(schedule, flits)
    transfer, piece = np.divmod(np.arange(pieces * len(schedule.step)), pieces)
    order = np.argsort(schedule.step[transfer] + piece, kind="stable")  # the next piece follows one step later
    number = np.argsort(order)  # number of the message for each transfer and piece
    transfer, piece = transfer[order], piece[order]
    source, destination, chunk = (
        column[transfer] for column in (schedule.source, schedule.destination, schedule.chunk)
    )
    whole = schedule.size[chunk] * flits
    length = whole * (piece + 1) // pieces - whole * piece // pieces
    ranks = len(schedule.node)
    waits = _waits(schedule.step[transfer], source, destination, chunk.astype(np.int64) * pieces + piece, ranks)
    later = np.flatnonzero(piece >= WINDOW)
    window = np.stack([later, number[transfer[later] * pieces + piece[later] - WINDOW]], axis=1)
    return _workload(np.stack([source, destination, length]), np.concatenate([waits, window]), ranks)


def _workload(columns: np.ndarray, waits: np.ndarray, ranks: int) -> Workload:
    """Make a workload. columns: int64[3, G], source, destination and flits of each message; waits: see `_waits`."""
    source, destination = columns[:2].astype(np.int32)
    ordered = waits[np.lexsort((waits[:, 1], waits[:, 0]))]
    return Workload(ranks, source, destination, columns[2], np.zeros(columns.shape[1], np.int64), ordered)


def _waits(
    step: np.ndarray, source: np.ndarray, destination: np.ndarray, content: np.ndarray, ranks: int
) -> np.ndarray:
    """Return pairs (message, earlier message that brings the same content to the message's source), int64[S, 2]."""
    key, needed = content * ranks + destination, content * ranks + source
    order = np.argsort(key, kind="stable")  # by content and destination, then by time
    first, last = (np.searchsorted(key[order], needed, side) for side in ("left", "right"))
    number = last - first
    message = np.repeat(np.arange(len(step)), number)
    place = np.arange(len(message)) - np.repeat(np.cumsum(number) - number, number)
    before = order[first[message] + place]
    earlier = step[before] < step[message]
    return np.stack([message[earlier], before[earlier]], axis=1).astype(np.int64)


Row = dict[str, Any]


class Timing(NamedTuple):
    """Inputs for computing times: sizes of the data in bytes, and bandwidth and latency of the links."""

    sizes: list[int]
    speed: LinkSpeed


def timing_of(sizes: Iterable[str | int], bandwidth: str | None, latency: str | None, plan: Plan) -> Timing | None:
    """Read sizes and link speed for times; None without sizes. Raises BadInput for a text that cannot be read."""
    with under("bytes"):
        numbers = [number for size in sizes for number in byte_range(str(size))]
    for name, given in (("bandwidth", bandwidth), ("latency", latency)):
        if given is not None and not numbers:
            with under(name):
                raise BadInput("expected together with `bytes`, got none; add `bytes`, as 1MiB:1GiB")
    with under("bandwidth"):
        unit = unit_of(plan, bandwidth)
    with under("latency"):
        speed = LinkSpeed(unit, *waiting_of(plan, latency))
    return Timing(numbers, speed) if numbers else None


def compared(
    network: Topology,
    operation: str,
    algorithms: Sequence[str],
    bounds: Optimum,
    *,
    every: bool,
    root: int,
    flits: int | None,
    timing: Timing | None,
    use_symmetry: bool,
    found: Callable[[str], None] | None = None,
) -> tuple[list[Row], dict[str, str]]:
    """Compare algorithms of an operation with the bound.

    bounds  bounds of the operation on the network, from `optimum`
    every   whether to raise BadInput for an algorithm that is not defined for the network, instead of leaving it out
    flits   flits of each equal part of the data in a simulation; None for no simulation
    found   function that is called with a line of text on the bound and on each algorithm, as soon as each is known
    returns (rows: the best of all, then the algorithms, fastest first; algorithm → why it has no row or simulation)
    """
    found = found or (lambda line: None)
    found(f"{'optimum' if bounds.met else 'bound'}: {bounds.bound:.6g} cycles/flit, {operation}")
    costs, runs, left_out = {}, dict[str, Row](), {}
    for algorithm in algorithms:
        try:
            schedule = schedule_of(network, operation, algorithm, root=root)
            runs[algorithm], costs[algorithm] = {}, cost_of(network, schedule)
            runs[algorithm] = {} if flits is None else simulated(network, schedule, flits).columns()
        except BadInput as refusal:
            if every:
                raise
            left_out[algorithm] = str(refusal).removesuffix(OR_OPTIMUM)
        found(f"{algorithm}: {f'{costs[algorithm].cycles:.6g} cycles/flit' if algorithm in costs else 'left out'}")
    measured = {algorithm: cost.cycles for algorithm, cost in costs.items()}
    best = best_known(network, operation, root=root, use_symmetry=use_symmetry, bounds=bounds, measured=measured)
    rows = []
    for algorithm, cost in sorted(costs.items(), key=lambda pair: pair[1].cycles):
        row = record_of(network, operation, algorithm, root, best, cost, best.method)
        rows.append(row | runs[algorithm] | _times(row, cost, timing))
    least = record_of(network, operation, OPTIMUM, root, best, None, best.method)
    return [least | _times(least, None, timing), *rows], left_out


def _times(row: Row, cost: AlgorithmCost | None, timing: Timing | None) -> Row:
    """Return columns of time and bandwidths for each size. If `cost` is None, times are lower bounds."""
    if timing is None:
        return {}
    share = row["bus_bandwidth"] / row["algorithm_bandwidth"] if row["algorithm_bandwidth"] else None
    speed, times = timing.speed, []
    for number in timing.sizes:
        seconds = cost.seconds(number, speed) if cost else row["bound"] * number / speed.bandwidth
        times.append(
            {
                "bytes": number,
                "seconds": seconds,
                "algorithm_bandwidth": number / seconds,
                "bus_bandwidth": None if share is None else share * number / seconds,
                "pieces": cost.pieces(number, speed) if cost else None,
            }
        )
    waits = {"latency": speed.latency, "latency_unit": speed.tick, "wait": cost.wait(speed) if cost else None}
    return {"bandwidth": speed.bandwidth, **waits, "times": times}


def attaining(network: Topology, bounds: Optimum, rows: Sequence[Row], left_out: Mapping[str, str]) -> list[str]:
    """Return names of algorithms that attain the optimum, as measured or by theorem; [] if no known algorithm does.

    By theorem, `trees` attains the bound that a packing of trees proves if each node has a terminal.
    """
    best, *measured = rows
    if best["optimum"] is None:
        return []
    names = [row["algorithm"] for row in measured if bounds._replace(attained=row["cycles"]).met]
    asked = {row["algorithm"] for row in measured} | left_out.keys()
    suit = best["operation"] in ALGORITHMS[TREES].operations and network.nodes <= MOST_PACKED
    return names or ([TREES] if suit and TREES not in asked and not has_switches(network) else [])


def together(network: Topology, left_out: Mapping[str, str]) -> str:
    """Return the reasons why no algorithm is defined for a network, on one line, each reason once."""
    plain = (reason.removeprefix(f"algorithm {name} on {network.spelling}: ") for name, reason in left_out.items())
    return "; ".join(dict.fromkeys(plain))
