"""Every table's columns, declared once: name, Arrow type, unit, meaning.

The Parquet schema, `torusweep query --schema`, the report's captions and docs/tables.md all come
from here. `pyarrow` is imported only where a schema is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa


class Column(NamedTuple):
    """type: an Arrow type's alias, list<…>, map<string, …> or struct<name: …>; unit: '' where a number has none."""

    name: str
    type: str
    unit: str
    meaning: str


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

POINTS = (
    Column("key", "string", "", "digest of the network, the files it names, what is asked, and the code that answers"),
    Column("stage", "string", "", "the table that it has a row of, or several"),
    Column("topology", "string", "", "canonical spelling"),
    Column("fault_nodes", "int64", "nodes", "node faults at a time in fault_diameter; null where it is not asked for"),
    Column("routing", "string", "", "of a row of loads or deadlock: its routing's canonical spelling"),
    Column("traffic", "string", "", "of a row of loads: its traffic pattern's canonical spelling"),
    Column("packets", "int64", "packets", "of loads that are sampled: packets at most; null where they are exact"),
    Column("seed", "int64", "", "of loads that are sampled"),
    Column(
        "relative_error",
        "double",
        "",
        "of loads that are sampled: standard error of the largest, as a share of it, at which the sample ends",
    ),
    Column("bounds", "bool", "", "of loads: whether capacity and worst case are asked for, too"),
    Column("vc_rule", "string", "", "of a row of deadlock: its virtual-channel rule's canonical spelling"),
    Column("virtual_channels", "int64", "", "of a row of deadlock: virtual channels of every channel"),
    Column("placement", "string", "", "of a row of layout: its placement's canonical spelling"),
    Column("simulation", "string", "", "of rows of simulation: what is asked for, as JSON"),
    Column(
        "estimated_seconds",
        "double",
        "s",
        "what it will take on one core, within a factor of about five: long ones are computed first",
    ),
)

DISTANCES = (
    Column("topology", "string", "", "canonical spelling"),
    Column("distance", "int64", "hops", "distance"),
    Column("pairs", "int64", "pairs", "ordered pairs of terminals at that distance"),
    Column("fraction", "double", "", "their share of the pairs that are joined by a path"),
)

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

DEADLOCK = (
    Column("topology", "string", "", "canonical spelling"),
    Column("routing", "string", "", "canonical spelling of the routing"),
    Column("vc_rule", "string", "", "canonical spelling of the virtual-channel rule"),
    Column(
        "virtual_channels",
        "int64",
        "channels",
        "virtual channels of every physical one, shared out evenly among the rule's classes",
    ),
    Column(
        "channels",
        "int64",
        "channels",
        (
            "pairs of a channel and a virtual one (of adaptive routing: of its escape) that some packet passes;"
            " null where only a superset was searched"
        ),
    ),
    Column(
        "dependencies",
        "int64",
        "",
        "ordered pairs of these that some packet passes one after the other (of an escape: holds and asks for);"
        " null likewise, and of an escape with more than 10,000 channels",
    ),
    Column("acyclic", "bool", "", "the channel dependency graph has no cycle"),
    Column("deadlock_free", "string", "", "yes, no, or unknown where nothing is proved"),
    Column(
        "argument", "string", "", "what proves it: acyclic, escape-acyclic, bubble, counterexample; or why nothing does"
    ),
    Column(
        "cycle",
        "list<string>",
        "",
        "a shortest cycle (of a counterexample, where there is one; of an escape with more than 10,000 channels,"
        " through some channel): node, its digits, direction, virtual channel; null where there is none",
    ),
    Column("cycle_length", "int64", "channels", "channels of that cycle"),
    Column(
        "packets",
        "list<string>",
        "",
        "for each channel of the cycle a packet, source → destination, that holds it and asks for the next"
        " (the last: for the first); null where there is no cycle, or no packets are shown for it",
    ),
    Column(
        "least_virtual_channels",
        "int64",
        "channels",
        (
            "fewest with which one of the rules (bubble apart; r05_wrap in its first reading)"
            " makes the graph acyclic; null: see least_reason"
        ),
    ),
    Column("least_rule", "string", "", "that rule"),
    Column(
        "least_reason",
        "string",
        "",
        "why there is no such number: no rule offered has one, or it is not determined; null where there is one",
    ),
)

