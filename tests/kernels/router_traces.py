"""Packets and messages on a line of nodes, followed cycle by cycle by hand: when they enter and when they arrive."""

from __future__ import annotations

from typing import Any

import numpy as np
from torusweep_kernels.router import Batch, Messages, Router, Wiring

from tests.kernels.router_cases import batch

Packet = tuple[int, int, int, int]  # time, source, hops along the line, length; sources ≥ nodes are side nodes


def line(nodes: int, vcs: int = 1, **changes: Any) -> tuple[Wiring, tuple[np.ndarray, ...]]:
    """A line of nodes 0 → 1 → … of one direction, each also entered from a side node: node `nodes` + i leads to node i.

    Row h of the routes: h hops along the line; row 100 + h: first from a side node onto it.
    """
    to = np.full((2 * nodes, 2), -1, np.int32)
    to[: nodes - 1, 0] = np.arange(1, nodes)
    to[nodes:, 1] = np.arange(nodes)
    port_of = np.where(to >= 0, np.arange(2), -1).astype(np.int8)[:, [0, 0, 1, 1]]
    no = np.zeros(port_of.shape, bool)
    wiring = Wiring(to, port_of, no, np.ones(to.shape, np.int16), np.zeros((1, 2), np.int8), "run", np.array([vcs]))
    hops = np.zeros((200, 2), np.int16)
    hops[:100, 1] = hops[100:, 1] = np.arange(100)
    hops[100:, 0] = 1
    direction = np.tile(np.array([2, 0], np.int8), (200, 1))
    return wiring._replace(**changes), (direction, hops, np.zeros_like(direction))


def on_line(
    nodes: int, vcs: int, packets: list[Packet], capacity: int = 1
) -> tuple[Wiring, tuple[np.ndarray, ...], Batch]:
    """The line, whose links carry `capacity` flits a cycle, its routes, and the packets in the order of their
    sources."""
    rows = [
        (t, s, (s + h if s < nodes else s - nodes + h), h if s < nodes else 100 + h, length)
        for t, s, h, length in packets
    ]
    wiring, routes = line(nodes, vcs, capacity=np.tile([capacity, 1], (2 * nodes, 1)))
    return wiring, routes, batch(2 * nodes, [rows])


