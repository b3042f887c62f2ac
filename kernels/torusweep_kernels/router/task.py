"""Arguments and results of a simulation, and arrays that all backends derive from the arguments."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

SWITCHINGS = ("wormhole", "virtual-cut-through", "store-and-forward")
MEMORIES = ("run", "axis", "path", "ahead", "rest")
VIEWS = ("local", "global")
REFUSED = -2  # of `Simulated.entered`
WORMHOLE, CUT_THROUGH, STORE_AND_FORWARD = range(3)
RUN, AXIS, PATH, AHEAD, REST = range(5)


class Router(NamedTuple):
    """The router of every node. Delays are in cycles; `torusweep_kernels.router` says what they mean.

    virtual_channels  V, the VCs of a channel and of an injection port: 1 … 16
    buffer_flits      B, buffer of a channel's VC in flits; with virtual-cut-through and store-and-forward at least the
                      longest packet, with `bubble` at least twice that
    switching         wormhole, virtual-cut-through or store-and-forward
    route_delay, vc_delay, switch_delay  ≥ 0
    credit_delay      ≥ 1, from the cycle in which a flit leaves a buffer until its sender has the credit, without the
                      channel's `back` (`Wiring`)
    adaptive          packets may take any run that has hops left, on the VCs above the escape VCs
    escape            number of escape VCs, which the rule's classes divide: all V, or fewer if adaptive; None:
                      all V
    bubble            bubble flow control of the escape VCs; not in wormhole switching
    transit_first     traffic in transit has priority over injection
    injection_flits   ≥ 1, number of injection ports of a node, each with `injection_speedup` flits per cycle
    ejection_flits    ≥ 1, flits that a node ejects per cycle
    source_queue      ≥ 0, most packets in a node's source queue; None: any number. Not allowed with messages
    input_speedup     ≥ 1, number of VCs of an input port that may send a flit in the same cycle; more than V means V
    injection_speedup ≥ 1, the same for an injection port; None: `input_speedup`
    """

    virtual_channels: int
    buffer_flits: int
    switching: str = "wormhole"
    route_delay: int = 0
    vc_delay: int = 0
    switch_delay: int = 1
    credit_delay: int = 1
    adaptive: bool = False
    escape: int | None = None
    bubble: bool = False
    transit_first: bool = False
    injection_flits: int = 1
    ejection_flits: int = 1
    source_queue: int | None = None
    input_speedup: int = 1
    injection_speedup: int | None = None


class Wiring(NamedTuple):
    """The network of N nodes with P output ports, the directions in which routes lead, and the rule for VCs.

    to       int32[N, P]   node that each port leads to, −1 = none; at most 63 channels leave or enter a node
    port_of  int8[N, D]    port of each direction, −1 = none; directions 2i and 2i + 1 are one axis
    wrap     bool[N, D]    whether the hop crosses a dateline
    delay    int16[N, P]   cycles on the channel, ≥ 0; with switch_delay, ≥ 1
    classes  int8[F, 2]    VC class of each phase of a run, before and after a dateline
    memory   which dateline crossings count, besides the hop's own:
             "run"   earlier ones in the same run
             "axis"  earlier ones along the same axis in the same phase
             "path"  all earlier ones on the route
             "ahead" all in the same run, earlier or later
             "rest"  a hop counts as after the dateline if neither it nor a later hop of the run crosses one
    shares   int64[C]      number of VCs of each class, ≥ 1: class 0 has the lowest VCs; Σ = `escape`
    balanced whether a packet that has crossed no dateline, on a run that crosses none, may take a VC of either column's
             class at the run's first hop. It then stays in this column. The dependencies of a ring stay without
             cycles, because no such run passes the dateline; in the whole network, routes must take the axes in one
             order. Not with `adaptive`; only with memory "run" or "axis"
    capacity int16[N, P]   flits per cycle of each channel, 1 … V; None: 1
    back     int16[N, P]   cycles that a credit takes over the channel in addition to credit_delay, ≥ 0; None: 0
    """

    to: np.ndarray
    port_of: np.ndarray
    wrap: np.ndarray
    delay: np.ndarray
    classes: np.ndarray
    memory: str
    shares: np.ndarray
    balanced: bool = False
    capacity: np.ndarray | None = None
    back: np.ndarray | None = None


class Messages(NamedTuple):
    """The G messages of a batch's packets, and their dependencies.

    A message consists of packets of one node that are generated together. A message without packets is a step of
    computation, delivered when it is generated. A message waits for earlier ones only, so that none waits for itself.

    first      int64[E + 1]  messages first[e] … first[e + 1] − 1 belong to experiment e
    begin      int64[G]      first packet of each message; any number if the message has no packets
    packets    int32[G]      ≥ 0, number of packets, consecutive in the batch, all of one node. Each packet belongs
                             to one message
    delay      int32[G]      0 … 2²⁹, cycles from the last delivery that it waits for (else from cycle 0) until
                             the message is generated
    after      int64[G + 1]  messages successor[after[g]] … successor[after[g + 1] − 1] wait for g
    successor  int64[S]      messages of g's experiment, with numbers > g
    """

    first: np.ndarray
    begin: np.ndarray
    packets: np.ndarray
    delay: np.ndarray
    after: np.ndarray
    successor: np.ndarray


class Detours(NamedTuple):
    """Alternative routes that a batch's packets may take on the way instead of their own.

    row        int32[M, K]  route that a packet may take instead of what is left of its own, after k hops of it; −1:
                            no choice there
    view       "local" or "global": which occupied channels a packet knows (`torusweep_kernels.router`)
    threshold  −2³⁰ … 2³⁰, by how much the own route's estimate may exceed the detour's: flits · hops (local), or flits
    """

    row: np.ndarray
    view: str = "local"
    threshold: int = 0


class Batch(NamedTuple):
    """The M packets of E experiments.

    first        int64[E, N + 1]  packets first[e, s] … first[e, s + 1] − 1 belong to experiment e and node s;
                                  first[e, N] = first[e + 1, 0], first[0, 0] = 0, first[E − 1, N] = M
    time         int32[M]   cycle in which each packet is generated, ≥ 0, ascending for each node
    row          int32[M]   route of each packet
    length       int16[M]   flits of each packet, ≥ 1
    destination  int32[M]   node where the route ends; a packet to its own source is injected and ejected there
    messages     dependencies that decide when packets are generated (then `time` is 0); None: `time` decides
    detours      other routes, rows of the same routes, that packets may take; None: none. Not with `adaptive`
    """

    first: np.ndarray
    time: np.ndarray
    row: np.ndarray
    length: np.ndarray
    destination: np.ndarray
    messages: Messages | None = None
    detours: Detours | None = None


class Simulated(NamedTuple):
    """Results of a simulation.

    entered    int32[M]        cycle in which the packet's head leaves the source queue; −1 never; −2 refused, as it
                               was full
    delivered  int32[M]        cycle in which the packet's tail is ejected, −1 never; at most ran − 1 + switch_delay
    flits      int64[E, N, P]  flits sent over every channel in cycles measure_from … ran − 1
    occupancy  float64[E, V]   mean number of flits in a channel's buffer of VC v at the end of a cycle, over these
                               cycles; 0 if there are none
    generated  int32[G]        cycle in which each message is generated, −1 never
    ran        int64[E]        number of cycles that were run
    stalled    int64[E]        −1 without deadlock; else the last cycle in which a flit left a buffer of the cyclic
                               wait, or came to its front
    waiting    cyclic wait of each experiment, [] without one: (u, p, v) is the head at the front of VC v at the end
               of port p of node u; each waits for the buffer of the next one, the last for the buffer of the first
    """

    entered: np.ndarray
    delivered: np.ndarray
    flits: np.ndarray
    occupancy: np.ndarray
    generated: np.ndarray
    ran: np.ndarray
    stalled: np.ndarray
    waiting: list[list[tuple[int, int, int]]]


class Experiment(NamedTuple):
    """One experiment of a batch: packets begin … end − 1.

    first              int64[N + 1]  as in `Batch`, counted from `begin`
    shortest, longest  length of the shortest and of the longest packet, in flits; 1 without packets
    messages           the experiment's messages, counted from its first packet and message
    detour             int32[M, K]: rows as in `Detours`; K = 0 if there are none
    """

    begin: int
    end: int
    first: np.ndarray
    shortest: int
    longest: int
    messages: Messages | None
    detour: np.ndarray


def most_into(to: np.ndarray) -> int:
    """Return the largest number of channels that lead to a node."""
    return int(np.bincount(to[to >= 0], minlength=1).max())


def part(messages: Messages, experiment: int, packet: int) -> Messages:
    """Return the messages of one experiment, counted from its first message and from `packet`, its first packet."""
    begin, end = messages.first[experiment : experiment + 2].tolist()
    own, after = slice(begin, end), messages.after[begin : end + 1]
    return Messages(
        messages.first[experiment : experiment + 2] - begin,
        messages.begin[own] - packet,
        messages.packets[own],
        messages.delay[own],
        after - after[0],
        messages.successor[after[0] : after[-1]] - begin,
    )


def widths(wiring: Wiring) -> np.ndarray:
    """Return the capacity of each channel as in `Task.width`."""
    return np.where(wiring.to >= 0, 1 if wiring.capacity is None else wiring.capacity, 0).ravel().astype(np.int64)


def longest_back(wiring: Wiring) -> int:
    """Return the most cycles that a credit takes over a channel in addition to credit_delay."""
    return 0 if wiring.back is None else int(wiring.back.max(initial=0))


def sending(width: np.ndarray | int, router: Router) -> np.ndarray:
    """Return the VCs of an input port at the end of a channel of this capacity that may send in the same cycle."""
    return np.minimum(np.asarray(width) * router.input_speedup, router.virtual_channels)


def injecting(router: Router) -> int:
    """Return the number of VCs of an injection port that may send in the same cycle."""
    return min(router.injection_speedup or router.input_speedup, router.virtual_channels)


class Task:
    """The arguments of `simulate`, after its checks, and arrays derived from them.

    A channel has the number node · P + port, an input port node · I + i, where I = most channels into a node + J
    injection ports, which come last. An input VC has the number input port · V + v, an output VC channel · V + v.

    land    int32[N·P]  input port at each channel's end, −1 = no channel
    feed    int32[N·I]  channel of each input port, −1 = none (injection, or no such port)
    until   int32[N, D] hops along a direction before the next hop that crosses a dateline; FAR if none does
    low     int8[F, 2, 2] first VC of a class and the VC after its last, by phase and column
    width   int64[N·P]  capacity of each channel, 0 = no channel
    sending int64[N·I]  number of VCs of each input port that may send in a cycle, 0 = no such port
    back    int64[N·I]  cycles that a credit of each input port takes in addition to credit_delay
    """

    FAR = 2**30

    def __init__(
        self,
        wiring: Wiring,
        router: Router,
        routes: tuple[np.ndarray, np.ndarray, np.ndarray],
        batch: Batch,
        cycles: int,
        measure_from: int,
        stall: int,
    ) -> None:
        self.wiring, self.router, self.batch = wiring, router, batch
        self.direction, self.hops, self.phase = routes
        self.cycles, self.measure_from, self.stall = cycles, measure_from, stall
        self.nodes, self.ports = wiring.to.shape
        self.vcs, self.buffer = router.virtual_channels, router.buffer_flits
        self.switching = SWITCHINGS.index(router.switching)
        self.memory = REST if router.adaptive else MEMORIES.index(wiring.memory)
        self.escape = self.vcs if router.escape is None else router.escape
        tail, port = np.nonzero(wiring.to >= 0)
        head = wiring.to[tail, port]
        into = np.bincount(head, minlength=self.nodes)
        self.transit = most_into(wiring.to)
        self.inputs = self.transit + router.injection_flits
        order = np.argsort(head, kind="stable")
        rank = np.empty(len(head), np.int64)
        rank[order] = np.arange(len(head)) - np.repeat(np.cumsum(into) - into, into)
        channel, place = tail * self.ports + port, head * self.inputs + rank
        self.land, self.feed = (
            np.full(self.nodes * self.ports, -1, np.int32),
            np.full(self.nodes * self.inputs, -1, np.int32),
        )
        self.land[channel], self.feed[place] = place, channel
        self.width = widths(wiring)
        back = np.zeros(wiring.to.size, np.int64) if wiring.back is None else wiring.back.ravel().astype(np.int64)
        self.back = np.where(self.feed >= 0, np.append(back, 0)[self.feed], 0)
        self.sending = sending(np.append(self.width, 0)[self.feed], router)
        self.sending.reshape(self.nodes, -1)[:, self.transit :] = injecting(router)

    @property
    def experiments(self) -> list[Experiment]:
        made = []
        for number, row in enumerate(self.batch.first):
            begin, end = int(row[0]), int(row[-1])
            length = self.batch.length[begin:end] if end > begin else np.array([1])
            messages = None if self.batch.messages is None else part(self.batch.messages, number, begin)
            detour = self.detour[begin:end]
            made.append(Experiment(begin, end, row - begin, int(length.min()), int(length.max()), messages, detour))
        return made

    @property
    def detour(self) -> np.ndarray:
        """int32[M, K]: `Detours.row`; K = 0 without detours."""
        detours = self.batch.detours
        return np.zeros((len(self.batch.row), 0), np.int32) if detours is None else detours.row

    @property
    def sees_all(self) -> bool:
        """Whether packets choose by the channels of the whole network."""
        return self.batch.detours is not None and self.batch.detours.view == "global"

    @property
    def threshold(self) -> int:
        return 0 if self.batch.detours is None else self.batch.detours.threshold

    @cached_property
    def next(self) -> np.ndarray:
        """int32[N, D]: node that each direction leads to, −1 = the direction does not lead on."""
        to = np.take_along_axis(self.wiring.to, np.maximum(self.wiring.port_of, 0).astype(np.int64), axis=1)
        return np.where(self.wiring.port_of < 0, np.int32(-1), to)

    @cached_property
    def until(self) -> np.ndarray:
        until = np.where(self.wiring.wrap, 0, self.FAR).astype(np.int32)
        axis = np.arange(until.shape[1])
        for _ in range(self.nodes):
            beyond = np.where(self.next >= 0, until[self.next, axis], self.FAR)
            nearer = np.minimum(until, np.minimum(beyond + 1, self.FAR))
            if np.array_equal(nearer, until):
                break
            until = nearer
        return until

    @cached_property
    def low(self) -> np.ndarray:
        behind = np.cumsum(self.wiring.shares)
        begin = behind - self.wiring.shares
        return np.stack([begin[self.wiring.classes], behind[self.wiring.classes]], axis=-1).astype(np.int8)
