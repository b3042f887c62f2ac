"""The table of searches."""

from torusweep.tables.columns import Column

SEARCH = (
    Column("topology", "string", "", "the best graph that was found, as a file that every command reads"),
    Column("nodes", "int64", "nodes", "nodes", more=True),
    Column("degree", "int64", "links", "most links of a node"),
    Column("symmetry", "int64", "", "the rotation by 1/symmetry of the nodes is an automorphism"),
    Column("objective", "string", "", "mean_distance | diameter"),
    Column("grid", "string", "", "columns x rows of the places on which the nodes stand; null: nowhere"),
    Column("max_wire", "int64", "places", "longest link permitted, along both axes; null: any"),
    Column("seed", "int64", "", "of the random numbers"),
    Column("chains", "int64", "", "searches that began from graphs of their own"),
    Column("moves", "int64", "", "moves of the chain that found it: tried exchanges of two links"),
    Column("diameter", "int64", "hops", "longest shortest path"),
    Column("distance_sum", "int64", "hops", "sum of the distances over ordered pairs of nodes"),
    Column("mean_distance", "double", "hops", "mean shortest path, a node to itself included"),
    Column("mean_distance_distinct", "double", "hops", "the same over distinct nodes"),
    Column(
        "diameter_bound",
        "int64",
        "hops",
        "no graph of this size, degree and longest wire has a smaller diameter (Moore)",
    ),
    Column(
        "mean_distance_bound", "double", "hops", "none has a smaller mean_distance (Cerf, Cowan, Mullin, Stanton 1974)"
    ),
    Column("gap", "double", "", "what was minimised over its bound, - 1"),
    Column("optimal", "bool", "", "whether it attains the bound"),
)
