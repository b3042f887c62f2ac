"""When terminals generate packets: processes in a table, spelled as patterns are, and their draws by counter.

The k-th packet of a terminal is drawn by (terminal, k), a burst by (terminal, its number): neither the length of the run nor other
terminals change them, and at another load the same draws give the same packets, earlier or later.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, NamedTuple

import numpy as np
from torusweep_kernels.philox.draws import packet_words

from torusweep.errors import BadInput
from torusweep.networks.naming import resolve
from torusweep.networks.topology import Topology, Whole
from torusweep.stages.simulation.destinations import unit

GAPS, BURSTS = 8, 13  # streams of draws (torusweep_kernels.philox.draws)
BLOCK = 1 << 20  # gaps that are drawn at a time
NUMBERED = 32  # bits of a packet's number within its terminal


class Process(NamedTuple):
    """When packets are generated.

    exponential  gaps are exponential, so that several packets may fall in a cycle; else a packet comes in every cycle with the same probability
    burst        mean length in cycles of the times in which the source is on; None: it always is
    peak         load while it is on, flits per cycle
    """

    exponential: bool = False
    burst: float | None = None
    peak: float = 1.0


def bernoulli(topology: Topology) -> Process:
    """In every cycle with the same probability."""
    return Process()


def poisson(topology: Topology) -> Process:
    """Exponential gaps, possibly several packets in a cycle."""
    return Process(exponential=True)


def bursts(
    topology: Topology,
    cycles: Annotated[float, Whole(1, "mean length of a burst, in cycles", 10**9)] = 100,
    peak: Annotated[float, Whole(0, "flits per cycle and terminal in a burst", 1 << 14)] = 1,
) -> Process:
    """On and off by a Markov chain: on for so many cycles in the mean, a packet in each of these with the same probability, so that the load is
    `peak` then; off for as long as the load asked for wants it.

    Source: Jain & Routhier 1986 in its two-state form, as BookSim2's on_off injection.
    """
    if not peak > 0:
        raise BadInput(f"injection bursts: peak={peak:g}: expected a load above 0; choose 1, a flit a cycle")
    return Process(burst=cycles, peak=peak)


INJECTIONS: dict[str, Callable[..., Process]] = {process.__name__: process for process in (bernoulli, poisson, bursts)}


def canonical(spelling: str) -> str:
    """The canonical spelling of a process. Raises BadInput where name or parameters are wrong."""
    return _bound(spelling)[0]


def process_of(spelling: str, topology: Topology) -> Process:
    """Raises BadInput where name or parameters are wrong."""
    _, made, values = _bound(spelling)
    return made(topology, **values)


def _bound(spelling: str) -> tuple[str, Callable[..., Process], dict]:
    return resolve(spelling, INJECTIONS, kind="injection", example="bernoulli or bursts(cycles=100, peak=1)")


class Arrivals:
    """Draws of when packets come.

    process   when
    flits     of a packet
    seed      0 … 2⁶⁴ − 1
    """

    def __init__(self, process: Process, flits: int, seed: int, backend: str) -> None:
        self.process, self.flits, self.seed, self.backend = process, flits, seed, backend

    def check(self, rate: np.ndarray, load: float) -> None:
        """rate float64[T]: packets per cycle of each terminal. Raises BadInput for what the process cannot generate, or no node could send."""
        most, process = rate.max(initial=0.0), self.process
        if process.burst is not None:
            share, longest = self.share(rate), np.round(process.burst / (process.burst + 1), 12)
            if process.peak > self.flits:
                raise BadInput(
                    f"injection bursts: peak={process.peak:g}: expected at most a packet a cycle, {self.flits} flits; choose a lower peak"
                )
            short = (share > longest) & (share != 1)
            if short.any():
                raise BadInput(
                    f"load={load:g}: expected at most {self.most:.4g} of a terminal, which is off for a cycle at least between bursts,"
                    f" got {share[short].max() * process.peak:.4g}; choose a lower load, longer bursts or a higher peak"
                )
        elif most > 1:
            raise BadInput(
                f"load={load:g}: expected at most a packet per terminal and cycle, got {most:.4g} at the busiest;"
                " choose a lower load or longer packets"
            )

    @property
    def most(self) -> float:
        """Flits per cycle, up to which a terminal may generate any load."""
        burst = self.process.burst
        if burst is not None:
            return self.process.peak * burst / (burst + 1)
        return float(self.flits)

    def share(self, rate: np.ndarray) -> np.ndarray:
        """Of the time that each terminal is on."""
        return np.round(rate * self.flits / self.process.peak, 12)

    def times(self, rate: np.ndarray, cycles: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """(terminal, k, time) int64 of every packet before the end, block by block of terminals; rate as in `check`."""
        sending = np.flatnonzero(rate > 0)
        if not sending.size:
            yield (np.zeros(0, np.int64),) * 3
            return
        mean = float(rate.max()) * cycles
        many = (
            int(mean + 6 * np.sqrt(mean)) + 8
        )  # that the busiest generates, at most, but for one in 10⁹ (of bursts more)
        size = max(1, BLOCK // max(many, 0 if self.process.burst is None else int(cycles / self.process.burst)))
        for begin in range(0, len(sending), size):
            terminal = sending[begin : begin + size]
            on = None if self.process.burst is None else _On(self, terminal, rate[terminal], cycles)
            row, k, so_far = np.arange(len(terminal)), 0, np.zeros(len(terminal))
            pace = rate[terminal] if on is None else np.full(len(terminal), self.process.peak / self.flits)
            while row.size:
                clock = self._after(so_far, terminal[row], pace[row], np.arange(k, k + many))
                time = clock if on is None else on.time(row, clock)
                who, which = np.nonzero(time < cycles)
                yield terminal[row[who]], k + which, time[who, which].astype(np.int64)
                going = time[:, -1] < cycles
                row, so_far, k = row[going], clock[going, -1], k + many

    def words(self, terminal: np.ndarray, number: np.ndarray, purpose: int, stream: int) -> np.ndarray:
        """uint32[4, B, K]: draws for the numbers int64[K] of each of B terminals."""
        counter = (terminal[:, None] << NUMBERED | number).reshape(-1)
        return packet_words(counter, purpose, stream, self.seed, backend=self.backend).reshape(
            4, len(terminal), len(number)
        )

    def _after(self, so_far: np.ndarray, terminal: np.ndarray, rate: np.ndarray, k: np.ndarray) -> np.ndarray:
        """float64[B, K]: when packets k of each terminal are generated, the one before these at `so_far` (0: none)."""
        words = self.words(terminal, k, 0, GAPS)
        log = np.log1p(-unit(words[0], words[1]))  # ≤ 0
        if self.process.exponential:
            gap = -log / rate[:, None]
        else:
            gap = _geometric(log, rate[:, None])
            if k[0] == 0:
                gap[:, 0] -= 1  # the first may come in cycle 0
        gap[:, 0] += so_far
        return np.cumsum(gap, axis=1)


class _On:
    """When the sources of B terminals are on: from which of their cycles that are on to which true ones.

    With probability `share` a source is on in cycle 0, as in any other; then times on and off follow each other.
    """

    def __init__(self, arrivals: Arrivals, terminal: np.ndarray, rate: np.ndarray, cycles: int) -> None:
        burst, share = float(arrivals.process.burst or 1), arrivals.share(rate)
        self.cycles = cycles
        pause = burst * (1 - share) / share
        mean = cycles / float((burst + pause).min())
        many = int(mean + 6 * np.sqrt(mean)) + 8
        on, off = np.zeros((len(terminal), 0)), np.zeros((len(terminal), 0))
        while on.shape[1] == 0 or ((on + off).sum(axis=1) < cycles).any():
            number = np.arange(on.shape[1], on.shape[1] + many)
            words = arrivals.words(terminal, number, 0, BURSTS)
            lasts, waits = (np.log1p(-unit(words[i], words[i + 1])) for i in (0, 2))
            before = np.where(pause[:, None] > 0, _geometric(waits, 1 / np.maximum(pause, 1)[:, None]), 0)
            if number[0] == 0:
                start = arrivals.words(terminal, number[:1], 1, BURSTS)
                before[unit(start[0], start[1])[:, 0] < share, 0] = 0
            on, off = np.hstack([on, _geometric(lasts, 1 / burst)]), np.hstack([off, before])
        self.behind, self.before = np.cumsum(on, axis=1), np.cumsum(off, axis=1)

    def time(self, row: np.ndarray, clock: np.ndarray) -> np.ndarray:
        """float64[B', K] of the rows int64[B'] and their cycles on, float64[B', K]: the true cycles; `cycles` for what lies behind the end."""
        found = np.full(clock.shape, float(self.cycles))
        for i, r in enumerate(row.tolist()):
            burst = np.searchsorted(self.behind[r], clock[i], side="right")
            there = burst < self.behind.shape[1]
            found[i, there] = clock[i, there] + self.before[r, burst[there]]
        return found


def _geometric(log: np.ndarray, probability: np.ndarray | float) -> np.ndarray:
    """float64: trials until the first success, 1, 2, …; log of numbers in (0, 1] that are drawn evenly."""
    with np.errstate(divide="ignore"):
        return np.floor(log / np.log1p(-probability)) + 1  # a probability of 1 gives 1
