"""Columns of the table `static`."""

from torusweep.tables.columns import PURE, Column
from torusweep.tables.table import By, Declaration

STATIC = (
    Column("topology", "string", "", "canonical spelling; the key that joins the tables"),
    Column("family", "string", "", "name of the family, the spelling's first word"),
    Column("parameters", "map<string, int64>", "", "the spelling's whole-number parameters, as in parameters['k']"),
    Column("nodes", "int64", "nodes", "nodes that have not failed", "more"),
    Column("terminals", "int64", "terminals", "nodes that send and receive; means are over terminals", "more"),
    Column(
        "links",
        "int64",
        "links",
        "links, a bidirectional one counted once (the wiring complexity of Rahman et al. 2005)",
        "less",
    ),
    Column("directed", "bool", "", "links have one direction"),
    Column("degree_min", "int64", "links", "least number of links that leave a node", "less"),
    Column("degree_max", "int64", "links", "greatest number of links that leave a node", "less"),
    Column(
        "ports_max", "int64", "ports", "greatest number of links that leave a node, with the terminals at it", "less"
    ),
    Column(
        "diameter",
        "int64",
        "hops",
        "longest shortest path between terminals, over pairs joined by a path; null where"
        " the measure distances is left out",
        "less",
    ),
    Column(
        "mean_distance",
        "double",
        "hops",
        "mean shortest-path length over all ordered pairs of terminals, a terminal to itself included (divided by T)",
        "less",
    ),
    Column(
        "mean_distance_distinct", "double", "hops", "the same over pairs of distinct terminals (divided by T-1)", "less"
    ),
    Column(
        "connected",
        "bool",
        "",
        "every node reaches every other one (every terminal, where hosts forward nothing); if false, distances are over"
        " pairs joined by a path",
    ),
    Column(
        "components",
        "int64",
        "components",
        "components; strongly connected ones in a directed network; where hosts forward nothing, of the other nodes",
        "less",
    ),
    Column("cost", "int64", "hops x links", "diameter x degree_max", "less"),
    Column(
        "edge_connectivity",
        "int64",
        "links",
        "least number of links whose removal disconnects the network (arc connectivity); where hosts forward nothing,"
        " a terminal from another",
        "more",
    ),
    Column(
        "edge_connectivity_method",
        "string",
        "",
        "method: theorem (vertex-transitive: the degree) or min-cut; or why it is null (not measured: left out)",
    ),
    Column(
        "bisection_lower",
        "int64",
        "links",
        "lower bound of the bisection width: arcs from one half to the other, a bidirectional link counted once",
        "more",
    ),
    Column("bisection_upper", "int64", "links", "upper bound: the best balanced cut found", "more"),
    Column("bisection_method", "string", "", "method of the lower and of the upper bound"),
    Column(
        "vertex_transitive", "bool", "", "an automorphism takes any node to any other; null where neither was proved"
    ),
    Column(
        "edge_transitive",
        "bool",
        "",
        "an automorphism takes any link to any other (arc to arc in a directed network); null where neither was proved",
    ),
    Column("transitivity_method", "string", "", "how it was proved, or not measured"),
    Column(
        "fault_nodes",
        "int64",
        "nodes",
        "simultaneous node faults in fault_diameter; null if it is not requested",
        "more",
    ),
    Column(
        "fault_diameter",
        "int64",
        "hops",
        "largest diameter between survivors of fault_nodes faults; null if some set of faults disconnects them",
        "less",
    ),
    Column("fault_sets", "int64", "sets", "sets of faults that were tried", "neither"),
    Column("fault_method", "string", "", "exhaustive, or sampled with its seed"),
    Column("distance_histogram", "list<int64>", "pairs", "ordered pairs of terminals at distance 0, 1, 2, … hops"),
    Column(
        "notes",
        "string",
        "",
        "changes made when a file was read or nodes failed: nodes renumbered, links left out, repeated or "
        "failed; and which measures the sweep leaves out (not measured: …), whose columns are null; empty if none",
    ),
    Column(
        "routed_diameter",
        "int64",
        "hops",
        "longest path of the network's own routing; null without one, if it has over 2^27 routes, or where notes says"
        " that it is not measured",
        "less",
    ),
    Column("routed_mean_distance", "double", "hops", "mean path of the network's own routing, divided by N", "less"),
    Column("routed_cost", "int64", "hops x links", "routed_diameter x degree_max", "less"),
    Column(
        "router_diameter",
        "int64",
        "hops",
        "longest shortest path between nodes, those without terminals included, over pairs joined by a path",
        "less",
    ),
    Column(
        "router_mean_distance",
        "double",
        "hops",
        "mean shortest-path length over all ordered pairs of distinct nodes, those without terminals included",
        "less",
    ),
    Column(
        "latency_diameter",
        "int64",
        "cycles",
        "longest path of the fewest cycles over links between terminals; null where links take different numbers of"
        " cycles and the searches visit over 2^28 channels, and where notes says that it is not measured",
        "less",
    ),
    Column(
        "latency_mean",
        "double",
        "cycles",
        "mean path of the fewest cycles over all ordered pairs of distinct terminals; null as latency_diameter",
        "less",
    ),
)
TABLE = Declaration(
    *("static", "a network: distances, connectivity, bisection, cost", STATIC),
    title="Network",
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
        Column("distance", "int64", "hops", "distance", "less"),
        Column("pairs", "int64", "pairs", "ordered pairs of terminals at that distance", "neither"),
        Column("fraction", "double", PURE, "their share of the pairs joined by a path", "neither"),
    ),
    apart=("distance",),
    along="distance",
    joined=False,
    made_of=("static",),
    rows="torusweep.questions.static.record:pairs_by_distance",
    measured=("distance_histogram",),
)
