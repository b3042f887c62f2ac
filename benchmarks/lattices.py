"""Design spaces: distances and loads of all classes of lattices of a size."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import igraph
import numpy as np
from torusweep.networks.families import build
from torusweep.questions.screen.lattices import representatives
from torusweep.questions.screen.spaces import screen_lattices
from torusweep_kernels.distance import all_pairs_distance
from torusweep_kernels.lattices import measure_lattices

from benchmarks.networks import in_igraph
from benchmarks.race import Race

SAMPLE = 50  # lattices that others measure, one graph at a time


def races(*, large: bool, threads: int | None) -> Iterator[Race]:
    for nodes in (128, 512, *((1728,) if large else ())):
        parts = list(representatives(nodes, 3))
        forms = np.concatenate([part.forms for part in parts])
        chosen = forms[:: len(forms) // SAMPLE]
        for loads, work in ((False, "distances"), (True, "loads")):
            contenders, share = sampled(chosen, loads, len(chosen) / len(forms))
            contenders = {"torusweep": partial(ours, forms, loads, threads, len(forms) // SAMPLE), **contenders}
            case = f"{work}, N = {nodes}, n = 3"
            yield Race("lattices", case, nodes, contenders, float(len(forms)), "lattices", share)


def ours(forms: np.ndarray, loads: bool, threads: int | None, step: int) -> np.ndarray:
    """Of all lattices; what is compared, of the sample."""
    found = measure_lattices(forms, loads=loads, threads=threads)
    if loads:
        return found.load.max(axis=1)[::step]
    return hops(found.histogram)[::step]


def hops(histogram: np.ndarray) -> np.ndarray:
    """Sums of distances."""
    return histogram @ np.arange(histogram.shape[-1])


def sampled(
    forms: np.ndarray, loads: bool, share: float
) -> tuple[dict[str, Callable[[], np.ndarray]], dict[str, float]]:
    """A graph at a time, built before: igraph, and for distances our kernel for one network."""
    ports = [build(spelling).ports for spelling in screen_lattices(forms)["topology"].to_pylist()]
    graphs: list[igraph.Graph] = [in_igraph(one) for one in ports]
    source = np.zeros(1, np.int32)
    contenders: dict[str, Callable[[], Any]] = {}
    if loads:
        contenders["igraph"] = lambda: np.array([max(graph.edge_betweenness()) / graph.vcount() for graph in graphs])
    else:
        contenders["igraph"] = lambda: np.array([np.sum(graph.distances(source=[0])) for graph in graphs])
        contenders["a network at a time"] = lambda: np.array(
            [int(hops(all_pairs_distance(one, source, source).histogram[0])) for one in ports]
        )
    return contenders, dict.fromkeys(contenders, share)
