"""Columns of the table `search`."""

from torusweep.tables.columns import PURE, Column
from torusweep.tables.table import Declaration

SEARCH = (
    Column("topology", "string", "", "spelling of the best graph found; it names a file that every command reads"),
    Column("nodes", "int64", "nodes", "number of nodes", "more"),
    Column("degree", "int64", "links", "greatest number of links of a node", "less"),
    Column("symmetry", "int64", PURE, "the graph is unchanged if its nodes are rotated by 1/symmetry", "neither"),
    Column("objective", "string", "", "what was minimised: mean_distance or diameter"),
    Column("grid", "string", "", "columns x rows of the grid on which the nodes are placed; null without a grid"),
    Column("max_wire", "int64", "places", "greatest permitted Manhattan length of a link; null: any", "neither"),
    Column("seed", "int64", PURE, "seed of the random numbers", "neither"),
    Column("chains", "int64", "chains", "number of chains: searches that started from different graphs", "neither"),
    Column("moves", "int64", "moves", "exchanges of two links that the best chain tried", "neither"),
    Column("diameter", "int64", "hops", "length of the longest shortest path", "less"),
    Column("distance_sum", "int64", "hops", "sum of the distances over ordered pairs of nodes", "less"),
    Column("mean_distance", "double", "hops", "mean distance over all pairs, a node with itself included", "less"),
    Column("mean_distance_distinct", "double", "hops", "mean distance over pairs of distinct nodes", "less"),
    Column(
        "diameter_bound",
        "int64",
        "hops",
        "lower bound of the diameter of any graph of this size, degree and longest wire (Moore)",
        "less",
    ),
    Column(
        "mean_distance_bound",
        "double",
        "hops",
        "lower bound of the mean_distance of any such graph (Cerf, Cowan, Mullin, Stanton 1974)",
        "less",
    ),
    Column("gap", "double", PURE, "objective of the graph divided by its bound, minus 1", "less"),
    Column(
        "optimal",
        "bool",
        "",
        "whether the graph attains the bound of the objective; if false, it may still be the best there is",
    ),
)
TABLE = Declaration(
    *("search", "a search by simulated annealing: the best graph that it found", SEARCH),
    joined=False,
    command="torusweep search",
)
