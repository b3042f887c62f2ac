"""What a stage is: a table whose rows are computed point by point, each point a network and a request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pyarrow as pa

from torusweep.networks.families import build, plan
from torusweep.networks.topology import Plan, Topology
from torusweep.questions.entry import NetworkChoice
from torusweep.questions.how import How
from torusweep.tables.columns import Column

if TYPE_CHECKING:
    from torusweep.charts.section import Chapter, Tables

Rows = list[dict[str, Any]] | pa.Table
Result = TypeVar("Result")


class LazyNetwork:
    """A network of a sweep, built when its arrays are first needed.

    spelling  canonical; that of a design space in a stage whose entries name such (`Stage.spaces`): it has no plan
    memory    as of `How`
    """

    def __init__(self, spelling: str, memory: int | None = None) -> None:
        self.spelling, self.memory = spelling, memory

    @property
    def plan(self) -> Plan:
        return plan(self.spelling)[1]

    @cached_property
    def topology(self) -> Topology:
        return build(self.spelling, memory=self.memory)


def attempt(function: Callable[..., Result], *arguments: Any) -> Result | Exception:
    """What a function returns, or the exception that it raises."""
    try:
        return function(*arguments)
    except Exception as error:  # whatever one point does, the others are computed
        return error


class Stage(Protocol):
    """One kind of computation; `torusweep.stages.STAGES` lists all. Members with a body here are optional.

    name      of its table, its section of the configuration, its shards
    columns   of its table, in order
    Entry     an entry of its section of the configuration; None where its requests come from the networks alone
    distinguishing  columns that a request decides and that tell a network's rows apart, the most important first
    row_bytes  on disk: of a row in its shard, its table and those made of it
    of_networks  whether its rows are of the sweep's networks, so that its table joins `static`
    Request   frozen dataclass of numbers and strings, None where one is absent; str(request) completes "<topology> …"
    description   of its section of the configuration
    """

    name: str
    columns: tuple[Column, ...]
    Entry: type[NetworkChoice] | None
    Request: type[Any]
    description: str = ""
    distinguishing: tuple[str, ...] = ()
    row_bytes: int = 1_500
    of_networks: bool = True

    def request_for_network(self, fault_nodes: int | None) -> Any | None:
        """The request that every network of a sweep has, whatever its entries; None: there is none.

        fault_nodes   node faults at a time for the network's fault diameter
        """
        return None

    def requests(self, entry: Any) -> Iterable[Any]:
        """Every request of an entry, whatever the network, in canonical spellings.

        Raises BadInput for what is wrong on every network, naming its key (torusweep.questions.entry.under).
        """
        return ()

    def spaces(self, entry: Any) -> Sequence[str]:
        """Spellings of the design spaces that an entry names; none where it chooses networks of the sweep."""
        return ()

    def check(self, network: LazyNetwork, request: Any) -> None:
        """Raise BadInput where a request does not suit a network, Refused where it would take too long."""
        return

    def seconds(self, network: LazyNetwork, request: Any) -> float:
        """Seconds on one core, within a factor of about five."""
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

    def section(self, tables: Tables) -> Chapter | None:
        """Its section of the page, from a sweep's tables as lists of records; None without one."""
        return None
