"""Columns of the table `latency`."""

from torusweep.tables.columns import PURE, Column
from torusweep.tables.table import Declaration

LATENCY = (
    Column("topology", "string", "", "canonical spelling; null for a cube whose radix is not a whole number"),
    Column(
        "model",
        "string",
        "",
        "parhami-kwai-2004: virtual cut-through, contention; dally-1990: constant bisection, no contention",
    ),
    Column("nodes", "int64", "nodes", "nodes", "more"),
    Column("degree", "int64", "channels", "greatest number of channels that leave a node", "less"),
    Column("directed", "bool", "", "links have one direction"),
    Column("mean_distance", "double", "hops", "mean distance in the model, divided by N", "less"),
    Column("message_bits", "double", "bits", "length of a message, L", "neither"),
    Column(
        "constant",
        "string",
        "",
        "cost that is equal for compared networks: pins, bisection (always in dally-1990) or wiring_volume",
    ),
    Column(
        "budget",
        "double",
        "per node",
        "amount of it: pins; wires across the middle in both directions (over bisection_upper); pitches of all wires",
        "neither",
    ),
    Column("placement", "string", "", "of constant wiring_volume: placement in the table layout whose wires count"),
    Column(
        "pins",
        "double",
        "pins",
        "pins of a node, one for each bit of an outgoing channel: degree x width; in dally-1990 incoming and "
        "outgoing, n k",
        "less",
    ),
    Column(
        "switch_delay", "double", "cycles", "delay from a channel to the next one, s; null in dally-1990", "neither"
    ),
    Column(
        "wire_delay",
        "string",
        "",
        "of dally-1990: how a cycle depends on the longest wire: constant, logarithmic or linear",
    ),
    Column("locality", "double", PURE, "of dally-1990: mean distance relative to uniform traffic", "neither"),
    Column("dimension", "int64", PURE, "of dally-1990: n", "neither"),
    Column(
        "radix",
        "double",
        "nodes",
        "of dally-1990: k = N^(1/n), a real number; the largest radix, if radices are whole",
        "neither",
    ),
    Column("radices", "string", "", "of dally-1990: real, as in the paper, or whole"),
    Column("longest_wire", "double", "node pitches", "of dally-1990, as printed (Eq. 13): k^(n/2-1)", "less"),
    Column(
        "longest_wire_corrected",
        "double",
        "node pitches",
        "twice that where its rings have more than two nodes: its own layout folds them",
        "less",
    ),
    Column(
        "width",
        "double",
        "bits",
        "of a channel, W: the budget over what a bit costs (pins: pins / degree); of dally-1990 k/2",
        "more",
    ),
    Column("flits", "double", "flits", "of a message, L/W", "less"),
    Column(
        "rate",
        "double",
        "messages/cycle/node",
        "messages that a node sends, m; null in dally-1990, as everything that contention decides",
        "neither",
    ),
    Column("load", "double", "flits/cycle/node", "the same in flits, m L/W", "neither"),
    Column("utilization", "double", PURE, "of every channel, if all were equally busy: P04's rho = (m/d) F D", "less"),
    Column(
        "utilization_max",
        "double",
        PURE,
        "of the busiest channel: load x max_channel_load (table loads); null where it was not computed",
        "less",
    ),
    Column(
        "uncontended_latency", "double", "cycles", "of an empty network: F + s(D-1); of dally-1990 mean_latency", "less"
    ),
    Column(
        "store_and_forward_latency",
        "double",
        "cycles",
        "of an empty network that stores a message at every hop",
        "less",
    ),
    Column(
        "cut_through_probability", "double", PURE, "that a message meets no wait at a hop, as printed: 1 - p_w", "more"
    ),
    Column(
        "contention_delay",
        "double",
        "cycles",
        "waits along a path, as printed: T_c; infinite from saturation on",
        "less",
    ),
    Column("mean_latency", "double", "cycles", "as the paper prints the model; infinite from saturation on", "less"),
    Column(
        "mean_latency_corrected",
        "double",
        "cycles",
        "over link classes as busy as minimal routing makes them, null where loads were not computed;"
        " of dally-1990 with longest_wire_corrected",
        "less",
    ),
    Column("saturated", "bool", "", "mean_latency is infinite: rate >= saturation_rate"),
    Column("saturated_corrected", "bool", "", "mean_latency_corrected is infinite: rate >= saturation_rate_corrected"),
    Column("saturation_rate", "double", "messages/cycle/node", "as the paper prints it: d / (F D)", "more"),
    Column(
        "saturation_rate_corrected",
        "double",
        "messages/cycle/node",
        "of the busiest channel: 1 / (F max_channel_load)",
        "more",
    ),
    Column("saturation_bits", "double", "bits/cycle/node", "saturation_rate in bits, as printed: d W / D", "more"),
    Column(
        "saturation_bits_corrected",
        "double",
        "bits/cycle/node",
        "saturation_rate_corrected in bits: saturation_load (table loads) x width",
        "more",
    ),
    Column(
        "best_dimension",
        "int64",
        PURE,
        "of dally-1990: n of least mean_latency for these nodes, message_bits, wire_delay, locality;"
        " the lowest of several",
        "neither",
    ),
    Column("best_dimension_corrected", "int64", PURE, "the same of least mean_latency_corrected", "neither"),
)
TABLE = Declaration(
    *("latency", "a network, model and rate: mean latency by a paper's model", LATENCY),
    title="Latency by a model",
    apart=(
        *("model", "constant", "budget", "placement", "message_bits", "switch_delay", "wire_delay", "locality"),
        *("radices", "rate"),
    ),
    choose=("model", "placement", "constant"),
    how=("budget",),
    usual={"model": "parhami-kwai-2004"},
    along="rate",
    made_of=("static", "loads", "layout"),
)
