"""Answers to the question `latency`: of one network, of several at equal cost, of cubes of every dimension."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console

from torusweep.models.columns import LATENCY
from torusweep.models.text import cost_in_words, print_comparison, print_cubes, print_latency, verdict
from torusweep.questions.answer import Record, Records, Row


@dataclass(frozen=True, repr=False)
class Latency(Record):
    """Parhami & Kwai's model of one network: a row of the table `latency`; limits: what limits its numbers."""

    limits: Sequence[str] = field(kw_only=True)
    columns = LATENCY
    key = ("topology", "model")
    main = (
        *("message_bits", "rate", "constant", "budget", "placement", "width", "pins", "mean_distance"),
        *("uncontended_latency", "mean_latency", "mean_latency_corrected", "saturation_rate"),
        *("saturation_rate_corrected", "saturation_bits", "saturation_bits_corrected"),
    )

    def print(self, console: Console, computed_by: str) -> None:
        print_latency(console, self.record, self.limits)


@dataclass(frozen=True, repr=False, eq=False)
class Latencies(Records):
    """Networks at equal cost, in the order given: rows of the table `latency`; limits: what limits their numbers."""

    limits: Sequence[str] = field(kw_only=True)
    columns = LATENCY
    main = (
        *("topology", "width", "pins", "mean_distance", "uncontended_latency", "mean_latency"),
        *("mean_latency_corrected", "saturation_bits", "saturation_bits_corrected"),
    )

    @property
    def verdict(self) -> str:
        """Which network is best at equal cost, and by how much."""
        return verdict(self.rows)

    def heading(self) -> str:
        return f"at equal cost: {cost_in_words(self.rows)}\n{self.verdict}"

    def print(self, console: Console, computed_by: str) -> None:
        print_comparison(console, self.rows, self.limits)


@dataclass(frozen=True, repr=False, eq=False)
class Cubes(Records):
    """Dally's model: the cubes of every dimension, rows of the table `latency`.

    cube  of the dimension that was asked for, else the best
    """

    cube: Row = field(kw_only=True)
    columns = LATENCY
    main = (
        *("dimension", "radix", "width", "pins", "longest_wire", "longest_wire_corrected", "mean_distance"),
        *("mean_latency", "mean_latency_corrected"),
    )

    @property
    def json(self) -> Row:  # type: ignore[override]  # one of the rows
        return self.cube

    def heading(self) -> str:
        cube = self.cube
        return (
            f"{cube['nodes']:,} nodes, {cube['message_bits']:g}-bit messages, {cube['wire_delay']} wire delay:"
            f" dimension {cube['dimension']}, best {cube['best_dimension']}, {cube['mean_latency']:.6g} cycles"
        )

    def print(self, console: Console, computed_by: str) -> None:
        print_cubes(console, self.cube, self.rows)
