"""The question and stage `collectives`: bounds of collective operations, and times of algorithms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import create_model
from rich.console import Console

from torusweep.collectives.algorithms import ALL_REDUCES, EVERY, OPTIMUM, algorithms_for, check_suits
from torusweep.collectives.certificate import collective_certificate
from torusweep.collectives.operations import IN_NETWORK, OPERATIONS, has_switches, operation_of
from torusweep.collectives.optimum import Optimum, optimum
from torusweep.errors import BadInput
from torusweep.networks.names import number_of, terminal_names
from torusweep.networks.physical import BANDWIDTH, LATENCY
from torusweep.networks.topology import Meaning, Topology, Whole
from torusweep.questions.answer import Records
from torusweep.questions.collectives.columns import COLLECTIVES
from torusweep.questions.collectives.compared import Timing, attaining, compared, timing_of, together
from torusweep.questions.collectives.printed import order_in_words, print_collective
from torusweep.questions.collectives.record import collective_record
from torusweep.questions.display import value_text
from torusweep.questions.entries import field_of
from torusweep.questions.heeds import heeds
from torusweep.questions.how import How
from torusweep.questions.parameters import NOT_SWEPT, Absent, Spelled, Swept, Typed
from torusweep.questions.question import CERTIFICATE, Question
from torusweep.questions.stage import LazyNetwork, NetworkChoice, under

SHARED = (
    "terminals of one router share the router's links, but have no link of their own to it: they may send more than a"
    " flit a cycle, the most in loads and simulations; 'torusweep export NETWORK --format astra-sim -o FOLDER' gives"
    " each such a link, and 'torusweep collective FOLDER/topology.txt' takes it into account"
)
OPERATION = Spelled(
    ", ".join(OPERATIONS), table="torusweep.collectives.operations:OPERATIONS", title="Operations", called=False
)
ALGORITHM = (
    Spelled(
        f"{OPTIMUM} (without times of algorithms), {EVERY}, or algorithms that are defined for the network",
        table="torusweep.collectives.algorithms:ALGORITHMS",
        title="Algorithms",
        called=False,
    ),
    Absent("all that are defined for the network"),
    Swept(OPTIMUM, column="algorithm"),
    Typed("--algorithm"),
)
ROOT = Meaning("root of a broadcast or reduce: a terminal's number or name")
SIZES = Meaning("sizes to give times for: 64MiB, or all powers of 2 in a range as 1MiB:16GiB, or several of these")
LINK_BANDWIDTH = (
    Meaning("for times: bandwidth, in each direction, of a link that carries a flit a cycle"),
    Absent(f"the network's, else {BANDWIDTH}"),
)
STEP_LATENCY = (
    Meaning(
        "for times: latency of a message for each hop, including software; if the network's links have latencies,"
        " the latency that software adds to each step"
    ),
    Absent(f"{LATENCY}; if links have latencies, nothing is added to those on the slowest message's path"),
)
SWITCHES = Meaning(f"let switches add up, too: all_reduce becomes {IN_NETWORK}")
FLITS = Whole(
    1, "also simulate each algorithm flit by flit, with this number of flits for each part of the data", 10**6
)


@dataclass(frozen=True, repr=False)
class Collective(Records):
    """The answer on a collective operation: the optimum (or bound and best known time), then algorithms by their time.

    Rows are of the table `collectives`; simulated algorithms also have the columns simulated_…. If sizes are given,
    rows also have bandwidth, latency and times (seconds, bandwidths and pieces for each size). Times of the first row
    follow from the bound without latency; no algorithm takes less. Times of a pipeline assume that all steps are always
    busy; with few pieces a pipeline takes less.

    proved     (network, root, bounds with their proof)
    without    reason why no algorithm has a row; "" if some algorithm has one
    left_out   algorithm that is not defined for the network, or could not be simulated → reason
    attained_by  known algorithms that attain the optimum, requested or not
    order      order of the terminals in a ring, in words; "" if each node has one terminal
    """

    proved: tuple[Topology, int, Optimum] = field(kw_only=True)
    without: str = field(default="", kw_only=True)
    order: str = field(default="", kw_only=True)
    attained_by: Sequence[str] = field(default=(), kw_only=True)
    remarks: Sequence[str] = field(default=(), kw_only=True)
    heeded: Sequence[str] = field(default=(), kw_only=True)
    left_out: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    columns = COLLECTIVES
    main = ("algorithm", "cycles", "bound_share", "bus_bandwidth", "steps", "latency_hops")

    def heading(self) -> str:
        known = f"at least {value_text(self.bound)}" if self.optimum is None else f"optimum {value_text(self.optimum)}"
        return f"{self.rows[0]['topology']}, {self.rows[0]['operation']}, {known} cycles/flit"

    @property
    def reason(self) -> str:
        """The reason why no algorithm has a row; "" if some algorithm has one."""
        return self.without

    @property
    def optimum(self) -> float | None:
        """Least time of any algorithm, in cycles per flit of the operation's size; None if it is not known."""
        return self.rows[0]["optimum"]

    @property
    def bound(self) -> float:
        """Lower bound of any algorithm's time, in cycles per flit of the operation's size."""
        return float(self.rows[0]["bound"])

    @property
    def best_known(self) -> float | None:
        """Least known time, in cycles per flit of the operation's size; None if no time is known."""
        return self.rows[0]["best_known"]

    @property
    def certificate(self) -> str:
        """Certificate of the bound: its proof in whole numbers, and trees or flows that attain it."""
        network, root, bounds = self.proved
        return collective_certificate(network, self.rows[0]["operation"], root, bounds)

    def print(self, console: Console, computed_by: str) -> None:
        print_collective(console, self.rows, self.left_out, self.order, self.attained_by)

    def text(self) -> str:
        return "\n".join([super().text(), *([f"  no algorithm: {self.without}"] if self.without else [])])

    def html(self) -> str:
        return super().html() + (f"<div>no algorithm: {escape(self.without)}</div>" if self.without else "")


