"""Columns of the table `loads`, and of the file that `torusweep loads --channels` writes."""

from torusweep.tables.columns import LOST, LOST_TRAFFIC, PURE, Column
from torusweep.tables.table import By, Declaration

LOADS = (
    Column("topology", "string", "", "canonical spelling"),
    Column(
        "routing", "string", "", "canonical spelling of the routing, as in minimal: uniform over all shortest paths"
    ),
    Column("traffic", "string", "", "canonical spelling of the traffic pattern"),
    Column("method", "string", "", "exact, or monte-carlo: estimated from random packets"),
    Column(
        "max_channel_load",
        "double",
        "flits/cycle",
        "largest load of a channel (over its bandwidth) at one flit injected per cycle per terminal",
        "less",
    ),
    Column("mean_channel_load", "double", "flits/cycle", "mean load over all channels, unused ones included", "less"),
    Column(
        "saturation_load",
        "double",
        "flits/cycle/terminal",
        "injection rate at which the busiest channel is full: 1 / max_channel_load; null without load",
        "more",
    ),
    Column(
        "ejection_load",
        "double",
        "flits/cycle/terminal",
        "injection rate at which the terminal that receives most receives one flit per cycle, or a host all that its"
        " links bring",
        "more",
    ),
    Column(
        "injection_load",
        "double",
        "flits/cycle/terminal",
        "injection rate, of the mean terminal, at which the terminal that sends most sends one flit per cycle, or a"
        " host all that its links carry",
        "more",
    ),
    Column(
        "terminal_saturation_load",
        "double",
        "flits/cycle/terminal",
        "the smallest of saturation_load, ejection_load and injection_load",
        "more",
    ),
    Column("link_utilization", "double", PURE, "mean_channel_load / max_channel_load; null without load", "more"),
    Column(
        "mean_hops",
        "double",
        "hops",
        "mean path length of an injected flit; one to its own source counts, with 0 hops or Valiant's way back",
        "less",
    ),
    Column(
        "stretch",
        "double",
        PURE,
        "mean_hops / mean hops of shortest paths under the same traffic; null if sampled, or too large to compute",
        "less",
    ),
    Column(
        "per_class_load",
        "map<string, struct<mean: double, max: double>>",
        "flits/cycle",
        "loads of each link class, as in per_class_load['x'].max",
    ),
    Column(
        "per_class_hops",
        "map<string, double>",
        "hops",
        "mean hops of an injected flit over the links of each class; their sum is mean_hops",
    ),
    Column(
        "max_channel_load_stderr",
        "double",
        "flits/cycle",
        "standard error of max_channel_load; null where it is exact",
        "less",
    ),
    Column(
        "max_channel_load_low",
        "double",
        "flits/cycle",
        "lower estimate: a sampled max_channel_load is too high on average, this one too low; the true value "
        "is between them, within four standard errors",
        "less",
    ),
    Column(
        "max_channel_load_low_stderr",
        "double",
        "flits/cycle",
        "standard error of max_channel_load_low; null where it is exact",
        "less",
    ),
    Column("packets", "int64", "packets", "packets sampled; null where it is exact", "neither"),
    Column("seed", "int64", PURE, "seed of the sample; null where it is exact", "neither"),
    Column(
        "cut_links",
        "int64",
        "links",
        "links of the best known bisection, a bidirectional link counted once; null if none was searched for",
        "more",
    ),
    Column(
        "effective_cut_links",
        "double",
        "links",
        "part of these links that carries traffic between the halves; the rest carries traffic that returns "
        "to its half",
        "more",
    ),
    Column(
        "phases",
        "list<struct<name: string, volume: double, steps: int64, max_channel_load: double, time: double>>",
        "",
        "of a collective operation: its phases in order; volume: flits sent per terminal and flit of message;"
        " time: cycles per flit",
    ),
    Column(
        "collective_time",
        "double",
        "cycles/flit",
        "of a collective operation: cycles per flit of every terminal's message, all phases together",
        "less",
    ),
    Column(
        "bus_bandwidth",
        "double",
        "flits/cycle/terminal",
        "of an all-reduce: 2(N-1)/N / collective_time, N terminals",
        "more",
    ),
    Column(
        "terminal_bus_bandwidth",
        "double",
        "flits/cycle/terminal",
        "the same if each terminal sends and receives at most one flit per cycle",
        "more",
    ),
    Column(
        "capacity",
        "double",
        "flits/cycle/terminal",
        "saturation load of the best of all routings (linear programming); null if bounds are not requested",
        "more",
    ),
    Column("capacity_minimal", "double", "flits/cycle/terminal", "saturation load of the best minimal routing", "more"),
    Column("capacity_share", "double", PURE, "saturation_load / capacity", "more"),
    Column(
        "worst_case_saturation_load",
        "double",
        "flits/cycle/terminal",
        "saturation load under the routing's worst permutation",
        "more",
    ),
    Column(
        "bounds_method",
        "string",
        "",
        "method of the bounds and what is proved; or why they are null; empty if not requested",
    ),
    Column(
        "busiest_link_percent",
        "double",
        "%",
        "what the fullest link between nodes carries, of its capacity; null where demands or links have no unit",
        "less",
    ),
    Column(
        "links_over_capacity",
        "int64",
        "channels",
        "those that carry more than their capacity; a terminal inside a router has no link of its own",
        "less",
    ),
    *LOST,
    LOST_TRAFFIC,
)

CHANNEL_LOADS = (
    Column("topology", "string", "", "canonical spelling"),
    Column("routing", "string", "", "as in loads"),
    Column("traffic", "string", "", "canonical spelling of the traffic pattern"),
    Column("from", "int64", "node", "number of the node that the channel leaves", "neither"),
    Column("to", "int64", "node", "number of the node that it leads to", "neither"),
    Column("class", "string", "", "its link class"),
    Column(
        "load",
        "double",
        "flits/cycle",
        "flits over the channel, divided by its bandwidth, at one flit injected per cycle per terminal",
        "less",
    ),
)
CHANNEL_NAMES = (  # beside them, of a network from a file or a graph with names
    Column("from_name", "string", "", "what the network's file or graph calls the node that the channel leaves"),
    Column("to_name", "string", "", "what it calls the node that it leads to"),
)
CHANNEL_RATES = (  # where demands and links have units
    Column("carried", "double", "bit/s", "what the channel carries of the demands"),
    Column("capacity", "double", "bit/s", "what it can carry, parallel links together"),
    Column("percent", "double", "%", "carried, of the capacity"),
)
EQUAL = 9  # decimals; loads that differ only by rounding are equal
TABLE = Declaration(
    *("loads", "a network, routing and traffic: loads of its channels, saturation", LOADS),
    title="Channel loads",
    apart=("routing", "traffic", "method", "packets", "seed"),
    choose=("routing", "traffic"),
    how=("method", "packets", "seed"),
    usual={"routing": "minimal", "traffic": "uniform"},
    best=(
        By("lost_pairs", first=0),
        By("saturation_load", most=True, digits=EQUAL),
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
