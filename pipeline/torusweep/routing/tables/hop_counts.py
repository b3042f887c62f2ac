"""A routing table whose packets count their hops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torusweep.networks.topology import NO_PORT
from torusweep.routing.forms import Headers, TableRouting


def with_hop_counts(table: TableRouting, counted: np.ndarray) -> TableRouting:
    """The same routing; the class of a hop is the number of counted hops that the packet has done before it.

    counted   bool[N, P]  whether hops over each channel are counted
    """
    adds = np.zeros(len(table.port), np.int64)
    leads = np.flatnonzero(table.port != NO_PORT)
    adds[leads] = counted[table.at[table.owner[leads]], table.port[leads]]
    configuration, count = _reached(table, adds)
    step = int(count.max(initial=0)) + 1  # numbers of a configuration and a count, in the order of the former
    code = configuration * step + count
    many = table.many[configuration]
    bounds = np.concatenate([[0], np.cumsum(many)])
    own = np.repeat(np.arange(len(code)), many)
    row = np.arange(bounds[-1]) - np.repeat(bounds[:-1], many) + table.rows[configuration][own]
    after = count[own] + adds[row]
    onwards = table.next[row].astype(np.int64)
    place = np.searchsorted(code, onwards * step + after)
    before, following = (
        (np.zeros(size, np.int64) for size in (len(table.at), len(table.port)))
        if table.headers is None
        else (table.headers.state, table.headers.following)
    )
    entering = None if table.headers is None or table.headers.input is None else table.headers.input[configuration]
    states = before[configuration].astype(np.int64) * step + count
    return replace(
        table,
        first=np.searchsorted(configuration, table.first),
        at=table.at[configuration],
        rows=bounds,
        port=table.port[row],
        kind=count[own].astype(np.int16),
        next=np.where(onwards < 0, onwards, place).astype(np.int32),
        weight=table.weight[row],
        entry=np.searchsorted(code, table.entry.astype(np.int64) * step).astype(np.int32),
        kinds=step,
        headers=Headers(
            entering, states.astype(np.int32), (following[row].astype(np.int64) * step + after).astype(np.int32)
        ),
    )


def _reached(table: TableRouting, adds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(configuration, count) int64[C'] each, ascending: all that packets come to, with the hops counted until then.

    adds   int64[R]  0 or 1, what each row adds to the count
    """
    of_counts: list[np.ndarray] = []
    begins = np.zeros(len(table.at), bool)  # of this count, the configurations in which packets first have it
    begins[table.entry] = True
    while begins.any():
        reached, counted = begins.copy(), np.zeros(len(table.at), bool)
        new = np.flatnonzero(begins)
        while len(new):
            many = table.many[new]
            row = np.arange(int(many.sum())) + np.repeat(table.rows[new] - np.cumsum(many) + many, many)
            row = row[table.next[row] >= 0]
            counted[table.next[row[adds[row] > 0]]] = True
            on = np.zeros(len(table.at), bool)
            on[table.next[row[adds[row] == 0]]] = True
            new = np.flatnonzero(on & ~reached)
            reached[new] = True
        of_counts.append(np.flatnonzero(reached))
        begins = counted
    configuration = np.concatenate([*of_counts, np.zeros(0, np.int64)])
    count = np.repeat(np.arange(len(of_counts)), [len(found) for found in of_counts])
    order = np.argsort(configuration, kind="stable")
    return configuration[order], count[order]
