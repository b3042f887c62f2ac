"""Expand a configuration into the sweep's networks and points, which are counted before anything is built."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any, NamedTuple

from torusweep.documents import Place
from torusweep.errors import BadInput, Refused, nearest, printable
from torusweep.networks.families import FAMILIES, parameters, plan
from torusweep.networks.realisation import check_size
from torusweep.networks.seed_runs import SEED, Networks, SeedRun, before_seed, count_of, first_of
from torusweep.networks.spelling import Spelling
from torusweep.networks.topology import Plan, default_memory
from torusweep.questions.stage import LazyNetwork, NetworkChoice, Stage
from torusweep.sweeps.configuration.schema import Family, Labelled, Required, Requirement, Sweep
from torusweep.sweeps.network_search import count, meeting, values_of
from torusweep.sweeps.points import Point, Points

MANY = 8  # least number of an entry's seeds that become a run; from 4 on, computing them together takes less time
CHECKED = 1_000  # a run with at least as many seeds is checked by its first network only
GREATEST_SEED = 2**36  # greatest seed of a run, because a seed and the number of a point are stored in 63 bits


class SweepNetwork(NamedTuple):
    """A network of a sweep, or a run of networks that differ in their seeds (torusweep.networks.seed_runs).

    topology     canonical spelling, or the run
    fault_nodes  number of simultaneous node faults for the fault diameter; None if it is not computed
    plan         plan of the (first) network, which is held so that no stage makes it again
    """

    topology: str | SeedRun
    fault_nodes: int | None = None
    plan: Plan | None = None


def expand(sweep: Sweep, *, expected_topologies: Iterable[str] = ()) -> list[SweepNetwork]:
    """List the sweep's networks, each once, in the order of the configuration; networks for papers come last.

    expected_topologies  spellings of networks for which the sweep's papers print numbers

    Raises BadInput for a network that does not exist, and Refused for more networks than limits.points (combinations
    are counted without listing them) or a network that would not fit into limits.memory_gib. Errors have the form
    `path:line:column: topologies[2]: …`.
    """
    memory = memory_limit(sweep)
    expected = list(expected_topologies)
    _check_count(sweep, len(expected))
    networks = _Networks()
    for number, entry in enumerate(sweep.topologies):
        place: Place = ("topologies", number)
        found = 0
        with at(sweep, place):
            for network in _networks(sweep, number, memory):
                found += 1
                networks.add(network)
                if networks.count > sweep.limits.points:
                    raise Refused(
                        f"more than {sweep.limits.points:,} networks, which is limits.points:"
                        " narrow the sweep or raise it"
                    )
            if not found:
                reason = "no network meets it" if isinstance(entry, Required) else "all combinations are invalid"
                raise BadInput(f"expected at least one network, got none: {reason}; widen it or leave it out")
    with at(sweep, ("papers",)):
        for spelling in expected:
            networks.add(_network(sweep, *plan(spelling), memory))
    return [
        network if network.fault_nodes is not None else network._replace(fault_nodes=sweep.fault_nodes)
        for network in networks.found.values()
    ]


def expand_stage(
    sweep: Sweep, stage: Stage, networks: Sequence[SweepNetwork], *, expected: Iterable[tuple[str | SeedRun, Any]] = ()
) -> list[Point]:
    """List a stage's points, each once: first in the order of the configuration, then the expected ones.

    networks  the sweep's networks (`expand`), among which an entry chooses
    expected  (topology, request) of points that papers or derived tables need

    Raises BadInput for a name that does not exist, and for a request that is not defined for a network (unless
    skip_unsuitable); Refused for more points than limits.points, or one that would not fit into limits.memory_gib.
    Errors have the form `path:line:column: loads[0]: …`. Only the first network of a run of many seeds is checked,
    unless unsuitable networks are to be left out.
    """
    memory = memory_limit(sweep)
    found = Points(stage.name)
    for network in networks if stage.Choice else ():
        for request in stage.requests((sweep.choice(stage.name), network.fault_nodes)):
            found.add({request: [network.topology]})
    for number, entry in enumerate(sweep.entries(stage.name)):
        with at(sweep, (stage.name, number)):
            requests = counted_requests(stage, entry, sweep.limits.points)
            topologies: Sequence[str | SeedRun] = entry.spaces() or chosen(entry, networks)
            total = sum(map(count_of, topologies)) * len(requests)
            if found.count + total > sweep.limits.points:
                raise Refused(
                    f"{total:,} points of {stage.name}; limits.points is {sweep.limits.points:,}:"
                    " choose fewer networks, give fewer values, or raise it"
                )
            suitable = False
            for topology in topologies:
                first = LazyNetwork(first_of(topology), memory)
                for request in requests:
                    _check_memory(stage, first, request, memory)
                parts = _suitable(stage, entry, topology, requests, first)
                suitable |= any(parts.values())
                found.add(parts, number)
            if not suitable:
                reason = (
                    "nothing requested suits any of those chosen" if topologies else "none of the sweep's is chosen"
                )
                raise BadInput(
                    f"expected at least one network, got none: {reason};"
                    " widen families or nodes, or leave the entry out"
                )
    with at(sweep, ("papers",)):
        for topology, request in expected:
            _check_memory(stage, LazyNetwork(first_of(topology)), request, memory)
            found.add({request: [topology]})
    for point in found.points:
        _ = point.estimate  # while the networks' plans are at hand
    return found.points


def counted_requests(stage: Stage, entry: Any, limit: int) -> list[Any]:
    """Return all requests of an entry, each once. Raises Refused as soon as there are more than `limit`."""
    found: dict[Any, None] = {}
    for request in stage.requests(entry):
        found[request] = None
        if len(found) > limit:
            raise Refused(
                f"more than {limit:,} points of {stage.name} for each network, which is limits.points:"
                " give fewer values, or raise it"
            )
    return list(found)


def _suitable(
    stage: Stage, entry: NetworkChoice, topology: str | SeedRun, requests: Iterable[Any], first: LazyNetwork
) -> Mapping[Any, Sequence[str | SeedRun]]:
    """Return, for each request, the parts of a network or run for which the request is defined; [] if there are none.

    first   first network of the run
    """
    if isinstance(topology, str) or (topology.size >= CHECKED and not entry.skip_unsuitable):
        return {request: [topology] if _suits(stage, entry, first, request) else [] for request in requests}
    found: dict[Any, list[SeedRun]] = {request: [] for request in requests}
    for seed, spelling in enumerate(topology.spellings, topology.first):
        network = LazyNetwork(spelling, first.memory)
        for request, parts in found.items():
            if _suits(stage, entry, network, request):
                begin = parts.pop().first if parts and parts[-1].last == seed - 1 else seed
                parts.append(topology._replace(first=begin, last=seed))
    return found


def _suits(stage: Stage, entry: NetworkChoice, network: LazyNetwork, request: Any) -> bool:
    """Return whether a request is defined for a network. If not, raises BadInput unless skip_unsuitable is set."""
    try:
        stage.check(network, request)
    except BadInput as error:
        pass_over(error, skip=entry.skip_unsuitable)
        return False
    return True


def _check_memory(stage: Stage, network: LazyNetwork, request: Any, limit: int) -> None:
    needed = stage.memory(network, request)
    if needed > limit:
        raise Refused(
            f"{f'{stage.name} of {network.spelling} {request}'.rstrip()}: expected at most {limit / 2**30:,.1f} GiB of"
            f" memory, got about {needed / 2**30:,.1f} GiB; choose fewer nodes or raise limits.memory_gib"
        )


def memory_limit(sweep: Sweep) -> int:
    """Return the bytes of memory that one network of the sweep may take."""
    return default_memory() if sweep.limits.memory_gib is None else int(sweep.limits.memory_gib * 2**30)


def chosen(entry: NetworkChoice, networks: Iterable[SweepNetwork]) -> list[str | SeedRun]:
    """Return the networks and runs that an entry chooses, in order. Raises BadInput for names not in the sweep."""
    families = FAMILIES if entry.families == "all" else entry.families
    for family in families:
        if family not in FAMILIES:
            raise BadInput(
                f"families: unknown family '{family}'{nearest(family, FAMILIES)}; 'torusweep topologies' lists all"
            )
    of_families = [each.topology for each in networks if first_of(each.topology).partition("(")[0] in families]
    if entry.topologies is not None:
        named = [plan(spelling)[0] for spelling in entry.topologies]
        wanted = Networks(named)
        of_families = [own for topology in of_families for own in wanted.within(topology)]
        there = {*of_families}
        among = "" if entry.families == "all" else " and the families chosen"
        for spelling in named:
            if spelling not in there:
                raise BadInput(
                    f"topologies: expected networks of the sweep{among}, got {spelling};"
                    " add it to the sweep's own topologies"
                )
    if entry.nodes is None:
        return of_families
    lowest, highest = entry.nodes.lowest, entry.nodes.highest  # all networks of a run have the same size
    return [topology for topology in of_families if lowest <= plan(first_of(topology))[1].nodes <= highest]


def pass_over(error: BadInput, *, skip: bool) -> None:
    """Ignore the error of an unsuitable request if `skip` is true; otherwise raise it and name skip_unsuitable.

    Refused is always raised, and so are errors about a key of the entry that do not depend on the network.
    """
    if isinstance(error, Refused) or (error.place and not error.of_network):
        raise error
    if not skip:
        refusal = BadInput(f"{error} (skip_unsuitable: true leaves such networks out)")
        refusal.place = error.place
        raise refusal from None


class _Networks:
    """A sweep's networks and runs, in which each network occurs once.

    found   network or run → its SweepNetwork, with the number of simultaneous node faults of its entry, or None
    count   number of networks
    """

    def __init__(self) -> None:
        self.found: dict[str | SeedRun, SweepNetwork] = {}
        self.count = 0
        self._there = Networks()

    def add(self, network: SweepNetwork) -> None:
        """Add a network, or the networks of a run, unless they are already in the list.

        If a network is requested both with and without faults, only the request with faults is kept.
        """
        for part in self._there.add(network.topology):
            self.count += count_of(part)
            self.found[part] = network._replace(topology=part, plan=plan(first_of(part))[1])
        if network.fault_nodes is not None:  # not for a run
            self._count_faults(network.topology, network.fault_nodes)

    def _count_faults(self, spelling: str | SeedRun, fault_nodes: int) -> None:
        known = self.found.get(spelling)
        if known is None:
            raise BadInput(
                f"{spelling} is requested with fault_nodes {fault_nodes}, and among many seeds without;"
                " keep one, or write two sweeps"
            )
        if known.fault_nodes not in (None, fault_nodes):
            raise BadInput(
                f"{spelling} is requested with fault_nodes {known.fault_nodes} and {fault_nodes};"
                " keep one, or write two sweeps"
            )
        self.found[spelling] = known._replace(fault_nodes=fault_nodes)


def _check_count(sweep: Sweep, expected: int) -> None:
    """Raise Refused if the number of combinations alone exceeds the limit; combinations are not listed."""
    total = expected
    for number, entry in enumerate(sweep.topologies):
        with at(sweep, ("topologies", number)):
            asked = count(_choices(sweep, number).values()) if isinstance(entry, Family) else 1
            asked = len(entry.topology) if isinstance(entry, Labelled) else asked
            total += asked
            if total > sweep.limits.points:
                so_far = f"{asked:,} networks here, {total:,} up to here"
                raise Refused(f"{so_far}; limits.points is {sweep.limits.points:,}: give fewer values or raise it")


def _networks(sweep: Sweep, number: int, memory: int) -> Iterator[SweepNetwork]:
    entry = sweep.topologies[number]
    if isinstance(entry, str):
        yield _network(sweep, *plan(entry), memory)
    elif isinstance(entry, Labelled):
        for spelling in entry.topology:
            yield _network(sweep, *plan(spelling), memory)
    elif isinstance(entry, Family):
        yield from _combinations(sweep, number, memory)
    else:
        for canonical, planned in meeting(entry.require, sweep.limits.points):
            yield _network(sweep, canonical, planned, memory)


def _network(sweep: Sweep, canonical: str, planned: Plan, memory: int, own: int | None = None) -> SweepNetwork:
    """Check a network's size and its number of faults (`own`, or the sweep's), and return it as a SweepNetwork."""
    check_size(canonical, planned, memory)
    faults = sweep.fault_nodes if own is None else own
    if faults is not None and faults >= planned.nodes:
        raise BadInput(f"{canonical}: fault_nodes={faults}: expected fewer than its {planned.nodes} nodes")
    return SweepNetwork(canonical, own)


def _combinations(sweep: Sweep, number: int, memory: int) -> Iterator[SweepNetwork]:
    """Yield the networks of all combinations of a family's values; the first parameter varies slowest."""
    entry = sweep.topologies[number]
    assert isinstance(entry, Family)
    choices = _choices(sweep, number)
    seeds = _seeds_of_run(choices) if entry.fault_nodes is None and sweep.fault_nodes is None else None
    if seeds:
        choices[SEED] = [seeds[-1]]  # not 0, which canonical spellings leave out
    for values in product(*choices.values()):
        try:
            canonical, planned = plan(Spelling(entry.family, dict(zip(choices, values))))
        except Refused:
            raise
        except BadInput as error:
            if entry.skip_invalid:
                continue
            remedy = " (skip_invalid: true leaves such combinations out)" if count(choices.values()) > 1 else ""
            raise BadInput(f"{error}{remedy}") from None
        network = _network(sweep, canonical, planned, memory, entry.fault_nodes)
        if seeds:
            network = SweepNetwork(SeedRun(before_seed(canonical)[0], seeds[0], seeds[-1]))
        yield network


