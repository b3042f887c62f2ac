"""Bursts: the load is right in every cycle, and packets are correlated as in a two-state Markov chain."""

from __future__ import annotations

import numpy as np
import pytest
from torusweep.errors import BadInput
from torusweep.networks.families import build
from torusweep.questions.simulation.injection import canonical
from torusweep.questions.simulation.packets import Generator, Packets, one_length
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.record import simulation_records
from torusweep.traffic import traffic

TERMINALS = 4096


def draw_packets(
    injection: str,
    load: float,
    cycles: int,
    flits: int = 1,
    *,
    spelling: str = f"ring(k={TERMINALS})",
    pattern: str = "tornado",
    **options,
) -> Packets:
    topology = build(spelling)
    generator = Generator(
        topology,
        traffic(pattern, topology)[1],
        **{"lengths": one_length(flits), "seed": 3, "injection": injection, "backend": "numba", **options},
    )
    return generator.at_load(load, cycles)


def indicator(packets: Packets, cycles: int) -> np.ndarray:
    """bool[TERMINALS, cycles]: whether a packet is generated."""
    found = np.zeros((TERMINALS, cycles), np.int8)
    np.add.at(found, (packets.source, packets.time), 1)
    assert found.max() <= 1
    return found > 0


# mean burst, load in it, load, flits of a packet
CASES = [(20, 1.0, 0.3, 1), (20, 0.5, 0.1, 1), (5, 1.0, 0.8, 1), (50, 1.0, 0.25, 4), (1, 1.0, 0.5, 1)]


@pytest.mark.parametrize(("burst", "peak", "load", "flits"), CASES)
def test_packets_follow_the_markov_chain(burst, peak, load, flits):
    """P(packet) = load/flits; P(packets d cycles apart) = p² ρ (ρ + (1 − ρ) λ^d).

    p = peak/flits, ρ = load/peak, λ = 1 − α − β.
    """
    cycles = 200
    there = indicator(draw_packets(f"bursts(cycles={burst}, peak={peak})", load, cycles, flits), cycles)
    rate, on = load / flits, load / peak
    beta = 1 / burst
    alpha = beta * on / (1 - on)
    by_cycle = there.mean(axis=0)
    assert (abs(by_cycle - rate) < 5 * np.sqrt(rate * (1 - rate) / TERMINALS)).all()
    each = there.mean(axis=1)
    assert abs(each.mean() - rate) < 5 * each.std() / np.sqrt(TERMINALS) + 1e-12
    for apart in (1, 2, 7, 30, 100):
        expected = (peak / flits) ** 2 * on * (on + (1 - on) * (1 - alpha - beta) ** apart)
        pairs = (there[:, apart:] & there[:, :-apart]).mean(axis=1)  # of independent terminals
        assert abs(pairs.mean() - expected) < 5 * pairs.std() / np.sqrt(TERMINALS) + 1e-12, apart


def test_always_on_is_bernoulli_or_every_cycle():
    assert indicator(draw_packets("bursts(cycles=10)", 1.0, 50), 50).all()
    calm = indicator(draw_packets("bursts(cycles=10, peak=0.25)", 0.25, 400), 400)
    assert abs(calm.mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / calm.size)
    both = (calm[:, 1:] & calm[:, :-1]).mean()
    assert abs(both - 1 / 16) < 5 * np.sqrt(1 / 16 / calm.size) * 2


def test_sources_with_different_loads(tmp_path):
    """Terminal i of four sends (i + 1)/10 of the packets; the counts' standard deviation is that of 400 seeds."""
    path = tmp_path / "demand.csv"
    path.write_text("source,destination,demand\n" + "".join(f"{i},{(i + 1) % 4},{i + 1}\n" for i in range(4)))
    counts = np.stack(
        [
            np.diff(
                draw_packets(
                    "bursts(cycles=10)", 0.4, 500, 2, spelling="ring(k=4)", pattern=f'demand(path="{path}")', seed=seed
                ).first
            )
            for seed in range(400)
        ]
    )
    expected = 0.4 / 2 * 500 * 4 * np.array([0.1, 0.2, 0.3, 0.4])
    assert (abs(counts.mean(axis=0) - expected) < 5 * counts.std(axis=0) / 20).all()


def test_packets_depend_neither_on_length_nor_on_load():
    short, long = (draw_packets("bursts(cycles=20)", 0.3, cycles, 2) for cycles in (300, 2000))
    early = long.time < 300
    for name in ("time", "number", "source", "destination"):
        np.testing.assert_array_equal(getattr(short, name), getattr(long, name)[early])
    low, high = (draw_packets("bursts(cycles=20)", load, 1000, 2) for load in (0.1, 0.4))
    later = dict(zip(high.number.tolist(), high.time.tolist()))
    assert all(later[number] <= time for number, time in zip(low.number.tolist(), low.time.tolist()))


def test_backends_draw_the_same():
    one, other = (draw_packets("bursts(cycles=20)", 0.3, 200, backend=backend) for backend in ("numba", "numpy"))
    for name in ("time", "number", "destination"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.parametrize(
    ("injection", "load", "says"),
    [
        (
            "bursts(cycles=9)",
            0.95,
            "expected at most 0.9 of a terminal, which pauses at least a cycle between bursts, got 0.95",
        ),
        ("bursts(cycles=9)", 1.5, "expected at most 0.9"),
        ("bursts(peak=0)", 0.1, "peak=0: expected a load above 0"),
        ("bursts(peak=8)", 0.1, "peak=8: expected at most a packet a cycle, 4 flits"),
        ("bursts(cycles=0.5)", 0.1, "cycles=0.5: expected 1"),
        ("bursts(length=3)", 0.1, "unknown parameter 'length'"),
    ],
)
def test_refused(injection, load, says):
    with pytest.raises(BadInput) as refusal:
        draw_packets(injection, load, 100, 4)
    assert says in str(refusal.value)


def test_spellings_are_canonical():
    assert canonical("bursts(peak=1, cycles=50)") == "bursts(cycles=50)"
    assert canonical("poisson") == "poisson"


def test_saturation_is_limited_to_the_loads_of_bursts():
    """Two nodes, whose channels never saturate: the highest load of the process, peak · cycles / (cycles + 1) = 3/7."""
    parameters = Parameters(injection="bursts(cycles=6, peak=0.5)", cycles=2000)
    (row,) = simulation_records(build("hypercube(n=1)"), parameters, precision=0.1)
    assert row["simulated_saturation"] == pytest.approx(3 / 7)
