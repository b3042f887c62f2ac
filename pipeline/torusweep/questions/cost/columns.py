"""Columns of the tables `cost` and `equal_cost`."""

from torusweep.tables.columns import Column
from torusweep.tables.table import By, Declaration

COST = (
    Column("topology", "string", "", "canonical spelling"),
    Column("cost_model", "string", "", "name of a cost model that comes with the program, or path of its file"),
    Column(
        "packing",
        "string",
        "",
        "how routers are packed into cabinets: a placement, by groups, by pods, or by routers' numbers (docs/cost.md)",
    ),
    Column("routers", "int64", "routers", "number of routers and switches that have a link or a terminal", "less"),
    Column("terminals", "int64", "terminals", "number of terminals", "more"),
    Column("cabinets", "int64", "cabinets", "number of cabinets that hold a router", "less"),
    Column("radix", "int64", "ports", "greatest number of ports of a router, including those of terminals", "less"),
    Column(
        "ports",
        "int64",
        "ports",
        "ports of all routers, of any bandwidth, including those of terminals; one-way links in and out share ports",
        "less",
    ),
    Column(
        "electrical_cables", "int64", "cables", "number of electrical cables between routers; one for each link", "less"
    ),
    Column("optical_cables", "int64", "cables", "number of optical cables between routers; one for each link", "less"),
    Column("terminal_cables", "int64", "cables", "number of electrical cables to terminals, or 0", "less"),
    Column("cable_metres", "double", "m", "length of all cables", "less"),
    Column(
        "cable_metres_max", "double", "m", "length of the longest cable between routers; null without cables", "less"
    ),
    Column("circuit_ports", "int64", "ports", "number of circuit switches' ports: two for each of their links", "less"),
    Column("router_cost", "double", "currency", "price of all routers", "less"),
    Column("cable_cost", "double", "currency", "price of all cables, including laying them", "less"),
    Column("circuit_cost", "double", "currency", "price of the circuit switches' ports", "less"),
    Column("total_cost", "double", "currency", "price of all routers, cables and circuit switches", "less"),
    Column("cost_per_terminal", "double", "currency", "total_cost / terminals; null without terminals", "less"),
    Column("watts", "double", "W", "power of all ports and optical cables; null if the model has no power", "less"),
    Column("watts_per_terminal", "double", "W", "watts / terminals; null without watts or terminals", "less"),
    Column(
        "energy_per_bit",
        "double",
        "pJ",
        "mean energy of a bit in the routers on a shortest path between distinct terminals (mean distance + 1"
        " routers); null if the model has no power, or the distances of a large network would take long",
        "less",
    ),
    Column("currency", "string", "", "currency of all prices"),
    Column("date", "string", "", "date of the prices"),
    Column("estimates", "string", "", "parts of the model with a number that no source confirms, or null"),
    Column("notes", "string", "", "notes on the network, as in static"),
)

EQUAL_COST = (
    Column("topology", "string", "", "canonical spelling"),
    Column("cost_model", "string", "", "cost model, as in cost"),
    Column("packing", "string", "", "cheapest of the sweep's packings"),
    Column("traffic", "string", "", "traffic pattern, as in loads"),
    Column("routing", "string", "", "best of the sweep's routings for this traffic"),
    Column("terminals", "int64", "terminals", "number of terminals", "more"),
    Column("cost_per_terminal", "double", "currency", "price of the network for each terminal, as in cost", "less"),
    Column("currency", "string", "", "currency of the prices"),
    Column("mean_distance", "double", "hops", "mean distance, as in static", "less"),
    Column(
        "latency",
        "double",
        "cycles",
        "latency_mean of static: mean latency of all links on the way between distinct terminals, without load",
        "less",
    ),
    Column(
        "throughput",
        "double",
        "flits/cycle/terminal",
        "traffic that links and terminals can carry under that routing: terminal_saturation_load, at most 1",
        "more",
    ),
    Column("saturation_per_cost", "double", "flits/cycle/currency", "throughput / cost_per_terminal", "more"),
    Column(
        "on_front",
        "bool",
        "",
        "whether, for the same model and traffic, no other network is at least as good in throughput, latency and cost"
        " per terminal, and better in one of them",
    ),
)
TABLE = Declaration(
    *("cost", "a network, cost model and packing: routers, cables, prices, watts", COST),
    apart=("cost_model", "packing"),
    how=("packing",),
    always=("topology", "cost_model"),
    usual={"cost_model": "2014-besta"},
    best=(By("cost_per_terminal"), By("packing")),
)
COMPARED = Declaration(
    *(
        "equal_cost",
        "a network, cost model and traffic: throughput for its price, and whether it is on the Pareto front",
        EQUAL_COST,
    ),
    title="Networks at equal cost",
    always=("topology", "cost_model", "traffic", "on_front"),
    apart=("traffic", "cost_model"),
    made_of=("static", "loads", "cost"),
    rows="torusweep.questions.cost.arithmetic:compared",
    sections=("cost", "loads"),
    measured=("mean_distance", "latency_mean"),
)
