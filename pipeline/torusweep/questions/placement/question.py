"""The question `place`: where to place the axes of a job on a slice, or tasks on a network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
import scipy
from rich.console import Console

from torusweep import documents
from torusweep.errors import BadInput, Refused, one_line
from torusweep.networks.names import order_of_names
from torusweep.networks.physical import BANDWIDTH, LATENCY, LinkSpeed, remarks_on, unit_of, waiting_of
from torusweep.networks.topology import Meaning, Topology, Whole, default_memory
from torusweep.quantities import counted
from torusweep.questions.answer import Answer, Row
from torusweep.questions.display import rows_html, rows_text
from torusweep.questions.heeds import given, heeds
from torusweep.questions.how import How
from torusweep.questions.parameters import Absent
from torusweep.questions.placement.job import USUAL_SIZE, Job, job_of, job_of_axes, operations_in_words
from torusweep.questions.placement.machine import Machine, bound_name, machine
from torusweep.questions.placement.printed import (
    axes_in_words,
    axes_of,
    deadlock_in_words,
    link_in_words,
    notes,
    print_placements,
    seconds_in_words,
)
from torusweep.questions.placement.ranking import JobPlacement, Ranking, check_axes, rank
from torusweep.questions.placement.tasks import MOST_PLACES, NamedTasks, TaskPlacement, place_tasks
from torusweep.questions.question import Askable, File
from torusweep.questions.stage import under
from torusweep.tables.parquet import expect_valid, read_foreign
from torusweep.traffic.demands import COLUMNS, LEAST, MOST, MOST_ROWS, amounts, column_of

SUFFIXES = (".npy", ".json")
JOB = Meaning("job: a YAML file with its axes and their operations in a step; in Python also a dictionary")
AXES = Meaning(f"axes of a job, as tp=8,dp=16, each with the usual operations of its name, of {USUAL_SIZE}")
TASKS = Meaning(
    "tasks to place instead of a job: a file of their demand, as for the traffic demand; in Python a matrix"
)
MINIMISED = Meaning("for tasks: what to minimise, hops · demand or the load of the busiest link by minimal routing")
LINK_BANDWIDTH = (
    Meaning("bandwidth, in each direction, of a link that carries a flit a cycle"),
    Absent(f"the network's, else {BANDWIDTH}"),
)
STEP_LATENCY = (
    Meaning("latency of each step of a collective; if links have latencies, the part that software adds"),
    Absent(f"{LATENCY}; if links have latencies, nothing is added to those on the slowest message's path"),
)


@dataclass(frozen=True, repr=False, eq=False)
class Placements(Answer):
    """The answer for a job on a slice: its best placements, the fastest first, and the row-major order of the nodes."""

    machine: Machine
    job: Job
    links: LinkSpeed
    ranking: Ranking
    took: float
    remarks: Sequence[str] = ()
    heeded: Sequence[str] = ()

    @property
    def devices(self) -> np.ndarray:
        """int32[axes]: node of each rank in the best placement."""
        return self.ranking.best[0].devices

    @property
    def seconds(self) -> float:
        """Seconds that a step takes in the best placement."""
        return self.ranking.best[0].seconds

    @property
    def rows(self) -> list[Row]:
        """A row for each placement: rank, seconds, ratio to the best seconds, ties, and the place of each axis."""
        best, plain = self.ranking.best, self.ranking.row_major
        return [
            {
                "placement": "row-major" if placement is plain else str(number),
                "seconds": placement.seconds,
                "to_the_best": placement.seconds / self.seconds,
                "ties": None if placement is plain else placement.ties,
                **axes_of(self.machine, self.job.axes, placement),
            }
            for number, placement in enumerate([*best, plain], 1)
        ]

    @property
    def table(self) -> pa.Table:
        """The answer's rows as an Arrow table."""
        return pa.Table.from_pylist(self.rows)

    @property
    def json(self) -> Row:
        """Everything that the command prints, with numbers in full precision, and the best placement's devices."""
        machine, job, ranking = self.machine, self.job, self.ranking
        return {
            "topology": machine.topology.spelling,
            "nodes": machine.nodes,
            "axes": job.axes,
            "bandwidth": self.links.bandwidth,
            "latency": self.links.latency,
            "latency_unit": self.links.tick,
            "compared": ranking.compared,
            "routed": ranking.routed,
            "took": self.took,
            "deadlock": deadlock_in_words(machine, ranking.best[0]),
            "notes": notes(machine, job.axes, job.operations, ranking.best),
            "ranking": [self._value(placement) for placement in ranking.best],
            "row_major": self._value(ranking.row_major),
            "axis_names": list(job.axes),
            "devices": self.devices.tolist(),
        }

    def write(self, path: Path) -> None:
        """Write the devices of the best placement: as an array (.npy), or as JSON with names and sizes of the axes."""
        if path.suffix == ".npy":
            np.save(path, self.devices)
            return
        axes = self.job.axes
        value = {"axis_names": list(axes), "shape": list(axes.values()), "devices": self.devices.tolist()}
        path.write_text(json.dumps(value) + "\n")

    def print(self, console: Console, computed_by: str) -> None:
        print_placements(console, self.rows, self.machine, self.job, self.links, self.ranking, self.took)

    def heading(self) -> str:
        axes = axes_in_words(self.machine, list(self.job.axes), self.ranking.best[0])
        return f"{self.machine.topology.spelling}, {seconds_in_words(self.seconds)} a step: {axes}"

    def text(self) -> str:
        return rows_text(self.heading(), self.rows, list(self.rows[0]))

    def html(self) -> str:
        return rows_html(self.heading(), self.rows, list(self.rows[0]), ())

    def _value(self, placement: JobPlacement) -> dict[str, Any]:
        machine = self.machine
        return {
            "seconds": placement.seconds,
            "ties": placement.ties,
            "axes": {
                name: {
                    "block": None
                    if block is None
                    else [
                        {"dimension": machine.names[part.dimension], "factor": part.factor, "stride": part.stride}
                        for part in block
                    ],
                    "order": order,
                }
                for name, block, order in zip(self.job.axes, placement.blocks, placement.orders, strict=True)
            },
            "operations": [
                {
                    **phase.operation._asdict(),
                    "seconds": phase.seconds,
                    "algorithm": phase.algorithm,
                    "busiest_link_bytes": phase.bytes,
                    "busiest_link": None if phase.link is None else link_in_words(machine, phase.link),
                    "longest_route": phase.hops,
                    "bound_seconds": phase.least,
                    "bound": bound_name(phase.operation.kind),
                }
                for phase in placement.phases
            ],
        }


