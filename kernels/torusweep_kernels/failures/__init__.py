"""Draw many random sets of failed parts of a network, and find the connectivity and distances of the survivors.

A part fails as a whole: a link, a node, a block of nodes. Draws are numbered. A draw depends only on its number and the
seed, so that the division of draws among threads and batches does not change it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.checks import check_capacity, expecting, within
from torusweep_kernels.threads import thread_count

STREAM = 0x0A7A11  # of the random words, apart from those of walks and packets


class Failures(NamedTuple):
    """The failed parts of D draws: part[start[i]] … part[start[i + 1] − 1] fail in draw i.

    start int64[D + 1], part int32[F]
    """

    start: np.ndarray
    part: np.ndarray


class Parts(NamedTuple):
    """The members of M parts: part m has the members member[start[m]] … member[start[m + 1] − 1].

    start     int64[M + 1]
    member    int64[·]  nodes, or channels as places in ports.ravel(); a failed channel loses one of its parallel links
    of_nodes  whether members are nodes
    """

    start: np.ndarray
    member: np.ndarray
    of_nodes: bool


class Network(NamedTuple):
    """A network with parts that may fail.

    ports      int32[N, P]         neighbour through each port, −1 = none
    capacity   int32[N, P] | None  number of parallel links of each channel; None: 1 each
    terminals  int64[N]            number of terminals at each node
    directed   whether some channel has no reverse channel
    """

    ports: np.ndarray
    capacity: np.ndarray | None
    terminals: np.ndarray
    directed: bool


class Outcomes(NamedTuple):
    """The survivors of each draw, int64[D] each.

    surviving  number of terminals on nodes that work
    largest    number of terminals in the component with the most; in a directed network, in a strong component
    hops       sum of distances over all ordered pairs of surviving terminals with a path; −1 without `distances`
    diameter   largest of these distances; −1 without `distances`

    All surviving terminals reach each other if surviving = largest.
    """

    surviving: np.ndarray
    largest: np.ndarray
    hops: np.ndarray
    diameter: np.ndarray


def draw_failures(
    parts: int,
    draws: int,
    *,
    count: int | None = None,
    probability: float | None = None,
    seed: int = 0,
    first: int = 0,
    backend: str = "auto",
) -> Failures:
    """Draw the failed parts of draws first … first + draws − 1.

    count        number of parts that fail; every set of this size is equally likely
    probability  alternatively, the probability with which each part fails, independently of the others
    seed         0 … 2⁶⁴ − 1
    backend      numpy: the specification; otherwise numba. Results are the same to the bit

    Words come from Philox4x32-10 with the counter (draw, place, stream) and the key seed. With a count, the first parts
    of a random permutation fail (Durstenfeld 1964; `philox.below` is biased by less than parts / 2³²), so that a draw's
    failures are among those of the same draw with a larger count. With a probability, 64 bits of each part are compared
    with it, so that the failures are among those of a larger probability, too.

    Raises ValueError unless exactly one of count and probability is given, 0 ≤ count ≤ parts, 0 ≤ probability ≤ 1.
    """
    expect = expecting("draw_failures")
    expect((count is None) != (probability is None), "count or probability", "both" if count is not None else "neither")
    expect(parts >= 0 and draws >= 0 and first >= 0, "parts, draws, first ≥ 0", (parts, draws, first))
    expect(count is None or 0 <= count <= parts, f"count of 0 … {parts}", count)
    expect(probability is None or 0 <= probability <= 1, "probability of 0 … 1", probability)
    expect(0 <= seed < 2**64, "seed of 0 … 2⁶⁴ − 1", seed)
    chosen = backends.resolve("numba" if backend in ("auto", "cupy") else backend)
    kernel = backends.implementation(__name__, chosen)
    if count is not None:
        return Failures(np.arange(draws + 1, dtype=np.int64) * count, kernel.some(parts, draws, count, seed, first))
    assert probability is not None
    if probability == 1:  # 2⁶⁴ is no 64-bit word
        every = np.tile(np.arange(parts, dtype=np.int32), draws)
        return Failures(np.arange(draws + 1, dtype=np.int64) * parts, every)
    return Failures(*kernel.each(parts, draws, int(probability * 2.0**64), seed, first))


def after_failures(
    network: Network,
    parts: Parts,
    failures: Failures,
    *,
    distances: bool = True,
    backend: str = "auto",
    threads: int | None = None,
) -> Outcomes:
    """Compute connectivity and distances of the survivors after each draw.

    distances  whether to compute distances; without them, a draw's time is proportional to the number of channels
    backend    numpy: the specification, dense matrices, for small networks; otherwise numba. Results are the same
    threads    CPU threads of numba; by default all that it may use. The result does not depend on it

    A failed node loses its channels and its terminals, a failed link its channels. Method: bit-parallel breadth-first
    search as in `distance`. A dead channel leads from a node to itself, so that no list of links is made anew.
    Memory per thread: two rows with a bit for each pair of a source and a node.

    Raises ValueError for arrays that contradict each other.
    """
    ports = np.ascontiguousarray(network.ports, np.int32)
    check(network, parts, failures, threads)
    capacity = np.ones(ports.shape, np.int32) if network.capacity is None else network.capacity.astype(np.int32)
    capacity = np.where(ports >= 0, capacity, 0).astype(np.int32)
    task = Network(ports, capacity, network.terminals.astype(np.int64), network.directed)
    what = Parts(parts.start.astype(np.int64), parts.member.astype(np.int64), parts.of_nodes)
    drawn = Failures(failures.start.astype(np.int64), failures.part.astype(np.int32))
    chosen = backends.resolve("numba" if backend in ("auto", "cupy") else backend)
    kernel = backends.implementation(__name__, chosen)
    return Outcomes(*kernel.outcomes(task, what, drawn, distances, thread_count(threads)))


def check(network: Network, parts: Parts, failures: Failures, threads: int | None) -> None:
    """Raise ValueError if the arrays do not agree; the message names the array and what was expected."""
    expect = expecting("after_failures")
    ports = network.ports
    expect(ports.ndim == 2, "ports of shape [N, P]", ports.shape)
    nodes = len(ports)
    within(expect, "ports", ports, -1, nodes - 1)
    check_capacity(expect, network.capacity, ports)
    expect(network.terminals.shape == (nodes,), f"terminals of shape {(nodes,)}", network.terminals.shape)
    within(expect, "terminals", network.terminals, 0, 2**31 - 1)
    count = len(parts.start) - 1
    within(expect, "members", parts.member, 0, (nodes if parts.of_nodes else ports.size) - 1)
    within(expect, "failed parts", failures.part, 0, count - 1)
    for name, start, listed in (("parts", parts.start, parts.member), ("failures", failures.start, failures.part)):
        rising = len(start) > 0 and start[0] == 0 and start[-1] == len(listed) and bool((np.diff(start) >= 0).all())
        expect(rising, f"the start of {name} rising from 0 to {len(listed)}", start)
    if not parts.of_nodes and parts.member.size:
        expect(bool((ports.reshape(-1)[parts.member] >= 0).all()), "members that are channels", "a port without a link")
    expect(threads is None or threads >= 1, "threads ≥ 1 or None", threads)


class Faulty(NamedTuple):
    """B networks with faults.

    ports     int32[B, N, P]         neighbour through each port, −1 = none
    capacity  int32[B, N, P] | None  number of parallel links of each channel; None if the faultless network has None
    works     bool[B, N]             whether each node works
    links     int64[B]               number of links left after the nodes failed; some of these then fail. If there are
                                     fewer than should fail, no link of this network has failed
    """

    ports: np.ndarray
    capacity: np.ndarray | None
    works: np.ndarray
    links: np.ndarray


def with_faults(
    ports: np.ndarray,
    capacity: np.ndarray | None,
    *,
    directed: bool,
    links: np.ndarray,
    nodes: np.ndarray,
    seeds: np.ndarray,
    threads: int | None = None,
) -> Faulty:
    """Return a network with many sets of random faults: nodes[b] nodes fail, then links[b] of the remaining links.

    ports         int32[N, P]         neighbour through each port, −1 = none
    capacity      int32[N, P] | None  number of parallel links of each channel, which fail one by one; None: 1 each
    directed      whether links are directed; otherwise a link is a channel and the first reverse channel
    links, nodes  int64[B] ≥ 0        numbers of faults; some node must be left
    seeds         int64[B] ≥ 0        the same seed gives the same faults; those of a smaller number are among them
    threads       CPU threads; by default all that Numba may use. The result does not depend on it

    The nodes and links with the smallest random words fail. The words are those of Philox4x64-10 (Salmon et al. 2011)
    with the key (seed, 0) for nodes and (seed, 1) for links, which are in the order of tails and ports. The
    specification, for one seed, is `torusweep.networks.families.modified.faulty`.

    Raises ValueError for arrays that contradict each other.
    """
    expect = expecting("with_faults")
    ports = np.ascontiguousarray(ports, np.int32)
    expect(ports.ndim == 2, "ports of shape [N, P]", ports.shape)
    within(expect, "ports", ports, -1, len(ports) - 1)
    check_capacity(expect, capacity, ports)
    links, nodes, seeds = (np.ascontiguousarray(array, np.int64) for array in (links, nodes, seeds))
    expect(
        links.shape == nodes.shape == seeds.shape == (len(seeds),), "links, nodes and seeds of shape [B]", seeds.shape
    )
    within(expect, "links", links, 0, 2**62)
    within(expect, "nodes", nodes, 0, len(ports) - 1)
    within(expect, "seeds", seeds, 0, 2**63 - 1)
    parallel = np.where(ports >= 0, 1 if capacity is None else capacity, 0).astype(np.int32)
    back = np.zeros(ports.shape, np.int32)
    if not directed and ports.size:
        tail = np.arange(len(ports))
        for port in range(ports.shape[1]):
            back[:, port] = np.argmax(ports[ports[:, port]] == tail[:, None], axis=1)
    from torusweep_kernels.failures import faults

    network = ports, parallel, back, directed
    some, left, works, total = faults.faults_of(network, (links, nodes, seeds), thread_count(threads))
    return Faulty(some, None if capacity is None else left, works, total)


__all__ = [
    "Failures",
    "Faulty",
    "Network",
    "Outcomes",
    "Parts",
    "after_failures",
    "draw_failures",
    "with_faults",
]
