"""Injection processes: the times at which terminals generate packets.

The random numbers of packet k of a terminal have the counter (terminal, k), and those of burst b have (terminal, b).
They depend neither on the length of the run nor on other terminals. At another load, the same random numbers give
the same packets at other times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np
from torusweep_kernels.philox import unit
from torusweep_kernels.philox.draws import packet_words

from torusweep.errors import BadInput
from torusweep.networks.signature import resolve
from torusweep.networks.topology import Topology, Whole

GAPS, BURSTS = 8, 13  # streams of random numbers (torusweep_kernels.philox.draws)
BLOCK = 1 << 20  # gaps drawn at a time
NUMBER_BITS = 32  # bits of a packet's number within its terminal


class Process(NamedTuple):
    """An injection process.

    exponential  True: exponential gaps, so a cycle may have several packets; False: geometric gaps, at most one packet
    burst        mean duration of a burst, in cycles; None if the source is always on
    peak         load during a burst, flits per cycle
    """

    exponential: bool = False
    burst: float | None = None
    peak: float = 1.0


def bernoulli(topology: Topology) -> Process:
    """Every cycle has a packet with the same probability."""
    return Process()


def poisson(topology: Topology) -> Process:
    """Gaps between packets are exponential; a cycle may have several packets."""
    return Process(exponential=True)


def bursts(
    topology: Topology,
    cycles: Annotated[float, Whole(1, "mean length of a burst, in cycles", 10**9)] = 100,
    peak: Annotated[float, Whole(0, "flits per cycle per terminal in a burst", 1 << 14)] = 1,
) -> Process:
    """Bursts and pauses alternate by a two-state Markov chain; a cycle of a burst has a packet with fixed probability.

    The load during a burst is `peak`. The mean pause follows from the requested load.
    Source: Jain & Routhier 1986 in its two-state form, as BookSim2's on_off injection.
    """
    if not peak > 0:
        raise BadInput(f"injection bursts: peak={peak:g}: expected a load above 0; choose 1, a flit a cycle")
    return Process(burst=cycles, peak=peak)


INJECTIONS: dict[str, Callable[..., Process]] = {process.__name__: process for process in (bernoulli, poisson, bursts)}


def canonical(spelling: str) -> str:
    """Return the canonical spelling of an injection process. Raises BadInput if its name or a parameter is wrong."""
    return _resolve(spelling)[0]


def process_of(spelling: str, topology: Topology) -> Process:
    """Return the injection process that a spelling names. Raises BadInput if the name or a parameter is wrong."""
    _, process, values = _resolve(spelling)
    return process(topology, **values)


def _resolve(spelling: str) -> tuple[str, Callable[..., Process], dict[str, Any]]:
    return resolve(spelling, INJECTIONS, kind="injection", example="bernoulli or bursts(cycles=100, peak=1)")


class ArrivalTimes:
    """A generator of the times at which terminals generate packets.

    process   the injection process
    flits     mean length of a packet
    seed      0 … 2⁶⁴ − 1
    """

    def __init__(self, process: Process, flits: float, seed: int, backend: str) -> None:
        self.process, self.flits, self.seed, self.backend = process, flits, seed, backend

    def check(self, rate: np.ndarray, load: float) -> None:
        """Raise BadInput if the process or a node cannot sustain a rate, float64[T] in packets per cycle.

        load   flits per cycle per terminal, for the error's text
        """
        highest, process = rate.max(initial=0.0), self.process
        if process.burst is not None:
            share, longest = self.share(rate), np.round(process.burst / (process.burst + 1), 12)
            if process.peak > self.flits:
                raise BadInput(
                    f"injection bursts: peak={process.peak:g}: expected at most a packet a cycle, {self.flits:g} flits;"
                    " choose a lower peak"
                )
            short = (share > longest) & (share != 1)
            if short.any():
                raise BadInput(
                    f"load={load:g}: expected at most {self.max_load:.4g} of a terminal, which pauses at least a"
                    f" cycle between bursts, got {share[short].max() * process.peak:.4g};"
                    " choose a lower load, longer bursts or a higher peak"
                )
        elif highest > 1:
            raise BadInput(
                f"load={load:g}: expected at most a packet per cycle per terminal, got {highest:.4g} at the busiest;"
                " choose a lower load or longer packets"
            )

    @property
    def max_load(self) -> float:
        """Highest load that a terminal can generate, in flits per cycle."""
        burst = self.process.burst
        if burst is not None:
            return self.process.peak * burst / (burst + 1)
        return float(self.flits)

    def share(self, rate: np.ndarray) -> np.ndarray:
        """Return the share of time for which each terminal is on, float64[T]. rate: as in `check`."""
        return np.round(rate * self.flits / self.process.peak, 12)

    def times(self, rate: np.ndarray, cycles: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the terminal, number k and time of every packet, int64, by blocks of terminals. rate: as in `check`."""
        sending = np.flatnonzero(rate > 0)
        if not sending.size:
            yield (np.zeros(0, np.int64),) * 3
            return
        mean = float(rate.max()) * cycles
        # the busiest terminal exceeds this with a probability of 10⁻⁹ (higher with bursts); the loop then draws again
        count = int(mean + 6 * np.sqrt(mean)) + 8
        size = max(1, BLOCK // max(count, 0 if self.process.burst is None else int(cycles / self.process.burst)))
        for begin in range(0, len(sending), size):
            terminal = sending[begin : begin + size]
            bursts = None if self.process.burst is None else _Bursts(self, terminal, rate[terminal], cycles)
            row, k, last = np.arange(len(terminal)), 0, np.zeros(len(terminal))
            pace = rate[terminal] if bursts is None else np.full(len(terminal), self.process.peak / self.flits)
            while row.size:
                clock = self._next_times(last, terminal[row], pace[row], np.arange(k, k + count))
                time = clock if bursts is None else bursts.time(row, clock)
                at, which = np.nonzero(time < cycles)
                yield terminal[row[at]], k + which, time[at, which].astype(np.int64)
                going = time[:, -1] < cycles
                row, last, k = row[going], clock[going, -1], k + count

    def words(self, terminal: np.ndarray, number: np.ndarray, purpose: int, stream: int) -> np.ndarray:
        """Return random words, uint32[4, B, K], for K numbers, int64[K], of each of B terminals."""
        counter = (terminal[:, None] << NUMBER_BITS | number).reshape(-1)
        words = packet_words(counter, purpose, stream, self.seed, backend=self.backend)
        return words.reshape(4, len(terminal), len(number))

    def _next_times(self, last: np.ndarray, terminal: np.ndarray, rate: np.ndarray, k: np.ndarray) -> np.ndarray:
        """Return the times of packets k of each terminal, float64[B, K]. last: time of the packet before k[0], or 0."""
        words = self.words(terminal, k, 0, GAPS)
        log = np.log1p(-unit(words[0], words[1]))  # ≤ 0
        if self.process.exponential:
            gap = -log / rate[:, None]
        else:
            gap = _geometric(log, rate[:, None])
            if k[0] == 0:
                gap[:, 0] -= 1  # the first packet may come in cycle 0
        gap[:, 0] += last
        return np.cumsum(gap, axis=1)


class _Bursts:
    """The bursts of B terminals. They convert clocks that count only cycles within bursts to true cycles.

    A source is on in cycle 0 with probability `share`, as in every cycle. Bursts and pauses then alternate.
    """

    def __init__(self, arrivals: ArrivalTimes, terminal: np.ndarray, rate: np.ndarray, cycles: int) -> None:
        burst, share = float(arrivals.process.burst or 1), arrivals.share(rate)
        self.cycles = cycles
        pause = burst * (1 - share) / share
        mean = cycles / float((burst + pause).min())
        count = int(mean + 6 * np.sqrt(mean)) + 8
        on, off = np.zeros((len(terminal), 0)), np.zeros((len(terminal), 0))
        while on.shape[1] == 0 or ((on + off).sum(axis=1) < cycles).any():
            number = np.arange(on.shape[1], on.shape[1] + count)
            words = arrivals.words(terminal, number, 0, BURSTS)
            durations, pauses = (np.log1p(-unit(words[i], words[i + 1])) for i in (0, 2))
            before = np.where(pause[:, None] > 0, _geometric(pauses, 1 / np.maximum(pause, 1)[:, None]), 0)
            if number[0] == 0:
                start = arrivals.words(terminal, number[:1], 1, BURSTS)
                before[unit(start[0], start[1])[:, 0] < share, 0] = 0
            on, off = np.hstack([on, _geometric(durations, 1 / burst)]), np.hstack([off, before])
        self.on, self.off = np.cumsum(on, axis=1), np.cumsum(off, axis=1)  # up to the end of each burst

    def time(self, row: np.ndarray, clock: np.ndarray) -> np.ndarray:
        """Convert clocks, float64[B', K], of terminals `row`, int64[B'], to true cycles, at most `cycles`."""
        found = np.full(clock.shape, float(self.cycles))
        for i, r in enumerate(row.tolist()):
            burst = np.searchsorted(self.on[r], clock[i], side="right")
            known = burst < self.on.shape[1]
            found[i, known] = clock[i, known] + self.off[r, burst[known]]
        return found


def _geometric(log: np.ndarray, probability: np.ndarray | float) -> np.ndarray:
    """Return the number of trials 1, 2, … up to the first success, float64, from logarithms of uniform numbers."""
    with np.errstate(divide="ignore", over="ignore"):
        return np.floor(log / np.log1p(-probability)) + 1  # a probability of 1 gives 1
