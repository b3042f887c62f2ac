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
        "virtual channels that some packet passes, or escape channels with adaptive routing; null if only a superset"
        " was searched",
        "neither",
    ),
    Column(
        "dependencies",
        "int64",
        "dependencies",
        "ordered pairs of channels that some packet passes in sequence, or holds and requests for escape channels;"
        " null if channels is null, or for more than 10,000 escape channels",
        "neither",
    ),
    Column("acyclic", "bool", "", "whether the channel dependency graph has no cycle"),
    Column("deadlock_free", "string", "", "yes or no if proved, otherwise unknown"),
    Column(
        "argument", "string", "", "the proof: acyclic, escape-acyclic, bubble or counterexample; or why there is none"
    ),
    Column(
        "cycle",
        "list<string>",
        "",
        "channels of a shortest cycle, or of the counterexample (with more than 10,000 escape channels: of a shortest"
        " cycle through some channel): node, its digits, direction, virtual channel; null if there is no cycle",
    ),
    Column("cycle_length", "int64", "channels", "number of channels of cycle", "neither"),
    Column(
        "packets",
        "list<string>",
        "",
        "for each channel of cycle, a packet, source → destination, that holds it and requests the next one (after the"
        " last, the first); null without a cycle, or if no packets were found",
    ),
    Column(
        "least_virtual_channels",
        "int64",
        "channels",
        "least number with which some rule makes the graph acyclic; if null, see least_reason. Rules tried: all except"
        " bubble (r05_wrap in its first reading, hops only if routes are short), and vc_rule",
        "less",
    ),
    Column("least_rule", "string", "", "the rule that needs least_virtual_channels"),
    Column(
        "least_reason",
        "string",
        "",
        "why least_virtual_channels is null: no rule suffices (with the rules not tried), or not determined; else null",
    ),
    Column("pairs_of", "string", "", "canonical spelling of the traffic, if only its pairs send; null if all send"),
    *LOST,
)
TABLE = Declaration(
    *("deadlock", "a network, routing and virtual-channel rule: verdict", DEADLOCK),
    apart=("routing", "vc_rule", "virtual_channels"),
    choose=("routing",),
    always=("topology", "routing", "vc_rule", "virtual_channels", "deadlock_free", "argument"),
    how=("vc_rule", "virtual_channels"),
    certified=("routing", "vc_rule", "virtual_channels"),
    best=(By("lost_pairs", first=0), By("least_virtual_channels"), By("routing")),
)
