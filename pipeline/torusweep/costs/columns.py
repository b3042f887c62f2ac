"""Columns of the table `equal_cost`."""

from torusweep.tables.columns import Column

EQUAL_COST = (
    Column("topology", "string", "", "canonical spelling"),
    Column("cost_model", "string", "", "as in cost"),
    Column("packing", "string", "", "as in cost: the cheapest of those that the sweep has"),
    Column("traffic", "string", "", "as in loads"),
    Column("routing", "string", "", "the best for this traffic of those that the sweep has"),
    Column("terminals", "int64", "", "terminals", more=True),
    Column("cost_per_terminal", "double", "currency", "as in cost"),
    Column("currency", "string", "", "of the costs"),
    Column("mean_distance", "double", "hops", "as in static"),
    Column(
        "latency",
        "double",
        "cycles",
        "of links, without load, mean over pairs of distinct terminals: latency_mean of static",
    ),
    Column(
        "throughput",
        "double",
        "flits/cycle/terminal",
        "most that links and terminals carry: terminal_saturation_load, at most 1",
        more=True,
    ),
    Column("saturation_per_cost", "double", "flits/cycle/currency", "throughput / cost_per_terminal", more=True),
    Column(
        "on_front",
        "bool",
        "",
        "whether no other network is as good in throughput, latency and cost per terminal, and better in one, by"
        " the same model and traffic",
    ),
)
