"""Heads come forward, request output VCs, and get them: see `choices`."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import inlined, lowest
from torusweep_kernels.router.records import ACTIVE, BITS, FRESH, LAST, ONE, STARTED, bring, first_run, put, ready
from torusweep_kernels.router.task import AHEAD, AXIS, PATH, REST, STORE_AND_FORWARD, WORMHOLE

NOBODY = 1 << 40  # an order behind all others


@inlined
def come_forward(fixed, live, own, code, t):
    """The next packet of a channel's VC, some of whose flits are here."""
    x = (code >> BITS) * fixed.vcs + (code & LAST)
    packet = live.queue[x, live.vcs[x].begins & (live.queue.shape[1] - 1)]
    if (
        fixed.switching == STORE_AND_FORWARD
        and live.vcs[x].count < live.packets[packet].length
        and first_run(live, packet) >= 0
    ):
        return
    live.vcs[x].begins += 1
    bring(fixed, live, own, code, packet, t)


@inlined
def start(fixed, live, code):
    live.vcs[(code >> BITS) * fixed.vcs + (code & LAST)].mode |= STARTED
    ready(fixed, live, code >> BITS, code & LAST)


@inlined
def hold(fixed, live, own, code, out, t):
    here = live.vcs[(code >> BITS) * fixed.vcs + (code & LAST)]
    here.mode = ACTIVE | FRESH
    here.out = out
    if fixed.vc_delay == 0:
        start(fixed, live, code)
    else:
        put(own.grants, (t + fixed.vc_delay) & (len(own.grants) - 1), code)


@inlined
def crossed_after(fixed, live, packet, node, run, direction, phase):
    """(the packet's bits after the hop, the bit of this run)."""
    place = direction >> 1 if fixed.memory == AXIS else 0 if fixed.memory == PATH else run
    bit = np.int64(1) << np.int64(place)
    crossed = live.packets[packet].crossed
    if fixed.memory == AXIS and live.packets[packet].stage != phase:
        crossed = np.int64(0)
    return crossed | bit if fixed.wrap[node, direction] else crossed, bit


@inlined
def ask(fixed, live, own, code, t):
    """A head's route is known: it leaves the network here, or asks for an output VC from now on. See
    `choices.choices`."""
    port, vc = code >> BITS, code & LAST
    here, node = live.vcs[port * fixed.vcs + vc], live.ports[port].node
    packet = here.front
    run = first_run(live, packet)
    if run < 0:
        hold(fixed, live, own, code, -1, t)
        return
    row = live.packets[packet].row
    d, stage = fixed.direction[row, run], fixed.phase[row, run]
    crossed, bit = crossed_after(fixed, live, packet, node, run, d, stage)
    past, still = crossed & bit != 0, fixed.until[node, d] < live.left[packet, run]
    first, last = (1, 1) if past or (fixed.memory == AHEAD and still) else (0, 0)
    if fixed.memory == REST:
        first, last = (0, 0) if still else (1, 1)
    elif fixed.balanced and not past and not still:
        if live.left[packet, run] == fixed.hops[row, run]:
            first, last = 0, 1
        elif fixed.low[stage, 1, 0] <= vc < fixed.low[stage, 1, 1]:
            first, last = 1, 1
    allowed = 0
    for column in range(first, last + 1):
        allowed |= (1 << fixed.low[stage, column, 1]) - (1 << fixed.low[stage, column, 0])
    here.wanted = node * fixed.ports + fixed.port_of[node, d]
    here.run = run
    here.allowed = allowed
    here.need = 0 if fixed.switching == WORMHOLE else live.packets[packet].length
    here.keeps = -2 if not fixed.bubble else vc if live.packets[packet].going == d else -1
    live.ports[port].asks |= np.uint16(1 << vc)
    live.nodes[node].ask_ports |= ONE << np.uint64(port - node * fixed.inputs)
    live.nodes[node].changed = 1


