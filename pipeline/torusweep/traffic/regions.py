"""Traffic to all terminals, to a region, to neighbours or to another group.

Traffic to all terminals may have a hot region or a hot spot. Traffic between neighbours is a halo exchange. Traffic
from each group to another group is the worst case of minimal routing on a network of groups.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import scipy

from torusweep.errors import BadInput
from torusweep.networks.families.dragonfly import Grouped
from torusweep.networks.links import channel_matrix
from torusweep.networks.names import number_of
from torusweep.networks.topology import Meaning, Number, Topology, Whole, require
from torusweep.traffic.matrix import Traffic, all_but_self, from_pairs, same_from_all


def uniform(topology: Topology) -> Traffic:
    """Send equally to every terminal, including the source itself.

    Source: Cámara et al. 2010, sec. 6.2 (UN).
    """
    terminals = len(topology.terminals)
    return same_from_all(np.full(terminals, 1 / terminals), symmetric=True)


def uniform_other(topology: Topology) -> Traffic:
    """Send equally to every other terminal.

    Source: means over distinct pairs, as in Rahman et al. 2005, Table 1 (mesh).
    """
    return _others(topology)


def all_to_all(topology: Topology) -> Traffic:
    """Send equal messages from every terminal to every other, as the collective operation; on average, uniform_other.

    Source: the operation's definition (MPI_Alltoall).
    """
    return _others(topology)


def _others(topology: Topology) -> Traffic:
    terminals = len(topology.terminals)
    require(terminals > 1, "terminals", terminals, "two or more", "a single terminal has no destination")
    return all_but_self(terminals)


Share = Annotated[float, Number(0, "percent of all traffic that is addressed to the hot node", maximum=100)]
Node = Annotated[int | str, Whole(0, "the hot node: its number, or its name in quotes")]


def hot_region(topology: Topology) -> Traffic:
    """Send 25 % to the first 12.5 % of the terminals (lowest rows or planes, rounded up), and the rest uniformly.

    Source: Cámara et al. 2010, sec. 6.2 (HR).
    """
    terminals = len(topology.terminals)
    region = -(-terminals // 8)
    common = np.full(terminals, 0.75 / terminals)
    common[:region] += 0.25 / region
    return same_from_all(common)


def hot_spot(topology: Topology, node: Node = 0, percent: Share = 10) -> Traffic:
    """Send `percent` % of all traffic to one node, shared by its terminals, and the rest uniformly.

    Source: Pfister & Norton 1985.
    """
    hot = topology.terminals == number_of(topology.plan.names, node, "node")
    require(bool(hot.any()), "node", node, "a node that has a terminal", "nodes without terminal receive nothing")
    common = np.full(len(hot), (1 - percent / 100) / len(hot))
    common[hot] += percent / 100 / int(hot.sum())
    return same_from_all(common)


def nearest_neighbour(topology: Topology) -> Traffic:
    """Send to the node at the other end of each link, with the same amount for every link: a halo exchange.

    A node with more links sends more; the mean over terminals is 1. Links to a node without terminals
    do not count.
    Source: Cámara et al. 2010, sec. 7.4.
    """
    terminals, nodes = topology.terminals, topology.nodes
    share = 1 / np.bincount(terminals, minlength=nodes)[terminals]
    place = scipy.sparse.csr_array(
        scipy.sparse.coo_array((share, (np.arange(len(terminals)), terminals)), shape=(len(terminals), nodes))
    )
    pairs = scipy.sparse.csr_array(place @ channel_matrix(topology) @ place.T)
    require(pairs.nnz > 0, "links", 0, "a link between two terminals", "otherwise no terminal has a neighbour")
    return from_pairs(pairs, symmetric=True)


Shift = Annotated[int, Meaning("number of groups from the source's group to the destinations' group")]


def group_shift(topology: Topology, shift: Shift = 1) -> Traffic:
    """Send equally to all terminals of the group that is `shift` after the source's, modulo the number of groups.

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
