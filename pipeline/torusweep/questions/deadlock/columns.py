"""Columns of the table `deadlock`."""

from torusweep.tables.columns import LOST, Column
from torusweep.tables.table import By, Declaration

DEADLOCK = (
    Column("topology", "string", "", "canonical spelling"),
    Column("routing", "string", "", "canonical spelling of the routing"),
    Column("vc_rule", "string", "", "canonical spelling of the virtual-channel rule"),
    Column(
        "virtual_channels",
        "int64",
        "channels",
        "virtual channels of every physical channel, divided evenly among the rule's classes",
        "less",
    ),
    Column(
        "channels",
        "int64",
        "channels",
        "virtual channels (of adaptive routing: escape channels) that some packet passes; null if only a "
        "superset was searched",
        "neither",
    ),
    Column(
        "dependencies",
        "int64",
        "dependencies",
        "ordered pairs of these that some packet passes in sequence (escape channels: holds and requests); "
        "null likewise, and for more than 10,000 escape channels",
        "neither",
    ),
    Column("acyclic", "bool", "", "the channel dependency graph has no cycle"),
    Column("deadlock_free", "string", "", "yes or no if proved, otherwise unknown"),
    Column(
        "argument", "string", "", "the proof: acyclic, escape-acyclic, bubble or counterexample; or why there is none"
    ),
    Column(
        "cycle",
        "list<string>",
        "",
        "a shortest cycle (the counterexample's, if there is one; with more than 10,000 escape channels, a "
        "shortest one through some channel): node, its digits, direction, virtual channel; null if there is "
        "none",
    ),
    Column("cycle_length", "int64", "channels", "channels of that cycle", "neither"),
    Column(
        "packets",
        "list<string>",
        "",
        "for each channel of the cycle a packet, source → destination, that holds it and requests the next "
        "one (the last: the first); null without a cycle, or if no packets were found",
    ),
    Column(
        "least_virtual_channels",
        "int64",
        "channels",
        "least number with which a rule makes the graph acyclic (rules other than bubble; r05_wrap in its "
        "first reading; hops where routes are short; and vc_rule); null: see least_reason",
        "less",
    ),
    Column("least_rule", "string", "", "the rule that needs this number"),
    Column(
        "least_reason",
        "string",
        "",
        "why the number is null: no rule has one, and which were not tried, or it was not determined; otherwise null",
    ),
    Column("pairs_of", "string", "", "canonical spelling of the traffic whose pairs alone send; null: all pairs do"),
    *LOST,
)
TABLE = Declaration(
    *("deadlock", "a network, routing and virtual-channel rule: verdict", DEADLOCK),
    apart=("routing", "vc_rule", "virtual_channels"),
    choose=("routing",),
    how=("vc_rule", "virtual_channels"),
    certified=("routing", "vc_rule", "virtual_channels"),
    best=(By("lost_pairs", first=0), By("least_virtual_channels"), By("routing")),
)
