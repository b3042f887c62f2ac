"""A random permutation of the terminals."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from torusweep.networks.topology import Topology, Whole
from torusweep.traffic.matrix import Traffic, permutation

Seed = Annotated[int, Whole(0, "seed of the random choice")]


def random_permutation(topology: Topology, seed: Seed = 0) -> Traffic:
    """To one terminal each, drawn once for the whole run; a terminal may send to itself.

    Source: random words of Philox4x64 (Salmon et al. 2011), keyed by the seed, sorted.
    """
    words = np.random.Philox(key=[seed, 2]).random_raw(len(topology.terminals))
    return permutation(np.argsort(words, kind="stable"))
