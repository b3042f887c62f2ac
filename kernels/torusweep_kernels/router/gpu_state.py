"""The state of experiments on a GPU: records as records.cuh declares them, their contents at the start, snapshots."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np

from torusweep_kernels.cuda import cuda_source
from torusweep_kernels.router.choices import Travel
from torusweep_kernels.router.outcome import Snapshot
from torusweep_kernels.router.state import Shapes
from torusweep_kernels.router.task import Experiment, Messages, Router, Task, Wiring, longest_back, most_into

SOURCE = Path(__file__).with_name("router.cu")
NEVER = 2**31 - 1
Arrays = dict[str, np.ndarray]


@cache
def fields(record: str) -> dict[str, int]:
    """The index of every field of a struct of records.cuh."""
    found = re.search(rf"^struct {record} {{ \w+ ([\w, ]+); }};$", cuda_source(SOURCE), re.MULTILINE)
    assert found, record
    return {name: number for number, name in enumerate(found[1].split(", "))}


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
    """Shape and dtype of an experiment's arrays, and of packets' and messages' arrays, in the order of `advance`."""
    nodes, ports = wiring.to.shape
    vcs, transit = router.virtual_channels, most_into(wiring.to)
    inputs = transit + router.injection_flits
    behind = router.buffer_flits // max(1, shortest) + 1  # packets in a buffer: part of one, and whole ones
    arrival = router.switch_delay + int(wiring.delay.max(initial=0))
    credit = router.credit_delay + longest_back(wiring)
    of_experiment: Shapes = {
        "vcs": ((inputs, nodes, vcs, len(fields("Vc"))), np.int32),
        "outs": ((ports, nodes, vcs, len(fields("Out"))), np.int32),
        "channels": ((ports, nodes, len(fields("Channel"))), np.int32),
        "nodes": ((nodes, len(fields("Node"))), np.int32),
        "input_ports": ((inputs, nodes, len(fields("Port"))), np.uint16),
        "queue": ((transit, nodes, vcs, 1 << behind.bit_length()), np.int32),
        "arrivals": ((1 << arrival.bit_length(), transit, nodes), np.uint16),
        "credits": ((1 << credit.bit_length(), ports, nodes), np.uint16),
        "busy": ((3, nodes), np.uint64),
        "flits": ((ports, nodes), np.int64),
        "sums": ((vcs + 2, nodes), np.int64),
        "claimed": ((ports, nodes, vcs if detours else 0), np.int32),
        "seen": ((2, ports, nodes, vcs if detours else 0), np.int32),
    }
    of_packets: Shapes = {
        "packets": ((packets, len(fields("Packet"))), np.int32),
        "left": ((packets, runs), np.int16),
        "crossed": ((packets,), np.uint64),
        "line": ((packets,), np.int32),
        "messages": ((messages, len(fields("Message"))), np.int32),
        "after": ((messages + 1,), np.int64),
        "successor": ((waits,), np.int32),
        "detour": ((packets, detours), np.int32),
        "passed": ((packets if detours else 0,), np.int8),
    }
    return of_experiment, of_packets


def waiting(experiment: Experiment) -> tuple[int, int]:
    """(messages, pairs of a message and one that waits for it)."""
    return (
        (0, 0) if experiment.messages is None else (len(experiment.messages.begin), len(experiment.messages.successor))
    )


def at_start(task: Task, experiments: list[Experiment], shapes: Shapes) -> Arrays:
    """The arrays in `shapes` before the first cycle, all but `crossed` and `passed`.

    Arrays of nodes and channels are per experiment. Those of packets and messages are common to all experiments, and
    numbered from the first experiment's on."""
    begin = experiments[0].begin
    own = slice(begin, experiments[-1].end)
    packet, node = fields("Packet"), fields("Node")
    packets = np.full(shapes["packets"][0], -1, np.int32)
    for name in ("row", "time", "length"):
        packets[:, packet[name]] = getattr(task.batch, name)[own]
    first = np.stack([experiment.first + experiment.begin - begin for experiment in experiments])
    nodes = np.full((len(experiments), *shapes["nodes"][0]), -1, np.int32)
    for name in ("taken", "behind", "coming"):
        nodes[..., node[name]] = first[:, :-1]
    nodes[..., node["end"]] = first[:, 1:]
    nodes[..., node["ejected"]] = nodes[..., node["changed"]] = 0
    messages = np.full(shapes["messages"][0], -1, np.int32)
    after, successor = (np.zeros(*shapes[name]) for name in ("after", "successor"))
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
            packets[:, packet["message"]],
            nodes[e],
        )
        after[done : done + number + 1] = experiment.messages.after + pairs
        successor[pairs : pairs + some] = experiment.messages.successor + done
        done, pairs = done + number, pairs + some
    left, line = task.hops[task.batch.row[own]], np.zeros(*shapes["line"])
    return {
        "nodes": nodes,
        "packets": packets,
        "left": left,
        "line": line,
        "messages": messages,
        "after": after,
        "successor": successor,
        "detour": task.detour[own],
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
    """Fill in an experiment's messages. None is generated, except messages without packets that wait for no packet.

    Messages that wait only for time are in a linked list for each node.

    first    of its nodes' packets; packet, number: its own first packet and message
    record   int32[G, ·]: its messages'; message_of int32[M]: the message of every packet; nodes int32[N, ·]: its nodes'
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
    """The snapshot of an experiment, from its first packet and its arrays vcs, outs and input_ports."""
    vc, out, port = (fields(record) for record in ("Vc", "Out", "Port"))
    here, there, ports = (array.swapaxes(0, 1) for array in (vcs, outs, ports))  # the node becomes the first axis
    here, there = here.reshape(-1, len(vc)), there.reshape(-1, len(out))
    held = ports[..., port["there"]] & ~(ports[..., port["routing"]] | ports[..., port["requesting"]])
    active = (held[..., None] >> np.arange(task.vcs, dtype=np.uint16) & 1).astype(bool).ravel()
    front = np.where(here[:, vc["front"]] < 0, -1, here[:, vc["front"]] - packet)
    output, holder = _index(task, here[:, vc["out"]], task.ports), _index(task, there[:, out["holder"]], task.inputs)
    return Snapshot(front, active, output, here[:, vc["count"]], here[:, vc["moved"]], there[:, out["credits"]], holder)


def _index(task: Task, code: np.ndarray, ports: int) -> np.ndarray:
    """Indices of `Task` for VCs that a node codes by one of its `ports` ports; a row of `code` for each node."""
    node = np.repeat(np.arange(task.nodes), len(code) // task.nodes)
    return np.where(code < 0, -1, (node * ports + (code >> 4)) * task.vcs + (code & 15))


def travel(packets: np.ndarray, left: np.ndarray, crossed: np.ndarray) -> Travel:
    """`Travel` of an experiment's packets."""
    field = fields("Packet")
    stage, going = (packets[:, field[name]].astype(np.int8) for name in ("stage", "going"))
    return Travel(left, crossed.view(np.int64), stage, going, packets[:, field["row"]])
