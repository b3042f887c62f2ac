"""Make neighbours of nodes and tables of ports from lists of links; test whether links have both directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.checks import expecting, within

MOST_LINKS = 2**30 - 1  # an undirected one is two arcs, whose number is 32-bit
SMALL = 1 << 16  # entries of a table that NumPy checks in less time than Numba needs to load
WIDE = 64  # ports of rows in any order, of which the CPU kernel reads two a link: sorting all channels is faster


class Rows(NamedTuple):
    """The neighbours of every node, each listed once, in ascending order.

    first     int64[N]         the neighbours of node u are to[first[u]], …, to[first[u] + degree[u] − 1]
    degree    int32[N]         number of neighbours
    to        int32[A]         the neighbours; there may be unused places between two rows
    parallel  int8[A] | int32[A] | None  number of parallel links to each neighbour; None: 1 everywhere; int8 if all
                               are below 128, which takes a quarter of the memory of ports
    links     number of links, parallel ones included; an undirected link counts once
    loops     number of links from a node to itself, which are left out
    both      number of pairs of nodes that are listed in both orders; 0 for directed links
    repeated  number of pairs of nodes (with directed links: of ordered pairs) with several parallel links
    """

    first: np.ndarray
    degree: np.ndarray
    to: np.ndarray
    parallel: np.ndarray | None
    links: int
    loops: int
    both: int
    repeated: int


def narrow(most: int) -> type[np.signedinteger]:
    """Return the smallest integer type that holds up to `most` parallel links."""
    return np.int8 if most <= np.iinfo(np.int8).max else np.int32


def rows_of_links(
    links: np.ndarray, nodes: int, *, directed: bool, backend: str = "auto", threads: int | None = None
) -> Rows:
    """Return the neighbours of every node, given a list of links in any order.

    links     int32[E, 2] or int64[E, 2], C-contiguous: the two ends of each link, 0 … N − 1; with `directed`, tail and
              head. A link listed m times is m parallel links. An undirected link may be listed from either end or both:
              if it is listed m times from one end and n times from the other, it is max(m, n) parallel links
    backend   auto or numba: compiled, with 8 bytes per link and some 16 per node besides the list; numpy: the
              specification. cupy is not available
    threads   CPU threads of numba; by default all that it may use. The result does not depend on it

    Raises ValueError if the array is no list of links.
    """
    expect = expecting("rows_of_links")
    expect(links.ndim == 2 and links.shape[1] == 2, "links of shape [E, 2]", links.shape)
    expect(links.dtype in (np.int32, np.int64), "links int32 or int64", links.dtype)
    expect(bool(links.flags.c_contiguous), "links one after the other in memory", "strides of their own")
    expect(0 <= nodes < 2**31, "fewer than 2³¹ nodes", nodes)
    expect(len(links) <= MOST_LINKS, f"at most {MOST_LINKS:,} links", f"{len(links):,}")
    expect(threads is None or threads >= 1, "threads ≥ 1 or None", threads)
    within(expect, "links", links, 0, nodes - 1)
    chosen = backends.resolve("numba" if backend in ("auto", "cupy") else backend)
    return backends.implementation(__name__, chosen).rows_of_links(links, nodes, directed, threads)


def table_of_rows(
    rows: Rows, *, backend: str = "auto", threads: int | None = None
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return (ports int32[N, P], capacity int8[N, P] or int32[N, P] or None), given the neighbours of each node.

    P is the largest degree. A node's first ports lead to its neighbours in ascending order; the rest have no link: −1,
    capacity 0. Capacity is that of `Rows.parallel`. The rows' memory may become the table: do not use it again.
    backend, threads  as for `rows_of_links`
    """
    chosen = backends.resolve("numba" if backend in ("auto", "cupy") else backend)
    return backends.implementation(__name__, chosen).table_of_rows(rows, threads)


def is_symmetric(
    ports: np.ndarray, capacity: np.ndarray | None = None, *, backend: str = "auto", threads: int | None = None
) -> bool:
    """Return whether every channel has a reverse channel of the same capacity.

    ports     int32[N, P]  node at the other end of each port, −1 = no link; in any order
    capacity  int8[N, P], int32[N, P] or None  number of parallel links of each port's channel, ≥ 1
    backend   numpy: sorts all channels by tail, then by head (the specification); numba: compares rows, or sorts
              channels if rows are wide and in any order; auto: numpy for small tables. cupy is not available
    threads   CPU threads of numba

    Raises ValueError for arrays that contradict each other.
    """
    expect = expecting("is_symmetric")
    expect(ports.ndim == 2, "ports of shape [N, P]", ports.shape)
    expect(threads is None or threads >= 1, "threads ≥ 1 or None", threads)
    within(expect, "ports", ports, -1, len(ports) - 1)
    expect(capacity is None or capacity.shape == ports.shape, f"capacity of shape {ports.shape}", "another")
    if backend in ("auto", "cupy"):
        backend = "numpy" if ports.size < SMALL else "numba"
    chosen = backends.resolve(backend)
    return bool(backends.implementation(__name__, chosen).is_symmetric(ports, capacity, threads))
