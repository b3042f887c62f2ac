"""Eight networks with units, and messages on them, written by hand: one transfer, an all-reduce, an all-to-all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

BYTES = 65_536  # of a transfer, and of the size of a collective
GB = 1e9 / 8  # bytes/s of 1 Gb/s


def ns3(hosts: int, switches: int, links: Sequence[tuple[int, int, int, float]]) -> str:
    """The text of ns-3: links of (end, end, Gb/s, ns); hosts come first."""
    names = " ".join(str(hosts + number) for number in range(switches))
    rows = [f"{a} {b} {rate}Gbps {delay / 1e6:g}ms 0" for a, b, rate, delay in links]
    return "\n".join([f"{hosts + switches} {switches} {len(links)}", names, *rows]) + "\n"


LEAVES = [(host, 8 + host // 4, 100, 100) for host in range(8)] + [
    (leaf, spine, 200, 100) for leaf in (8, 9) for spine in (10, 11)
]
FILES = {
    "two.txt": ns3(2, 1, [(0, 2, 100, 1000), (1, 2, 100, 1000)]),
    "leaves.txt": ns3(8, 4, LEAVES),
    "delays.txt": ns3(4, 1, [(host, 4, 100, 100 << host) for host in range(4)]),
    "mix.txt": ns3(4, 1, [(0, 4, 400, 100), (1, 4, 400, 100), (2, 4, 50, 100), (3, 4, 50, 100)]),
    "one_way.csv": "source,target,bandwidth,latency\n"
    + "".join(f"{node},{(node + 1) % 4},100 Gb/s,100 ns\n" for node in range(4)),
}
Message = tuple[int, int, int, Sequence[int]]  # source, destination, bytes, the messages that it waits for


def transfer(source: int, destination: int) -> list[Message]:
    return [(source, destination, BYTES, [])]


def all_to_all(ranks: int, pieces: int = 1) -> list[Message]:
    """A share to every other, the next rank first, in so many pieces that take turns."""
    size = BYTES // ranks // pieces
    away = [1 + place % (ranks - 1) for place in range(pieces * (ranks - 1))]
    return [(rank, (rank + ahead) % ranks, size, []) for ahead in away for rank in range(ranks)]


def direct_all_reduce(ranks: int) -> list[Message]:
    """A share to every other; a rank that has all shares sends their sum to every other."""
    first = all_to_all(ranks)
    arrived = [[number for number, message in enumerate(first) if message[1] == rank] for rank in range(ranks)]
    return [*first, *((source, end, size, arrived[source]) for source, end, size, _ in first)]


def ring_all_reduce(order: Sequence[int]) -> list[Message]:
    """One way round: 2 (N − 1) steps, in each of which every rank passes a share on."""
    ranks = len(order)
    found: list[Message] = []
    for step in range(2 * (ranks - 1)):
        for place in range(ranks):
            before = [] if not step else [ranks * (step - 1) + (place - 1) % ranks]
            found.append((order[place], order[(place + 1) % ranks], BYTES // ranks, before))
    return found


def write(path: Path, messages: Sequence[Message]) -> str:
    rows = [
        f"{number},{source},{end},{size},{' '.join(map(str, waits))}"
        for number, (source, end, size, waits) in enumerate(messages)
    ]
    path.write_text("\n".join(["message,source,destination,bytes,depends_on", *rows]) + "\n")
    return str(path)
