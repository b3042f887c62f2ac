"""Switch allocation and traversal, compiled by Numba."""

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
from torusweep_kernels.router.sources import deliver_packet

NOTHING, TAKEN = -1, -2  # in `wanted`, instead of an output: nothing nominated; nominated and taken


@inlined
def losers(fixed, state, own, node, able, output, transit):
    """Return uint64: bits of the input ports that nominate a VC for this output and are not chosen."""
    bids = np.uint64(0)
    while able:
        i = lowest(able)
        able &= able - ONE
        if own.wanted[i] == output:
            bids |= ONE << np.uint64(i)
    ejects = output == fixed.ports
    last = (
        np.int64(state.nodes[node].last_ejected)
        if ejects
        else np.int64(state.channels[node * fixed.ports + output].last_sent)
    )
    many = fixed.ejection if ejects else 1
    while bids and many > 0:
        taken = after(bids & transit if fixed.transit_first and bids & transit else bids, last)
        bids &= ~(ONE << np.uint64(taken))
        many -= 1
        if ejects:
            state.nodes[node].last_ejected = taken
    return bids


@inlined
def matched(fixed, state, own, node, able, transit):
    """Match a node's outputs, one after another, if ports send several flits per cycle. Returns the number of winners.

    bids   uint64[64]: bits of the input ports that nominate VCs for each output
    """
    first_port, first_channel = node * fixed.inputs, node * fixed.ports
    outputs, left = np.uint64(0), able
    while left:
        i = lowest(left)
        left &= left - ONE
        port = first_port + i
        can, last = np.uint64(state.ports[port].can), np.int64(state.ports[port].last_vc)
        for place in range(i * fixed.vcs, i * fixed.vcs + state.ports[port].sending):
            if not can:
                own.wanted[place] = NOTHING
                continue
            vc = after(can, last)
            can &= ~(ONE << np.uint64(vc))
            out = state.vcs[port * fixed.vcs + vc].out
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
            np.int64(state.nodes[node].last_ejected)
            if ejects
            else np.int64(state.channels[first_channel + output].last_sent)
        )
        many = np.int64(fixed.ejection) if ejects else np.int64(state.channels[first_channel + output].width)
        requesting = own.bids[output]
        while requesting and many > 0:
            i = after(requesting & transit if fixed.transit_first and requesting & transit else requesting, last)
            requesting &= ~(ONE << np.uint64(i))
            for place in range(i * fixed.vcs, i * fixed.vcs + state.ports[first_port + i].sending):
                if many > 0 and own.wanted[place] == output:
                    own.winners[sent] = i << BITS | own.chosen[place]
                    own.wanted[place] = TAKEN
                    sent += 1
                    many -= 1
    while able:
        i = lowest(able)
        able &= able - ONE
        for place in range(i * fixed.vcs, i * fixed.vcs + state.ports[first_port + i].sending):
            if own.wanted[place] == TAKEN:
                state.ports[first_port + i].last_vc = own.chosen[place]
    return sent


@inlined
def allocate_switch(fixed, state, own, share, first, behind, t):
    """Do switch allocation and traversal for the nodes first … behind − 1, which form a share.

    wanted, chosen   int64[64·V]: output and VC that each input port of a node nominates
    winners          VCs that send, as port · 16 + VC
    """
    transit = (ONE << np.uint64(fixed.transit)) - ONE
    measured = t >= fixed.measure_from
    pair = share * fixed.shares + share  # most flits stay within the share
    back = landed = length = returned = injected = ejected = 0
    even = fixed.even and state.leaving[pair, 1] > 0  # all of this cycle's credits go into one slot
    if state.leaving[pair, 1] > 0:
        landed, length = state.landing[pair, 0], state.landing[pair, 1]
    if even:
        back = place_of(fixed.returning, state.leaving, pair, t + fixed.credit_delay)
        returned = state.returns[back]
    for node in range(first, behind):
        able = state.nodes[node].can_ports
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
                vc = after(np.uint64(state.ports[port].can), np.int64(state.ports[port].last_vc))
                out = state.vcs[port * fixed.vcs + vc].out
                output = fixed.ports if out < 0 else (out >> BITS) - first_channel
                bit = ONE << np.uint64(output)
                clashes |= outputs & bit
                outputs |= bit
                own.wanted[i], own.chosen[i] = output, vc
            several = clashes >> np.uint64(fixed.ports)  # 1 if several ports nominate for ejection
            while clashes:
                output = lowest(clashes)
                clashes &= clashes - ONE
                able &= ~losers(fixed, state, own, node, able, output, transit)
        else:
            sent, able = (
                matched(fixed, state, own, node, able, transit),
                np.uint64(0),
            )
        k = 0
        while able or k < sent:
            if fixed.single:
                i = lowest(able)
                able &= able - ONE
                port, vc = first_port + i, own.chosen[i]
                state.ports[port].last_vc = vc
            else:
                i, vc = own.winners[k] >> BITS, own.winners[k] & LAST
                port = first_port + i
                k += 1
            here = state.vcs[port * fixed.vcs + vc]
            packet, out, fresh, rest, count = here.front, here.out, here.mode & FRESH, here.rest - 1, here.count - 1
            here.rest = rest
            here.count = count
            here.moved = t
            more = rest > 0 and count > 0
            if i < fixed.transit:
                feeder, code = np.int64(state.ports[port].share), state.ports[port].feed << BITS | vc
                if even and feeder == share:
                    returned += 1
                    state.returns[back + returned] = code
                else:
                    append(
                        state.returns,
                        place_of(
                            fixed.returning,
                            state.leaving,
                            feeder * fixed.shares + share,
                            t + fixed.credit_delay + fixed.back[port],
                        ),
                        code,
                    )
                own.stored[vc] -= 1
            else:
                injected += 1
                if fresh:
                    state.packets[packet].entered = t
            if out >= 0:
                channel, v = out >> BITS, out & LAST
                there, line = state.outs[channel * fixed.vcs + v], state.channels[channel]
                if fixed.decisions > 0:
                    state.claimed[channel * fixed.vcs + v] -= 1
                credits = there.credits - 1
                there.credits = credits
                more = more and credits > 0
                line.last_sent = i
                reader, due = np.int64(line.share), t + line.delay
                if reader == share:
                    append(state.arrivals, landed + (due & (fixed.arriving - 1)) * length, line.land << BITS | v)
                else:
                    append(
                        state.arrivals,
                        place_of(fixed.arriving, state.landing, reader * fixed.shares + share, due),
                        line.land << BITS | v,
                    )
                if measured:
                    line.flits += 1
                if fresh:
                    beyond = line.land * fixed.vcs + v
                    state.queue[beyond, state.vcs[beyond].ends & (state.queue.shape[1] - 1)] = packet
                    state.vcs[beyond].ends += 1
                if rest == 0:
                    there.holder = -1
                    line.free |= np.uint16(1 << v)
                    state.nodes[node].changed = 1
            else:
                ejected += 1
                if several == 0:
                    state.nodes[node].last_ejected = i
                if rest == 0:
                    state.packets[packet].delivered = t + fixed.switch_delay
                    own.number[LEFT] -= 1
                    if state.packets[packet].message >= 0:
                        deliver_packet(state, own, state.packets[packet].message, max(t + fixed.switch_delay, t + 1))
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
                can = state.ports[port].can & ~(1 << vc)
                state.ports[port].can = can
                if can == 0:
                    state.nodes[node].can_ports &= ~(ONE << np.uint64(i))
    if even:
        state.returns[back] = returned
    own.number[INJECTED] += injected
    own.number[EJECTED] += ejected