LATENCY = (
    Column("topology", "string", "", "canonical spelling; null for a cube whose radix is no whole number"),
    Column(
        "model",
        "string",
        "",
        "parhami-kwai-2004: virtual cut-through, contention; dally-1990: constant bisection, no contention",
    ),
    Column("nodes", "int64", "nodes", "nodes"),
    Column("degree", "int64", "channels", "channels that leave a node, at most"),
    Column("directed", "bool", "", "links have one direction"),
    Column("mean_distance", "double", "hops", "mean distance that the model was given, divided by N"),
    Column("message_bits", "double", "bits", "length of a message, L"),
    Column(
        "constant",
        "string",
        "",
        "what networks compared have alike: pins, bisection (always, in dally-1990) or wiring_volume",
    ),
    Column(
        "budget",
        "double",
        "per node",
        "how much of that: pins; wires across the middle, both ways (over bisection_upper); pitches of all wires",
    ),
    Column("placement", "string", "", "of constant wiring_volume: that of the table layout whose wires are meant"),
    Column(
        "pins",
        "double",
        "pins",
        "of a node, one a bit of each outgoing channel: degree x width; of dally-1990 in and out, n k",
    ),
    Column("switch_delay", "double", "cycles", "from a channel into the next, s; null in dally-1990"),
    Column(
        "wire_delay",
        "string",
        "",
        "of dally-1990: a cycle is constant, or grows with the longest wire: logarithmic, linear",
    ),
    Column("locality", "double", "", "of dally-1990: mean distance as a share of the uniform one"),
    Column("dimension", "int64", "", "of dally-1990: n"),
    Column("radix", "double", "", "of dally-1990: k = N^(1/n), a real number; the largest, where they are whole"),
    Column("radices", "string", "", "of dally-1990: real, as in the paper, or whole"),
    Column("longest_wire", "double", "node pitches", "of dally-1990, as printed (Eq. 13): k^(n/2-1)"),
    Column(
        "longest_wire_corrected",
        "double",
        "node pitches",
        "twice that where its rings have more than two nodes: its own layout folds them",
    ),
    Column(
        "width",
        "double",
        "bits",
        "of a channel, W: the budget over what a bit costs (pins: pins / degree); of dally-1990 k/2",
    ),
    Column("flits", "double", "flits", "of a message, L/W"),
    Column(
        "rate",
        "double",
        "messages/cycle/node",
        "messages that a node sends, m; null in dally-1990, as everything that contention decides",
    ),
    Column("load", "double", "flits/cycle/node", "the same in flits, m L/W"),
    Column("utilization", "double", "", "of every channel, if all were equally busy: P04's rho = (m/d) F D"),
    Column(
        "utilization_max",
        "double",
        "",
        "of the busiest channel: load x max_channel_load (table loads); null where it was not computed",
    ),
    Column("uncontended_latency", "double", "cycles", "of an empty network: F + s(D-1); of dally-1990 mean_latency"),
    Column("store_and_forward_latency", "double", "cycles", "of an empty network that stores a message at every hop"),
    Column("cut_through_probability", "double", "", "that a message meets no wait at a hop, as printed: 1 - p_w"),
    Column("contention_delay", "double", "cycles", "waits along a path, as printed: T_c; infinite from saturation on"),
    Column("mean_latency", "double", "cycles", "as the paper prints the model; infinite from saturation on"),
    Column(
        "mean_latency_corrected",
        "double",
        "cycles",
        (
            "over link classes as busy as minimal routing makes them, null where loads were not computed;"
            " of dally-1990 with longest_wire_corrected"
        ),
    ),
    Column("saturated", "bool", "", "mean_latency is infinite: rate >= saturation_rate"),
    Column("saturated_corrected", "bool", "", "mean_latency_corrected is infinite: rate >= saturation_rate_corrected"),
    Column("saturation_rate", "double", "messages/cycle/node", "as the paper prints it: d / (F D)"),
    Column(
        "saturation_rate_corrected", "double", "messages/cycle/node", "of the busiest channel: 1 / (F max_channel_load)"
    ),
    Column("saturation_bits", "double", "bits/cycle/node", "saturation_rate in bits, as printed: d W / D"),
    Column(
        "saturation_bits_corrected",
        "double",
        "bits/cycle/node",
        "saturation_rate_corrected in bits: saturation_load (table loads) x width",
    ),
    Column(
        "best_dimension",
        "int64",
        "",
        (
            "of dally-1990: n of least mean_latency for these nodes, message_bits, wire_delay, locality;"
            " the lowest of several"
        ),
    ),
    Column("best_dimension_corrected", "int64", "", "the same of least mean_latency_corrected"),
)

