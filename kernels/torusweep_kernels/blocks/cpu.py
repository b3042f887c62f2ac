"""Compiled version of `torusweep_kernels.blocks.measure_networks`. A thread measures a network at a time, in its cache.

Distances use rows of bits: a node's row has a bit for each node that it reaches, and level by level it receives those
of its neighbours. Loads are found from one source after the other: a search lists the channels that lead one hop
farther, and a pass back along this list adds up the loads. A share of a demand, 1 / paths, is held as four numbers
(`split`). Sums of the first three are exact in float64 in any order: a channel costs one vector addition and product.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels.blocks.reference import Measured, Task
from torusweep_kernels.blocks.vectors import LANES, carry, copy_row, gather
from torusweep_kernels.compile import cached, inlined, ones, plain
from torusweep_kernels.sums.cpu import add, round_once, times, two_sum
from torusweep_kernels.threads import in_threads

BITS = 20  # of the second and of the third limb
MOST_PATHS = 2.0 ** (53 - BITS)  # of all pairs together: with more, sums of these limbs are not exact
TABLE = 1 << 12  # numbers of paths whose limbs are kept
LEVEL = np.uint64(1 << 48)  # a node's state: its distance times this, and its paths
NEW = np.uint64(0xFFFF << 48)  # not reached
MOST_OF_A_NODE = np.uint64(1 << 32)  # paths; with fewer than 2^16 channels the paths of a state then stay below LEVEL
MOST_CHANNELS = 2**16 - 1  # of a network, each of parallel links counted
SHARES = 8  # parts of a block for each thread
AT_ONCE = 4096  # networks of a part, at most
WIDTHS = 3, 4, 6  # ports of networks whose loops are unrolled


@inlined
def split(paths, bits, row):
    """Write 1 / paths as four limbs: multiples of 2^−bits, 2^−(bits + 20) and 2^−(bits + 40), and the remainder."""
    scale, left, step = 1.0, 1.0, 2.0**bits
    for limb in range(3):
        scale /= step
        left *= step
        digit = np.floor(left / paths)
        left -= digit * paths
        row[limb] = digit * scale
        step = 2.0**BITS
    row[3] = left / paths * scale


class Scratch(NamedTuple):
    """Scratch memory of a thread, for N nodes, C = N · P channels, and rows of W words (1, or a multiple of LANES).

    heads   uint32[C]      node at the other end of each channel; N = no channel
    tails   uint32[C]      node that each channel leaves
    links   float64[C]     parallel links of each channel; empty if each channel is one link
    rows    uint64[2, N + 1, W]   bits of the nodes that each node reaches, before and after a level
    planes  uint64[D + 1, W]  binary digits of the nodes' numbers of terminals; last row: bits of the working nodes
    state   uint64[N + 1]  distance and paths of each node in the search from a source: see LEVEL
    order   uint32[N + 1]  nodes in the order of their distances
    dag     uint32[C + 1]  channels that lead one hop farther
    paths   float64[N]     number of shortest paths to each node
    known   bool[TABLE]    whether `table`, float64[TABLE, 4], has the limbs of 1 / paths
    unit    float64[N + 1, 4]  limbs of what each path to a node carries
    load    float64[C, 4]  limbs of each channel's load
    """

    heads: np.ndarray
    tails: np.ndarray
    links: np.ndarray
    rows: np.ndarray
    planes: np.ndarray
    state: np.ndarray
    order: np.ndarray
    dag: np.ndarray
    paths: np.ndarray
    known: np.ndarray
    table: np.ndarray
    unit: np.ndarray
    load: np.ndarray


class Ways(NamedTuple):
    """Options that say how networks are measured.

    loads     whether to compute loads
    digits    number of binary digits of the largest number of terminals of a node
    bits      number of bits of the first limb
    unrolled  a tuple of P elements if loops over a node's channels are to be unrolled, else an empty tuple
    weighted  a tuple that is not empty if channels may be parallel links
    """

    loads: bool
    digits: int
    bits: int
    unrolled: tuple[int, ...]
    weighted: tuple[int, ...]


@plain
def search(source, ports, scratch, unrolled, weighted):
    """Search from a source: nodes in the order of their distances, path counts, channels that lead one hop farther.

    unrolled, weighted  as in `Ways`
    Returns the number of nodes reached (0 if there are too many paths), and the number of such channels.
    """
    heads, links, state, order, dag = scratch.heads, scratch.links, scratch.state, scratch.order, scratch.dag
    state[:-1] = NEW
    state[-1] = 0
    order[0] = source
    state[source] = 1
    end, listed, place = np.uint64(1), np.uint64(0), np.uint64(0)
    while place < end:
        node = np.uint64(order[place])
        own = state[node]
        following = (own & NEW) + LEVEL
        paths = own & (LEVEL - np.uint64(1))
        if paths > MOST_OF_A_NODE:
            return np.uint64(0), listed
        channel = node * np.uint64(ports)
        for _ in range(len(unrolled) if len(unrolled) else ports):
            head = np.uint64(heads[channel])
            there = state[head]
            new = there >= NEW
            order[end] = head
            end += np.uint64(new)
            there = following if new else there
            farther = np.uint64(there >= following)
            more = paths * np.uint64(links[channel]) if len(weighted) else paths
            state[head] = there + (more & (np.uint64(0) - farther))
            dag[listed] = channel
            listed += farther
            channel += np.uint64(1)
        place += np.uint64(1)
    return end, listed


@plain
def carry_back(end, listed, terminals, bits, scratch, weighted):
    """Add the loads of all flows from a source to `scratch.load`. Return the source's number of paths to all nodes."""
    state, order, paths, known, table, unit = (
        scratch.state,
        scratch.order,
        scratch.paths,
        scratch.known,
        scratch.table,
        scratch.unit,
    )
    total = 0.0
    for place in range(end):
        node = np.uint64(order[place])
        own = state[node] & (LEVEL - np.uint64(1))
        number = np.float64(np.int64(own))
        paths[node] = number
        total += number
        if len(terminals) and terminals[node] == 0:
            unit[node] = 0.0
        elif own < np.uint64(TABLE):
            if not known[own]:
                split(number, bits, table[own])
                known[own] = True
            copy_row(table, own, unit, node)
        else:
            split(number, bits, unit[node])
    heads, tails, links, dag = scratch.heads, scratch.tails, scratch.links, scratch.dag
    carry(heads, tails, dag, np.int64(listed), paths, links, unit, scratch.load, weighted)
    return total