@inlined
def any_run(fixed, live, packet, need, node):
    """(an output VC above the escape's, its run) that has room: most credits, then most hops left; (−1, 0) where none
    has."""
    row = live.packets[packet].row
    if fixed.switching == WORMHOLE:
        need = fixed.buffer
    best, best_run, most = -1, 0, np.int64(-1)
    for run in range(live.left.shape[1]):
        far = np.int64(live.left[packet, run])
        if far == 0:
            continue
        channel = node * fixed.ports + fixed.port_of[node, fixed.direction[row, run]]
        for vc in range(fixed.escape, fixed.vcs):
            credits = np.int64(live.outs[channel * fixed.vcs + vc].credits)
            if live.channels[channel].free >> vc & 1 and credits >= need and (credits << 16 | far) > most:
                best, best_run, most = channel << BITS | vc, run, credits << 16 | far
    return best, best_run


@inlined
def own_run(fixed, live, longest, here):
    """The output VC of those allowed that has room, the one with the most credits; −1 where none has."""
    channel = np.int64(here.wanted)
    possible, best, most = np.uint64(live.channels[channel].free & here.allowed), -1, -1
    while possible:
        vc = lowest(possible)
        possible &= possible - ONE
        credits = live.outs[channel * fixed.vcs + vc].credits
        need = here.need if here.keeps == -2 or here.keeps == vc else here.need + longest
        if credits >= need and credits > most:
            best, most = channel << BITS | vc, credits
    return best


@inlined
def grant(fixed, live, own, node, code, out, run, t):
    """The head takes the output VC, and its packet the hop."""
    port, vc, channel = code >> BITS, code & LAST, out >> BITS
    i = port - node * fixed.inputs
    live.channels[channel].free &= np.uint16(~(1 << (out & LAST)))
    live.outs[channel * fixed.vcs + (out & LAST)].holder = code
    live.channels[channel].last_granted = i * fixed.vcs + vc
    live.ports[port].asks &= np.uint16(~(1 << vc))
    if live.ports[port].asks == 0:
        live.nodes[node].ask_ports &= ~(ONE << np.uint64(i))
    packet = live.vcs[port * fixed.vcs + vc].front
    row = live.packets[packet].row
    d, stage = fixed.direction[row, run], fixed.phase[row, run]
    live.packets[packet].crossed = crossed_after(fixed, live, packet, node, run, d, stage)[0]
    live.packets[packet].stage = stage
    live.packets[packet].going = d
    live.left[packet, run] -= 1
    hold(fixed, live, own, code, out, t)


@inlined
def allocate_channels(fixed, live, own, node, t):
    """VC allocation of a node. scratch int64[4, P]: of every output port the winner so far: its order, code, output VC
    and run."""
    orders, codes, gets, runs = own.scratch[0], own.scratch[1], own.scratch[2], own.scratch[3]
    orders[:] = NOBODY
    live.nodes[node].changed = 0
    choosing = won = 0
    all_vcs, first_port = fixed.inputs * fixed.vcs, node * fixed.inputs
    asking = live.nodes[node].ask_ports
    while asking:
        i = lowest(asking)
        asking &= asking - ONE
        heads = np.uint64(live.ports[first_port + i].asks)
        while heads:
            vc = lowest(heads)
            heads &= heads - ONE
            here = live.vcs[(first_port + i) * fixed.vcs + vc]
            out, run = -1, np.int64(here.run)
            if fixed.adaptive:
                out, run = any_run(fixed, live, here.front, here.need, node)
            if out < 0:
                out, run = own_run(fixed, live, fixed.longest, here), np.int64(here.run)
            if out < 0:
                continue
            choosing += 1
            channel = out >> BITS
            port = channel - node * fixed.ports
            order = i * fixed.vcs + vc - live.channels[channel].last_granted - 1
            if order < 0:
                order += all_vcs
            if fixed.transit_first and i >= fixed.transit:
                order += all_vcs
            if order < orders[port]:
                won += orders[port] == NOBODY
                orders[port], codes[port], gets[port], runs[port] = order, (first_port + i) << BITS | vc, out, run
    if choosing == 0:
        return
    live.nodes[node].changed = choosing > won
    for port in range(fixed.ports):
        if orders[port] < NOBODY:
            grant(fixed, live, own, node, codes[port], gets[port], runs[port], t)
