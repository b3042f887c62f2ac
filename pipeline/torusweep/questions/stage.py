"""Stages of a sweep: each computes one table, point by point. A point is a network and a request.

The module also has the types of which entries of a configuration are made: sections, intervals, ranges of numbers and
choices of networks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from math import floor
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeVar

import pyarrow as pa
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from torusweep.errors import BadInput
from torusweep.networks.families import built, plan
from torusweep.networks.seed_runs import Planned, SeedRun, count_of
from torusweep.networks.topology import Plan, Topology
from torusweep.questions.how import How
from torusweep.tables.columns import Column

if TYPE_CHECKING:
    from torusweep.charts.section import Chapter
    from torusweep.tables.rows import Tables

FEW = 4  # number of networks from which computing them together takes less time than one by one
MOST_NUMBERS = 1_000_000  # of a range
RANGE_EXAMPLE = "{from: 0.1, to: 0.9, step: 0.1}"
MOST_NODES = 2**31 - 1  # node numbers are 32-bit


@contextmanager
def under(key: str, of_network: bool = False) -> Iterator[None]:
    """Within the context, add a key to the place that a BadInput names. of_network: the error is about the network."""
    try:
        yield
    except BadInput as refusal:
        refusal.place, refusal.of_network = (key, *refusal.place), refusal.of_network or of_network
        raise


class Section(BaseModel):
    """A mapping in a configuration. Unknown keys are errors, and text is never converted to a number."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Interval(Section):
    """An interval of whole numbers that includes both bounds. A bare number is an interval of this number alone."""

    lowest: int = Field(0, alias="from", ge=0, le=MOST_NODES, description="least value that is accepted")
    highest: int = Field(alias="to", ge=0, le=MOST_NODES, description="greatest value that is accepted")

    @model_validator(mode="after")
    def _ordered(self) -> Interval:
        if self.lowest > self.highest:
            raise ValueError(f"expected from ≤ to, got from {self.lowest} to {self.highest}")
        return self


def _interval(value: Any) -> Any:
    return {"from": value, "to": value} if isinstance(value, int) and not isinstance(value, bool) else value


Bounds = Annotated[
    Interval, BeforeValidator(_interval, json_schema_input_type=Annotated[int, Field(ge=0, le=MOST_NODES)] | Interval)
]


def listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Spellings = Annotated[
    tuple[str, ...],
    Field(min_length=1, strict=False),
    BeforeValidator(listed, json_schema_input_type=str | Annotated[list[str], Field(min_length=1)]),
]


class Spread(Section):
    """Evenly spaced numbers from `lowest` to `highest`. Either their count or the step between them is given."""

    lowest: float = Field(alias="from", ge=0, le=10**9, description="first number")
    highest: float = Field(alias="to", ge=0, le=10**9, description="last number")
    count: int | None = Field(None, ge=2, le=MOST_NUMBERS, description="number of values (instead of step)")
    step: float | None = Field(
        None, gt=0, le=10**9, description="difference between neighbouring values (instead of count)"
    )

    @model_validator(mode="after")
    def _spaced(self) -> Spread:
        if (self.count is None) == (self.step is None):
            raise ValueError(
                f"expected a range with count or step, as in {RANGE_EXAMPLE}, got {'both' if self.count else 'neither'}"
            )
        if self.step is not None and not 0 <= self._steps() < MOST_NUMBERS:
            raise ValueError(
                f"expected from ≤ to and at most {MOST_NUMBERS:,} numbers,"
                f" got from {self.lowest:g} to {self.highest:g} step {self.step:g}"
            )
        return self

    def _steps(self) -> int:
        """Return how many steps fit between the ends. A tolerance keeps rounding from losing the last step."""
        assert self.step is not None
        return floor((self.highest - self.lowest) / self.step * (1 + 1e-12) + 1e-12)

    def size(self) -> int:
        """Return how many numbers the range has."""
        return self._steps() + 1 if self.count is None else self.count

    def numbers(self) -> tuple[float, ...]:
        if self.step is not None:  # rounded: 0.1 + 2 · 0.1 is 0.30000000000000004
            return tuple(float(f"{self.lowest + self.step * number:.15g}") for number in range(self.size()))
        intervals = self.size() - 1
        step = (self.highest - self.lowest) / intervals
        return (*(self.lowest + step * number for number in range(intervals)), self.highest)


