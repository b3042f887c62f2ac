"""Columns of the table `cost`.

Columns of the table `equal_cost`.
"""

from torusweep.tables.columns import Column

COST = (
    Column("topology", "string", "", "canonical spelling"),
    Column("cost_model", "string", "", "name of a model that comes with the program, or its file"),
    Column(
        "packing",
        "string",
        "",
        "how cabinets are filled: by a placement, by groups or pods, or by the routers' numbers (docs/cost.md)",
    ),
    Column("routers", "int64", "", "routers and switches that have a link or a terminal"),
    Column("terminals", "int64", "", "terminals", more=True),
    Column("cabinets", "int64", "", "cabinets that hold a router"),
    Column("radix", "int64", "ports", "most ports of a router, those of its terminals included"),
    Column("ports", "int64", "ports", "ports of all routers, those of terminals included, whatever their bandwidth"),
    Column("electrical_cables", "int64", "", "electrical cables between routers; a bidirectional link is one"),
    Column("optical_cables", "int64", "", "optical cables between routers"),
    Column("terminal_cables", "int64", "", "electrical cables of terminals; 0 where the model has none"),
    Column("cable_metres", "double", "m", "length of all cables"),
    Column("cable_metres_max", "double", "m", "length of the longest cable between routers; null without cables"),
    Column("circuit_ports", "int64", "ports", "ports of circuit switches: two for each link through them"),
    Column("router_cost", "double", "currency", "of all routers"),
    Column("cable_cost", "double", "currency", "of all cables, and of laying them"),
    Column("circuit_cost", "double", "currency", "of the circuit switches' ports"),
    Column("total_cost", "double", "currency", "of routers, cables and circuit switches"),
    Column("cost_per_terminal", "double", "currency", "total_cost / terminals; null without terminals"),
    Column("watts", "double", "W", "of all ports and optical cables; null where the model has no power"),
    Column("watts_per_terminal", "double", "W", "watts / terminals; null without one of them"),
    Column(
        "energy_per_bit",
        "double",
        "pJ",
        "of a bit in the routers of its route, by shortest paths between distinct terminals, on average: mean distance"
        " + 1 routers; null without power, or where the distances of so large a network would take long",
    ),
    Column("currency", "string", "", "of all costs"),
    Column("date", "string", "", "when the prices held"),
    Column("estimates", "string", "", "parts of the model with a number that no source confirms; null: none"),
    Column("notes", "string", "", "see static"),
)

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
