"""Traffic from each group of a network of groups to another one: the worst case of minimal routing there."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import scipy

from torusweep.errors import BadInput
from torusweep.networks.families.dragonfly import Grouped
from torusweep.networks.topology import Meaning, Topology, require
from torusweep.traffic.matrix import Traffic, from_pairs

Shift = Annotated[int, Meaning("group of the destinations, counted from the source's")]


def group_shift(topology: Topology, shift: Shift = 1) -> Traffic:
    """To a terminal of the group `shift` behind the source's own, modulo their number, each equally often.

    Constraint: a dragonfly or megafly without faults in its terminals; shift not a multiple of the number of groups.
    Source: Kim et al. 2008, sec. 4.2 (worst case: all of group i to group i + 1); García et al. 2012 (ADV+i).
    """
    shape = topology.plan.structure
    if not isinstance(shape, Grouped):
        raise BadInput(
            "expected a dragonfly or megafly without faults, got another network;"
            " choose a pattern that suits every network"
        )
    require(shift % shape.groups != 0, "shift", shift, f"no multiple of {shape.groups}", "that is the own group")
    group = topology.terminals // shape.size
    terminals = np.arange(len(group))
    size = len(group) // shape.groups
    # terminals are numbered group by group, equally many in each
    destination = (group + shift)[:, None] % shape.groups * size + np.arange(size)
    pairs = np.repeat(terminals, size), destination.reshape(-1)
    share = np.full(len(pairs[0]), 1 / size)
    return from_pairs(scipy.sparse.csr_array(scipy.sparse.coo_array((share, pairs), shape=(len(group), len(group)))))
