"""Read Chakra execution traces as workloads: a file for each rank, as ASTRA-sim reads them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from torusweep.errors import BadInput, located, one_line, printable
from torusweep.networks.physical import Clock
from torusweep.networks.topology import Meaning
from torusweep.quantities import counted
from torusweep.workloads.files import SHOWN
from torusweep.workloads.messages import Target, Workload
from torusweep.workloads.traces.chakra_messages import Damaged, attributes_of, nodes_of
from torusweep.workloads.traces.operations import (
    BARRIER,
    CALCULATION,
    COLLECTIVE,
    MICROSECOND,
    MOST_BYTES,
    OPERATION_BYTES,
    RECEIVE,
    SEND,
    CyclesPerMicrosecond,
    EagerBytes,
    FlitBytes,
    Trace,
    TraceCollective,
    TraceFile,
    TraceOperation,
    check_memory,
    check_ranks,
    clock_of_trace,
    cycles_of,
    trace_content,
)
from torusweep.workloads.traces.replay import Algorithm, replayed

INVALID, METADATA, LOAD, STORE, COMPUTE, SENDING, RECEIVING, COLLECTIVE_NODE = range(8)  # NodeType of et_def.proto
# CollectiveCommType of et_def.proto
COLLECTIVES = (
    *("all_reduce", "reduce", "all_gather", "gather", "scatter", "broadcast", "all_to_all"),
    *("reduce_scatter", "reduce_scatter", BARRIER),
)
NOT_REPLAYED = ("gather", "scatter")
ALL_RANKS = ("", "0")  # process groups that have all ranks if no file lists their ranks
# what a note counts: (thing, how it is replayed)
LAUNCH = ("communication node", "on the host without comm_size: replayed with the recorded duration")
NO_NODE = ("node", "of type INVALID: no time")
MEMORY = ("memory node", "of any size: replayed with the recorded duration")
UNTIMED = ("node", "without a duration: no time")
ROOTLESS = ("broadcast or reduce call", "without root_rank: from the first rank of the group")
DIMENSIONS = ("collective", "with involved_dim: not used, the process group counts")
_NUMBERED = re.compile(r"(.+)\.0\.et")


def chakra(
    target: Target,
    path: TraceFile,
    groups: Annotated[str | None, Meaning("JSON file of process groups and their ranks, as for ASTRA-sim")] = None,
    algorithm: Annotated[Algorithm, Meaning("for all_reduce, all_gather, reduce_scatter")] = "one_way_ring",
    cycles_per_us: CyclesPerMicrosecond = None,
    flit_bytes: FlitBytes = None,
    eager_bytes: EagerBytes = None,
) -> Workload:
    """The messages of MLCommons Chakra execution traces, a file per rank; path names rank 0's file, as app.0.et.

    A node begins when the nodes in its data_deps and ctrl_deps are finished. COMP, MEM_LOAD and MEM_STORE nodes take
    duration_micros, of `cycles_per_us` cycles each. COMM_SEND and COMM_RECV nodes (comm_dst, comm_src, comm_size,
    comm_tag) are matched as in `goal`, where `eager_bytes` is also explained. COMM_COLL nodes (comm_type, comm_size,
    pg_name) become the messages of `algorithm` between the ranks of their process group, in the group's order:
    all_to_all, broadcast and reduce send every message at once, a barrier is a dissemination; gather and scatter are
    refused. The n-th collectives of a group in all its files belong together. comm_size is what a rank contributes,
    so an all_gather gives each rank N times as much (ASTRA-sim, Ring.cc). Groups come from metadata nodes with
    "pg_name" and "ranks" and from the file `groups`, {"1": [0, 1]}. An empty name means all ranks, and so does "0" if
    no file lists its ranks. Notes count what is not replayed as recorded: nodes without a duration, involved_dim, and
    roots that no file names.
    Source: mlcommons/chakra, schema/protobuf/et_def.proto and src/feeder; astra-sim/astra-sim, Workload.cc.
    """
    where = printable(Path(path))
    files = rank_files(path)
    check_ranks(len(files), target.terminals, where)
    clock, notes = clock_of_trace(target, cycles_per_us, flit_bytes)
    reader = _Reader(where, len(files), clock)
    if groups is not None:
        reader.read_groups(located(groups))
    ranks = [reader.read(rank, file) for rank, file in enumerate(files)]
    trace = Trace(where, ranks, reader.groups_of(ranks), notes + reader.notes())
    return replayed(trace, clock=clock, eager_bytes=eager_bytes, algorithm=str(algorithm))


def rank_files(path: str) -> list[Path]:
    """List the files of all ranks, given the file of rank 0. Raises BadInput if the name of `path` is not rank 0's."""
    first = located(path)
    found = _NUMBERED.fullmatch(first.name)
    if found is None:
        raise BadInput(
            f"{printable(first)}: expected the trace of rank 0, NAME.0.et, next to the traces of the other ranks;"
            " name that file"
        )
    files = [first]
    while (following := first.with_name(f"{found[1]}.{len(files)}.et")).exists():
        files.append(following)
    return files


