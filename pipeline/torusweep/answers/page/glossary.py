"""The page's glossary: the words of its tables and captions, in plain English.

Routings, traffic patterns, virtual-channel rules and placements that have no entry here are explained by the
first line of their own description.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from torusweep.charts.section import Chapter, heading, paragraph
from torusweep.questions.deadlock.rules import RULES
from torusweep.questions.layout.placements import PLACEMENTS
from torusweep.routing import ROUTINGS
from torusweep.traffic import PATTERNS

NETWORKS = {
    "degree": "Links at a node; the most, where nodes differ.",
    "diameter": "The longest of all shortest paths, in hops.",
    "mean distance": "Length of a shortest path, averaged over all pairs of nodes.",
    "cost": "Diameter times degree: a rough price of short paths, from Rahman et al. 2005.",
    "link connectivity": "The fewest links whose failure can disconnect the network (edge connectivity).",
    "best known bisection": "The fewest links found so far that cut the network into two halves. No cut can be narrower"
    " than the lower bound; a narrower one than this may exist.",
    "all nodes look alike": "Symmetry, verified: symmetries of the network take every node to every other, so that one"
    " node's distances are every node's. For links in the same way.",
    "orbit": "The nodes, or links, that symmetries take to each other. One orbit: all look alike.",
    "Pareto front": "The designs that no other beats: none is at least as good in both quantities and better in one.",
    "twisted torus": "A torus whose wraparound links shift in another dimension: rtt in two dimensions, ptt and pdtt in"
    " three. rt and pt are the same without a twist.",
    "pruned torus": "A torus without some of its links, so that every node keeps fewer ports.",
}
LOADS = {
    "channel": "A link in one direction.",
    "load": "Flits that a terminal sends in a cycle; a flit is the piece of a packet that a link carries in a cycle.",
    "saturation load": "The load at which the busiest channel is full: more cannot be carried.",
    "capacity": "The most that any routing could carry, by a linear program or a cut.",
    "accepted load": "What arrives, of the load that is offered.",
    "bus bandwidth": "Speed of a collective operation, scaled so that networks of any size compare.",
}
ROUTES = {  # what their own descriptions do not say
    "routing_record": "A routing record is the list of steps to take in x, y and z. Twisted tori have several that lead"
    " to a node; this routing takes a shortest, and goes along x, then y, then z.",
    "up_down": "Up a tree and down again: free of deadlock on any network, also with failed links.",
    "valiant": "By way of a node drawn at random: the same load for every traffic pattern, on longer paths.",
    "adaptive": "Any shortest path, chosen hop by hop by what is free.",
    "ugal": "Direct or by way of a random group, whichever a packet finds emptier at its source.",
    "progressive": "As ugal; a packet on the direct path may still leave it in its source's group.",
}
DEADLOCK = {
    "deadlock": "Packets that wait for each other in a circle, for ever.",
    "virtual channel": "One of several buffers that share a link (VC).",
    "acyclic": "No channel depends on itself through others, which proves that there is no deadlock.",
    "dateline": "Virtual channel 0 until a packet crosses a fixed place of the ring, 1 from there on.",
    "r05_wrap": "The rule of Rahman et al. 2005: virtual channel 0 up to a wraparound link, 1 from it on. Its proof"
    " fails: some of these networks can deadlock.",
    "bubble": "A packet enters a ring only if one packet's space stays free there, so that a ring never stands still.",
    "wormhole": "A packet moves on as soon as its first flit can, and may lie across several nodes.",
    "virtual-cut-through": "As wormhole, but a packet moves on only where the next buffer has room for all of it.",
}
LAYOUT = {
    "placement": "Which place of a grid each node stands at.",
    "straight": "Every node at its address; the wire that closes a ring is as long as the ring.",
    "pitch": "The distance from one place of the grid to the next.",
}
COST = {
    "cost model": "Prices of routers, cables and circuit switches, each with a date and a source.",
    "packing": "Which routers share a cabinet, and where the cabinets stand: lengths of cables follow.",
    "radix": "Ports of a router, those of its terminals included; the most, where routers differ.",
    "throughput": "Flits per cycle per terminal that links and terminals carry, at most 1.",
    "saturation per cost": "Throughput for a unit of currency of a terminal's share of the network.",
    "circuit switch": "A switch that joins the ends of two links for a long time; packets pass through it unseen.",
}
VERDICTS = {
    "agrees": "Our number is the paper's, to the last digit printed.",
    "paper in error": "The paper's number is wrong; the right one was derived without this program.",
    "departs": "A simulated number that differs from the paper's, with the reason.",
    "not run": "This sweep lacks the network or the simulation that the number needs.",
    "waits": "It needs a capability that this program lacks.",
    "unexplained": "It differs, and we do not know why.",
}
PARTS: dict[str, dict[str, str]] = {
    "Networks": NETWORKS,
    "Loads and latency": LOADS,
    "Routings": ROUTES,
    "Traffic": {},
    "Deadlock and routers": DEADLOCK,
    "Layout": LAYOUT,
    "Cost": COST,
    "Verdicts on the papers' numbers": VERDICTS,
}
REGISTRIES: dict[str, Mapping[str, object]] = {
    "Routings": ROUTINGS,
    "Traffic": PATTERNS,
    "Deadlock and routers": RULES,
    "Layout": PLACEMENTS,
}


def entries() -> dict[str, dict[str, str]]:
    """Return the meaning of each word, by part; every routing, pattern, rule and placement has an entry."""
    found = {part: dict(words) for part, words in PARTS.items()}
    for part, functions in REGISTRIES.items():
        for name, function in functions.items():
            found[part].setdefault(name, (function.__doc__ or "").strip().partition("\n")[0])
    return found


def glossary_section() -> Chapter:
    """Return the glossary, part by part. The page's script also explains a word of a table under the pointer."""
    parts = [paragraph("Point at an underlined word in a table to read the same there.")]
    for part, words in entries().items():
        listed = "".join(f"<dt>{escape(word)}</dt><dd>{escape(meaning)}</dd>" for word, meaning in words.items())
        parts.append(f"{heading(part)}<dl>{listed}</dl>")
    return Chapter("glossary", "Glossary", parts)
