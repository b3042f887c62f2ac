"""Columns of the table `availability`."""

from torusweep.tables.columns import Column

AVAILABILITY = (
    Column("topology", "string", "", "canonical spelling of the network without failures"),
    Column("fails", "string", "", "links, routers or cubes (blocks of nodes that fail together)"),
    Column("failures", "int64", "", "how many fail at a time; null: each by itself, with a probability"),
    Column("probability", "double", "", "that each fails; null: a fixed number fails"),
    Column(
        "measure",
        "string",
        "",
        "connected: whether all surviving terminals reach each other; largest_component: share of all terminals in the"
        " largest component of survivors; diameter, mean_distance, saturation_load: of the survivors, as in the tables"
        " static and loads; all_reduce: least time of an all-reduce, or where that is not known what reduce-scatter"
        " and all-gather take; deadlock_free: whether"
        " up*/down* routes the survivors; virtual_channels: enough for minimal routes, one a pair, in layers without a"
        " cycle",
    ),
    Column("unit", "string", "", "of the measure; empty where it has none"),
    Column("parts", "int64", "", "links, routers or cubes that can fail"),
    Column("draws", "int64", "", "draws of failures, or combinations, that were looked at"),
    Column(
        "measured",
        "int64",
        "",
        "draws that have a value, which all numbers are of: all for connected, largest_component and deadlock_free,"
        " otherwise those after which all surviving terminals reach each other",
    ),
    Column("intact", "double", "", "value without failures; null: none"),
    Column("mean", "double", "", "mean of the values: of connected and deadlock_free a probability; null: no values"),
    Column("standard_error", "double", "", "of the mean; null where it is exact, or of one draw"),
    Column(
        "mean_low", "double", "", "lower end of the 95 % interval of the mean; null: exact, or all values are the same"
    ),
    Column("mean_high", "double", "", "upper end"),
    Column("q05", "double", "", "5 % quantile: the least value that 5 % of the draws do not exceed"),
    Column("q05_low", "double", "", "lower end of its 95 % interval; null: exact, or too few draws"),
    Column("q05_high", "double", "", "upper end"),
    Column("q50", "double", "", "median"),
    Column("q50_low", "double", "", "lower end of its 95 % interval; null: exact, or too few draws"),
    Column("q50_high", "double", "", "upper end"),
    Column("q95", "double", "", "95 % quantile"),
    Column("q95_low", "double", "", "lower end of its 95 % interval; null: exact, or too few draws"),
    Column("q95_high", "double", "", "upper end"),
    Column("worst", "double", "", "the worst value: the greatest of distances, times and channels, else the least"),
    Column(
        "worst_parts",
        "list<int64>",
        "",
        "what failed in the first draw with the worst value: the two ends of each link, the nodes of routers, the"
        " numbers of cubes",
    ),
    Column("seed", "int64", "", "of random draws; null: all combinations"),
    Column(
        "interval",
        "string",
        "",
        "how the intervals were computed: Wilson or Student's t for the mean, order statistics for quantiles, exact",
    ),
    Column("method", "string", "", "all combinations or random draws, and how the value was computed"),
)
