"""Specification of `torusweep_kernels.router` in NumPy: one experiment after another, all nodes at once.

Each function is a step of the package's text. It also specifies the choice between a route and a detour, source
queues (which packets wait), and messages (when they are generated).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torusweep_kernels.router.choices import Travel, at_source, choices, go
from torusweep_kernels.router.outcome import Outcome, Snapshot, deadlock, joined
from torusweep_kernels.router.task import REFUSED, STORE_AND_FORWARD, Experiment, Messages, Simulated, Task


def takes_detour(task: Task, travel: Travel, node: int, packet: int, detour: int, occupied: np.ndarray) -> bool:
    """Return whether a packet takes the detour in row `detour`, given the flits on each output VC, int64[Y]."""
    row, left, ahead = int(travel.row[packet]), travel.left[packet], task.hops[detour]
    own, other = (_channels(task, node, *route) for route in ((row, left), (detour, ahead)))
    of_channel = occupied.reshape(-1, task.vcs)
    if task.sees_all:
        return bool(of_channel[own].sum() > of_channel[other].sum() + task.threshold)
    shared = own[0] == other[0]
    flits = [
        int(of_channel[first, _vcs(task, *route) if shared else slice(None)].sum())
        for first, route in ((own[0], (row, left)), (other[0], (detour, ahead)))
    ]
    return flits[0] * len(own) > flits[1] * len(other) + task.threshold


def _channels(task: Task, node: int, row: int, left: np.ndarray) -> list[int]:
    """Return the channels of the rest of a route."""
    found = []
    for direction in np.repeat(task.direction[row], left).tolist():
        found.append(node * task.ports + int(task.wiring.port_of[node, direction]))
        node = int(task.next[node, direction])
    return found


def _vcs(task: Task, row: int, left: np.ndarray) -> slice:
    """Return the VCs that the next hop of a route may use before a dateline."""
    low, behind = task.low[task.phase[row, int((left > 0).argmax())], 0].tolist()
    return slice(low, behind)


class Sources:
    """The source queues and messages of an experiment. Node s has the queue line[taken[s]] … line[behind[s] − 1].

    Packets are numbered from the experiment's first one.

    left       number of packets neither delivered nor refused, plus messages without packets that are not generated
    generated  int32[G]: cycle in which each message was generated, −1 = not yet
    """

    def __init__(self, task: Task, experiment: Experiment) -> None:
        self.room = task.router.source_queue
        self.node = np.repeat(np.arange(task.nodes), np.diff(experiment.first))
        self.time = task.batch.time[experiment.begin : experiment.end]
        self.line = np.zeros(len(self.time), np.int64)
        self.taken, self.behind = experiment.first[:-1].copy(), experiment.first[:-1].copy()
        self.messages = experiment.messages
        self.left = len(self.time)
        self.generated = np.zeros(0, np.int32)
        if self.messages is not None:
            self._await(self.messages)

    def _await(self, messages: Messages) -> None:
        number = len(messages.begin)
        self.generated = np.full(number, -1, np.int32)
        self.missing = np.bincount(messages.successor, minlength=number)  # messages that it still waits for
        self.ready = messages.delay.astype(np.int64)  # cycle of generation, once none is missing
        self.undelivered = messages.packets.copy()
        self.message = np.empty(len(self.time), np.int64)  # the message of each packet
        for g in np.flatnonzero(messages.packets > 0):
            self.message[messages.begin[g] : messages.begin[g] + messages.packets[g]] = g
        self.left += int((messages.packets == 0).sum())

    def generate(self, t: int) -> None:
        """Append what is generated in cycle t to the queues, in the order of messages and packets."""
        if self.messages is None:
            self._append(np.flatnonzero(self.time == t))
            return
        begin, packets = self.messages.begin, self.messages.packets
        new: list[int] = []
        while due := np.flatnonzero((self.generated < 0) & (self.missing == 0) & (self.ready <= t)).tolist():
            new += due
            self.generated[due] = t
            for step in [g for g in due if packets[g] == 0]:  # others may wait for this one only
                self.left -= 1
                self._done(step, t)
        for g in sorted(new):
            self._append(np.arange(begin[g], begin[g] + packets[g]))

    def _append(self, packets: np.ndarray) -> None:
        for packet in packets.tolist():
            node = self.node[packet]
            self.line[self.behind[node]] = packet
            self.behind[node] += 1

    def take(self, node: np.ndarray) -> np.ndarray:
        """Remove and return the first packet of each given node's queue, int64[B]."""
        packet = self.line[self.taken[node]]
        self.taken[node] += 1
        return packet

    def waiting(self) -> np.ndarray:
        """Return bool[N]: whether each node's queue has packets."""
        return self.taken < self.behind

    def refuse(self) -> np.ndarray:
        """Remove and return the last packets of every queue beyond its bound, int64[B]."""
        if self.room is None:
            return np.zeros(0, np.int64)
        keep = np.minimum(self.behind, self.taken + self.room)
        gone = np.concatenate([np.zeros(0, np.int64), *(self.line[a:b] for a, b in zip(keep, self.behind))])
        self.behind = keep
        self.left -= len(gone)
        return gone

    def deliver(self, packets: np.ndarray, known: int) -> None:
        """Note that the packets' tails were ejected. Messages that wait for them know this from cycle `known` on."""
        self.left -= len(packets)
        if self.messages is None:
            return
        for message in self.message[packets].tolist():
            self.undelivered[message] -= 1
            if self.undelivered[message] == 0:
                self._done(message, known)

    def _done(self, message: int, known: int) -> None:
        assert self.messages is not None
        own = self.messages.successor[self.messages.after[message] : self.messages.after[message + 1]]
        np.subtract.at(self.missing, own, 1)
        self.ready[own] = np.maximum(self.ready[own], known + self.messages.delay[own])


