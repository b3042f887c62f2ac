"""Dependencies of a routing table: read off its rows, each of which some packet takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from torusweep_kernels.dependencies import DEPENDS, FIRST, Channels

from torusweep.networks.topology import NO_PORT
from torusweep.routing.forms import TableRouting

BLOCK = 1 << 22  # dependencies at a time


class RowPairs(NamedTuple):
    """Pairs of rows that a packet may take one after the other, int64[D] each."""

    row: np.ndarray
    then: np.ndarray


def mark_table(routing: TableRouting, classes: np.ndarray, channels: Channels) -> None:
    """Mark in `channels` the channels and dependencies of packets between all terminals.

    classes   int8[F, 2]  of virtual channels, by the class that the table names

    FIRST is marked where a packet's first row leaves it no choice of its second channel: a packet that may draw another
    row is not sure to wait for this one.
    """
    channel = channel_of_rows(routing, classes)
    leads = routing.port != NO_PORT
    channels.used[routing.at[routing.owner[leads]], channel[leads]] = True
    entering = np.zeros(len(routing.at), bool)
    entering[routing.entry] = True
    single = _have_one_channel(routing, channel)
    for row, then in steps_of(routing):
        holder = routing.owner[row]
        forced = entering[holder] & single[routing.next[row]]
        marks = np.where(forced, np.uint8(DEPENDS | FIRST), np.uint8(DEPENDS))
        np.bitwise_or.at(channels.depends, (routing.at[holder], channel[row], channel[then]), marks)


def channel_of_rows(routing: TableRouting, classes: np.ndarray) -> np.ndarray:
    """int64[R]: port · C + class of each row."""
    count = int(classes.max(initial=0)) + 1
    return routing.port.astype(np.int64) * count + classes[routing.kind, 0]


def steps_of(routing: TableRouting) -> Iterator[RowPairs]:
    """All pairs of rows of which the second may follow the first, in blocks."""
    onwards = np.flatnonzero(routing.next >= 0)
    ways = routing.many[routing.next[onwards]]
    ends = np.cumsum(ways)
    begin = 0
    while begin < len(onwards):
        done = 0 if begin == 0 else int(ends[begin - 1])
        end = max(begin + 1, int(np.searchsorted(ends, done + BLOCK, side="right")))
        many = ways[begin:end]
        row = np.repeat(onwards[begin:end], many)
        place = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
        then = routing.rows[routing.next[row]] + place
        leads = routing.port[then] != NO_PORT
        yield RowPairs(row[leads], then[leads])
        begin = end


def forced_starts(routing: TableRouting, classes: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(source int64[R], destination int64[R], channel int64[R, most]): how packets begin, by their first rows.

    channel   node · W + channel of each hop; −1 after the last, and from where the packet may draw between several
    """
    channel = channel_of_rows(routing, classes)
    width = routing.topology.ports.shape[1] * (int(classes.max(initial=0)) + 1)
    number = routing.at[routing.owner].astype(np.int64) * width + channel
    single = _have_one_channel(routing, channel)
    destination, source = np.divmod(routing.entry_pair, routing.topology.nodes)
    many = routing.many[routing.entry]
    pair = np.repeat(np.arange(len(many)), many)
    row = routing.rows[routing.entry][pair] + np.arange(len(pair)) - np.repeat(np.cumsum(many) - many, many)
    leads = routing.port[row] != NO_PORT
    pair, row = pair[leads], row[leads]
    found = np.full((len(row), most), -1)
    going = np.arange(len(row))
    for hop in range(most):
        found[going, hop] = number[row]
        after = routing.next[row]
        on = (after >= 0) & single[after] if len(single) else after >= 0
        going, row = going[on], routing.rows[after[on]]
    return source[pair], destination[pair], found


def _have_one_channel(routing: TableRouting, channel: np.ndarray) -> np.ndarray:
    """bool[C]: whether all rows of a configuration lead over the same virtual channel's class."""
    if not len(channel):
        return np.zeros(0, bool)
    first = routing.rows[:-1]
    return np.minimum.reduceat(channel, first) == np.maximum.reduceat(channel, first)


def table_packets(routing: TableRouting, classes: np.ndarray, cycle: np.ndarray, *, entering: bool) -> list[str]:
    """`source → destination`, one for each channel of a cycle: a packet that passes it and then the next one.

    cycle      int64[L]  node · W + channel, in order
    entering   the channel is the packet's first, and it has no choice of the next one (`mark_table`)
    """
    channel = channel_of_rows(routing, classes)
    width = routing.topology.ports.shape[1] * (int(classes.max(initial=0)) + 1)
    number = routing.at[routing.owner].astype(np.int64) * width + channel
    wanted = dict(zip(zip(cycle.tolist(), np.roll(cycle, -1).tolist()), range(len(cycle))))
    is_entry = np.zeros(len(routing.at), bool)
    is_entry[routing.entry] = True
    single = _have_one_channel(routing, channel)
    found: dict[int, str] = {}
    in_cycle = np.zeros(int(number.max(initial=0)) + 1, bool)
    in_cycle[cycle] = True
    for row, then in steps_of(routing):
        some = in_cycle[number[row]] & in_cycle[number[then]]
        if entering:
            some &= is_entry[routing.owner[row]] & single[routing.next[row]]
        for one, other in zip(row[some].tolist(), then[some].tolist()):
            place = wanted.get((int(number[one]), int(number[other])))
            if place is not None and place not in found:
                holder = int(routing.owner[one])
                source = int(routing.at[holder]) if entering else _source_of(routing, holder)
                found[place] = f"{source} → {int(routing.destination[holder])}"
    return [found[place] for place in range(len(cycle))]


def _source_of(routing: TableRouting, configuration: int) -> int:
    """A node whose packets come to a configuration: backwards over those before it, which lead to it in order."""
    goal = int(routing.destination[configuration])
    low = int(routing.first[goal])
    row = np.arange(routing.rows[low], routing.rows[configuration + 1])
    before: dict[int, int] = {}
    for one in row.tolist():
        before.setdefault(int(routing.next[one]), int(routing.owner[one]))
    entries = set(routing.entry[routing.entry_pair // routing.topology.nodes == goal].tolist())
    while configuration not in entries:
        configuration = before[configuration]
    return int(routing.at[configuration])
