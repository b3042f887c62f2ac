"""Wire networks: from the points of a box, with their neighbours and symmetries, or from lists of links.

`sides` are the sides of the box, dimension 0 (x) first. An array over the box has these sides in reverse order, so that
flat positions are node numbers, with x varying fastest. Digits are broadcastable axes, never a table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Annotated, Any, NamedTuple

import numpy as np
import scipy

from torusweep.errors import BadInput
from torusweep.networks.families.algebra import Lattice, box, stacked
from torusweep.networks.topology import NO_PORT, Plan, Whole, Wiring, Wirings, require


def class_names(dimensions: int) -> tuple[str, ...]:
    """Return the names of the link classes of a network with one class per dimension."""
    return tuple("xyzw"[:dimensions]) if dimensions <= 4 else tuple(f"dimension {d}" for d in range(dimensions))


def digit(sides: Sequence[int], dimension: int) -> np.ndarray:
    """int32[1, …, k, …, 1]: the digit of every node in one dimension, broadcastable over the box."""
    shape = [1] * len(sides)
    shape[len(sides) - 1 - dimension] = sides[dimension]
    return np.arange(sides[dimension], dtype=np.int32).reshape(shape)


def neighbour(sides: Sequence[int], dimension: int, step: int) -> np.ndarray:
    """int32[k_{n-1}, …, k_0]: the node `step` away from each node along one dimension, modulo the side."""
    grid = np.arange(prod(sides), dtype=np.int32).reshape(tuple(reversed(sides)))
    return np.roll(grid, -step, axis=len(sides) - 1 - dimension)


def affine(sides: Sequence[int], sources: Sequence[int], signs: Sequence[int], shift: Sequence[int]) -> np.ndarray:
    """int32[N]: the permutation a → a′ of addresses, a′_i = signs[i] · a_{sources[i]} + shift[i], modulo its side."""
    image = np.zeros((1,) * len(sides), np.int32)
    stride = 1
    for i, side in enumerate(sides):
        image = image + ((signs[i] * digit(sides, sources[i]) + shift[i]) % side * stride).astype(np.int32)
        stride *= side
    return image.reshape(-1)


def translation(sides: Sequence[int], shift: Sequence[int]) -> np.ndarray:
    """int32[N]: the permutation that maps a to a + shift."""
    return affine(sides, range(len(sides)), [1] * len(sides), shift)


def first_of_each_side(sides: Sequence[int]) -> list[int]:
    """Return the first dimension of each distinct side length; `swaps` maps it to the other dimensions."""
    return [i for i, side in enumerate(sides) if side not in sides[:i]]


def reflection(sides: Sequence[int], dimension: int, about: int) -> np.ndarray:
    """int32[N]: the permutation a_i → about − a_i in one dimension (about = 0 fixes the origin, −1 reverses a mesh)."""
    signs, shift = [1] * len(sides), [0] * len(sides)
    signs[dimension], shift[dimension] = -1, about
    return affine(sides, range(len(sides)), signs, shift)


def swap(sides: Sequence[int], first: int, second: int) -> np.ndarray:
    """int32[N]: the permutation that exchanges two dimensions of the same side."""
    sources = list(range(len(sides)))
    sources[first], sources[second] = second, first
    return affine(sides, sources, [1] * len(sides), [0] * len(sides))


def swaps(sides: Sequence[int]) -> list[np.ndarray]:
    """Return the permutations, int32[N], that exchange each dimension with the previous one of the same side."""
    last: dict[int, int] = {}
    images = []
    for i, side in enumerate(sides):
        if side in last:
            images.append(swap(sides, last[side], i))
        last[side] = i
    return images


def wiring(columns: Sequence[np.ndarray], classes: Sequence[int]) -> Wiring:
    """Make the wiring from each port's array of neighbours (of the shape of the box) and each port's link class."""
    ports = np.empty((columns[0].size, len(columns)), np.int32)
    for port, column in enumerate(columns):
        ports[:, port] = column.reshape(-1)
    return Wiring(ports, np.broadcast_to(np.asarray(classes, np.int8), ports.shape).copy())


def sides_of(k: int | None, n: int | None, radices: list[int] | None) -> tuple[int, ...]:
    """Return the sides, dimension 0 (x) first, from k and n or from radices. Raises BadInput unless one is given."""
    if radices is not None:
        if k is not None or n is not None:
            raise BadInput("expected k and n, or radices, not both")
        return validate_radices(radices)
    if k is None or n is None:
        raise BadInput("expected k and n, as in k=8, n=3, or radices=[8, 4, 4]")
    return (k,) * n


def validate_radices(radices: list[int]) -> tuple[int, ...]:
    require(len(radices) >= 1, "radices", radices, "at least one side", "a network has a dimension")
    require(
        len(radices) <= 30, "radices", f"({len(radices)} sides)", "at most 30 sides", "2³⁰ nodes and more do not fit"
    )
    require(min(radices) >= 2, "radices", radices, "sides ≥ 2", "a side of 1 is not a dimension")
    return tuple(radices)


@dataclass(frozen=True)
class UnitSteps:
    """The wiring (`Plan.wire`) by ± e_i in every dimension of a lattice graph, or of a box whose lines may have ends.

    Port + e_i comes before port − e_i. Links from a node to itself and second links between two nodes are dropped.

    wrap      whether each dimension has wraparounds; a lattice that is no box has them in every dimension. A side of 2
              has one link in any case
    directed  whether links lead by + e_i only
    """

    shape: Lattice
    wrap: tuple[bool, ...]
    directed: bool = False

    def __call__(self) -> Wiring:
        sides = self.shape.sides
        if 1 in sides or self.shape != box(sides):
            found = wirings_of_steps([self])
            return Wiring(found.ports[0], found.link_class[0])
        columns, classes = [], []  # of a box, in less time
        for dimension, side in enumerate(sides):
            for step in (1,) if self.directed or side == 2 else (1, -1):
                column = neighbour(sides, dimension, step)
                if not self.wrap[dimension] and side > 2:
                    end = digit(sides, dimension) == (side - 1 if step == 1 else 0)
                    column = np.where(end, np.int32(NO_PORT), column)
                columns.append(column)
                classes.append(dimension)
        return wiring(columns, classes)


def wirings_of_steps(steps: Sequence[UnitSteps]) -> Wirings:
    """Return the arrays of networks of equal `shape.order` and `directed`. Smaller ones are padded (`Wirings`)."""
    shape, directed = stacked([each.shape for each in steps]), steps[0].directed
    nodes = np.array([[prod(each.shape.sides)] for each in steps])
    everyone = np.arange(nodes.max(), dtype=np.int32)
    inside = everyone < nodes
    digits = shape.digits(everyone)
    columns, classes = list[np.ndarray](), list[int]()
    for j, side in enumerate(shape.sides):
        moved = [*digits[:j], digits[j] + 1, *digits[j + 1 :]]
        onwards = np.where(inside, shape.number(moved), everyone).astype(np.int32)
        back = np.empty_like(onwards)
        np.put_along_axis(back, onwards, everyone[None], axis=1)
        ends = (side > 2) & ~np.array([[each.wrap[j]] for each in steps])
        for column, end in ((onwards, side - 1), (back, 0))[: 1 if directed else 2]:
            missing = (column == everyone) | (ends & (digits[j] == end))
            for other in columns:
                missing |= column == other
            columns.append(np.where(missing, np.int32(NO_PORT), column))
            classes.append(j)
    ports, link_class = np.stack(columns, axis=2), np.empty((*inside.shape, len(classes)), np.int8)
    link_class[:] = classes
    used = np.stack([(column != NO_PORT).any(axis=1) for column in columns], axis=1)
    width = int(used.sum(axis=1).max())
    if not used.all():  # unused ports come last
        order = np.argsort(~used, axis=1, kind="stable")[:, None, :width]
        ports, link_class = (np.take_along_axis(array, order, axis=2) for array in (ports, link_class))
    return Wirings(ports, link_class, None, None if inside.all() else inside.astype(np.int32), {})


Terminals = Annotated[int, Whole(1, "terminals of each router")]


class ClassLinks(NamedTuple):
    """Links of one class, with ends `tail` and `head`, int[L] each. Directed links lead from `tail` to `head`."""

    tail: np.ndarray
    head: np.ndarray
    link_class: int = 0


def terminals_of(routers: np.ndarray, each: int) -> np.ndarray:
    """int32[T]: the node of each terminal, with `each` consecutive terminals at every router in `routers`, int[R]."""
    return np.repeat(routers, each).astype(np.int32)


def wiring_of_links(
    nodes: int, listed: list[ClassLinks], *, directed: bool = False, terminals: np.ndarray | None = None
) -> Wiring:
    """Make the wiring from lists of links. A node's ports are in the order of their classes, then of their neighbours.

    terminals   int32[T], node of each terminal; None: one terminal at every node
    A link that is listed again, in any class, is a parallel link. Links from a node to itself are left out.
    """
    tail = np.concatenate([links.tail for links in listed]).astype(np.int64)
    head = np.concatenate([links.head for links in listed]).astype(np.int64)
    kind = np.repeat([links.link_class for links in listed], [len(links.tail) for links in listed])
    if not directed:
        tail, head, kind = np.append(tail, head), np.append(head, tail), np.append(kind, kind)
    apart = tail != head
    tail, head, kind = tail[apart], head[apart], kind[apart]
    order = np.lexsort((kind, head, tail))
    arcs, first, parallel = np.unique((tail * nodes + head)[order], return_index=True, return_counts=True)
    kind = kind[order][first]
    by_class = np.lexsort((arcs, kind, arcs // nodes))
    tail, head, kind, parallel = (arcs // nodes)[by_class], (arcs % nodes)[by_class], kind[by_class], parallel[by_class]
    port = np.arange(len(tail)) - np.searchsorted(tail, tail)
    shape = nodes, int(port.max(initial=-1)) + 1
    ports, link_class, capacity = np.full(shape, NO_PORT, np.int32), np.zeros(shape, np.int8), np.zeros(shape, np.int32)
    ports[tail, port], link_class[tail, port], capacity[tail, port] = head, kind, parallel
    return Wiring(ports, link_class, capacity if (parallel > 1).any() else None, terminals)


@dataclass(frozen=True)
class Drawn:
    """The wiring (`Plan.wire`) of a network made of lists of links, which may depend on a seed.

    draw       function of the attempt that returns lists of links; raises BadInput if no such links exist
    attempts   largest number of drawings; if above 1, links are drawn until they connect all nodes
    terminals  function that returns int32[T], the node of each terminal; None: one terminal at every node
    """

    nodes: int
    draw: Callable[[int], list[ClassLinks]]
    attempts: int = 1
    terminals: Callable[[], np.ndarray] | None = None

    def __call__(self) -> Wiring:
        found = wirings_of([self])
        for reason in found.refused.values():
            raise BadInput(reason)
        capacity = None if found.capacity is None else found.capacity[0]
        return Wiring(found.ports[0], found.link_class[0], capacity, self.terminals and self.terminals())


def drawn_networks(family: Callable[..., Plan], values: dict[str, Any]) -> Wirings | None:
    """Return the arrays of a `Drawn` family for many seeds; None if the other parameters are invalid."""
    drawn = []
    for seed in values["seed"]:
        try:
            wire = family(**values | {"seed": seed}).wire
        except BadInput:
            return None  # other parameters are refused, whatever the seed
        assert isinstance(wire, Drawn)
        drawn.append(wire)
    return wirings_of(drawn)


def wirings_of(drawn: list[Drawn]) -> Wirings:
    """Return the arrays of networks with equal nodes and terminals, wired as one large network and then separated."""
    links: dict[int, list[ClassLinks]] = {}
    refused: dict[int, str] = {}
    left, nodes, attempts = list(range(len(drawn))), drawn[0].nodes, drawn[0].attempts
    for attempt in range(attempts):
        for place in left:
            try:
                links[place] = drawn[place].draw(attempt)
            except BadInput as refusal:
                refused[place] = str(refusal)
        left = [place for place in left if place not in refused]
        whole = _connected([links[place] for place in left], nodes) if attempts > 1 and left else [True] * len(left)
        left = [place for place, connected in zip(left, whole) if not connected]
    refused |= dict.fromkeys(left, f"expected a connected graph, got none of {attempts}; choose a larger degree")
    none = np.empty(0, np.int64)
    listed = [part for place, own in links.items() if place not in refused for part in _moved(own, place * nodes)]
    wiring = wiring_of_links(len(drawn) * nodes, listed or [ClassLinks(none, none)])
    shape = len(drawn), nodes, wiring.ports.shape[1]
    ports = wiring.ports.reshape(shape)
    first = np.arange(len(drawn), dtype=np.int32)[:, None, None] * np.int32(nodes)
    terminals = None
    if drawn[0].terminals is not None:
        terminals = np.bincount(drawn[0].terminals(), minlength=nodes).astype(np.int32)
    return Wirings(
        np.where(ports == NO_PORT, ports, ports - first),
        wiring.link_class.reshape(shape),
        None if wiring.capacity is None else wiring.capacity.reshape(shape),
        None if terminals is None else np.broadcast_to(terminals, shape[:2]),
        refused,
    )


def _connected(drawn: list[list[ClassLinks]], nodes: int) -> np.ndarray:
    """bool[B]: whether the links of each network connect all of its nodes."""
    parts = [part for place, own in enumerate(drawn) for part in _moved(own, place * nodes)]
    tail, head = (np.concatenate(ends) for ends in zip(*(part[:2] for part in parts)))
    links = scipy.sparse.coo_array((np.ones(len(tail), np.int8), (tail, head)), shape=(len(drawn) * nodes,) * 2)
    label = scipy.sparse.csgraph.connected_components(links, directed=False)[1].reshape(-1, nodes)
    whole: np.ndarray = (label == label[:, :1]).all(axis=1)
    return whole


def _moved(links: list[ClassLinks], first: int) -> list[ClassLinks]:
    """Renumber the nodes of links by adding `first` to each number."""
    return [ClassLinks(part.tail + first, part.head + first, part.link_class) for part in links]
