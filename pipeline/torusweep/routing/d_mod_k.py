"""D-mod-k routing on fat trees: the destination's digits choose the links upwards."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np

from torusweep.errors import BadInput, Refused
from torusweep.networks.families.trees import Tree
from torusweep.networks.topology import Topology
from torusweep.routing.forms import TableRouting
from torusweep.routing.tables.as_table import joined
from torusweep.routing.tables.rows import TableRows, table_routing

MOST_ROWS = 1 << 24  # switches, times leaves, times terminals of a leaf: about a minute
DOWN = 0  # state of packets that are injected, and of packets on the way down


def d_mod_k(topology: Topology) -> TableRouting:
    """Go up to the nearest common switch, then down. To terminal j, level l takes up link ⌊j / (w₁ … w_l)⌋ mod w_(l+1).

    Routes are between switches, not terminals: packets to a switch are divided equally among the routes to its
    terminals. Where each terminal is a node of its own, as in xgft(down=[1, 4, 4], up=[1, 1, 4]), every packet has
    one route. For up-down routing that divides packets among all shortest paths, choose `minimal`.

    Constraint: a fat_tree or xgft.
    Source: Zahavi et al. 2009, sec. 3; Zahavi 2012 (shift permutations meet no congestion).
    """
    tree = topology.plan.structure
    if not isinstance(tree, Tree):
        raise BadInput(
            f"routing d_mod_k on {topology.spelling}: expected a fat_tree or xgft without faults, got another network;"
            " choose minimal, which suits every network"
        )
    many = topology.nodes * prod(tree.down)
    if many > MOST_ROWS:
        raise Refused(
            f"routing d_mod_k on {topology.spelling}: expected at most {MOST_ROWS:,} pairs of a switch and a terminal,"
            f" got {many:,}; choose a smaller tree"
        )
    return table_routing(topology, joined(list(_rows(topology, tree))))


class _Level(NamedTuple):
    """The switches of a level: nodes from `first` on. A switch's number is way + ways · word, with ways = w₁ … w_l."""

    first: int
    ways: int
    number: np.ndarray


def _rows(topology: Topology, tree: Tree) -> Iterator[TableRows]:
    down, up = tree.down, tree.up
    levels, first = [], 0
    for level in range(1, len(down) + 1):
        ways = prod(up[:level])
        levels.append(_Level(first, ways, np.arange(ways * prod(down[level:]))))
        first += len(levels[-1].number)
    leaves = np.arange(prod(down[1:]))
    for level, here in enumerate(levels, 1):
        switch, goal = (grid.reshape(-1) for grid in np.meshgrid(here.number, leaves, indexing="ij"))
        way, word = switch % here.ways, switch // here.ways
        above = word == goal // prod(down[1:level])  # the switch is over the leaf
        if level > 1:
            below = levels[level - 2]
            child = way % below.ways + below.ways * (goal // prod(down[1 : level - 1]))
            at, to = here.first + switch[above], below.first + child[above]
            yield _of(topology, at, goal[above], to, np.full(len(at), DOWN), np.full(len(at), DOWN), np.ones(len(at)))
        if level == len(down):
            continue
        switch, goal, way, word = (np.repeat(array[~above], down[0]) for array in (switch, goal, way, word))
        terminal = np.tile(np.arange(down[0]), len(switch) // down[0])
        port = (goal * down[0] + terminal) // here.ways % up[level]
        parent, further = levels[level], word // down[level]
        to = parent.first + way + here.ways * port + parent.ways * further
        climbing = np.full(len(to), DOWN) if down[0] == 1 else 1 + terminal
        state = climbing if level > 1 else np.full(len(to), DOWN)
        following = np.where(further == goal // prod(down[1 : level + 1]), DOWN, climbing)
        yield _of(topology, here.first + switch, goal, to, state, following, None)


def _of(
    topology: Topology,
    at: np.ndarray,
    goal: np.ndarray,
    to: np.ndarray,
    state: np.ndarray,
    following: np.ndarray,
    weight: np.ndarray | None,
) -> TableRows:
    """Return table rows from nodes `at` to neighbours `to`; if weight is None, equal rows are merged and counted."""
    if weight is None:
        columns, many = np.unique(np.column_stack([goal, at, to, state, following]), axis=0, return_counts=True)
        goal, at, to, state, following = columns.T
        weight = many.astype(np.float64)
    port = (topology.ports[at] == to[:, None]).argmax(axis=1)
    return TableRows(at, goal, port, None, state, following, None, weight)