LAYOUT = (
    Column("topology", "string", "", "canonical spelling"),
    Column("placement", "string", "", "canonical spelling of the placement, as in folded or trellis(block=[4, 4])"),
    Column("dimensions", "int64", "", "dimensions of space in which places lie"),
    Column("extent", "list<int64>", "pitches", "places along each dimension of the bounding box"),
    Column(
        "places",
        "int64",
        "",
        "places of nodes, or of cabinets, all that the box has: its area in the plane, its volume in space",
    ),
    Column(
        "block",
        "list<int64>",
        "nodes",
        "sides of a cabinet along each digit of the address; null where every node has its own place",
    ),
    Column(
        "cables",
        "int64",
        "links",
        "links between cabinets, a bidirectional one counted once; null where there are none",
    ),
    Column(
        "wire_length_max",
        "int64",
        "pitches",
        "longest wire, along the dimensions of space (Manhattan); null without wires",
    ),
    Column(
        "wire_length_mean",
        "double",
        "pitches",
        "mean length of a wire; those within a cabinet do not count; null without wires",
    ),
    Column("wire_length_total", "int64", "pitches", "length of all wires, a bidirectional link counted once"),
    Column("wire_length_max_euclidean", "double", "pitches", "the same as the crow flies; null without wires"),
    Column("wire_length_mean_euclidean", "double", "pitches", "the same as the crow flies; null without wires"),
    Column("wire_length_total_euclidean", "double", "pitches", "the same as the crow flies"),
    Column(
        "wire_length_histogram",
        "list<struct<length: int64, wires: int64>>",
        "pitches",
        "wires of each length (Manhattan) that occurs",
    ),
    Column(
        "per_class_wire_length",
        "map<string, struct<mean: double, max: double>>",
        "pitches",
        "of each link class (Manhattan)",
    ),
    Column(
        "wire_density_max",
        "double",
        "channels",
        "most one-way channels that cross a gap between places of a row along x, on average over rows",
    ),
    Column(
        "wire_density_position",
        "int64",
        "pitches",
        "places before the first gap where so many do; null where a row has one place",
    ),
    Column("wire_density_middle", "double", "channels", "channels that cross the middle of a row"),
    Column(
        "middle_channels",
        "int64",
        "channels",
        "channels that cross the middle of the whole layout, in the dimension where they are fewest",
    ),
    Column(
        "channel_width",
        "double",
        "bits",
        "width of a channel if as many wires cross the middle as there are nodes (Dally 1990); null where none does",
    ),
    Column("pins", "double", "bits", "most pins of a node at that width, incoming and outgoing channels together"),
    Column(
        "layout_volume",
        "double",
        "wire pitches",
        (
            "least volume of a box with room for the nodes and for the wires across its densest sections;"
            " in the plane, area; null for cabinets"
        ),
    ),
    Column("notes", "string", "", "as in static"),
)

