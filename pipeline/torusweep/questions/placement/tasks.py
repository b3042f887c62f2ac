"""Place tasks that send to each other on a network's terminals, for least hops · demand or least busiest link."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import scipy
from rich.console import Console
from torusweep_kernels.exchanges import (
    PlaceRoutes,
    TaskDemand,
    all_placements,
    busiest,
    demand_of,
    embedded,
    fewer_hops,
    lower_load,
    routes_of,
)

from torusweep.collectives.operations import hops_between, hops_of_split
from torusweep.errors import BadInput, Refused
from torusweep.networks.ends import split
from torusweep.networks.names import column_of, terminal_names
from torusweep.networks.symmetry import orbits
from torusweep.networks.topology import Topology
from torusweep.quantities import counted
from torusweep.questions.answer import Answer, Row
from torusweep.questions.console import print_facts, print_note, print_rows
from torusweep.questions.display import Fact, rows_html, rows_text
from torusweep.questions.how import How
from torusweep.traffic.demands import COLUMNS

MOST_PLACES = 2048  # terminals; a table of all their pairs then takes 32 MiB
MOST_TRIED = 1 << 33  # channels that are examined for all pairs; takes some seconds
MOST_ROUTES = 30_000_000  # channels on the shortest paths of all pairs, of 12 bytes each
MOST_EMBEDDED = 250_000_000  # tasks put somewhere × places, in the search that puts partners next to each other
FEW = 9  # greatest number of tasks for which all placements are compared
MOST_VISITED = 20_000_000  # partial placements that are compared; takes some seconds
MOVES, MOST_MOVES, MOST_TERMS = 40_000, 40_000_000, 300_000_000  # annealing moves for each place, in total; their terms
ROUNDS = 6  # rounds of exchanges that reduce the busiest link's load, after each search for fewer hops
WINDOWS = ((0.75, 0.25), (0.5, 0.15), (1.5, 0.25))  # first and last temperature, relative to a task's demand
MEETS = (
    "no placement has less: the largest demands of each task go to its nearest terminals (Gilmore 1962; Lawler 1963)"
)
NO_PATH = 1 << 24  # distance in hops if there is no path
MET = 1e-9  # relative tolerance for rounding of sums
SHOWN = 16  # tasks that are printed


class NamedTasks(NamedTuple):
    """Names of n tasks, and the demand from each task to each other task, float64[n, n]."""

    names: tuple[Any, ...]
    matrix: np.ndarray


@dataclass(frozen=True, repr=False, eq=False)
class TaskPlacement(Answer):
    """The answer for tasks on a network: a placement and its value.

    names      names of the n tasks
    place      int32[n]: terminal of each task
    value      value that was minimised: hops · demand, or the load of the busiest link (demand over bandwidth)
    in_order   value if task i is placed on terminal i
    bound      lower bound of the value of all placements
    because    proof that the value is the optimum; "" if this is not proved
    hops, load   hops · demand of the placement; load of the busiest link, None if there are too many routes
    """

    network: Topology
    least: str
    names: tuple[Any, ...]
    matrix: np.ndarray
    place: np.ndarray
    value: float
    in_order: float
    bound: float
    because: str
    hops: float
    load: float | None

    @property
    def optimum(self) -> float | None:
        """Least value of all placements; None if it is not proved."""
        return self.value if self.because else None

    @property
    def devices(self) -> np.ndarray:
        """int32[n]: node of each task."""
        return self.network.terminals[self.place]

    @property
    def rows(self) -> list[Row]:
        """A row for each task: its terminal, by the name in the network's file, and its node."""
        called = terminal_names(self.network) or range(len(self.network.terminals))
        return [
            {"task": name, "terminal": called[place], "node": node}
            for name, place, node in zip(self.names, self.place.tolist(), self.devices.tolist())
        ]

    @property
    def table(self) -> pa.Table:
        """The answer's rows as an Arrow table."""
        return pa.Table.from_pylist([{**row, "task": str(row["task"])} for row in self.rows])

    @property
    def demand(self) -> pa.Table:
        """The demand between the terminals of the placed tasks, in the form that `--traffic` reads."""
        source, destination = np.nonzero(self.matrix)
        names = terminal_names(self.network)
        ends = (column_of(names, self.place[end]) for end in (source, destination))
        return pa.table(dict(zip(COLUMNS, (*ends, pa.array(self.matrix[source, destination])))))

    @property
    def json(self) -> Row:
        return {
            "topology": self.network.spelling,
            "tasks": len(self.names),
            "terminals": len(self.network.terminals),
            "least": self.least,
            "value": self.value,
            "optimum": self.optimum,
            "bound": self.bound,
            "because": self.because,
            "in_order": self.in_order,
            "hops_demand": self.hops,
            "mean_hops": self.mean_hops,
            "busiest_link": self.load,
            "placement": self.rows,
            "devices": self.devices.tolist(),
        }

    @property
    def mean_hops(self) -> float:
        """Mean number of hops of a unit of demand."""
        return self.hops / float(self.matrix.sum())

    def write(self, path: Path) -> None:
        """Write the node of each task: as an array (.npy), or as JSON with the names of the tasks."""
        if path.suffix == ".npy":
            np.save(path, self.devices)
        else:
            path.write_text(json.dumps({"tasks": list(self.names), "devices": self.devices.tolist()}) + "\n")

    def heading(self) -> str:
        return f"{counted(len(self.names), 'task')} on {self.network.spelling}: {self._said()}"

    def _said(self) -> str:
        what = "hops · demand" if self.least == "hops" else "load of the busiest link"
        return f"{what} {self.value:.6g}" + (", the optimum" if self.because else "")

    def lines(self) -> list[Fact]:
        known = f"no placement has less than {self.bound:.6g}; whether one is better than this is not known"
        found = [
            ("in order", f"{self.in_order:.6g}, task i on terminal i", ""),
            ("proof", self.because or known, ""),
            ("mean hops", f"{self.mean_hops:.6g}", "mean number of hops of a unit of demand"),
        ]
        if self.load is not None:
            found.append(("busiest link", f"{self.load:.6g}", "load under minimal routing over the link's bandwidth"))
        return found

    def print(self, console: Console, computed_by: str) -> None:
        print_facts(console, self.heading(), ((name, value) for name, value, _ in self.lines()))
        console.print()
        print_rows(console, self.rows[:SHOWN], {name: name for name in self.rows[0]}, left=("task", "terminal"))
        if len(self.names) > SHOWN:
            print_note(console, f"and {len(self.names) - SHOWN:,} more: -o devices.json, --demand demand.csv or --json")

    def text(self) -> str:
        return rows_text(self.heading(), self.rows, list(self.rows[0]))

    def html(self) -> str:
        return rows_html(self.heading(), self.rows, list(self.rows[0]), ())


