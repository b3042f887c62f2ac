"""Routes of source routing, hop by hop: the node, the port, and the class of the virtual channel of every hop."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torusweep.routing.forms import Moves


class Runs(NamedTuple):
    """direction, hops, phase: int[R, L] of the runs of R routes; runs of 0 hops are skipped."""

    direction: np.ndarray
    hops: np.ndarray
    phase: np.ndarray


class Hops(NamedTuple):
    """Of hop 0, 1, … of R routes: node int64[R, H], port int64[R, H], kind int64[R, H]; −1 after the last hop."""

    node: np.ndarray
    port: np.ndarray
    kind: np.ndarray


def route_hops(moves: Moves, source: np.ndarray, runs: Runs, classes: np.ndarray, memory: str, most: int) -> Hops:
    """The first `most` hops of routes.

    source   int[R]
    classes  int8[F, 2]  class by phase and by whether a dateline was crossed
    memory   how long a crossing counts (torusweep_kernels.dependencies.mark_routes)
    """
    direction, hops, phase = _first(runs)
    lane = np.arange(len(source))
    at, run, made = source.astype(np.int64), np.zeros(len(lane), np.int64), np.zeros(len(lane), np.int64)
    crossed, path, stage = np.zeros(len(lane), np.int64), np.zeros(len(lane), bool), np.full(len(lane), -1)
    found = Hops(*np.full((3, len(lane), most), -1))
    for hop in range(most):
        on = hops[lane, run] > 0
        d, kind = direction[lane, run], phase[lane, run]
        axis = np.int64(1) << (d >> 1)
        begins = on & (made == 0)
        crossed = np.where(begins & ((memory == "run") | (kind != stage)), 0, crossed)
        stage = np.where(begins, kind, stage)
        if memory == "ahead":
            crossed = np.where(begins, axis * crosses(moves, at, d, hops[lane, run]), crossed)
        wraps = on & moves.wrap[at, d]
        crossed, path = crossed | axis * wraps, path | wraps
        past = path if memory == "path" else (crossed & axis) != 0
        found.node[on, hop] = at[on]
        found.port[on, hop] = moves.port[at, d][on]
        found.kind[on, hop] = classes[kind, past.astype(np.int8)][on]
        at, made = np.where(on, moves.next[at, d], at), made + on
        ended = on & (made == hops[lane, run])
        run, made = run + ended, np.where(ended, 0, made)
    return found


def crosses(moves: Moves, at: np.ndarray, direction: np.ndarray, hops: np.ndarray) -> np.ndarray:
    """bool[R]: whether a run of that many hops from each node crosses a dateline."""
    crossed = np.zeros(len(at), bool)
    for hop in range(int(hops.max(initial=0))):
        on = hop < hops
        crossed |= on & moves.wrap[at, direction]
        at = np.where(on, moves.next[at, direction], at)
    return crossed


def _first(runs: Runs) -> list[np.ndarray]:
    """The same runs, int64[R, L + 1], with the empty ones of each row moved to its end, and one more empty one."""
    order = np.argsort(runs.hops == 0, axis=1, kind="stable")
    return [
        np.hstack([np.take_along_axis(array, order, axis=1), np.zeros((len(order), 1), array.dtype)]).astype(np.int64)
        for array in runs
    ]
