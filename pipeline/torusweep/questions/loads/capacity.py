"""The question `capacity`: the largest throughput that any routing reaches, under one traffic pattern or under all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pyarrow as pa

from torusweep.capacity import CLOSED, Throughput
from torusweep.capacity import capacity as capacity_of
from torusweep.capacity.certificate import capacity_certificate, check_certified, guarantee_certificate
from torusweep.capacity.detours import DETOURS, with_detours
from torusweep.capacity.first_order import Proof, bracket
from torusweep.capacity.guarantee import MAX_MATCHING, WORST, Guarantee, guarantee
from torusweep.errors import BadInput, Refused
from torusweep.networks.topology import Meaning, Number, Topology
from torusweep.quantities import counted
from torusweep.questions.answer import Answer, Row
from torusweep.questions.display import Fact, value_text
from torusweep.questions.heeds import heeds
from torusweep.questions.how import How
from torusweep.questions.loads.bounds import demands_of
from torusweep.questions.loads.two_phase import check_routable, two_phase_routing
from torusweep.questions.parameters import Absent
from torusweep.questions.question import CERTIFICATE, Askable, File
from torusweep.questions.spelled import TRAFFIC
from torusweep.questions.stage import under
from torusweep.routing.tables.as_table import rows_of
from torusweep.routing.tables.columns import columns_of
from torusweep.traffic import GivenTraffic

WIDE, SLOW_FLOWS = 0.01, 90_000  # from this gap on, the first-order method is many times faster for this many flows


@dataclass(frozen=True, repr=False, eq=False)
class Capacity(Answer):
    """The throughput that no routing can exceed under a traffic pattern, with proof.

    throughput  flits per cycle per terminal that some routing carries; inf if no traffic crosses a channel
    bound       throughput that no routing exceeds; the optimum lies between throughput and bound
    gap         bound / throughput − 1; about 0 for a linear program
    load        float64[N, P], channel loads of a routing that carries the throughput, as in `Loads`
    routes      "all", or "minimal" for only routes with the fewest hops
    method      the linear program or the first-order method, and how closely both bounds agree
    """

    topology: str
    traffic: str
    routes: str
    throughput: float
    bound: float
    gap: float
    load: np.ndarray
    method: str
    network: Topology = field(kw_only=True)
    proof: Proof | None = field(default=None, kw_only=True)

    @property
    def worst_permutation(self) -> pa.Table:
        """Raises BadInput: only traffic 'worst' has a worst permutation."""
        raise BadInput(_only_worst("this file", self.traffic))

    two_phase_routing = worst_permutation

    @property
    def certificate(self) -> str:
        """A proof of both bounds in whole numbers (docs/certificates.md)."""
        return capacity_certificate(self.network, self.traffic, self.routes, self.proof)

    @property
    def json(self) -> Row:
        """The row for JSON. An infinite throughput (no traffic crosses a channel) becomes null."""
        return {name: None if value == inf else value for name, value in self.record.items()}

    @property
    def record(self) -> Row:
        """The row of this answer, as Python values."""
        names = ("topology", "traffic", "routes", "throughput", "bound", "gap", "method")
        return {name: getattr(self, name) for name in names}

    def heading(self) -> str:
        return f"{self.topology}, {self.traffic}, {self.routes} routes: capacity"

    def lines(self) -> list[Fact]:
        return [
            ("throughput", _rate(self.throughput), "carried by some routing"),
            ("bound", _rate(self.bound), "exceeded by no routing"),
            *([("gap", f"{100 * self.gap:.2g} %", "the optimum lies between both")] if self.gap > CLOSED else []),
            ("method", value_text(self.method), "what proves both"),
        ]


@dataclass(frozen=True, repr=False, eq=False)
class Guaranteed(Answer):
    """The throughput that a network guarantees under every admissible traffic, between proved bounds.

    Traffic is admissible if no terminal sends or receives more than a flit per cycle.

    found    the bounds, in flits per cycle per terminal
    uniform  throughput of uniform traffic that some routing carries: the capacity, or its lower bound if there is a gap
    proof    proof of `uniform`
    """

    topology: str
    found: Guarantee
    uniform: float
    network: Topology = field(kw_only=True)
    proof: Proof | None = field(default=None, kw_only=True)

    @property
    def certificate(self) -> str:
        """Proofs of the bounds in whole numbers, a line each (docs/certificates.md)."""
        return guarantee_certificate(self.network, self.found, self.proof)

    @property
    def json(self) -> Row:
        """The bounds, the odds of each node to be intermediate, and the worst permutation found; None if not found."""
        bounds = dict(zip(("guarantee_lower", "guarantee_oblivious", "guarantee_upper"), self.found))
        worst = None if self.found.worst is None else self.found.worst.destination.tolist()
        about = {"topology": self.topology, "traffic": WORST, **bounds, "uniform": self.uniform}
        return about | {"odds": self.found.odds.tolist(), "permutation": worst}

    @property
    def worst_permutation(self) -> pa.Table:
        """The demands of the worst permutation found, as a file of `demand`. Raises Refused if it was not sought."""
        if self.found.worst is None:
            raise Refused(
                f"worst permutation: expected at most {MAX_MATCHING:,} nodes with terminals; choose a smaller network"
            )
        return demands_of(self.network, self.found.worst.destination)

    @property
    def two_phase_routing(self) -> pa.Table:
        """The best two-phase routing as rows of next hops, which `table(path=…)` reads. Raises as its function."""
        return columns_of(self.network, rows_of(two_phase_routing(self.network, self.found)))

    def heading(self) -> str:
        return f"{self.topology}: throughput under the worst admissible traffic"

    def lines(self) -> list[Fact]:
        return [
            ("guaranteed", f"{_rate(self.found.lower)}, by {self.found.how[0]}", "under all traffic"),
            ("oblivious", f"at most {_rate(self.found.oblivious)}, by {self.found.how[1]}", "of any oblivious routing"),
            ("any routing", f"at most {_rate(self.found.upper)}, by {self.found.how[2]}", "of any routing"),
            ("uniform", f"{_rate(self.uniform)}, carried by some routing", "of uniform traffic"),
        ]


def _only_worst(what: str, got: str) -> str:
    return f"{what}: expected with --traffic {WORST} only, got {got}; add --traffic {WORST}"


def _rate(flits: float) -> str:
    return f"{counted(flits, 'flit', '.7g')}/cycle/terminal"


def capacity(
    network: Topology,
    how: How,
    traffic: Annotated[str | GivenTraffic, TRAFFIC] = "uniform",
    *,
    routes: Annotated[
        Literal["all", "minimal", "minimal+valiant"],
        Meaning(
            "routes that may be used: all, those with the fewest hops, or also two of these by way of any node, as of"
            " valiant"
        ),
    ] = "all",
    gap: Annotated[
        float,
        Number(
            0,
            "if the linear program is too large or slow, accept two bounds that differ by this share of the lower one",
            1,
            open=True,
        ),
        Absent("the optimum, or a refusal"),
    ]
    | None = None,
    minutes: Annotated[
        float, Number(0, "minutes after which the two bounds are reported, whatever their gap", 10_000, open=True)
    ] = 20.0,
) -> Capacity | Guaranteed:
    """Find the largest throughput that any routing can carry under a traffic pattern, with proof.

    A linear program finds a routing that carries the throughput, and weights of the channels that prove the bound.
    If the program is too large or slow, a gap allows two proved bounds with the optimum between them. 'torusweep loads
    --bounds' compares a routing with the optimum.

    Traffic 'worst' asks what the network guarantees under every traffic in which no terminal sends or receives more
    than a flit per cycle: by its best two-phase routing, by any oblivious routing, and by any routing at all.

    >>> import torusweep as ts
    >>> round(ts.network("torus(k=4, n=2)").capacity("uniform").throughput, 6)
    2.0
    """
    if traffic == WORST:
        uniform, proof = _throughput(network, how, "uniform", routes, gap, minutes)
        with how.progress.wait("linear programs and matchings for the worst traffic"):
            bounds = guarantee(network, uniform, use_symmetry=how.use_symmetry)
        return Guaranteed(network.spelling, bounds, uniform.throughput, network=network, proof=proof)
    found, proof = _throughput(network, how, traffic, routes, gap, minutes)
    numbers = (found.throughput, found.bound, found.gap, found.load, found.method)
    return Capacity(network.spelling, str(traffic), routes, *numbers, network=network, proof=proof)


def _throughput(
    network: Topology, how: How, traffic: str | GivenTraffic, routes: str, gap: float | None, minutes: float
) -> tuple[Throughput, Proof | None]:
    """Return the capacity, and a first-order method's proof if a gap lets this method replace the linear program."""
    if routes == DETOURS:
        with how.progress.wait("a linear program: some minutes on networks of a hundred nodes"):
            return with_detours(network, traffic), None
    most = inf if gap is None or gap < WIDE else SLOW_FLOWS
    try:
        with how.progress.wait("a linear program: some minutes on networks of hundreds of different nodes"):
            return capacity_of(network, traffic, routes=routes, use_symmetry=how.use_symmetry, most=most), None
    except Refused:
        if gap is None:
            raise
        with how.progress.wait(f"two bounds up to a gap of {100 * gap:g} %: at most about {minutes:g} minutes"):
            return bracket(network, traffic, routes=routes, use_symmetry=how.use_symmetry, gap=gap, minutes=minutes)


