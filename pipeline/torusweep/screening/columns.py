"""The few numbers that choose a network."""

from torusweep.tables.columns import Column

SCREEN = (
    Column("nodes", "int64", "nodes", "nodes"),
    Column("dimensions", "int64", "", "dimensions n of the lattice Zⁿ/L"),
    Column("matrix", "list<int64>", "", "rows of the Hermite normal form, whose columns generate L"),
    Column("class_size", "int64", "", "lattices that a signed permutation of the dimensions maps to this one"),
    Column("degree", "int64", "links", "links of a node: 2n, or fewer where generators vanish or coincide"),
    Column("links", "int64", "links", "bidirectional links"),
    Column("diameter", "int64", "hops", "longest shortest path"),
    Column("distance_sum", "int64", "hops", "sum of the distances from a node to all nodes"),
    Column("mean_distance", "double", "hops", "mean shortest path, a node to itself included: distance_sum / N"),
    Column("mean_distance_distinct", "double", "hops", "the same over distinct nodes: distance_sum / (N - 1)"),
    Column("distance_histogram", "list<int64>", "nodes", "nodes at distance 0, 1, 2, … from a node"),
    Column(
        "load",
        "list<double>",
        "flits/cycle",
        "load of a channel of each dimension, at one flit a terminal and cycle, uniform traffic on all shortest paths",
    ),
    Column("max_channel_load", "double", "flits/cycle", "the largest of these loads"),
    Column("saturation_load", "double", "flits/cycle/terminal", "1 / max_channel_load; null without load"),
    Column("diameter_bound", "int64", "hops", "no graph of this size and degree has a smaller diameter (Moore)"),
    Column(
        "mean_distance_bound", "double", "hops", "none has a smaller mean_distance (Cerf, Cowan, Mullin, Stanton 1974)"
    ),
    Column("lattice_diameter_bound", "int64", "hops", "no lattice of this size has a smaller diameter: Zⁿ's own"),
    Column("lattice_mean_distance_bound", "double", "hops", "no lattice of this size has a smaller mean_distance"),
)
