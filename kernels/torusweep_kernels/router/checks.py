"""Refuse arguments of `simulate` that contradict each other, or could not work, before anything runs."""

from __future__ import annotations

import numpy as np

from torusweep_kernels.checks import expecting, within
from torusweep_kernels.router.task import (
    MEMORIES,
    SWITCHINGS,
    VIEWS,
    WORMHOLE,
    Batch,
    Detours,
    Messages,
    Router,
    Task,
    Wiring,
)
from torusweep_kernels.routes import route_ends

expect = expecting("simulate")
MOST_CYCLES = 2**30
MOST_VCS = 16
MOST_INPUTS = 63  # of a node, injection among them: a machine word has a bit for each, and one for what comes behind
MOST_RUNS = 62  # of a route, and axes: a bit each
MOST_BUFFER = 2**15 - 1
MOST_THRESHOLD = 2**30


def checked(
    wiring: Wiring,
    router: Router,
    direction: np.ndarray,
    hops: np.ndarray,
    phase: np.ndarray,
    batch: Batch,
    cycles: int,
    measure_from: int,
    stall: int,
    threads: int | None,
) -> Task:
    """Return the task with contiguous arrays of the expected dtypes. Raises ValueError for wrong arguments."""
    _check_router(router)
    expect(0 < cycles <= MOST_CYCLES, f"cycles of 1 … {MOST_CYCLES}", cycles)
    expect(measure_from >= 0, "measure_from ≥ 0", measure_from)
    expect(stall >= 1, "stall ≥ 1", stall)
    expect(threads is None or threads >= 1, "threads ≥ 1 or None", threads)
    wiring = _checked_wiring(wiring, router)
    routes = _checked_routes(wiring, direction, hops, phase)
    batch = _checked_batch(wiring, routes[1], batch)
    task = Task(wiring, router, routes, batch, cycles, measure_from, stall)
    expect(
        task.inputs <= MOST_INPUTS, f"at most {MOST_INPUTS} input ports of a node, injection among them", task.inputs
    )
    expect(task.nodes * task.inputs < 2**27, "fewer than 2²⁷ input ports in the network", task.nodes * task.inputs)
    expect(
        router.source_queue is None or batch.messages is None,
        "no source_queue with messages, which are never refused",
        router.source_queue,
    )
    longest = int(batch.length.max(initial=0))
    if task.switching != WORMHOLE:
        least = longest * (2 if router.bubble else 1)
        room = "the two longest packets (bubble)" if router.bubble else "the longest packet"
        expect(
            router.buffer_flits >= least, f"buffer_flits ≥ {least}, {room}, for {router.switching}", router.buffer_flits
        )
    expect(batch.detours is None or not router.adaptive, "no detours with adaptive", "both")
    _check_destinations(task, threads)
    _check_detours(task)
    return task


def _check_router(router: Router) -> None:
    expect(1 <= router.virtual_channels <= MOST_VCS, f"virtual_channels of 1 … {MOST_VCS}", router.virtual_channels)
    expect(1 <= router.buffer_flits <= MOST_BUFFER, f"buffer_flits of 1 … {MOST_BUFFER}", router.buffer_flits)
    expect(router.switching in SWITCHINGS, f"switching of {', '.join(SWITCHINGS)}", repr(router.switching))
    for name in ("route_delay", "vc_delay", "switch_delay"):
        expect(0 <= getattr(router, name) <= MOST_BUFFER, f"{name} of 0 … {MOST_BUFFER}", getattr(router, name))
    expect(1 <= router.credit_delay <= MOST_BUFFER, f"credit_delay of 1 … {MOST_BUFFER}", router.credit_delay)
    for name in ("injection_flits", "ejection_flits", "input_speedup", "injection_speedup"):
        number = getattr(router, name)
        expect(number is None or 1 <= number <= MOST_INPUTS, f"{name} of 1 … {MOST_INPUTS}", number)
    expect(router.source_queue is None or router.source_queue >= 0, "source_queue ≥ 0 or None", router.source_queue)
    expect(
        not router.bubble or router.switching != SWITCHINGS[WORMHOLE],
        "switching virtual-cut-through or store-and-forward with bubble",
        "wormhole",
    )
    escape = router.virtual_channels if router.escape is None else router.escape
    if router.adaptive:
        expect(
            1 <= escape < router.virtual_channels, f"escape of 1 … {router.virtual_channels - 1} with adaptive", escape
        )
    else:
        expect(
            escape == router.virtual_channels,
            f"escape of all {router.virtual_channels} virtual_channels without adaptive",
            escape,
        )


