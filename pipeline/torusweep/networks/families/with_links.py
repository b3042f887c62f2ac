"""Any network with links of given bandwidths and latencies."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Annotated

import numpy as np

from torusweep.counts import counted
from torusweep.errors import BadInput
from torusweep.networks.symmetry import those_that_keep_kinds
from torusweep.networks.topology import Meaning, Plan, no_symmetries, realise, require

Network = Annotated[
    Plan,
    Meaning("any network, written before the other parameters, as in with_links(torus(k=8, n=3), latencies=[1, 1, 9])"),
]
Bandwidths = Annotated[
    list[float | str] | None,
    Meaning('flits a cycle of one link of each link class, fractions in quotes ("25/12"); as they are where left out'),
]
Latencies = Annotated[list[int] | None, Meaning("cycles over a link of each link class; as they are where left out")]

WRITTEN = re.compile(r"[0-9]{1,12}(\.[0-9]{1,12})?|[0-9]{1,12}/[0-9]{1,12}")  # a bandwidth as text
MOST_BANDWIDTH = 2**20  # flits a cycle
MOST_DENOMINATOR = 10**6  # of a bandwidth
MOST_LATENCY = 10_000  # cycles; the simulator remembers what is on its way for as long


def with_links(topology: Network, bandwidths: Bandwidths = None, latencies: Latencies = None) -> Plan:
    """A network whose link classes have a bandwidth, in flits a cycle, and a latency, in cycles.

    The lists are in the order of the network's link classes, which `torusweep describe` names; a list of one number
    is for all classes. A bandwidth is that of each of parallel links. Symmetries of the network that exchange links
    of different bandwidths or latencies are lost.

    Constraints: lists as long as there are classes, or of one number; bandwidths above 0, up to 1,048,576, with
    denominators up to 10⁶; latencies of 1 … 10,000.
    Source: definition.
    """
    classes = max(len(topology.classes), len(topology.bandwidths), len(topology.latencies), 1)
    names = f" ({', '.join(topology.classes)})" if topology.classes else ""
    for parameter, given in (("bandwidths", bandwidths), ("latencies", latencies)):
        if given is not None:
            lengths = counted(classes, "number") if classes == 1 else f"{classes} numbers, or one for all"
            why = f"the network has {classes} link class{'es' if classes > 1 else ''}{names}"
            require(len(given) in (1, classes), parameter, given, lengths, why)
    widths, cycles = topology.bandwidths, topology.latencies
    if bandwidths is not None:
        widths = _of_classes([bandwidth_of(value) for value in bandwidths], classes)
    if latencies is not None:
        for value in latencies:
            require(
                1 <= value <= MOST_LATENCY, "latencies", latencies, f"cycles of 1 … {MOST_LATENCY:,}", f"got {value}"
            )
        cycles = _of_classes(latencies, classes)
    changed = replace(topology, bandwidths=widths, latencies=cycles)
    if changed.symmetries is no_symmetries or (widths, cycles) == (topology.bandwidths, topology.latencies):
        return changed
    return replace(changed, symmetries=lambda: _kept(changed, topology.symmetries))


def bandwidth_of(value: float | str | Fraction) -> Fraction:
    """The exact value of a bandwidth in flits a cycle: a number as it is written, or a fraction "25/12".

    Raises BadInput for something else, or a number out of range.
    """
    expected = f'flits a cycle above 0, up to {MOST_BANDWIDTH:,}, such as 2, 0.5 or "25/12"'
    text = str(value)  # not the number: 0.1 is 1/10
    exact = Fraction(0)
    if isinstance(value, str) and not WRITTEN.fullmatch(text):
        text = "0"
    with suppress(ZeroDivisionError):
        exact = Fraction(text)
    if not 0 < exact <= MOST_BANDWIDTH or exact.denominator > MOST_DENOMINATOR:
        raise BadInput(f"bandwidths: expected {expected}, with a denominator up to 10⁶, got {str(value)[:40]!r}")
    return exact


def _of_classes(values: Sequence, classes: int) -> tuple:
    """The value of each class; () where all are 1."""
    return () if all(value == 1 for value in values) else tuple(values) * (classes // len(values))


def _kept(plan: Plan, symmetries: Callable[[], Sequence[np.ndarray]]) -> list[np.ndarray]:
    """int32[N] each: generators of those of the network's symmetries that keep bandwidths and latencies."""
    return those_that_keep_kinds(realise("with_links", "with_links", plan, plan.bytes), symmetries())
