"""The cycles of one experiment: only what changes is looked at.

Flits under way, credits, routes and grants under way wait in wheels, by the cycle in which they are due. A buffer is a
number of flits and the packets that they belong to, which the sender notes at once and the receiver reads when the
flits are there. Every input port has a mask of VCs whose flits could be sent, every node one of such ports, and a mark
that its VC allocation may differ from the last cycle's; other nodes and VCs cost nothing.

A large network's nodes are divided into shares, so that several threads may run a cycle: all that it does to a node is
done with that node's share, and what reaches another share waits, in a wheel for each pair of them, until a later
cycle. Threads therefore meet once a cycle, and neither their number nor which of them ran a share changes a flit.
"""

from __future__ import annotations

from torusweep_kernels.compile import atomic_add, atomic_load, compare_and_swap, inlined, plain, yield_core
from torusweep_kernels.router.records import (
    BEGUN,
    BITS,
    DUE,
    DUE_END,
    LAST,
    LEFT,
    LEFT_IN_ALL,
    LINE,
    MET,
    READY,
    place_of,
    ready,
)
from torusweep_kernels.router.sources import generate, generate_message, refill
from torusweep_kernels.router.state import Share
from torusweep_kernels.router.switch_allocation import allocate_switch
from torusweep_kernels.router.task import WORMHOLE
from torusweep_kernels.router.vc_allocation import allocate_channels, ask, come_forward, start

SPINS = 2_000  # looks at what other threads do before a thread yields its core


@inlined
def credits_return(fixed, live, place):
    heed = fixed.switching != WORMHOLE or fixed.adaptive  # heads that ask look at credits
    for i in range(place + 1, place + 1 + live.returns[place]):
        code = live.returns[i]
        channel = code >> BITS
        there = live.outs[channel * fixed.vcs + (code & LAST)]
        there.credits += 1
        if heed:
            live.nodes[channel // fixed.ports].changed = 1
        if there.credits == 1 and there.holder >= 0:
            ready(fixed, live, there.holder >> BITS, there.holder & LAST)
    live.returns[place] = 0


@inlined
def flits_arrive(fixed, live, own, place, t):
    for i in range(place + 1, place + 1 + live.arrivals[place]):
        code = live.arrivals[i]
        port, vc = code >> BITS, code & LAST
        here = live.vcs[port * fixed.vcs + vc]
        here.count += 1
        own.stored[vc] += 1
        if here.front < 0:
            come_forward(fixed, live, own, code, t)
        elif here.count == 1:
            ready(fixed, live, port, vc)
    live.arrivals[place] = 0


@inlined
def share_of(live, share):
    """What belongs to a share alone."""
    return Share(
        live.routes[share],
        live.grants[share],
        live.waking[share],
        live.refills[share],
        live.stored[share],
        live.occupancy[share],
        live.number[share],
        live.scratch[share],
        live.wanted[share],
        live.chosen[share],
        live.bids[share],
        live.winners[share],
    )


@plain
def run(fixed, live, share, t, stop):
    """Cycles t … stop − 1 of a share; see `advance`. Returns the cycle that was not run any more."""
    own = share_of(live, share)
    first, behind = share * fixed.nodes // fixed.shares, (share + 1) * fixed.nodes // fixed.shares
    while t < stop and (own.number[LEFT] > 0 or fixed.shares > 1):
        for writer in range(fixed.shares):
            pair = share * fixed.shares + writer
            if live.leaving[pair, 1] > 0:
                credits_return(fixed, live, place_of(fixed.returning, live.leaving, pair, t))
            if live.landing[pair, 1] > 0:
                place = place_of(fixed.arriving, live.landing, pair, t)
                flits_arrive(fixed, live, own, place, t)
        for i in range(1, own.waking[0] + 1):
            code = own.waking[i]
            if live.vcs[(code >> BITS) * fixed.vcs + (code & LAST)].front < 0:
                come_forward(fixed, live, own, code, t)
        own.waking[0] = 0
        for i in range(1, own.refills[0] + 1):
            refill(fixed, live, own, own.refills[i], t)
        own.refills[0] = 0
        due = own.number[DUE]
        while due < own.number[DUE_END] and live.time_due[due] <= t:
            generate(fixed, live, own, live.packet_due[due], live.node_due[due], t)
            due += 1
        own.number[DUE] = due
        while own.number[READY] > 0 and live.messages[live.ready[0]].ready <= t:
            generate_message(fixed, live, own, t)
        slot = t & (len(own.routes) - 1)
        for i in range(1, own.routes[slot, 0] + 1):
            ask(fixed, live, own, own.routes[slot, i], t)
        own.routes[slot, 0] = 0
        slot = t & (len(own.grants) - 1)
        for i in range(1, own.grants[slot, 0] + 1):
            start(fixed, live, own.grants[slot, i])
        own.grants[slot, 0] = 0
        for node in range(first, behind):
            if live.nodes[node].changed:
                allocate_channels(fixed, live, own, node, t)
        allocate_switch(fixed, live, own, share, first, behind, t)
        if t >= fixed.measure_from:
            for vc in range(fixed.vcs):
                own.occupancy[vc] += own.stored[vc]
        t += 1
    return t


@plain
def advance(fixed, live, thread, t, stop):
    """Run cycles t … stop − 1; returns the cycle that was not run any more: an earlier one where all is delivered.

    fixed: `live.Fixed`, live: `live.Live`. Where there are several shares, any number of threads may run this at once:
    a thread begins with the share of its number, then takes those that no other has begun, so that a thread that has
    lost its core delays the others only where it is in the middle of a share.
    """
    shares, met = fixed.shares, live.met
    if shares == 1:
        return run(fixed, live, 0, t, stop)
    looked, spins = t - 1, 0
    while True:
        t = atomic_load(met, MET) // shares
        if t == looked:
            spins += 1
            if spins > SPINS:
                yield_core()
            continue
        # the number of packets left only falls: a thread may see 0 early in a cycle, which the others then end
        if t >= stop or atomic_load(met, LEFT_IN_ALL) == 0:
            return min(t, stop)
        looked, spins = t, 0
        for i in range(shares):
            share = (thread + i) % shares
            begun = BEGUN + LINE * share
            if atomic_load(met, begun) == t and compare_and_swap(met, begun, t, t + 1):
                before = live.number[share, LEFT]
                run(fixed, live, share, t, t + 1)
                atomic_add(met, LEFT_IN_ALL, live.number[share, LEFT] - before)
                atomic_add(met, MET, 1)