Rate = Annotated[float, Field(ge=0, le=10**9)]
Rates = Spread | Rate | Annotated[tuple[Rate, ...], Field(strict=False)]


def numbers_of(given: Rates) -> tuple[float, ...]:
    """Return all numbers that a configuration gives as a number, a list or a range."""
    if isinstance(given, Spread):
        return given.numbers()
    return given if isinstance(given, tuple) else (given,)


class NetworkChoice(Section):
    """The part of an entry that chooses networks of the sweep."""

    families: Literal["all"] | Annotated[tuple[str, ...], Field(min_length=1, strict=False)] = Field(
        "all", description="families whose networks are chosen, or all"
    )
    topologies: Spellings | None = Field(
        None, description="spellings of the networks that are chosen among the sweep's; null: all"
    )
    nodes: Bounds | None = Field(
        None, description="number of nodes of the chosen networks: {from, to}, or one number; null: any"
    )
    skip_unsuitable: bool = Field(
        False,
        description=(
            "leave out networks for which the routing, traffic or placement is not defined, instead of refusing the"
            " sweep"
        ),
    )

    def spaces(self) -> list[str]:
        """Return the spellings of the design spaces that the entry names; [] if it chooses networks of the sweep."""
        return []


Rows = list[dict[str, Any]] | pa.Table
Result = TypeVar("Result")


class LazyNetwork:
    """A network of a sweep, built when its arrays are first needed.

    spelling  canonical spelling of the network, or of a design space (`NetworkChoice.spaces`), which has no plan
    memory    bytes that the arrays may take; None for half of the machine's memory
    """

    def __init__(self, spelling: str, memory: int | None = None) -> None:
        self.spelling, self.memory = spelling, memory

    @classmethod
    def of(cls, network: Topology) -> LazyNetwork:
        lazy = cls(network.spelling)
        vars(lazy).update(planned=(network.spelling, network.plan), topology=network)
        return lazy

    @cached_property
    def planned(self) -> tuple[str, Plan]:
        """The network's (canonical spelling, plan). A graph file is read only once."""
        return plan(self.spelling, memory=self.memory)

    @property
    def plan(self) -> Plan:
        return self.planned[1]

    @cached_property
    def topology(self) -> Topology:
        return built(*self.planned, self.memory)


def attempt(function: Callable[..., Result], *arguments: Any) -> Result | Exception:
    """Call a function and return its result, or the exception that it raised."""
    try:
        return function(*arguments)
    except Exception as error:  # whatever one point does, the other points are computed
        return error


