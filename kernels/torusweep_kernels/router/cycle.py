"""The cycles of one experiment. A cycle visits only what changes.

Flits and credits on their way, and routes and grants that take time, are in timing wheels: a slot holds what is due in
a cycle. A buffer is a count of flits and a queue of packets. The sender appends the packet when it sends the head; the
receiver reads it when the flits have arrived. Each input port has a mask of the VCs that can send, and each node a mask
of these ports. A node is also marked when its VC allocation may differ from that of the last cycle. All other nodes and
VCs cost nothing.

The nodes of a large network are divided into shares, which several threads run. A thread that runs a share writes only
that share's nodes. Anything for another share goes into a wheel for this pair of shares, and is read in a later
cycle. So threads synchronise once a cycle, and the results do not depend on their number.
"""

from __future__ import annotations

from torusweep_kernels.compile import atomic_add, atomic_load, compare_and_swap, inlined, plain, yield_core
from torusweep_kernels.router.detours import see_channels
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
from torusweep_kernels.router.vc_allocation import activate_grants, allocate_vcs, promote_head, request_vc

SPINS = 2_000  # polls of the other threads before a thread yields its core


@inlined
def credits_return(fixed, state, place):
    heed = fixed.switching != WORMHOLE or fixed.adaptive  # requesting heads look at credits
    for i in range(place + 1, place + 1 + state.returns[place]):
        code = state.returns[i]
        channel = code >> BITS
        there = state.outs[channel * fixed.vcs + (code & LAST)]
        there.credits += 1
        if heed:
            state.nodes[channel // fixed.ports].changed = 1
        if there.credits == 1 and there.holder >= 0:
            ready(fixed, state, there.holder >> BITS, there.holder & LAST)
    state.returns[place] = 0


@inlined
def flits_arrive(fixed, state, own, place, t):
    for i in range(place + 1, place + 1 + state.arrivals[place]):
        code = state.arrivals[i]
        port, vc = code >> BITS, code & LAST
        here = state.vcs[port * fixed.vcs + vc]
        here.count += 1
        own.stored[vc] += 1
        if here.front < 0:
            promote_head(fixed, state, own, code, t)
        elif here.count == 1:
            ready(fixed, state, port, vc)
    state.arrivals[place] = 0


@inlined
def share_of(state, share):
    """Return the arrays of `State` that belong to one share."""
    return Share(
        state.routes[share],
        state.grants[share],
        state.waking[share],
        state.refills[share],
        state.stored[share],
        state.occupancy[share],
        state.number[share],
        state.scratch[share],
        state.wanted[share],
        state.chosen[share],
        state.bids[share],
        state.winners[share],
    )


@plain
def run(fixed, state, share, t, stop):
    """Run cycles t … stop − 1 of one share, for `advance`. Returns the first cycle that was not run."""
    own = share_of(state, share)
    first, behind = share * fixed.nodes // fixed.shares, (share + 1) * fixed.nodes // fixed.shares
    while t < stop and (own.number[LEFT] > 0 or fixed.shares > 1):
        for writer in range(fixed.shares):
            pair = share * fixed.shares + writer
            if state.leaving[pair, 1] > 0:
                credits_return(fixed, state, place_of(fixed.returning, state.leaving, pair, t))
            if state.landing[pair, 1] > 0:
                place = place_of(fixed.arriving, state.landing, pair, t)
                flits_arrive(fixed, state, own, place, t)
        for i in range(1, own.waking[0] + 1):
            code = own.waking[i]
            if state.vcs[(code >> BITS) * fixed.vcs + (code & LAST)].front < 0:
                promote_head(fixed, state, own, code, t)
        own.waking[0] = 0
        for i in range(1, own.refills[0] + 1):
            refill(fixed, state, own, own.refills[i], t)
        own.refills[0] = 0
        due = own.number[DUE]
        while due < own.number[DUE_END] and state.time_due[due] <= t:
            generate(fixed, state, own, state.packet_due[due], state.node_due[due], t)
            due += 1
        own.number[DUE] = due
        while own.number[READY] > 0 and state.messages[state.ready[0]].ready <= t:
            generate_message(fixed, state, own, t)
        slot = t & (len(own.routes) - 1)
        for i in range(1, own.routes[slot, 0] + 1):
            request_vc(fixed, state, own, own.routes[slot, i], t)
        own.routes[slot, 0] = 0
        slot = t & (len(own.grants) - 1)
        for i in range(1, own.grants[slot, 0] + 1):
            activate_grants(fixed, state, own.grants[slot, i])
        own.grants[slot, 0] = 0
        for node in range(first, behind):
            if state.nodes[node].changed:
                allocate_vcs(fixed, state, own, node, t)
        allocate_switch(fixed, state, own, share, first, behind, t)
        if fixed.decisions > 0:
            see_channels(fixed, state, first, behind, t)
        if t >= fixed.measure_from:
            for vc in range(fixed.vcs):
                own.occupancy[vc] += own.stored[vc]
        t += 1
    return t


@plain
def advance(fixed, state, thread, t, stop):
    """Run cycles t … stop − 1. Returns the first cycle that was not run: `stop`, or earlier if all is delivered.

    fixed, state   `Constants` and `State`

    Several threads may call this together for an experiment with several shares. Each thread begins with its own
    share, then takes shares that no thread has begun. So a thread that loses its core delays the others
    by one share at most.
    """
    shares, met = fixed.shares, state.met
    if shares == 1:
        return run(fixed, state, 0, t, stop)
    looked, spins = t - 1, 0
    while True:
        t = atomic_load(met, MET) // shares
        if t == looked:
            spins += 1
            if spins > SPINS:
                yield_core()
            continue
        # the number only falls, so every thread ends with this cycle, even if it reads 0 earlier than others
        if t >= stop or atomic_load(met, LEFT_IN_ALL) == 0:
            return min(t, stop)
        looked, spins = t, 0
        for i in range(shares):
            share = (thread + i) % shares
            begun = BEGUN + LINE * share
            if atomic_load(met, begun) == t and compare_and_swap(met, begun, t, t + 1):
                before = state.number[share, LEFT]
                run(fixed, state, share, t, t + 1)
                atomic_add(met, LEFT_IN_ALL, state.number[share, LEFT] - before)
                atomic_add(met, MET, 1)
