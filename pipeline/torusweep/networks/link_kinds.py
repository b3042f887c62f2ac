"""Bandwidths and latencies of single links as those of link classes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import NamedTuple, TypeVar

import numpy as np

from torusweep.errors import BadInput

WRITTEN = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?|[0-9]{1,12}/[0-9]{1,12}")  # a bandwidth as text
MOST_BANDWIDTH = 2**20  # flits a cycle
MOST_DENOMINATOR = 10**6  # of a bandwidth
MOST_LATENCY = 10_000  # cycles; the simulator remembers what is on its way for as long
MOST_CLASSES = 128  # they are stored as int8
Value = TypeVar("Value")


class LinkKinds(NamedTuple):
    """Links of equal class, bandwidth and latency as link classes.

    link_class             int8[L]
    classes                names, as of `Plan`
    bandwidths, latencies  as of `Plan`
    """

    link_class: np.ndarray
    classes: tuple[str, ...]
    bandwidths: tuple[Fraction, ...]
    latencies: tuple[int, ...]


def bandwidth_of(value: float | str) -> Fraction:
    """The exact bandwidth in flits a cycle: a fraction "25/12", or that of the least denominator next to a number.

    So 0.1 is 1/10. Raises BadInput for something else, or a number out of range.
    """
    exact = Fraction(0)
    with suppress(ValueError, OverflowError, ZeroDivisionError):
        if not isinstance(value, str):
            exact = Fraction(value).limit_denominator(MOST_DENOMINATOR)
        elif WRITTEN.fullmatch(value):
            exact = Fraction(value)
    if not 0 < exact <= MOST_BANDWIDTH or exact.denominator > MOST_DENOMINATOR:
        raise BadInput(
            f'bandwidths: expected flits a cycle above 0, up to {MOST_BANDWIDTH:,}, such as 2, 0.5 or "25/12", with a'
            f" denominator up to 10⁶, got {str(value)[:40]!r}"
        )
    return exact


def of_classes(values: Sequence[Value], classes: int) -> tuple[Value, ...]:
    """Repeat a kind's values for all classes; () if every value is 1."""
    return () if all(value == 1 for value in values) else tuple(values) * (classes // len(values))


def link_kinds(
    link_class: np.ndarray, classes: tuple[str, ...], bandwidth: np.ndarray | None, latency: np.ndarray | None
) -> LinkKinds:
    """Link classes, from the class, bandwidth and latency of each link.

    link_class  int[L]      classes as they are; they stay where all links of each have one bandwidth and latency
    classes     their names
    bandwidth   float64[L]  flits a cycle of one link; NaN or −1: 1; None: 1 each
    latency     int64[L]    cycles; −1: 1; None: 1 each

    Raises BadInput for numbers out of range, and for too many different ones.
    """
    links = len(link_class)
    widths = np.ones(links) if bandwidth is None else np.where(np.isnan(bandwidth) | (bandwidth == -1), 1.0, bandwidth)
    cycles = np.ones(links, np.int64) if latency is None else np.where(latency == -1, 1, latency).astype(np.int64)
    if links and not 1 <= cycles.min() <= cycles.max() <= MOST_LATENCY:
        wrong = cycles.min() if cycles.min() < 1 else cycles.max()
        raise BadInput(f"latency: expected cycles of 1 … {MOST_LATENCY:,} of every link, got {wrong:,}")
    known, width = np.unique(widths, return_inverse=True)
    if len(known) > MOST_CLASSES:
        raise BadInput(f"bandwidth: expected at most {MOST_CLASSES} different ones, got {len(known):,}; round them")
    exact = [bandwidth_of(value) for value in known.tolist()]
    table = np.column_stack([np.asarray(link_class, np.int64), width.reshape(-1), cycles])
    kinds, member = np.unique(table, axis=0, return_inverse=True)
    old = kinds[:, 0].tolist()
    if len(set(old)) == len(old):  # each class has one bandwidth and one latency
        number = max(len(classes), 1 + max(old, default=0))
        of_class = {kind: (exact[place], cycle) for kind, place, cycle in kinds.tolist()}
        pairs = [of_class.get(kind, (Fraction(1), 1)) for kind in range(number)]
        names, found = classes, np.asarray(link_class, np.int8)
    else:
        if len(kinds) > MOST_CLASSES:
            raise BadInput(
                f"expected at most {MOST_CLASSES} kinds of links, of equal class, bandwidth and latency, got"
                f" {len(kinds):,}; round their bandwidths and latencies"
            )
        pairs = [(exact[place], cycle) for _, place, cycle in kinds.tolist()]
        names = tuple(
            f"{classes[kind] if kind < len(classes) else kind}, {width} flits a cycle, {cycle} cycles"
            for kind, (width, cycle) in zip(old, pairs)
        )
        found = member.reshape(-1).astype(np.int8)
    bandwidths, latencies = zip(*pairs) if pairs else ((), ())
    return LinkKinds(found, names, of_classes(bandwidths, len(pairs)), of_classes(latencies, len(pairs)))
