"""The specification: all images of a step set, by Python's integers."""

from __future__ import annotations

from math import gcd

import numpy as np


def class_sizes(steps: np.ndarray, nodes: int, threads: int) -> np.ndarray:
    """See the package."""
    units = [unit for unit in range(1, nodes) if gcd(unit, nodes) == 1]
    sizes = np.zeros(len(steps), np.int32)
    for place, own in enumerate(steps.tolist()):
        images = {tuple(sorted(min(unit * step % nodes, -unit * step % nodes) for step in own)) for unit in units}
        if tuple(own) == min(images):
            sizes[place] = len(images)
    return sizes