class Run:
    """The state of an experiment. Packets are numbered from the experiment's first one; indices are those of `Task`."""

    def __init__(self, task: Task, experiment: Experiment) -> None:
        router, batch, own = task.router, task.batch, slice(experiment.begin, experiment.end)
        self.task, self.experiment = task, experiment
        self.length = batch.length[own].astype(np.int64)
        self.sources = Sources(task, experiment)
        self.travel: Travel = at_source(task, experiment)
        inputs, channels = task.nodes * task.inputs, task.nodes * task.ports
        self.state = Snapshot.empty(task)
        self.ready = np.zeros(
            inputs * task.vcs, np.int64
        )  # cycle from which on the front may request a VC, or, once it holds one, be sent
        self.sent = np.zeros(inputs * task.vcs, np.int64)  # flits of the front packet already sent
        self.queue = np.zeros(
            (inputs * task.vcs, task.buffer), np.int64
        )  # packets behind the front whose heads have arrived
        self.begins, self.queued = np.zeros((2, inputs * task.vcs), np.int64)
        wires = router.switch_delay + int(task.wiring.delay.max(initial=0)) + 1
        self.flit = np.zeros(
            (wires, channels * task.vcs), bool
        )  # output VCs whose flit arrives in each cycle, modulo the wheel's slots
        self.head = np.full((wires, channels * task.vcs), -1)  # the packet, if the flit is its head
        self.credit = np.zeros(
            (router.credit_delay + int(task.back.max(initial=0)) + 1, inputs * task.vcs), bool
        )  # input VCs whose credits return, by cycle
        self.last_vc, self.last_granted, self.last_sent = (
            np.full(inputs, -1),
            np.full(channels, -1),
            np.full((task.nodes, task.ports + 1), -1),
        )
        self.entered, self.delivered = np.full((2, len(self.length)), -1, np.int32)
        self.flits, self.occupancy = np.zeros(channels, np.int64), np.zeros(task.vcs, np.int64)
        self.injected = self.ejected = 0
        self.passed = np.zeros(len(self.length), np.int64)  # hops taken, or −1 on a detour
        self.occupied = np.zeros(channels * task.vcs, np.int64)  # by output VC, at the end of the last cycle

    def cycle(self, t: int) -> None:
        self.arrive(t)
        self.sources.generate(t)
        self.take(t)
        self.promote_head(t)
        self.allocate_channels(t)
        self.send(t, self.allocate_switch(t))
        self.occupied = self.occupation(t)

    def arrive(self, t: int) -> None:
        task, state = self.task, self.state
        y = np.flatnonzero(self.flit[t % len(self.flit)])
        head = self.head[t % len(self.head), y]
        self.flit[t % len(self.flit)] = False
        x = task.land[y // task.vcs] * task.vcs + y % task.vcs
        state.count[x] += 1
        new = x[head >= 0]
        self.queue[new, (self.begins[new] + self.queued[new]) % task.buffer] = head[head >= 0]
        self.queued[new] += 1
        x = np.flatnonzero(self.credit[t % len(self.credit)])
        self.credit[t % len(self.credit)] = False
        state.credits[task.feed[x // task.vcs] * task.vcs + x % task.vcs] += 1

    def take(self, t: int) -> None:
        task, state = self.task, self.state
        node = np.arange(task.nodes)
        for vc in range(task.vcs):
            for port in range(task.transit, task.inputs):
                x = (node * task.inputs + port) * task.vcs + vc
                takes = (state.front[x] < 0) & self.sources.waiting()
                packet = self.sources.take(node[takes])
                state.count[x[takes]] = self.length[packet]
                self.begin_routing(x[takes], packet, t)
        self.entered[self.sources.refuse()] = REFUSED

    def promote_head(self, t: int) -> None:
        x = np.flatnonzero((self.state.front < 0) & (self.queued > 0))
        packet = self.queue[x, self.begins[x]]
        if self.task.switching == STORE_AND_FORWARD:
            here = (self.state.count[x] >= self.length[packet]) | ~(self.travel.left[packet] > 0).any(axis=1)
            x, packet = x[here], packet[here]
        self.begins[x] = (self.begins[x] + 1) % self.task.buffer
        self.queued[x] -= 1
        self.begin_routing(x, packet, t)

    def begin_routing(self, x: np.ndarray, packet: np.ndarray, t: int) -> None:
        self.state.front[x], self.state.moved[x], self.sent[x] = packet, t, 0
        self.ready[x] = t + self.task.router.route_delay

    def allocate_channels(self, t: int) -> None:
        task, state = self.task, self.state
        x = np.flatnonzero((state.front >= 0) & ~state.active & (self.ready <= t))
        self.choose_routes(x[self.ready[x] == t])
        at_end = ~(self.travel.left[state.front[x]] > 0).any(axis=1)
        self.hold_vc(x[at_end], -1, t)
        x = x[~at_end]
        if not x.size:
            return
        y, run, need = choices(task, self.experiment, self.travel, x, state.front[x])
        possible = (y >= 0) & (state.holder[y] < 0) & (state.credits[y] >= need)
        score = np.where(possible, state.credits[y] + np.where(y % task.vcs >= task.escape, task.buffer + 1, 0), -1)
        best = score.argmax(axis=1)
        choosing = np.flatnonzero(possible.any(axis=1))
        x, y, run = x[choosing], y[choosing, best[choosing]], run[choosing, best[choosing]]
        channel, all_vcs = y // task.vcs, task.inputs * task.vcs
        order = self.after(x % all_vcs, self.last_granted[channel], all_vcs, task.transit * task.vcs)
        granted = first_of_each(channel, order)
        x, y, run, channel = x[granted], y[granted], run[granted], channel[granted]
        self.last_granted[channel] = x % all_vcs
        go(task, self.experiment, self.travel, x // all_vcs, state.front[x], run)
        state.holder[y] = x
        self.hold_vc(x, y, t)

    def choose_routes(self, x: np.ndarray) -> None:
        """Let the packets whose route computation has just ended choose between their routes and detours."""
        task, packet = self.task, self.state.front[x]
        for node, one in zip((x // (task.inputs * task.vcs)).tolist(), packet.tolist()):
            k = int(self.passed[one])
            self.passed[one] += k >= 0
            row = int(self.experiment.detour[one, k]) if 0 <= k < self.experiment.detour.shape[1] else -1
            if row >= 0 and takes_detour(task, self.travel, node, one, row, self.occupied):
                self.passed[one] = -1
                self.travel.row[one], self.travel.left[one], self.travel.crossed[one] = row, task.hops[row], 0

    def occupation(self, t: int) -> np.ndarray:
        """Return int64[Y]: flits that occupy every output VC. Flits that a front is still to send count for the VC that
        it holds, or for the lowest VC that it may hold.
        """
        task, state = self.task, self.state
        occupied = task.buffer - state.credits.astype(np.int64)
        if not self.experiment.detour.size:
            return occupied
        x = np.flatnonzero((state.front >= 0) & (state.active | (self.ready <= t)))
        y, packet = state.out[x].astype(np.int64), state.front[x]
        asks = ~state.active[x] & (self.travel.left[packet] > 0).any(axis=1)
        if asks.any():
            wanted = choices(task, self.experiment, self.travel, x[asks], packet[asks]).y
            y[asks] = np.where(wanted >= 0, wanted, np.iinfo(np.int64).max).min(axis=1)
        np.add.at(occupied, y[y >= 0], (self.length[packet] - self.sent[x])[y >= 0])
        return occupied

    def hold_vc(self, x: np.ndarray, y: np.ndarray | int, t: int) -> None:
        self.state.active[x], self.state.out[x] = True, y
        self.ready[x] = t + self.task.router.vc_delay

    def after(self, place: np.ndarray, last: np.ndarray, places: int, transit: int) -> np.ndarray:
        """Return each place's rank in round-robin order after the last one. With transit_first, injection's places,
        those ≥ transit, come after all others.
        """
        order = (place - last - 1) % places
        return order + np.where(place >= transit, places, 0) if self.task.router.transit_first else order

    def allocate_switch(self, t: int) -> np.ndarray:
        """Return int[W]: the input VCs that send a flit in this cycle."""
        task, state = self.task, self.state
        credits, widths = (
            np.append(state.credits, 1),
            np.append(task.width, task.router.ejection_flits),
        )  # ejection's are at −1
        x = np.flatnonzero(state.active & (self.ready <= t) & (state.count > 0) & (credits[state.out] > 0))
        port = x // task.vcs
        turn = (x - self.last_vc[port] - 1) % task.vcs
        nominated = first_of_each(port, turn, task.sending[port])
        x, turn = x[nominated], turn[nominated]
        port, node = x // task.vcs, x // (task.inputs * task.vcs)
        output = np.where(state.out[x] >= 0, state.out[x] // task.vcs % max(1, task.ports), task.ports)
        place = port % task.inputs
        order = self.after(place, self.last_sent[node, output], task.inputs, task.transit) * task.vcs + turn
        taken = first_of_each(node * (task.ports + 1) + output, order, widths[state.out[x] // task.vcs])
        self.last_sent[node[taken], output[taken]] = place[taken]  # in round-robin order: the last write stays
        by_turn = taken[np.argsort(turn[taken])]
        self.last_vc[port[by_turn]] = x[by_turn] % task.vcs
        return x[taken]

    def send(self, t: int, x: np.ndarray) -> None:
        task, state, router = self.task, self.state, self.task.router
        packet, y, port = state.front[x], state.out[x], x // task.vcs
        self.sent[x] += 1
        state.count[x] -= 1
        state.moved[x] = t
        head, tail, injection = self.sent[x] == 1, self.sent[x] == self.length[packet], task.feed[port] < 0
        self.entered[packet[head & injection]] = t
        arrived = packet[tail & (y < 0)]
        self.delivered[arrived] = t + router.switch_delay
        self.sources.deliver(arrived, max(t + router.switch_delay, t + 1))
        self.injected += int(injection.sum())
        self.ejected += int((y < 0).sum())
        home = x[~injection]
        self.credit[(t + router.credit_delay + task.back[home // task.vcs]) % len(self.credit), home] = True
        state.holder[y[tail & (y >= 0)]] = -1
        state.front[x[tail]], state.active[x[tail]], state.out[x[tail]] = -1, False, -1
        packet, y, head = packet[y >= 0], y[y >= 0], head[y >= 0]
        state.credits[y] -= 1
        channel = y // task.vcs
        slot = (t + router.switch_delay + task.wiring.delay.ravel()[channel]) % len(self.flit)
        self.flit[slot, y], self.head[slot, y] = True, np.where(head, packet, -1)
        if t >= task.measure_from:
            np.add.at(self.flits, channel, 1)
            self.occupancy += state.count.reshape(-1, task.vcs)[task.feed >= 0].sum(axis=0)


def first_of_each(group: np.ndarray, order: np.ndarray, many: np.ndarray | int = 1) -> np.ndarray:
    """Return int[W]: the first `many` members of each group, by group and in order. many: one number, or one each."""
    place = np.lexsort((order, group))
    ranked = group[place]
    rank = np.arange(len(ranked)) - np.searchsorted(ranked, ranked)
    return place[rank < (many if isinstance(many, int) else many[place])]


def simulated(task: Task, threads: int | None = None, progress: Callable[[float], None] | None = None) -> Simulated:
    """Specification of `torusweep_kernels.router.simulate`."""
    return joined(task, [outcome(task, experiment) for experiment in task.experiments])


def outcome(task: Task, experiment: Experiment) -> Outcome:
    run, t, stalled = Run(task, experiment), 0, -1
    waiting: list[tuple[int, int, int]] = []
    while t < task.cycles and not waiting and run.sources.left > 0:
        run.cycle(t)
        t += 1
        if t % task.stall == 0:
            waiting, stalled = deadlock(task, experiment, run.state, run.travel, t)
    in_flight = int(run.state.count.reshape(-1, task.vcs)[task.feed >= 0].sum() + run.flit.sum())
    generated = run.sources.generated
    return Outcome(
        run.entered,
        run.delivered,
        run.flits,
        run.occupancy,
        generated,
        t,
        stalled,
        waiting,
        run.injected,
        run.ejected,
        in_flight,
    )