def place_tasks(network: Topology, how: How, named: NamedTasks, least: str, restarts: int, seed: int) -> TaskPlacement:
    """Place tasks on a network's terminals so that hops · demand, or the load of the busiest link, is least.

    restarts  number of searches by exchanges that start from random placements

    The placement is proved optimal if it meets a bound, or if all placements were compared, which is done for up to
    nine tasks unless there are too many placements. Messages are divided equally among shortest paths.
    """
    names, matrix = named
    places, number = len(network.terminals), len(names)
    _check_size(network, number)
    between = hops_between(network, np.arange(network.nodes))
    distance = between[np.ix_(network.terminals, network.terminals)].astype(np.float64)
    if (distance < 0).any():
        why = ", as hosts forward nothing" * (network.ends is not None)
        raise BadInput(
            f"{network.spelling}: expected paths between all terminals, got several parts{why}; choose another"
        )
    whole = np.zeros((places, places))
    whole[:number, :number] = matrix
    demand = demand_of(whole)
    channels = len(network.arcs[0])
    routes = _routes(network, between)
    by_load = least == "load"
    if by_load and routes is None:
        raise Refused(
            f"{network.spelling}: expected at most {MOST_ROUTES:,} channels on the shortest paths of all pairs, got"
            " more; choose a smaller network, or least hops"
        )
    search = _Search(network, demand, distance, routes if by_load else None, channels, number)
    bound = search.bound(matrix)
    with how.progress.share("placements") as report:
        place, value = np.arange(places, dtype=np.int32), search.value(np.arange(places, dtype=np.int32))
        in_order = value
        for number_of_start, (start, temperatures) in enumerate(search.starts(matrix, restarts, seed)):
            if value <= bound * (1 + MET):
                break
            found, reached = search.improved(start, temperatures, seed + number_of_start)
            if reached < value * (1 - MET):
                place, value = found, reached
            if report is not None:
                report((number_of_start + 1) / (restarts + 3))
    because = MEETS if value <= bound * (1 + MET) else ""
    chosen = place[:number]
    if not because and number <= FEW:
        chosen, value, proved = search.exact(matrix, chosen, value, use_symmetry=how.use_symmetry)
        because = "all placements looked through" if proved else ""
        bound = value if proved else bound
    hops = float((matrix * distance[np.ix_(chosen, chosen)]).sum())
    full = np.concatenate([chosen, np.setdiff1d(np.arange(places), chosen)]).astype(np.int32)
    load = None if routes is None else busiest(demand, routes, channels, full)
    return TaskPlacement(network, least, names, matrix, chosen, value, in_order, bound, because, hops, load)


