"""The source queues of one experiment in NumPy: which packets stand in them, and which message is generated when."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.router.task import Experiment, Messages, Task


class Sources:
    """Of every node s the packets line[taken[s]] … line[behind[s] − 1], in order; packets counted from the experiment's
    first.

    left       packets not delivered and not refused, and steps not generated
    generated  int32[G]  of each message, −1 = not yet
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
        self.missing = np.bincount(messages.successor, minlength=number)  # messages waited for
        self.ready = messages.delay.astype(np.int64)  # cycle in which it is generated, once none is missing
        self.undelivered = messages.packets.copy()
        self.message = np.empty(len(self.time), np.int64)  # of each packet
        for g in np.flatnonzero(messages.packets > 0):
            self.message[messages.begin[g] : messages.begin[g] + messages.packets[g]] = g
        self.left += int((messages.packets == 0).sum())

    def generate(self, t: int) -> None:
        """What is generated in cycle t goes to the queues, in the order of messages and packets."""
        if self.messages is None:
            self._append(np.flatnonzero(self.time == t))
            return
        begin, packets = self.messages.begin, self.messages.packets
        new: list[int] = []
        while due := np.flatnonzero((self.generated < 0) & (self.missing == 0) & (self.ready <= t)).tolist():
            new += due
            self.generated[due] = t
            for step in [g for g in due if packets[g] == 0]:  # others may wait for no more than that
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
        """int64[B]: the first packet of each of these nodes' queues, which leaves it."""
        packet = self.line[self.taken[node]]
        self.taken[node] += 1
        return packet

    def waiting(self) -> np.ndarray:
        """bool[N]: nodes whose queue is not empty."""
        return self.taken < self.behind

    def refuse(self) -> np.ndarray:
        """int64[B]: packets that came last to queues which hold more than they have room for; they are gone."""
        if self.room is None:
            return np.zeros(0, np.int64)
        keep = np.minimum(self.behind, self.taken + self.room)
        gone = np.concatenate([np.zeros(0, np.int64), *(self.line[a:b] for a, b in zip(keep, self.behind))])
        self.behind = keep
        self.left -= len(gone)
        return gone

    def deliver(self, packets: np.ndarray, known: int) -> None:
        """The packets' tails have been ejected, which terminals that wait for messages see from cycle `known` on."""
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
