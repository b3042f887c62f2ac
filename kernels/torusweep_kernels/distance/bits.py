"""Breadth-first search of many sources at once, one bit each, in vector instructions.

Row v of a buffer holds the sources that have reached node v. A level is, for every node,
new[v] = old[v] | OR over predecessors u of old[u]; the bits that a level adds are the pairs at that distance.

32 consecutive nodes form a tile. A tile is skipped at a level if neither it nor a tile that it reads changed at the
last level, and always once every lane has reached all of its nodes. On a torus only the wave fronts remain."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached
from torusweep_kernels.distance.lanes import WORD
from torusweep_kernels.distance.level import TILE, Graph, advance, tally


@cached
def search(graph, limits, weight, old, new, origin, totals, fresh, counts, steep, width):
    """All levels of one block.

    graph, limits, weight   see `level`
    old, new                uint64[N·W]: scratch
    origin                  int32[64·W]: the node that each lane starts from, −1 = unused
    totals, fresh           scratch: int64[W] to count per word, or uint64[TILE·W] to count per lane; the other is None
    counts                  zeros, int64[levels, W] or int32[levels, 64·W], with room for some levels
    steep                   levels for each used lane, above which a queue is faster
    width                   a tuple of W elements

    Returns (levels, counts), the new pairs at each distance. levels is 0 if the search has at least WORD levels and
    `steep` for each used lane.
    """
    words = len(width)
    nodes = len(graph.start) - 1
    tiles = -(-nodes // TILE)
    sparse = len(graph.tile_start) == tiles + 1
    full = np.zeros(words, np.uint64)  # the used lanes
    limit = 0
    old[:] = 0
    for lane in range(len(origin)):
        node = origin[lane]
        if node < 0:
            continue
        word, bit = lane // WORD, np.uint64(1) << np.uint64(lane % WORD)
        full[word] |= bit
        old[node * words + word] |= bit
        limit += steep
        if weight is None or weight[node] != 0:
            counts[0, lane if totals is None else word] += 1
    limit = max(limit, WORD)
    changed = np.ones(tiles, np.uint8)
    next_changed = np.zeros(tiles, np.uint8)
    # One buffer may lack the last bits of a complete tile; its readers took them one level after it was complete.
    complete = np.zeros(tiles, np.uint8)
    level = 0
    some = True
    while some:
        level += 1
        if level >= limit:
            return 0, counts
        if level == len(counts):
            longer = np.zeros((2 * level, counts.shape[1]), counts.dtype)
            longer[:level] = counts
            counts = longer
        if totals is not None:
            totals[:] = 0
        some = False
        for tile in range(tiles):
            next_changed[tile] = 0
            if complete[tile]:
                continue
            active = changed[tile] or not sparse
            if not active:
                for i in range(graph.tile_start[tile], graph.tile_start[tile + 1]):
                    if changed[graph.tile_predecessor[i]]:
                        active = True
                        break
            if active:
                low, high = tile * TILE, min(nodes, tile * TILE + TILE)
                outcome = advance(graph, limits, weight, old, new, low, high, full, totals, fresh, width)
                if outcome & 1:
                    next_changed[tile] = 1
                    some = True
                    if fresh is not None:
                        tally(fresh, high - low, counts[level], width)
                if outcome & 2:
                    complete[tile] = 1
        if totals is not None:
            counts[level] = totals
        old, new = new, old
        changed, next_changed = next_changed, changed
    return level, counts


@cached
def tile_graph(start, predecessor):
    """(tile_start int32[T+1], tile_predecessor int32[·]): which other tiles each tile reads.

    Empty if a tile reads more than TILE others on average: looking at them would cost more than it saves.
    """
    nodes = len(start) - 1
    tiles = -(-nodes // TILE)
    tile_start = np.zeros(tiles + 1, np.int32)
    tile_predecessor = np.empty(TILE * tiles, np.int32)
    seen = np.full(tiles, -1, np.int32)
    used = 0
    for tile in range(tiles):
        seen[tile] = tile
        for link in range(start[tile * TILE], start[min(nodes, tile * TILE + TILE)]):
            other = predecessor[link] // TILE
            if seen[other] != tile:
                if used == len(tile_predecessor):
                    return np.zeros(0, np.int32), np.zeros(0, np.int32)
                seen[other] = tile
                tile_predecessor[used] = other
                used += 1
        tile_start[tile + 1] = used
    return tile_start, tile_predecessor[:used].copy()


def graph_of(start: np.ndarray, predecessor: np.ndarray, degree: int) -> Graph:
    """The `Graph` of arcs sorted by head (see `predecessors.predecessors`)."""
    return Graph(start, predecessor, degree, *tile_graph(start, predecessor))