def _check_size(network: Topology, number: int) -> None:
    """Raise BadInput for more tasks than terminals, Refused for too many terminals."""
    places = len(network.terminals)
    if number > places:
        raise BadInput(
            f"tasks: expected at most {places:,}, one for each terminal of {network.spelling}, got {number:,}; choose a"
            " larger network"
        )
    if places > MOST_PLACES:
        raise Refused(
            f"{network.spelling}: expected at most {MOST_PLACES:,} terminals, got {places:,}; all pairs have a distance"
            " in a table: choose a smaller network"
        )


def _routes(network: Topology, between: np.ndarray) -> PlaceRoutes | None:
    """Return the shortest paths of all pairs of terminals; None if too many. between: hops between all nodes."""
    tail, head, port = network.arcs
    arcs = np.stack([tail, head])
    if len(network.terminals) ** 2 * len(tail) > MOST_TRIED:
        return None
    ones = np.ones(len(tail))
    links = ones if network.capacity is None else network.capacity[tail, port].astype(np.float64)
    width = np.stack([links, ones if network.bandwidth is None else network.bandwidth[tail, port]])
    if network.ends is None:
        return routes_of(between, network.terminals, arcs, width, MOST_ROUTES)
    # each terminal has two places: one at which its messages start, and one at which messages to it end
    parted, places = split(network), len(network.terminals)
    whole = hops_of_split(parted, np.arange(parted.nodes))
    whole[whole < 0] = NO_PATH
    both = np.concatenate([network.terminals, parted.arrive[network.terminals]])
    found = routes_of(whole, both, np.stack([tail, parted.arrive[head]]), width, MOST_ROUTES)
    if found is None:
        return None
    many = np.diff(found.first).reshape(2 * places, 2 * places)[:places, places:]
    return found._replace(first=np.concatenate([np.zeros(1, np.int64), np.cumsum(many.ravel())]))