def _checked_wiring(wiring: Wiring, router: Router) -> Wiring:
    to, port_of, wrap, delay, classes, shares = (
        np.asarray(array)
        for array in (wiring.to, wiring.port_of, wiring.wrap, wiring.delay, wiring.classes, wiring.shares)
    )
    expect(to.ndim == 2, "to of shape [N, P]", to.shape)
    nodes, ports = to.shape
    expect(nodes >= 1, "one node at least", nodes)
    expect(port_of.ndim == 2 and len(port_of) == nodes, f"port_of of shape [{nodes}, D]", port_of.shape)
    expect(port_of.shape[1] <= 2 * MOST_RUNS, f"at most {2 * MOST_RUNS} directions", port_of.shape[1])
    expect(wrap.shape == port_of.shape, f"wrap of shape {port_of.shape}", wrap.shape)
    expect(delay.shape == to.shape, f"delay of shape {to.shape}", delay.shape)
    expect(classes.ndim == 2 and classes.shape[1] == 2, "classes of shape [F, 2]", classes.shape)
    expect(shares.ndim == 1, "shares of shape [C]", shares.shape)
    expect(wiring.memory in MEMORIES, f"memory of {', '.join(MEMORIES)}", repr(wiring.memory))
    within(expect, "to", to, -1, nodes - 1)
    within(expect, "port_of", port_of, -1, ports - 1)
    expect(ports <= MOST_INPUTS, f"at most {MOST_INPUTS} ports", ports)
    within(expect, "delay", delay, 0, MOST_BUFFER)
    capacity = np.ones(to.shape, np.int16) if wiring.capacity is None else np.asarray(wiring.capacity)
    expect(capacity.shape == to.shape, f"capacity of shape {to.shape}", capacity.shape)
    within(expect, "capacity", capacity[to >= 0], 1, router.virtual_channels)
    back = None if wiring.back is None else np.asarray(wiring.back)
    if back is not None:
        expect(back.shape == to.shape, f"back of shape {to.shape}", back.shape)
        within(expect, "back", back[to >= 0], 0, MOST_BUFFER)
        back = np.ascontiguousarray(np.where(to >= 0, back, 0), np.int16)
    least = int(delay[to >= 0].min(initial=MOST_BUFFER)) + router.switch_delay
    expect(least >= 1, "switch_delay or every channel's delay ≥ 1", "both 0")
    used = np.where(
        port_of >= 0, np.take_along_axis(to, np.maximum(port_of, 0).astype(np.int64), axis=1) if ports else -1, 0
    )
    expect(bool((used >= 0).all()), "port_of that names ports with a channel", "one without")
    within(expect, "shares", shares, 1, MOST_VCS)
    within(expect, "classes", classes, 0, len(shares) - 1)
    fits = not wiring.balanced or (wiring.memory in ("run", "axis") and not router.adaptive)
    expect(fits, "memory run or axis, and no adaptive, with balanced", "another")
    escape = router.virtual_channels if router.escape is None else router.escape
    expect(
        int(shares.sum()) == escape, f"shares that add up to the escape's {escape} virtual channels", int(shares.sum())
    )
    types = np.int32, np.int8, np.bool_, np.int16, np.int8
    kept: list[np.ndarray] = [
        np.ascontiguousarray(array, dtype) for array, dtype in zip((to, port_of, wrap, delay, classes), types)
    ]
    balanced, whole = bool(wiring.balanced), np.where(to >= 0, capacity, 1).astype(np.int16)
    return Wiring(
        kept[0],
        kept[1],
        kept[2],
        kept[3],
        kept[4],
        wiring.memory,
        np.ascontiguousarray(shares, np.int64),
        balanced,
        whole,
        back,
    )


