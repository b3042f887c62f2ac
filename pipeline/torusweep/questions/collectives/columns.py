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
        "as 'torusweep collective --help' lists them; optimum: the best of all; best_known: in its place where its time"
        " is more than the bound, or none is known",
    ),
    Column("terminals", "int64", "terminals", "that take part: all", "more"),
    Column(
        "root", "int64", "terminal", "terminal from which, or to which, the data go; null without a root", "neither"
    ),
    Column(
        "cycles",
        "double",
        "cycles/flit",
        "time for each flit of the operation's size (as nccl-tests define it), if bandwidth decides and all channels of"
        " a node work at once; null where the algorithm does not suit the network, and where no best is known",
        "less",
    ),
    Column("bound", "double", "cycles/flit", "no algorithm takes less; null if it is too large to compute", "less"),
    Column(
        "best_known",
        "double",
        "cycles/flit",
        "the least time known: what a theorem attains, else the fastest algorithm; null where none is known",
        "less",
    ),
    Column(
        "optimum",
        "double",
        "cycles/flit",
        "the least time of any algorithm, proved: bound and best_known meet (a linear program: to 1e-6); null where"
        " they do not",
        "less",
    ),
    Column("optimum_share", "double", PURE, "optimum / cycles; null where the optimum is not known", "more"),
    Column("bound_share", "double", PURE, "bound / cycles: at least this share of the optimum is reached", "more"),
    Column("algorithm_bandwidth", "double", "flits/cycle", "size over time, 1 / cycles", "more"),
    Column(
        "bus_bandwidth",
        "double",
        "flits/cycle",
        "the same times (N-1)/N, of an all_reduce times 2(N-1)/N, as in nccl-tests: comparable for all numbers N of"
        " terminals",
        "more",
    ),
    Column("steps", "int64", "steps", "messages that follow each other; null for the best of all", "less"),
    Column(
        "latency_hops",
        "int64",
        "hops",
        "hops of the longest message of each step, summed: times the latency of a hop it is the time for no data;"
        " null for the best of all",
        "less",
    ),
    Column("pipelined", "bool", "", "whether the data go through the steps in pieces that follow each other"),
    Column(
        "busiest_link",
        "list<int64>",
        "nodes",
        "tail and head of the channel that carries most; null for the best of all",
    ),
    Column(
        "busiest_link_names",
        "list<string>",
        "",
        "the same, as the network's file or graph calls the nodes; null where they have numbers only",
    ),
    Column("ring_order", "list<int64>", "", "terminals in the order of its ring; null without a ring, and of several"),
    Column(
        "cut_nodes",
        "list<int64>",
        "nodes",
        "what proves the bound: the set of nodes, the smaller side, whose channels limit it; null where a partition"
        " into more sets, or a linear program, does",
    ),
    Column(
        "cut_node_names",
        "list<string>",
        "",
        "the same, as the network's file or graph calls the nodes; null where they have numbers only",
    ),
    Column("cut_enters", "bool", "", "whether the data must enter that set, rather than leave it"),
    Column(
        "cut_terminals",
        "int64",
        "terminals",
        "terminals whose data must cross; 1 for operations that copy or add up",
        "neither",
    ),
    Column(
        "cut_capacity",
        "int64",
        "links",
        "channels that cross, in that direction, each of parallel links; between the sets of a partition, in both"
        " directions",
        "more",
    ),
    Column("cut_bandwidth", "double", "flits/cycle", "of these channels together", "more"),
    Column(
        "parts", "int64", "sets", "sets of the partition that proves the bound of an all_reduce; null: a cut", "neither"
    ),
    Column(
        "part_of_node",
        "list<int64>",
        "",
        "set of each node in that partition, -1 where it has no terminal; null where each node is a set of its own",
    ),
    Column("method", "string", "", "what proves the bound and what attains it or is known best, or why there is none"),
)
TABLE = Declaration(
    *("collectives", "a network, operation and algorithm: time, bound, share of the bound", COLLECTIVES),
    title="Collective operations",
    apart=("operation", "algorithm"),
    certified=("operation",),
)
