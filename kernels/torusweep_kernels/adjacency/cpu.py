"""Compiled version of `torusweep_kernels.adjacency`: counting sort by nodes, then a sort of each node's neighbours.

Each thread takes a part of the list of links and has its own counter for every node, so that a node's arcs lie in the
order of the parts. An arc holds its neighbour in 31 bits; the lowest bit tells from which end the link was listed.
"""

from __future__ import annotations

import numpy as np

from torusweep_kernels.adjacency import WIDE, Rows, narrow, reference
from torusweep_kernels.compile import plain
from torusweep_kernels.threads import in_threads, thread_count

NOTHING = -1  # a port without a link
LEAST_BLOCK = 1 << 12  # nodes of a thread
LEAST_PART = 1 << 16  # links of a thread
MOST_COUNTERS = 4  # of a node
SLACK = 1.25  # times the table: as many places may rows have that become it
EQUAL = 4  # times the arcs: as many places may equally long rows have
FEW = 32  # arcs of a node, which are sorted by insertion


def rows_of_links(links: np.ndarray, nodes: int, directed: bool, threads: int | None) -> Rows:
    """Compiled version of `torusweep_kernels.adjacency.rows_of_links`.

    If the nodes' degrees are similar, all rows get the same length, so that their memory can become the table of ports.
    """
    workers = thread_count(threads)
    loops, first, degree, arcs = _arcs_by_node(links, nodes, directed, workers)
    blocks = _parts(nodes, 4 * workers, LEAST_BLOCK)
    found = np.array(in_threads(lambda own: _sort(arcs, first, degree, own.start, own.stop), blocks, workers), np.int64)
    # a pair of nodes is in the rows of both
    both, repeated, number = (int(total) // (1 if directed else 2) for total in found[:, :3].sum(axis=0))
    parallel = np.empty(len(arcs), narrow(int(found[:, 3].max()))) if repeated else None
    in_threads(lambda own: _merge(arcs, first, own.start, own.stop, parallel, degree), blocks, workers)
    return Rows(first, degree, arcs.view(np.int32), parallel, number, loops, both, repeated)


def _arcs_by_node(
    links: np.ndarray, nodes: int, directed: bool, workers: int
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """Return the number of self-loops, each node's first arc int64[N], its number of arcs int32[N], and all arcs."""
    parts = _parts(len(links), min(workers, MOST_COUNTERS), LEAST_PART)
    counters = np.zeros((len(parts), nodes), np.int32)
    each = list(enumerate(parts))
    loops = sum(in_threads(lambda one: int(_count(links[one[1]], directed, counters[one[0]])), each, workers))
    first, degree = np.empty(nodes, np.int64), np.empty(nodes, np.int32)
    number, most = _offsets(counters, first, degree)
    if most * nodes <= EQUAL * number:
        first = np.arange(nodes) * most
        number = most * nodes
    arcs = np.empty(number, np.uint32)
    in_threads(lambda one: _place(links[one[1]], directed, first, counters[one[0]], arcs), each, workers)
    return loops, first, degree, arcs


def _parts(number: int, most: int, least: int) -> list[slice]:
    """Divide 0 … number − 1 into at most `most` parts, each of `least` numbers or more, except perhaps the last."""
    size = max(least, -(-number // most), 1)
    return [slice(low, min(low + size, number)) for low in range(0, max(number, 1), size)]


def table_of_rows(rows: Rows, threads: int | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Compiled version of `torusweep_kernels.adjacency.table_of_rows`. Rows of fitting length need no copy."""
    nodes, width = len(rows.degree), int(rows.degree.max(initial=0))
    workers = thread_count(threads)

    def table(values: np.ndarray, nothing: int) -> np.ndarray:
        stride = len(values) // max(nodes, 1)
        equal = nodes > 0 and stride * nodes == len(values) and int(rows.first[-1]) == stride * (nodes - 1)
        if equal and width < stride <= SLACK * width:  # repeated links were more than others: rows move up in place
            _move_up(values, stride, width, rows.degree, values.dtype.type(nothing))
            return values[: nodes * width].reshape(nodes, width)
        in_place = len(values) == nodes * width
        filled = values.reshape(nodes, width) if in_place else np.empty((nodes, width), values.dtype)
        in_threads(
            lambda own: _fill(rows.first, rows.degree, values, values.dtype.type(nothing), own.start, own.stop, filled),
            _parts(nodes, workers, LEAST_BLOCK),
            workers,
        )
        return filled

    return table(rows.to, NOTHING), None if rows.parallel is None else table(rows.parallel, 0)


def is_symmetric(ports: np.ndarray, capacity: np.ndarray | None, threads: int | None) -> bool:
    """Compiled version of `torusweep_kernels.adjacency.is_symmetric`.

    If every row is ascending, the channels to a node, in the order of their tails, must match its row; each thread
    takes a block of tails. Otherwise each channel to a node with a larger number is compared with the channels back,
    and the same number of channels must lead to nodes with smaller numbers.
    """
    if not ports.size:
        return True
    nodes, workers, weighted = len(ports), thread_count(threads), capacity is not None
    ports = np.ascontiguousarray(ports)
    weights = ports if capacity is None else np.ascontiguousarray(capacity)
    degree = np.empty(nodes, np.int32)
    blocks = _parts(nodes, min(workers, MOST_COUNTERS), LEAST_BLOCK)
    if all(in_threads(lambda own: bool(_ascending(ports, own.start, own.stop, degree)), blocks, workers)):

        def answered(own: slice) -> bool:
            place = np.zeros(nodes, np.int32)
            return bool(_answered(ports, weights, weighted, own.start, own.stop, degree, place))

        return all(in_threads(answered, blocks, workers))
    if ports.shape[1] > WIDE:
        return reference.is_symmetric(ports, capacity, threads)
    found = in_threads(lambda own: _unmatched(ports, weights, weighted, own.start, own.stop), blocks, workers)
    return all(matched for matched, _ in found) and sum(more for _, more in found) == 0


@plain
def _count(links, directed, count):
    """Count the arcs that leave each node. Return the number of links from a node to itself."""
    loops = 0
    for i in range(len(links)):
        tail, head = links[i, 0], links[i, 1]
        if tail == head:
            loops += 1
            continue
        count[tail] += 1
        if not directed:
            count[head] += 1
    return loops


@plain
def _offsets(counters, first, degree):
    """Turn the counts of arcs, by part and node, into the offsets at which each part begins in each node's row.

    Sets each row's first arc and number of arcs. Returns the number of all arcs, and the largest degree.
    """
    arcs, most = 0, 0
    for node in range(counters.shape[1]):
        total = 0
        for part in range(len(counters)):
            own = counters[part, node]
            counters[part, node] = total
            total += own
        first[node], degree[node] = arcs, total
        arcs += total
        most = max(most, total)
    return arcs, most


@plain
def _place(links, directed, first, place, arcs):
    for i in range(len(links)):
        tail, head = links[i, 0], links[i, 1]
        if tail == head:
            continue
        arcs[first[tail] + place[tail]] = np.uint32(head) << np.uint32(1)
        place[tail] += 1
        if not directed:
            arcs[first[head] + place[head]] = (np.uint32(tail) << np.uint32(1)) | np.uint32(1)
            place[head] += 1


@plain
def _heap_sort(values, start, end):
    """Sort values[start:end]. Even a hub with a million links in any order takes a second at most."""
    number = end - start
    for root in range(number // 2 - 1, -1, -1):
        _sink(values, start, root, number)
    for last in range(number - 1, 0, -1):
        values[start], values[start + last] = values[start + last], values[start]
        _sink(values, start, 0, last)


@plain
def _sink(values, start, root, number):
    own = values[start + root]
    while 2 * root + 1 < number:
        child = 2 * root + 1
        if child + 1 < number and values[start + child + 1] > values[start + child]:
            child += 1
        if values[start + child] <= own:
            break
        values[start + root] = values[start + child]
        root = child
    values[start + root] = own


@plain
def _sort(arcs, first, degree, low, high):
    """Sort the arcs of each node. Return the numbers of neighbours listed from both ends, of repeated neighbours and of
    links, and the most links to one neighbour.
    """
    both = repeated = number = most = 0
    for node in range(low, high):
        start, end = first[node], first[node] + degree[node]
        if end - start > FEW:
            _heap_sort(arcs, start, end)
        else:
            for i in range(start + 1, end):
                own, j = arcs[i], i - 1
                while j >= start and arcs[j] > own:
                    arcs[j + 1] = arcs[j]
                    j -= 1
                arcs[j + 1] = own
        i = start
        while i < end:
            there, forth, back = arcs[i] >> np.uint32(1), 0, 0
            while i < end and arcs[i] >> np.uint32(1) == there:
                back += arcs[i] & np.uint32(1)
                forth += 1
                i += 1
            forth -= back
            both += forth > 0 and back > 0
            repeated += max(forth, back) > 1
            number += max(forth, back)
            most = max(most, forth, back)
    return both, repeated, number, most


@plain
def _merge(arcs, first, low, high, parallel, degree):
    """Keep each neighbour once. The result replaces the arcs, which are read before they are overwritten."""
    for node in range(low, high):
        i, end = first[node], first[node] + degree[node]
        place = i
        while i < end:
            there, forth, back = arcs[i] >> np.uint32(1), 0, 0
            while i < end and arcs[i] >> np.uint32(1) == there:
                back += arcs[i] & np.uint32(1)
                forth += 1
                i += 1
            arcs[place] = there
            if parallel is not None:
                parallel[place] = max(forth - back, back)
            place += 1
        degree[node] = place - first[node]


@plain
def _move_up(values, stride, width, degree, nothing):
    """Shorten rows from `stride` to `width` places, in the same memory."""
    for node in range(len(degree)):
        for port in range(width):
            values[node * width + port] = values[node * stride + port] if port < degree[node] else nothing


@plain
def _fill(first, degree, values, nothing, low, high, table):
    for node in range(low, high):
        for port in range(degree[node]):
            table[node, port] = values[first[node] + port]
        for port in range(degree[node], table.shape[1]):
            table[node, port] = nothing


@plain
def _ascending(ports, low, high, degree):
    """Return whether nodes low … high − 1 list their neighbours in ascending order from port 0; sets their degrees."""
    for node in range(low, high):
        before, number = -1, 0
        for port in range(ports.shape[1]):
            there = ports[node, port]
            if there < 0:
                continue
            if there <= before or number < port:
                return False
            before, number = there, port + 1
        degree[node] = number
    return True


@plain
def _answered(ports, weights, weighted, low, high, degree, place):
    """Return whether each channel from nodes low … high − 1 has a reverse of equal weight. Rows are ascending."""
    if low > 0:
        for node in range(len(ports)):
            while place[node] < degree[node] and ports[node, place[node]] < low:
                place[node] += 1
    for node in range(low, high):
        for port in range(degree[node]):
            there = ports[node, port]
            back = place[there]
            if back == degree[there] or ports[there, back] != node:
                return False
            if weighted and weights[there, back] != weights[node, port]:
                return False
            place[there] = back + 1
    left = 0
    for node in range(len(ports)):
        left += place[node] < degree[node] and ports[node, place[node]] < high
    return left == 0


@plain
def _unmatched(ports, weights, weighted, low, high):
    """Return whether channels from nodes low … high − 1 to larger nodes match the reverse channels, and the excess."""
    surplus = 0
    for node in range(low, high):
        for port in range(ports.shape[1]):
            there = ports[node, port]
            if there < 0 or there == node:
                continue
            if there < node:
                surplus -= 1
                continue
            surplus += 1
            same = 0
            for other in range(ports.shape[1]):
                forth = ports[node, other] == there
                back = ports[there, other] == node
                if weighted:
                    forth = forth and weights[node, other] == weights[node, port]
                    back = back and weights[there, other] == weights[node, port]
                same += (1 if forth else 0) - (1 if back else 0)
            if same != 0:
                return False, surplus
    return True, surplus
