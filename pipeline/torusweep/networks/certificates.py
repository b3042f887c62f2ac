"""Certificates: proofs as JSON, in whole numbers and fractions, that certify/check.py checks without this package.

docs/certificates.md has their fields. Here is what all kinds have in common: their text, the networks that can be
certified, and generators of a group of automorphisms, over whose images a proof is averaged.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from torusweep.errors import BadInput
from torusweep.networks.families.graph_files import files_of
from torusweep.networks.links import channel_orbits
from torusweep.networks.readers import format_of
from torusweep.networks.readers.fields import text_lines
from torusweep.networks.spelling import parse
from torusweep.networks.symmetry import orbits_under
from torusweep.networks.topology import Topology

# families that certify/check.py derives from a spelling; a test compares
DERIVED = frozenset(
    (
        *("ring", "torus", "mesh", "hypercube", "rt", "pt", "rtt", "ptt", "pdtt", "twisted_torus", "illiac", "sequin"),
        *("lattice", "circulant", "ccc", "mh3dt", "h3dt", "tesh", "graph", "pruned_torus", "partly_pruned_torus"),
        *("pruned_t1", "pruned_t2", "pruned_xy", "directed_torus", "pruned_directed_torus"),
    )
)
TWO_NUMBERS = re.compile(r"[\s,]*[0-9]+[\s,]+[0-9]+[\s,]*")
VERSION = 1  # of the format
MOST_NUMBERS = 2_000_000  # of a proof; the checker takes some seconds


def certificate(kind: str, claim: Mapping[str, Any], proof: Mapping[str, Any]) -> str:
    """The text of a certificate, one line. Fractions become texts. The digest finds damage, and proves nothing."""
    claimed = {name: str(value) if isinstance(value, Fraction) else value for name, value in claim.items()}
    fields = {"version": VERSION, "kind": kind, "claim": claimed, "proof": proof}
    digest = hashlib.sha256(json.dumps([*fields.values()], sort_keys=True).encode()).hexdigest()
    return json.dumps(fields | {"digest": digest}) + "\n"


def check_derived(topology: Topology) -> None:
    """Raise BadInput for a network that certify/check.py does not derive from its spelling."""
    files = files_of(topology.spelling)
    plan = topology.plan
    plain = not plan.bandwidths and np.array_equal(topology.terminals, np.arange(topology.nodes))
    plain &= topology.ends is None
    known = plain and topology.family in DERIVED
    known &= plan.names is None or plan.names == tuple(range(topology.nodes))
    given = parse(topology.spelling).arguments if files else {}
    listed = given.get("format", "edgelist") == "edgelist" and not {"weights", "header"} & given.keys()
    listed &= all(format_of(file) == "edgelist" and _is_plain(file) for file in files)
    if not known or not listed:
        instead = "; export its links as an edge list" if plain else ""
        if plain and plan.names is not None:  # which an edge list keeps
            instead = "; write its links with these numbers in place of names, in their order"
        raise BadInput(
            f"certificate of {topology.spelling}: expected a family that certify/check.py derives"
            f" ({', '.join(sorted(DERIVED))}) or an edge list of nodes 0 … N − 1, two numbers a line and no more,"
            " with a terminal at each node, which forwards packets, and links of one flit a cycle, got another"
            f"{instead}"
        )


def _is_plain(file: Path) -> bool:
    """Whether the lines of an edge list are two numbers each, without a heading, quotes or weights."""
    return all(TWO_NUMBERS.fullmatch(text) for _, text in text_lines(file))


class Group(NamedTuple):
    """Automorphisms by generators, int32[N] each, without those that join no orbits.

    node      int64[N]  first node of each node's orbit
    channel   int64[A]  number of the orbit of each channel, in the order of `Topology.arcs`
    """

    generators: list[np.ndarray]
    node: np.ndarray
    channel: np.ndarray

    @property
    def listed(self) -> list[list[int]]:
        return [image.tolist() for image in self.generators]


def group_of(topology: Topology, images: Sequence[np.ndarray], keeps: Callable[[np.ndarray], bool]) -> Group:
    """The group that those of some proved automorphisms generate that keep what is asked."""
    kept: list[np.ndarray] = []

    def orbits() -> tuple[np.ndarray, np.ndarray]:
        nodes = orbits_under(topology.nodes, kept)
        return nodes.representatives[nodes.member].astype(np.int64), channel_orbits(topology, kept, nodes)

    node, channel = orbits()
    for image in images:
        if keeps(image):
            kept.append(image)
            wider = orbits()
            if len(np.unique(wider[0])) == len(np.unique(node)) and wider[1].max(initial=0) == channel.max(initial=0):
                kept.pop()
            else:
                node, channel = wider
    return Group(kept, node, channel)


def links_of(topology: Topology) -> np.ndarray:
    """int64[A]: parallel links of each channel, in the order of `Topology.arcs`."""
    tail, _, port = topology.arcs
    links = np.ones(topology.ports.shape, np.int64) if topology.capacity is None else topology.capacity
    return links[tail, port].astype(np.int64)
