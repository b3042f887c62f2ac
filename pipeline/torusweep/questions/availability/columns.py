"""Columns of the table `availability`."""

from torusweep.tables.columns import PURE, Column
from torusweep.tables.table import Declaration

QUANTILES = {
    "q05": "5 % quantile: the least value that at least 5 % of the draws do not exceed",
    "q50": "median",
    "q95": "95 % quantile",
}
AVAILABILITY = (
    Column("topology", "string", "", "canonical spelling of the network without failures"),
    Column("fails", "string", "", "kind of part that fails: links, routers or cubes (blocks of nodes)"),
    Column(
        "failures", "int64", "parts", "number of parts that fail at a time; null if each has a probability", "neither"
    ),
    Column("probability", "double", PURE, "probability that a part fails; null if a fixed number fails", "neither"),
    Column(
        "measure",
        "string",
        "",
        "connected: whether all surviving terminals reach each other; largest_component: share of all terminals in the"
        " largest component of the survivors; diameter, mean_distance, saturation_load: as in the tables static and"
        " loads, for the surviving network; all_reduce: least time of an all-reduce, or, if that is not known, time of"
        " a reduce-scatter and an all-gather; deadlock_free: whether up*/down* can route the survivors;"
        " virtual_channels: a number that suffices for minimal routes, one for each pair, in layers without a cycle",
    ),
    Column("unit", "string", "", "unit of the measure; empty if it has none"),
    Column("parts", "int64", "parts", "number of links, routers or cubes that can fail", "neither"),
    Column("draws", "int64", "draws", "number of draws, or of all combinations, that were examined", "neither"),
    Column(
        "measured",
        "int64",
        "draws",
        "number of draws that have a value, over which mean and quantiles are taken: all draws for connected,"
        " largest_component and deadlock_free, otherwise the draws after which all surviving terminals are connected",
        "neither",
    ),
    Column("intact", "double", "of the measure", "value without failures; null if there is none", "neither"),
    Column(
        "mean",
        "double",
        "of the measure",
        "mean of the values, which is a probability for connected and deadlock_free; null without values",
        "neither",
    ),
    Column(
        "standard_error", "double", "of the measure", "standard error of mean; null if exact, or for one draw", "less"
    ),
    Column(
        "mean_low",
        "double",
        "of the measure",
        "lower end of the 95 % interval of the mean; null if the mean is exact, or all values are equal",
        "neither",
    ),
    Column("mean_high", "double", "of the measure", "upper end of the 95 % interval of the mean", "neither"),
    *(
        Column(f"{name}{end}", "double", "of the measure", words, "neither")
        for name, meaning in QUANTILES.items()
        for end, words in {
            "": meaning,
            "_low": f"lower end of the 95 % interval of {name}; null if it is exact, or there are too few draws",
            "_high": f"upper end of the 95 % interval of {name}",
        }.items()
    ),
    Column(
        "worst",
        "double",
        "of the measure",
        "worst value drawn: the greatest for distances, times and virtual channels, the least for other measures",
        "neither",
    ),
    Column(
        "worst_parts",
        "list<int64>",
        "",
        "failed parts of the first draw that has the worst value: the two ends of each link, the node of each router,"
        " or the number of each cube",
    ),
    Column("seed", "int64", PURE, "seed of the random draws; null if all combinations were taken", "neither"),
    Column(
        "interval",
        "string",
        "",
        "method of the intervals: Wilson or Student's t (mean), order statistics (quantiles), or exact",
    ),
    Column("method", "string", "", "whether all combinations or random draws were taken, and how values were computed"),
)
TABLE = Declaration(
    *("availability", "a network, failures and measure: distribution of the measure over draws", AVAILABILITY),
    title="After failures",
    always=("topology", "measure"),
    apart=("measure", "fails", "failures", "probability", "seed"),
    how=("seed",),
)
