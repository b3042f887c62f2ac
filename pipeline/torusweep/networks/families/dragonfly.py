"""Networks of groups with one global hop between any two groups: Dragonfly, Megafly (Dragonfly+), Boardfly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Annotated, Literal

import numpy as np

from torusweep.networks.families.wiring import (
    ClassLinks,
    Drawn,
    Terminals,
    class_names,
    neighbour,
    terminals_of,
    wiring_of_links,
)
from torusweep.networks.topology import Meaning, Plan, Whole, Wiring, require

Routers = Annotated[int, Whole(1, "routers of each group")]
Global = Annotated[int, Whole(1, "global links of each router")]
Groups = Annotated[int | None, Meaning("number of groups, at least 2; by default one more than a group's global links")]
Arrangement = Annotated[
    Literal["palm_tree", "consecutive", "random"], Meaning("which router of a group has the link to which other group")
]
Local = Annotated[
    list[int] | None,
    Meaning("sides of a group whose routers are joined along rows and columns only; by default all are joined"),
]
Seed = Annotated[int, Whole(0, "seed of the random arrangement")]
Leaves = Annotated[int, Whole(1, "routers with terminals, in each group")]
Spines = Annotated[int, Whole(1, "routers with global links, in each group")]

BoardGroups = Annotated[int, Whole(2, "groups of 32 chips", 36)]
Copper = Annotated[int, Whole(2, "links of each chip to chips of other boards of its group", 7)]
Optical = Annotated[int, Whole(1, "links of each chip to chips of other groups", 35)]
Order = Annotated[
    Literal["blocks", "turns"],
    Meaning("how the ports of a board or group are numbered: chip by chip (blocks), or the chips in turn (turns)"),
]

CHIPS, BOARDS = 4, 8  # chips of a board, boards of a group
LOCAL, GLOBAL = 0, 1  # link classes


@dataclass(frozen=True)
class Grouped:
    """The structure of a network of groups. The routers of a group have consecutive numbers.

    size      number of routers in a group
    groups    number of groups
    circuits  class of the links through circuit switches; None without such
    """

    size: int
    groups: int
    circuits: str | None = None


def dragonfly(
    a: Routers,
    p: Terminals,
    h: Global,
    groups: Groups = None,
    arrangement: Arrangement = "palm_tree",
    local: Local = None,
    seed: Seed = 0,
) -> Plan:
    """Dragonfly: groups of `a` routers that are joined to each other; any two groups are joined by equally many links.

    The global ports of a group are numbered 0 … a·h − 1, those of its router 0 first. With g groups, port
    t (g − 1) + q is number q of round t; ports beyond the last whole round have no link. Port q of group i
    leads to group i + q + 1 modulo g (palm_tree); to group q if q < i, else q + 1 (consecutive); or to the q-th
    other group in a random order (random). Balanced: a = 2h, p = h. Two links between the same routers
    are parallel. Rows and columns of a group are link classes of their own: a Cray XC is
    with_links(dragonfly(a=96, p=4, h=10, groups=9, local=[16, 6]), bandwidths=[1, "25/28", 3]).

    Constraints: 2 … a·h + 1 groups; the sides of local have the product a.
    Source: Kim et al. 2008 (consecutive); Camarero et al. 2014, sec. 5 (palm tree); Faanes et al. 2012 (local sides).
    """
    most = a * h + 1
    count = most if groups is None else groups
    require(2 <= count <= most, "groups", count, f"2 … {most}", "every two groups share a global link")
    sides = (a,) if local is None else tuple(local)
    require(
        prod(sides) == a and min(sides, default=0) >= 1,
        "local",
        list(sides),
        f"sides with the product {a}",
        "a group has a routers",
    )

    def draw(_: int) -> list[ClassLinks]:
        within = [_in_each_group(tail, head, a, count, kind) for kind, tail, head in _rows(sides)]
        return [*within, _global_links(np.arange(a), h, a, count, arrangement, seed)]

    rounds = a * h // (count - 1)
    return Plan(
        nodes=a * count,
        degree=sum(side - 1 for side in sides) + min(h, rounds * (count - 1)),
        radices=(a, count),
        wire=Drawn(a * count, draw, terminals=None if p == 1 else lambda: terminals_of(np.arange(a * count), p)),
        symmetries=_group_symmetries(a, count, arrangement, mirror=count == most),
        classes=_classes(len(sides)),
        structure=Grouped(a, count),
        joined=True,
        terminals=a * count * p,
    )


def megafly(
    leaves: Leaves,
    spines: Spines,
    p: Terminals,
    h: Global,
    groups: Groups = None,
    arrangement: Arrangement = "palm_tree",
    seed: Seed = 0,
) -> Plan:
    """Megafly, or Dragonfly+: in a group, each leaf is joined to each spine; spines have the global links.

    Digit 0 counts the leaves of a group, then its spines. Only leaves have terminals. The global ports of
    a group's spines are joined like those of a Dragonfly's routers.

    Constraint: 2 … spines·h + 1 groups.
    Source: Flajslik et al. 2018 (Megafly); Shpiner et al. 2017 (Dragonfly+).
    """
    most, size = spines * h + 1, leaves + spines
    count = most if groups is None else groups
    require(2 <= count <= most, "groups", count, f"2 … {most}", "every two groups share a global link")

    def draw(_: int) -> list[ClassLinks]:
        leaf, spine = (side.reshape(-1) for side in np.meshgrid(np.arange(leaves), np.arange(leaves, size)))
        within = _in_each_group(leaf, spine, size, count)
        return [within, _global_links(np.arange(leaves, size), h, size, count, arrangement, seed)]

    def terminals() -> np.ndarray:
        of_groups = np.arange(leaves) + size * np.arange(count)[:, None]
        return terminals_of(of_groups.reshape(-1), p)

    rounds = spines * h // (count - 1)
    return Plan(
        nodes=size * count,
        degree=max(spines, leaves + min(h, rounds * (count - 1))),
        radices=(size, count),
        wire=Drawn(size * count, draw, terminals=terminals),
        terminals=leaves * count * p,
        symmetries=lambda: [
            *_group_symmetries(size, count, arrangement, mirror=False)(),
            _turned_leaves(leaves, size, count),
        ],
        classes=("local", "global"),
        structure=Grouped(size, count),
        joined=True,
        unequal=True,
    )


def boardfly(
    groups: BoardGroups = 32,
    copper: Copper = 2,
    optical: Optical = 2,
    copper_order: Order = "blocks",
    optical_order: Order = "blocks",
) -> Plan:
    """Boardfly: a board is a ring of 4 chips. Any two of a group's 8 boards are joined, and so are any two groups.

    Ports lead to the other boards and groups as in a palm-tree Dragonfly; ports beyond the last whole round have no
    link. The publication gives 7 hops for 1,024 chips in 32 groups, but neither the number nor the places of a chip's
    links. Six links per chip (2 in the ring, 2 copper, 2 optical) give 7 hops here in all orders of the ports, except
    that copper in turns with optical in blocks gives 8.

    Constraint: a group has at least as many optical links as there are other groups.
    Source: Google 2026, TPU 8i (4 chips a board, 8 boards a group, up to 36 groups joined by circuit switches).
    """
    size, others = CHIPS * BOARDS, groups - 1
    require(
        size * optical >= others, "groups", groups, f"at most {size * optical + 1}", "every two groups share a link"
    )

    def chips(count: int, ports: int, order: str) -> np.ndarray:
        """Return int[P]: the chip that has each port of a board or group."""
        return np.repeat(np.arange(count), ports) if order == "blocks" else np.tile(np.arange(count), ports)

    def busiest(count: int, ports: int, others: int, order: str) -> int:
        """Return the largest number of used ports of one chip; only whole rounds of ports are used."""
        used = count * ports // others * others
        return min(ports, used) if order == "blocks" else -(-used // count)

    def wire() -> Wiring:
        chip = np.arange(size * groups)
        ring = ClassLinks(chip, chip - chip % CHIPS + (chip + 1) % CHIPS, 0)
        tail, head, _ = _global_links(chips(CHIPS, copper, copper_order), 1, CHIPS, BOARDS, "palm_tree", 0)
        between = _global_links(chips(size, optical, optical_order), 1, size, groups, "palm_tree", 0)
        boards = _in_each_group(tail, head, size, groups, 1)
        return wiring_of_links(size * groups, [ring, boards, between._replace(link_class=2)])

    return Plan(
        nodes=size * groups,
        degree=2 + busiest(CHIPS, copper, BOARDS - 1, copper_order) + busiest(size, optical, others, optical_order),
        radices=(CHIPS, BOARDS, groups),
        wire=wire,
        symmetries=_group_symmetries(size, groups, "palm_tree", mirror=False),
        classes=("board", "copper", "optical"),
        structure=Grouped(size, groups, circuits="optical"),
        joined=True,
    )


def _classes(sides: int) -> tuple[str, ...]:
    """Return the names of the link classes if groups have `sides` sides. Global links are class 1."""
    if sides < 2:
        return ("local", "global")
    first, *others = (f"local {name}" for name in class_names(sides))
    return (first, "global", *others)


def _rows(sides: tuple[int, ...]) -> list[tuple[int, np.ndarray, np.ndarray]]:
    """Return the links within a group as (link class, tails int[L], heads int[L]), for each dimension and step."""
    routers, found = np.arange(prod(sides)), []
    for dimension, side in enumerate(sides):
        kind = dimension + 1 if dimension else LOCAL
        for step in range(1, side):
            to = neighbour(sides, dimension, step).reshape(-1)
            once = routers < to
            found.append((kind, routers[once], to[once]))
    return found


def _in_each_group(tail: np.ndarray, head: np.ndarray, size: int, groups: int, kind: int = LOCAL) -> ClassLinks:
    """Return the links within all groups, from those of one group: routers `tail` to `head`, int[L] each."""
    offset = size * np.arange(groups)[:, None]
    return ClassLinks((tail + offset).reshape(-1), (head + offset).reshape(-1), kind)


def _global_links(members: np.ndarray, h: int, size: int, groups: int, arrangement: str, seed: int) -> ClassLinks:
    """Return all links between groups, each once.

    members   int[A]: routers of a group that have global ports, h each
    size      number of all routers of a group
    """
    others = groups - 1
    rounds = len(members) * h // others
    tails: list[np.ndarray] = []
    heads: list[np.ndarray] = []
    for turn in range(rounds):
        place = _places(groups, arrangement, seed, turn)
        low, high = np.triu_indices(groups, 1)
        for ends, near, far in ((tails, low, high), (heads, high, low)):
            port = turn * others + place[near, far]
            ends.append(members[port // h] + size * near)
    return ClassLinks(np.concatenate(tails), np.concatenate(heads), GLOBAL)


def _places(groups: int, arrangement: str, seed: int, turn: int) -> np.ndarray:
    """int64[G, G]: the port of a round, 0 … G − 2, that joins a group (row) to another group (column)."""
    near, far = np.arange(groups)[:, None], np.arange(groups)
    if arrangement == "palm_tree":
        return (far - near - 1) % groups
    if arrangement == "consecutive":
        return np.where(far < near, far, far - 1)
    words = np.random.Philox(key=[seed, turn]).random_raw(groups * groups).reshape(groups, groups)
    words[np.arange(groups), np.arange(groups)] = np.iinfo(np.uint64).max  # a group itself comes last
    return np.argsort(np.argsort(words, axis=1, kind="stable"), axis=1)


def _group_symmetries(size: int, groups: int, arrangement: str, *, mirror: bool) -> Callable[[], list[np.ndarray]]:
    """Return a function that returns a palm tree's symmetries: groups shifted by one and, with `mirror`, reversed."""

    def symmetries() -> list[np.ndarray]:
        if arrangement != "palm_tree":
            return []
        router, group = np.arange(size), np.arange(groups)[:, None]
        images = [router + size * ((group + 1) % groups)]
        if mirror:
            images.append(size - 1 - router + size * (-group % groups))
        return [image.astype(np.int32).reshape(-1) for image in images]

    return symmetries


def _turned_leaves(leaves: int, size: int, groups: int) -> np.ndarray:
    """int32[N]: a symmetry that shifts the leaves of every group by one, as a group's leaves share the same spines."""
    router = np.arange(size)
    turned = np.where(router < leaves, (router + 1) % leaves, router)
    return (turned + size * np.arange(groups)[:, None]).astype(np.int32).reshape(-1)
