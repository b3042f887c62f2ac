"""Rows that searches from many sources touch on a GPU, counted on the CPU: what the kernel does, and what it could do.

    python -m benchmarks.gpu_rows "torus(k=32, n=3)" [--lanes 256 1024 4096]

A row has the bits of all sources of a node. *gathered*: rows whose predecessors the kernel reads, because they are not
full; it reads and writes all others, too. *fresh*: rows of which a predecessor gained a bit in the level before, which
are all that a search must touch. Both are shares of nodes times levels.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from torusweep.networks.families import build

from benchmarks.gpu_jobs import cells

WORD = 64


class Rows(NamedTuple):
    """Of one block of sources: levels, and rows summed over them."""

    levels: int
    gathered: int
    fresh: int


def rows(ports: np.ndarray, sources: np.ndarray) -> Rows:
    """A search from these sources, a bit each, whose words are tested one by one as by the kernel.

    ports int32[N, P], of a network whose every channel has one in the opposite direction: predecessors are neighbours
    """
    nodes, words = len(ports), -(-len(sources) // WORD)
    seen = np.zeros((nodes, words), np.uint64)
    bit = np.arange(len(sources))
    np.bitwise_or.at(seen, (sources, bit // WORD), np.uint64(1) << (bit % WORD).astype(np.uint64))
    full = np.bitwise_or.reduce(seen, axis=0)
    new = seen.any(axis=1)
    levels, gathered, fresh = 0, 0.0, 0
    while new.any():
        levels += 1
        gathered += (seen != full).mean(axis=1).sum()
        fresh += int((new[ports] & (ports >= 0)).any(axis=1).sum())
        after = seen.copy()
        for port in range(ports.shape[1]):
            there = ports[:, port] >= 0
            after[there] |= seen[ports[there, port]]
        new = (after != seen).any(axis=1)
        seen = after
    return Rows(levels, round(gathered), fresh)


def nearest(ports: np.ndarray, node: int, number: int) -> np.ndarray:
    """So many nodes, the nearest to this one, itself included."""
    found, seen = [node], {node}
    for one in found:
        if len(found) >= number:
            break
        for other in ports[one].tolist():
            if other >= 0 and other not in seen:
                seen.add(other)
                found.append(other)
    return np.array(found[:number])


def line(name: str, ports: np.ndarray, lanes: int, near: bool) -> str:
    """Of the block in the middle."""
    nodes = len(ports)
    begin = (nodes - min(lanes, nodes)) // 2
    found = rows(ports, nearest(ports, nodes // 2, lanes) if near else np.arange(begin, min(begin + lanes, nodes)))
    whole = nodes * found.levels
    shares = f"{found.gathered / whole:.1%}", f"{found.fresh / whole:.1%}"
    return cells(name, lanes, "the nearest to a node" if near else "in their order", found.levels, *shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", metavar="NETWORK")
    parser.add_argument("--lanes", nargs="+", type=int, default=(256, 1024, 4096))
    options = parser.parse_args()
    print(cells("network", "sources of a block", "which", "levels", "gathered", "fresh"), cells(*["---"] * 6), sep="\n")
    for spelling in options.networks:
        ports = build(spelling).ports
        for lanes in options.lanes:
            for near in (False, True):
                print(line(spelling, ports, lanes, near), flush=True)


if __name__ == "__main__":
    main()
