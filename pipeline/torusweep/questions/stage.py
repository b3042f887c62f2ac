"""Stages: a stage is a table whose rows are computed point by point; a point is a network and a request.

Entries of its section of the configuration are made of mappings with known keys, intervals, one value or several, and a
choice of networks.
"""

from __future__ import annotations

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
from torusweep.networks.topology import Plan, Topology
from torusweep.questions.how import How
from torusweep.tables.columns import Column

if TYPE_CHECKING:
    from torusweep.charts.section import Chapter
    from torusweep.tables.rows import Tables

MOST_NUMBERS = 1_000_000  # of a range
RANGE_EXAMPLE = "{from: 0.1, to: 0.9, step: 0.1}"
MOST_NODES = 2**31 - 1  # node numbers are 32-bit


@contextmanager
def under(key: str, of_network: bool = False) -> Iterator[None]:
    """Name the key of an entry that a refusal is about: whatever the network, or `of_network`, which may be skipped."""
    try:
        yield
    except BadInput as refusal:
        refusal.place, refusal.of_network = (key, *refusal.place), refusal.of_network or of_network
        raise


class Section(BaseModel):
    """A mapping whose keys are all known: a misspelt one is an error, and a number is never guessed from text."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


class Interval(Section):
    """Bounds, both included; a bare number stands for itself."""

    lowest: int = Field(0, alias="from", ge=0, le=MOST_NODES, description="least value wanted")
    highest: int = Field(alias="to", ge=0, le=MOST_NODES, description="greatest value wanted")

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
    """Numbers at equal distances, from the first: so many (count), or as many as fit (step)."""

    lowest: float = Field(alias="from", ge=0, le=10**9, description="first number")
    highest: float = Field(alias="to", ge=0, le=10**9, description="last number")
    count: int | None = Field(None, ge=2, le=MOST_NUMBERS, description="how many numbers; or give step")
    step: float | None = Field(None, gt=0, le=10**9, description="from each number to the next; or give count")

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
        """Steps that fit between the ends; rounding may not lose the last one."""
        assert self.step is not None
        return floor((self.highest - self.lowest) / self.step * (1 + 1e-12) + 1e-12)

    def size(self) -> int:
        """The number of numbers."""
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
    """The numbers of a configuration, written out."""
    if isinstance(given, Spread):
        return given.numbers()
    return given if isinstance(given, tuple) else (given,)


class NetworkChoice(Section):
    """The choice of the sweep's networks that an entry is about."""

    families: Literal["all"] | Annotated[tuple[str, ...], Field(min_length=1, strict=False)] = Field(
        "all", description="families whose networks are chosen, or all"
    )
    topologies: Spellings | None = Field(
        None, description="spellings of the sweep's networks that are chosen; null: any"
    )
    nodes: Bounds | None = Field(
        None, description="number of nodes of the networks chosen: {from, to}, or one number; null: any"
    )
    skip_unsuitable: bool = Field(
        False,
        description=(
            "leave out networks that the routing, traffic or placement does not suit, instead of refusing the sweep"
        ),
    )

    def spaces(self) -> list[str]:
        """Spellings of the design spaces that it names; none where it chooses networks of the sweep."""
        return []


Rows = list[dict[str, Any]] | pa.Table
Result = TypeVar("Result")


class LazyNetwork:
    """A network of a sweep, built when its arrays are first needed.

    spelling  canonical; that of a design space where an entry names such (`NetworkChoice.spaces`): it has no plan
    memory    as of `How`
    """

    def __init__(self, spelling: str, memory: int | None = None) -> None:
        self.spelling, self.memory = spelling, memory

    @cached_property
    def planned(self) -> tuple[str, Plan]:
        """Its canonical spelling and its plan; a file is read once."""
        return plan(self.spelling, memory=self.memory)

    @property
    def plan(self) -> Plan:
        return self.planned[1]

    @cached_property
    def topology(self) -> Topology:
        return built(*self.planned, self.memory)


def attempt(function: Callable[..., Result], *arguments: Any) -> Result | Exception:
    """What a function returns, or the exception that it raises."""
    try:
        return function(*arguments)
    except Exception as error:  # whatever one point does, the others are computed
        return error


