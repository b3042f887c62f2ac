"""The table of network families, and the functions that make a network from its spelling.

To add a family, see CONTRIBUTING.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any
from weakref import WeakValueDictionary

from torusweep.errors import BadInput, nearest, printable
from torusweep.networks.families import slices
from torusweep.networks.families.cubes import ccc, de_bruijn, hypercube, kautz, mesh, ring, torus
from torusweep.networks.families.dragonfly import boardfly, dragonfly, megafly
from torusweep.networks.families.graph_files import check_files, files_of, graph, with_path
from torusweep.networks.families.hierarchies import h3dt, mh3dt, tesh
from torusweep.networks.families.lattices import (
    circulant,
    hexagonal_torus,
    illiac,
    lattice,
    pdtt,
    pt,
    ptt,
    rt,
    rtt,
    sequin,
    twisted_torus,
)
from torusweep.networks.families.low_diameter import (
    full_mesh,
    generalised_hypercube,
    hamming,
    hyperx,
    jellyfish,
    polarfly,
    random_regular,
    slim_fly,
    xpander,
)
from torusweep.networks.families.modified import concentrated, faulty, with_links, without
from torusweep.networks.families.pruned import (
    directed_torus,
    partly_pruned_torus,
    pruned_directed_torus,
    pruned_t1,
    pruned_t2,
    pruned_torus,
    pruned_xy,
)
from torusweep.networks.families.slices import cube_pod, hamming_mesh, tofu
from torusweep.networks.families.trees import fat_tree, xgft
from torusweep.networks.realisation import realise
from torusweep.networks.signature import FamilyParameter, check_names, check_value, signature_of
from torusweep.networks.spelling import Spelling, format_value, parse
from torusweep.networks.topology import Plan, Topology, default_memory

# (kind of networks, its families), in the order of lists and sweeps
_BY_KIND: tuple[tuple[str, tuple[Callable[..., Plan], ...]], ...] = (
    ("torus", (ring, torus)),
    ("mesh", (mesh,)),
    ("torus", (slices.slice, slices.pod_slice, hypercube)),
    ("pruned", (pruned_torus, partly_pruned_torus, pruned_t1, pruned_t2, pruned_xy)),
    ("directed", (directed_torus, pruned_directed_torus)),
    ("torus", (rt,)),
    ("twisted", (rtt,)),
    ("torus", (pt,)),
    ("twisted", (ptt, pdtt, twisted_torus, lattice, circulant, hexagonal_torus, illiac, sequin)),
    ("hierarchical", (ccc, tesh, h3dt, mh3dt)),
    ("HyperX", (hyperx, hamming, generalised_hypercube, full_mesh)),
    ("Dragonfly", (dragonfly, megafly, boardfly)),
    ("fat tree", (fat_tree, xgft)),
    ("diameter two", (slim_fly, polarfly)),
    ("random", (random_regular, jellyfish, xpander)),
    ("de Bruijn", (kautz, de_bruijn)),
    ("HammingMesh", (hamming_mesh,)),
    ("torus", (tofu, cube_pod)),
    ("other", (graph, faulty, without, concentrated, with_links)),
)
FAMILIES: dict[str, Callable[..., Plan]] = {family.__name__: family for _, families in _BY_KIND for family in families}
KIND_OF: dict[str, str] = {family.__name__: kind for kind, families in _BY_KIND for family in families}
# canonical spelling → plan, as long as anybody holds the plan: a sweep, whatever its length, holds those that it reads
# again. Networks from files are not here, because files change
_HELD: WeakValueDictionary[str, Plan] = WeakValueDictionary()


@cache
def parameters(name: str) -> tuple[FamilyParameter, ...]:
    """Return the parameters of a family, in the order of its signature."""
    return signature_of(FAMILIES[name])


def plan(spelling: str | Spelling, *, memory: int | None = None) -> tuple[str, Plan]:
    """Return (canonical spelling, plan) of a network.

    memory   limit in bytes for reading a file (nothing else needs memory); None for half of the machine's memory
    Raises BadInput for a wrong name, parameter or constraint, Refused for a file that is too large.
    """
    if isinstance(spelling, str):
        if (held := _HELD.get(spelling)) is not None:
            return spelling, held
        spelling = with_path(spelling)
    cache = _cached_plan(spelling) if isinstance(spelling, str) else []
    if cache:
        return cache[0]
    call = spelling if isinstance(spelling, Spelling) else _parse(spelling)
    if files_of(call):
        with _name_in_errors(call):
            check_files(call, memory)
        return _make_plan(call)
    canonical, made = _make_plan(call)
    found = canonical, _HELD.setdefault(canonical, made)
    for entry in (cache, _cached_plan(canonical)):
        entry[:] = [found]
    return found


def _parse(text: str) -> Spelling:
    """Parse a spelling. If its family is known, an error names the family's parameters."""
    name = text.partition("(")[0].strip().lower() if isinstance(text, str) else ""
    if name not in FAMILIES:
        return parse(f"{name}()" if name.isidentifier() and "(" not in text else text)  # refuses the unknown name
    names = ", ".join(parameter.name for parameter in parameters(name))
    return parse(text, remedy=f"{name} takes {names}, each as name=value; 'torusweep topologies {name}' explains them")


