"""Who sends how much to whom, as a matrix that is never written out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array, eye_array


@dataclass(frozen=True, eq=False)
class Traffic:
    """T[s, t] = weight[s] · common[t] + own[s, t], in flits per cycle at one flit injected per terminal and cycle.

    weight     float64[T]      1 for terminals; for nodes (`at_nodes`) how many terminals they have
    common     float64[T]      what every source sends to t
    own        float64[T, T]   sparse; what a source sends besides, or sends less (negative)
    symmetric  bool            the pattern follows from the links and the number of terminals at each node
                               alone: every automorphism that keeps those keeps it
    phases     of a collective operation, one after the other; the matrix is then their mean by volume

    Mean row sum 1. A flit to its own source counts as injected.
    """

    weight: np.ndarray
    common: np.ndarray
    own: csr_array
    symmetric: bool
    phases: tuple[Phase, ...] = ()

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """float64[B, T]: what each of B sources, int[B], sends to everyone."""
        return _filled(self.weight[sources, None] * self.common, self.own[sources])

    def pairs(self, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(place int64[R] in sources, destination int32[R], amount float64[R] ≠ 0) of all that B sources, int[B], send, in order."""
        if not self.common.any():
            listed = csr_array(self.own[sources])
            listed.sort_indices()
            place = np.repeat(np.arange(len(sources)), np.diff(listed.indptr))
            some = listed.data != 0
            return place[some], listed.indices[some].astype(np.int32), listed.data[some]
        demand = self.rows(sources)
        place, destination = np.nonzero(demand)
        return place, destination.astype(np.int32), demand[place, destination]

    def columns(self, destinations: np.ndarray) -> np.ndarray:
        """float64[B, T]: what everyone sends to each of B destinations, int[B]."""
        return _filled(self.common[destinations, None] * self.weight, self._turned[destinations])

    def sent(self) -> np.ndarray:
        """float64[T]: what each source sends, to itself included (row sums)."""
        return self.weight * self.common.sum() + self.own.sum(axis=1)

    def received(self) -> np.ndarray:
        """float64[T]: what arrives at each destination, its own flits included (column sums)."""
        return self.weight.sum() * self.common + self.own.sum(axis=0)

    def at_nodes(self, terminals: np.ndarray, nodes: int) -> Traffic:
        """The same between the nodes: terminal i is at node terminals[i], int32[T]; a node may have several, or none."""
        if np.array_equal(terminals, np.arange(nodes)):
            return self
        place = csr_array(
            coo_array((np.ones(len(terminals)), (np.arange(len(terminals)), terminals)), shape=(len(terminals), nodes))
        )
        weight = np.bincount(terminals, self.weight, minlength=nodes)
        common = np.bincount(terminals, self.common, minlength=nodes)
        return Traffic(weight, common, csr_array(place.T @ self.own @ place), self.symmetric)

    @cached_property
    def _turned(self) -> csr_array:
        return csr_array(self.own.T)


class Phase(NamedTuple):
    """A part of a collective operation on messages of M flits, one message a terminal.

    name     "reduce-scatter x"
    volume   flits that a terminal sends in the mean, in units of M
    steps    messages that it sends one after the other, each when the one before has arrived
    traffic  of all its steps together
    """

    name: str
    volume: float
    steps: int
    traffic: Traffic


def combine_phases(phases: Sequence[Phase]) -> Traffic:
    """Phases one after the other; their mean by volume is the matrix. All pair by pair (`from_pairs`, `permutation`)."""
    total = sum(phase.volume for phase in phases)
    own = sum(
        (phase.traffic.own * (phase.volume / total) for phase in phases[1:]),
        phases[0].traffic.own * (phases[0].volume / total),
    )
    return Traffic(
        phases[0].traffic.weight, phases[0].traffic.common, csr_array(own), symmetric=False, phases=tuple(phases)
    )


def same_from_all(common: np.ndarray, *, symmetric: bool = False) -> Traffic:
    """Every source sends common, float64[T]."""
    terminals = len(common)
    return Traffic(np.ones(terminals), common, csr_array((terminals, terminals)), symmetric)


def all_but_self(terminals: int) -> Traffic:
    """Every source sends the same to every other terminal, and nothing to itself."""
    share = 1 / (terminals - 1)
    return Traffic(
        np.ones(terminals), np.full(terminals, share), csr_array(-share * eye_array(terminals)), symmetric=True
    )


def permutation(destination: np.ndarray) -> Traffic:
    """Terminal s sends everything to destination[s], int[T]."""
    terminals = len(destination)
    return from_pairs(csr_array((np.ones(terminals), destination, np.arange(terminals + 1)), shape=(terminals, terminals)))


def from_pairs(own: csr_array, *, symmetric: bool = False) -> Traffic:
    """Amounts pair by pair, float64[T, T] sparse, scaled to a mean row sum of 1."""
    terminals = own.shape[0]
    return Traffic(np.ones(terminals), np.zeros(terminals), csr_array(own * (terminals / own.sum())), symmetric)


def _filled(dense: np.ndarray, sparse: csr_array) -> np.ndarray:
    extra = sparse.tocoo()
    dense[extra.row, extra.col] += extra.data
    return dense
