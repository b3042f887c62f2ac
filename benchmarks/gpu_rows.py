"""What searches from many sources touch on a GPU, counted on the CPU for both methods of levels.cu.

    python -m benchmarks.gpu_rows "torus(k=32, n=3)" [--lanes 256 1024 4096]

A row has the bits of all sources of a node, in pieces of 128. *gathered*: words of which `dense` reads the
predecessors, because they are not full; it reads and writes all others, too. *fresh*: rows of which a predecessor
gained a bit in the level before. *read*: pieces of which one did, which `sparse` reads. All are shares of nodes times
levels.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from torusweep.networks.families import build
from torusweep_kernels.distance.gpu import NEAR
from torusweep_kernels.distance.single_source import near_order

from benchmarks.gpu_jobs import cells

WORD = 64
PIECE = 2  # words


class Rows(NamedTuple):
    """Of one block of sources: levels, and rows summed over them, a piece as its part of a row."""

    levels: int
    gathered: int
    fresh: int
    read: int


def rows(ports: np.ndarray, sources: np.ndarray) -> Rows:
    """A search from these sources, a bit each, whose words are tested one by one as by the kernel.

    ports int32[N, P], of a network whose every channel has one in the opposite direction: predecessors are neighbours
    """
    nodes, words = len(ports), -(-len(sources) // WORD)
    seen = np.zeros((nodes, words), np.uint64)
    bit = np.arange(len(sources))
    np.bitwise_or.at(seen, (sources, bit // WORD), np.uint64(1) << (bit % WORD).astype(np.uint64))
    full = np.bitwise_or.reduce(seen, axis=0)
    new = by_piece(seen != 0)
    levels, gathered, fresh, read = 0, 0.0, 0, 0.0
    while new.any():
        levels += 1
        gathered += (seen != full).mean(axis=1).sum()
        touched = (new[ports] & (ports >= 0)[:, :, None]).any(axis=1)
        fresh += int(touched.any(axis=1).sum())
        read += touched.mean(axis=1).sum()
        after = seen.copy()
        for port in range(ports.shape[1]):
            there = ports[:, port] >= 0
            after[there] |= seen[ports[there, port]]
        new = by_piece(after != seen)
        seen = after
    return Rows(levels, round(gathered), fresh, round(read))


def by_piece(words: np.ndarray) -> np.ndarray:
    """bool[N, pieces]: whether bool[N, words] has a true word in each piece."""
    return np.logical_or.reduceat(words, np.arange(0, words.shape[1], PIECE), axis=1)


def line(name: str, ports: np.ndarray, lanes: int, near: bool) -> str:
    """Of the block in the middle."""
    nodes = len(ports)
    every = near_order(ports, np.arange(nodes, dtype=np.int32), NEAR) if near else np.arange(nodes)
    begin = (nodes - min(lanes, nodes)) // 2 // NEAR * NEAR
    found = rows(ports, every[begin : begin + lanes])
    shares = (f"{number / (nodes * found.levels):.1%}" for number in found[1:])
    return cells(name, lanes, f"near each other, {NEAR}" if near else "in their order", found.levels, *shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", metavar="NETWORK")
    parser.add_argument("--lanes", nargs="+", type=int, default=(256, 1024, 4096))
    options = parser.parse_args()
    head = cells("network", "sources of a block", "which", "levels", "gathered", "fresh", "read")
    print(head, cells(*["---"] * 7), sep="\n")
    for spelling in options.networks:
        ports = build(spelling).ports
        for lanes in options.lanes:
            for near in (False, True):
                print(line(spelling, ports, lanes, near), flush=True)


if __name__ == "__main__":
    main()
