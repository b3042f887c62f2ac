"""The few numbers that choose a network, and the winners of each size."""

from torusweep.tables.columns import Column
from torusweep.tables.table import Declaration

SCREEN = (
    Column("topology", "string", "", "canonical spelling"),
    Column("nodes", "int64", "nodes", "nodes", "more"),
    Column(
        "dimensions",
        "int64",
        "dimensions",
        "dimensions n of the lattice Zⁿ/L; null for a network that is none",
        "neither",
    ),
    Column("matrix", "list<int64>", "", "rows of the Hermite normal form, whose columns generate L"),
    Column(
        "class_size",
        "int64",
        "graphs",
        "lattices that a signed permutation of the dimensions maps to this one, or circulants that a unit of Z_N maps"
        " to it; null where each has a row",
        "neither",
    ),
    Column(
        "degree",
        "int64",
        "links",
        "most links of a node; of a lattice 2n, or fewer where some vanish or coincide",
        "less",
    ),
    Column("links", "int64", "links", "links; a bidirectional link counts once", "less"),
    Column("connected", "bool", "", "whether every node reaches every other"),
    Column("diameter", "int64", "hops", "longest shortest path between terminals", "less"),
    Column("distance_sum", "int64", "hops", "sum of the distances over ordered pairs of terminals", "less"),
    Column("mean_distance", "double", "hops", "mean shortest path, a terminal to itself included", "less"),
    Column("mean_distance_distinct", "double", "hops", "the same over distinct terminals", "less"),
    Column("distance_histogram", "list<int64>", "pairs", "ordered pairs of terminals at distance 0, 1, 2, …"),
    Column(
        "load",
        "list<double>",
        "flits/cycle",
        "load of a lattice's channel of each dimension, or the largest of each link class,"
        " at one flit per cycle per terminal, uniform traffic on all shortest paths",
        stored="by place",
    ),
    Column("max_channel_load", "double", "flits/cycle", "the largest of these loads", "less", "by place"),
    Column(
        "saturation_load",
        "double",
        "flits/cycle/terminal",
        "1 / max_channel_load; null without load",
        "more",
        "by place",
    ),
    Column(
        "diameter_bound", "int64", "hops", "no graph of this size and degree has a smaller diameter (Moore)", "less"
    ),
    Column(
        "mean_distance_bound",
        "double",
        "hops",
        "none has a smaller mean_distance (Cerf, Cowan, Mullin, Stanton 1974)",
        "less",
    ),
    Column(
        "lattice_diameter_bound", "int64", "hops", "no lattice of this size has a smaller diameter: Zⁿ's own", "less"
    ),
    Column(
        "lattice_mean_distance_bound", "double", "hops", "no lattice of this size has a smaller mean_distance", "less"
    ),
)

BEST = (
    Column("dimensions", "int64", "dimensions", "dimensions of the lattices that were compared", "neither"),
    Column("nodes", "int64", "nodes", "nodes of these lattices", "more"),
    Column(
        "network",
        "string",
        "",
        "least mean distance | greatest saturation | a known network's name, as in cube | bound of lattices",
    ),
    Column("topology", "string", "", "canonical spelling; null for the bound"),
    Column("degree", "int64", "links", "links of a node", "less"),
    Column("diameter", "int64", "hops", "longest shortest path", "less"),
    Column("mean_distance", "double", "hops", "mean shortest path, a node to itself included", "less"),
    Column(
        "saturation_load",
        "double",
        "flits/cycle/terminal",
        "uniform traffic on all shortest paths; of the bound: its mean distance shared by 2n channels a node",
        "more",
    ),
    Column(
        "all_reduce",
        "double",
        "cycles/flit",
        "least time of an all-reduce for each flit of every node's vector, by any algorithm (torusweep collective);"
        " null for the bound",
        "less",
    ),
    Column(
        "attained", "int64", "lattices", "lattices that are as good; null for a known network and the bound", "neither"
    ),
    Column("lattices", "int64", "lattices", "lattices of this size, all of which were compared", "neither"),
)
TABLE = Declaration(
    *("screen", "a network, or a class of lattices: distances, loads, bounds", SCREEN),
    joined=False,  # whole design spaces may be millions of rows
    certified=("dimensions", "nodes"),
)
WINNERS = Declaration(
    *("best", "a size: the best lattice, a known network, or the bound", BEST),
    apart=("dimensions", "network"),
    joined=False,
    made_of=("screen",),
    rows="torusweep.questions.screen.best:winners",
    sections=("screen",),
    title="Best lattices",
)
