"""Choose between a route and a detour, compiled by Numba; `reference.takes_detour` is the specification."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import inlined
from torusweep_kernels.router.records import first_run


@inlined
def see_channels(fixed, state, first, behind, t):
    """Record for the next cycle how many flits occupy the output VCs of the nodes first … behind − 1."""
    for y in range(first * fixed.ports * fixed.vcs, behind * fixed.ports * fixed.vcs):
        state.seen[(t + 1) & 1, y] = fixed.buffer - state.outs[y].credits + state.claimed[y]


@inlined
def occupied(fixed, state, channel, low, behind, t):
    """Return how many flits occupied VCs low … behind − 1 of the channel at the end of the last cycle."""
    total = np.int64(0)
    for y in range(channel * fixed.vcs + low, channel * fixed.vcs + behind):
        total += state.seen[t & 1, y]
    return total


@inlined
def occupied_along(fixed, state, node, row, hops, t):
    """Return how many flits occupied the channels of a route's next hops; `hops` has the hops of each run."""
    total = np.int64(0)
    for run in range(len(hops)):
        for _ in range(hops[run]):
            channel = node * fixed.ports + fixed.port_of[node, fixed.direction[row, run]]
            total += occupied(fixed, state, channel, 0, fixed.vcs, t)
            node = state.ports[state.channels[channel].land].node
    return total


@inlined
def takes_detour(fixed, state, node, packet, detour, t):
    row = state.packets[packet].row
    if fixed.sees_all:
        own = occupied_along(fixed, state, node, row, state.left[packet], t)
        return own > occupied_along(fixed, state, node, detour, fixed.hops[detour], t) + fixed.threshold
    own_hops = other_hops = np.int64(0)
    own_run, other_run = first_run(state, packet), -1
    for run in range(state.left.shape[1]):
        own_hops += state.left[packet, run]
        other_hops += fixed.hops[detour, run]
        if other_run < 0 and fixed.hops[detour, run] > 0:
            other_run = run
    own = node * fixed.ports + fixed.port_of[node, fixed.direction[row, own_run]]
    other = node * fixed.ports + fixed.port_of[node, fixed.direction[detour, other_run]]
    if own == other:
        ends, other_ends = fixed.low[fixed.phase[row, own_run], 0], fixed.low[fixed.phase[detour, other_run], 0]
        own_flits = occupied(fixed, state, own, ends[0], ends[1], t)
        other_flits = occupied(fixed, state, other, other_ends[0], other_ends[1], t)
    else:
        own_flits = occupied(fixed, state, own, 0, fixed.vcs, t)
        other_flits = occupied(fixed, state, other, 0, fixed.vcs, t)
    return own_flits * own_hops > other_flits * other_hops + fixed.threshold


@inlined
def choose_route(fixed, state, node, packet, t):
    """Let a packet whose route computation ends choose between its route and a detour."""
    k = state.packets[packet].passed
    if k < 0 or k >= fixed.decisions:
        return
    state.packets[packet].passed = k + 1
    detour = fixed.detour[packet, k]
    if detour >= 0 and takes_detour(fixed, state, node, packet, detour, t):
        state.packets[packet].passed = -1
        state.packets[packet].row = detour
        state.packets[packet].crossed = 0
        for run in range(state.left.shape[1]):
            state.left[packet, run] = fixed.hops[detour, run]
