"""The records of a simulation's state, and the operations on them that several steps need.

A timing wheel has a slot for each cycle. A slot has the number of entries, then the entries, which are codes of VCs.
"""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import inlined, lowest

BITS, LAST = 4, 15  # an input VC as a code is its port · 16 + VC, an output VC its channel · 16 + VC
UNBOUNDED = 2**31  # packets of a source queue
ACTIVE, FRESH, STARTED = 1, 2, 4  # bits of `mode`: it holds an output; none of its flits was sent; they may be sent
# places in `number`: packets and steps not yet delivered; flits injected, and ejected; the next packet to be generated,
# and the end of these; messages in `ready`
LEFT, INJECTED, EJECTED, DUE, DUE_END, READY = range(6)
LINE = 16  # int64 elements of two cache lines, so that threads do not write to the same line; also the most VCs
# places in `met`, which all threads write: sum of the cycles that shares have run; packets left; from BEGUN on a LINE
# for each share, whose first element is the number of cycles that a thread has begun of it
MET, LEFT_IN_ALL, BEGUN = 0, LINE, 2 * LINE
ONE = np.uint64(1)


def record(**fields: str) -> np.dtype:
    return np.dtype(list(fields.items()), align=True)


# An input VC. front, out (a code), count, moved: see `Snapshot`. rest: flits of the front packet not yet sent.
# begins … ends − 1: the packets behind the front, places in its queue. Of a requesting head: its channel (wanted), VCs
# (allowed, bits), credits (need), the VC for which these suffice (keeps: −1 none, −2 any), and run
VC = record(
    front="i4", out="i4", count="i4", rest="i4", moved="i4", begins="i4", ends="i4", wanted="i4", need="i4",
    allowed="u2", mode="u1", keeps="i1", run="i1",
)  # fmt: skip
OUT = record(credits="i4", holder="i4")  # an output VC: see `Snapshot`; holder is a code
# An input port. feed: its channel. can, requests: bits of the VCs that can send, and whose heads request an output VC.
# last_vc: the VC that sent last. sending: VCs that may send in a cycle. share: that of the channel's tail
PORT = record(node="i4", feed="i4", can="u2", requests="u2", last_vc="i1", sending="u1", share="u1")
# A channel. land: the input port at its end. delay: cycles to there, switch included. flits: sent since measure_from.
# free: bits of the free VCs. last_granted: the input VC that was granted a VC last. last_sent: the input port that sent
# last. width: capacity. share: that of the channel's head
CHANNEL = record(
    land="i4", delay="i4", flits="i8", free="u2", last_granted="i2", last_sent="i1", width="u1", share="u1"
)
# A node. can_ports, requesting_ports: bits of the input ports with such VCs. taken … behind − 1: its source queue,
# places in `line`. changed: its VC allocation may differ from the last cycle's. last_ejected: the input port that
# ejected last
NODE = record(can_ports="u8", requesting_ports="u8", taken="i4", behind="i4", changed="u1", last_ejected="i1")
# A packet: see `Batch` and `Travel`; its message. passed: hops taken, while it may take a detour; then −1
PACKET = record(
    row="i4", entered="i4", delivered="i4", message="i4", crossed="i8", length="i2", stage="i1", going="i1", passed="i1"
)
# A message: see `Messages`. missing: messages that it still waits for. undelivered: its packets not yet delivered.
# ready: the cycle in which it is generated, once none is missing
MESSAGE = record(
    after="i8",
    begin="i4",
    packets="i4",
    delay="i4",
    node="i4",
    missing="i4",
    undelivered="i4",
    ready="i4",
    generated="i4",
)


@inlined
def after(mask, last):
    """Return the first set bit of a uint64 that is not 0, in round-robin order after bit `last` < 63."""
    later = mask >> np.uint64(last + 1)
    return last + 1 + lowest(later) if later else lowest(mask)


@inlined
def put(wheel, slot, code):
    """Append a code to a slot of a wheel."""
    place = wheel[slot, 0] + 1
    wheel[slot, 0] = place
    wheel[slot, place] = code


@inlined
def append(wheel, place, code):
    """Append a code to the slot that begins at `place` of a flat wheel."""
    behind = wheel[place] + 1
    wheel[place] = behind
    wheel[place + behind] = code


@inlined
def place_of(slots, pairs, pair, cycle):
    """Return where the slot of a cycle begins in the wheel of a pair of shares."""
    return pairs[pair, 0] + (cycle & (slots - 1)) * pairs[pair, 1]


@inlined
def ready(fixed, state, port, vc):
    """Mark a VC as able to send, if it is able."""
    here = state.vcs[port * fixed.vcs + vc]
    if (
        here.mode & STARTED
        and here.count > 0
        and (here.out < 0 or state.outs[(here.out >> BITS) * fixed.vcs + (here.out & LAST)].credits > 0)
    ):
        node = state.ports[port].node
        state.ports[port].can |= np.uint16(1 << vc)
        state.nodes[node].can_ports |= ONE << np.uint64(port - node * fixed.inputs)


@inlined
def begin_routing(fixed, state, own, code, packet, t):
    """Put a packet at the front of a VC, and begin its route computation."""
    here = state.vcs[(code >> BITS) * fixed.vcs + (code & LAST)]
    here.front = packet
    here.moved = t
    here.rest = state.packets[packet].length
    put(own.routes, (t + fixed.route_delay) & (len(own.routes) - 1), code)


@inlined
def first_run(state, packet):
    """Return the first run that has hops left, −1 = none."""
    for run in range(state.left.shape[1]):
        if state.left[packet, run] > 0:
            return run
    return -1