def collective(
    network: Topology,
    how: How,
    operation: Annotated[str, OPERATION, Typed(positional=True)],
    algorithms: Annotated[tuple[str, ...], *ALGORITHM] | None = None,
    *,
    root: Annotated[str | int, ROOT, NOT_SWEPT] = 0,
    bytes: Annotated[tuple[str | int, ...], SIZES, NOT_SWEPT] | None = None,
    bandwidth: Annotated[str, *LINK_BANDWIDTH, NOT_SWEPT] | None = None,
    latency: Annotated[str, *STEP_LATENCY, NOT_SWEPT] | None = None,
    simulate: Annotated[int, FLITS, NOT_SWEPT] | None = None,
    in_network: Annotated[bool, SWITCHES, NOT_SWEPT] = False,
) -> Collective:
    """Compute the time of a collective operation by each algorithm, and a proved bound that no algorithm can beat.

    Times are in cycles for each flit of the operation's size, as nccl-tests count it: the gathered vector for
    all_gather, each terminal's vector for other operations. A channel carries a flit a cycle in each direction; a node
    uses all its channels at once. The bound is proved by a cut, a partition or a linear program. If an algorithm
    attains the bound, the bound is the optimum; otherwise the best known time is given, too.

    Messages take shortest paths. If every node has a terminal, all shortest paths share a message equally. Otherwise
    each node splits it in proportion to the bandwidths of the links that lead nearer.

    >>> import torusweep as ts
    >>> ts.network("torus(k=4, n=2)").collective("all_reduce").optimum
    0.46875
    """
    name = _in_network(operation_of(operation)) if in_network else operation_of(operation)
    terminal: int = number_of(terminal_names(network), 0 if root == "0" else root, "root")
    asked = [one.strip().lower() for one in algorithms or [EVERY]]
    chosen = [one for one in algorithms_for(name, asked) if one != OPTIMUM]
    timing = timing_of(bytes or (), bandwidth, latency, network.plan)
    if simulate is not None and not chosen:
        with under("simulate"):
            raise BadInput("expected an algorithm, got the optimum alone; name one, as ring")
    with how.progress.wait("cuts, trees and programs: some minutes on networks of hundreds of different nodes"):
        bounds = optimum(network, name, root=terminal, use_symmetry=how.use_symmetry)
    with how.progress.found("algorithms", 1 + len(chosen)) as found:
        compare = partial(compared, network, name, chosen, bounds, root=terminal, flits=simulate, timing=timing)
        rows, left_out = compare(every=EVERY not in asked, use_symmetry=how.use_symmetry, found=found)
    without = together(network, left_out) if left_out and len(rows) == 1 else ""
    found_ring = next((row["ring_order"] for row in rows if row["ring_order"] is not None), None)
    order = order_in_words(network, found_ring) if found_ring is not None and has_switches(network) else ""
    remarks = [SHARED] if len(np.unique(network.terminals)) < len(network.terminals) else []
    return Collective(
        rows,
        proved=(network, terminal, bounds),
        without=without,
        left_out=left_out,
        order=order,
        remarks=remarks,
        heeded=[] if timing is None else _heeded(network, timing),
        attained_by=attaining(network, bounds, rows, left_out),
    )


