"""The compiled steps of one experiment: only what changes is looked at.

Flits under way, credits, routes and grants under way wait in wheels, by the cycle in which they are due. A buffer is a
number of flits and the packets that they belong to, which the sender writes at once and the receiver reads when the
flits are there. Every input port has a mask of VCs whose flits could be sent, every node one of such ports, and a mark that
its VC allocation may have changed; other nodes and VCs cost nothing.

An input VC is written as a code, input port · 16 + VC, an output VC as channel · 16 + VC.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import extending, njit, types

from kernels.distance.bits import cached
from kernels.network.task import AHEAD, AXIS, PATH, REST, STORE_AND_FORWARD, WORMHOLE

intrinsic: Any = extending.intrinsic  # its type hint keeps the typing context in the signature

BITS, LAST = 4, 15  # of a code: its VC
ACTIVE, FRESH, STARTED = 1, 2, 4  # of `mode`: has an output; none of its flits has gone; they may go
LEFT, INJECTED, EJECTED, WAKING, REFILLED, DUE = range(6)  # of `number`
ONE = np.uint64(1)


class Fixed(NamedTuple):
    """What does not change: sizes and delays as in `Task` and `Router`, arrays flat; node int32[N·I]: of each input port."""

    nodes: int
    ports: int
    inputs: int
    transit: int
    vcs: int
    escape: int
    buffer: int
    switching: int
    memory: int
    adaptive: bool
    bubble: bool
    transit_first: bool
    ejection: int
    route_delay: int
    vc_delay: int
    switch_delay: int
    credit_delay: int
    measure_from: int
    land: np.ndarray
    feed: np.ndarray
    node: np.ndarray
    delay: np.ndarray
    port_of: np.ndarray
    wrap: np.ndarray
    until: np.ndarray
    low: np.ndarray
    direction: np.ndarray
    hops: np.ndarray
    phase: np.ndarray


class Packets(NamedTuple):
    """Of an experiment: as in `Batch` and `Travel`; due_time, due_node int32[M]: when and where, by time; bound int64[N + 1]."""

    row: np.ndarray
    length: np.ndarray
    time: np.ndarray
    bound: np.ndarray
    due_time: np.ndarray
    due_node: np.ndarray
    longest: int
    left: np.ndarray
    crossed: np.ndarray
    stage: np.ndarray
    going: np.ndarray
    entered: np.ndarray
    delivered: np.ndarray


class Live(NamedTuple):
    """What changes. By input VC (port · V + VC), by output VC (channel · V + VC), by input port, channel or node; wheels by slot.

    front, count, moved, credits   as in `State`; out, holder: codes
    mode, rest                     see above; flits of the front still to go
    queue, begins, ends            packets behind the front: places begins … ends − 1, modulo its length, a power of 2
    wanted, allowed, need, keeps, run  of a head that asks: channel, VCs as bits, credits, the VC on which it need not have
                                   more (bubble; −1 none, −2 all), the run
    can, asks, free                VCs as bits: of input ports, whose flits can go; whose heads ask; of channels, that nobody holds
    can_ports, ask_ports           ports of each node with any such
    changed                        nodes whose VC allocation may differ from that of the cycle before
    """

    front: np.ndarray
    mode: np.ndarray
    out: np.ndarray
    count: np.ndarray  # type: ignore[assignment]  # hides tuple.count
    moved: np.ndarray
    rest: np.ndarray
    queue: np.ndarray
    begins: np.ndarray
    ends: np.ndarray
    wanted: np.ndarray
    allowed: np.ndarray
    need: np.ndarray
    keeps: np.ndarray
    run: np.ndarray
    credits: np.ndarray
    holder: np.ndarray
    can: np.ndarray
    asks: np.ndarray
    last_vc: np.ndarray
    free: np.ndarray
    last_granted: np.ndarray
    last_sent: np.ndarray
    can_ports: np.ndarray
    ask_ports: np.ndarray
    changed: np.ndarray
    taken: np.ndarray
    arrivals: np.ndarray
    arriving: np.ndarray
    returns: np.ndarray
    returning: np.ndarray
    routes: np.ndarray
    routing: np.ndarray
    grants: np.ndarray
    granting: np.ndarray
    waking: np.ndarray
    refilled: np.ndarray
    stored: np.ndarray
    flits: np.ndarray
    occupancy: np.ndarray
    number: np.ndarray


@intrinsic
def lowest(context, word):
    """The number of the lowest bit of a uint64 that is not 0."""

    def codegen(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@njit(inline="always")
def after(mask, last):
    """The first bit of a uint64 that is not 0, in round-robin order after bit `last`; last < 63."""
    behind = mask >> np.uint64(last + 1)
    return last + 1 + lowest(behind) if behind else lowest(mask)


@cached
def advance(fixed, packets, live, t, stop):
    """Run cycles t … stop − 1; returns the number of the cycle that was not run any more: earlier where all packets are delivered."""
    scratch = np.empty((4, max(1, fixed.ports)), np.int64)
    nominated, chosen = np.zeros(fixed.ports + 1, np.uint64), np.zeros(64, np.int8)
    while t < stop and live.number[LEFT] > 0:
        credits_return(fixed, live, t)
        flits_arrive(fixed, packets, live, t)
        heads_come(fixed, packets, live, t)
        for node in range(fixed.nodes):
            if live.changed[node]:
                allocate_channels(fixed, packets, live, t, node, scratch)
        for node in range(fixed.nodes):
            if live.can_ports[node]:
                allocate_switch(fixed, packets, live, t, node, nominated, chosen)
        if t >= fixed.measure_from:
            for vc in range(fixed.vcs):
                live.occupancy[vc] += live.stored[vc]
        t += 1
    return t


@njit(inline="always")
def ready(fixed, live, x, port, vc):
    """Note that the VC's flits can go, if they can."""
    out = live.out[x]
    if live.mode[x] & STARTED and live.count[x] > 0 and (out < 0 or live.credits[(out >> BITS) * fixed.vcs + (out & LAST)] > 0):
        node = fixed.node[port]
        live.can[port] |= np.uint16(1 << vc)
        live.can_ports[node] |= ONE << np.uint64(port - node * fixed.inputs)