class CapacityQuestion(Askable):
    ask = staticmethod(capacity)
    command = "capacity"
    heeds = heeds("bandwidth, direction, terminals, forwarding")
    how = ("symmetry",)
    written: ClassVar = {
        "certificate": CERTIFICATE,
        "worst_permutation": File(f"with --traffic {WORST}, the worst permutation found, as CSV or Parquet"),
        "two_phase_routing": File(f"with --traffic {WORST}, the best two-phase routing, as a table of next hops"),
    }
    examples = (
        'capacity "torus(k=8, n=2)" --traffic transpose',
        'capacity "mesh(k=4, n=2)" --routes minimal --json',
        'capacity "faulty(torus(k=32, n=2), links=3)" --gap 0.01',
        'capacity "dragonfly(a=4, p=2, h=2)" --traffic worst',
        'capacity "torus(k=8, n=2)" --traffic tornado --routes minimal+valiant',
    )

    def check_asked(self, network: Topology | None, how: How, values: Mapping[str, Any], files: Sequence[str]) -> None:
        if values["traffic"] == WORST and values["routes"] != "all":
            with under("routes"):
                raise BadInput(
                    f"expected all with traffic {WORST}, got {values['routes']}; 'torusweep loads --bounds' finds the"
                    " worst permutation of a routing"
                )
        of_worst = [] if values["traffic"] == WORST else [name for name in files if name != "certificate"]
        for name in of_worst:
            raise BadInput(_only_worst(f"--{name.replace('_', '-')}", values["traffic"]))
        if "two_phase_routing" in files and network is not None:
            check_routable(network)
        if values["routes"] == DETOURS and ("certificate" in files or values["gap"] is not None):
            with under("routes"):
                raise BadInput(f"expected all or minimal with a certificate or a gap, got {DETOURS}; leave these out")
        if "certificate" in files and network is not None:
            check_certified(network, "uniform" if values["traffic"] == WORST else values["traffic"])


QUESTION = CapacityQuestion()