# One cycle through a router (switch_delay 1), one on the channel: a flit sent in t can be sent on in t + 2.
# A head that leaves in t has got its VC in the same t.
# name: (router, nodes of the line, packets, cycles in which they enter, and are delivered)
CONFLICTS: dict[str, tuple[Router, int, list[Packet], list[int], list[int]]] = {
    # Both want 1 → 2 with its one VC. The packet of node 1 holds it from cycle 0: flits in 0, 1, 2; its tail frees the
    # VC for 3. The other's head, sent in 0, is at node 1 in 2, gets the VC in 3, is at node 2 in 5 and ejected then;
    # its tail two cycles behind.
    "two packets, one VC": (Router(1, 8), 3, [(0, 0, 2, 3), (0, 1, 1, 3)], [0, 0], [3 + 2 + 2 + 1, 2 + 2 + 1]),
    # With two VCs they share the channel: node 1's own packet sends in 0, 1, 2 (the other's head comes in 2, its port
    # is lower, but the last taken was injection, port 2, so that round robin gives 2 to port 0, 3 to injection, 4, 5 to
    # the other).
    "two packets, two VCs": (Router(2, 8), 3, [(0, 0, 2, 3), (0, 1, 1, 3)], [0, 0], [5 + 2 + 1, 3 + 2 + 1]),
    # In-transit traffic first makes no difference to that; three flits of injection would wait until transit has a gap.
    "two packets, transit first": (
        Router(2, 8, transit_first=True), 3, [(0, 0, 2, 3), (0, 1, 1, 5)], [0, 0], [4 + 2 + 1, 7 + 2 + 1],
    ),  # own flits go in 0, 1; the other's in 2, 3, 4; own in 5, 6, 7
    # One flit of buffer: a flit sent in t reaches the buffer in t + 2, leaves it in t + 2, and its credit is back in t
    # + 3.
    "one flit of buffer": (Router(1, 1), 3, [(0, 0, 2, 3)], [0], [2 * 3 + 4 + 1]),
    # A credit that takes 4 cycles instead of 1: one flit every 6 cycles.
    "slow credits": (Router(1, 1, credit_delay=4), 3, [(0, 0, 2, 3)], [0], [2 * 6 + 4 + 1]),
    # Ejection of one flit a cycle: two packets of 2 flits arrive at node 1 together (from 0, port 0; from side node 4,
    # port 1), in cycle 2; round robin alternates: 0's in 2 and 4, 4's in 3 and 5.
    "two packets to one node": (Router(1, 8), 3, [(0, 0, 1, 2), (0, 4, 0, 2)], [0, 0], [4 + 1, 5 + 1]),
    "two packets to one node, two flits a cycle": (
        Router(1, 8, ejection_flits=2), 3, [(0, 0, 1, 2), (0, 4, 0, 2)], [0, 0], [3 + 1, 3 + 1],
    ),
    # Three packets for 1 → 2 with one VC: node 1's own in 0, 1; then round robin among input ports 0 (from 0) and 1
    # (from side node 4): both are there in 2; last granted was injection, so port 0 (2, 3), then port 1 (4, 5).
    "three packets": (Router(1, 8), 3, [(0, 0, 2, 2), (0, 1, 1, 2), (0, 4, 1, 2)], [0, 0, 0], [3 + 3, 1 + 3, 5 + 3]),
    # Virtual cut-through with room for one packet of 2: the second packet of node 0 must wait until the first one's
    # credits are back. First: 0, 1; leaves node 1 in 2, 3; credits known in 3, 4. Second: VC in 4, flits 4, 5; at node
    # 1 in 6, 7, ejected in 8, 9 at node 2.
    "cut-through waits for a whole packet's room": (
        Router(1, 2, "virtual-cut-through"), 3, [(0, 0, 2, 2), (0, 0, 2, 2)], [0, 4], [3 + 3, 7 + 3],
    ),
    # Wormhole only waits for the VC, free in 2, and then for credits: flits 2? credits are 0 in 2 and 1 in 3, so 3, 4.
    "wormhole does not": (Router(1, 2), 3, [(0, 0, 2, 2), (0, 0, 2, 2)], [0, 3], [3 + 3, 6 + 3]),
    # One injection port, two packets of a node, two VCs: their flits take turns: 0, 2, 4 and 1, 3, 5.
    "injection VCs take turns": (Router(2, 8), 2, [(0, 0, 1, 3), (0, 0, 1, 3)], [0, 1], [4 + 3, 5 + 3]),
    # Blocked by a blocked packet: node 2's own packet of 6 holds 2 → 3 in 0 … 5. Node 1's (2 flits) is at node 2 in 2
    # and waits until 6: 6, 7. Node 0's (2 flits) gets 1 → 2 in 2 when that one's tail has gone, and buffers at node 2
    # (room for 4) behind it: from 8 on.
    "a chain of waits": (Router(1, 4), 4, [(0, 0, 3, 2), (0, 1, 2, 2), (0, 2, 1, 6)], [0, 0, 0], [9 + 3, 7 + 3, 5 + 3]),
}  # fmt: skip