class Stage(Protocol):
    """A kind of computation in a sweep; `torusweep.stages.STAGES` lists all. Members with a body here are optional.

    name      name of the stage's table, of its section in a configuration, and of its shards
    columns   columns of the stage's table, in order (`TABLE` in its folder's columns.py)
    Entry     class of an entry in the stage's section; None if its requests come from the networks alone
    row_bytes  bytes on disk for each row: in its shard, in its table, and in the tables made from it
    Choice    class of the section if the section is one mapping for every network; None if it is a list of entries
    Request   frozen dataclass of numbers, strings and None; str(request) follows the network's spelling in messages
    description   meaning of the stage's section in a configuration
    """

    name: str
    columns: tuple[Column, ...]
    Entry: type[NetworkChoice] | None
    Choice: type[Section] | None = None
    Request: type[Any]
    description: str = ""
    row_bytes: int = 1_500

    def requests(self, entry: Any) -> Iterable[Any]:
        """Return all requests of an entry, in canonical spellings. They do not depend on the network.

        entry   of a stage with a `Choice`: (this section, "none" or None, node faults for a network's fault diameter)

        Raises BadInput, with the key's name (`under`), for a value that is wrong for every network.
        """
        return ()

    def check(self, network: LazyNetwork, request: Any) -> None:
        """Raise BadInput if a request is not defined for a network, and Refused if its rows would take too long.

        If networks differ only in their seeds (torusweep.networks.seed_runs), only the first is checked. If another
        network is not suitable, `rows` refuses it, and only its own point fails.
        """
        return

    def seconds(self, network: LazyNetwork, request: Any) -> float:
        """Estimate the seconds on one core, within a factor of about five. Points computed together share the time."""
        ...

    def memory(self, network: LazyNetwork, request: Any) -> int:
        """Estimate the bytes of memory that the network and the computation of its rows take."""
        return network.plan.bytes

    def files(self, request: Any) -> Sequence[Path]:
        """Return the files that the computation of a request reads."""
        return ()

    def row_count(self, network: LazyNetwork, request: Any) -> int:
        """Estimate the number of rows of a point."""
        return 1

    def unheeded(self, network: LazyNetwork, request: Any) -> Sequence[str]:
        """Return the network's attributes (torusweep.questions.heeds) that the rows of a request leave out."""
        return ()

    def rows(self, network: LazyNetwork, request: Any, options: How) -> Rows:
        """Compute the rows of one point, with exactly the stage's columns in order. Many rows may be an Arrow table.

        Raises BadInput if the request is not defined for the network, Refused if it takes too much memory or time, and
        BackendUnavailable.
        """
        ...

    def rows_of_many(self, points: Iterable[tuple[LazyNetwork, Any]], options: How) -> list[Rows | Exception]:
        """Return for each point, in order, its rows or the exception that `rows` raises, and go on with the next point.

        points   (network, request) of each point; an iterator can free a network's memory after its last point
        """
        return [attempt(self.rows, network, request, options) for network, request in points]

    def together(self, network: LazyNetwork, request: Any) -> Hashable:
        """Return a key that is equal for networks whose rows are computed together (`rows_of_block`), or None."""
        return None

    def rows_of_block(self, networks: Sequence[Planned], request: Any, options: How) -> pa.Table:
        """Compute the rows of several networks together: one row for each network, in order.

        networks   (canonical spelling, plan) of each network, or (torusweep.networks.seed_runs.SeedRun, plan of its
                   first network) of each run; all with the same value of `together`, which is not None

        Raises the exception that `rows` raises for the first network that fails.
        """
        raise TypeError(f"rows of {self.name} are computed one by one")

    def certificates(self, network: Topology | None, row: Mapping[str, Any]) -> str:
        """Return the certificate of a row (docs/certificates.md), made from the table's columns marked as `certified`.

        network   the row's network; None if the table's rows are not about networks

        Raises BadInput if the row has no certificate.
        """
        raise BadInput(f"expected a table that is proved, got {self.name}; leave it out")

    def section(self, tables: Tables) -> Chapter | None:
        """Return the stage's section of the page, drawn by `section.py` in the stage's folder; None without this file.

        tables   the sweep's tables as lists of records
        """
        room = type(self).__module__.rpartition(".")[0]
        drawn: Chapter | None = None
        if room and find_spec(f"{room}.section"):
            drawn = resolve_name(f"{room}.section:section")(tables)
        return drawn


def alike(
    stage: Stage, points: Sequence[tuple[str | SeedRun, LazyNetwork, Any]]
) -> dict[tuple[int, ...], list[Planned]]:
    """Group points whose networks are computed together: places of the points → (topology, first plan) of each point.

    points   (topology, which is a network or a run of seeds; its first network; request)
    """
    found = defaultdict[Any, dict[int, Planned]](dict)
    for place, (topology, first, request) in enumerate(points):
        shape = attempt(stage.together, first, request)
        unlike = shape is None or isinstance(shape, Exception)
        if not (unlike or first.plan.hosts_end or first.plan.link_latencies):  # blocks have no arrays for these
            found[request, shape][place] = topology, first.plan
    enough = (own for own in found.values() if sum(count_of(topology) for topology, _ in own.values()) >= FEW)
    return {tuple(own): list(own.values()) for own in enough}


def rows_of_list(stage: Stage, networks: Sequence[LazyNetwork], request: Any, how: How) -> list[dict[str, Any]]:
    """Compute the rows of networks for one request: a row for each network, in order.

    Networks that are not built yet are computed together, as in a sweep. Raises what `Stage.rows` raises for any of
    them.
    """
    found: dict[int, Any] = {}
    unbuilt = [place for place, network in enumerate(networks) if "topology" not in vars(network)]
    points = [(networks[place].planned[0], networks[place], request) for place in unbuilt]
    for places, some in alike(stage, points).items():
        found |= zip([unbuilt[place] for place in places], stage.rows_of_block(some, request, how).to_pylist())
    for place, network in enumerate(networks):
        if place not in found:
            found[place] = stage.rows(network, request, how)[0]
    return [found[place] for place in range(len(networks))]