@cached
def credits_return(fixed, live, t):
    slot = t & (len(live.returning) - 1)
    heed = fixed.switching != WORMHOLE or fixed.adaptive  # heads that ask look at credits
    for i in range(live.returning[slot]):
        code = live.returns[slot, i]
        channel = code >> BITS
        y = channel * fixed.vcs + (code & LAST)
        live.credits[y] += 1
        if heed:
            live.changed[channel // fixed.ports] = 1
        if live.credits[y] == 1:
            holder = live.holder[y]
            if holder >= 0:
                port, vc = holder >> BITS, holder & LAST
                ready(fixed, live, port * fixed.vcs + vc, port, vc)
    live.returning[slot] = 0


@cached
def flits_arrive(fixed, packets, live, t):
    slot = t & (len(live.arriving) - 1)
    for i in range(live.arriving[slot]):
        code = live.arrivals[slot, i]
        port, vc = code >> BITS, code & LAST
        x = port * fixed.vcs + vc
        live.count[x] += 1
        live.stored[vc] += 1
        if live.front[x] < 0:
            come_forward(fixed, packets, live, t, x, code)
        elif live.count[x] == 1:
            ready(fixed, live, x, port, vc)
    live.arriving[slot] = 0


@cached
def come_forward(fixed, packets, live, t, x, code):
    """The next packet of a channel's VC, some of whose flits are here."""
    packet = live.queue[x, live.begins[x] & (live.queue.shape[1] - 1)]
    if fixed.switching == STORE_AND_FORWARD and live.count[x] < packets.length[packet] and first_run(packets, packet) >= 0:
        return
    live.begins[x] += 1
    bring(fixed, packets, live, t, x, code, packet)


@njit(inline="always")
def bring(fixed, packets, live, t, x, code, packet):
    live.front[x], live.moved[x], live.rest[x] = packet, t, packets.length[packet]
    slot = (t + fixed.route_delay) & (len(live.routing) - 1)
    live.routes[slot, live.routing[slot]] = code
    live.routing[slot] += 1


@cached
def heads_come(fixed, packets, live, t):
    """Packets behind those that left come forward, source queues give theirs, routes and grants become due."""
    for i in range(live.number[WAKING]):
        code = live.waking[i]
        x = (code >> BITS) * fixed.vcs + (code & LAST)
        if live.front[x] < 0:
            come_forward(fixed, packets, live, t, x, code)
    live.number[WAKING] = 0
    for i in range(live.number[REFILLED]):
        refill(fixed, packets, live, t, live.refilled[i])
    live.number[REFILLED] = 0
    due = live.number[DUE]
    while due < len(packets.due_time) and packets.due_time[due] <= t:
        refill(fixed, packets, live, t, packets.due_node[due])
        due += 1
    live.number[DUE] = due
    slot = t & (len(live.routing) - 1)
    for i in range(live.routing[slot]):
        ask(fixed, packets, live, t, live.routes[slot, i])
    live.routing[slot] = 0
    slot = t & (len(live.granting) - 1)
    for i in range(live.granting[slot]):
        start(fixed, live, live.grants[slot, i])
    live.granting[slot] = 0


@cached
def refill(fixed, packets, live, t, node):
    """Empty injection VCs take packets."""
    packet, end = live.taken[node], packets.bound[node + 1]
    if packet >= end or packets.time[packet] > t:
        return
    for vc in range(fixed.vcs):
        for port in range(node * fixed.inputs + fixed.transit, (node + 1) * fixed.inputs):
            x = port * fixed.vcs + vc
            if live.front[x] < 0 and packet < end and packets.time[packet] <= t:
                live.count[x] = packets.length[packet]
                bring(fixed, packets, live, t, x, port << BITS | vc, packet)
                packet += 1
    live.taken[node] = packet


@njit(inline="always")
def first_run(packets, packet):
    """The first run that has hops left, −1 = none."""
    for run in range(packets.left.shape[1]):
        if packets.left[packet, run] > 0:
            return run
    return -1


@njit(inline="always")
def crossing(fixed, packets, packet, node, run, direction, phase):
    """(column of the rule's classes, the packet's bits after the hop): see `choices.crossing`."""
    place = direction >> 1 if fixed.memory == AXIS else 0 if fixed.memory == PATH else run
    bit = np.int64(1) << np.int64(place)
    crossed = packets.crossed[packet]
    if fixed.memory == AXIS and packets.stage[packet] != phase:
        crossed = np.int64(0)
    if fixed.wrap[node, direction]:
        crossed |= bit
    still = fixed.until[node, direction] < packets.left[packet, run]
    if fixed.memory == REST:
        column = 0 if still else 1
    else:
        column = 1 if crossed & bit or (fixed.memory == AHEAD and still) else 0
    return column, crossed


@cached
def ask(fixed, packets, live, t, code):
    """A head's route is known: it leaves the network here, or asks for an output VC from now on."""
    port, vc = code >> BITS, code & LAST
    x = port * fixed.vcs + vc
    node, packet = fixed.node[port], live.front[x]
    run = first_run(packets, packet)
    if run < 0:
        hold(fixed, live, t, x, code, -1)
        return
    row = packets.row[packet]
    direction, phase = fixed.direction[row, run], fixed.phase[row, run]
    column = crossing(fixed, packets, packet, node, run, direction, phase)[0]
    low, behind = fixed.low[phase, column, 0], fixed.low[phase, column, 1]
    live.wanted[x], live.run[x] = node * fixed.ports + fixed.port_of[node, direction], run
    live.allowed[x] = np.uint16((1 << behind) - (1 << low))
    live.need[x] = 0 if fixed.switching == WORMHOLE else packets.length[packet]
    live.keeps[x] = -2
    if fixed.bubble:
        live.keeps[x] = vc if packets.going[packet] == direction else -1
    live.asks[port] |= np.uint16(1 << vc)
    live.ask_ports[node] |= ONE << np.uint64(port - node * fixed.inputs)
    live.changed[node] = 1


@njit(inline="always")
def hold(fixed, live, t, x, code, out):
    live.mode[x], live.out[x] = ACTIVE | FRESH, out
    if fixed.vc_delay == 0:
        start(fixed, live, code)
    else:
        slot = (t + fixed.vc_delay) & (len(live.granting) - 1)
        live.grants[slot, live.granting[slot]] = code
        live.granting[slot] += 1


@cached
def start(fixed, live, code):
    port, vc = code >> BITS, code & LAST
    x = port * fixed.vcs + vc
    live.mode[x] |= STARTED
    ready(fixed, live, x, port, vc)


@cached
def any_run(fixed, packets, live, x, node):
    """(an output VC above the escape's, its run) that has room, the one with the most credits; (−1, 0) where none has."""
    packet = live.front[x]
    row = packets.row[packet]
    need = fixed.buffer if fixed.switching == WORMHOLE else live.need[x]
    best, best_run, most = -1, 0, -1
    for run in range(packets.left.shape[1]):
        if packets.left[packet, run] == 0:
            continue
        channel = node * fixed.ports + fixed.port_of[node, fixed.direction[row, run]]
        for vc in range(fixed.escape, fixed.vcs):
            credits = live.credits[channel * fixed.vcs + vc]
            if live.free[channel] >> vc & 1 and credits >= need and credits > most:
                best, best_run, most = channel << BITS | vc, run, credits
    return best, best_run


@cached
def allocate_channels(fixed, packets, live, t, node, scratch):
    """VC allocation of a node. scratch int64[4, P]: of every output port the winner so far: its order, code, output VC and run."""
    winner, codes, outs, runs = scratch[0], scratch[1], scratch[2], scratch[3]
    winner[:] = 1 << 40
    live.changed[node] = 0
    choosing = won = 0
    all_vcs, first_port = fixed.inputs * fixed.vcs, node * fixed.inputs
    ports = live.ask_ports[node]
    while ports:
        i = lowest(ports)
        ports &= ports - ONE
        vcs = np.uint64(live.asks[first_port + i])
        while vcs:
            vc = lowest(vcs)
            vcs &= vcs - ONE
            x = (first_port + i) * fixed.vcs + vc
            out, run = any_run(fixed, packets, live, x, node) if fixed.adaptive else (-1, 0)
            if out < 0:
                run = np.int64(live.run[x])
                channel = np.int64(live.wanted[x])
                possible, most = np.uint64(live.free[channel] & live.allowed[x]), -1
                while possible:
                    v = lowest(possible)
                    possible &= possible - ONE
                    credits = live.credits[channel * fixed.vcs + v]
                    need = live.need[x] + (packets.longest if live.keeps[x] != -2 and live.keeps[x] != v else 0)
                    if credits >= need and credits > most:
                        out, most = channel << BITS | v, credits
                if out < 0:
                    continue
            choosing += 1
            channel = out >> BITS
            port = channel - node * fixed.ports
            order = i * fixed.vcs + vc - live.last_granted[channel] - 1
            if order < 0:
                order += all_vcs
            if fixed.transit_first and i >= fixed.transit:
                order += all_vcs
            if order < winner[port]:
                won += winner[port] == 1 << 40
                winner[port], codes[port], outs[port], runs[port] = order, (first_port + i) << BITS | vc, out, run
    if not choosing:
        return
    live.changed[node] = choosing > won
    for port in range(fixed.ports):
        if winner[port] < 1 << 40:
            grant(fixed, packets, live, t, node, codes[port], outs[port], runs[port])


@cached
def grant(fixed, packets, live, t, node, code, out, run):
    """The head takes the output VC, and its packet the hop."""
    port, vc = code >> BITS, code & LAST
    x, channel, v = port * fixed.vcs + vc, out >> BITS, out & LAST
    i = port - node * fixed.inputs
    live.free[channel] &= np.uint16(~(1 << v))
    live.holder[channel * fixed.vcs + v] = code
    live.last_granted[channel] = i * fixed.vcs + vc
    live.asks[port] &= np.uint16(~(1 << vc))
    if live.asks[port] == 0:
        live.ask_ports[node] &= ~(ONE << np.uint64(i))
    packet = live.front[x]
    row = packets.row[packet]
    direction, phase = fixed.direction[row, run], fixed.phase[row, run]
    packets.crossed[packet] = crossing(fixed, packets, packet, node, run, direction, phase)[1]
    packets.left[packet, run] -= 1
    packets.stage[packet], packets.going[packet] = phase, direction
    hold(fixed, live, t, x, code, out)


@cached
def allocate_switch(fixed, packets, live, t, node, nominated, chosen):
    """Switch allocation of a node. nominated uint64[P + 1]: 0, of every output the input ports as bits; chosen int8[I]: their VCs."""
    first_port, transit = node * fixed.inputs, (ONE << np.uint64(fixed.transit)) - ONE
    outputs, ports = np.uint64(0), live.can_ports[node]
    while ports:
        i = lowest(ports)
        ports &= ports - ONE
        port = first_port + i
        vc = after(np.uint64(live.can[port]), live.last_vc[port])
        out = live.out[port * fixed.vcs + vc]
        output = fixed.ports if out < 0 else (out >> BITS) - node * fixed.ports
        nominated[output] |= ONE << np.uint64(i)
        outputs |= ONE << np.uint64(output)
        chosen[i] = vc
    while outputs:
        output = lowest(outputs)
        outputs &= outputs - ONE
        left, many = nominated[output], 1 if output < fixed.ports else fixed.ejection
        nominated[output] = np.uint64(0)
        last = live.last_sent[node, output]
        while left and many > 0:
            i = after(left & transit if fixed.transit_first and left & transit else left, last)
            left &= ~(ONE << np.uint64(i))
            many -= 1
            live.last_sent[node, output] = i
            live.last_vc[first_port + i] = chosen[i]
            send(fixed, packets, live, t, node, i, chosen[i])


@cached
def send(fixed, packets, live, t, node, i, vc):
    """A flit goes."""
    port = node * fixed.inputs + i
    x = port * fixed.vcs + vc
    packet, out, fresh = live.front[x], live.out[x], live.mode[x] & FRESH
    live.rest[x] -= 1
    live.count[x] -= 1
    live.moved[x] = t
    tail, blocked = live.rest[x] == 0, live.count[x] == 0
    if i < fixed.transit:
        slot = (t + fixed.credit_delay) & (len(live.returning) - 1)
        live.returns[slot, live.returning[slot]] = fixed.feed[port] << BITS | vc
        live.returning[slot] += 1
        live.stored[vc] -= 1
    else:
        live.number[INJECTED] += 1
        if fresh:
            packets.entered[packet] = t
    if out >= 0:
        channel, v = out >> BITS, out & LAST
        y, land = channel * fixed.vcs + v, fixed.land[channel]
        live.credits[y] -= 1
        blocked |= live.credits[y] == 0
        if fresh:
            there = land * fixed.vcs + v
            live.queue[there, live.ends[there] & (live.queue.shape[1] - 1)] = packet
            live.ends[there] += 1
        slot = (t + fixed.switch_delay + fixed.delay[channel]) & (len(live.arriving) - 1)
        live.arrivals[slot, live.arriving[slot]] = land << BITS | v
        live.arriving[slot] += 1
        if t >= fixed.measure_from:
            live.flits[channel] += 1
        if tail:
            live.holder[y] = -1
            live.free[channel] |= np.uint16(1 << v)
            live.changed[node] = 1
    else:
        live.number[EJECTED] += 1
        if tail:
            packets.delivered[packet] = t + fixed.switch_delay
            live.number[LEFT] -= 1
    live.mode[x] &= ~FRESH
    if tail:
        live.front[x], live.mode[x], live.out[x] = -1, 0, -1
        if i >= fixed.transit:
            live.refilled[live.number[REFILLED]] = node
            live.number[REFILLED] += 1
        elif live.count[x] > 0:
            live.waking[live.number[WAKING]] = port << BITS | vc
            live.number[WAKING] += 1
    if tail or blocked:
        live.can[port] &= np.uint16(~(1 << vc))
        if live.can[port] == 0:
            live.can_ports[node] &= ~(ONE << np.uint64(i))
