"""Columns of the table `loads`, and of the file that `torusweep loads --channels` writes."""

from torusweep.tables.columns import LOST, LOST_TRAFFIC, PURE, Column
from torusweep.tables.table import By, Declaration

LOADS = (
    Column("topology", "string", "", "canonical spelling"),
    Column("routing", "string", "", "canonical spelling of the routing; minimal is uniform over all shortest paths"),
    Column("traffic", "string", "", "canonical spelling of the traffic pattern"),
    Column("method", "string", "", "exact, or monte-carlo: loads estimated from random packets"),
    Column(
        "max_channel_load",
        "double",
        "flits/cycle",
        "largest load of a channel, divided by its bandwidth, at one flit injected per cycle per terminal",
        "less",
    ),
    Column("mean_channel_load", "double", "flits/cycle", "mean load over all channels, used or not", "less"),
    Column(
        "saturation_load",
        "double",
        "flits/cycle/terminal",
        "injection rate at which the busiest channel is full: 1 / max_channel_load; null if all loads are 0",
        "more",
    ),
    Column(
        "ejection_load",
        "double",
        "flits/cycle/terminal",
        "injection rate at which the busiest receiver is full: a terminal receives one flit per cycle, a host as many"
        " as its links carry",
        "more",
    ),
    Column(
        "injection_load",
        "double",
        "flits/cycle/terminal",
        "mean injection rate at which the busiest sender is full: a terminal sends one flit per cycle, a host as many"
        " as its links carry",
        "more",
    ),
    Column(
        "terminal_saturation_load",
        "double",
        "flits/cycle/terminal",
        "the smallest of saturation_load, ejection_load and injection_load",
        "more",
    ),
    Column("link_utilization", "double", PURE, "mean_channel_load / max_channel_load; null if all loads are 0", "more"),
    Column(
        "mean_hops",
        "double",
        "hops",
        "mean path length of an injected flit; a flit to its own source counts with 0 hops, or with Valiant's detour",
        "less",
    ),
    Column(
        "stretch",
        "double",
        PURE,
        "mean_hops / mean hops over shortest paths under the same traffic; null if sampled, or too costly to compute",
        "less",
    ),
    Column(
        "per_class_load",
        "map<string, struct<mean: double, max: double>>",
        "flits/cycle",
        "mean and largest load of each link class, as in per_class_load['x'].max",
    ),
    Column(
        "per_class_hops",
        "map<string, double>",
        "hops",
        "mean hops of an injected flit over the links of each class; the classes add up to mean_hops",
    ),
    Column(
        "max_channel_load_stderr",
        "double",
        "flits/cycle",
        "standard error of max_channel_load; null if the load is exact",
        "less",
    ),
    Column(
        "max_channel_load_low",
        "double",
        "flits/cycle",
        "lower estimate of the largest load. On average, a sampled max_channel_load is too high and this estimate too"
        " low; the true load lies between the two, within four standard errors",
        "less",
    ),
    Column(
        "max_channel_load_low_stderr",
        "double",
        "flits/cycle",
        "standard error of max_channel_load_low; null if the load is exact",
        "less",
    ),
    Column("packets", "int64", "packets", "number of sampled packets; null if the loads are exact", "neither"),
    Column("seed", "int64", PURE, "seed of the sample; null if nothing is sampled", "neither"),
    Column(
        "cut_links",
        "int64",
        "links",
        "links in the best known bisection, a bidirectional link counted once; null if none was searched for",
        "more",
    ),
    Column(
        "effective_cut_links",
        "double",
        "links",
        "the part of cut_links that carries traffic between the halves; the rest carries traffic that returns to the"
        " half it came from",
        "more",
    ),
    Column(
        "phases",
        "list<struct<name: string, volume: double, steps: int64, max_channel_load: double, time: double>>",
        "",
        "phases of a collective operation in order; volume: flits that each terminal sends per flit of its message;"
        " time: cycles per flit of message; null for other traffic",
    ),
    Column(
        "collective_time",
        "double",
        "cycles/flit",
        "time of all phases of a collective operation, per flit of every terminal's message; null for other traffic",
        "less",
    ),
    Column(
        "bus_bandwidth",
        "double",
        "flits/cycle/terminal",
        "bus bandwidth of an all-reduce on N terminals: 2(N-1)/N / collective_time; null for other traffic",
        "more",
    ),
    Column(
        "terminal_bus_bandwidth",
        "double",
        "flits/cycle/terminal",
        "bus_bandwidth if each terminal also sends and receives at most one flit per cycle",
        "more",
    ),
    Column(
        "capacity",
        "double",
        "flits/cycle/terminal",
        "saturation load of the best routing (by linear programming); null if bounds are not requested",
        "more",
    ),
    Column("capacity_minimal", "double", "flits/cycle/terminal", "saturation load of the best minimal routing", "more"),
    Column("capacity_share", "double", PURE, "saturation_load / capacity", "more"),
    Column(
        "worst_case_saturation_load",
        "double",
        "flits/cycle/terminal",
        "saturation load of this routing under its worst permutation",
        "more",
    ),
    Column(
        "bounds_method",
        "string",
        "",
        "method of the bounds and what it proves, or why bounds are null; empty if bounds are not requested",
    ),
    Column(
        "busiest_link_percent",
        "double",
        "%",
        "traffic over the fullest link between nodes, in percent of its capacity; null if demands or links lack a unit",
        "less",
    ),
    Column(
        "links_over_capacity",
        "int64",
        "channels",
        "number of channels with more traffic than capacity; a terminal inside a router has no channel of its own",
        "less",
    ),
    *LOST,
    LOST_TRAFFIC,
)