def _seeds_of_run(choices: Mapping[str, Sequence[Any]]) -> range | None:
    """Return an entry's seeds if they are consecutive and at least MANY; otherwise None."""
    seeds = choices.get(SEED, ())
    numbers = isinstance(seeds, range) or all(type(seed) is int for seed in seeds)  # others are refused, each by name
    if len(seeds) < MANY or not numbers or not 0 <= seeds[0] < GREATEST_SEED - len(seeds):
        return None
    run = range(seeds[0], seeds[0] + len(seeds))
    return run if seeds in (run, list(run)) else None


def _choices(sweep: Sweep, number: int) -> dict[str, Sequence[Any]]:
    """Return the values of each parameter in a family's entry, in the order of the family's signature."""
    entry = sweep.topologies[number]
    assert isinstance(entry, Family)
    if entry.family not in FAMILIES:
        raise BadInput(
            f"unknown topology '{entry.family}'{nearest(entry.family, FAMILIES)}; 'torusweep topologies' lists all"
        )
    known = {parameter.name: parameter for parameter in parameters(entry.family)}
    given = entry.model_extra or {}
    found: dict[str, Sequence[Any]] = {}
    for key in sorted(given, key=[*known, *given].index):
        with at(sweep, ("topologies", number, key)):
            if key not in known:
                near = nearest(key, [*known, "skip_invalid", "fault_nodes"])
                if key in Requirement.model_fields:  # of nodes, the nearest would be fault_nodes
                    near = f" (wanted of a network: require: {{families: [{entry.family}], {key}: …}})"
                raise BadInput(f"unknown key{near}; {entry.family} takes {', '.join(known)}")
            found[key] = values_of(known[key], given[key])
    return found


@contextmanager
def at(sweep: Sweep, place: Place) -> Iterator[None]:
    """Add a place in the configuration file to a BadInput from a `with` block, unless the error has a place already."""
    try:
        yield
    except BadInput as error:
        if str(error).startswith(f"{sweep.source}:"):
            raise
        raise type(error)(printable(f"{sweep.where((*place, *error.place))}: {error}")) from None
