"""How often the simulator's 95 % confidence intervals hold the true mean: the table in docs/simulation.md.

    python -m benchmarks.intervals                       # some five minutes on one core
    python -m benchmarks.intervals --seeds 1000 --only ring

Each cell is a network at a share of the load that it accepts. Every seed makes one interval, with a detected warm-up.
The true mean is that of long runs of other seeds with a given warm-up, as plain sums over their packets. Printed are:
the share of the seeds whose latency has an interval, the share of these that hold the true mean, their bias in half
widths, and their median half width; coverage and bias of the accepted load.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from torusweep.networks.families import build
from torusweep.networks.topology import Topology
from torusweep.questions.simulation.parameters import Parameters
from torusweep.questions.simulation.runs import Experiment, run
from torusweep.questions.simulation.setup import set_up
from torusweep.questions.simulation.statistics import MIN_ACCEPTED, Run, figures

# network → saturation found in two runs of 30,000 cycles, of which it accepts MIN_ACCEPTED in the long run
SATURATION = {
    "ring(k=8)": 0.448,
    "torus(k=4, n=2)": 0.696,
    "mesh(k=4, n=2)": 0.658,
    "hypercube(n=4)": 0.821,
    "fat_tree(k=4, n=2)": 0.872,
    "dragonfly(a=2, p=2, h=1)": 0.374,
}
CELLS = ((0.5, 10_000, 1), (0.8, 10_000, 1), (0.9, 10_000, 1), (0.95, 10_000, 1), (0.95, 40_000, 4))
LONG, LONG_WARM_UP, LONG_SEEDS, FIRST_LONG_SEED = 40_000, 8_000, 24, 100_000
TOGETHER = 20  # runs of a call


def runs_of(topology: Topology, load: float, seeds: range, cycles: int, warm_up: int | None) -> Iterator[Run]:
    """Yield the run of each seed; a few are simulated together, to limit memory."""
    setup = set_up(topology, Parameters(cycles=cycles, warm_up=warm_up).canonical())
    for first in range(seeds.start, seeds.stop, TOGETHER):
        some = range(first, min(first + TOGETHER, seeds.stop))
        yield from (outcome.run for outcome in run(setup, [Experiment(load, seed) for seed in some]))


def truth_of(topology: Topology, load: float) -> tuple[float, float]:
    """Return (mean total latency, accepted load) of long runs."""
    latency = packets = flits = 0
    for one in runs_of(topology, load, range(FIRST_LONG_SEED, FIRST_LONG_SEED + LONG_SEEDS), LONG, LONG_WARM_UP):
        late = (one.delivered >= LONG_WARM_UP) & (one.delivered < one.end)
        latency += int((one.delivered - one.time)[late].sum())
        packets += int(late.sum())
        flits += int(one.flits[late].sum()) + int(one.local_flits[one.local >= LONG_WARM_UP].sum())
    return latency / packets, flits / (LONG_SEEDS * (LONG - LONG_WARM_UP) * len(topology.terminals))


def covered(estimates: list[tuple[float, float]], truth: float) -> tuple[float, float, float]:
    """Return (share that holds the truth, bias in mean half widths, median half width). estimates: mean, half width."""
    mean, width = np.array(estimates).T
    inside = float((np.abs(mean - truth) <= width).mean())
    return inside, float((mean.mean() - truth) / width.mean()), float(np.median(width))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200, help="seeds of a cell")
    parser.add_argument("--only", default="", help="networks whose spelling begins with this")
    options = parser.parse_args()
    for network, saturation in SATURATION.items():
        if not network.startswith(options.only):
            continue
        topology = build(network)
        for share, cycles, fewer in CELLS:
            load = round(share * MIN_ACCEPTED * saturation, 4)
            if fewer == 1:
                latency, accepted = truth_of(topology, load)
            found = [
                figures([one]) for one in runs_of(topology, load, range(1, 1 + options.seeds // fewer), cycles, None)
            ]
            given = [(one.total.mean, one.total.half_width) for one in found if one.total.half_width is not None]
            held, bias, width = covered(given, latency) if given else (np.nan, np.nan, np.nan)
            loads = covered([(one.accepted.mean, one.accepted.half_width) for one in found], accepted)
            print(
                f"| `{network}` | {share} | {cycles:,} | {latency:.1f} | {100 * len(given) / len(found):.0f} % |"
                f" {100 * held:.1f} % | {bias:+.2f} | {100 * width / latency:.0f} % | {100 * loads[0]:.1f} % |"
                f" {loads[1]:+.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
