"""Every routing with networks that suit it, and patterns of traffic."""

from __future__ import annotations

from torusweep.routing import TURN_MODELS

GRIDS = [
    "torus(k=4, n=2)",
    "torus(radices=[5, 3])",
    "torus(k=2, n=3)",
    "mesh(k=4, n=2)",
    "hypercube(n=4)",
    "ring(k=6)",
    "torus(k=4, n=2, directed=true)",
]
MESHES = ["mesh(radices=[3, 4])", "hypercube(n=3)"]
LATTICES = ["rtt(a=3)", "pdtt(a=2)", "illiac(k=4)", "lattice(matrix=[[4, 1], [1, 5]])", "torus(radices=[6, 4])"]
CAYLEY = [
    "pruned_torus(k=4, n=3)",
    "pruned_t2(k=4)",
    "directed_torus(k=4, n=2)",
    "pruned_directed_torus(k=4, n=3)",
    "ccc(n=3)",
    "rtt(a=2)",
]
PRUNED = ["pruned_torus(k=4, n=3)", "pruned_torus(k=6, n=3)"]
HIERARCHIES = ["mh3dt(m=3, n=2, levels=2, q=0)", "h3dt(m=3, n=2, levels=2, q=1)"]
ANY = ["torus(k=4, n=2)", "mesh(k=3, n=2)", "faulty(torus(k=4, n=2), links=3, seed=2)", "ccc(n=3)"]
SUITED = {
    "minimal": [*ANY, "directed_torus(k=4, n=2)"],
    "minimal_ecmp": [*ANY, "directed_torus(k=4, n=2)"],
    "weighted(by=latency)": ["with_links(torus(k=4, n=2), latencies=[1, 2])", "with_links(ccc(n=3), latencies=[2, 3])"],
    **dict.fromkeys([f"dimension_order(tie={tie})" for tie in ("split", "positive", "sign", "random")], GRIDS),
    "random_order": ["torus(k=4, n=2)", "mesh(k=4, n=2)", "hypercube(n=3)"],
    "reverse_order": ["torus(radices=[5, 3])", "mesh(k=4, n=2)"],
    "romm": ["torus(k=4, n=2)", "torus(k=2, n=3)", "mesh(k=4, n=2)", "torus(k=4, n=2, directed=true)"],
    "romm(tie=positive)": ["torus(k=4, n=2)"],
    **dict.fromkeys(TURN_MODELS, MESHES),
    "west_first(split=paths)": ["mesh(radices=[3, 4])"],
    **dict.fromkeys(("routing_record", "routing_record(tie=positive)"), LATTICES),
    "minimal_by_address": CAYLEY,
    **dict.fromkeys(("clustering", "clustering(tie=positive)"), PRUNED),
    **dict.fromkeys([f"hierarchical(tie={tie})" for tie in ("sign", "positive", "split")], HIERARCHIES),
    **dict.fromkeys(("up_down", 'up_down(root=3, split="paths")'), ANY),
    "by_group": ["dragonfly(a=4, p=1, h=1)"],
    "valiant_by_group": ["dragonfly(a=4, p=1, h=1)", "dragonfly(a=2, p=1, h=3, groups=4)"],
    "valiant_by_group(split=next_hops)": ["dragonfly(a=4, p=1, h=2, groups=4, local=[2, 2])"],
    "valiant": ["torus(k=3, n=2)", "rtt(a=2)", "mesh(k=3, n=2)"],
}
# routings whose routes are shortest paths
MINIMAL = (
    *("minimal", "dimension_order", "reverse_order", "random_order", "romm", "routing_record", "minimal_by_address"),
    *TURN_MODELS,
)
CASES = [(name, network) for name, networks in SUITED.items() for network in networks]
TRAFFICS = [
    "uniform",
    "uniform_other",
    "hot_spot(node=1, percent=20)",
    "random_permutation(seed=3)",
    "nearest_neighbour",
]
