"""The linear program that minimises the largest channel load over the flows of all commodities."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy  # loads scipy.optimize when it is first used

from torusweep.capacity.commodities import Commodities, UsableArcs
from torusweep.errors import Refused


class Solution(NamedTuple):
    """Solution of the linear program.

    flow    float64[V]      on each usable (commodity, arc)
    price   float64[O] ≥ 0  multiplier of the constraint of each orbit of channels
    """

    flow: np.ndarray
    price: np.ndarray


def solve(flows: Commodities, usable: UsableArcs, *, algorithm: str = "highs-ipm") -> Solution:
    """Minimise θ, the largest load of any channel at one flit injected per terminal and cycle.

        leaving f_k(v) − entering f_k(v) = demand[k, v]     at every node v but root k
        Σ_k weight_k · f_k(channels of an orbit) ≤ θ · capacity of the orbit

    This is maximum concurrent flow (Shahrokhi & Matula, "The maximum concurrent flow problem", 1990),
    with 1/θ flits per terminal and cycle and commodities with a common end merged. The solver is HiGHS
    (Huangfu & Hall 2018); `certificate` verifies its solution.
    Raises Refused if the solver finds no optimum.
    """
    commodity, arc = usable.commodity.astype(np.int64), usable.arc
    n, variables = flows.demand.shape[1], len(arc)
    column = np.arange(variables)
    leaving, entering = commodity * n + flows.tail[arc], commodity * n + flows.head[arc]
    inner = flows.head[arc] != flows.roots[commodity]
    rows, row = np.unique(np.concatenate([leaving, entering[inner]]), return_inverse=True)
    sign = np.repeat([1.0, -1.0], [variables, int(inner.sum())])
    conservation = scipy.sparse.coo_array(
        (sign, (row, np.concatenate([column, column[inner]]))), shape=(len(rows), variables + 1)
    )
    room = np.bincount(flows.orbit, flows.capacity)
    over = flows.orbit[arc]
    share = scipy.sparse.csr_array(
        scipy.sparse.coo_array((flows.weights[commodity] / room[over], (over, column)), shape=(len(room), variables))
    )
    loads = scipy.sparse.hstack([share, scipy.sparse.csr_array(np.full((len(room), 1), -1.0))], format="csr")
    cost = np.zeros(variables + 1)
    cost[-1] = 1.0
    found = scipy.optimize.linprog(
        cost,
        A_ub=loads,
        b_ub=np.zeros(len(room)),
        A_eq=scipy.sparse.csr_array(conservation),
        b_eq=flows.demand.ravel()[rows],
        bounds=(0, None),
        method=algorithm,
    )
    if found.status != 0:
        raise Refused(f"HiGHS gave no optimum for {variables:,} flows: {found.message}; choose a smaller network")
    return Solution(found.x[:-1], -found.ineqlin.marginals)
