"""Columns of the table `deadlock`."""

from torusweep.tables.columns import Column

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