def place(
    network: Topology,
    how: How,
    job: Annotated[Path | str | Mapping[str, Any], JOB] | None = None,
    *,
    axes: Annotated[str | Mapping[str, Any], AXES] | None = None,
    tasks: Annotated[Path | str | np.ndarray | list[Any] | scipy.sparse.csr_array, TASKS] | None = None,
    least: Annotated[Literal["hops", "load"], MINIMISED] = "hops",
    restarts: Annotated[int, Whole(0, "for tasks: number of searches that start from random placements", 1000)] = 4,
    seed: Annotated[int, Whole(0, "seed of the random placements", 2**31 - 1)] = 0,
    bandwidth: Annotated[str, *LINK_BANDWIDTH] | None = None,
    latency: Annotated[str, *STEP_LATENCY] | None = None,
    top: Annotated[int, Whole(1, "number of placements to show", 100)] = 10,
) -> Placements | TaskPlacement:
    """Find the best placement of a job's axes on a slice, or of tasks that send to each other on any network.

    A placement of a job divides the dimensions of the slice among the axes, and orders the ranks of each axis:
    row-major, as a Hamiltonian cycle, a snake, or folded. Each operation runs in all groups of its axis at the same
    time; its duration follows from the exact load of the busiest link. The network must be a slice, torus, mesh or
    twisted torus of at most 8,192 nodes.

    A job has axes and operations (all_gather, reduce_scatter, all_reduce, all_to_all, broadcast, permute, exchange), or
    the shape of a transformer, from which its operations follow (docs/placement.md).

      axes: {ep: 16, tp: 8}
      operations:
        - {axis: tp, operation: all_gather, bytes: 64MiB, times: 4}
        - {axis: ep, operation: all_to_all, bytes: 32MiB, times: 4}

    Tasks are placed so that hops · demand, or the load of the busiest link under minimal routing, is least. The search
    exchanges two tasks at a time, and starts from several placements. A placement is called the optimum only if this is
    proved: it meets a bound, or all placements were compared, as for up to nine tasks. For loads under another routing,
    `--demand` writes a file for `torusweep loads --traffic`.

    The answer contains the order of the devices for jax.sharding.Mesh(numpy.array(devices)[order], axis_names): the
    number of each rank's node, with x fastest.

    >>> import torusweep as ts
    >>> job = {"axes": {"tp": 16}, "operations": [{"axis": "tp", "operation": "all_gather", "bytes": "64MiB"}]}
    >>> ts.network("mesh(k=4, n=2)").place(job, top=1).devices.tolist()
    [0, 1, 2, 3, 7, 6, 5, 9, 10, 11, 15, 14, 13, 12, 8, 4]
    """
    if tasks is not None:
        with under("tasks"):
            _alone(tasks=tasks, job=job, axes=axes)
            return place_tasks(network, how, _tasks(tasks), least, restarts, seed)
    with under("bandwidth"):
        unit = unit_of(network.plan, bandwidth)
    with under("latency"):
        links = LinkSpeed(unit, *waiting_of(network.plan, latency))
    wanted, slice_of = _wanted(job, axes), machine(network)
    check_axes(slice_of, wanted.axes)
    begun = perf_counter()
    with how.progress.wait("placements compared"):
        ranking = rank(slice_of, wanted.axes, wanted.operations, links, top=top)
    remarks = remarks_on(network.plan, bandwidth)
    if axes is not None:
        remarks.append(f"usual operations: {operations_in_words(wanted)}; a job names others")
    took, heeded = perf_counter() - begun, () if links.tick is None else ("latency",)
    return Placements(slice_of, wanted, links, ranking, took, remarks, heeded)


