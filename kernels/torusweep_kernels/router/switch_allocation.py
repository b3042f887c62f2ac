"""Switch allocation, and what it sends."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import inlined, lowest
from torusweep_kernels.router.records import (
    ACTIVE,
    BITS,
    EJECTED,
    FRESH,
    INJECTED,
    LAST,
    LEFT,
    ONE,
    STARTED,
    after,
    append,
    place_of,
)
from torusweep_kernels.router.sources import deliver_of

NOTHING, TAKEN = -1, -2  # of an output that an input port wanted: it had no more to send; it may send


@inlined
def losers(fixed, live, own, node, able, output, transit):
    """uint64: as bits, the input ports that nominate for an output and are not taken."""
    bids = np.uint64(0)
    while able:
        i = lowest(able)
        able &= able - ONE
        if own.wanted[i] == output:
            bids |= ONE << np.uint64(i)
    ejects = output == fixed.ports
    last = (
        np.int64(live.nodes[node].last_ejected)
        if ejects
        else np.int64(live.channels[node * fixed.ports + output].last_sent)
    )
    many = fixed.ejection if ejects else 1
    while bids and many > 0:
        taken = after(bids & transit if fixed.transit_first and bids & transit else bids, last)
        bids &= ~(ONE << np.uint64(taken))
        many -= 1
        if ejects:
            live.nodes[node].last_ejected = taken
    return bids


@inlined
def matched(fixed, live, own, node, able, transit):
    """The number of winners of a node whose ports send several flits a cycle, output after output. bids uint64[64]:
    input ports that ask for it."""
    first_port, first_channel = node * fixed.inputs, node * fixed.ports
    outputs, left = np.uint64(0), able
    while left:
        i = lowest(left)
        left &= left - ONE
        port = first_port + i
        can, last = np.uint64(live.ports[port].can), np.int64(live.ports[port].last_vc)
        for place in range(i * fixed.vcs, i * fixed.vcs + live.ports[port].sending):
            if not can:
                own.wanted[place] = NOTHING
                continue
            vc = after(can, last)
            can &= ~(ONE << np.uint64(vc))
            out = live.vcs[port * fixed.vcs + vc].out
            output = fixed.ports if out < 0 else (out >> BITS) - first_channel
            bit = ONE << np.uint64(output)
            if not outputs & bit:
                own.bids[output] = np.uint64(0)
            outputs |= bit
            own.bids[output] |= ONE << np.uint64(i)
            own.wanted[place], own.chosen[place] = output, vc
    sent = 0
    while outputs:
        output = lowest(outputs)
        outputs &= outputs - ONE
        ejects = output == fixed.ports
        last = (
            np.int64(live.nodes[node].last_ejected)
            if ejects
            else np.int64(live.channels[first_channel + output].last_sent)
        )
        many = np.int64(fixed.ejection) if ejects else np.int64(live.channels[first_channel + output].width)
        asking = own.bids[output]
        while asking and many > 0:
            i = after(asking & transit if fixed.transit_first and asking & transit else asking, last)
            asking &= ~(ONE << np.uint64(i))
            for place in range(i * fixed.vcs, i * fixed.vcs + live.ports[first_port + i].sending):
                if many > 0 and own.wanted[place] == output:
                    own.winners[sent] = i << BITS | own.chosen[place]
                    own.wanted[place] = TAKEN
                    sent += 1
                    many -= 1
    while able:
        i = lowest(able)
        able &= able - ONE
        for place in range(i * fixed.vcs, i * fixed.vcs + live.ports[first_port + i].sending):
            if own.wanted[place] == TAKEN:
                live.ports[first_port + i].last_vc = own.chosen[place]
    return sent


@inlined
def allocate_switch(fixed, live, own, share, first, behind, t):
    """Switch allocation of a share's nodes, and what it sends.

    wanted, chosen int64[64·V]: of a node's input ports the output and the VC nominated; winners: those that send, as
    port · 16 + VC
    """
    transit = (ONE << np.uint64(fixed.transit)) - ONE
    measured = t >= fixed.measure_from
    pair = share * fixed.shares + share  # what stays in the share is most of it, or all
    back = landed = length = returned = injected = ejected = 0
    if live.leaving[pair, 1] > 0:
        back, landed, length = (
            place_of(fixed.returning, live.leaving, pair, t + fixed.credit_delay),
            live.landing[pair, 0],
            live.landing[pair, 1],
        )
        returned = live.returns[back]
    for node in range(first, behind):
        able = live.nodes[node].can_ports
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
                vc = after(np.uint64(live.ports[port].can), np.int64(live.ports[port].last_vc))
                out = live.vcs[port * fixed.vcs + vc].out
                output = fixed.ports if out < 0 else (out >> BITS) - first_channel
                bit = ONE << np.uint64(output)
                clashes |= outputs & bit
                outputs |= bit
                own.wanted[i], own.chosen[i] = output, vc
            several = clashes >> np.uint64(fixed.ports)  # 1: bids for ejection
            while clashes:
                output = lowest(clashes)
                clashes &= clashes - ONE
                able &= ~losers(fixed, live, own, node, able, output, transit)
        else:
            sent, able = (
                matched(fixed, live, own, node, able, transit),
                np.uint64(0),
            )
        k = 0
        while able or k < sent:
            if fixed.single:
                i = lowest(able)
                able &= able - ONE
                port, vc = first_port + i, own.chosen[i]
                live.ports[port].last_vc = vc
            else:
                i, vc = own.winners[k] >> BITS, own.winners[k] & LAST
                port = first_port + i
                k += 1
            here = live.vcs[port * fixed.vcs + vc]
            packet, out, fresh, rest, count = here.front, here.out, here.mode & FRESH, here.rest - 1, here.count - 1
            here.rest = rest
            here.count = count
            here.moved = t
            more = rest > 0 and count > 0
            if i < fixed.transit:
                feeder, code = np.int64(live.ports[port].share), live.ports[port].feed << BITS | vc
                if feeder == share:
                    returned += 1
                    live.returns[back + returned] = code
                else:
                    append(
                        live.returns,
                        place_of(fixed.returning, live.leaving, feeder * fixed.shares + share, t + fixed.credit_delay),
                        code,
                    )
                own.stored[vc] -= 1
            else:
                injected += 1
                if fresh:
                    live.packets[packet].entered = t
            if out >= 0:
                channel, v = out >> BITS, out & LAST
                there, line = live.outs[channel * fixed.vcs + v], live.channels[channel]
                credits = there.credits - 1
                there.credits = credits
                more = more and credits > 0
                line.last_sent = i
                reader, due = np.int64(line.share), t + line.delay
                if reader == share:
                    append(live.arrivals, landed + (due & (fixed.arriving - 1)) * length, line.land << BITS | v)
                else:
                    append(
                        live.arrivals,
                        place_of(fixed.arriving, live.landing, reader * fixed.shares + share, due),
                        line.land << BITS | v,
                    )
                if measured:
                    line.flits += 1
                if fresh:
                    beyond = line.land * fixed.vcs + v
                    live.queue[beyond, live.vcs[beyond].ends & (live.queue.shape[1] - 1)] = packet
                    live.vcs[beyond].ends += 1
                if rest == 0:
                    there.holder = -1
                    line.free |= np.uint16(1 << v)
                    live.nodes[node].changed = 1
            else:
                ejected += 1
                if several == 0:
                    live.nodes[node].last_ejected = i
                if rest == 0:
                    live.packets[packet].delivered = t + fixed.switch_delay
                    own.number[LEFT] -= 1
                    if live.packets[packet].message >= 0:
                        deliver_of(live, own, live.packets[packet].message, max(t + fixed.switch_delay, t + 1))
            if fresh:
                here.mode = ACTIVE | STARTED
            if rest == 0:
                here.front = -1
                here.mode = 0
                here.out = -1
                if i >= fixed.transit:
                    own.refills[0] += 1
                    own.refills[own.refills[0]] = node
                elif count > 0:
                    own.waking[0] += 1
                    own.waking[own.waking[0]] = port << BITS | vc
            if not more:
                can = live.ports[port].can & ~(1 << vc)
                live.ports[port].can = can
                if can == 0:
                    live.nodes[node].can_ports &= ~(ONE << np.uint64(i))
    if live.leaving[pair, 1] > 0:
        live.returns[back] = returned
    own.number[INJECTED] += injected
    own.number[EJECTED] += ejected
