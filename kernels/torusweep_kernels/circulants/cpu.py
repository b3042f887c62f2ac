"""Classes of step sets on the CPU, compiled by Numba: images are compared until one precedes the set."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import cached
from torusweep_kernels.threads import in_threads

BLOCK = 1024  # step sets a thread takes at once


def class_sizes(steps: np.ndarray, nodes: int, threads: int) -> np.ndarray:
    """See the package."""
    # −1 maps every set to itself: of each pair of units ± u one is enough
    numbers = np.arange(1, nodes // 2 + 1, dtype=np.int64)
    units = numbers[np.gcd(numbers, nodes) == 1]
    sizes = np.zeros(len(steps), np.int32)

    def block(first: int) -> None:
        part = slice(first, first + BLOCK)
        _class_sizes(steps[part], nodes, units, sizes[part])

    in_threads(block, range(0, len(steps), BLOCK), threads)
    return sizes


@cached
def _class_sizes(steps, nodes, units, sizes):
    image = np.empty(steps.shape[1], np.int64)
    for place in range(len(steps)):
        own = steps[place]
        fixed = 0
        for unit in units:
            compared = _compare(own, nodes, unit, image)
            if compared < 0:
                fixed = 0
                break
            fixed += compared == 0
        sizes[place] = len(units) // fixed if fixed else 0


@cached
def _compare(own, nodes, unit, image):
    """−1, 0, 1: the unit's image of a step set precedes the set, is the set, comes after it."""
    least = nodes
    for i in range(len(own)):
        step = unit * own[i] % nodes
        image[i] = min(step, nodes - step)
        least = min(least, image[i])
    if least != own[0]:  # most units end here: the image need not be sorted
        return -1 if least < own[0] else 1
    for i in range(1, len(image)):
        step, before = image[i], i - 1
        while before >= 0 and image[before] > step:
            image[before + 1] = image[before]
            before -= 1
        image[before + 1] = step
    for i in range(1, len(own)):
        if image[i] != own[i]:
            return -1 if image[i] < own[i] else 1
    return 0
