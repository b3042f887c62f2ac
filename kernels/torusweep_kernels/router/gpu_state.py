"""Lay out the state of experiments on a GPU: its arrays, their contents at the start, and snapshots.

The structs of records.cuh are read from the source as NumPy dtypes, for arguments of launches and fields of records.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from torusweep_kernels.cuda import cuda_source
from torusweep_kernels.router.choices import Travel
from torusweep_kernels.router.outcome import Snapshot
from torusweep_kernels.router.state import Shapes
from torusweep_kernels.router.task import Experiment, Messages, Router, Task, Wiring, longest_back, most_into

SOURCE = Path(__file__).with_name("router.cu")
DECLARATION = re.compile(r"(?P<constant>Constant<)?(?P<type>[\w ]+?)(?:>|(?P<pointer>\*))? (?P<names>\w+(?:, \w+)*)")
TYPES: dict[str, Any] = {
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "short": np.int16,
    "vcs_t": np.uint16,
    "int": np.int32,
    "long long": np.int64,
    "bits_t": np.uint64,
}
NEVER = 2**31 - 1
ALIGNED = 128  # bytes: every array of a state begins at a multiple, a line of the cache
GAP = 0  # bytes behind every array of a state; a test that looks for accesses outside of the arrays sets it


@cache
def declared(struct: str) -> tuple[int, dict[str, tuple[str, bool]]]:
    """Return (alignment that a struct requests, 1 = none; for each field, its type and whether it is a pointer)."""
    found = re.search(rf"^struct (?:__align__\((\d+)\) )?{struct} {{([^}}]*)}};$", cuda_source(SOURCE), re.MULTILINE)
    assert found, struct
    members: dict[str, tuple[str, bool]] = {}
    for declaration in filter(None, (" ".join(text.split()) for text in found[2].split(";"))):
        read = DECLARATION.fullmatch(declaration)
        assert read, f"{struct}: {declaration}"
        points = bool(read["constant"] or read["pointer"])
        members |= dict.fromkeys(read["names"].split(", "), (read["type"], points))
    return int(found[1] or 1), members


@cache
def structure(struct: str) -> np.dtype[Any]:
    """Return the dtype of a struct, with the layout that CUDA gives it. A pointer is an unsigned integer."""
    alignment, members = declared(struct)
    natural = np.dtype(
        [(name, np.uintp if points else TYPES[kind]) for name, (kind, points) in members.items()], align=True
    )
    offsets = [natural.fields[name][1] for name in members] if natural.fields else []
    size = -(-natural.itemsize // alignment) * alignment
    return np.dtype(
        {"names": list(members), "formats": [natural[name] for name in members], "offsets": offsets, "itemsize": size}
    )


def words(record: str) -> int:
    """Return the size of a record of integers, in words of 4 bytes."""
    return structure(record).itemsize // 4


@cache
def fields(record: str) -> dict[str, int]:
    """Return the index of every field of a record whose fields all have the same type."""
    found = structure(record).fields
    assert found
    return {name: where[1] // where[0].itemsize for name, where in found.items()}


def filled(struct: str, values: Mapping[str, Any]) -> np.ndarray:
    """Return an array of one struct: a kernel's argument, passed by value.

    values   for each field, a number, or an array on the device that outlives the launches. Raises ValueError for a
             missing or unknown field, TypeError for an array of another type, OverflowError for too large a number
    """
    _, members = declared(struct)
    if values.keys() != members.keys():
        raise ValueError(f"{struct}: expected {', '.join(members)}, got {', '.join(values)}")
    made = np.zeros(1, structure(struct))
    for name, (kind, points) in members.items():
        value = values[name]
        if points:
            if value.dtype != TYPES.get(kind, value.dtype):
                raise TypeError(f"{struct}.{name}: expected an array of {kind}, got {value.dtype}")
            made[name] = value.data.ptr
        else:
            made[name] = int(value)
    return made


Arrays = dict[str, np.ndarray]


class Part(NamedTuple):
    """An array within an experiment's state: its first byte, shape and dtype."""

    begin: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def end(self) -> int:
        return self.begin + prod(self.shape) * self.dtype.itemsize


