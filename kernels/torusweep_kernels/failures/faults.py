"""Make one network with the faults of many seeds, compiled by Numba; each thread takes some of the seeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from torusweep_kernels.compile import cached
from torusweep_kernels.philox.cpu import fill4x64
from torusweep_kernels.threads import in_threads

SHARE = 256  # networks that a thread takes at once


def faults_of(network: tuple[Any, ...], faults: tuple[np.ndarray, ...], threads: int) -> tuple[np.ndarray, ...]:
    """Return (ports, capacity, works, links) as in `Faulty`; compiled version of `with_faults`.

    network  ports; parallel links int32[N, P], 0 = no channel; port of each channel's reverse; whether directed
    faults   links, nodes and seeds, int64[B] each
    """
    ports, links = network[0], faults[0]
    shape = len(links), *ports.shape
    some, left = np.empty(shape, np.int32), np.empty(shape, np.int32)
    works, total = np.empty(shape[:2], bool), np.empty(len(links), np.int64)

    def part(first: int) -> None:
        own = slice(first, first + SHARE)
        _fail(*network, *(array[own] for array in (*faults, some, left, works, total)))

    in_threads(part, range(0, len(links), SHARE), threads)
    return some, left, works, total


@cached
def _fail(ports, parallel, back, directed, links, nodes, seeds, some, left, works, total):
    number, width = ports.shape
    most = 0
    for tail in range(number):
        for port in range(width):
            most += parallel[tail, port]
    words = np.empty(max(most, number), np.uint64)
    least = np.empty(max(most, number), np.int64)
    listed = np.empty(most, np.int64)
    for place in range(len(seeds)):
        alive, after = works[place], left[place]
        alive[:] = True
        if nodes[place]:
            _draw(seeds[place], 0, number, nodes[place], words, least)
            for turn in range(nodes[place]):
                alive[least[turn]] = False
        count = 0
        for tail in range(number):
            for port in range(width):
                head = ports[tail, port]
                after[tail, port] = parallel[tail, port] if head >= 0 and alive[tail] and alive[head] else 0
                if directed or tail < head:
                    for _ in range(after[tail, port]):
                        listed[count] = tail * width + port
                        count += 1
        total[place] = count
        if links[place] and links[place] <= count:
            _draw(seeds[place], 1, count, links[place], words, least)
            for turn in range(links[place]):
                tail, port = divmod(listed[least[turn]], width)
                after[tail, port] -= 1
                if not directed:
                    after[ports[tail, port], back[tail, port]] -= 1
        for tail in range(number):
            for port in range(width):
                some[place, tail, port] = ports[tail, port] if after[tail, port] > 0 else -1


@cached
def _draw(seed, stream, population, count, words, least):
    """Set least[0 … count − 1] to the numbers of 0 … population − 1 with the smallest words; equal words in order."""
    fill4x64(seed, stream, words[:population])
    if 8 * count > population:
        least[:population] = np.argsort(words[:population], kind="mergesort")
        return
    taken = 0
    for number in range(population):
        word = words[number]
        if taken == count and word >= words[least[taken - 1]]:
            continue
        if taken < count:
            taken += 1
        turn = taken - 1
        while turn > 0 and words[least[turn - 1]] > word:
            least[turn] = least[turn - 1]
            turn -= 1
        least[turn] = number
