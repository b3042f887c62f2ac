"""Columns of the table `collectives`."""

from torusweep.tables.columns import PURE, Column
from torusweep.tables.table import Declaration

COLLECTIVES = (
    Column("topology", "string", "", "canonical spelling"),
    Column(
        "operation",
        "string",
        "",
        "all_gather, reduce_scatter, all_reduce, all_reduce_in_network, broadcast, reduce or all_to_all",
    ),
    Column(
        "algorithm",
        "string",
        "",
        "name of an algorithm, or of the best time: optimum if this equals the bound, otherwise best_known",
    ),
    Column("terminals", "int64", "terminals", "number of terminals, all of which take part", "more"),
    Column("root", "int64", "terminal", "terminal that data come from or go to; null without a root", "neither"),
    Column(
        "cycles",
        "double",
        "cycles/flit",
        "time for each flit of the operation's size (as nccl-tests define it), if bandwidth decides and all channels"
        " of a node work at once; null if the algorithm is not defined for the network, or no best time is known",
        "less",
    ),
    Column("bound", "double", "cycles/flit", "lower bound of any algorithm's time; null if it is not computed", "less"),
    Column(
        "best_known",
        "double",
        "cycles/flit",
        "least known time, by a theorem or otherwise of the fastest algorithm; null if no time is known",
        "less",
    ),
    Column(
        "optimum",
        "double",
        "cycles/flit",
        "proved least time of any algorithm; null unless bound and best_known are equal (to 1e-6 for a linear program)",
        "less",
    ),
    Column("optimum_share", "double", PURE, "optimum / cycles; null if the optimum is not known", "more"),
    Column("bound_share", "double", PURE, "bound / cycles: the least share of the optimum that is reached", "more"),
    Column("algorithm_bandwidth", "double", "flits/cycle", "size over time, 1 / cycles", "more"),
    Column(
        "bus_bandwidth",
        "double",
        "flits/cycle",
        "algorithm_bandwidth times (N-1)/N, for an all_reduce times 2(N-1)/N, as in nccl-tests; comparable for all"
        " numbers N of terminals",
        "more",
    ),
    Column("steps", "int64", "steps", "number of successive steps; null for optimum and best_known", "less"),
    Column(
        "latency_hops",
        "int64",
        "hops",
        "hops of the longest message in each step, summed over the steps. This sum times the latency of a hop is the"
        " time of an operation without data; null for optimum and best_known",
        "less",
    ),
    Column("pipelined", "bool", "", "whether data are cut into pieces, which go through the steps one after another"),
    Column(
        "busiest_link",
        "list<int64>",
        "nodes",
        "tail and head of the channel with the greatest load; null for optimum and best_known",
    ),
    Column(
        "busiest_link_names",
        "list<string>",
        "",
        "names of these nodes in the network's file or graph; null if nodes have numbers only",
    ),
    Column("ring_order", "list<int64>", "", "terminals in the order of the algorithm's ring; null for none or several"),
    Column(
        "cut_nodes",
        "list<int64>",
        "nodes",
        "proof of the bound: the nodes on the smaller side of the cut whose channels limit the operation; null if a"
        " partition into more sets, or a linear program, proves it",
    ),
    Column(
        "cut_node_names",
        "list<string>",
        "",
        "names of these nodes in the network's file or graph; null if nodes have numbers only",
    ),
    Column("cut_enters", "bool", "", "whether the data must enter the set cut_nodes (true) or leave it (false)"),
    Column(
        "cut_terminals",
        "int64",
        "terminals",
        "number of terminals whose data must cross the cut; 1 for operations that copy or add up",
        "neither",
    ),
    Column(
        "cut_capacity",
        "int64",
        "links",
        "number of channels that cross the cut in that direction, or that join sets of the partition in either"
        " direction; parallel links count each",
        "more",
    ),
    Column("cut_bandwidth", "double", "flits/cycle", "sum of the bandwidths of these channels", "more"),
    Column("parts", "int64", "sets", "number of sets of the partition that proves the bound, or null", "neither"),
    Column(
        "part_of_node",
        "list<int64>",
        "",
        "set of each node in the partition, -1 for nodes without a terminal; null if each node is a set of its own",
    ),
    Column("method", "string", "", "how the bound was proved and the best known time found, or why there is none"),
)
TABLE = Declaration(
    *("collectives", "a network, operation and algorithm: time, bound, and share of the bound", COLLECTIVES),
    title="Collective operations",
    always=("topology", "operation", "algorithm"),
    apart=("operation", "algorithm"),
    certified=("operation",),
)