def parts(wiring: Wiring, router: Router, shortest: int, *, detours: int = 0) -> tuple[dict[str, Part], int]:
    """Return the arrays of an experiment's state, as router.cu describes them, and the bytes of a state.

    shortest   length of the experiment's shortest packet, in flits
    """
    nodes, ports = wiring.to.shape
    vcs, transit = router.virtual_channels, most_into(wiring.to)
    inputs = transit + router.injection_flits
    behind = router.buffer_flits // max(1, shortest) + 1  # packets in a buffer: part of one, and whole ones
    arrival = router.switch_delay + int(wiring.delay.max(initial=0))
    credit = router.credit_delay + longest_back(wiring)
    arrays: Shapes = {
        "experiment": ((words("Experiment"),), np.int32),
        "vcs": ((inputs, nodes, vcs, words("Vc")), np.int32),
        "outs": ((ports, nodes, vcs, words("Out")), np.int32),
        "channels": ((ports, nodes, words("Channel")), np.int32),
        "nodes": ((nodes, words("Node")), np.int32),
        "input_ports": ((inputs, nodes, len(fields("Port"))), np.uint16),
        "queue": ((transit, nodes, vcs, 1 << behind.bit_length()), np.int32),
        "arrivals": ((1 << arrival.bit_length(), transit, nodes), np.uint16),
        "credits": ((1 << credit.bit_length(), ports, nodes), np.uint16),
        "busy": ((3, nodes), np.uint64),
        "flits": ((ports, nodes), np.int64),
        "sums": ((vcs + 2, nodes), np.int64),
        "seen": ((2, ports, nodes, vcs if detours else 0), np.int32),
    }
    found, end = {}, 0
    for name, (shape, dtype) in arrays.items():
        found[name] = part = Part(end, shape, np.dtype(dtype))
        end = -(-(part.end + GAP) // ALIGNED) * ALIGNED
    return found, end


def layout(
    wiring: Wiring,
    router: Router,
    packets: int,
    runs: int,
    shortest: int,
    messages: int,
    waits: int,
    *,
    detours: int = 0,
) -> tuple[Shapes, Shapes]:
    """Return shape and dtype of an experiment's state, in words of 8 bytes, and of packets' and messages' arrays."""
    of_experiment: Shapes = {"state": ((parts(wiring, router, shortest, detours=detours)[1] // 8,), np.int64)}
    of_packets: Shapes = {
        "packets": ((packets, words("Packet")), np.int32),
        "left": ((packets, runs), np.int16),
        "crossed": ((packets,), np.uint64),
        "line": ((packets,), np.int32),
        "messages": ((messages, words("Message")), np.int32),
        "after": ((messages + 1,), np.int64),
        "successor": ((waits,), np.int32),
        "detour": ((packets, detours), np.int32),
        "passed": ((packets if detours else 0,), np.int8),
    }
    return of_experiment, of_packets


def waiting(experiment: Experiment) -> tuple[int, int]:
    """Return the number of messages, and the number of pairs of a message and a message that waits for it."""
    return (
        (0, 0) if experiment.messages is None else (len(experiment.messages.begin), len(experiment.messages.successor))
    )


def state_at_start(task: Task, arrays: dict[str, Part], size: int) -> np.ndarray:
    """Return an experiment's state of `size` bytes before the first cycle, without its `experiment` and `nodes`."""
    state = np.zeros(size, np.uint8)

    def of(name: str) -> np.ndarray:
        part = arrays[name]
        return state[part.begin : part.end].view(part.dtype).reshape(part.shape)

    vc, out = fields("Vc"), fields("Out")
    for name in ("front", "out"):
        of("vcs")[..., vc[name]] = -1
    of("outs")[..., out["holder"]] = -1
    of("outs")[..., out["credits"]] = task.buffer
    return state


def at_start(task: Task, experiments: list[Experiment], shapes: Shapes) -> Arrays:
    """Return `experiment` and `nodes` of every experiment's state, and the message arrays in `shapes`, common to all.

    Messages and packets are numbered from the first experiment's on. `message`: the message of each packet.
    """
    begin, node = experiments[0].begin, fields("Node")
    first = np.stack([experiment.first + experiment.begin - begin for experiment in experiments])
    nodes = np.full((len(experiments), task.nodes, words("Node")), -1, np.int32)
    heads, head = np.zeros((len(experiments), words("Experiment")), np.int32), fields("Experiment")
    heads[:, head["undelivered"]] = [experiment.end - experiment.begin for experiment in experiments]
    heads[:, head["longest"]] = [experiment.longest for experiment in experiments]
    for name in ("taken", "behind", "coming"):
        nodes[..., node[name]] = first[:, :-1]
    nodes[..., node["end"]] = first[:, 1:]
    nodes[..., node["ejected"]] = nodes[..., node["changed"]] = 0
    messages = np.full(shapes["messages"][0], -1, np.int32)
    after, successor = (np.zeros(*shapes[name]) for name in ("after", "successor"))
    message_of = np.full(experiments[-1].end - begin if task.batch.messages else 0, -1, np.int32)
    done = pairs = 0
    for e, experiment in enumerate(experiments):
        if experiment.messages is None:
            continue
        number, some = waiting(experiment)
        there = slice(done, done + number)
        _await(
            experiment.messages,
            first[e],
            experiment.begin - begin,
            done,
            messages[there],
            message_of,
            nodes[e],
        )
        after[done : done + number + 1] = experiment.messages.after + pairs
        successor[pairs : pairs + some] = experiment.messages.successor + done
        done, pairs = done + number, pairs + some
    return {
        "experiment": heads,
        "nodes": nodes,
        "messages": messages,
        "after": after,
        "successor": successor,
        "message": message_of,
    }


def _await(
    messages: Messages,
    first: np.ndarray,
    packet: int,
    number: int,
    record: np.ndarray,
    message_of: np.ndarray,
    nodes: np.ndarray,
) -> None:
    """Fill in an experiment's messages. Only messages without packets that wait for no packet are generated already.

    Messages that wait only for time are put into a linked list for each node.

    first    first packet of each node; packet, number: the experiment's first packet and message
    record   int32[G, ·]: message records; message_of int32[M]: message of each packet; nodes int32[N, ·]: node records
    """
    field, node = fields("Message"), fields("Node")
    missing, ready = np.bincount(messages.successor, minlength=len(record)), messages.delay.astype(np.int64)
    for step in np.flatnonzero(messages.packets == 0).tolist():  # in order: a message waits for earlier ones only
        if missing[step] == 0:
            record[step, field["generated"]] = ready[step]
            own = messages.successor[messages.after[step] : messages.after[step + 1]]
            np.subtract.at(missing, own, 1)
            np.maximum.at(ready, own, np.minimum(ready[step] + messages.delay[own], NEVER))
    some = np.flatnonzero(messages.packets > 0)
    begins = messages.begin[some] + packet
    record[some, field["node"]] = np.searchsorted(first, begins, side="right") - 1
    columns = {
        "begin": messages.begin + packet,
        "packets": messages.packets,
        "delay": messages.delay,
        "missing": missing,
    }
    for name, column in (columns | {"undelivered": messages.packets, "ready": ready}).items():
        record[:, field[name]] = column
    order = np.argsort(begins, kind="stable")
    message_of[packet : packet + int(messages.packets.sum())] = np.repeat(
        some[order] + number, messages.packets[some][order]
    )
    roots = some[missing[some] == 0]
    owner = record[roots, field["node"]]
    order = np.lexsort((roots, ready[roots], owner))
    roots, owner = roots[order], owner[order]
    begins_list = np.append(True, owner[1:] != owner[:-1])[: len(roots)]
    record[roots[:-1], field["link"]] = np.where(begins_list[1:], -1, roots[1:] + number)
    nodes[owner[begins_list], node["awaited"]] = roots[begins_list] + number


def snapshot(task: Task, packet: int, vcs: np.ndarray, outs: np.ndarray, ports: np.ndarray) -> Snapshot:
    """Return an experiment's snapshot, given its first packet and its arrays vcs, outs and input_ports."""
    vc, out, port = (fields(record) for record in ("Vc", "Out", "Port"))
    here, there, ports = (array.swapaxes(0, 1) for array in (vcs, outs, ports))  # the node becomes the first axis
    here, there = here.reshape(-1, words("Vc")), there.reshape(-1, words("Out"))
    held = ports[..., port["there"]] & ~(ports[..., port["routing"]] | ports[..., port["requesting"]])
    active = (held[..., None] >> np.arange(task.vcs, dtype=np.uint16) & 1).astype(bool).ravel()
    front = np.where(here[:, vc["front"]] < 0, -1, here[:, vc["front"]] - packet)
    output, holder = _index(task, here[:, vc["out"]], task.ports), _index(task, there[:, out["holder"]], task.inputs)
    return Snapshot(front, active, output, here[:, vc["count"]], here[:, vc["moved"]], there[:, out["credits"]], holder)


def _index(task: Task, code: np.ndarray, ports: int) -> np.ndarray:
    """Return the indices (as in `Task`) of VCs that nodes code by their `ports` ports; `code` has a row per node."""
    node = np.repeat(np.arange(task.nodes), len(code) // task.nodes)
    return np.where(code < 0, -1, (node * ports + (code >> 4)) * task.vcs + (code & 15))


def travel(packets: np.ndarray, left: np.ndarray, crossed: np.ndarray) -> Travel:
    """Return the `Travel` of an experiment's packets."""
    field = fields("Packet")
    stage, going = (packets[:, field[name]].astype(np.int8) for name in ("stage", "going"))
    return Travel(left, crossed.view(np.int64), stage, going, packets[:, field["row"]])
