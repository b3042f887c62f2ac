"""Columns of the table `availability`."""

from torusweep.tables.columns import PURE, Column
from torusweep.tables.table import Declaration

QUANTILES = {
    "q05": "5 % quantile: the least value that 5 % of the draws do not exceed",
    "q50": "median",
    "q95": "95 % quantile",
}
AVAILABILITY = (
    Column("topology", "string", "", "canonical spelling of the network without failures"),
    Column("fails", "string", "", "links, routers or cubes (blocks of nodes that fail together)"),
    Column(
        "failures", "int64", "parts", "how many fail at a time; null: each by itself, with a probability", "neither"
    ),
    Column("probability", "double", PURE, "that each fails; null: a fixed number fails", "neither"),
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
    Column("parts", "int64", "parts", "links, routers or cubes that can fail", "neither"),
    Column("draws", "int64", "draws", "draws of failures, or combinations, that were looked at", "neither"),
    Column(
        "measured",
        "int64",
        "draws",
        "draws that have a value, which all numbers are of: all for connected, largest_component and deadlock_free,"
        " otherwise those after which all surviving terminals reach each other",
        "neither",
    ),
    Column("intact", "double", "of the measure", "value without failures; null: none", "neither"),
    Column(
        "mean",
        "double",
        "of the measure",
        "mean of the values: of connected and deadlock_free a probability; null: no values",
        "neither",
    ),
    Column("standard_error", "double", "of the measure", "of the mean; null where it is exact, or of one draw", "less"),
    Column(
        "mean_low",
        "double",
        "of the measure",
        "lower end of the 95 % interval of the mean; null: exact, or all values are the same",
        "neither",
    ),
    Column("mean_high", "double", "of the measure", "upper end", "neither"),
    *(
        Column(f"{name}{end}", "double", "of the measure", words, "neither")
        for name, meaning in QUANTILES.items()
        for end, words in {
            "": meaning,
            "_low": "lower end of its 95 % interval; null: exact, or too few draws",
            "_high": "upper end",
        }.items()
    ),
    Column(
        "worst",
        "double",
        "of the measure",
        "the worst value: the greatest of distances, times and channels, else the least",
        "neither",
    ),
    Column(
        "worst_parts",
        "list<int64>",
        "",
        "what failed in the first draw with the worst value: the two ends of each link, the nodes of routers, the"
        " numbers of cubes",
    ),
    Column("seed", "int64", PURE, "of random draws; null: all combinations", "neither"),
    Column(
        "interval",
        "string",
        "",
        "how the intervals were computed: Wilson or Student's t for the mean, order statistics for quantiles, exact",
    ),
    Column("method", "string", "", "all combinations or random draws, and how the value was computed"),
)
TABLE = Declaration(
    *("availability", "a network, failures and measure: its distribution over draws", AVAILABILITY),
    title="After failures",
    apart=("measure", "fails", "failures", "probability", "seed"),
    how=("seed",),
)
