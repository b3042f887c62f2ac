"""The state of an experiment on the CPU: its arrays, their sizes, and their contents at the start."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from torusweep_kernels.router.choices import Travel
from torusweep_kernels.router.outcome import Snapshot
from torusweep_kernels.router.records import (
    BEGUN,
    BITS,
    CHANNEL,
    DUE,
    DUE_END,
    LAST,
    LEFT,
    LEFT_IN_ALL,
    LINE,
    MESSAGE,
    NODE,
    OUT,
    PACKET,
    PORT,
    READY,
    UNBOUNDED,
    VC,
)
from torusweep_kernels.router.task import (
    Experiment,
    Messages,
    Router,
    Task,
    Wiring,
    injecting,
    longest_back,
    most_into,
    sending,
    widths,
)


class Constants(NamedTuple):
    """Constants of an experiment. Names that are not listed here are those of `Task`, `Router` and `Wiring`.

    shares               number of shares of the nodes, whose sizes are equal or differ by one node
    arriving, returning  number of slots of the wheels of flits and of credits
    even                 whether credits of all channels take equally long
    single               whether input ports send, and channels carry, at most one flit per cycle
    longest              length of the experiment's longest packet, in flits
    decisions            K of `Detours`, 0 = none
    sees_all             as in `Task`
    """

    shares: int
    arriving: int
    returning: int
    nodes: int
    ports: int
    inputs: int
    transit: int
    vcs: int
    escape: int
    buffer: int
    switching: int
    memory: int
    balanced: bool
    adaptive: bool
    bubble: bool
    transit_first: bool
    ejection: int
    even: bool
    single: bool
    route_delay: int
    vc_delay: int
    switch_delay: int
    credit_delay: int
    source_queue: int
    measure_from: int
    longest: int
    decisions: int
    sees_all: bool
    threshold: int
    detour: np.ndarray
    back: np.ndarray
    port_of: np.ndarray
    wrap: np.ndarray
    until: np.ndarray
    low: np.ndarray
    direction: np.ndarray
    hops: np.ndarray
    phase: np.ndarray


class Share(NamedTuple):
    """The arrays of `State` that belong to one share of the nodes."""

    routes: np.ndarray
    grants: np.ndarray
    waking: np.ndarray
    refills: np.ndarray
    stored: np.ndarray
    occupancy: np.ndarray
    number: np.ndarray
    scratch: np.ndarray
    wanted: np.ndarray
    chosen: np.ndarray
    bids: np.ndarray
    winners: np.ndarray


class State(NamedTuple):
    """The changing state of an experiment of K shares, X input VCs, M packets and G messages.

    vcs … packets, messages   records as in `records`; `messages` has one record more than there are messages
    left                      int16[M, L]: hops left of each run
    queue                     int32[X, Q]: packets after the front of each VC, in a circular buffer
    arrivals, returns         int32[·]: wheels of flits and of credits on their way, one for each pair of shares that a
                              channel joins
    landing, leaving          int64[K², 2]: for reader · K + writer, the place of a pair's first slot in these wheels,
                              and the length of a slot; 0 if no channel joins the two shares
    routes, grants            int32[K, S, ·]: wheels of routes and grants that take effect
    waking, refills           int32[K, ·]: channels' VCs, and nodes, whose front packet left in the last cycle;
                              first their number
    time_due, packet_due, node_due   int32[M]: packets by share and time of generation
    line                      int32[M]: each node's source queue, at the places of the node's packets
    successor                 as in `Messages`
    ready                     int32[G]: heap of the messages that wait for no other, by cycle and number
    stored, occupancy         int64[K, V …]: flits in the channels' buffers, and their sum over cycles
    number                    int64[K, ·]: counters at the places LEFT … READY of `records`
    scratch … winners         scratch memory of VC and switch allocation
    met                       int64[·]: counters of all threads, at the places MET … of `records`
    claimed                   int32[Y]: flits that fronts are still to send over each output VC that they hold, or the
                              lowest that they may hold. Empty without detours
    seen                      int32[2, Y]: flits that occupy each output VC, at the end of an odd and an even cycle
    """

    vcs: np.ndarray
    outs: np.ndarray
    ports: np.ndarray
    channels: np.ndarray
    nodes: np.ndarray
    packets: np.ndarray
    left: np.ndarray
    queue: np.ndarray
    arrivals: np.ndarray
    returns: np.ndarray
    landing: np.ndarray
    leaving: np.ndarray
    routes: np.ndarray
    grants: np.ndarray
    waking: np.ndarray
    refills: np.ndarray
    time_due: np.ndarray
    packet_due: np.ndarray
    node_due: np.ndarray
    line: np.ndarray
    messages: np.ndarray
    successor: np.ndarray
    ready: np.ndarray
    stored: np.ndarray
    occupancy: np.ndarray
    number: np.ndarray
    scratch: np.ndarray
    wanted: np.ndarray
    chosen: np.ndarray
    bids: np.ndarray
    winners: np.ndarray
    met: np.ndarray
    claimed: np.ndarray
    seen: np.ndarray

    @property
    def travel(self) -> Travel:
        return Travel(self.left, *(self.packets[name] for name in ("crossed", "stage", "going", "row")))

    def under_way(self, slots: int) -> int:
        """Return the number of flits on their way over channels."""
        first, length = self.landing[self.landing[:, 1] > 0].T
        return int(self.arrivals[first + length * np.arange(slots)[:, None]].sum())

    def snapshot(self, vcs: int) -> Snapshot:
        """Return the snapshot for deadlock detection."""
        out, holder = (
            np.where(code < 0, -1, (code >> BITS) * vcs + (code & LAST))
            for code in (self.vcs["out"], self.outs["holder"])
        )
        here = self.vcs
        return Snapshot(
            here["front"], here["mode"] > 0, out, here["count"], here["moved"], self.outs["credits"], holder
        )


def constants_of(task: Task, experiment: Experiment, shares: int = 1) -> Constants:
    router = task.router
    return Constants(
        *(shares, *_slots_of(task.wiring, router), task.nodes, task.ports, task.inputs, task.transit),
        *(task.vcs, task.escape, task.buffer, task.switching, task.memory),
        *(task.wiring.balanced, router.adaptive, router.bubble, router.transit_first, router.ejection_flits),
        not task.back.any(),
        bool(task.sending.max() == 1 and task.width.max(initial=1) == 1),
        *(router.route_delay, router.vc_delay, router.switch_delay, router.credit_delay),
        *(UNBOUNDED if router.source_queue is None else router.source_queue, task.measure_from, experiment.longest),
        *(experiment.detour.shape[1], task.sees_all, task.threshold),
        *(experiment.detour, task.back),
        *(task.wiring.port_of, task.wiring.wrap, task.until, task.low, task.direction, task.hops, task.phase),
    )


Shapes = dict[str, tuple[tuple[int, ...], Any]]  # and types, of arrays


def layout(
    wiring: Wiring,
    router: Router,
    packets: int,
    runs: int,
    shortest: int,
    messages: int,
    waits: int,
    shares: int = 1,
    *,
    detours: int = 0,
) -> Shapes:
    """Return shape and dtype of every array of `State`.

    packets, runs    number of packets of the experiment, and of runs of a route
    shortest         length of the experiment's shortest packet in flits
    messages, waits  number of messages, and of pairs of a message and another that waits for it
    detours          K of `Detours`

    The numbers of slots of a wheel, and of places in a queue of packets, are powers of 2.
    """
    nodes, out_ports = wiring.to.shape
    vcs, width, injected = router.virtual_channels, widths(wiring), router.injection_flits
    channels, inputs = wiring.to.size, most_into(wiring.to) + injected
    arriving, returning = _slots_of(wiring, router)
    # the most packets that leave buffers and injection VCs of a share in a cycle
    freed = np.bincount(
        share_of(nodes, shares)[wiring.to[wiring.to >= 0]], sending(width[wiring.to.ravel() >= 0], router), shares
    )
    largest = -(-nodes // shares)  # nodes of a share
    entering, x = largest * injected * injecting(router), largest * inputs * vcs
    behind = router.buffer_flits // max(1, shortest) + 1  # packets in a buffer: part of one, and whole ones
    landing, leaving = pairs_of(wiring, router, shares)
    return {
        "vcs": ((nodes * inputs * vcs,), VC),
        "outs": ((channels * vcs,), OUT),
        "ports": ((nodes * inputs,), PORT),
        "channels": ((channels,), CHANNEL),
        "nodes": ((nodes,), NODE),
        "packets": ((packets,), PACKET),
        "left": ((packets, runs), np.int16),
        "queue": ((nodes * inputs * vcs, slots(behind)), np.int32),
        "arrivals": ((arriving * int(landing[:, 1].sum()),), np.int32),
        "returns": ((returning * int(leaving[:, 1].sum()),), np.int32),
        "landing": (landing.shape, np.int64),
        "leaving": (leaving.shape, np.int64),
        "routes": ((shares, slots(router.route_delay), x + 1), np.int32),
        "grants": ((shares, slots(router.vc_delay), x + 1), np.int32),
        "waking": ((shares, int(freed.max()) + 1), np.int32),
        "refills": ((shares, entering + 1), np.int32),
        "time_due": ((packets,), np.int32),
        "packet_due": ((packets,), np.int32),
        "node_due": ((packets,), np.int32),
        "line": ((packets,), np.int32),
        "messages": ((messages + 1,), MESSAGE),
        "successor": ((waits,), np.int32),
        "ready": ((messages,), np.int32),
        "stored": ((shares, LINE), np.int64),
        "occupancy": ((shares, LINE), np.int64),
        "number": ((shares, LINE), np.int64),
        "scratch": (
            (shares, 4 + LINE, out_ports),
            np.int64,
        ),  # unused last rows separate the shares' cache lines
        "wanted": ((shares, 64 * vcs), np.int64),
        "chosen": ((shares, 64 * vcs), np.int64),
        "bids": ((shares, 64), np.uint64),
        "winners": ((shares, 64 * vcs), np.int64),
        "met": ((BEGUN + LINE * shares,), np.int64),
        "claimed": ((channels * vcs if detours else 0,), np.int32),
        "seen": ((2, channels * vcs if detours else 0), np.int32),
    }


def pairs_of(wiring: Wiring, router: Router, shares: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (`State.landing`, `State.leaving`) for the network and its shares."""
    share = share_of(len(wiring.to), shares)
    tail, port = np.nonzero(wiring.to >= 0)
    writer, reader = share[tail], share[wiring.to[tail, port]]
    width = widths(wiring).reshape(wiring.to.shape)[tail, port]
    arriving, returning = _slots_of(wiring, router)
    return _places(reader * shares + writer, width, shares, arriving), _places(
        writer * shares + reader, sending(width, router), shares, returning
    )