@lru_cache(1 << 12)
def _cached_plan(text: str) -> list[tuple[str, Plan]]:
    """Return the cache entry of a recent spelling: a list that stays empty until `plan` puts its result there."""
    return []


def _make_plan(call: Spelling) -> tuple[str, Plan]:
    if call.name.lower() in FAMILIES:  # RTT is rtt
        call = replace(call, name=call.name.lower())
    if call.name not in FAMILIES:
        raise BadInput(
            f"unknown topology '{call.name}'{nearest(call.name, FAMILIES)}; 'torusweep topologies' lists all"
        )
    canonical, values = bind(call)
    with _name_in_errors(call):
        return canonical, FAMILIES[call.name](**values)


def build(spelling: str | Spelling, *, memory: int | None = None) -> Topology:
    """Build the network of a spelling.

    memory   limit in bytes; None for half of the machine's memory
    Raises BadInput as `plan` does, Refused for a network that needs more memory.
    """
    return built(*plan(spelling, memory=memory), memory)


def built(canonical: str, planned: Plan, memory: int | None = None, alone: bool = True) -> Topology:
    """Build the network of a canonical spelling and its plan.

    memory   and the errors are those of `build`
    alone    False: the caller checks the ports (torusweep.networks.realisation.check_ports)
    """
    with _name_in_errors(canonical):
        return realise(canonical, family_of(canonical), planned, default_memory() if memory is None else memory, alone)


def family_of(canonical: str) -> str:
    """Return the family of a network, or of the network inside with_links(…) and concentrated(…), if it has these."""
    while canonical.startswith(("with_links(", "concentrated(")):
        canonical = canonical.partition("(")[2]
    return canonical.partition("(")[0]


@contextmanager
def _name_in_errors(spelling: str | Spelling) -> Iterator[None]:
    """Prefix errors with the network's spelling, unless they begin with the name of its family or of a file."""
    try:
        yield
    except BadInput as refusal:
        reason, name = str(refusal), str(spelling)
        known = (name.partition("(")[0].lower(), *(printable(file).lower() for file in files_of(spelling)))
        raise type(refusal)(reason if reason.lower().startswith(known) else f"{name}: {reason}") from None


def bind(call: Spelling) -> tuple[str, dict[str, Any]]:
    """Return (canonical spelling, values by parameter) of a call, after checking it against the family's signature."""
    known = parameters(call.name)
    names = [parameter.name for parameter in known]
    takes_network = bool(known) and known[0].kind is Plan
    call = call if takes_network else call.with_path(names)
    if call.name == "graph" and {"nodes", "links"} <= set(call.arguments) and "path" not in call.arguments:
        raise BadInput(
            f"{call}: expected a graph in a file, got the name of one in memory, which no command and no sweep can"
            " read; write it to a file, and name the file"
        )
    takes = f"{call.name} takes {', '.join(names)}"
    check_names(call, names, takes)
    if call.inner is not None and not takes_network:
        raise BadInput(f"{call}: expected only name=value arguments, got a network; {takes}")
    values: dict[str, Any] = {}
    shown: list[str] = []
    for parameter in known:
        if parameter.kind is Plan:
            inner, values[parameter.name] = _network_of(call, parameter.name)
            shown.append(inner)
            continue
        if parameter.name not in call.arguments:
            if parameter.required:
                raise BadInput(f"{call}: parameter '{parameter.name}' is missing; {takes}")
            continue
        value = check_value(call, parameter, call.arguments[parameter.name])
        values[parameter.name] = value
        if value != parameter.default or isinstance(value, bool) != isinstance(parameter.default, bool):
            shown.append(f"{parameter.name}={format_value(value)}")
    return f"{call.name}({', '.join(shown)})", values


def _network_of(call: Spelling, name: str) -> tuple[str, Plan]:
    """Return (spelling, plan) of the network that a call modifies: its first argument, or the one called `name`."""
    given = call.inner if call.inner is not None else call.arguments.get(name)
    if not isinstance(given, Spelling):
        raise BadInput(f"{call}: expected a network as the first argument, as in {call.name}(torus(k=8, n=3), …)")
    # many networks of a sweep modify the same network: use the cache if its text is unambiguous (8.0 prints as 8)
    is_plain = given.inner is None and all(type(value) is int for value in given.arguments.values())
    return plan(str(given)) if is_plain else _make_plan(given)
