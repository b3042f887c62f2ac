"""What is generated when, and the source queues; see `reference_sources`."""

from __future__ import annotations

from torusweep_kernels.compile import inlined
from torusweep_kernels.router.records import BITS, LEFT, READY, bring
from torusweep_kernels.router.task import REFUSED


@inlined
def refill(fixed, live, own, node, t):
    """A node's empty injection VCs take packets from its source queue."""
    taken, behind = live.nodes[node].taken, live.nodes[node].behind
    if taken >= behind:
        return
    for vc in range(fixed.vcs):
        for port in range(node * fixed.inputs + fixed.transit, (node + 1) * fixed.inputs):
            x = port * fixed.vcs + vc
            if live.vcs[x].front < 0 and taken < behind:
                packet = live.line[taken]
                live.vcs[x].count = live.packets[packet].length
                bring(fixed, live, own, port << BITS | vc, packet, t)
                taken += 1
    live.nodes[node].taken = taken


@inlined
def generate(fixed, live, own, packet, node, t):
    """A packet joins its node's source queue, if there is room."""
    live.line[live.nodes[node].behind] = packet
    live.nodes[node].behind += 1
    refill(fixed, live, own, node, t)
    if live.nodes[node].behind - live.nodes[node].taken > fixed.source_queue:
        live.nodes[node].behind -= 1
        live.packets[packet].entered = REFUSED
        own.number[LEFT] -= 1


@inlined
def sink(live, message, size):
    """Put a message in the place of the first one of a heap, of which `size` are left with it."""
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and before(live, live.ready[child + 1], live.ready[child]):
            child += 1
        if not before(live, live.ready[child], message):
            break
        live.ready[place] = live.ready[child]
        place = child
    if size > 0:
        live.ready[place] = message


@inlined
def before(live, one, other):
    """Whether a message is generated before another: earlier, or in the same cycle and of a lower number."""
    a, b = live.messages[one].ready, live.messages[other].ready
    return a < b or (a == b and one < other)


@inlined
def rise(live, message, place):
    """Put a message into a heap of `place` messages."""
    while place > 0 and before(live, message, live.ready[(place - 1) >> 1]):
        live.ready[place] = live.ready[(place - 1) >> 1]
        place = (place - 1) >> 1
    live.ready[place] = message


@inlined
def done(live, own, message, known):
    """Those that wait for a message know from now on that it was delivered."""
    for i in range(live.messages[message].after, live.messages[message + 1].after):
        there = live.messages[live.successor[i]]
        there.ready = max(there.ready, known + there.delay)
        there.missing -= 1
        if there.missing == 0:
            rise(live, live.successor[i], own.number[READY])
            own.number[READY] += 1


@inlined
def deliver_of(live, own, message, known):
    """One of a message's packets has been delivered."""
    live.messages[message].undelivered -= 1
    if live.messages[message].undelivered == 0:
        done(live, own, message, known)


@inlined
def generate_message(fixed, live, own, t):
    """The first message of the heap is generated."""
    message = live.ready[0]
    own.number[READY] -= 1
    sink(live, live.ready[own.number[READY]], own.number[READY])
    here = live.messages[message]
    here.generated = t
    if here.packets == 0:
        own.number[LEFT] -= 1
        done(live, own, message, t)
        return
    for packet in range(here.begin, here.begin + here.packets):
        live.line[live.nodes[here.node].behind] = packet
        live.nodes[here.node].behind += 1
    refill(fixed, live, own, here.node, t)
