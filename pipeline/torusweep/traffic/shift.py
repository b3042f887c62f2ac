"""The permutation that adds to the numbers of terminals."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from torusweep.networks.topology import Meaning, Topology, require
from torusweep.traffic.matrix import Traffic, permutation

By = Annotated[int | None, Meaning("places of the destination behind the source; half the terminals where left out")]


def shift(topology: Topology, by: By = None) -> Traffic:
    """To the terminal `by` places on, modulo their number: those of a router send to one or two other routers.

    Constraint: by not a multiple of the number of terminals.
    Source: Zahavi et al. 2010, Optimized InfiniBand fat-tree routing for shift all-to-all communication patterns.
    """
    count = len(topology.terminals)
    steps = count // 2 if by is None else by
    require(steps % count != 0, "by", steps, f"no multiple of {count}", "every terminal would send to itself")
    return permutation((np.arange(count) + steps) % count)
