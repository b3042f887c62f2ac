"""The compiled steps of one experiment: only what changes is looked at.

Flits under way, credits, routes and grants under way wait in wheels, by the cycle in which they are due. A buffer is a
number of flits and the packets that they belong to, which the sender notes at once and the receiver reads when the
flits are there. Every input port has a mask of VCs whose flits could be sent, every node one of such ports, and a mark that
its VC allocation may differ from the last cycle's; other nodes and VCs cost nothing.

A large network's nodes are shared out, so that several threads may run a cycle: all that it does to a node is done with that node's share,
and what reaches another share waits, in a wheel for each pair of them, until a later cycle. So threads meet once a cycle, and neither
their number nor who ran which share changes a flit.

All of it is one file because Numba's cache watches one file: after a change elsewhere, callers would go on with what they compiled in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, njit, types
from numba.core import cgutils

from torusweep_kernels.router.live import (
    ACTIVE,
    BEGUN,
    BITS,
    DUE,
    DUE_END,
    EJECTED,
    FRESH,
    INJECTED,
    LAST,
    LEFT,
    LEFT_IN_ALL,
    LINE,
    MET,
    READY,
    STARTED,
)
from torusweep_kernels.router.task import AHEAD, AXIS, PATH, REFUSED, REST, STORE_AND_FORWARD, WORMHOLE

intrinsic: Any = extending.intrinsic  # its type hint keeps the typing context in the signature
SPINS = 2_000  # looks at what others do before a thread gives way to whoever waits for its core
ONE = np.uint64(1)
NOBODY = 1 << 40  # an order behind all others
NOTHING, TAKEN = -1, -2  # of an output that an input port wanted: it had no more to send; it may send


def plain(function):
    """Compile without counting references to arrays, which takes half the time; such code cannot make arrays."""
    options: Any = {"nogil": True, "_nrt": False}
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # Numba finds no folder that it may write to
        return njit(**options)(function)


@intrinsic
def lowest(context, word):
    """The number of the lowest bit of a uint64 that is not 0."""

    def codegen(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@intrinsic
def add_for_all(context, array, place, more):
    """Add to an entry, so that whoever sees it sees all that was written before."""

    def codegen(context, builder, signature, arguments):
        first = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.atomic_rmw("add", builder.gep(first, [arguments[1]]), arguments[2], "seq_cst")

    return types.int64(array, types.int64, types.int64), codegen


@intrinsic
def seen_by_all(context, array, place):
    """An entry as all threads see it now."""

    def codegen(context, builder, signature, arguments):
        first = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.load_atomic(builder.gep(first, [arguments[1]]), "seq_cst", 8)

    return types.int64(array, types.int64), codegen


@intrinsic
def first_to_change(context, array, place, old, new):
    """Whether the entry was `old`, and is `new` by us and by no other thread."""

    def codegen(context, builder, signature, arguments):
        first = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return builder.extract_value(
            builder.cmpxchg(builder.gep(first, [arguments[1]]), *arguments[2:], "seq_cst", "seq_cst"), 1
        )

    return types.boolean(array, types.int64, types.int64, types.int64), codegen


@intrinsic
def give_way(context):
    """Let another thread have this core, if one waits for it."""

    def codegen(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
        return context.get_dummy_value()

    return types.none(), codegen


@njit(inline="always")
def after(mask, last):
    """The first bit of a uint64 that is not 0, in round-robin order after bit `last`; last < 63."""
    behind = mask >> np.uint64(last + 1)
    return last + 1 + lowest(behind) if behind else lowest(mask)


@plain
def put(wheel, slot, code):
    """Append to a slot, whose first entry is the number of those behind it."""
    place = wheel[slot, 0] + 1
    wheel[slot, 0] = place
    wheel[slot, place] = code


@njit(inline="always")
def append(wheel, place, code):
    """Append to a slot, as `put`, that begins at a place."""
    behind = wheel[place] + 1
    wheel[place] = behind
    wheel[place + behind] = code


@njit(inline="always")
def place_of(slots, pairs, pair, cycle):
    """Where a wheel has what one share writes for another to read in a cycle."""
    return pairs[pair, 0] + (cycle & (slots - 1)) * pairs[pair, 1]


@plain
def advance(
    fixed, vcs, outs, ports, channels, nodes, packets, left, queue, arrivals, returns, landing, leaving, routes, grants, waking, refills,
    time_due, packet_due, node_due, line, messages, successor, heap, stored, occupancy, number, scratch, wanted, chosen, bids, winners, met,
    port_of, wrap, until, low, direction, hops, phase, thread, t, stop,
):  # fmt: skip
    """Run cycles t … stop − 1; returns the cycle that was not run any more: an earlier one where all packets are delivered.

    fixed: see `live.Fixed`; vcs … met: see `live.Live` (heap: ready); port_of … phase: see `Wiring`, `Task` and `simulate`. Where there are
    several shares any number of threads may run this at once, and run what must be run: a thread begins with the share of its number, then takes
    those that nobody has begun, so that one that has lost its core keeps the others waiting only where it is in the middle of a share.
    """
    shares = fixed.shares
    if shares == 1:
        return run(
            fixed, vcs, outs, ports, channels, nodes, packets, left, queue, arrivals, returns, landing, leaving,
            routes[0], grants[0], waking[0], refills[0],
            time_due, packet_due, node_due, line, messages, successor, heap, stored[0], occupancy[0], number[0],
            scratch[0], wanted[0], chosen[0], bids[0], winners[0], port_of, wrap, until, low, direction, hops, phase, 0, t, stop,
        )  # fmt: skip
    looked, spins = t - 1, 0
    while True:
        t = seen_by_all(met, MET) // shares
        if t == looked:
            spins += 1
            if spins > SPINS:
                give_way()
            continue
        # of packets only ever fewer are left: who sees that there are none may see it early in a cycle, which others then end
        if t >= stop or seen_by_all(met, LEFT_IN_ALL) == 0:
            return min(t, stop)
        looked, spins = t, 0
        for i in range(shares):
            share = (thread + i) % shares
            begun = BEGUN + LINE * share
            if seen_by_all(met, begun) == t and first_to_change(met, begun, t, t + 1):
                before = number[share, LEFT]
                run(
                    fixed, vcs, outs, ports, channels, nodes, packets, left, queue, arrivals, returns, landing, leaving,
                    routes[share], grants[share], waking[share], refills[share],
                    time_due, packet_due, node_due, line, messages, successor, heap, stored[share], occupancy[share], number[share],
                    scratch[share], wanted[share], chosen[share], bids[share], winners[share],
                    port_of, wrap, until, low, direction, hops, phase, share, t, t + 1,
                )  # fmt: skip
                add_for_all(met, LEFT_IN_ALL, number[share, LEFT] - before)
                add_for_all(met, MET, 1)


@plain
def run(
    fixed, vcs, outs, ports, channels, nodes, packets, left, queue, arrivals, returns, landing, leaving, routes, grants, waking, refills,
    time_due, packet_due, node_due, line, messages, successor, heap, stored, occupancy, number, scratch, wanted, chosen, bids, winners,
    port_of, wrap, until, low, direction, hops, phase, share, t, stop,
):  # fmt: skip
    """Cycles t … stop − 1 of a share; see `advance`."""
    first, behind = share * fixed.nodes // fixed.shares, (share + 1) * fixed.nodes // fixed.shares
    while t < stop and (number[LEFT] > 0 or fixed.shares > 1):
        for writer in range(fixed.shares):
            pair = share * fixed.shares + writer
            if leaving[pair, 1] > 0:
                credits_return(fixed, vcs, outs, ports, nodes, returns, place_of(fixed.returning, leaving, pair, t))
            if landing[pair, 1] > 0:
                place = place_of(fixed.arriving, landing, pair, t)
                flits_arrive(fixed, vcs, outs, ports, nodes, packets, left, queue, arrivals, routes, stored, place, t)
        for i in range(1, waking[0] + 1):
            code = waking[i]
            if vcs[(code >> BITS) * fixed.vcs + (code & LAST)].front < 0:
                come_forward(fixed, vcs, packets, left, queue, routes, code, t)
        waking[0] = 0
        for i in range(1, refills[0] + 1):
            refill(fixed, vcs, nodes, packets, line, routes, refills[i], t)
        refills[0] = 0
        due = number[DUE]
        while due < number[DUE_END] and time_due[due] <= t:
            generate(fixed, vcs, nodes, packets, line, routes, number, packet_due[due], node_due[due], t)
            due += 1
        number[DUE] = due
        while number[READY] > 0 and messages[heap[0]].ready <= t:
            generate_message(fixed, vcs, nodes, packets, line, messages, successor, heap, routes, number, t)
        slot = t & (len(routes) - 1)
        for i in range(1, routes[slot, 0] + 1):
            ask(
                fixed,
                vcs,
                outs,
                ports,
                nodes,
                packets,
                left,
                grants,
                port_of,
                wrap,
                until,
                low,
                direction,
                hops,
                phase,
                routes[slot, i],
                t,
            )
        routes[slot, 0] = 0
        slot = t & (len(grants) - 1)
        for i in range(1, grants[slot, 0] + 1):
            start(fixed, vcs, outs, ports, nodes, grants[slot, i])
        grants[slot, 0] = 0
        for node in range(first, behind):
            if nodes[node].changed:
                allocate_channels(
                    fixed,
                    vcs,
                    outs,
                    ports,
                    channels,
                    nodes,
                    packets,
                    left,
                    grants,
                    port_of,
                    wrap,
                    until,
                    direction,
                    phase,
                    scratch,
                    node,
                    t,
                )
        allocate_switch(
            fixed, vcs, outs, ports, channels, nodes, packets, queue, arrivals, returns, landing, leaving, waking, refills,
            messages, successor, heap, stored, number,
            wanted, chosen, bids, winners, share, first, behind, t,
        )  # fmt: skip
        if t >= fixed.measure_from:
            for vc in range(fixed.vcs):
                occupancy[vc] += stored[vc]
        t += 1
    return t


@plain
def ready(fixed, vcs, outs, ports, nodes, port, vc):
    """Note that the VC's flits can go, if they can."""
    here = vcs[port * fixed.vcs + vc]
    if (
        here.mode & STARTED
        and here.count > 0
        and (here.out < 0 or outs[(here.out >> BITS) * fixed.vcs + (here.out & LAST)].credits > 0)
    ):
        node = ports[port].node
        ports[port].can |= np.uint16(1 << vc)
        nodes[node].can_ports |= ONE << np.uint64(port - node * fixed.inputs)