CHANNEL_LOADS = (
    Column("topology", "string", "", "canonical spelling"),
    Column("routing", "string", "", "canonical spelling of the routing"),
    Column("traffic", "string", "", "canonical spelling of the traffic pattern"),
    Column("from", "int64", "node", "number of the node that the channel leaves", "neither"),
    Column("to", "int64", "node", "number of the node that the channel leads to", "neither"),
    Column("class", "string", "", "link class of the channel"),
    Column(
        "load",
        "double",
        "flits/cycle",
        "flits over the channel, divided by its bandwidth, at one flit injected per cycle per terminal",
        "less",
    ),
)
CHANNEL_NAMES = (  # further columns, for a network from a file or graph with named nodes
    Column("from_name", "string", "", "name, in the network's file or graph, of the node that the channel leaves"),
    Column("to_name", "string", "", "name, in the network's file or graph, of the node that the channel leads to"),
)
CHANNEL_RATES = (  # further columns, if demands and links have units
    Column("carried", "double", "bit/s", "traffic over the channel"),
    Column("capacity", "double", "bit/s", "capacity of the channel, all its parallel links together"),
    Column("percent", "double", "%", "carried in percent of capacity"),
)
RATE = "double", "flits/cycle"
TERMINAL_RATES = (
    *CHANNEL_LOADS[:3],
    Column("terminal", "int64", "terminal", "number of the terminal", "neither"),
    Column("sends", *RATE, "what the terminal sends if all pairs get max-min fair rates", "more"),
    Column("receives", *RATE, "what the terminal receives if all pairs get max-min fair rates", "more"),
    Column("whole_sends", *RATE, "what it sends in the network without its faults; null if there are none", "more"),
    Column(
        "whole_receives", *RATE, "what it receives in the network without its faults; null if there are none", "more"
    ),
    Column(
        "bottleneck",
        "string",
        "",
        "the channel or terminal that stops the slowest pair; null if all traffic that has a route gets its demand",
    ),
)
TERMINAL_NAME = (Column("name", "string", "", "name of the terminal in the network's file or graph"),)
EQUAL_LOAD_DECIMALS = 9  # loads that differ only by rounding are equal
TABLE = Declaration(
    *("loads", "a network, routing and traffic: loads of its channels, saturation", LOADS),
    title="Channel loads",
    always=("topology", "routing", "traffic", "method"),
    apart=("routing", "traffic", "method", "packets", "seed"),
    choose=("routing", "traffic"),
    how=("method", "packets", "seed"),
    usual={"routing": "minimal", "traffic": "uniform"},
    best=(
        By("lost_pairs", first=0),
        By("saturation_load", most=True, digits=EQUAL_LOAD_DECIMALS),
        By("routing", first="minimal"),
        By("routing"),
    ),
    designs=True,
    certified=("traffic",),
)
CHANNELS = Declaration(
    *("channel_loads", "a network, routing, traffic and channel: its load", CHANNEL_LOADS),
    apart=("routing", "traffic"),
    joined=False,
    command="torusweep loads --channels",
)
TERMINALS = Declaration(
    *("terminal_rates", "a network, routing, traffic and terminal: its max-min fair rates", TERMINAL_RATES),
    apart=("routing", "traffic"),
    joined=False,
    command="torusweep loads --terminals",
)
