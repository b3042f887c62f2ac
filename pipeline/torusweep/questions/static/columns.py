"""Columns of the table `static`."""

from torusweep.tables.columns import PURE, Column
from torusweep.tables.table import By, Declaration

GUARANTEE = (
    Column(
        "guarantee_lower",
        "double",
        "flits/cycle/terminal",
        "throughput that Valiant's routing guarantees under any traffic in which no terminal sends or receives more"
        " than a flit per cycle: half the saturation of uniform traffic over all shortest paths; null if not connected,"
        " below two terminals, if hosts with several neighbours forward nothing, or if static's loads take over 1 s",
        "more",
        "by place",
    ),
    Column(
        "guarantee_upper",
        "double",
        "flits/cycle/terminal",
        "no routing guarantees more, by all channels or those of a cut; null if not connected, or below two terminals",
        "more",
    ),
)
STATIC = (
    Column("topology", "string", "", "canonical spelling, the key by which tables are joined"),
    Column("family", "string", "", "name of the family: the first word of the spelling"),
    Column("parameters", "map<string, int64>", "", "whole-number parameters of the spelling, as in parameters['k']"),
    Column("nodes", "int64", "nodes", "number of nodes that have not failed", "more"),
    Column("terminals", "int64", "terminals", "number of terminals, which send and receive packets", "more"),
    Column(
        "links",
        "int64",
        "links",
        "number of links, a bidirectional link counted once (the wiring complexity of Rahman et al. 2005)",
        "less",
    ),
    Column("directed", "bool", "", "whether links have one direction"),
    Column("degree_min", "int64", "links", "least number of links that leave a node", "less"),
    Column("degree_max", "int64", "links", "greatest number of links that leave a node", "less"),
    Column("ports_max", "int64", "ports", "greatest number of links and terminals of a node", "less"),
    Column(
        "diameter",
        "int64",
        "hops",
        "longest shortest path between terminals, over pairs joined by a path; null if measure distances is left out",
        "less",
    ),
    Column(
        "mean_distance",
        "double",
        "hops",
        "mean shortest path over all T² ordered pairs of T terminals, a terminal and itself included",
        "less",
    ),
    Column(
        "mean_distance_distinct", "double", "hops", "mean shortest path over T(T-1) pairs of distinct terminals", "less"
    ),
    Column(
        "connected",
        "bool",
        "",
        "whether every node reaches every other node (if hosts forward nothing: every terminal every other terminal);"
        " if false, distances are over pairs joined by a path",
    ),
    Column(
        "components",
        "int64",
        "components",
        "number of components (strongly connected components if directed); hosts that forward nothing are left out",
        "less",
    ),
    Column("cost", "int64", "hops x links", "diameter x degree_max", "less"),
    Column(
        "edge_connectivity",
        "int64",
        "links",
        "least number of links whose removal disconnects the network (arc connectivity); if hosts forward nothing:"
        " disconnects two terminals",
        "more",
    ),
    Column(
        "edge_connectivity_method",
        "string",
        "",
        "method: theorem (vertex-transitive: the degree) or min-cut; or why edge_connectivity is null",
    ),
    Column(
        "bisection_lower",
        "int64",
        "links",
        "lower bound of the bisection width: links from one half to the other, a bidirectional link counted once",
        "more",
    ),
    Column("bisection_upper", "int64", "links", "upper bound: number of links of the best balanced cut found", "more"),
    Column("bisection_method", "string", "", "methods of the lower and of the upper bound"),
    Column("vertex_transitive", "bool", "", "whether automorphisms take any node to any other; null if not decided"),
    Column(
        "edge_transitive",
        "bool",
        "",
        "whether automorphisms take any link to any other (arc to arc in a directed network); null if not decided",
    ),
    Column("transitivity_method", "string", "", "how both transitivities were decided, or not measured"),
    Column(
        "fault_nodes",
        "int64",
        "nodes",
        "number of simultaneous node faults in fault_diameter; null if it is not requested",
        "more",
    ),
    Column(
        "fault_diameter",
        "int64",
        "hops",
        "largest diameter between survivors of fault_nodes faults; null if some set of faults disconnects them",
        "less",
    ),
    Column("fault_sets", "int64", "sets", "number of fault sets tried", "neither"),
    Column("fault_method", "string", "", "whether fault sets were exhaustive or sampled, and the sample's seed"),
    Column("distance_histogram", "list<int64>", "pairs", "ordered pairs of terminals at distance 0, 1, 2, … hops"),
    Column(
        "notes",
        "string",
        "",
        "changes made when a file was read or nodes failed (nodes renumbered; links left out, repeated or failed), and"
        " measures left out (not measured: …), whose columns are null; empty if there is nothing to note",
    ),
    Column(
        "routed_diameter",
        "int64",
        "hops",
        "longest path of the network's own routing; null if there is none, if it has over 2^27 routes, or if it is not"
        " measured (see notes)",
        "less",
    ),
    Column("routed_mean_distance", "double", "hops", "mean path of the network's own routing over N² pairs", "less"),
    Column("routed_cost", "int64", "hops x links", "routed_diameter x degree_max", "less"),
    Column(
        "router_diameter",
        "int64",
        "hops",
        "longest shortest path between nodes, with or without terminals, over pairs joined by a path",
        "less",
    ),
    Column(
        "router_mean_distance",
        "double",
        "hops",
        "mean shortest-path length over all ordered pairs of distinct nodes, with or without terminals",
        "less",
    ),
    Column(
        "latency_diameter",
        "int64",
        "cycles",
        "longest latency over links between terminals, on paths of the fewest cycles; null if links take different"
        " numbers of cycles and searches would visit over 2^28 channels, or if it is not measured",
        "less",
    ),
    Column(
        "latency_mean",
        "double",
        "cycles",
        "mean latency on fastest paths over ordered pairs of distinct terminals; null if latency_diameter is null",
        "less",
    ),
    *GUARANTEE,
)
TABLE = Declaration(
    *("static", "a network: distances, connectivity, bisection, cost", STATIC),
    title="Network",
    always=("topology", "family", "parameters", "nodes", "terminals"),
    best=(By("fault_nodes"),),
    designs=True,
    certified=(),
    shown=("nodes", "degree_max", "diameter"),
)
DISTANCES = Declaration(
    "distances",
    "a network and a distance: pairs of nodes",
    (
        Column("topology", "string", "", "canonical spelling"),
        Column("distance", "int64", "hops", "distance of the pairs", "less"),
        Column("pairs", "int64", "pairs", "number of ordered pairs of terminals at that distance", "neither"),
        Column("fraction", "double", PURE, "pairs / number of all pairs joined by a path", "neither"),
    ),
    apart=("distance",),
    along="distance",
    joined=False,
    made_of=("static",),
    rows="torusweep.questions.static.record:pairs_by_distance",
    measured=("distance_histogram",),
)
