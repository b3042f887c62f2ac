"""Columns of the table `loads`, and of the file that `torusweep loads --channels` writes."""

from torusweep.tables.columns import Column

LOADS = (
    Column("topology", "string", "", "canonical spelling"),
    Column(
        "routing", "string", "", "canonical spelling of the routing, as in minimal: uniform over all shortest paths"
    ),
    Column("traffic", "string", "", "canonical spelling of the traffic pattern"),
    Column("method", "string", "", "exact; or monte-carlo: from random packets"),
    Column(
        "max_channel_load",
        "double",
        "flits/cycle",
        "largest load of a channel (over its capacity) at one flit injected per terminal and cycle",
    ),
    Column("mean_channel_load", "double", "flits/cycle", "mean load of a channel, unused ones included"),
    Column(
        "saturation_load",
        "double",
        "flits/cycle/terminal",
        "injection that fills the busiest channel: 1 / max_channel_load; null without load",
    ),
    Column(
        "ejection_load",
        "double",
        "flits/cycle/terminal",
        "injection at which the terminal that receives most receives a flit a cycle",
    ),
    Column(
        "terminal_saturation_load", "double", "flits/cycle/terminal", "the smaller of saturation_load and ejection_load"
    ),
    Column("link_utilization", "double", "", "mean_channel_load / max_channel_load; null without load"),
    Column("mean_hops", "double", "hops", "mean path of an injected flit; one to its own source counts, with 0 hops"),
    Column(
        "stretch",
        "double",
        "",
        (
            "mean_hops over that of shortest paths under the same traffic;"
            " null where it is sampled, or too large to compute"
        ),
    ),
    Column(
        "per_class_load",
        "map<string, struct<mean: double, max: double>>",
        "flits/cycle",
        "of each link class, as in per_class_load['x'].max",
    ),
    Column(
        "per_class_hops",
        "map<string, double>",
        "hops",
        "mean hops over the links of each class, of an injected flit; together, mean_hops",
    ),
    Column(
        "max_channel_load_stderr", "double", "flits/cycle", "standard error of max_channel_load; null where it is exact"
    ),
    Column(
        "max_channel_load_low",
        "double",
        "flits/cycle",
        (
            "on average too low, where a sampled max_channel_load is too high;"
            " the truth lies between them but for four standard errors either way"
        ),
    ),
    Column(
        "max_channel_load_low_stderr",
        "double",
        "flits/cycle",
        "standard error of max_channel_load_low; null where it is exact",
    ),
    Column("packets", "int64", "packets", "packets sampled; null where it is exact"),
    Column("seed", "int64", "", "seed of the sample; null where it is exact"),
    Column(
        "cut_links",
        "int64",
        "links",
        (
            "links of the narrowest balanced cut that is known, a bidirectional one counted once;"
            " null where none was sought"
        ),
    ),
    Column(
        "effective_cut_links",
        "double",
        "links",
        "of these, what carries traffic that must cross; the rest carries what returns to its own half",
    ),
    Column(
        "phases",
        "list<struct<name: string, volume: double, steps: int64, max_channel_load: double, time: double>>",
        "",
        (
            "of a collective operation: its phases, one after the other;"
            " volume: flits sent per terminal and flit of message; time: cycles per flit"
        ),
    ),
    Column(
        "collective_time",
        "double",
        "cycles/flit",
        "of a collective operation: cycles per flit of every terminal's message, all phases together",
    ),
    Column(
        "bus_bandwidth", "double", "flits/cycle/terminal", "of an all-reduce: 2(N-1)/N / collective_time, N terminals"
    ),
    Column(
        "terminal_bus_bandwidth",
        "double",
        "flits/cycle/terminal",
        "the same where each terminal sends, and receives, a flit a cycle at most",
    ),
    Column(
        "capacity",
        "double",
        "flits/cycle/terminal",
        "what the best routing of all carries (linear programming); null where bounds are not asked for",
    ),
    Column("capacity_minimal", "double", "flits/cycle/terminal", "what the best minimal routing carries"),
    Column("capacity_share", "double", "", "saturation_load / capacity"),
    Column(
        "worst_case_saturation_load",
        "double",
        "flits/cycle/terminal",
        "saturation load under the permutation that is worst for the routing",
    ),
    Column(
        "bounds_method",
        "string",
        "",
        "how the bounds were found, and how far they are proved; or why they are null; empty where not asked for",
    ),
)

CHANNEL_LOADS = (
    Column("topology", "string", "", "canonical spelling"),
    Column("routing", "string", "", "as in loads"),
    Column("traffic", "string", "", "canonical spelling of the traffic pattern"),
    Column("from", "int64", "", "number of the node that the channel leaves"),
    Column("to", "int64", "", "number of the node that it leads to"),
    Column("class", "string", "", "its link class"),
    Column(
        "load",
        "double",
        "flits/cycle",
        "flits over the channel, divided by its capacity, at one flit injected per terminal and cycle",
    ),
)
