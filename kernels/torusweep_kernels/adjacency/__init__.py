"""Lists of links: the neighbours of every node, the table of ports, and whether every link has both directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep_kernels import backend as backends
from torusweep_kernels.checks import expecting, within

MOST_LINKS = 2**30 - 1  # an undirected one is two arcs, whose number is 32-bit
SMALL = 1 << 16  # entries of a table that NumPy checks in less time than Numba needs to load
WIDE = 64  # ports of rows in any order, of which the CPU kernel reads two a link: sorting all channels is faster


class Rows(NamedTuple):
    """The neighbours of every node, each once, ascending.

    first     int64[N]         the neighbours of node u are to[first[u]], …, to[first[u] + degree[u] − 1]
    degree    int32[N]         number of neighbours
    to        int32[A]         may have unused places between two rows
    parallel  int8[A] | int32[A] | None  number of parallel links to each neighbour; None: 1 everywhere; int8 if all
                               are below 128, which takes a quarter of the memory of ports
    links     number of links, parallel ones included; an undirected link counts once
    loops     links from a node to itself, which are left out
    both      pairs of nodes that are listed in both orders; 0 for links of one direction
    repeated  pairs of nodes (with directed links: ordered pairs) with several parallel links
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
    """The smallest type for up to `most` parallel links."""
    return np.int8 if most <= np.iinfo(np.int8).max else np.int32


def rows_of_links(
    links: np.ndarray, nodes: int, *, directed: bool, backend: str = "auto", threads: int | None = None
) -> Rows:
    """The neighbours of every node, from a list of links in any order.

    links     int32[E, 2] or int64[E, 2], C-contiguous: the two ends of each, 0 … N − 1; with `directed`, tail and head.
              A link listed m times is m parallel links. An undirected link may be listed from either end or from both:
              from one end m times and from the other n times, it is max(m, n) parallel links
    backend   auto or numba: compiled, with 8 bytes a link and some 16 a node beside the list; numpy: the specification.
              Not cupy
    threads   CPU threads of numba; by default all that it may use. The result does not depend on it

    Raises ValueError for an array that is no list of links.
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
    """(ports int32[N, P], capacity int8[N, P], int32[N, P] or None, as `Rows.parallel`): the neighbours of each node in
    its first ports, ascending.

    P is the largest degree. A port without a link has −1 and capacity 0. The rows' memory may become the table: do not
    read them again.
    backend, threads  as for `rows_of_links`
    """
    chosen = backends.resolve("numba" if backend in ("auto", "cupy") else backend)
    return backends.implementation(__name__, chosen).table_of_rows(rows, threads)


def is_symmetric(
    ports: np.ndarray, capacity: np.ndarray | None = None, *, backend: str = "auto", threads: int | None = None
) -> bool:
    """Whether every channel has a reverse channel of the same capacity.

    ports     int32[N, P]          node at the other end of each port, −1 = no link; in any order
    capacity  int8[N, P], int32[N, P] or None  of each port's channel, 1 and more
    backend   numpy: sorts all channels, once forth and once back (the specification); numba: compares rows, or sorts
              channels where rows are wide and in any order; auto: numpy for small tables. Not cupy
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
