"""Columns of the tables `screen` (the few numbers that choose a network) and `best` (the winners of each size)."""

from torusweep.questions.static.columns import GUARANTEE
from torusweep.tables.columns import Column
from torusweep.tables.table import Declaration

SCREEN = (
    Column("topology", "string", "", "canonical spelling"),
    Column("nodes", "int64", "nodes", "number of nodes", "more"),
    Column(
        "dimensions",
        "int64",
        "dimensions",
        "number of dimensions n of the lattice graph Zⁿ/L; null for other networks",
        "neither",
    ),
    Column("matrix", "list<int64>", "", "rows of the Hermite normal form whose columns generate L"),
    Column(
        "class_size",
        "int64",
        "graphs",
        "number of graphs in this row's class: lattices related by signed permutations of the dimensions, or"
        " circulants related by units of Z_N; null if each graph has a row",
        "neither",
    ),
    Column(
        "degree",
        "int64",
        "links",
        "largest number of links of a node; in a lattice 2n, or fewer if some links vanish or coincide",
        "less",
    ),
    Column("links", "int64", "links", "number of links; a bidirectional link counts once", "less"),
    Column("connected", "bool", "", "whether every node reaches every other node"),
    Column("diameter", "int64", "hops", "longest shortest path between terminals", "less"),
    Column("distance_sum", "int64", "hops", "sum of the distances over ordered pairs of terminals", "less"),
    Column("mean_distance", "double", "hops", "mean shortest path, a terminal and itself included", "less"),
    Column("mean_distance_distinct", "double", "hops", "mean shortest path of distinct terminals", "less"),
    Column("distance_histogram", "list<int64>", "pairs", "number of terminal pairs at distance 0, 1, 2, …"),
    Column(
        "load",
        "list<double>",
        "flits/cycle",
        "channel load in each dimension of a lattice, or largest load of each link class, at one flit per cycle per"
        " terminal, for uniform traffic over all shortest paths",
        stored="by place",
    ),
    Column("max_channel_load", "double", "flits/cycle", "largest value of load", "less", "by place"),
    Column(
        "saturation_load",
        "double",
        "flits/cycle/terminal",
        "1 / max_channel_load; null if all loads are 0",
        "more",
        "by place",
    ),
    *GUARANTEE,
    Column(
        "diameter_bound", "int64", "hops", "no graph of this size and degree has a smaller diameter (Moore)", "less"
    ),
    Column(
        "mean_distance_bound",
        "double",
        "hops",
        "no graph of this size and degree has a smaller mean_distance (Cerf, Cowan, Mullin, Stanton 1974)",
        "less",
    ),
    Column("lattice_diameter_bound", "int64", "hops", "no lattice of this size has a smaller diameter", "less"),
    Column(
        "lattice_mean_distance_bound", "double", "hops", "no lattice of this size has a smaller mean_distance", "less"
    ),
)

BEST = (
    Column("dimensions", "int64", "dimensions", "number of dimensions of the compared lattices", "neither"),
    Column("nodes", "int64", "nodes", "number of nodes of the compared lattices", "more"),
    Column(
        "network",
        "string",
        "",
        "least mean distance | greatest saturation | a known network's name, such as cube | bound of lattices",
    ),
    Column("topology", "string", "", "canonical spelling; null for the bound"),
    Column("degree", "int64", "links", "number of links of a node", "less"),
    Column("diameter", "int64", "hops", "longest shortest path", "less"),
    Column("mean_distance", "double", "hops", "mean shortest path, a node and itself included", "less"),
    Column(
        "saturation_load",
        "double",
        "flits/cycle/terminal",
        "saturation load for uniform traffic over all shortest paths; for the bound: 2n / its mean_distance",
        "more",
    ),
    Column(
        "all_reduce",
        "double",
        "cycles/flit",
        "least time of an all-reduce by any algorithm, per flit of every node's vector (torusweep collective); null"
        " for the bound",
        "less",
    ),
    Column("attained", "int64", "lattices", "equally good lattices; null for known networks and the bound", "neither"),
    Column("lattices", "int64", "lattices", "number of lattices of this size, all of which were compared", "neither"),
)
TABLE = Declaration(
    *("screen", "a network, or a class of lattices: distances, loads, bounds", SCREEN),
    joined=False,  # whole design spaces may be millions of rows
    certified=("dimensions", "nodes"),
    shown=("nodes", "degree", "diameter"),
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
