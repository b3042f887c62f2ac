"""Columns of the table `cost`.

Columns of the table `equal_cost`.
"""

from torusweep.tables.columns import Column
from torusweep.tables.table import By, Declaration

COST = (
    Column("topology", "string", "", "canonical spelling"),
    Column("cost_model", "string", "", "name of a model that comes with the program, or its file"),
    Column(
        "packing",
        "string",
        "",
        "how cabinets are filled: by a placement, by groups or pods, or by the routers' numbers (docs/cost.md)",
    ),
    Column("routers", "int64", "routers", "routers and switches that have a link or a terminal", "less"),
    Column("terminals", "int64", "terminals", "terminals", "more"),
    Column("cabinets", "int64", "cabinets", "cabinets that hold a router", "less"),
    Column("radix", "int64", "ports", "most ports of a router, those of its terminals included", "less"),
    Column(
        "ports", "int64", "ports", "ports of all routers, those of terminals included, whatever their bandwidth", "less"
    ),
    Column(
        "electrical_cables", "int64", "cables", "electrical cables between routers; a bidirectional link is one", "less"
    ),
    Column("optical_cables", "int64", "cables", "optical cables between routers", "less"),
    Column("terminal_cables", "int64", "cables", "electrical cables of terminals; 0 where the model has none", "less"),
    Column("cable_metres", "double", "m", "length of all cables", "less"),
    Column(
        "cable_metres_max", "double", "m", "length of the longest cable between routers; null without cables", "less"
    ),
    Column("circuit_ports", "int64", "ports", "ports of circuit switches: two for each link through them", "less"),
    Column("router_cost", "double", "currency", "of all routers", "less"),
    Column("cable_cost", "double", "currency", "of all cables, and of laying them", "less"),
    Column("circuit_cost", "double", "currency", "of the circuit switches' ports", "less"),
    Column("total_cost", "double", "currency", "of routers, cables and circuit switches", "less"),
    Column("cost_per_terminal", "double", "currency", "total_cost / terminals; null without terminals", "less"),
    Column("watts", "double", "W", "of all ports and optical cables; null where the model has no power", "less"),
    Column("watts_per_terminal", "double", "W", "watts / terminals; null without one of them", "less"),
    Column(
        "energy_per_bit",
        "double",
        "pJ",
        "of a bit in the routers of its route, by shortest paths between distinct terminals, on average: mean distance"
        " + 1 routers; null without power, or where the distances of so large a network would take long",
        "less",
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
    Column("terminals", "int64", "terminals", "terminals", "more"),
    Column("cost_per_terminal", "double", "currency", "as in cost", "less"),
    Column("currency", "string", "", "of the costs"),
    Column("mean_distance", "double", "hops", "as in static", "less"),
    Column(
        "latency",
        "double",
        "cycles",
        "of links, without load, mean over pairs of distinct terminals: latency_mean of static",
        "less",
    ),
    Column(
        "throughput",
        "double",
        "flits/cycle/terminal",
        "most that links and terminals carry: terminal_saturation_load, at most 1",
        "more",
    ),
    Column("saturation_per_cost", "double", "flits/cycle/currency", "throughput / cost_per_terminal", "more"),
    Column(
        "on_front",
        "bool",
        "",
        "whether no other network is as good in throughput, latency and cost per terminal, and better in one, by"
        " the same model and traffic",
    ),
)
TABLE = Declaration(
    *("cost", "a network, cost model and packing: routers, cables, prices, watts", COST),
    apart=("cost_model", "packing"),
    how=("packing",),
    usual={"cost_model": "2014-besta"},
    best=(By("cost_per_terminal"), By("packing")),
)
COMPARED = Declaration(
    *(
        "equal_cost",
        "a network, cost model and traffic: throughput for its price, whether it is on the Pareto front",
        EQUAL_COST,
    ),
    title="Networks at equal cost",
    apart=("traffic", "cost_model"),
    made_of=("static", "loads", "cost"),
    rows="torusweep.questions.cost.arithmetic:compared",
    sections=("cost", "loads"),
    measured=("mean_distance", "latency_mean"),
)
