"""Columns of the table `static`."""

from torusweep.tables.columns import Column

STATIC = (
    Column("topology", "string", "", "canonical spelling; the key that joins the tables"),
    Column("family", "string", "", "name of the family, the spelling's first word"),
    Column("parameters", "map<string, int64>", "", "the spelling's whole-number parameters, as in parameters['k']"),
    Column("nodes", "int64", "nodes", "nodes; where some have failed, those that work"),
    Column("terminals", "int64", "nodes", "nodes that send and receive; means are over terminals"),
    Column(
        "links",
        "int64",
        "links",
        "links, a bidirectional one counted once (the wiring complexity of Rahman et al. 2005)",
    ),
    Column("directed", "bool", "", "links have one direction"),
    Column("degree_min", "int64", "links", "fewest links leaving a node"),
    Column("degree_max", "int64", "links", "most links leaving a node"),
    Column("diameter", "int64", "hops", "longest shortest path between terminals that are joined by one"),
    Column(
        "mean_distance",
        "double",
        "hops",
        "mean shortest-path length over all ordered pairs, a node to itself included (divided by N)",
    ),
    Column("mean_distance_distinct", "double", "hops", "the same over pairs of distinct nodes (divided by N-1)"),
    Column(
        "connected", "bool", "", "every node reaches every other; where false, distances are over the pairs that do"
    ),
    Column("components", "int64", "", "components; strongly connected ones in a directed network"),
    Column("cost", "int64", "hops x links", "diameter x degree_max"),
    Column(
        "edge_connectivity", "int64", "links", "fewest links whose removal disconnects the network (arc connectivity)"
    ),
    Column(
        "edge_connectivity_method",
        "string",
        "",
        "how it is known: theorem (vertex-transitive: the degree), min-cut, or why it is null",
    ),
    Column(
        "bisection_lower",
        "int64",
        "links",
        "lower bound of the bisection width: arcs from one half to the other, a bidirectional link counted once",
    ),
    Column("bisection_upper", "int64", "links", "upper bound: the best balanced cut found"),
    Column("bisection_method", "string", "", "what gave the lower and the upper bound"),
    Column(
        "vertex_transitive", "bool", "", "an automorphism takes any node to any other; null where neither was proved"
    ),
    Column(
        "edge_transitive",
        "bool",
        "",
        "an automorphism takes any link to any other (arc to arc in a directed network); null where neither was proved",
    ),
    Column("transitivity_method", "string", "", "what proved it"),
    Column("fault_nodes", "int64", "nodes", "node faults at a time in fault_diameter; null where it was not asked for"),
    Column(
        "fault_diameter",
        "int64",
        "hops",
        "largest diameter of what survives fault_nodes faults; null where some set disconnects it",
    ),
    Column("fault_sets", "int64", "", "sets of faults that were tried"),
    Column("fault_method", "string", "", "exhaustive, or sampled with its seed"),
    Column("distance_histogram", "list<int64>", "pairs", "ordered pairs of terminals at distance 0, 1, 2, … hops"),
    Column(
        "notes",
        "string",
        "",
        "what reading a file or faults changed: nodes renumbered, links left out, repeated or failed; empty if nothing",
    ),
    Column(
        "routed_diameter",
        "int64",
        "hops",
        "longest path of the network's own routing; null where it has none, or over 2^27 routes to follow",
    ),
    Column("routed_mean_distance", "double", "hops", "mean path of the network's own routing, divided by N"),
    Column("routed_cost", "int64", "hops x links", "routed_diameter x degree_max"),
)
