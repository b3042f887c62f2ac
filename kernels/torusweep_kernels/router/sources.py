"""Generation of packets and messages, and source queues, compiled by Numba; specified by `reference.Sources`."""

from __future__ import annotations

from torusweep_kernels.compile import inlined
from torusweep_kernels.router.records import BITS, LEFT, READY, begin_routing
from torusweep_kernels.router.task import REFUSED


@inlined
def refill(fixed, state, own, node, t):
    """Fill a node's empty injection VCs from its source queue."""
    taken, behind = state.nodes[node].taken, state.nodes[node].behind
    if taken >= behind:
        return
    for vc in range(fixed.vcs):
        for port in range(node * fixed.inputs + fixed.transit, (node + 1) * fixed.inputs):
            x = port * fixed.vcs + vc
            if state.vcs[x].front < 0 and taken < behind:
                packet = state.line[taken]
                state.vcs[x].count = state.packets[packet].length
                begin_routing(fixed, state, own, port << BITS | vc, packet, t)
                taken += 1
    state.nodes[node].taken = taken


@inlined
def generate(fixed, state, own, packet, node, t):
    """Append a packet to its node's source queue, or refuse the packet if the queue is full."""
    state.line[state.nodes[node].behind] = packet
    state.nodes[node].behind += 1
    refill(fixed, state, own, node, t)
    if state.nodes[node].behind - state.nodes[node].taken > fixed.source_queue:
        state.nodes[node].behind -= 1
        state.packets[packet].entered = REFUSED
        own.number[LEFT] -= 1


@inlined
def sift_down(state, message, size):
    """Replace the first message of a heap of `size` messages by `message`."""
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and before(state, state.ready[child + 1], state.ready[child]):
            child += 1
        if not before(state, state.ready[child], message):
            break
        state.ready[place] = state.ready[child]
        place = child
    if size > 0:
        state.ready[place] = message


@inlined
def before(state, one, other):
    """Return whether a message is generated before another: in an earlier cycle, or in the same by a lower number."""
    a, b = state.messages[one].ready, state.messages[other].ready
    return a < b or (a == b and one < other)


@inlined
def sift_up(state, message, place):
    """Add a message to a heap of `place` messages."""
    while place > 0 and before(state, message, state.ready[(place - 1) >> 1]):
        state.ready[place] = state.ready[(place - 1) >> 1]
        place = (place - 1) >> 1
    state.ready[place] = message


@inlined
def release_successors(state, own, message, known):
    """Tell the messages that wait for this one that it is delivered, which they know from cycle `known` on."""
    for i in range(state.messages[message].after, state.messages[message + 1].after):
        there = state.messages[state.successor[i]]
        there.ready = max(there.ready, known + there.delay)
        there.missing -= 1
        if there.missing == 0:
            sift_up(state, state.successor[i], own.number[READY])
            own.number[READY] += 1


@inlined
def deliver_packet(state, own, message, known):
    """Count a delivered packet of a message. When its last packet is delivered, the message is delivered."""
    state.messages[message].undelivered -= 1
    if state.messages[message].undelivered == 0:
        release_successors(state, own, message, known)


@inlined
def generate_message(fixed, state, own, t):
    """Generate the first message of the heap."""
    message = state.ready[0]
    own.number[READY] -= 1
    sift_down(state, state.ready[own.number[READY]], own.number[READY])
    here = state.messages[message]
    here.generated = t
    if here.packets == 0:
        own.number[LEFT] -= 1
        release_successors(state, own, message, t)
        return
    for packet in range(here.begin, here.begin + here.packets):
        state.line[state.nodes[here.node].behind] = packet
        state.nodes[here.node].behind += 1
    refill(fixed, state, own, here.node, t)