@plain
def credits_return(fixed, vcs, outs, ports, nodes, returns, place):
    heed = fixed.switching != WORMHOLE or fixed.adaptive  # heads that ask look at credits
    for i in range(place + 1, place + 1 + returns[place]):
        code = returns[i]
        channel = code >> BITS
        there = outs[channel * fixed.vcs + (code & LAST)]
        there.credits += 1
        if heed:
            nodes[channel // fixed.ports].changed = 1
        if there.credits == 1 and there.holder >= 0:
            ready(fixed, vcs, outs, ports, nodes, there.holder >> BITS, there.holder & LAST)
    returns[place] = 0


@plain
def flits_arrive(fixed, vcs, outs, ports, nodes, packets, left, queue, arrivals, routes, stored, place, t):
    for i in range(place + 1, place + 1 + arrivals[place]):
        code = arrivals[i]
        port, vc = code >> BITS, code & LAST
        here = vcs[port * fixed.vcs + vc]
        here.count += 1
        stored[vc] += 1
        if here.front < 0:
            come_forward(fixed, vcs, packets, left, queue, routes, code, t)
        elif here.count == 1:
            ready(fixed, vcs, outs, ports, nodes, port, vc)
    arrivals[place] = 0


@plain
def come_forward(fixed, vcs, packets, left, queue, routes, code, t):
    """The next packet of a channel's VC, some of whose flits are here."""
    x = (code >> BITS) * fixed.vcs + (code & LAST)
    packet = queue[x, vcs[x].begins & (queue.shape[1] - 1)]
    if fixed.switching == STORE_AND_FORWARD and vcs[x].count < packets[packet].length and first_run(left, packet) >= 0:
        return
    vcs[x].begins += 1
    bring(fixed, vcs, packets, routes, code, packet, t)


@plain
def bring(fixed, vcs, packets, routes, code, packet, t):
    here = vcs[(code >> BITS) * fixed.vcs + (code & LAST)]
    here.front = packet
    here.moved = t
    here.rest = packets[packet].length
    put(routes, (t + fixed.route_delay) & (len(routes) - 1), code)


@plain
def refill(fixed, vcs, nodes, packets, line, routes, node, t):
    """A node's empty injection VCs take packets from its source queue."""
    taken, behind = nodes[node].taken, nodes[node].behind
    if taken >= behind:
        return
    for vc in range(fixed.vcs):
        for port in range(node * fixed.inputs + fixed.transit, (node + 1) * fixed.inputs):
            x = port * fixed.vcs + vc
            if vcs[x].front < 0 and taken < behind:
                packet = line[taken]
                vcs[x].count = packets[packet].length
                bring(fixed, vcs, packets, routes, port << BITS | vc, packet, t)
                taken += 1
    nodes[node].taken = taken


@plain
def generate(fixed, vcs, nodes, packets, line, routes, number, packet, node, t):
    """A packet joins its node's source queue, if there is room."""
    line[nodes[node].behind] = packet
    nodes[node].behind += 1
    refill(fixed, vcs, nodes, packets, line, routes, node, t)
    if nodes[node].behind - nodes[node].taken > fixed.source_queue:
        nodes[node].behind -= 1
        packets[packet].entered = REFUSED
        number[LEFT] -= 1


@plain
def generate_message(fixed, vcs, nodes, packets, line, messages, successor, heap, routes, number, t):
    """The first message of the heap is generated."""
    message = heap[0]
    number[READY] -= 1
    sink(messages, heap, heap[number[READY]], number[READY])
    here = messages[message]
    here.generated = t
    if here.packets == 0:
        number[LEFT] -= 1
        done(message, messages, successor, heap, number, t)
        return
    for packet in range(here.begin, here.begin + here.packets):
        line[nodes[here.node].behind] = packet
        nodes[here.node].behind += 1
    refill(fixed, vcs, nodes, packets, line, routes, here.node, t)


@plain
def deliver_of(message, messages, successor, heap, number, known):
    """One of a message's packets has been delivered."""
    messages[message].undelivered -= 1
    if messages[message].undelivered == 0:
        done(message, messages, successor, heap, number, known)


@plain
def done(message, messages, successor, heap, number, known):
    """Those that wait for a message know from now on that it was delivered."""
    for i in range(messages[message].after, messages[message + 1].after):
        there = messages[successor[i]]
        there.ready = max(there.ready, known + there.delay)
        there.missing -= 1
        if there.missing == 0:
            rise(messages, heap, successor[i], number[READY])
            number[READY] += 1


@plain
def before(messages, one, other):
    """Whether a message is generated before another: earlier, or in the same cycle and of a lower number."""
    a, b = messages[one].ready, messages[other].ready
    return a < b or (a == b and one < other)


@plain
def rise(messages, heap, message, place):
    """Put a message into a heap of `place` messages."""
    while place > 0 and before(messages, message, heap[(place - 1) >> 1]):
        heap[place] = heap[(place - 1) >> 1]
        place = (place - 1) >> 1
    heap[place] = message


@plain
def sink(messages, heap, message, size):
    """Put a message in the place of the first one of a heap, of which `size` are left with it."""
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and before(messages, heap[child + 1], heap[child]):
            child += 1
        if not before(messages, heap[child], message):
            break
        heap[place] = heap[child]
        place = child
    if size > 0:
        heap[place] = message


@plain
def first_run(left, packet):
    """The first run that has hops left, −1 = none."""
    for run in range(left.shape[1]):
        if left[packet, run] > 0:
            return run
    return -1


@plain
def crossed_after(fixed, packets, wrap, packet, node, run, direction, phase):
    """(the packet's bits after the hop, the bit of this run)."""
    place = direction >> 1 if fixed.memory == AXIS else 0 if fixed.memory == PATH else run
    bit = np.int64(1) << np.int64(place)
    crossed = packets[packet].crossed
    if fixed.memory == AXIS and packets[packet].stage != phase:
        crossed = np.int64(0)
    return crossed | bit if wrap[node, direction] else crossed, bit


@plain
def ask(
    fixed, vcs, outs, ports, nodes, packets, left, grants, port_of, wrap, until, low, direction, hops, phase, code, t
):
    """A head's route is known: it leaves the network here, or asks for an output VC from now on. See `choices.choices`."""
    port, vc = code >> BITS, code & LAST
    here, node = vcs[port * fixed.vcs + vc], ports[port].node
    packet = here.front
    run = first_run(left, packet)
    if run < 0:
        hold(fixed, vcs, outs, ports, nodes, grants, code, -1, t)
        return
    row = packets[packet].row
    d, stage = direction[row, run], phase[row, run]
    crossed, bit = crossed_after(fixed, packets, wrap, packet, node, run, d, stage)
    past, still = crossed & bit != 0, until[node, d] < left[packet, run]
    first, last = (1, 1) if past or (fixed.memory == AHEAD and still) else (0, 0)
    if fixed.memory == REST:
        first, last = (0, 0) if still else (1, 1)
    elif fixed.balanced and not past and not still:
        if left[packet, run] == hops[row, run]:
            first, last = 0, 1
        elif low[stage, 1, 0] <= vc < low[stage, 1, 1]:
            first, last = 1, 1
    allowed = 0
    for column in range(first, last + 1):
        allowed |= (1 << low[stage, column, 1]) - (1 << low[stage, column, 0])
    here.wanted = node * fixed.ports + port_of[node, d]
    here.run = run
    here.allowed = allowed
    here.need = 0 if fixed.switching == WORMHOLE else packets[packet].length
    here.keeps = -2 if not fixed.bubble else vc if packets[packet].going == d else -1
    ports[port].asks |= np.uint16(1 << vc)
    nodes[node].ask_ports |= ONE << np.uint64(port - node * fixed.inputs)
    nodes[node].changed = 1


@plain
def hold(fixed, vcs, outs, ports, nodes, grants, code, out, t):
    here = vcs[(code >> BITS) * fixed.vcs + (code & LAST)]
    here.mode = ACTIVE | FRESH
    here.out = out
    if fixed.vc_delay == 0:
        start(fixed, vcs, outs, ports, nodes, code)
    else:
        put(grants, (t + fixed.vc_delay) & (len(grants) - 1), code)


@plain
def start(fixed, vcs, outs, ports, nodes, code):
    vcs[(code >> BITS) * fixed.vcs + (code & LAST)].mode |= STARTED
    ready(fixed, vcs, outs, ports, nodes, code >> BITS, code & LAST)


@plain
def any_run(fixed, outs, channels, packets, left, port_of, direction, packet, need, node):
    """(an output VC above the escape's, its run) that has room: most credits, then most hops left; (−1, 0) where none has."""
    row = packets[packet].row
    if fixed.switching == WORMHOLE:
        need = fixed.buffer
    best, best_run, most = -1, 0, np.int64(-1)
    for run in range(left.shape[1]):
        far = np.int64(left[packet, run])
        if far == 0:
            continue
        channel = node * fixed.ports + port_of[node, direction[row, run]]
        for vc in range(fixed.escape, fixed.vcs):
            credits = np.int64(outs[channel * fixed.vcs + vc].credits)
            if channels[channel].free >> vc & 1 and credits >= need and (credits << 16 | far) > most:
                best, best_run, most = channel << BITS | vc, run, credits << 16 | far
    return best, best_run


@plain
def own_run(fixed, outs, channels, longest, here):
    """The output VC of those allowed that has room, the one with the most credits; −1 where none has."""
    channel = np.int64(here.wanted)
    possible, best, most = np.uint64(channels[channel].free & here.allowed), -1, -1
    while possible:
        vc = lowest(possible)
        possible &= possible - ONE
        credits = outs[channel * fixed.vcs + vc].credits
        need = here.need if here.keeps == -2 or here.keeps == vc else here.need + longest
        if credits >= need and credits > most:
            best, most = channel << BITS | vc, credits
    return best


@plain
def allocate_channels(
    fixed, vcs, outs, ports, channels, nodes, packets, left, grants, port_of, wrap, until, direction, phase, scratch, node, t
):  # fmt: skip
    """VC allocation of a node. scratch int64[4, P]: of every output port the winner so far: its order, code, output VC and run."""
    orders, codes, gets, runs = scratch[0], scratch[1], scratch[2], scratch[3]
    orders[:] = NOBODY
    nodes[node].changed = 0
    choosing = won = 0
    all_vcs, first_port = fixed.inputs * fixed.vcs, node * fixed.inputs
    asking = nodes[node].ask_ports
    while asking:
        i = lowest(asking)
        asking &= asking - ONE
        heads = np.uint64(ports[first_port + i].asks)
        while heads:
            vc = lowest(heads)
            heads &= heads - ONE
            here = vcs[(first_port + i) * fixed.vcs + vc]
            out, run = -1, np.int64(here.run)
            if fixed.adaptive:
                out, run = any_run(
                    fixed, outs, channels, packets, left, port_of, direction, here.front, here.need, node
                )
            if out < 0:
                out, run = own_run(fixed, outs, channels, fixed.longest, here), np.int64(here.run)
            if out < 0:
                continue
            choosing += 1
            channel = out >> BITS
            port = channel - node * fixed.ports
            order = i * fixed.vcs + vc - channels[channel].last_granted - 1
            if order < 0:
                order += all_vcs
            if fixed.transit_first and i >= fixed.transit:
                order += all_vcs
            if order < orders[port]:
                won += orders[port] == NOBODY
                orders[port], codes[port], gets[port], runs[port] = order, (first_port + i) << BITS | vc, out, run
    if choosing == 0:
        return
    nodes[node].changed = choosing > won
    for port in range(fixed.ports):
        if orders[port] < NOBODY:
            grant(
                fixed,
                vcs,
                outs,
                ports,
                channels,
                nodes,
                packets,
                left,
                grants,
                wrap,
                direction,
                phase,
                node,
                codes[port],
                gets[port],
                runs[port],
                t,
            )


@plain
def grant(
    fixed, vcs, outs, ports, channels, nodes, packets, left, grants, wrap, direction, phase, node, code, out, run, t
):
    """The head takes the output VC, and its packet the hop."""
    port, vc, channel = code >> BITS, code & LAST, out >> BITS
    i = port - node * fixed.inputs
    channels[channel].free &= np.uint16(~(1 << (out & LAST)))
    outs[channel * fixed.vcs + (out & LAST)].holder = code
    channels[channel].last_granted = i * fixed.vcs + vc
    ports[port].asks &= np.uint16(~(1 << vc))
    if ports[port].asks == 0:
        nodes[node].ask_ports &= ~(ONE << np.uint64(i))
    packet = vcs[port * fixed.vcs + vc].front
    row = packets[packet].row
    d, stage = direction[row, run], phase[row, run]
    packets[packet].crossed = crossed_after(fixed, packets, wrap, packet, node, run, d, stage)[0]
    packets[packet].stage = stage
    packets[packet].going = d
    left[packet, run] -= 1
    hold(fixed, vcs, outs, ports, nodes, grants, code, out, t)


@plain
def allocate_switch(
    fixed, vcs, outs, ports, channels, nodes, packets, queue, arrivals, returns, landing, leaving, waking, refills,
    messages, successor, heap, stored, number,
    wanted, chosen, bids, winners, share, first, behind, t,
):  # fmt: skip
    """Switch allocation of a share's nodes, and what it sends.

    wanted, chosen int64[64·V]: of a node's input ports the output and the VC nominated; winners: those that send, as port · 16 + VC
    """
    transit = (ONE << np.uint64(fixed.transit)) - ONE
    measured = t >= fixed.measure_from
    own = share * fixed.shares + share  # what stays in the share is most of it, or all
    back = landed = length = returned = injected = ejected = 0
    if leaving[own, 1] > 0:
        back, landed, length = (
            place_of(fixed.returning, leaving, own, t + fixed.credit_delay),
            landing[own, 0],
            landing[own, 1],
        )
        returned = returns[back]
    for node in range(first, behind):
        able = nodes[node].can_ports
        if able == 0:
            continue
        first_port, first_channel = node * fixed.inputs, node * fixed.ports
        several, sent = np.uint64(0), 0
        if fixed.single:
            outputs = clashes = np.uint64(0)
            left = able
            while left:
                i = lowest(left)
                left &= left - ONE
                port = first_port + i
                vc = after(np.uint64(ports[port].can), np.int64(ports[port].last_vc))
                out = vcs[port * fixed.vcs + vc].out
                output = fixed.ports if out < 0 else (out >> BITS) - first_channel
                bit = ONE << np.uint64(output)
                clashes |= outputs & bit
                outputs |= bit
                wanted[i], chosen[i] = output, vc
            several = clashes >> np.uint64(fixed.ports)  # 1: bids for ejection
            while clashes:
                output = lowest(clashes)
                clashes &= clashes - ONE
                able &= ~losers(fixed, channels, nodes, node, able, output, wanted, transit)
        else:
            sent, able = (
                matched(fixed, vcs, ports, channels, nodes, node, able, transit, wanted, chosen, bids, winners),
                np.uint64(0),
            )
        k = 0
        while able or k < sent:
            if fixed.single:
                i = lowest(able)
                able &= able - ONE
                port, vc = first_port + i, chosen[i]
                ports[port].last_vc = vc
            else:
                i, vc = winners[k] >> BITS, winners[k] & LAST
                port = first_port + i
                k += 1
            here = vcs[port * fixed.vcs + vc]
            packet, out, fresh, rest, count = here.front, here.out, here.mode & FRESH, here.rest - 1, here.count - 1
            here.rest = rest
            here.count = count
            here.moved = t
            more = rest > 0 and count > 0
            if i < fixed.transit:
                feeder, code = np.int64(ports[port].share), ports[port].feed << BITS | vc
                if feeder == share:
                    returned += 1
                    returns[back + returned] = code
                else:
                    append(
                        returns,
                        place_of(fixed.returning, leaving, feeder * fixed.shares + share, t + fixed.credit_delay),
                        code,
                    )
                stored[vc] -= 1
            else:
                injected += 1
                if fresh:
                    packets[packet].entered = t
            if out >= 0:
                channel, v = out >> BITS, out & LAST
                there, line = outs[channel * fixed.vcs + v], channels[channel]
                credits = there.credits - 1
                there.credits = credits
                more = more and credits > 0
                line.last_sent = i
                reader, due = np.int64(line.share), t + line.delay
                if reader == share:
                    append(arrivals, landed + (due & (fixed.arriving - 1)) * length, line.land << BITS | v)
                else:
                    append(
                        arrivals,
                        place_of(fixed.arriving, landing, reader * fixed.shares + share, due),
                        line.land << BITS | v,
                    )
                if measured:
                    line.flits += 1
                if fresh:
                    beyond = line.land * fixed.vcs + v
                    queue[beyond, vcs[beyond].ends & (queue.shape[1] - 1)] = packet
                    vcs[beyond].ends += 1
                if rest == 0:
                    there.holder = -1
                    line.free |= np.uint16(1 << v)
                    nodes[node].changed = 1
            else:
                ejected += 1
                if several == 0:
                    nodes[node].last_ejected = i
                if rest == 0:
                    packets[packet].delivered = t + fixed.switch_delay
                    number[LEFT] -= 1
                    if packets[packet].message >= 0:
                        deliver_of(
                            packets[packet].message,
                            messages,
                            successor,
                            heap,
                            number,
                            max(t + fixed.switch_delay, t + 1),
                        )
            if fresh:
                here.mode = ACTIVE | STARTED
            if rest == 0:
                here.front = -1
                here.mode = 0
                here.out = -1
                if i >= fixed.transit:
                    refills[0] += 1
                    refills[refills[0]] = node
                elif count > 0:
                    waking[0] += 1
                    waking[waking[0]] = port << BITS | vc
            if not more:
                can = ports[port].can & ~(1 << vc)
                ports[port].can = can
                if can == 0:
                    nodes[node].can_ports &= ~(ONE << np.uint64(i))
    if leaving[own, 1] > 0:
        returns[back] = returned
    number[INJECTED] += injected
    number[EJECTED] += ejected


@plain
def matched(fixed, vcs, ports, channels, nodes, node, able, transit, wanted, chosen, bids, winners):
    """The number of winners of a node whose ports send several flits a cycle, output after output. bids uint64[64]: input ports that ask for it."""
    first_port, first_channel = node * fixed.inputs, node * fixed.ports
    outputs, left = np.uint64(0), able
    while left:
        i = lowest(left)
        left &= left - ONE
        port = first_port + i
        can, last = np.uint64(ports[port].can), np.int64(ports[port].last_vc)
        for place in range(i * fixed.vcs, i * fixed.vcs + ports[port].sending):
            if not can:
                wanted[place] = NOTHING
                continue
            vc = after(can, last)
            can &= ~(ONE << np.uint64(vc))
            out = vcs[port * fixed.vcs + vc].out
            output = fixed.ports if out < 0 else (out >> BITS) - first_channel
            bit = ONE << np.uint64(output)
            if not outputs & bit:
                bids[output] = np.uint64(0)
            outputs |= bit
            bids[output] |= ONE << np.uint64(i)
            wanted[place], chosen[place] = output, vc
    sent = 0
    while outputs:
        output = lowest(outputs)
        outputs &= outputs - ONE
        ejects = output == fixed.ports
        last = np.int64(nodes[node].last_ejected) if ejects else np.int64(channels[first_channel + output].last_sent)
        many = np.int64(fixed.ejection) if ejects else np.int64(channels[first_channel + output].width)
        asking = bids[output]
        while asking and many > 0:
            i = after(asking & transit if fixed.transit_first and asking & transit else asking, last)
            asking &= ~(ONE << np.uint64(i))
            for place in range(i * fixed.vcs, i * fixed.vcs + ports[first_port + i].sending):
                if many > 0 and wanted[place] == output:
                    winners[sent] = i << BITS | chosen[place]
                    wanted[place] = TAKEN
                    sent += 1
                    many -= 1
    while able:
        i = lowest(able)
        able &= able - ONE
        for place in range(i * fixed.vcs, i * fixed.vcs + ports[first_port + i].sending):
            if wanted[place] == TAKEN:
                ports[first_port + i].last_vc = chosen[place]
    return sent


@plain
def losers(fixed, channels, nodes, node, able, output, wanted, transit):
    """uint64: as bits, the input ports that nominate for an output and are not taken."""
    bids = np.uint64(0)
    while able:
        i = lowest(able)
        able &= able - ONE
        if wanted[i] == output:
            bids |= ONE << np.uint64(i)
    ejects = output == fixed.ports
    last = np.int64(nodes[node].last_ejected) if ejects else np.int64(channels[node * fixed.ports + output].last_sent)
    many = fixed.ejection if ejects else 1
    while bids and many > 0:
        taken = after(bids & transit if fixed.transit_first and bids & transit else bids, last)
        bids &= ~(ONE << np.uint64(taken))
        many -= 1
        if ejects:
            nodes[node].last_ejected = taken
    return bids