# name: (router, capacity of the line of three nodes, packets, cycles in which they enter, and are delivered)
SEVERAL_A_CYCLE: dict[str, tuple[Router, int, list[Packet], list[int], list[int]]] = {
    # Node 0 sends to itself and to node 1: another output for each of the injection port's VCs. One VC a cycle: 0, 2, 4
    # and 1, 3, 5 …
    "one VC of a port a cycle": (Router(2, 8), 1, [(0, 0, 0, 3), (0, 0, 1, 3)], [0, 1], [4 + 1, 5 + 3]),
    # … two: both 0, 1, 2
    "two VCs of a port a cycle": (
        Router(2, 8, input_speedup=2), 1, [(0, 0, 0, 3), (0, 0, 1, 3)], [0, 0], [2 + 1, 2 + 3],
    ),
    # … of injection ports alone; at node 1 a port of the channel sends one VC a cycle, and one flit is ejected.
    "two VCs of an injection port a cycle": (
        Router(2, 8, injection_speedup=2), 1, [(0, 0, 0, 3), (0, 0, 1, 3)], [0, 0], [2 + 1, 2 + 3],
    ),
    # Both to node 1: the channel takes one of the two nominated, the first in turn; VCs are granted in 0 and 1. Turns:
    # 0, 2, 4 and 1, 3, 5.
    "two VCs of a port, one channel": (
        Router(2, 8, input_speedup=2), 1, [(0, 0, 1, 3), (0, 0, 1, 3)], [0, 1], [4 + 3, 5 + 3],
    ),
    # A channel of two flits a cycle: 0, 1, 2 and, its VC granted in 1, 1, 2, 3. Two cycles later both reach node 1,
    # which ejects two.
    "two VCs of a port, a channel of two": (
        Router(2, 8, input_speedup=2, ejection_flits=2), 2, [(0, 0, 1, 3), (0, 0, 1, 3)], [0, 1], [2 + 3, 3 + 3],
    ),
    # Ejecting one at a time: 2 of the first; in 3 VC 1 is next in turn, 4 VC 0, 5 VC 1, 6 VC 0, 7 VC 1.
    "two VCs of a port, a channel of two, one ejected": (
        Router(2, 8, input_speedup=2), 2, [(0, 0, 1, 3), (0, 0, 1, 3)], [0, 1], [6 + 1, 7 + 1],
    ),
    # From node 0 and from side node 4 over 1 → 2, each from an input port of its own: VCs granted in 2 and 3; taking
    # turns 2, 4, 6 and 3, 5, 7 …
    "two ports, one channel": (Router(2, 8, ejection_flits=2), 1, [(0, 0, 2, 3), (0, 4, 1, 3)], [0, 0], [6 + 3, 7 + 3]),
    # … with two flits a cycle 2, 3, 4 and 3, 4, 5; at its end two of the port's VCs go on in a cycle without a speedup.
    "two ports, a channel of two": (
        Router(2, 8, ejection_flits=2), 2, [(0, 0, 2, 3), (0, 4, 1, 3)], [0, 0], [4 + 3, 5 + 3],
    ),
    # Injection behind transit, but a channel of two has room for both: transit's head is at node 1 in 2 and gets its VC
    # there then; node 1's own go in 0, 1, 2, 3, 4 undisturbed.
    "injection beside transit": (
        Router(2, 8, transit_first=True, ejection_flits=2), 2, [(0, 0, 2, 3), (0, 1, 1, 5)], [0, 0], [4 + 3, 4 + 3],
    ),
}  # fmt: skip

# A message: (source, destination, row, lengths of its packets, delay, the messages that it waits for)
Message = tuple[int, int, int, list[int], int, list[int]]


def waiting(nodes: int, experiments: list[list[Message]]) -> Batch:
    """Packets of messages, in the order of their nodes, those of one node in the messages' order."""
    packets, begins = [], []
    for own in experiments:
        order = sorted(range(len(own)), key=lambda g: own[g][0])
        begin = dict(zip(order, np.cumsum([0, *(len(own[g][3]) for g in order)]).tolist()))
        begins.append([begin[g] for g in range(len(own))])
        packets.append([(0, own[g][0], own[g][1], own[g][2], length) for g in order for length in own[g][3]])
    made = batch(nodes, packets)
    followers = [[[g for g, one in enumerate(own) if h in one[5]] for h in range(len(own))] for own in experiments]
    start = np.cumsum([0, *map(len, experiments)])
    first_packet = made.first[:, 0]
    flat = [[g + int(s) for g in one] for s, own in zip(start, followers) for one in own]
    return made._replace(
        messages=Messages(
            first=start,
            begin=np.array([b + int(p) for p, own in zip(first_packet, begins) for b in own], np.int64),
            packets=np.array([len(one[3]) for own in experiments for one in own], np.int32),
            delay=np.array([one[4] for own in experiments for one in own], np.int32),
            after=np.cumsum([0, *map(len, flat)]),
            successor=np.array([g for one in flat for g in one], np.int64),
        )
    )


