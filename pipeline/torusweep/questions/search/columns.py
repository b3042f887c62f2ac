"""The table of searches."""

from torusweep.tables.columns import PURE, Column
from torusweep.tables.table import Declaration

SEARCH = (
    Column("topology", "string", "", "the best graph that was found, as a file that every command reads"),
    Column("nodes", "int64", "nodes", "nodes", "more"),
    Column("degree", "int64", "links", "most links of a node", "less"),
    Column("symmetry", "int64", PURE, "the rotation by 1/symmetry of the nodes is an automorphism", "neither"),
    Column("objective", "string", "", "mean_distance | diameter"),
    Column("grid", "string", "", "columns x rows of the places on which the nodes stand; null: nowhere"),
    Column("max_wire", "int64", "places", "longest link permitted, along both axes; null: any", "neither"),
    Column("seed", "int64", PURE, "of the random numbers", "neither"),
    Column("chains", "int64", "chains", "searches that began from graphs of their own", "neither"),
    Column("moves", "int64", "moves", "moves of the chain that found it: tried exchanges of two links", "neither"),
    Column("diameter", "int64", "hops", "longest shortest path", "less"),
    Column("distance_sum", "int64", "hops", "sum of the distances over ordered pairs of nodes", "less"),
    Column("mean_distance", "double", "hops", "mean shortest path, a node to itself included", "less"),
    Column("mean_distance_distinct", "double", "hops", "the same over distinct nodes", "less"),
    Column(
        "diameter_bound",
        "int64",
        "hops",
        "no graph of this size, degree and longest wire has a smaller diameter (Moore)",
        "less",
    ),
    Column(
        "mean_distance_bound",
        "double",
        "hops",
        "none has a smaller mean_distance (Cerf, Cowan, Mullin, Stanton 1974)",
        "less",
    ),
    Column("gap", "double", PURE, "what was minimised over its bound, - 1", "less"),
    Column("optimal", "bool", "", "whether it attains the bound"),
)
TABLE = Declaration(
    *("search", "a search by simulated annealing: the best graph that it found", SEARCH),
    joined=False,
    command="torusweep search",
)