@dataclass(frozen=True)
class _Search:
    """A search by exchanges of tasks. routes: None to minimise hops · demand. tasks: number of places with tasks."""

    network: Topology
    demand: TaskDemand
    distance: np.ndarray
    routes: PlaceRoutes | None
    channels: int
    tasks: int

    def value(self, place: np.ndarray) -> float:
        if self.routes is not None:
            return busiest(self.demand, self.routes, self.channels, place)
        at = np.repeat(place, np.diff(self.demand.first))
        return float((self.demand.sent * self.distance[at, place[self.demand.other]]).sum())

    def bound(self, matrix: np.ndarray) -> float:
        """Return a lower bound of the value of all placements (Gilmore 1962; Lawler 1963).

        Each task's largest demands are assumed to go to its nearest places. For the busiest link, these hops are spread
        over all channels, and a task's demand over the channels of a node.
        """
        near = np.minimum(self.distance, self.distance.T)
        places = len(near)
        np.fill_diagonal(near, np.inf)
        near = np.sort(near, axis=1)[:, : self.tasks - 1]
        both = matrix + matrix.T
        np.fill_diagonal(both, 0.0)
        most = -np.sort(-both, axis=1)[:, : self.tasks - 1]
        cost = np.zeros((places, places))
        cost[: self.tasks] = most @ near.T
        hops = float(cost[scipy.optimize.linear_sum_assignment(cost)].sum()) / 2
        if self.routes is None:
            return hops
        tail, head, port = self.network.arcs
        width = np.ones(len(tail)) if self.network.bandwidth is None else self.network.bandwidth[tail, port]
        alone = 0.0
        if len(np.unique(self.network.terminals)) == places:  # terminals of one node need no channel between them
            for end, sums in ((tail, matrix.sum(axis=1)), (head, matrix.sum(axis=0))):
                alone = max(alone, float((sums - matrix.diagonal()).max() / np.bincount(end, width).max()))
        return max(hops / float(width.sum()), alone)

    def starts(self, matrix: np.ndarray, restarts: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (first placement, temperatures) of each search: in order, partners adjacent, greedy, then random."""
        places = len(self.distance)
        cold, nobody = np.zeros(0), np.full(self.tasks, -1, np.int32)
        apart = np.maximum(self.distance, self.distance.T) + np.where(np.eye(places), np.inf, 0.0)
        yield np.arange(places, dtype=np.int32), cold
        beside = embedded(self.demand, apart == apart.min(), self.tasks, MOST_EMBEDDED // places)[: self.tasks]
        yield self._one_after_another(matrix, beside), cold
        yield self._one_after_another(matrix, nobody), cold
        unit = float(np.sqrt(((matrix + matrix.T) ** 2).sum(axis=1)).mean()) or 1.0
        moves = min(MOVES * places, MOST_MOVES, MOST_TERMS // (4 + len(self.demand.other) // self.tasks))
        draw = np.random.default_rng(seed)
        for restart in range(restarts):
            high, low = WINDOWS[restart % len(WINDOWS)]
            yield draw.permutation(places).astype(np.int32), np.geomspace(high, low, max(1, moves // places)) * unit

    def _one_after_another(self, matrix: np.ndarray, place: np.ndarray) -> np.ndarray:
        """Complete a placement greedily: the task with most demand to placed tasks gets the cheapest free place.

        place   int32[n]: place of each task; −1 if it is not placed yet
        """
        both = matrix + matrix.T
        near = self.distance + self.distance.T
        added, pull = np.zeros((self.tasks, len(near))), both.sum(axis=1) * 1e-9
        free, left = np.zeros(len(near)), np.zeros(self.tasks)
        place, known = place.copy(), list(np.flatnonzero(place >= 0))
        for turn in range(self.tasks):
            task = int(known[turn] if turn < len(known) else np.argmax(pull + left))
            spot = int(place[task] if turn < len(known) else np.argmin(added[task] + free))
            place[task], free[spot], left[task] = spot, np.inf, -np.inf
            added += np.outer(both[task], near[spot])
            pull += both[task]
        others = np.setdiff1d(np.arange(len(near)), place)
        return np.concatenate([place, others]).astype(np.int32)

    def improved(self, start: np.ndarray, temperatures: np.ndarray, seed: int) -> tuple[np.ndarray, float]:
        found = fewer_hops(self.demand, self.distance, start, self.tasks, temperatures, seed)
        if self.routes is not None:
            found = lower_load(self.demand, self.routes, self.channels, found.place, ROUNDS, seed)
        return found.place, self.value(found.place)

    def exact(
        self, matrix: np.ndarray, place: np.ndarray, value: float, *, use_symmetry: bool
    ) -> tuple[np.ndarray, float, bool]:
        """Return (best placement, its value, whether all placements were compared)."""
        order = np.argsort(-(matrix + matrix.T).sum(axis=1), kind="stable")  # tasks with the most demand come first
        begin = np.zeros(len(self.distance), bool)
        nodes, first = np.unique(self.network.terminals, return_index=True)
        begin[first[np.isin(nodes, orbits(self.network, use_symmetry=use_symmetry).representatives)]] = True
        found = all_placements(
            matrix[np.ix_(order, order)],
            self.distance,
            begin,
            place[order],
            value,
            MOST_VISITED,
            self.routes,
            self.channels,
        )
        return found.place[np.argsort(order)], found.value, found.all