@plain
def loads_of(ports, terminals, demand, bits, scratch, unrolled, weighted, load):
    """Set the loads of a network with a flow of `demand` between any two nodes with terminals; return their sum, or −1
    if they cannot be computed here.
    """
    scratch.load[:] = 0.0
    total = 0.0
    for source in range(ports.shape[0]):
        if len(terminals) and terminals[source] == 0:
            continue
        end, listed = search(source, ports.shape[1], scratch, unrolled, weighted)
        if end == 0:
            return -1.0
        total += carry_back(end, listed, terminals, bits, scratch, weighted)
        if total > MOST_PATHS:
            return -1.0
    hops, rest, place = 0.0, 0.0, 0
    for node in range(ports.shape[0]):
        for port in range(ports.shape[1]):
            limbs = scratch.load[place]
            high, low = two_sum(limbs[0], limbs[1])
            high, low = add(high, low, limbs[2], limbs[3])
            high, low = times(high, low, demand)
            load[node, port] = round_once(high, low)
            hops, rest = add(hops, rest, load[node, port], 0.0)
            place += 1
    return hops


@plain
def distances_of(terminals, ports, scratch, histogram, eccentricity):
    """Set a network's histogram and eccentricities. Return whether all working nodes reach each other."""
    heads, rows, planes = scratch.heads, scratch.rows, scratch.planes
    nodes, words = rows.shape[1] - 1, rows.shape[2]
    now, after = 0, 1
    rows[now] = 0
    for node in range(nodes):
        rows[now, node, node >> 6] = np.uint64(1) << np.uint64(node & 63)
        eccentricity[node] = -1 if len(terminals) and terminals[node] == 0 else 0
        histogram[0] += np.int64(terminals[node]) ** 2 if len(terminals) else 1
    level, grows = 0, True
    while grows:
        level += 1
        grows = False
        for node in range(nodes):
            pairs = 0
            first, last = node * ports, (node + 1) * ports
            for block in range(words // LANES):
                gather(rows[now], heads, first, last, node, block, words // LANES, rows[after])
            for word in range(words):
                before = rows[now, node, word]
                reached = rows[after, node, word]
                if words == 1:
                    reached = before
                    for channel in range(first, last):
                        reached |= rows[now, heads[channel], word]
                    rows[after, node, word] = reached
                gained = reached ^ before
                if gained:
                    grows = True
                    for digit in range(len(planes) - 1):
                        pairs += ones(gained & planes[digit, word]) << digit
            if pairs and eccentricity[node] >= 0:
                histogram[level] += pairs * terminals[node] if len(terminals) else pairs
                eccentricity[node] = level
        now, after = after, now
    works = planes[-1]
    for node in range(nodes):
        if works[node >> 6] >> np.uint64(node & 63) & np.uint64(1):
            for word in range(words):
                if works[word] & ~rows[now, node, word]:
                    return False
    return True


@plain
def prepare(ports, terminals, capacity, scratch):
    """Set a network's channels and node bits. Return the demand between two nodes with terminals; 0 if their numbers of
    terminals differ.
    """
    heads, links, planes = scratch.heads, scratch.links, scratch.planes
    nodes, width = ports.shape
    planes[:] = 0
    works = planes[-1]
    place = 0
    for node in range(nodes):
        for port in range(width):
            head = ports[node, port]
            heads[place] = nodes if head < 0 else head
            if head >= 0:
                works[node >> 6] |= np.uint64(1) << np.uint64(node & 63)
                works[head >> 6] |= np.uint64(1) << np.uint64(head & 63)
            if len(links):
                links[place] = capacity[node, port]
            place += 1
    total, most, alike = np.int64(0), np.int64(0), True
    for node in range(nodes):
        own = np.int64(terminals[node] if len(terminals) else 1)
        if own:
            bit = np.uint64(1) << np.uint64(node & 63)
            works[node >> 6] |= bit
            for digit in range(len(planes) - 1):
                if own >> digit & 1:
                    planes[digit, node >> 6] |= bit
            alike &= most in (0, own)
            most = own
            total += own
    if not alike or not total:
        return 0.0
    share = 0.0  # of a node's terminals, added up as they are where traffic between terminals becomes that of nodes
    for _ in range(most):
        share += 1.0 / total
    return share * most


@cached
def measure_some(ports, terminals, capacity, ways, histogram, eccentricity, connected, load, hops, alone):
    """Set the results of `measure` for some networks. terminals: [B, 0] if each node has one; capacity: [B, 0, 0] if
    each channel is one link.
    """
    nodes, width = ports.shape[1:]
    channels = nodes * width
    words = 1 if nodes <= 64 else -(-nodes // (64 * LANES)) * LANES
    tails = np.empty(channels, np.uint32)
    for place in range(channels):
        tails[place] = place // width
    known = TABLE if ways.loads else 0
    scratch = Scratch(
        np.empty(channels, np.uint32),
        tails,
        np.empty(capacity.shape[1] * capacity.shape[2]),
        np.zeros((2, nodes + 1, words), np.uint64),
        np.empty((ways.digits + 1, words), np.uint64),
        np.empty(nodes + 1, np.uint64),
        np.empty(nodes + 1, np.uint32),
        np.empty(channels + 1, np.uint32),
        np.empty(nodes),
        np.zeros(known, np.bool_),
        np.empty((known, 4)),
        np.zeros((nodes + 1, 4)),
        np.empty((channels, 4)),
    )
    for place in range(len(ports)):
        own = terminals[place]
        demand = prepare(ports[place], own, capacity[place], scratch)
        connected[place] = distances_of(own, width, scratch, histogram[place], eccentricity[place])
        if ways.loads:
            hops[place] = -1.0
            if demand > 0.0:
                hops[place] = loads_of(
                    ports[place], own, demand, ways.bits, scratch, ways.unrolled, ways.weighted, load[place]
                )
            alone[place] = hops[place] < 0.0


def measure(task: Task, threads: int) -> Measured:
    """Compiled version of `reference.measure`, which describes the results."""
    networks, nodes, width = task.ports.shape
    histogram = np.zeros((networks, nodes + 1), np.int64)
    eccentricity = np.empty((networks, nodes), np.int32)
    connected, alone = np.empty(networks, bool), np.zeros(networks, bool)
    terminals = np.empty((networks, 0), np.int32) if task.terminals is None else task.terminals
    capacity = np.empty((networks, 0, 0), np.int32) if task.capacity is None else task.capacity
    fits = nodes * width * int(capacity.max(initial=1)) <= MOST_CHANNELS
    ways = Ways(
        task.loads and fits,
        int(terminals.max(initial=1)).bit_length(),
        52 - 2 * max(1, nodes - 1).bit_length(),  # sums of this limb are exact: all flows together are N² units
        (0,) * width if width in WIDTHS and task.capacity is None else (),
        () if task.capacity is None else (0,),
    )
    load, hops = np.empty(task.ports.shape if task.loads else (networks, 0, 0)), np.empty(networks)
    size = max(1, min(AT_ONCE, -(-networks // (threads * SHARES))))

    def some(first: int) -> None:
        own = slice(first, first + size)
        answers = histogram[own], eccentricity[own], connected[own], load[own], hops[own], alone[own]
        measure_some(task.ports[own], terminals[own], capacity[own], ways, *answers)

    in_threads(some, range(0, networks, size), threads)
    if not task.loads:
        return histogram, eccentricity, connected, None, None, alone
    return histogram, eccentricity, connected, load, hops, alone if fits else np.ones(networks, bool)