SIMULATION = (
    Column("topology", "string", "", "canonical spelling"),
    Column("routing", "string", "", "canonical spelling of the routing"),
    Column(
        "vc_rule", "string", "", "canonical spelling of the virtual-channel rule; of adaptive routing, its escape's"
    ),
    Column("virtual_channels", "int64", "channels", "virtual channels of every physical one"),
    Column("switching", "string", "", "wormhole, virtual-cut-through or store-and-forward"),
    Column("buffer_flits", "int64", "flits", "buffer of every virtual channel"),
    Column("packet_flits", "int64", "flits", "length of every packet"),
    Column(
        "input_speedup",
        "int64",
        "channels",
        "virtual channels of an input port that may send in the same cycle, a flit each",
    ),
    Column("router", "string", "", "preset that gave the router's delays, and what was not asked for otherwise"),
    Column("traffic", "string", "", "canonical spelling of the traffic pattern; null of a workload"),
    Column(
        "injection",
        "string",
        "",
        (
            "when terminals generate packets: bernoulli, poisson or bursts, canonical spelling;"
            " null of messages and of a fixed batch"
        ),
    ),
    Column(
        "source_queue",
        "int64",
        "packets",
        "that the queue of a node's source holds; what is generated when it is full is refused; null: any number",
    ),
    Column(
        "packets_each",
        "int64",
        "packets",
        "of a fixed batch: packets of every terminal, all ready in cycle 0; null where packets keep coming",
    ),
    Column(
        "workload", "string", "", "canonical spelling of the messages that are sent, each once; null where packets are"
    ),
    Column(
        "placement", "string", "", "of the workload's tasks on terminals: consecutive, or random, anew for each seed"
    ),
    Column("messages", "int64", "messages", "of the workload, between different tasks"),
    Column("message_latency", "double", "cycles", "mean from a message's sending to its last packet's arrival"),
    Column("p99_message_latency", "int64", "cycles", "that 99 % of the messages do not exceed"),
    Column(
        "cycles",
        "int64",
        "cycles",
        "length of a run, the warm-up included; null of a workload that takes as many as it needs",
    ),
    Column(
        "warm_up",
        "int64",
        "cycles",
        "what does not count at its beginning: as given, or detected (MSER-5); the longest of the seeds'",
    ),
    Column("seeds", "list<int64>", "", "seeds of the runs that the row is about"),
    Column(
        "offered_load",
        "double",
        "flits/cycle/terminal",
        "load asked for, packets to their own source included; null of a fixed batch or a workload",
    ),
    Column("generated_load", "double", "flits/cycle/terminal", "load that the terminals did generate while measuring"),
    Column(
        "accepted_load",
        "double",
        "flits/cycle/terminal",
        "flits delivered while measuring; packets to their own source count, at once (not of a batch cut short)",
    ),
    Column(
        "accepted_load_error",
        "double",
        "flits/cycle/terminal",
        (
            "half the width of its 95 % confidence interval, by batch means;"
            " null where fewer than two batches have something to say"
        ),
    ),
    Column(
        "network_latency",
        "double",
        "cycles",
        "mean from a packet's head leaving the source queue to its tail's arrival",
    ),
    Column(
        "network_latency_error",
        "double",
        "cycles",
        (
            "half the width of its 95 % confidence interval, by batch means;"
            " null where fewer than two batches have something to say"
        ),
    ),
    Column(
        "total_latency",
        "double",
        "cycles",
        "mean from a packet's generation to its tail's arrival; grows with the run where saturated",
    ),
    Column(
        "total_latency_error",
        "double",
        "cycles",
        (
            "half the width of its 95 % confidence interval, by batch means;"
            " null where fewer than two batches have something to say"
        ),
    ),
    Column("p50_latency", "int64", "cycles", "total latency that half of the packets do not exceed"),
    Column("p99_latency", "int64", "cycles", "total latency that 99 % of the packets do not exceed"),
    Column(
        "latency_histogram",
        "list<struct<latency: int64, packets: int64>>",
        "cycles",
        "packets by total latency, of each bin its lower end: a bin a cycle up to 32, then 16 to every doubling",
    ),
    Column("packets", "int64", "packets", "packets delivered while measuring, all seeds together"),
    Column(
        "refused_packets",
        "int64",
        "packets",
        "generated while measuring when the source queue was full, all seeds together",
    ),
    Column(
        "saturated",
        "bool",
        "",
        (
            "accepted_load < 0.98 generated_load with 95 % confidence, or deadlocked;"
            " null where it is less without that confidence: run longer"
        ),
    ),
    Column(
        "simulated_saturation",
        "double",
        "flits/cycle/terminal",
        "highest offered load found that is not saturated; null where it was not sought",
    ),
    Column(
        "saturation_precision", "double", "flits/cycle/terminal", "a load that is saturated lies so much higher at most"
    ),
    Column(
        "mean_channel_utilization",
        "double",
        "flits/cycle",
        "over all channels (of parallel links, each link's), after a given warm-up, or in the second half of the run",
    ),
    Column("max_channel_utilization", "double", "flits/cycle", "of the busiest channel"),
    Column(
        "per_class_utilization",
        "map<string, struct<mean: double, max: double>>",
        "flits/cycle",
        "the same of each link class",
    ),
    Column(
        "vc_occupancy",
        "list<double>",
        "flits",
        "in the buffers of each virtual channel number, mean over time, all channels together",
    ),
    Column(
        "delivery_time",
        "double",
        "cycles",
        (
            "of a fixed batch or a workload: until the last packet has arrived, mean over seeds;"
            " null where cycles did not suffice"
        ),
    ),
    Column("deadlocked", "bool", "", "packets waited for each other and nothing moved any more"),
    Column("deadlock_cycle", "int64", "cycles", "cycle since which nothing moved, of the first seed that stopped"),
    Column(
        "waiting",
        "list<string>",
        "",
        "channels of a cyclic wait, in order: node, its digits, direction, virtual channel; null without deadlock",
    ),
)

