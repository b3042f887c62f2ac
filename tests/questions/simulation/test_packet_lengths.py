"""Mixes of packet lengths: their spelling, their frequencies, and a queue with a closed form."""

from __future__ import annotations

import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.simulation.packets import Generator, canonical, lengths_of, one_length
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.presets import PRESETS, Preset
from torusweep.questions.simulation.record import simulation_records
from torusweep.traffic import traffic


def simulate(spelling: str, loads, seeds=(1,), **inputs):
    return simulation_records(build(spelling), Parameters(**inputs), loads=loads, seeds=seeds)


def test_spellings():
    assert canonical("5:1, 1:3") == "1:0.75,5:0.25"
    assert canonical("1:0.5,5:0.5") == "1:0.5,5:0.5"
    assert lengths_of("16:2").flits == (16,)
    assert lengths_of("1:1,2:1,9:2").mean == 1 * 0.25 + 2 * 0.25 + 9 * 0.5


@pytest.mark.parametrize(
    "mix",
    [
        "",
        "5",
        "5:",
        ":1",
        "0:1",
        "5:0",
        "5:-1",
        "5:nan",
        "5:inf",
        "1:1,1:2",
        "99999:1",
        "1.5:1",
        "١:1",
        "1:1,,2:1",
        "a:b",
    ],
)
def test_wrong_mixes_are_refused_in_one_line(mix):
    with pytest.raises(BadInput, match=r"packet_mix=.*expected .*, got .*; write it like 1:0\.5,5:0\.5") as refusal:
        lengths_of(mix)
    assert "\n" not in str(refusal.value)


def test_a_mix_is_neither_for_one_length_nor_for_workloads():
    with pytest.raises(BadInput, match="packet_flits=4: expected none beside packet_mix"):
        simulate("ring(k=4)", [0.1], packet_flits=4, packet_mix="1:1,5:1")
    with pytest.raises(BadInput, match="packet_mix=1:1: expected without a workload"):
        simulation_records(build("ring(k=4)"), Parameters(workload="cg", packet_mix="1:1"), loads=(), seeds=(1,))


@pytest.mark.parametrize("pattern", ["uniform", "tornado"])
def test_lengths_occur_with_their_shares(pattern):
    """Binomial counts, five standard deviations; the mean load is that which is requested."""
    topology, cycles, load = build("torus(k=4, n=2)"), 20_000, 0.4
    mix = lengths_of("1:0.6,4:0.1,12:0.3")
    generator = Generator(topology, traffic(pattern, topology)[1], lengths=mix, seed=5, backend="numba")
    packets = generator.at_load(load, cycles)
    length = np.concatenate([packets.length, packets.local_length])
    for flits, share in zip((1, 4, 12), (0.6, 0.1, 0.3)):
        count = int((length == flits).sum())
        assert abs(count - share * len(length)) < 5 * np.sqrt(len(length) * share * (1 - share))
    assert length.sum() / (16 * cycles) == pytest.approx(load, rel=0.03)


def test_a_mix_of_one_length_is_that_length():
    rows = [
        simulate("torus(k=4, n=2)", [0.1, 0.3], seeds=(1, 2), cycles=3000, **lengths)
        for lengths in ({"packet_flits": 6}, {"packet_mix": "6:1"})
    ]
    for one, mixed in zip(*rows):
        assert {**mixed, "packet_mix": None} == one
        assert mixed["packet_mix"] == "6:1"


def test_backends_draw_the_same():
    number = np.arange(10_000, dtype=np.int64)
    mix = lengths_of("1:0.5,2:0.25,300:0.25")
    assert np.array_equal(mix.draw(number, 3, "numpy"), mix.draw(number, 3, "numba"))
    assert (one_length(7).draw(number, 3) == 7).all()


def test_a_packet_keeps_its_length_at_another_load():
    topology = build("ring(k=8)")
    generator = Generator(topology, traffic("tornado", topology)[1], lengths=lengths_of("1:1,8:1"), seed=2)
    few, many = generator.at_load(0.1, 500), generator.at_load(0.5, 500)
    known = dict(zip(many.number.tolist(), many.length.tolist()))
    assert len(few.number) > 50
    assert [known[number] for number in few.number.tolist()] == few.length.tolist()


@pytest.mark.parametrize(("mix", "load"), [("1:0.5,9:0.5", 0.6), ("1:0.8,21:0.2", 0.5), ("5:1", 0.6)])
def test_a_source_queue_of_mixed_packets_waits_as_a_geo_g_1_queue(monkeypatch, mix, load):
    """Two nodes, one virtual channel, no delay between packets: a packet of L flits is served for L cycles.

    Mean wait of Geo/G/1 with arrivals of probability p: p E[L(L − 1)] / (2 (1 − p E[L])). Then H + 1 = 2 switches, a
    channel and L − 1 more flits.
    """
    monkeypatch.setitem(
        PRESETS, "one queue", Preset("virtual-cut-through", 1, 64, 16, 0, 0, 1, 1, "dimension_order", "none")
    )
    (row,) = simulate(
        "mesh(k=2, n=1)",
        [load],
        seeds=(1, 2, 3),
        router="one queue",
        traffic="uniform_other",
        packet_mix=mix,
        cycles=400_000,
        warm_up=2000,
    )
    lengths = lengths_of(mix)
    flits, shares = np.array(lengths.flits), np.array(lengths.shares)
    p = load / lengths.mean
    wait = p * (shares * flits * (flits - 1)).sum() / (2 * (1 - load))
    assert row["total_latency"] == pytest.approx(wait + 2 + lengths.mean, abs=2 * row["total_latency_error"])
    assert row["total_latency_error"] < 0.02 * row["total_latency"]
