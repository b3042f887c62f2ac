"""Multicast: a flit goes to many terminals, and is copied where their routes part.

A channel carries a flit once, for any number of destinations. Only questions that copy flits take such
traffic (`torusweep.traffic.traffic`), with a routing that has one route for each pair.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
import scipy

from torusweep.networks.names import number_of, terminal_names
from torusweep.networks.topology import Meaning, Topology, Whole, require
from torusweep.traffic.matrix import Traffic

Root = Annotated[int | str, Whole(0, "the terminal that sends: its number, or its name in quotes")]
To = Annotated[
    list[int | str] | None, Meaning("terminals that receive, as [1, 2, 5] or names in quotes; if absent, all others")
]
Size = Annotated[
    int | None, Whole(2, "terminals per group, in the order of their numbers; if absent, one group of all terminals")
]


def multicast(topology: Topology, root: Root = 0, to: To = None) -> Traffic:
    """Send each flit from one terminal to several others; it is copied where their routes part.

    Loads are for a sender that injects one flit per cycle.
    Source: the operation's definition (one to many); trees of unicast routes, Lin & McKinley 1993.
    """
    terminals, names = len(topology.terminals), terminal_names(topology)
    sender = _terminal(topology, names, root, "root")
    receivers = np.setdiff1d(np.arange(terminals), [sender])
    if to is not None:
        receivers = np.unique([_terminal(topology, names, each, "to") for each in to]).astype(np.int64)
        require(sender not in receivers, "to", root, "other terminals than the sender", "it has its own flit")
    require(len(receivers) > 0, "to", len(receivers), "a terminal or more", "a flit is for somebody")
    return _to_each(terminals, np.full(len(receivers), sender), receivers)


def multicast_all(topology: Topology, size: Size = None) -> Traffic:
    """Send each flit from every terminal to all others, or all in its group of `size`, copied where routes part.

    Each terminal sends one flit per cycle, as when groups of accelerators share their parts in tensor parallelism.
    Source: the operation's definition (all to all of them, MPI_Allgather).
    """
    terminals = len(topology.terminals)
    each = terminals if size is None else size
    whole = each > 1 and terminals % each == 0
    require(whole, "size", each, f"2 or more, and a divisor of {terminals}", "all groups have equally many terminals")
    member = np.arange(each)
    sender, receiver = (grid.reshape(-1) for grid in np.meshgrid(member, member, indexing="ij"))
    first = each * np.arange(terminals // each)[:, None]
    others = sender != receiver
    return _to_each(terminals, (first + sender[others]).reshape(-1), (first + receiver[others]).reshape(-1))


def _terminal(topology: Topology, names: tuple[object, ...] | None, given: int | str, parameter: str) -> int:
    found = int(number_of(names, given, parameter))
    most = len(topology.terminals) - 1
    require(0 <= found <= most, parameter, found, f"0 … {most}", f"{topology.spelling} has {most + 1} terminals")
    return found


def _to_each(terminals: int, sender: np.ndarray, receiver: np.ndarray) -> Traffic:
    own = scipy.sparse.coo_array((np.ones(len(sender)), (sender, receiver)), shape=(terminals, terminals))
    ones, none = np.ones(terminals), np.zeros(terminals)
    return Traffic(ones, none, scipy.sparse.csr_array(own), symmetric=False, multicast=True)
