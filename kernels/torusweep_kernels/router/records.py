"""The records of an experiment under way, and what all steps do with them: what belongs together lies together in
memory.

Everything that waits for a later cycle is in a wheel, which has a slot for each cycle: an array of codes behind their
number.
"""

from __future__ import annotations

import numpy as np

from torusweep_kernels.compile import inlined, lowest

BITS, LAST = 4, 15  # an input VC as a code is its port · 16 + VC, an output VC its channel · 16 + VC
UNBOUNDED = 2**31  # packets of a source queue
ACTIVE, FRESH, STARTED = 1, 2, 4  # of `mode`: it has an output; none of its flits has gone; they may go
# of `number`: packets and steps still to come, flits, the next packet to be generated and the one behind the last,
# messages in `ready`
LEFT, INJECTED, EJECTED, DUE, DUE_END, READY = range(6)
LINE = 16  # int64 of two lines of memory, so that no thread writes into another's; VCs at most
# places in `met`, which all threads write: the cycles that shares have run, added up; what is left in all; behind BEGUN
# a LINE for each share, whose first entry is the number of cycles of it that somebody has begun
MET, LEFT_IN_ALL, BEGUN = 0, LINE, 2 * LINE


def record(**fields: str) -> np.dtype:
    return np.dtype(list(fields.items()), align=True)


# of an input VC: front, out, count, moved as in `State`, out as a code; rest: flits of the front still to go; packets
# behind the front: places begins … ends − 1 of its queue; of a head that asks: wanted channel, allowed VCs as bits,
# need of credits, the VC on which it needs no more (keeps: −1 none, −2 any), its run
VC = record(
    front="i4", out="i4", count="i4", rest="i4", moved="i4", begins="i4", ends="i4", wanted="i4", need="i4",
    allowed="u2", mode="u1", keeps="i1", run="i1",
)  # fmt: skip
OUT = record(credits="i4", holder="i4")  # of an output VC, as in `State`; holder as a code
# of an input port: its node; the channel that feeds it; bits of the VCs whose flits can go, and of those whose heads
# request an output VC; the VC that sent last; how many may send in a cycle; the share of the node that feeds it
PORT = record(node="i4", feed="i4", can="u2", asks="u2", last_vc="i1", sending="u1", share="u1")
# of a channel: the input port that it leads to; cycles of a flit on its way, switch included; flits sent; bits of the
# free VCs; the input VC that was granted a VC last; the input port that sent last; capacity; the share of the node
# that it leads to
CHANNEL = record(
    land="i4", delay="i4", flits="i8", free="u2", last_granted="i2", last_sent="i1", width="u1", share="u1"
)
# of a node: ports whose flits can go, whose heads ask, as bits; its queue in `line`, from the first to behind the last;
# whether its VC allocation may differ from that of the cycle before; the input port that ejected last
NODE = record(can_ports="u8", ask_ports="u8", taken="i4", behind="i4", changed="u1", last_ejected="i1")
# of a packet: `Batch`, `Travel`; its message
PACKET = record(row="i4", entered="i4", delivered="i4", message="i4", crossed="i8", length="i2", stage="i1", going="i1")
# of a message: `Messages`; its node; messages missing that it waits for, packets not delivered; `ready`: when it is
# generated, once none is missing
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
ONE = np.uint64(1)


@inlined
def after(mask, last):
    """The first bit of a uint64 that is not 0, in round-robin order after bit `last`; last < 63."""
    behind = mask >> np.uint64(last + 1)
    return last + 1 + lowest(behind) if behind else lowest(mask)


@inlined
def put(wheel, slot, code):
    """Append to a slot, whose first entry is the number of those behind it."""
    place = wheel[slot, 0] + 1
    wheel[slot, 0] = place
    wheel[slot, place] = code


@inlined
def append(wheel, place, code):
    """Append to a slot, as `put`, that begins at a place."""
    behind = wheel[place] + 1
    wheel[place] = behind
    wheel[place + behind] = code


@inlined
def place_of(slots, pairs, pair, cycle):
    """Where a wheel has what one share writes for another to read in a cycle."""
    return pairs[pair, 0] + (cycle & (slots - 1)) * pairs[pair, 1]


@inlined
def ready(fixed, live, port, vc):
    """Note that the VC's flits can go, if they can."""
    here = live.vcs[port * fixed.vcs + vc]
    if (
        here.mode & STARTED
        and here.count > 0
        and (here.out < 0 or live.outs[(here.out >> BITS) * fixed.vcs + (here.out & LAST)].credits > 0)
    ):
        node = live.ports[port].node
        live.ports[port].can |= np.uint16(1 << vc)
        live.nodes[node].can_ports |= ONE << np.uint64(port - node * fixed.inputs)


@inlined
def bring(fixed, live, own, code, packet, t):
    here = live.vcs[(code >> BITS) * fixed.vcs + (code & LAST)]
    here.front = packet
    here.moved = t
    here.rest = live.packets[packet].length
    put(own.routes, (t + fixed.route_delay) & (len(own.routes) - 1), code)


@inlined
def first_run(live, packet):
    """The first run that has hops left, −1 = none."""
    for run in range(live.left.shape[1]):
        if live.left[packet, run] > 0:
            return run
    return -1
