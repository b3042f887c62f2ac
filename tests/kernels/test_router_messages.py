"""Messages that wait for messages, and source queues with an end: traces by hand, critical paths by formula, random
networks against plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torusweep_kernels.router import REFUSED, Messages, Router, Simulated, simulate, state_bytes
from torusweep_kernels.router.checks import checked
from torusweep_kernels.router.state import state_of

from tests.kernels.router_cases import Routes, batch, both, random_case, torus_wiring, uniform, with_messages
from tests.kernels.router_oracle import Network
from tests.kernels.router_traces import MESSAGES, Message, line, waiting


def played_on_line(router: Router, messages: list[Message], nodes: int = 4, **options: Any) -> Simulated:
    """On the line 0 → 1 → …; row h of the routes is h hops."""
    wiring, routes = line(nodes, router.virtual_channels)
    return both(wiring, router, routes, waiting(2 * nodes, [messages]), cycles=500, **options)


@pytest.mark.parametrize("name", MESSAGES)
def test_as_traced_by_hand(name: str) -> None:
    router, messages, generated, delivered = MESSAGES[name]
    found = played_on_line(router, messages)
    # packets stand by node; delivered is by message
    order = sorted((g for g in range(len(messages)) for _ in messages[g][3]), key=lambda g: messages[g][0])
    assert found.generated.tolist() == generated
    assert [time for _, time in sorted(zip(order, found.delivered.tolist()))] == delivered
    assert found.ran[0] > max(generated)


def test_a_token_goes_round_a_ring() -> None:
    """Twice round six nodes, a message each hop, 7 cycles of thought: 12 messages of one hop, 2 + 4 flits each, 7
    between them."""
    nodes, turns = 6, 12
    messages: list[Message] = [
        (g % nodes, (g + 1) % nodes, 1, [4], 7 if g else 0, [g - 1] if g else []) for g in range(turns)
    ]
    found = both(torus_wiring(nodes), Router(2, 8), Routes(nodes).arrays, waiting(nodes, [messages]), cycles=1000)
    assert found.delivered.max() == turns * (2 + 4) + (turns - 1) * 7
    assert found.flits.sum() == turns * 4


def test_a_ring_all_reduce_takes_its_steps() -> None:
    """2 (N − 1) steps, each of all nodes at once over a channel of its own: no contention, so every step takes 2 + L
    cycles."""
    nodes, flits = 5, 8
    steps = 2 * (nodes - 1)
    messages: list[Message] = []
    for step in range(steps):
        messages += [
            (s, (s + 1) % nodes, 1, [flits], 0, [(step - 1) * nodes + (s - 1) % nodes] if step else [])
            for s in range(nodes)
        ]
    found = both(torus_wiring(nodes), Router(2, 8), Routes(nodes).arrays, waiting(nodes, [messages]), cycles=1000)
    assert found.delivered.max() == steps * (2 + flits)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10**6), st.sampled_from(["messages", "queue"]))
def test_like_plain_python_on_random_networks(seed: int, what: str) -> None:
    wiring, router, routes, packets = random_case(seed)
    if what == "messages":
        packets = with_messages(seed, len(wiring.to), packets)
    else:
        router = router._replace(source_queue=seed % 3)
    found = both(wiring, router, routes, packets, cycles=400, stall=1000)
    begin = message = 0
    for experiment in range(2):
        plain = Network(wiring, router, routes, packets, experiment)
        assert found.ran[experiment] == plain.run(400)
        own = slice(begin, begin := begin + len(plain.packets))
        assert found.entered[own].tolist() == [
            REFUSED if packet in plain.gone else packet.entered for packet in plain.packets
        ]
        assert found.delivered[own].tolist() == [packet.delivered for packet in plain.packets]
        assert found.generated[message : (message := message + len(plain.messages))].tolist() == [
            one.generated for one in plain.messages
        ]
    assert message == len(found.generated)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_deadlock_is_told_from_waiting_for_messages(seed: int) -> None:
    """Searched for in every cycle: what waits for a delivery is in nobody's way; all arrives unless packets wait for
    each other in the network."""
    wiring, router, routes, packets = random_case(seed)
    packets = with_messages(seed, len(wiring.to), packets)
    found = both(wiring, router, routes, packets, cycles=3000, stall=1)
    for experiment in range(2):
        own = slice(packets.first[experiment, 0], packets.first[experiment, -1])
        assert (found.delivered[own] >= 0).all() == (found.stalled[experiment] < 0)


def test_without_waits_messages_are_packets_of_cycle_0() -> None:
    routes, wiring, router = Routes(4, 4), torus_wiring(4, 4), Router(2, 4)
    packets = uniform(routes, 1.0, 60, 5, [3])._replace()
    packets = packets._replace(time=np.zeros_like(packets.time))
    number = len(packets.time)
    each = Messages(
        np.array([0, number]),
        np.arange(number),
        np.ones(number, np.int32),
        np.zeros(number, np.int32),
        np.zeros(number + 1, int),
        np.zeros(0, int),
    )
    one = simulate(wiring, router, *routes.arrays, packets, cycles=3000, backend="numba")
    other = simulate(wiring, router, *routes.arrays, packets._replace(messages=each), cycles=3000, backend="numba")
    assert not other.generated.any()
    assert (one.delivered >= 0).all()
    for name in ("entered", "delivered", "flits", "occupancy", "ran"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


# --- a source queue with an end -----------------------------------------------------------------


def test_a_full_source_queue_refuses() -> None:
    """Node 0 generates packets of 4 flits in 0, 0, 1, 2, 4; one injection VC, a queue of one.

    In 0 the first goes to the VC, the second to the queue; those of 1 and 2 find it full. The first one's tail is sent
    in 3, so in 4 the second goes to the VC and the fifth to the queue; it follows in 8.
    """
    wiring, routes = line(3, 1)
    packets = batch(6, [[(t, 0, 1, 1, 4) for t in (0, 0, 1, 2, 4)]])
    found = both(wiring, Router(1, 8, source_queue=1), routes, packets, cycles=100)
    assert found.entered.tolist() == [0, 4, REFUSED, REFUSED, 8]
    assert found.delivered.tolist() == [6, 10, -1, -1, 14]
    assert found.flits.sum() == 12


def test_a_queue_of_none_takes_what_an_injection_vc_takes_at_once() -> None:
    wiring, routes = line(3, 2)
    packets = batch(6, [[(t, 0, 1, 1, 4) for t in (0, 0, 0, 20)]])
    found = both(wiring, Router(2, 8, source_queue=0), routes, packets, cycles=100)
    assert (found.entered == REFUSED).tolist() == [False, False, True, False]


def test_a_long_queue_refuses_nobody() -> None:
    routes, wiring = Routes(4, 4), torus_wiring(4, 4)
    packets = uniform(routes, 2.0, 200, 5, [3])
    one, other = (
        simulate(wiring, Router(2, 4, source_queue=room), *routes.arrays, packets, cycles=5000)
        for room in (None, 10**6)
    )
    assert (one.delivered >= 0).all()
    assert np.array_equal(one.delivered, other.delivered)


# --- what is told and refused -------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_memory_is_told_before_it_is_taken(seed: int) -> None:
    wiring, router, routes, packets = random_case(seed)
    packets = with_messages(seed, len(wiring.to), packets)
    for experiment in checked(wiring, router, *routes, packets, 10, 0, 10, None).experiments:
        held = state_of(checked(wiring, router, *routes, packets, 10, 0, 10, None), experiment)
        assert experiment.messages is not None
        sizes = {"messages": len(experiment.messages.begin), "waits": len(experiment.messages.successor)}
        told = state_bytes(
            wiring,
            router,
            packets=experiment.end - experiment.begin,
            runs=routes[1].shape[1],
            shortest=experiment.shortest,
            **sizes,
        )
        assert told == sum(array.nbytes for array in held)


GOOD = waiting(8, [[(0, 1, 1, [3], 0, []), (1, 2, 1, [3, 2], 0, [0]), (1, 1, 0, [], 0, [1])]])
assert GOOD.messages is not None
REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "backwards": ({"after": [0, 0, 1, 1], "successor": [0]}, "messages that wait for earlier ones"),
    "itself": ({"after": [0, 1, 1, 1], "successor": [0]}, "messages that wait for earlier ones"),
    "beyond": ({"after": [0, 1, 1, 1], "successor": [3]}, "messages that wait for earlier ones"),
    "twice": ({"begin": [0, 0, 0]}, "each packet in one message, got one in none or several"),
    "in none": ({"packets": [1, 1, 0]}, "each packet in one message"),
    "two nodes": ({"begin": [0, 0, 0], "packets": [3, 0, 0]}, "messages of one node's packets"),
    "delay": ({"delay": [0, -1, 0]}, "delay of messages of 0 …"),
    "after": ({"after": [0, 2, 1, 2]}, "after of messages that rises from 0 to 2"),
    "first": ({"first": [0, 2]}, "first of messages that rises from 0 to 3"),
    "lengths": ({"delay": [0, 0]}, r"delay of messages of shape \[3\]"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSALS)
def test_refused(name: str) -> None:
    changes, words = REFUSALS[name]
    wiring, routes = line(4, 1)
    assert GOOD.messages is not None
    messages = GOOD.messages._replace(**{key: np.array(value) for key, value in changes.items()})
    with pytest.raises(ValueError, match=words) as refusal:
        simulate(wiring, Router(1, 8), *routes, GOOD._replace(messages=messages), cycles=10)
    assert "\n" not in str(refusal.value)


def test_refused_beside_messages() -> None:
    wiring, routes = line(4, 1)
    with pytest.raises(ValueError, match="time 0 of packets that belong to messages"):
        simulate(wiring, Router(1, 8), *routes, GOOD._replace(time=np.full(3, 1)), cycles=10)
    with pytest.raises(ValueError, match="no source_queue with messages"):
        simulate(wiring, Router(1, 8, source_queue=3), *routes, GOOD, cycles=10)
    with pytest.raises(ValueError, match="source_queue ≥ 0"):
        simulate(wiring, Router(1, 8, source_queue=-1), *routes, batch(8, [[]]), cycles=10)
