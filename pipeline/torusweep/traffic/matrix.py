"""Store a traffic matrix as a rank-one part and a sparse part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum, isclose
from typing import NamedTuple

import numpy as np
import scipy
from torusweep_kernels import sums


@dataclass(frozen=True, eq=False)
class Traffic:
    """Traffic matrix T[s, t] = weight[s] · common[t] + own[s, t], in flits per cycle if each terminal injects one.

    weight     float64[T]      1 for terminals; for nodes (`at_nodes`) their number of terminals
    common     float64[T]      demand from every source to t
    own        float64[T, T]   sparse; additional demand of each source, may be negative
    symmetric  bool            whether every automorphism of the network preserves the pattern, because it depends
                               only on the links and the numbers of terminals
    rate       bits per second that the mean terminal sends, if the demands have units; else None
    multicast  whether each flit of s goes to all t with own[s, t] = 1, and is copied on the way; s sends one per cycle
    phases     phases of a collective operation, in order; the matrix is their mean, weighted by volume

    Sums skip an empty `own`: for a small network, SciPy takes longer to add nothing than the loads take.

    The mean row sum is 1. A flit addressed to its own source counts as injected.
    """

    weight: np.ndarray
    common: np.ndarray
    own: scipy.sparse.csr_array
    symmetric: bool
    phases: tuple[Phase, ...] = ()
    rate: float | None = None
    multicast: bool = False

    def rows(self, sources: np.ndarray) -> np.ndarray:
        """float64[B, T]: demand of each of B sources, int[B], to every terminal."""
        demand = self.weight[sources, None] * self.common
        return _add_sparse(demand, self.own[sources]) if self.own.nnz else demand

    def pairs(self, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the nonzero demands of B sources, int[B], ordered by source, then destination.

        returns  (index in sources int64[R], destination int32[R], amount float64[R])
        """
        if not self.common.any():
            listed = scipy.sparse.csr_array(self.own[sources])
            listed.sort_indices()
            place = np.repeat(np.arange(len(sources)), np.diff(listed.indptr))
            some = listed.data != 0
            return place[some], listed.indices[some].astype(np.int32), listed.data[some]
        demand = self.rows(sources)
        place, destination = np.nonzero(demand)
        return place, destination.astype(np.int32), demand[place, destination]

    def columns(self, destinations: np.ndarray) -> np.ndarray:
        """float64[B, T]: demand of all terminals to each of B destinations, int[B]."""
        demand = self.common[destinations, None] * self.weight
        return _add_sparse(demand, self._transposed[destinations]) if self.own.nnz else demand

    def scaled_columns(self, destinations: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Return (float64[B], float64[T]), whose outer product is `columns`; None if there are no such factors.

        The demand from source s to destination b is the product of the b-th and the s-th factor, exact to the last bit;
        only a terminal's demand to itself may differ. The factors exist if `own` has no other demands.
        """
        return (self.common[destinations], self.weight) if self._only_for_itself else None

    def sent(self) -> np.ndarray:
        """float64[T]: total demand of each source, including its demand to itself (row sums)."""
        if self.multicast:
            return (np.diff(self.own.indptr) > 0).astype(np.float64)
        return self.weight * self.common.sum() + (self.own.sum(axis=1) if self.own.nnz else 0.0)

    def most_sent(self) -> float:
        """Return the largest demand that a source sends; exactly 1 if it is 1 up to rounding."""
        most = float(self.sent().max())
        return 1.0 if isclose(most, 1.0, rel_tol=1e-9) else most

    def received(self) -> np.ndarray:
        """float64[T]: total demand to each destination, including its demand to itself (column sums)."""
        return self.weight.sum() * self.common + (self.own.sum(axis=0) if self.own.nnz else 0.0)

    def exactly_sent(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (sums of `rows`, their rounding errors), float64[T] each, in the form of torusweep_kernels.sums."""
        return _exact_row_sums(self.weight, self.common, self.own)

    def exactly_received(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (sums of `columns`, their rounding errors), float64[T] each."""
        return _exact_row_sums(self.common, self.weight, self._transposed)

    def at_nodes(self, terminals: np.ndarray, nodes: int) -> Traffic:
        """Return the traffic between nodes. Terminal i is at node terminals[i], int32[T]; several may share a node."""
        if np.array_equal(terminals, np.arange(nodes)):
            return self
        place = scipy.sparse.csr_array(
            scipy.sparse.coo_array(
                (np.ones(len(terminals)), (np.arange(len(terminals)), terminals)), shape=(len(terminals), nodes)
            )
        )
        weight = np.bincount(terminals, self.weight, minlength=nodes)
        common = np.bincount(terminals, self.common, minlength=nodes)
        return Traffic(weight, common, scipy.sparse.csr_array(place.T @ self.own @ place), self.symmetric)

    @cached_property
    def _only_for_itself(self) -> bool:
        if not self.own.nnz:
            return True
        own = self.own.tocoo()
        return bool((own.row == own.col).all())

    @cached_property
    def _transposed(self) -> scipy.sparse.csr_array:
        return scipy.sparse.csr_array(self.own.T)


class Phase(NamedTuple):
    """A phase of a collective operation on messages of M flits, one message per terminal.

    name     name of the phase, such as "reduce-scatter x"
    volume   mean number of flits that a terminal sends, in units of M
    steps    number of messages that a terminal sends, each after the previous one has arrived
    traffic  traffic of all steps of the phase together
    """

    name: str
    volume: float
    steps: int
    traffic: Traffic


def combine_phases(phases: Sequence[Phase]) -> Traffic:
    """Return the mean of the phases' matrices, weighted by volume. The matrices must have only a part `own`."""
    total = sum(phase.volume for phase in phases)
    first, *others = (phase.traffic.own * (phase.volume / total) for phase in phases)
    weight, common = phases[0].traffic.weight, phases[0].traffic.common
    return Traffic(weight, common, scipy.sparse.csr_array(sum(others, first)), symmetric=False, phases=tuple(phases))


def same_from_all(common: np.ndarray, *, symmetric: bool = False) -> Traffic:
    """Return traffic in which every source has the same demands, `common` float64[T]."""
    terminals = len(common)
    return Traffic(np.ones(terminals), common, scipy.sparse.csr_array((terminals, terminals)), symmetric)


def all_but_self(terminals: int) -> Traffic:
    """Return traffic in which every source sends equally to all other terminals."""
    share = 1 / (terminals - 1)
    return Traffic(
        np.ones(terminals),
        np.full(terminals, share),
        scipy.sparse.csr_array(-share * scipy.sparse.eye_array(terminals)),
        symmetric=True,
    )


def permutation(destination: np.ndarray) -> Traffic:
    """Return traffic in which terminal s sends everything to destination[s], int[T]."""
    terminals = len(destination)
    return from_pairs(
        scipy.sparse.csr_array(
            (np.ones(terminals), destination, np.arange(terminals + 1)), shape=(terminals, terminals)
        )
    )


def from_pairs(own: scipy.sparse.csr_array, *, symmetric: bool = False) -> Traffic:
    """Return traffic with the demands `own`, float64[T, T] sparse, scaled to a mean row sum of 1."""
    terminals = own.shape[0]
    return Traffic(
        np.ones(terminals), np.zeros(terminals), scipy.sparse.csr_array(own * (terminals / own.sum())), symmetric
    )


def _add_sparse(dense: np.ndarray, sparse: scipy.sparse.csr_array) -> np.ndarray:
    extra = sparse.tocoo()
    dense[extra.row, extra.col] += extra.data
    return dense


def _exact_row_sums(
    weight: np.ndarray, common: np.ndarray, own: scipy.sparse.csr_array
) -> tuple[np.ndarray, np.ndarray]:
    """Return (sums, their rounding errors) of rows, where weight[s] · common[t] is rounded before `own` is added."""
    high, low = np.zeros((2, len(weight)))
    factors, which = np.unique(weight, return_inverse=True)
    for number, factor in enumerate(factors.tolist()):
        demand = (factor * common).tolist()
        total = fsum(demand)
        high[which == number], low[which == number] = total, fsum([*demand, -total])
    if own.nnz:
        extra = own.tocoo()
        before = weight[extra.row] * common[extra.col]
        change, rows = np.concatenate([before + extra.data, -before]), np.tile(extra.row, 2).astype(np.int64)
        high, low = sums.add(high, low, *sums.grouped_sums(change, np.zeros(len(change)), rows, len(weight)))
    return high, low