class _Reader:
    """Reader of the files of all ranks, which counts what is not replayed as recorded."""

    def __init__(self, where: str, ranks: int, clock: Clock) -> None:
        self.where, self.ranks, self.clock = where, ranks, clock
        self.many = 0  # nodes so far
        self.groups: dict[str, list[int]] = {}
        self.different: Counter[tuple[str, str]] = Counter()  # a thing, and what is done with it

    def read_groups(self, path: Path) -> None:
        """Read process groups from a JSON file."""
        place = printable(path)
        content = trace_content(path, "process groups as JSON")
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            raise BadInput(f'{place}: expected process groups as JSON, {{"1": [0, 1]}}, got other text') from None
        if not isinstance(found, dict):
            raise BadInput(f'{place}: expected process groups as JSON, {{"1": [0, 1]}}, got other JSON; name them')
        for name, ranks in found.items():
            self._add_group(name, ranks, place)

    def read(self, rank: int, path: Path) -> list[TraceOperation]:
        """Read the operations of a rank from its file."""
        where = printable(path)
        content = trace_content(path, "a Chakra trace")
        operations: list[TraceOperation] = []
        number: dict[int, int] = {}
        waits: list[tuple[int, list[int]]] = []
        try:
            for node in nodes_of(content):
                place = f"{where}: node {node.id}"
                if node.id in number:
                    raise BadInput(f"{place}: expected each node once, got it twice; give the nodes ids of their own")
                number[node.id] = len(operations)
                self.many += 1
                if self.many & 0xFFF == 0:
                    check_memory(OPERATION_BYTES * self.many, f"{self.many:,} nodes", self.where)
                waits.append((len(operations), [*node.data_deps, *node.ctrl_deps]))
                operations.append(self._operation(rank, node, place))
        except Damaged as damage:
            raise BadInput(f"{where}: {damage}; write it as chakra's protolib does") from None
        for later, ids in waits:
            for other in ids:
                if other not in number:
                    raise BadInput(
                        f"{operations[later].place}: expected a node {other} that it depends on, got none; give the"
                        " whole trace"
                    )
                operations[later].after.append(number[other])
        return operations

    def _operation(self, rank: int, node: Any, place: str) -> TraceOperation:
        attributes = attributes_of(node)
        name = f"{rank}.{node.id}"
        on_host = bool(attributes.get("is_cpu_op", False))
        if on_host and node.type in (SENDING, RECEIVING, COLLECTIVE_NODE) and "comm_size" not in attributes:
            self.different[LAUNCH] += 1
        elif node.type == COLLECTIVE_NODE:
            return TraceOperation(place, name, COLLECTIVE, collective=self._collective(attributes, node, place))
        elif node.type in (SENDING, RECEIVING):
            own, other = ("comm_src", "comm_dst") if node.type == SENDING else ("comm_dst", "comm_src")
            if self._rank(attributes.get(own, rank), own, place) != rank:
                raise BadInput(
                    f"{place}: expected {own} {rank}, whose file it is in, got {attributes[own]}; correct it"
                )
            return TraceOperation(
                place,
                name,
                SEND if node.type == SENDING else RECEIVE,
                peer=self._rank(attributes.get(other), other, place),
                bytes=self._whole(attributes.get("comm_size"), "comm_size", place),
                tag=self._whole(attributes.get("comm_tag", 0), "comm_tag", place),
            )
        elif node.type == METADATA:
            self._add_groups(node.inputs.values, place)
            return TraceOperation(place, name, CALCULATION)
        elif node.type == INVALID:
            self.different[NO_NODE] += 1
            return TraceOperation(place, name, CALCULATION)
        elif node.type in (LOAD, STORE):
            self.different[MEMORY] += 1
        elif node.type != COMPUTE:
            raise BadInput(f"{place}: expected a type of 0 … {COLLECTIVE_NODE}, got {node.type}; write a known one")
        if not node.duration_micros:
            self.different[UNTIMED] += 1
        cycles = cycles_of(node.duration_micros * MICROSECOND, self.clock, place)
        return TraceOperation(place, name, CALCULATION, cycles=cycles, lane=0 if on_host else 1)

    def _collective(self, attributes: dict[str, Any], node: Any, place: str) -> TraceCollective:
        kind = self._whole(attributes.get("comm_type"), "comm_type", place)
        if kind >= len(COLLECTIVES) or COLLECTIVES[kind] in NOT_REPLAYED:
            known = ", ".join(dict.fromkeys(name for name in COLLECTIVES if name not in NOT_REPLAYED))
            raise BadInput(f"{place}: expected one of {known}, got comm_type {kind}; leave the node out")
        operation = COLLECTIVES[kind]
        size = 0 if operation == BARRIER else self._whole(attributes.get("comm_size"), "comm_size", place)
        root = -1
        if operation in ("broadcast", "reduce"):
            if "root_rank" in attributes:
                root = self._rank(attributes["root_rank"], "root_rank", place)
            else:
                self.different[ROOTLESS] += 1
        if any(one.name in ("involved_dim", "involved_dims") for one in node.attr):
            self.different[DIMENSIONS] += 1
        group = attributes.get("pg_name", "")
        return TraceCollective(operation, str(group), size, root)

    def groups_of(self, ranks: list[list[TraceOperation]]) -> dict[str, list[int]]:
        """Return the ranks of every process group that a collective names, and set the sizes of all_gathers."""
        for rank, operations in enumerate(ranks):
            for one in operations:
                if one.collective is None:
                    continue
                group = one.collective.group
                if group not in self.groups and group in ALL_RANKS:
                    self.groups[group] = list(range(self.ranks))
                shown = one_line(group, SHOWN)
                if group not in self.groups:
                    raise BadInput(
                        f"{one.place}: expected the ranks of process group '{shown}', got none; name them in a file:"
                        ' groups="groups.json"'
                    )
                if rank not in self.groups[group]:
                    raise BadInput(
                        f"{one.place}: expected rank {rank} in its process group '{shown}', got"
                        f" {one_line(self.groups[group], SHOWN)}; correct the group"
                    )
                if one.collective.operation == "all_gather":  # comm_size is a rank's part
                    whole = one.collective.bytes * len(self.groups[group])
                    one.collective = one.collective._replace(bytes=whole)
        return self.groups

    def notes(self) -> list[str]:
        return [f"{counted(many, thing)} {done}" for (thing, done), many in self.different.items()]

    def _add_groups(self, text: str, place: str) -> None:
        """Add the process groups that a metadata node lists as JSON text [{"pg_name": "1", "ranks": [0, 1]}]."""
        if "pg_name" not in text:
            return
        try:
            found = json.loads(text[2:-2])
            pairs = [(one["pg_name"], one["ranks"]) for one in found]
        except (ValueError, RecursionError, KeyError, TypeError):
            raise BadInput(
                f'{place}: expected process groups ["[{{"pg_name": "1", "ranks": [0, 1]}}]"], got other text;'
                " correct the trace"
            ) from None
        for name, ranks in pairs:
            self._add_group(name, ranks or list(range(self.ranks)), place)

    def _add_group(self, name: Any, ranks: Any, place: str) -> None:
        """Add a process group, which the files of its ranks may all list, but with the same ranks."""
        whole = isinstance(ranks, list) and all(type(rank) is int and 0 <= rank < self.ranks for rank in ranks)
        shown = one_line(name, SHOWN)
        if not whole or not ranks or len(set(ranks)) < len(ranks):
            raise BadInput(
                f"{place}: expected different ranks of 0 … {self.ranks - 1} in process group '{shown}', got"
                f" {one_line(ranks, SHOWN)}; correct them"
            )
        if self.groups.setdefault(str(name), ranks) != ranks:
            raise BadInput(
                f"{place}: expected the same ranks of process group '{shown}' everywhere, got"
                f" {one_line(ranks, SHOWN)} and {one_line(self.groups[str(name)], SHOWN)}; correct them"
            )

    def _rank(self, value: Any, name: str, place: str) -> int:
        rank = self._whole(value, name, place)
        if rank >= self.ranks:
            raise BadInput(
                f"{place}: {name}: expected a rank of 0 … {self.ranks - 1}, a file each, got {rank}; give all files"
            )
        return rank

    def _whole(self, value: Any, name: str, place: str) -> int:
        if type(value) is not int or not 0 <= value <= MOST_BYTES:
            got = "none" if value is None else one_line(value, SHOWN)
            raise BadInput(
                f"{place}: {name}: expected a whole number of 0 … {MOST_BYTES}, got {got}; give the attribute"
            )
        return value