def _in_network(operation: str) -> str:
    """Return the operation in which switches add up data. Raises BadInput unless the operation is an all-reduce."""
    if operation not in ALL_REDUCES:
        with under("in_network"):
            raise BadInput(f"expected with all_reduce only, got {operation}; switches have nothing to add up in others")
    return IN_NETWORK


def _heeded(network: Topology, timing: Timing) -> list[str]:
    """Return the attributes of the network from which the times follow."""
    unit = ["unit"] if timing.speed.bandwidth == float((network.plan.rate or 0) / 8) else []
    return unit if timing.speed.tick is None else [*unit, "latency", "clock"]


class CollectivesQuestion(Question):
    name = "collectives"
    columns = COLLECTIVES
    ask = staticmethod(collective)
    command = "collective"
    heeds: ClassVar = {
        **heeds("bandwidth, direction, terminals, forwarding"),
        **heeds(
            "unit",
            "with `bytes`, without `bandwidth`",
            lambda values: bool(values["bytes"]) and values["bandwidth"] is None,
        ),
        **heeds(
            "latency",
            "with `simulate`, and with `bytes` if latencies are times",
            lambda values: values["simulate"] is not None,
        ),
        **heeds("clock", "with `bytes`", lambda values: False),  # the answer knows
    }
    phrase = "{operation}, {algorithm}".format
    how = ("symmetry",)
    written: ClassVar = {"certificate": CERTIFICATE}
    examples = (
        'collective "torus(radices=[4, 4, 8])" all_reduce',
        'collective "pdtt(a=4)" all-to-all --json',
        'collective "torus(k=8, n=2)" all_gather --bytes 1MiB:1GiB --bandwidth 50GB/s --latency 1us',
        'collective "faulty(torus(k=8, n=2), links=1, seed=1)" all_reduce --algorithm trees,ring',
        'collective "torus(k=4, n=2)" all_gather --algorithm bucket --simulate 256',
        'collective "fat_tree(k=4, n=3)" all_reduce --in-network',
    )
    description = "collective operations whose bounds and times are computed; without this section, none are"

    def certificates(self, network: Topology | None, row: Mapping[str, Any]) -> str:
        assert network is not None, "rows are of networks"
        return collective_certificate(network, row["operation"], 0, optimum(network, row["operation"]))

    def _entry(self) -> type[NetworkChoice]:
        """Return the class of an entry. Its key for the parameter `algorithms` is `algorithm`, the table's column."""
        fields: dict[str, Any] = {one.column: field_of(one, self.command) for one in self.swept}
        return create_model(self.name.title(), __base__=NetworkChoice, __doc__=self.description, **fields)

    def requests(self, entry: Any) -> Iterator[Any]:
        with under("operation"):
            operations = list(dict.fromkeys(map(operation_of, entry.operation)))
        with under("algorithm"):
            chosen = [algorithms_for(operation, entry.algorithm) for operation in operations]
        for operation, algorithms in zip(operations, chosen):
            yield from (self.Request(operation, algorithm) for algorithm in algorithms)

    def check(self, network: LazyNetwork, request: Any) -> None:
        terminals = lambda: len(network.topology.terminals)  # noqa: E731
        check_suits(request.algorithm, request.operation, network.plan, network.spelling, terminals)

    def seconds(self, network: LazyNetwork, request: Any) -> float:
        nodes, arcs = network.plan.nodes, network.plan.nodes * max(network.plan.degree, 1)
        seconds = 3e-3 + 1e-7 * arcs
        if request.operation == "all_to_all":
            seconds += 5e-5 * arcs
        else:  # maximum flows, and trees of networks with switches
            seconds += (4e-9 if request.operation in ALL_REDUCES else 1e-9) * arcs * nodes
        searched = request.algorithm == "rings" and network.plan.directed
        return seconds + (0.0 if request.algorithm == OPTIMUM else (2e-4 if searched else 2e-6) * arcs * nodes**0.5)

    def memory(self, network: LazyNetwork, request: Any) -> int:
        transfers = 0 if request.algorithm == OPTIMUM else network.plan.nodes**2 * max(network.plan.degree, 1)
        return network.plan.bytes + 80 * transfers

    def rows(self, network: LazyNetwork, request: Any, options: How) -> list[dict[str, Any]]:
        """Return the row of one algorithm. If it has no time, the row gives the reason as its method."""
        return [
            collective_record(network.topology, request.operation, request.algorithm, use_symmetry=options.use_symmetry)
        ]


QUESTION = CollectivesQuestion()
