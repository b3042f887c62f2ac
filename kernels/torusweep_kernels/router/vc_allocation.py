"""Allocate VCs: heads at the front of their buffers request output VCs, which are granted (see `choices`)."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import inlined, lowest
from torusweep_kernels.router.detours import choose_route
from torusweep_kernels.router.records import (
    ACTIVE,
    BITS,
    FRESH,
    LAST,
    ONE,
    STARTED,
    begin_routing,
    first_run,
    put,
    ready,
)
from torusweep_kernels.router.task import AHEAD, AXIS, PATH, REST, STORE_AND_FORWARD, WORMHOLE

NO_REQUEST = 1 << 40  # larger than every place in round-robin order


@inlined
def promote_head(fixed, state, own, code, t):
    """Promote the next packet of a channel's VC to its front, if enough of its flits have arrived."""
    x = (code >> BITS) * fixed.vcs + (code & LAST)
    packet = state.queue[x, state.vcs[x].begins & (state.queue.shape[1] - 1)]
    if (
        fixed.switching == STORE_AND_FORWARD
        and state.vcs[x].count < state.packets[packet].length
        and first_run(state, packet) >= 0
    ):
        return
    state.vcs[x].begins += 1
    begin_routing(fixed, state, own, code, packet, t)


@inlined
def activate_grants(fixed, state, code):
    state.vcs[(code >> BITS) * fixed.vcs + (code & LAST)].mode |= STARTED
    ready(fixed, state, code >> BITS, code & LAST)


@inlined
def hold_vc(fixed, state, own, code, out, t):
    here = state.vcs[(code >> BITS) * fixed.vcs + (code & LAST)]
    here.mode = ACTIVE | FRESH
    here.out = out
    if fixed.vc_delay == 0:
        activate_grants(fixed, state, code)
    else:
        put(own.grants, (t + fixed.vc_delay) & (len(own.grants) - 1), code)


@inlined
def crossed_after(fixed, state, packet, node, run, direction, phase):
    """Return the packet's bits of crossed datelines after the hop, and the bit that belongs to this run."""
    place = direction >> 1 if fixed.memory == AXIS else 0 if fixed.memory == PATH else run
    bit = np.int64(1) << np.int64(place)
    crossed = state.packets[packet].crossed
    if fixed.memory == AXIS and state.packets[packet].stage != phase:
        crossed = np.int64(0)
    return crossed | bit if fixed.wrap[node, direction] else crossed, bit


@inlined
def request_vc(fixed, state, own, code, t):
    """Let a head with a known route leave here, or request an output VC from now on (see `choices.choices`)."""
    port, vc = code >> BITS, code & LAST
    here, node = state.vcs[port * fixed.vcs + vc], state.ports[port].node
    packet = here.front
    if fixed.decisions > 0:
        choose_route(fixed, state, node, packet, t)
    run = first_run(state, packet)
    if run < 0:
        hold_vc(fixed, state, own, code, -1, t)
        return
    row = state.packets[packet].row
    d, stage = fixed.direction[row, run], fixed.phase[row, run]
    crossed, bit = crossed_after(fixed, state, packet, node, run, d, stage)
    past, still = crossed & bit != 0, fixed.until[node, d] < state.left[packet, run]
    first, last = (1, 1) if past or (fixed.memory == AHEAD and still) else (0, 0)
    if fixed.memory == REST:
        first, last = (0, 0) if still else (1, 1)
    elif fixed.balanced and not past and not still:
        if state.left[packet, run] == fixed.hops[row, run]:
            first, last = 0, 1
        elif fixed.low[stage, 1, 0] <= vc < fixed.low[stage, 1, 1]:
            first, last = 1, 1
    allowed = 0
    for column in range(first, last + 1):
        allowed |= (1 << fixed.low[stage, column, 1]) - (1 << fixed.low[stage, column, 0])
    here.wanted = node * fixed.ports + fixed.port_of[node, d]
    if fixed.decisions > 0:
        state.claimed[here.wanted * fixed.vcs + lowest(np.uint64(allowed))] += here.rest
    here.run = run
    here.allowed = allowed
    here.need = 0 if fixed.switching == WORMHOLE else state.packets[packet].length
    here.keeps = -2 if not fixed.bubble else vc if state.packets[packet].going == d else -1
    state.ports[port].requests |= np.uint16(1 << vc)
    state.nodes[node].requesting_ports |= ONE << np.uint64(port - node * fixed.inputs)
    state.nodes[node].changed = 1


