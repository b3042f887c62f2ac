"""A verdict of "no" is proved from its printed record alone: routes and classes by address arithmetic on k × k tori.

The check uses no routing, rule or graph of torusweep. A packet is legal if its destination is not its source, and one
of its routes, x before y, begins with the channel that it holds and then the channel that it requests. Every packet
holds its first channel, so that all of them can enter an empty network together.
"""

from __future__ import annotations

import re
from itertools import chain, pairwise, product

import pytest
from torusweep.networks.families import build
from torusweep.stages.deadlock import deadlock_record

Channel = tuple[int, str, int]  # node, direction, virtual channel


def half(k: int, source: int, end: int) -> list[list[tuple[int, str, int]]]:
    """Every shortest route, x before y: (node, direction, class), class 1 from the dateline of each ring on."""
    found = []
    ways = []
    for here, there in ((source % k, end % k), (source // k, end // k)):
        up = (there - here) % k
        ways.append([1] * (2 * up <= k) + [-1] * (2 * up >= k and up > 0))
    for signs in product(*ways):
        place, hops = [source % k, source // k], []
        for axis, sign in enumerate(signs):
            crossed = 0
            while place[axis] != (end % k, end // k)[axis]:
                node, after = place[0] + k * place[1], place[axis] + sign
                crossed |= not 0 <= after < k
                hops.append((node, "xy"[axis] + "-+"[sign > 0], int(crossed)))
                place[axis] = after % k
        found.append(hops)
    return found


def routes(k: int, packet: str) -> list[list[tuple[int, str, int]]]:
    """Every route of a printed packet; without a destination, as far as the node that it passes."""
    source, between, end = re.fullmatch(r"(\d+)(?: by way of (\d+|itself))?(?: → (\d+))?", packet).groups()
    stops = [source, *([between] if between not in (None, "itself") else []), *([end] if end else [])]
    halves = [half(k, int(a), int(b)) for a, b in pairwise(stops)]
    return [list(chain(*parts)) for parts in product(*halves)]


def is_circular_wait(k: int, virtual_channels: int, cycle: list[str], packets: list[str]) -> bool:
    """Whether each packet holds its channel of the cycle, its first, and requests the next; all channels differ."""
    channels: list[Channel] = []
    for words in cycle:
        node, x, y, direction, vc = re.fullmatch(r"(\d+) \((\d+),(\d+)\) (\S+) vc(\d+)", words).groups()
        if int(node) != int(x) + k * int(y):
            return False
        channels.append((int(node), direction, int(vc)))
    if any(re.fullmatch(r"(\d+)\b.* \1", packet) for packet in packets):  # to its own source
        return False
    if len(set(channels)) != len(channels) or len(packets) != len(channels) or len(channels) < 2:
        return False
    return all(
        any(
            [(n, d, min(c, virtual_channels - 1)) for n, d, c in route[:2]] == [held, wanted]
            for route in routes(k, packet)
        )
        for packet, held, wanted in zip(packets, channels, channels[1:] + channels[:1])
    )


@pytest.mark.parametrize(
    ("k", "routing", "virtual_channels"),
    [
        (4, "valiant", 2),
        (5, "valiant", 2),
        (8, "valiant", 2),
        (4, "valiant", 1),
        (4, "dimension_order", 1),
        (5, "dimension_order", 1),
    ],
)
def test_packets_of_a_deadlock_wait_in_a_circle(k, routing, virtual_channels):
    found = deadlock_record(
        build(f"torus(k={k}, n=2)"), routing=routing, vc_rule="dateline", virtual_channels=virtual_channels
    )
    assert found["deadlock_free"] == "no"
    cycle, packets = found["cycle"], found["packets"]
    assert is_circular_wait(k, virtual_channels, cycle, packets)
    assert not is_circular_wait(k, virtual_channels, cycle, packets[1:] + packets[:1])
    assert not is_circular_wait(k, virtual_channels, cycle[:-1], packets[:-1])


def test_the_check_accepts_two_packets_by_way_of_each_other():
    """By hand: 0 → 1 → 0 → 4 and 1 → 0 → 1 → 5. Each case below changes one thing."""
    assert is_circular_wait(4, 2, ["0 (0,0) x+ vc0", "1 (1,0) x- vc0"], ["0 by way of 1 → 4", "1 by way of 0 → 5"])


@pytest.mark.parametrize(
    ("cycle", "packets"),
    [
        (["0 (0,0) x+ vc1", "1 (1,0) x- vc0"], ["0 by way of 1 → 4", "1 by way of 0 → 5"]),  # class 1 before a dateline
        (["0 (0,0) x+ vc0", "1 (1,0) x- vc0"], ["0 → 1", "1 by way of 0 → 5"]),  # the first arrives
        (["0 (0,0) x+ vc0", "1 (1,0) x- vc0"], ["0 by way of 1 → 2", "1 by way of 0 → 5"]),  # the first goes on
        (["0 (0,0) x+ vc0", "1 (1,0) x- vc0"], ["0 by way of 1 → 0", "1 by way of 0 → 5"]),  # the first to its source
    ],
)
def test_the_check_refuses_what_is_no_circular_wait(cycle, packets):
    assert not is_circular_wait(4, 2, cycle, packets)