def _alone(**given: Any) -> None:
    """Raise BadInput unless exactly one of several parameters has a value other than None."""
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        got = " and ".join(f"`{name}`" for name in named) or "none"
        raise BadInput(f"expected one of `job`, `axes` and `tasks`, got {got}; give a job, its axes, or tasks")


def _job(given: Path | str | Mapping[str, Any]) -> Job:
    if isinstance(given, Mapping):
        return job_of(documents.Document(dict(given), {}, {}, "job", is_file=False))
    name = str(given)
    content = documents.read_bytes(Path(given), "job in YAML", "leave out what is no axis or operation")
    return job_of(documents.parse(content, name))


def _wanted(job: Path | str | Mapping[str, Any] | None, axes: str | Mapping[str, Any] | None) -> Job:
    """Return the job, or the usual job for the axes. Raises BadInput unless exactly one of the two is given."""
    _alone(job=job, axes=axes)
    if job is not None:
        return _job(job)
    with under("axes"):
        return job_of_axes(axes or "")


def _tasks(given: Any) -> NamedTasks:
    """Read tasks from a demand file, or take them from a matrix, in which tasks are numbered.

    The file has the format of the traffic `demand`: a list with source, destination and demand, or lines of numbers.
    Demands with a unit are bits per second. Sources and destinations may have any names.
    """
    if isinstance(given, str | Path):
        try:
            return _read(Path(given))
        except BadInput as wrong:
            said = str(wrong)
            raise type(wrong)(said if said.startswith(f"{given}:") else f"{given}: {said}") from None
    try:
        matrix = np.array(given.toarray() if scipy.sparse.issparse(given) else given, np.float64)
    except (ValueError, TypeError) as error:
        raise BadInput(f"tasks: expected a matrix of numbers, got: {one_line(error)}") from None
    return NamedTasks(tuple(range(len(matrix))), _square(matrix))