# A lone packet of L flits over H hops takes 2 H + L cycles (switch 1, channel 1) from generation to delivery; see
# test_router.
# name: (router, messages, cycles in which they are generated, and their packets delivered)
MESSAGES: dict[str, tuple[Router, list[Message], list[int], list[int]]] = {
    # 0 → 1 in 0 … 2 + 3 = 5; 1 → 3 then, two hops: 5 + 4 + 3 = 12.
    "a chain": (Router(1, 8), [(0, 1, 1, [3], 0, []), (1, 3, 2, [3], 0, [0])], [0, 5], [5, 12]),
    # The answer is thought about for 10 cycles.
    "a delay": (Router(1, 8), [(0, 1, 1, [3], 0, []), (1, 3, 2, [3], 10, [0])], [0, 15], [5, 22]),
    # A message of no others' begins at its delay.
    "a late start": (Router(1, 8), [(0, 1, 1, [1], 7, [])], [7], [10]),
    # 1 → 2 waits for both: 0 → 1 (there in 5) and 2 → 3, five flits (there in 7).
    "two that are waited for": (
        Router(1, 8), [(0, 1, 1, [3], 0, []), (2, 3, 1, [5], 0, []), (1, 2, 1, [2], 1, [0, 1])], [0, 0, 8], [5, 7, 12],
    ),
    # Two packets of 2 flits; one VC: the second leaves in 2, is there in 2 + 2 + 2 = 6. Only then the other message
    # starts.
    "the last packet counts": (Router(1, 8), [(0, 1, 1, [2, 2], 0, []), (1, 2, 1, [1], 0, [0])], [0, 6], [4, 6, 9]),
    # Steps of computation: 0 (5 cycles), then 1 (3 more, in the same cycle as 2, which waits for it only), then the
    # message.
    "steps": (
        Router(1, 8),
        [(0, 0, 0, [], 5, []), (0, 0, 0, [], 3, [0]), (0, 0, 0, [], 0, [1]), (0, 1, 1, [1], 0, [2])],
        [5, 8, 8, 8], [11],
    ),
    # Both of node 1 are generated in 5: number 1 goes before number 2, though it became free by the same delivery. One
    # VC: flits in 5, 6, 7, then 8.
    "equal times by number": (
        Router(1, 8), [(0, 1, 1, [3], 0, []), (1, 2, 1, [3], 0, [0]), (1, 2, 1, [1], 0, [0])], [0, 5, 5], [5, 10, 11],
    ),
    # The later number comes first where it is generated first: message 2 in 2, message 1 in 3. 2: 2 … 2 + 2 + 3 = 7,
    # its tail sent in 4; 1: 5 … 8.
    "earlier before lower": (
        Router(1, 8), [(0, 1, 1, [1], 0, []), (1, 2, 1, [1], 0, [0]), (1, 2, 1, [3], 2, [])], [0, 3, 2], [3, 8, 7],
    ),
    # No cycle in the switch: ejected in 2 at once, known to others one cycle later; 3 + 1 hop of one channel cycle.
    "known a cycle later": (
        Router(1, 8, switch_delay=0), [(0, 1, 1, [2], 0, []), (1, 2, 1, [1], 0, [0])], [0, 3], [2, 4],
    ),
    # A step after all packets is waited for, too: the run lasts until it is done.
    "a last step": (Router(1, 8), [(0, 1, 1, [1], 0, []), (1, 1, 0, [], 40, [0])], [0, 43], [3]),
}  # fmt: skip
