"""What each terminal gets where channels are full: max-min fair rates of all pairs of terminals.

Each terminal wants to send one flit per cycle, divided among its destinations by the traffic pattern. All pairs raise
their rates together, in proportion to these demands. Where a channel or a terminal is full, the pairs that use it keep
their rates. The other pairs go on until they reach their demands.
Source: Bertsekas & Gallager, Data Networks, 2nd ed., sec. 6.5.2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import scipy

from torusweep.errors import Refused
from torusweep.networks.names import name_of, terminal_names
from torusweep.networks.physical import terminal_rates
from torusweep.networks.realisation import realise
from torusweep.networks.topology import NO_PORT, Topology, default_memory
from torusweep.questions.loads.bounds import MAX_SHARES, pair_shares
from torusweep.questions.loads.columns import TERMINAL_NAME, TERMINAL_RATES
from torusweep.routing import GivenRouting
from torusweep.routing import routing as routing_on
from torusweep.routing.faults import unrouted
from torusweep.tables.columns import arrow_schema
from torusweep.traffic import GivenTraffic
from torusweep.traffic import traffic as pattern_on
from torusweep.traffic.given import delivered

ASKED, BEFORE = ("topology", "routing", "traffic"), ("whole_sends", "whole_receives")
DECIMALS = 12
EQUAL_WITHIN = 1e-9  # relative difference of times at which two channels fill, below which they fill together


class FairRates(NamedTuple):
    """Max-min fair rates of the pairs of terminals.

    rate    float64[T, T]: flits per cycle from each terminal to each other terminal
    demand  float64[T, T]: flits per cycle that each pair wants
    full    int64[T, T]: what stopped each pair: the index of a channel in `Topology.arcs`, A + a terminal that sends,
            or A + T + a terminal that receives; −1 for a pair that reaches its demand
    """

    rate: np.ndarray
    demand: np.ndarray
    full: np.ndarray


def fair_rates(topology: Topology, routing: str | GivenRouting, traffic: str | GivenTraffic) -> FairRates:
    """Raise the rates of all pairs until each is stopped by a full channel or terminal.

    Raises Refused if the pairs have more than MAX_SHARES shares in channels.
    """
    form = routing_on(routing, topology)[1]
    sent = delivered(topology, pattern_on(traffic, topology)[1], *unrouted(form))[0]
    channels, at = np.flatnonzero(topology.ports != NO_PORT), topology.terminals.astype(np.int64)
    shares, many = len(channels) * topology.nodes**2, len(at)
    if shares > MAX_SHARES:
        raise Refused(
            f"expected at most {MAX_SHARES:,} shares of pairs in channels, got {shares:,}; choose a smaller network"
        )
    passes = scipy.sparse.csc_array(pair_shares(form, channels).reshape(len(channels), topology.nodes**2))
    passes, one, all_ones = passes[:, (at[:, None] * topology.nodes + at).ravel()], np.eye(many), np.ones((1, many))
    sending, receiving = scipy.sparse.kron(one, all_ones), scipy.sparse.kron(all_ones, one)
    uses = scipy.sparse.csr_array(scipy.sparse.vstack([passes, sending, receiving]))  # [A + T + T, T²]
    room = np.ones(len(channels)) if topology.bandwidth is None else topology.bandwidth.ravel()[channels]
    free, demand, rest = np.concatenate([room, *terminal_rates(topology)]), sent.rows(np.arange(many)), 1.0
    going = demand.flatten()
    rate, full = np.zeros_like(going), np.full(going.shape, -1)
    while going.any():
        used = uses @ going
        left = np.divide(free, used, out=np.full(len(used), np.inf), where=used > 0)
        step = min(left.min(), rest)
        rate, free, rest = rate + step * going, np.maximum(free - step * used, 0.0), rest - step
        if rest <= EQUAL_WITHIN:
            break
        for place in np.flatnonzero(left <= step * (1 + EQUAL_WITHIN)).tolist():
            users = uses.indices[uses.indptr[place] : uses.indptr[place + 1]]
            stopped = users[going[users] > 0]
            full[stopped], going[stopped] = place, 0.0
    return FairRates(rate.reshape(demand.shape), demand, full.reshape(demand.shape))


def terminal_table(topology: Topology, routing: str | GivenRouting, traffic: str | GivenTraffic) -> pa.Table:
    """Return the rows of the table `terminal_rates`: every terminal once, the terminal with the largest loss first.

    Without faults, the terminal that sends least comes first.
    """
    fair, whole = fair_rates(topology, routing, traffic), _intact(topology, routing, traffic)
    own = _of_terminals(fair.rate)
    kept = [
        np.divide(now, was, out=np.ones(len(now)), where=was > 0) for now, was in zip(own, whole) if was is not None
    ]
    order = np.argsort(np.minimum(*kept) if kept else own[0], kind="stable")
    level = np.divide(fair.rate, fair.demand, out=np.full(fair.rate.shape, np.inf), where=fair.demand > 0)
    stops = np.where(fair.demand > 0, fair.full, -1)[np.arange(len(level)), level.argmin(axis=1)]
    columns = {
        **{
            name: pa.repeat(str(value), len(order)) for name, value in zip(ASKED, (topology.spelling, routing, traffic))
        },
        "terminal": order,
        **dict(zip(("sends", "receives"), (part[order] for part in own))),
        **{name: None if part is None else part[order] for name, part in zip(BEFORE, whole)},
        "bottleneck": [_in_words(topology, place) for place in stops[order].tolist()],
    }
    names = terminal_names(topology)
    declared = TERMINAL_RATES + TERMINAL_NAME * (names is not None)
    if names is not None:
        columns["name"] = [str(names[terminal]) for terminal in order.tolist()]
    nulls = {name: pa.nulls(len(order)) for name, values in columns.items() if values is None}
    return pa.table(columns | nulls, schema=arrow_schema(declared))


def _of_terminals(rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the flits per cycle that each terminal sends and receives, float64[T] each, rounded to DECIMALS."""
    return rate.sum(axis=1).round(DECIMALS), rate.sum(axis=0).round(DECIMALS)


def _intact(topology: Topology, routing: str | GivenRouting, traffic: str | GivenTraffic) -> tuple[Any, Any]:
    """Return (sent, received) float64[T] without the network's faults, or two None: without faults or spellings."""
    plan = topology.plan.whole
    if plan is None or not isinstance(routing, str) or not isinstance(traffic, str):
        return None, None
    whole = realise(topology.spelling, topology.family, plan, default_memory())
    left = np.isin(whole.terminals, topology.terminals)  # failed nodes keep their numbers, and lose their terminals
    sent, received = _of_terminals(fair_rates(whole, routing, traffic).rate)
    return sent[left], received[left]


def _in_words(topology: Topology, place: int) -> str | None:
    """Describe what stopped a pair (`FairRates.full`): a channel by its ends, or a terminal that sends or receives."""
    tail, head, _ = topology.arcs
    if place < 0:
        return None
    if place < len(tail):
        return f"{name_of(topology, int(tail[place]))} → {name_of(topology, int(head[place]))}"
    receives, terminal = divmod(place - len(tail), len(topology.terminals))
    if not receives:
        return "its own sending"
    names = terminal_names(topology)
    return f"receiving at {terminal if names is None else names[terminal]}"