@inlined
def any_run(fixed, state, packet, need, node):
    """Return the adaptive output VC with room that has most credits, then most hops left, and its run; else (−1, 0)."""
    row = state.packets[packet].row
    if fixed.switching == WORMHOLE:
        need = fixed.buffer
    best, best_run, most = -1, 0, np.int64(-1)
    for run in range(state.left.shape[1]):
        far = np.int64(state.left[packet, run])
        if far == 0:
            continue
        channel = node * fixed.ports + fixed.port_of[node, fixed.direction[row, run]]
        for vc in range(fixed.escape, fixed.vcs):
            credits = np.int64(state.outs[channel * fixed.vcs + vc].credits)
            if state.channels[channel].free >> vc & 1 and credits >= need and (credits << 16 | far) > most:
                best, best_run, most = channel << BITS | vc, run, credits << 16 | far
    return best, best_run


@inlined
def own_run(fixed, state, longest, here):
    """Return the allowed output VC that has room and the most credits; −1 if none has room."""
    channel = np.int64(here.wanted)
    possible, best, most = np.uint64(state.channels[channel].free & here.allowed), -1, -1
    while possible:
        vc = lowest(possible)
        possible &= possible - ONE
        credits = state.outs[channel * fixed.vcs + vc].credits
        need = here.need if here.keeps == -2 or here.keeps == vc else here.need + longest
        if credits >= need and credits > most:
            best, most = channel << BITS | vc, credits
    return best


@inlined
def grant(fixed, state, own, node, code, out, run, t):
    """Grant an output VC to a head, whose packet takes the hop."""
    port, vc, channel = code >> BITS, code & LAST, out >> BITS
    i = port - node * fixed.inputs
    state.channels[channel].free &= np.uint16(~(1 << (out & LAST)))
    state.outs[channel * fixed.vcs + (out & LAST)].holder = code
    state.channels[channel].last_granted = i * fixed.vcs + vc
    state.ports[port].requests &= np.uint16(~(1 << vc))
    if state.ports[port].requests == 0:
        state.nodes[node].requesting_ports &= ~(ONE << np.uint64(i))
    here = state.vcs[port * fixed.vcs + vc]
    packet = here.front
    if fixed.decisions > 0:
        state.claimed[channel * fixed.vcs + lowest(np.uint64(here.allowed))] -= here.rest
        state.claimed[channel * fixed.vcs + (out & LAST)] += here.rest
    row = state.packets[packet].row
    d, stage = fixed.direction[row, run], fixed.phase[row, run]
    state.packets[packet].crossed = crossed_after(fixed, state, packet, node, run, d, stage)[0]
    state.packets[packet].stage = stage
    state.packets[packet].going = d
    state.left[packet, run] -= 1
    hold_vc(fixed, state, own, code, out, t)


@inlined
def allocate_vcs(fixed, state, own, node, t):
    """Do the VC allocation of a node.

    scratch   int64[4, P]: round-robin place, code, output VC and run of the best request so far for each output port
    """
    orders, codes, gets, runs = own.scratch[0], own.scratch[1], own.scratch[2], own.scratch[3]
    orders[:] = NO_REQUEST
    state.nodes[node].changed = 0
    choosing = won = 0
    all_vcs, first_port = fixed.inputs * fixed.vcs, node * fixed.inputs
    requesting = state.nodes[node].requesting_ports
    while requesting:
        i = lowest(requesting)
        requesting &= requesting - ONE
        heads = np.uint64(state.ports[first_port + i].requests)
        while heads:
            vc = lowest(heads)
            heads &= heads - ONE
            here = state.vcs[(first_port + i) * fixed.vcs + vc]
            out, run = -1, np.int64(here.run)
            if fixed.adaptive:
                out, run = any_run(fixed, state, here.front, here.need, node)
            if out < 0:
                out, run = own_run(fixed, state, fixed.longest, here), np.int64(here.run)
            if out < 0:
                continue
            choosing += 1
            channel = out >> BITS
            port = channel - node * fixed.ports
            order = i * fixed.vcs + vc - state.channels[channel].last_granted - 1
            if order < 0:
                order += all_vcs
            if fixed.transit_first and i >= fixed.transit:
                order += all_vcs
            if order < orders[port]:
                won += orders[port] == NO_REQUEST
                orders[port], codes[port], gets[port], runs[port] = order, (first_port + i) << BITS | vc, out, run
    if choosing == 0:
        return
    state.nodes[node].changed = choosing > won
    for port in range(fixed.ports):
        if orders[port] < NO_REQUEST:
            grant(fixed, state, own, node, codes[port], gets[port], runs[port], t)
