"""A verdict of "no" is proved from its printed record alone: routes and classes by address arithmetic on k × k tori.

The check uses no routing, rule or graph of torusweep. A packet is legal if its destination is not its source, and one
of its routes, x before y, begins with the channel that it holds and then the channel that it requests. Every packet
holds its first channel, so that all of them can enter an empty network together.
"""

from __future__ import annotations

import re
from itertools import chain, pairwise, product
from pathlib import Path

import pytest
from torusweep.networks.families import build
from torusweep.questions.deadlock.record import deadlock_record
from torusweep.questions.how import How
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records

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


# --- packets beyond their first channel -----------------------------------------------------------


def after_any_wrap(route: list[Channel], k: int) -> list[Channel]:
    """The classes of r05_wrap(reading=path): 1 from the first wraparound link of the route on."""
    crossed, found = 0, []
    for node, direction, _ in route:
        digit = node % k if direction[0] == "x" else node // k
        crossed |= digit == (k - 1 if direction[1] == "+" else 0)
        found.append((node, direction, int(crossed)))
    return found


@pytest.mark.parametrize("k", [5, 7, 9])  # odd: every pair has one route
def test_packets_that_enter_together_reach_their_channels_together(k, tmp_path, monkeypatch):
    """By address arithmetic: each makes one hop before its channel, over a link of its own. Then in the simulator."""
    found = deadlock_record(
        build(f"torus(k={k}, n=2)"),
        routing="dimension_order",
        vc_rule="r05_wrap(reading=path)",
        virtual_channels=2,
    )
    assert found["deadlock_free"] == "no"
    cycle = []
    for words in found["cycle"]:
        node, direction, vc = re.fullmatch(r"(\d+) \(\d+,\d+\) (\S+) vc(\d+)", words).groups()
        cycle.append((int(node), direction, int(vc)))
    ways = [after_any_wrap(routes(k, packet)[0], k) for packet in found["packets"]]
    assert [way[1:3] for way in ways] == [list(pair) for pair in zip(cycle, cycle[1:] + cycle[:1])]
    links = [way[0][:2] for way in ways] + [channel[:2] for channel in cycle]
    assert len(set(links)) == len(links) == 2 * len(cycle)
    assert deadlocks(found["packets"], k, tmp_path, monkeypatch) == set(found["cycle"])
    assert deadlocks(found["packets"][1:], k, tmp_path, monkeypatch) is None


def deadlocks(packets: list[str], k: int, folder: Path, monkeypatch) -> set[str] | None:
    """The channels in which the simulator's packets wait for ever, if these enter an empty network together."""
    monkeypatch.chdir(folder)
    rows = [f"{number},{packet.replace(' → ', ',')},16" for number, packet in enumerate(packets)]
    Path("packets.csv").write_text("message,source,destination,flits\n" + "\n".join(rows) + "\n")
    parameters = Parameters(
        router="default",
        routing="dimension_order",
        vc_rule="r05_wrap(reading=path)",
        virtual_channels=2,
        workload="packets.csv",
        allow_deadlock=True,
    )
    (record,) = simulation_records(build(f"torus(k={k}, n=2)"), parameters, how=How("numba"))
    return set(record["waiting"]) if record["deadlocked"] else None