class Stage(Protocol):
    """One kind of computation; `torusweep.stages.STAGES` lists all. Members with a body here are optional.

    name      of its table, its section of the configuration, its shards
    columns   of its table (`TABLE` of its folder's columns.py), in order
    Entry     an entry of its section of the configuration; None where its requests come from the networks alone
    row_bytes  on disk: of a row in its shard, its table and those made of it
    Choice    its section of the configuration where that is a mapping, about every network; or none
    Request   frozen dataclass of numbers and strings, None where one is absent; str(request) completes "<topology> …"
    description   of its section of the configuration
    """

    name: str
    columns: tuple[Column, ...]
    Entry: type[NetworkChoice] | None
    Choice: type[Section] | None = None
    Request: type[Any]
    description: str = ""
    row_bytes: int = 1_500

    def request_for_network(self, fault_nodes: int | None, choice: Any) -> Any | None:
        """The request that every network of a sweep has, whatever its entries; None: there is none.

        fault_nodes   node faults at a time for the network's fault diameter
        choice        its section, where that is a `Choice` or "none"; None: the usual one
        """
        return None

    def requests(self, entry: Any) -> Iterable[Any]:
        """Every request of an entry, whatever the network, in canonical spellings.

        Raises BadInput for what is wrong on every network, naming its key (torusweep.questions.stage.under).
        """
        return ()

    def check(self, network: LazyNetwork, request: Any) -> None:
        """Raise BadInput where a request does not suit a network, Refused where it would take too long.

        Of a run of networks (torusweep.networks.seed_runs) the first is checked for all: what else a draw leaves unfit
        is refused by `rows`, and fails alone.
        """
        return

    def seconds(self, network: LazyNetwork, request: Any) -> float:
        """Seconds on one core, within a factor of about five; of a network that is computed with others, its share."""
        ...

    def memory(self, network: LazyNetwork, request: Any) -> int:
        """Bytes that the network and the rows' computation take, about."""
        return network.plan.bytes

    def files(self, request: Any) -> Sequence[Path]:
        """Files that a request names."""
        return ()

    def row_count(self, network: LazyNetwork, request: Any) -> int:
        """Rows of a request, about."""
        return 1

    def rows(self, network: LazyNetwork, request: Any, options: How) -> Rows:
        """The rows of one point: records, or an Arrow table where they are many; exactly the stage's columns, in order.

        Raises BadInput where the request does not suit the network, Refused where it does not fit, BackendUnavailable.
        """
        ...

    def rows_of_many(self, points: Iterable[tuple[LazyNetwork, Any]], options: How) -> list[Rows | Exception]:
        """The rows of each point, in order, or what `rows` raises for it: a point that fails does so alone.

        points   networks and requests. It may be an iterator, so that a network is let go when it is not needed any
                 more
        """
        return [attempt(self.rows, network, request, options) for network, request in points]

    def together(self, network: LazyNetwork, request: Any) -> Hashable:
        """What networks have in common whose rows are computed together (`rows_of_block`); None: each alone."""
        return None

    def rows_of_block(self, networks: Sequence[tuple[str, Plan]], request: Any, options: How) -> pa.Table:
        """A row for each network, in order, computed together.

        networks   (canonical spelling, plan) of each network; of a run of seeds (torusweep.networks.seed_runs) that of
                   its first. `together` is the same of all, and not None

        Raises what `rows` raises for one of them.
        """
        raise TypeError(f"rows of {self.name} are computed one by one")

    def certificates(self, network: Topology | None, row: Mapping[str, Any]) -> str:
        """Lines that prove a row (docs/certificates.md), given the table's columns `certified`.

        network   None where rows are not of networks

        Raises BadInput where it cannot be proved.
        """
        raise BadInput(f"expected a table that is proved, got {self.name}; leave it out")

    def section(self, tables: Tables) -> Chapter | None:
        """Its section of the page, from a sweep's tables as lists of records: that of `section.py` beside its module.

        None without one. Only a page draws, and the drawing library takes long to import.
        """
        room = type(self).__module__.rpartition(".")[0]
        drawn: Chapter | None = None
        if room and find_spec(f"{room}.section"):
            drawn = resolve_name(f"{room}.section:section")(tables)
        return drawn