def _places(pair: np.ndarray, codes: np.ndarray, shares: int, slots: int) -> np.ndarray:
    """Return int64[K², 2]: where each pair's first slot begins in a wheel, and the length of the pair's slots.

    pair    pair of shares of each channel: reader · K + writer
    codes   the most entries that each channel makes in a cycle
    """
    most = np.bincount(pair, codes, shares * shares).astype(np.int64)
    length = np.where(most > 0, most + 1, 0)
    return np.stack([slots * (np.cumsum(length) - length), length], axis=1)


def _slots_of(wiring: Wiring, router: Router) -> tuple[int, int]:
    """Return the number of slots of the wheel of arrivals, and of the wheel of returns."""
    arriving = router.switch_delay + int(wiring.delay.max(initial=0))
    return slots(arriving), slots(router.credit_delay + longest_back(wiring))


def share_of(nodes: int, shares: int) -> np.ndarray:
    """Return int64[N]: the share of every node. Share s begins with node s · N // K, as in `cycle.run`."""
    return np.repeat(np.arange(shares), np.diff(np.arange(shares + 1) * nodes // shares))


def slots(longest: int) -> int:
    """Return the slots of a wheel for events up to `longest` cycles ahead: a power of 2."""
    return 1 << longest.bit_length()


def size(shapes: Shapes) -> int:
    """Return the number of bytes of these arrays."""
    return sum(prod(shape) * np.dtype(dtype).itemsize for shape, dtype in shapes.values())


def state_of(task: Task, experiment: Experiment, shares: int = 1) -> State:
    """Return the state before the first cycle, all buffers empty. An experiment with messages needs `shares` = 1."""
    batch, own = task.batch, slice(experiment.begin, experiment.end)
    messages = experiment.messages
    waiting = (0, 0) if messages is None else (len(messages.begin), len(messages.successor))
    shapes = layout(
        task.wiring,
        task.router,
        experiment.end - experiment.begin,
        task.hops.shape[1],
        experiment.shortest,
        *waiting,
        shares,
        detours=task.detour.shape[1],
    )
    state = State(**{name: np.zeros(shape, dtype) for name, (shape, dtype) in shapes.items()})
    state.vcs["front"] = state.vcs["out"] = state.outs["holder"] = state.ports["last_vc"] = -1
    state.outs["credits"] = task.buffer
    state.ports["node"], state.ports["feed"] = np.repeat(np.arange(task.nodes), task.inputs), task.feed
    state.landing[:], state.leaving[:] = pairs_of(task.wiring, task.router, shares)
    share = share_of(task.nodes, shares)
    state.channels["share"] = share[task.wiring.to.ravel()]
    state.ports["share"] = share[np.maximum(task.feed, 0) // max(1, task.ports)]
    state.ports["sending"], state.channels["width"] = task.sending, task.width
    state.channels["land"], state.channels["delay"] = (
        task.land,
        task.wiring.delay.ravel() + np.int32(task.router.switch_delay),
    )
    state.channels["free"], state.channels["last_granted"], state.channels["last_sent"] = 2**task.vcs - 1, -1, -1
    state.nodes["taken"], state.nodes["behind"], state.nodes["last_ejected"] = (
        experiment.first[:-1],
        experiment.first[:-1],
        -1,
    )
    packets, node = state.packets, np.repeat(np.arange(task.nodes, dtype=np.int32), np.diff(experiment.first))
    packets["row"], packets["length"], packets["message"] = batch.row[own], batch.length[own], -1
    packets["entered"] = packets["delivered"] = packets["stage"] = packets["going"] = -1
    state.left[:] = task.hops[batch.row[own]]
    state.packet_due[:] = np.lexsort((batch.time[own], share[node]))
    state.time_due[:], state.node_due[:] = batch.time[own][state.packet_due], node[state.packet_due]
    many = np.bincount(share[node], minlength=shares)
    state.number[:, DUE_END] = np.cumsum(many)
    state.number[:, DUE] = state.number[:, DUE_END] - many
    state.number[:, LEFT], state.met[LEFT_IN_ALL] = many, len(node)
    if messages is not None:
        _await(state, messages, node)
    return state


def _await(state: State, messages: Messages, node: np.ndarray) -> None:
    """Fill in the messages, none of which is generated yet. node int32[M]: the node of every packet."""
    known, some = state.messages[:-1], np.flatnonzero(messages.packets > 0)
    state.messages["after"], state.successor[:] = messages.after, messages.successor
    known["begin"], known["packets"], known["undelivered"] = messages.begin, messages.packets, messages.packets
    known["delay"], known["ready"], known["generated"] = messages.delay, messages.delay, -1
    known["missing"] = np.bincount(messages.successor, minlength=len(known))
    known["node"][some] = node[messages.begin[some]]
    order = some[np.argsort(messages.begin[some], kind="stable")]
    state.packets["message"] = np.repeat(order, messages.packets[order])
    roots = np.flatnonzero(known["missing"] == 0)
    state.ready[: len(roots)] = roots[np.argsort(known["ready"][roots], kind="stable")]  # a sorted array is a heap
    state.number[0, READY], state.number[0, DUE_END] = len(roots), 0  # packets of messages have no time of their own
    state.number[0, LEFT] += len(known) - len(some)
