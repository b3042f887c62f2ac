"""Plays the data movement of a schedule, transfer by transfer, with sets of contributions as vectors."""

from __future__ import annotations


def play(schedule, members):
    """What each rank holds of each chunk at the end: {rank: {chunk: set of ranks whose vectors are in it}}.

    members  ranks; a chunk of an all_gather, broadcast or all_to_all is a copy of its home's, others are sums
    """
    copying = schedule.operation in ("all_gather", "broadcast", "all_to_all")
    held = {rank: {} for rank in range(members)}
    for chunk, home in enumerate(schedule.home.tolist()):
        for rank in range(members):
            if not copying or rank == home:
                held[rank][chunk] = frozenset([rank])
    transfers = list(
        zip(
            schedule.step.tolist(),
            schedule.source.tolist(),
            schedule.destination.tolist(),
            schedule.chunk.tolist(),
            schedule.reduces.tolist(),
        )
    )
    assert [row[0] for row in transfers] == sorted(row[0] for row in transfers)
    first = 0
    while first < len(transfers):
        last = first
        while last < len(transfers) and transfers[last][0] == transfers[first][0]:
            last += 1
        arriving = [
            (destination, chunk, held[source][chunk], adds)
            for _, source, destination, chunk, adds in transfers[first:last]
        ]
        for destination, chunk, value, adds in arriving:
            if adds:
                assert not held[destination][chunk] & value, "a vector is added twice"
                held[destination][chunk] |= value
            else:
                held[destination][chunk] = value
        first = last
    return held


def check(schedule, members, root=0):
    """Assert that a schedule computes its operation, and that its chunks are all of the data."""
    held = play(schedule, members)
    everyone = frozenset(range(members))
    operation, size = schedule.operation, schedule.size.tolist()
    ends = list(zip(schedule.home.tolist(), schedule.target.tolist()))
    assert min(size) > 0
    share = {}
    for chunk, (home, target) in enumerate(ends):
        share[home, target] = share.get((home, target), 0) + size[chunk]
        for rank in range(members):
            if operation in ("all_gather", "broadcast"):
                assert held[rank][chunk] == {home}
            elif operation == "all_reduce":
                assert held[rank][chunk] == everyone
            elif operation in ("reduce_scatter", "reduce"):
                assert rank != home or held[rank][chunk] == everyone
            elif rank == target:
                assert held[rank][chunk] == {home}
    parts = {
        "all_gather": {(rank, -1): schedule.units / members for rank in range(members)},
        "reduce_scatter": {(rank, -1): schedule.units / members for rank in range(members)},
        "all_reduce": {(-1, -1): schedule.units},
        "broadcast": {(root, -1): schedule.units},
        "reduce": {(root, -1): schedule.units},
        "all_to_all": {(a, b): schedule.units / members for a in range(members) for b in range(members)},
    }[operation]
    assert share == parts