VERIFICATION = (
    Column("paper", "string", "", "short name: P98, P04, D90, C10, R05 (docs/papers.md)"),
    Column("place", "string", "", "table, theorem or section"),
    Column("row", "string", "", "row and column there"),
    Column("topology", "string", "", "canonical spelling"),
    Column("quantity", "string", "", "column of ours that it is compared with"),
    Column("paper_value", "double", "", "the number printed"),
    Column("our_value", "double", "", "ours; null where it is not computed yet"),
    Column(
        "capacity",
        "double",
        "",
        "of what is simulated: the same of the load that links can carry, exactly or by a linear program; else null",
    ),
    Column("difference", "double", "", "ours - the paper's"),
    Column(
        "tolerance", "double", "", "half a unit of the last digit printed, or the error that the paper grants a fit"
    ),
    Column("verdict", "string", "", "agrees | paper in error | departs | not run | waits | unexplained"),
    Column("reason", "string", "", "why the paper is in error, ours departs from it, or what the row waits for"),
)

TABLES: dict[str, tuple[Column, ...]] = {
    "points": POINTS,
    "static": STATIC,
    "distances": DISTANCES,
    "loads": LOADS,
    "channel_loads": CHANNEL_LOADS,
    "deadlock": DEADLOCK,
    "layout": LAYOUT,
    "latency": LATENCY,
    "simulation": SIMULATION,
    "verification": VERIFICATION,
}


def arrow_schema(table: str) -> pa.Schema:
    """The table's Arrow schema, units and meanings in the fields' metadata."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field(column.name, _arrow_type(column.type), metadata={"unit": column.unit, "meaning": column.meaning})
            for column in TABLES[table]
        ]
    )


def _arrow_type(name: str) -> Any:
    import pyarrow as pa

    if name.startswith("struct<"):
        return pa.struct(
            [
                (field, _arrow_type(kind))
                for field, kind in (part.split(": ") for part in name[len("struct<") : -1].split(", "))
            ]
        )
    if name.startswith("list<"):
        return pa.list_(_arrow_type(name[5:-1]))
    if name.startswith("map<string, "):
        return pa.map_(pa.string(), _arrow_type(name[len("map<string, ") : -1]))
    return pa.type_for_alias(name)  # type: ignore[call-overload]  # its stubs want a literal


def markdown() -> str:
    """docs/tables.md: every table's columns. `make docs` writes it."""
    lines = [
        "# Tables",
        "",
        "Made from `pipeline/torusweep/tables/records.py` by `make docs`; `torusweep query --schema` prints the same.",
        "",
    ]
    for table, columns in TABLES.items():
        lines += [f"## {table}", "", "| column | type | unit | meaning |", "|---|---|---|---|"]
        lines += [f"| `{column.name}` | {column.type} | {column.unit} | {column.meaning} |" for column in columns]
        lines.append("")
    return "\n".join(lines)