def _read(path: Path) -> NamedTasks:
    table = read_foreign(path, what="demand file", columns=COLUMNS, most_rows=MOST_ROWS, memory=default_memory())
    if isinstance(table, np.ndarray):
        return NamedTasks(tuple(range(len(table))), _square(table))
    first, second, demand = (column_of(table, name) for name in COLUMNS)
    amount, _ = amounts(demand)
    for name, end in zip(COLUMNS, (first, second)):
        if end.null_count:
            raise BadInput(f"{name}: expected a task in every row, got {counted(end.null_count, 'row')} without")
        if pa.types.is_floating(end.type):
            values = end.to_numpy()
            expect_valid(name, np.isfinite(values), values, "a number or a name of a task")
    ends = [_named(name, end).to_pylist() for name, end in zip(COLUMNS, (first, second))]
    listed = list(dict.fromkeys(name for pair in zip(*ends) for name in pair))
    order = order_of_names(listed)
    names = tuple(listed if order is None else [listed[place] for place in order])
    if len(names) > MOST_PLACES:
        raise Refused(f"expected at most {MOST_PLACES:,} tasks, got {len(names):,}; join some")
    number = {name: place for place, name in enumerate(names)}
    matrix = np.zeros((len(names), len(names)))
    np.add.at(matrix, tuple([number[name] for name in end] for end in ends), amount)
    return NamedTasks(names, _square(matrix))


def _named(name: str, column: pa.ChunkedArray[Any]) -> pa.ChunkedArray[Any]:
    """Return a column of task names as numbers or texts; other values of a CSV, such as dates, become texts."""
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return column
    try:
        return column.cast(pa.string())
    except pa.ArrowException as error:
        raise BadInput(f"{name}: expected numbers, or names in UTF-8, got: {one_line(error)}") from None


def _square(matrix: np.ndarray) -> np.ndarray:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise BadInput(f"tasks: expected a matrix [n, n], a row and a column for each task, got {list(matrix.shape)}")
    expect_valid("demand", (matrix == 0) | (matrix >= LEAST) & (matrix <= MOST), matrix, f"0 or {LEAST:g} … {MOST:g}")
    if not (matrix.sum() > matrix.trace()):
        raise BadInput("tasks: expected demand between two tasks, got none; list what they send to each other")
    return matrix


class PlaceQuestion(Askable):
    ask = staticmethod(place)
    command = "place"
    notes_of_files = True
    heeds: ClassVar = {
        **heeds("bandwidth"),
        **given("direction, terminals, forwarding", "tasks"),
        **heeds("unit, clock", "without `tasks`", lambda values: values["tasks"] is None),
        **heeds("latency", "without `tasks`, if latencies are times", lambda values: False),  # the answer knows
    }
    refuses = ("direction",)
    how = ()
    writes = (SUFFIXES, "the best order of the devices")
    written: ClassVar = {"demand": File("what each terminal sends, as CSV or Parquet for --traffic", needs="tasks")}
    examples = (
        'place "slice(radices=[8, 16], wrap=[false, true])" --job job.yaml',
        'place "pod_slice(shape=[4, 4, 8], twisted=true)" --job job.yaml --bandwidth 45GB/s -o devices.npy',
        'place "torus(radices=[8, 16])" --job job.yaml --top 3 --json',
        'place "pod_slice(shape=[4, 4, 8])" --axes tp=8,dp=16',
        'place "dragonfly(a=4, p=2, h=2)" --tasks tasks.csv --least load --demand placed.csv',
    )


QUESTION = PlaceQuestion()
