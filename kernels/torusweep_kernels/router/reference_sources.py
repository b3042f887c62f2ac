"""The specification of source queues and messages in NumPy: which packets wait, and when messages are generated."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.router.task import Experiment, Messages, Task


class Sources:
    """The source queue of node s is line[taken[s]] … line[behind[s] − 1], packets in order.

    Packets are numbered from the experiment's first one.

    left       packets neither delivered nor refused, and messages without packets that are not generated
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
        """int64[B]: remove and return the first packet of each of these nodes' queues."""
        packet = self.line[self.taken[node]]
        self.taken[node] += 1
        return packet

    def waiting(self) -> np.ndarray:
        """bool[N]: whether each node's queue has packets."""
        return self.taken < self.behind

    def refuse(self) -> np.ndarray:
        """int64[B]: remove and return the last packet of each queue that exceeds its bound."""
        if self.room is None:
            return np.zeros(0, np.int64)
        keep = np.minimum(self.behind, self.taken + self.room)
        gone = np.concatenate([np.zeros(0, np.int64), *(self.line[a:b] for a, b in zip(keep, self.behind))])
        self.behind = keep
        self.left -= len(gone)
        return gone

    def deliver(self, packets: np.ndarray, known: int) -> None:
        """Note that the packets' tails were ejected; messages that wait for them know from cycle `known` on."""
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