def _checked_routes(
    wiring: Wiring, direction: np.ndarray, hops: np.ndarray, phase: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    direction, hops, phase = np.asarray(direction), np.asarray(hops), np.asarray(phase)
    expect(direction.ndim == 2, "direction of shape [R, L]", direction.shape)
    expect(hops.shape == direction.shape, f"hops of shape {direction.shape}", hops.shape)
    expect(phase.shape == direction.shape, f"phase of shape {direction.shape}", phase.shape)
    expect(
        1 <= hops.shape[1] <= MOST_RUNS,
        f"1 … {MOST_RUNS} runs of a route (of 0 hops where it needs fewer)",
        hops.shape[1],
    )
    within(expect, "hops", hops, 0, 2**15 - 1)
    taken = hops > 0
    within(expect, "direction", direction[taken], 0, wiring.port_of.shape[1] - 1)
    within(expect, "phase", phase[taken], 0, len(wiring.classes) - 1)
    direction, phase = (np.ascontiguousarray(np.where(taken, array, 0), np.int8) for array in (direction, phase))
    return direction, np.ascontiguousarray(hops, np.int16), phase


def _checked_batch(wiring: Wiring, hops: np.ndarray, batch: Batch) -> Batch:
    first, *each = (np.asarray(array) for array in batch[:5])
    nodes, packets = len(wiring.to), len(each[0])
    expect(first.ndim == 2 and first.shape[1] == nodes + 1, f"first of shape [E, {nodes + 1}]", first.shape)
    for name, array in zip(Batch._fields[1:], each):
        expect(array.shape == (packets,), f"{name} of shape [{packets}], one per packet", array.shape)
    flat = first.ravel()
    joined = len(first) == 0 or (
        flat[0] == 0 and bool((first[1:, 0] == first[:-1, -1]).all()) and bool((np.diff(flat) >= 0).all())
    )
    expect(
        joined and (flat[-1] if len(flat) else 0) == packets,
        f"first that rises from 0 to {packets}, block after block",
        "another",
    )
    expect(packets < 2**31, "fewer than 2³¹ packets", packets)
    time, row, length, destination = each
    within(expect, "time", time, 0, MOST_CYCLES)
    within(expect, "row", row, 0, len(hops) - 1)
    within(expect, "length", length, 1, MOST_BUFFER)
    within(expect, "destination", destination, 0, nodes - 1)
    falls = np.flatnonzero(np.diff(time.astype(np.int64)) < 0) + 1
    begins = np.zeros(packets + 1, bool)  # a node's packets
    begins[flat] = True
    late = falls[~begins[falls]]
    expect(
        not late.size,
        "time that does not fall within a node's packets",
        f"packet {late[0]} before its predecessor" if late.size else "",
    )
    types = np.int32, np.int32, np.int16, np.int32
    kept: list[np.ndarray] = [np.ascontiguousarray(array, dtype) for array, dtype in zip(each, types)]
    first = np.ascontiguousarray(first, np.int64)
    messages = None if batch.messages is None else _checked_messages(first, time, batch.messages)
    detours = None if batch.detours is None else _checked_detours(packets, hops, batch.detours)
    return Batch(first, kept[0], kept[1], kept[2], kept[3], messages, detours)


def _checked_detours(packets: int, hops: np.ndarray, detours: Detours) -> Detours:
    row = np.asarray(detours.row)
    shape = f"row of detours of shape [{packets}, K], K = 1 … {MOST_RUNS}"
    expect(row.ndim == 2 and len(row) == packets and 1 <= row.shape[1] <= MOST_RUNS, shape, row.shape)
    within(expect, "row of detours", row, -1, len(hops) - 1)
    expect(detours.view in VIEWS, f"view of {', '.join(VIEWS)}", repr(detours.view))
    threshold = f"threshold of −{MOST_THRESHOLD} … {MOST_THRESHOLD}"
    expect(abs(detours.threshold) <= MOST_THRESHOLD, threshold, detours.threshold)
    return Detours(np.ascontiguousarray(row, np.int32), detours.view, int(detours.threshold))


def _checked_messages(nodes: np.ndarray, time: np.ndarray, messages: Messages) -> Messages:
    """Return the messages with arrays of the expected dtypes; `nodes` is `Batch.first`. Raises ValueError."""
    first, begin, packets, delay, after, successor = (np.asarray(array) for array in messages)
    number = len(begin)
    expect(first.shape == (len(nodes) + 1,), f"first of messages of shape [{len(nodes) + 1}]", first.shape)
    for name, array, shape in (("packets", packets, number), ("delay", delay, number), ("after", after, number + 1)):
        expect(array.shape == (shape,), f"{name} of messages of shape [{shape}]", array.shape)
    for name, array, most in (("first", first, number), ("after", after, len(successor))):
        rises = array[0] == 0 and array[-1] == most and bool((np.diff(array) >= 0).all())
        expect(rises, f"{name} of messages that rises from 0 to {most}", "another")
    expect(number < 2**31, "fewer than 2³¹ messages", number)
    within(expect, "packets of messages", packets, 0, len(time))
    within(expect, "delay of messages", delay, 0, MOST_CYCLES // 2)
    expect(not time.any(), "time 0 of packets that belong to messages", "another")
    some = np.flatnonzero(packets > 0)
    some = some[np.argsort(begin[some], kind="stable")]
    ends = begin[some] + packets[some]
    joined = np.array_equal(begin[some], np.concatenate([[0], ends[:-1]])[: len(some)]) and (
        ends[-1] if len(some) else 0
    ) == len(time)
    expect(joined, "each packet in one message", "one in none or several")
    source = np.searchsorted(nodes[:, 1:].ravel(), np.stack([begin[some], ends - 1]), side="right")
    expect(bool((source[0] == source[1]).all()), "messages of one node's packets", "one of several's")
    experiment = np.searchsorted(first[1:], np.arange(number), side="right")
    expect(
        np.array_equal(source[0] // (nodes.shape[1] - 1), experiment[some]),
        "messages of their experiment's packets",
        "one of another's",
    )
    waited_for = np.repeat(np.arange(number), np.diff(after))
    later = bool((waited_for < successor).all()) and bool((successor < first[experiment[waited_for] + 1]).all())
    expect(later, "messages that wait for earlier ones of their experiment", "another")
    types = np.int64, np.int64, np.int32, np.int32, np.int64, np.int64
    return Messages(
        *(
            np.ascontiguousarray(array, dtype)
            for array, dtype in zip((first, begin, packets, delay, after, successor), types)
        )
    )


def _check_destinations(task: Task, threads: int | None) -> None:
    """Raise ValueError for a route that misses its destination. All packets are walked, which is fastest."""
    batch = task.batch
    nodes = np.tile(np.arange(task.nodes, dtype=np.int32), len(batch.first))
    source = np.repeat(nodes, np.diff(batch.first, axis=1).ravel())
    arrives = route_ends(task.next, source, batch.row, task.direction, task.hops, threads)
    astray = np.flatnonzero(arrives != batch.destination)
    if astray.size:
        packet = int(astray[0])
        where = (
            f"packet {packet} from node {source[packet]} by row {batch.row[packet]} arrives at node {arrives[packet]}"
        )
        raise ValueError(
            f"simulate: expected routes that lead to their destinations, got {where}, not {batch.destination[packet]}"
        )


def _check_detours(task: Task) -> None:
    """Raise ValueError for a wrong detour: for each number of hops, walk a packet per (source, route, detour)."""
    batch = task.batch
    nodes = np.tile(np.arange(task.nodes), len(batch.first))
    source = np.repeat(nodes, np.diff(batch.first, axis=1).ravel())
    before = np.cumsum(task.hops, axis=1, dtype=np.int64)
    for k in range(task.detour.shape[1]):
        some = np.flatnonzero(task.detour[:, k] >= 0)
        kind = np.unique(source[some] * len(task.hops) + batch.row[some], return_inverse=True)[1]
        one = some[np.unique(kind * len(task.hops) + task.detour[some, k], return_index=True)[1]]
        if not len(one):
            continue
        origin, row, detour = source[one], batch.row[one], task.detour[one, k]
        late = np.flatnonzero((before[row, -1] <= k) | (task.hops[detour].sum(axis=1) == 0))
        where = f"packet {one[late[0]]}, detour {k}" if late.size else ""
        expect(not late.size, "detours of a hop or more, from a node before the destination", where)
        hops = np.clip(k - before + task.hops, 0, task.hops).astype(np.int16)  # the first k of each route
        place = route_ends(task.next, origin, row, task.direction, hops)
        end = route_ends(task.next, place, detour, task.direction, task.hops)
        astray = np.flatnonzero(end != batch.destination[one])
        where = f"packet {one[astray[0]]}, detour {k} at node {end[astray[0]]}" if astray.size else ""
        expect(not astray.size, "detours that lead to their packets' destinations", where)
