#!/usr/bin/env python3
"""Checks certificates of torusweep. Plain Python: it shares no line and no module with torusweep.

    python certify/check.py FILE … [--claim '{"topology": "torus(k=8, n=2)", "at_most": "63/4"}']

A file holds a certificate, or one on each line. The command prints what each certificate proves, or why it is refused.
Its status is 0 if all are valid. With --claim, one must have this claim. docs/certificates.md has fields, assumptions.

Read this file from top to bottom. It trusts only how a claim spells a network, routing or traffic pattern, and nothing
else: it makes all three by its own definitions, and checks whatever a proof says about them. Nodes are the numbers
0 … n − 1. A channel, or arc, is a pair (tail, head) of nodes that a link joins.

    1  the command
    2  the text of a certificate: version, fields, digest
    3  the kinds of proof: symmetry, capacity, bisection, three of guarantees, collective, deadlock, exhaustion
    4  what these are about: networks, automorphisms, traffic, lattices
    5  the families of networks, by their spelling
"""

import argparse
import ast
import gc
import hashlib
import json
import re
from collections import Counter, namedtuple
from fractions import Fraction
from functools import cache
from heapq import heappop, heappush
from itertools import pairwise, permutations, product
from math import ceil, gcd, prod
from pathlib import Path

VERSION = 1  # of the format; a certificate without a version has this one
MOST_BYTES = 1 << 30  # of a file of certificates
MOST_BYTES_OF_LINKS = 1 << 24  # of an edge list
MOST_NODES = 1 << 15
MOST_DIMENSIONS = 15  # sides of 2 or more then make at most 32,768 nodes
MOST_STEPS = 32  # of a circulant graph


class Invalid(ValueError):
    """Error: a certificate proves nothing. The message says why."""


def expect(condition, why):
    """Refuse the certificate unless the condition holds. why: the message of the refusal."""
    if not condition:
        raise Invalid(why)


# === 1  The command ======================================================================================
def main(arguments=None):
    """Check the files that the command names. Return whether a certificate is refused, or the claim is not proved."""
    parser = argparse.ArgumentParser(description="Checks certificates of torusweep: docs/certificates.md.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    claim_of = lambda text: dict(json.loads(text, object_pairs_hook=object_of_json))  # noqa: E731
    parser.add_argument("--claim", default={}, type=claim_of, help="JSON of what one of them must say: kind, claim")
    options = parser.parse_args(arguments)
    said = failed = False
    for path in options.files:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            parser.error(f"{path}: expected a file of at most 1 GiB")
        lines = path.read_text("utf-8", "replace").splitlines()
        for number, line in enumerate(filter(str.strip, lines), 1):
            try:
                proved = check(line)
            except Invalid as why:
                failed = True
                print(printable(f"{path}:{number}: REFUSED: {why}"))
            else:
                said |= {**proved, **options.claim} == proved
                print(printable(f"valid: {json.dumps(proved, ensure_ascii=False)}"))
    if not failed and not said:
        print(printable(f"REFUSED: nothing proves {json.dumps(options.claim, ensure_ascii=False)}"))
    return failed or not said


def printable(text):
    """Escape characters that a terminal obeys or an encoding lacks, such as half of a surrogate pair, as JSON does."""
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)


# === 2  The text of a certificate ========================================================================
def check(text):
    """Return what a certificate proves: its kind and its claim. Raise Invalid if it proves nothing."""
    try:
        return proved_by(text)
    except Invalid:
        raise
    except Exception as error:  # a value of another type, or one that is missing, somewhere in the claim or the proof
        raise Invalid(f"malformed: {type(error).__name__}: {error}") from None


def proved_by(text):
    """Check a certificate, field by field, in the order in which torusweep writes them.

    version   version of the format
    kind      the kind of proof, which names a function below
    claim     the spelling of the network, `topology`, and what is claimed about it
    proof     the fields that this kind reads, and no others
    digest    SHA-256 of the JSON list of the other fields; it finds damage and proves nothing
    """
    certificate = json.loads(text, object_pairs_hook=object_of_json)
    expect(isinstance(certificate, dict), "expected an object of JSON")
    version = certificate.get("version", VERSION)
    got = json.dumps(version)[:20]
    expect(version == VERSION, f"expected version {VERSION} of the format, got {got}; take a newer checker")
    first = ["version"] if "version" in certificate else []
    *signed, digest = fields(certificate, *first, "kind", "claim", "proof", "digest")
    content = json.dumps(signed, sort_keys=True)
    expect(hashlib.sha256(content.encode()).hexdigest() == digest, "the digest is of another text")
    outside_texts = set(re.sub(r'"(\\.|[^"\\])*"', "", content))
    expect(outside_texts <= set("0123456789-[]{}:, nul"), "expected whole numbers, texts and null")
    kind, claim, proof = signed[-3:]
    expect(kind in KINDS, f"expected a kind of {', '.join(KINDS)}")
    proved = KINDS[kind](network_of(claim["topology"]), proof, **claim)
    for name, value in proved.items():
        value = str(value) if isinstance(value, Fraction) else value
        expect(claim[name] == value, f"{name}: claimed {claim[name]}, is {value}")
    return {"kind": kind, **claim}


def object_of_json(pairs):
    """Make a dict of the pairs of a JSON object, each key once. Python's reader would keep the last of equal keys."""
    made = dict(pairs)
    expect(len(made) == len(pairs), "expected each key once")
    return made


def fields(owner, *names):
    """Return the values of the fields with these names. Raise Invalid if there are other fields, or too few."""
    expect(owner.keys() == set(names), f"expected the fields {', '.join(names)}")
    return [owner[name] for name in names]


# === 3  The kinds of proof ===============================================================================
# Each function takes the network, the proof, and the fields of the claim by their names. It returns what the proof
# proves of these fields; the claim must say the same. Bounds are Fractions, or None if nothing is claimed.


# --- symmetry --------------------------------------------------------------------------------------------
# It claims the number of orbits of the nodes under all automorphisms, and reads generators of some automorphisms, the
# first node of each node's orbit under these, and nodes with different distances, which no automorphism exchanges.
# It is refused if a generator is no automorphism, if the orbits are others, or if two of these nodes do not differ.
def symmetry(network, proof, topology, at_least, at_most):
    """Return bounds on the number of orbits; 1 means that the network looks the same from every node."""
    generators, orbits, differ = fields(proof, "generators", "orbits", "differ")
    orbit_of = Orbits(network, generators).node
    firsts = [orbit_of[node].first for node in range(network.n)]
    expect(orbits == firsts, "the generators have other orbits")
    expect(differ == sorted(set(differ) & set(firsts)), "expected the first nodes of orbits")
    distances = {tuple(sorted(network.distances(node).values())) for node in differ}
    expect(len(differ) > 0, "expected a node at least")
    expect(len(distances) == len(differ), "two of the nodes that differ have the same distances")
    return {"at_least": Fraction(len(distances)), "at_most": Fraction(len(set(firsts)))}


# --- capacity --------------------------------------------------------------------------------------------
# It claims how many flits a cycle each node can send of a traffic pattern, over all or minimal routes, and reads flows
# to some roots, which carry as much, and lengths of channels, by which no routing carries more (weak duality).
# It is refused if an automorphism does not keep the traffic, if a node with traffic is no root's image, if flows leave
# out traffic or use hops that routes may not take, or if the numbers are not in the form that torusweep writes.
def capacity(network, proof, topology, traffic, routes, at_least, at_most):
    """Return the rate that the flows carry, and the rate that the lengths allow."""
    return dict(zip(("at_least", "at_most"), throughput(network, traffic_of(network, traffic), routes, proof)))


def throughput(network, traffic, routes, proof):
    """Return the rates, in flits per cycle and node, that flows carry and that lengths allow; None for a missing proof.

    traffic      (demand, keeps), as `traffic_of` makes them
    generators   automorphisms that keep the traffic; what is true of an orbit's first node or arc is true of the orbit
    roots        first nodes of the orbits that receive traffic
    lengths      [tail, head, length] of the first channel of an orbit; all other orbits have length 0
    scale        number of flits that a node sends in all
    flows        for each root, [tail, head, flits]: flits that cross this channel on their way to the root

    The flits to a root, times the length of their way, use at most the room that all channels have, which is counted by
    their lengths: rate · needed ≤ room, where `needed` counts each way with the shortest length.
    """
    expect(routes in ("all", "minimal"), "expected all or minimal routes")
    generators, roots, lengths, scale, flows = fields(proof, "generators", "roots", "lengths", "scale", "flows")
    demand, keeps_traffic = traffic
    orbits = Orbits(network, generators, keeps_traffic)
    reached = {orbits.node[root].first for root in roots}
    expect(roots == sorted(reached), "expected the first nodes of orbits as roots")
    for target in [node for node in range(network.n) if orbits.node[node].first not in reached]:
        demands = (demand(source, target) for source in range(network.n) if source != target)
        expect(not any(demands), "traffic to no root's image")
    length = lengths_of(network, orbits, lengths or [])
    if flows is not None:
        expect(scale > 0, "expected flows in a scale")
        expect(len(flows) == len(roots), "expected the flows of each root")
    load, needed = Counter(), 0
    for index, root in enumerate(roots):
        hops = network.distances(root) if routes == "minimal" else None
        away = network.distances(root, lambda tail, head: length[tail, head], hops)
        expect(len(away) == network.n, "expected a way from each node to each root")
        images = orbits.node[root].size
        needed += images * sum(demand(node, root) * away[node] for node in range(network.n))
        if flows is not None:
            check_flow(network, flows[index], root, hops, lambda node, to=root: scale * demand(node, to))
            for tail, head, flits in flows[index]:
                load[orbits.arc[tail, head].first] += flits * images
    room = sum(links * length[arc] for arc, links in network.arcs.items())
    carried = None if flows is None else scale / orbits.busiest(load)
    return carried, None if lengths is None else room / Fraction(needed)


def carried_by_flows(network, traffic, proof):
    """Return the rate that flows over all routes carry, by a proof without lengths."""
    expect(proof.get("lengths") is None, "expected no lengths")
    return throughput(network, traffic, "all", {**proof, "lengths": None})[0]


def lengths_of(network, orbits, lengths):
    """Return the length of each channel, given those of the first channels of orbits."""
    first_ones = {}
    for tail, head, length in lengths:
        expect(orbits.arc[tail, head].first == (tail, head), "expected lengths of the first channels of orbits")
        expect((tail, head) not in first_ones, "expected one length of a channel")
        expect(length > 0, "expected lengths above 0")
        first_ones[tail, head] = length
    expect(not lengths or gcd(*first_ones.values()) == 1, "expected lengths without a common factor")
    return {arc: first_ones.get(orbits.arc[arc].first, 0) for arc in network.arcs}


def check_flow(network, flow, root, hops, flits_of):
    """Expect that a flow brings to the root what each node sends to it, on hops that routes may take."""
    sent, seen = [0] * network.n, set()
    for tail, head, flits in flow:
        expect((tail, head) in network.arcs, "expected flow on the network's channels")
        expect((tail, head) not in seen, "expected the flow of a channel once")
        expect(flits > 0, "expected flows above 0")
        expect(hops is None or hops[tail] == hops[head] + 1, "expected flow on hops that routes may take")
        seen.add((tail, head))
        sent[tail] += flits
        sent[head] -= flits
    for node in range(network.n):
        expect(node == root or sent[node] >= flits_of(node), "traffic left out")


# --- bisection -------------------------------------------------------------------------------------------
# It claims how many links lead from one half of the nodes to the other at the least, and reads such a half, and flows
# of uniform traffic, which has to cross every half.
# It is refused if the half has another number of nodes, or if the flows are refused as those of a capacity are.
def bisection(network, proof, topology, at_least, at_most):
    """Return how many links the flows need between any two halves, and how many links leave the given half."""
    half = proof.pop("half")
    few, inside = network.n // 2, set(half)
    expect(half == sorted(inside), "expected nodes in order, each once")
    expect(inside <= set(range(network.n)), "expected nodes of the network")
    expect(len(half) == few, "expected half of the nodes")
    expect(few > 0, "expected two nodes at least")
    carried = carried_by_flows(network, traffic_of(network, "uniform"), proof)
    # of the n² pairs ⌊n/2⌋ ⌈n/2⌉ cross from a half to the other, each with 1/n of a node's rate
    crossing = carried * few * (network.n - few) / network.n
    width = sum(links for (tail, head), links in network.arcs.items() if tail in inside and head not in inside)
    return {"at_least": Fraction(ceil(crossing)), "at_most": Fraction(width)}


# --- two_phase, oblivious, permutation: guarantees -------------------------------------------------------
# Traffic is admissible if no node sends or receives more than a flit a cycle; what holds of all of it is guaranteed.
# two_phase claims how much some routing guarantees, and reads the odds of each node to be one by way of which packets
# go, whatever their destination, and flows between nodes, which both halves of their ways take.
# It is refused if an odd is below 0, or if the flows are refused as those of a capacity are.
def two_phase(network, proof, topology, at_least, at_most):
    """Return the guaranteed rate. At a flit a cycle, a node u sends by way of v at most odds(v) of a flit, and as many
    of the flits to v come by way of u as odds(u) says: between u and v there are never more than twice the demand.
    """
    odds = proof.pop("odds")
    expect(len(odds) == network.n, "expected the odds of each node")
    expect(min(odds) >= 0, "expected odds of 0 or more")
    twice = 2 * sum(odds)
    demand = lambda source, target: Fraction(odds[source] + odds[target], twice)  # noqa: E731
    keeps = lambda image: all(odds[image[node]] == odds[node] for node in range(network.n))  # noqa: E731
    return {"at_least": carried_by_flows(network, (demand, keeps), proof) / 2, "at_most": None}


# oblivious claims a rate that no routing guarantees whose routes depend on nothing but source and target, and reads
# lengths of channels.
# It is refused if the lengths are refused as those of a capacity are, or if a channel lacks one back of equal length.
def oblivious(network, proof, topology, at_least, at_most):
    """Return the rate. Distances d by the lengths are equal both ways; let far(v) be the sum of those from v.

    Take a channel (u, v), and max(0, d(s, v) − d(s, u) + d(u, t) − d(v, t)) flits from each s to each t. Both
    differences are between −length and length. So a node sends at most n · length + far(u) − far(v) of these flits, and
    receives at most n · length + far(v) − far(u): divided by the larger number they are admissible, and load the
    channel by at most links / rate. On any way from s to t all channels' flits add up to 2 d(s, t) or more, as the
    differences telescope. Hence rate · 2 Σ d(s, t) ≤ Σ links · (n · length + |far(u) − far(v)|).
    """
    generators, lengths = fields(proof, "generators", "lengths")
    orbits = Orbits(network, generators)
    length = lengths_of(network, orbits, lengths)
    both_ways = all(length.get((head, tail)) == own for (tail, head), own in length.items())
    expect(both_ways, "expected a channel back of each channel, of equal length")
    total = {}
    for root in {orbit.first for orbit in orbits.node.values()}:
        away = network.distances(root, lambda tail, head: length[tail, head])
        expect(len(away) == network.n, "expected a way between any two nodes")
        total[root] = sum(away.values())
    far = [total[orbits.node[node].first] for node in range(network.n)]
    steps = {(u, v): network.n * own + abs(far[u] - far[v]) for (u, v), own in length.items()}
    room = sum(links * steps[arc] for arc, links in network.arcs.items())
    return {"at_least": None, "at_most": Fraction(room, 2 * sum(far))}


# permutation claims a rate that no routing at all guarantees, and reads a node to which each node sends everything,
# and lengths of channels, by which no routing carries more.
# It is refused if two nodes send to the same one, or if the lengths are refused as those of a capacity are.
def permutation(network, proof, topology, at_least, at_most):
    """Return the rate that the lengths allow under this permutation, which is admissible."""
    target_of, lengths = fields(proof, "permutation", "lengths")
    nodes = list(range(network.n))
    expect(sorted(target_of) == nodes, "expected each node as the target of one")
    traffic = (lambda source, target: int(target_of[source] == target)), lambda image: True
    whole = {"generators": [], "roots": nodes, "lengths": lengths, "scale": None, "flows": None}
    return {"at_least": None, "at_most": throughput(network, traffic, "all", whole)[1]}


# --- collective ------------------------------------------------------------------------------------------
# It claims how many cycles an operation takes for each flit of its size, and reads a cut, which its data have to cross,
# and spanning trees with weights, along which it runs; for all_to_all it reads the proof of a capacity instead.
# It is refused if the cut has too few sets, if a tree does not span all nodes, if an automorphism does not keep the
# root, or if trees of different roots do not share the work as the operation needs.
OPERATIONS = {  # whether data go up in a tree, to its root; whether down, from it; whether the claim names a root
    "all_gather": (False, True, False),
    "reduce_scatter": (True, False, False),
    "all_reduce": (True, True, False),
    "all_to_all": (False, False, False),
    "broadcast": (False, True, True),
    "reduce": (True, False, True),
}


def collective(network, proof, topology, operation, root, at_least, at_most):
    """Return the time that the cut needs, and the time that the trees take. All_to_all is uniform traffic."""
    _, _, rooted = OPERATIONS[operation]
    known = root in range(network.n) if rooted else root is None
    expect(known, "expected a node as the root of broadcast and reduce, and none otherwise")
    if operation == "all_to_all":
        carried, allowed = throughput(network, traffic_of(network, "uniform"), "all", proof)
        return {"at_least": 1 / allowed, "at_most": carried and 1 / carried}
    cut, trees, generators = fields(proof, "cut", "trees", "generators")
    least = time_of_cut(network, cut, operation, root)
    claimed = trees is not None or generators is not None
    most = time_of_trees(network, trees, generators, operation, root) if claimed else None
    return {"at_least": least, "at_most": most}


def time_of_cut(network, cut, operation, root):
    """Return the cycles per flit that data take across a cut, each node's set 0, 1, …, numbered by first nodes."""
    _, down, rooted = OPERATIONS[operation]
    sets = list(dict.fromkeys(cut))
    expect(len(cut) == network.n, "expected a set of each node")
    expect(sets == list(range(len(sets))), "expected sets numbered in order")
    expect(len(sets) > 1, "expected two sets at least")
    leaving = Counter()  # by set: links out of it where data go down, links into it where they only go up
    for (tail, head), links in network.arcs.items():
        if cut[tail] != cut[head]:
            leaving[cut[tail] if down else cut[head]] += links
    for own in [cut[root]] if rooted else sets:
        expect(leaving[own] > 0, "expected links between the sets")
    if operation == "all_reduce":  # a flit leaves each set; p sets need 2p − 2 in all (Harary & Schwenk 1974)
        return max(Fraction(2 * len(sets) - 2, leaving.total()), Fraction(1, min(leaving.values())))
    expect(len(sets) == 2, "expected a cut of two sets")
    if rooted:
        return Fraction(1, leaving[cut[root]])
    return max(Fraction(cut.count(own), network.n * leaving[own]) for own in sets)


def time_of_trees(network, trees, generators, operation, root):
    """Return the cycles per flit that pipelines along trees take: [weight, each node's parent, −1 for the root].

    A tree carries a share of all data by its weight, divided evenly among its images under the generators.
    """
    up, down, rooted = OPERATIONS[operation]
    orbits = Orbits(network, generators, lambda image: not rooted or image[root] == root)
    load, weights = Counter(), Counter()
    for weight, parents in trees:
        expect(weight > 0, "expected weights above 0")
        top = root_of_tree(network, parents)
        expect(not rooted or top == root, "expected trees out of the root")
        weights[orbits.node[top]] += weight
        for node, parent in enumerate(parents):
            if node != top and down:
                load[orbits.arc[parent, node].first] += weight
            if node != top and up:
                load[orbits.arc[node, parent].first] += weight
    if operation in ("all_gather", "reduce_scatter"):
        shares = {Fraction(weights[orbit], orbit.size) for orbit in orbits.node.values()}
        expect(len(shares) == 1, "expected trees of equal weight of each root")
    return orbits.busiest(load) / weights.total()


def root_of_tree(network, parents):
    """Return a tree's root. Expect that it spans all nodes; its links are looked up where they carry load."""
    expect(len(parents) == network.n, "expected the node before each node")
    expect(parents.count(-1) == 1, "expected a tree of one root")
    top = parents.index(-1)
    above = [top if parent == -1 else parent for parent in parents]
    for _ in range(network.n.bit_length()):  # 1, 2, 4 … nodes up, until no tree is as high
        above = [above[node] for node in above]
    expect(set(above) == {top}, "expected a tree that leads from its root to each node")
    return top


# --- deadlock --------------------------------------------------------------------------------------------
# It claims whether packets of a routing can deadlock, and reads either an order of all channels, in which every packet
# goes upwards, or packets that wait for each other in a circle; a routing that has no definition here is listed.
# It is refused if the order leaves out a channel in use or a packet requests an earlier one, if the packets do not wait
# in a circle, or if a listed routing has another digest or does not lead from each node to every other.
def deadlock(network, proof, topology, routing, vc_rule, virtual_channels, deadlock_free):
    """Return "yes" by an order, or "no" by packets that hold a channel each. A channel here is (tail, head, class)."""
    name, options = call(routing)
    expect(virtual_channels > 0, "expected a virtual channel at least")
    if vc_rule == "listed":
        expect(name == "listed", "expected a listed routing")
        check_listed(network, *fields(proof, "order", "tables"), virtual_channels, **options)
        return {"deadlock_free": "yes"}
    expect(name == "dimension_order", "expected dimension_order, or a listed routing")
    expect(vc_rule in ("none", "dateline"), "expected the rule none or dateline")
    used, follows, entered = dimension_order(network, vc_rule == "dateline" and virtual_channels > 1, **options)
    if "order" in proof:
        [order] = fields(proof, "order")
        place = {tuple(channel): index for index, channel in enumerate(order)}
        expect(len(order) == len(place), "expected each channel once")
        expect(place.keys() == used, "expected each channel in use")
        upwards = all(place[held] < place[requested] for held, requested in follows)
        expect(upwards, "a packet requests an earlier channel")
        return {"deadlock_free": "yes"}
    cycle, packets = fields(proof, "cycle", "packets")
    cycle = [tuple(channel) for channel in cycle]
    waits = list(zip(cycle, cycle[1:] + cycle[:1]))
    expect(len(cycle) > 0, "expected a channel at least")
    expect(len(cycle) == len(set(cycle)), "expected each channel once")
    expect(set(cycle) <= entered, "packets do not enter by each channel")
    expect(set(waits) <= follows, "packets wait in no circle")
    expect(packets == [[held[0], wanted[1]] for held, wanted in waits], "expected packets of these two hops")
    return {"deadlock_free": "no"}


def dimension_order(network, dateline, tie="split"):
    """Return what packets do that go along x first, then y, and so on, in each dimension the shorter way round.

    That is: the channels in use, the pairs (held, requested) of channels that a packet takes one after the other, and
    the channels by which packets enter. With datelines, class 1 begins with the hop from a ring's end to its start.
    tie   which way packets go if both are as short: "split", "random": both; "positive"; "sign": as on a mesh
    """
    halfway = {"split": [1, -1], "random": [1, -1], "positive": [1], "sign": None}[tie]
    kinds = ((False, True), (False, False), (True, True))  # torus, mesh, directed torus
    kinds = [kind for kind in kinds if grid(None, None, network.sides, *kind).arcs == network.arcs]
    expect(kinds, "expected a torus or mesh with all its links")
    directed, closed = kinds[0]
    runs = {}  # (node, dimension, step): the channels of the longest run; the other runs are its beginnings
    for dimension, side in enumerate(network.sides):
        ring, farthest = closed or side == 2, Counter()  # by (first digit, step): hops of the longest run
        for source, target in permutations(range(side), 2):
            onwards, steps = (target - source) % side, [1 if target > source else -1]
            if ring and (directed or side == 2 or 2 * onwards < side):
                steps = [1]
            elif ring:
                steps = [-1] if 2 * onwards > side else halfway or steps
            for step in steps:
                hops = (target - source) * step % side
                farthest[source, step] = max(farthest[source, step], hops)
        stride = prod(network.sides[:dimension])
        for node, step in product(range(network.n), (1, -1)):
            digit = node // stride % side
            digits = [digit + step * hop for hop in range(farthest[digit, step] + 1)]
            nodes = [node + (place % side - digit) * stride for place in digits]
            classes = [int(dateline and ring and place not in range(side)) for place in digits]
            runs[node, dimension, step] = list(zip(nodes, nodes[1:], classes[1:]))
    used = {channel: dimension for (_, dimension, _), run in runs.items() for channel in run}
    follows = {pair for run in runs.values() for pair in pairwise(run)}
    for held, dimension in used.items():
        for later, step in product(range(dimension + 1, len(network.sides)), (1, -1)):
            follows |= {(held, requested) for requested in runs[held[1], later, step][:1]}
    return used.keys(), follows, {run[0] for run in runs.values() if run}


def check_listed(network, order, tables, virtual_channels, sha256):
    """Expect that tables lead from each node to every other, along channels that come later and later in the order.

    tables   for packets to each node, (nodes, hops): the nodes of the places n, n + 1, … where they may be, and the
             hops [place, place, class]. Packets enter at the places 0 … n − 1, which are the nodes
    sha256   digest of the tables' JSON

    Only the first channel in the order that a packet may request at a place is compared: the others come later.
    """
    expect(hashlib.sha256(json.dumps(tables).encode()).hexdigest() == sha256, "the routing's digest is another")
    place_in_order = {tuple(channel): index for index, channel in enumerate(order)}
    expect(len(order) == len(place_in_order), "expected each channel once")
    for tail, head, kind in place_in_order:
        expect((tail, head) in network.arcs, "expected the network's channels")
        expect(0 <= kind < virtual_channels, "expected classes of the virtual channels")
    used = set()
    for destination, (nodes, hops) in zip(range(network.n), tables, strict=True):
        node_at = [*range(network.n), *nodes]
        taken = [place_in_order[node_at[start], node_at[end], kind] for start, end, kind in hops]
        first = {}  # of each place: the first channel that a packet may request there
        for (start, _, _), channel in zip(hops, taken):
            first[start] = min(channel, first.get(start, channel))
        places = set(range(len(node_at)))
        expect(destination not in first, "expected no hops on from the destination")
        expect(first.keys() == places - {destination}, "expected hops on from each place but the destination")
        expect(places.issuperset(end for _, end, _ in hops), "expected hops to the places")
        first[destination] = len(order)  # nothing is requested there
        requests = all(channel < first[end] for (_, end, _), channel in zip(hops, taken))
        expect(requests, "a packet requests an earlier channel")
        used.update(taken)
    expect(len(used) == len(order), "expected each channel in use")


# --- exhaustion ------------------------------------------------------------------------------------------
# It claims how many lattices have this many nodes and dimensions, how many classes they form, the least mean distance
# of their networks and how many attain it, and reads nothing: all are searched here, by their Hermite normal forms.
# It is refused if the claim's network is no such lattice, or if another lattice has a smaller sum of distances.
def exhaustion(network, proof, topology, dimensions, nodes, lattices, classes, mean_distance, attained):
    """Return the numbers of all lattices, of classes under signed permutations (if claimed), and of best lattices."""
    expect(not proof, "expected a proof without fields")
    expect(call(topology)[0] == "lattice", "expected a lattice")
    expect(network.n == nodes, "expected a lattice of this size")
    expect(len(network.sides) == dimensions, "expected a lattice of these dimensions")
    expect(dimensions <= 5, "expected one to five dimensions")
    least = sum(network.distances(0).values())
    without = vectors_of_worse_lattices(dimensions, nodes, least)
    count = 0
    for basis, size in classes_of(dimensions, nodes, without):
        total = sum_of_distances(basis, nodes, least)
        expect(total >= least, "another lattice has a smaller sum of distances")
        count += size if total == least else 0
    return {
        "lattices": number_of_lattices(dimensions, nodes),
        "classes": None if classes is None else sum(1 for _ in classes_of(dimensions, nodes)),
        "mean_distance": Fraction(least, nodes),
        "attained": count,
    }


def number_of_lattices(n, nodes):
    """Count the Hermite normal forms of n rows with determinant `nodes`: d^(n − 1) times as many end in d as in 1."""
    if n == 0:
        return int(nodes == 1)
    divisors = [last for last in range(1, nodes + 1) if nodes % last == 0]
    return sum(last ** (n - 1) * number_of_lattices(n - 1, nodes // last) for last in divisors)


@cache
def shell(n, norm):
    """Return the vectors of n whole numbers whose absolute values add up to `norm`."""
    if n == 0:
        return [()] if norm == 0 else []
    return [(first, *rest) for first in range(-norm, norm + 1) for rest in shell(n - 1, norm - abs(first))]


def sum_of_distances(basis, nodes, most, order=None):
    """Return the sum of distances from a node in a basis's lattice, or a number above `most` if the sum is above it.

    For each number of hops 0, 1, 2 … it adds the number of nodes that are farther. A node's name is what the lattice
    leaves of a vector; the vectors of so many hops name all nodes within reach. If the basis is only part of the
    lattice's (rows in `order`), names are no fewer than nodes, so that the number is a lower bound on the sum.
    """
    names, total, hops = set(), 0, 0
    while len(names) < nodes and total <= most:
        names.update(tuple(reduced(vector, basis, order)) for vector in shell(len(basis), hops))
        total += max(0, nodes - len(names))
        hops += 1
    return total


def vectors_of_worse_lattices(n, nodes, least):
    """Return short vectors that are in no lattice with a sum of distances of at most `least`, with all their images.

    A lattice that contains a vector is no better than the quotient by this vector alone. Signed permutations
    change no distance, so one vector of each shape is examined: its absolute values in order.
    """
    found, norm, worse = set(), 0, True
    while worse:
        norm += 1
        shape_of = {vector: tuple(sorted(map(abs, vector))) for vector in shell(n, norm)}
        bounds = {shape: sum_of_distances([shape] * n, nodes, least, [n - 1]) for shape in set(shape_of.values())}
        worse = {vector for vector, shape in shape_of.items() if bounds[shape] > least}
        found |= worse
    return found


def classes_of(n, nodes, without=()):
    """Yield (one lattice, number of lattices) of each class under signed permutations. −1 keeps every lattice."""
    signs = list(product((1,), *[(1, -1)] * (n - 1)))
    turns = [list(zip(order, sign)) for order in permutations(range(n)) for sign in signs]
    left = set(sublattices(n, nodes, without))
    while left:
        basis = left.pop()
        images = {hermite([[sign * column[row] for row, sign in turn] for column in basis]) for turn in turns}
        left -= images
        yield basis, len(images)


def sublattices(n, nodes, without=()):
    """Return the Hermite normal forms of n rows with determinant `nodes`, for lattices without the vectors `without`.

    At least one of each class under signed permutations is returned, if these map `without` to itself. The vectors of a
    lattice that end in 0 form a lattice of one dimension less. One of each class of these is enough, since a signed
    permutation of the other coordinates maps any of them to the chosen one.
    """
    if n == 1:
        barred = any(number % nodes == 0 for (number,) in without)
        return [] if barred else [((nodes,),)]
    found, ending = [], {}  # ending: by the last entry, what stands before it in the vectors of `without`
    flat = {vector[:-1] for vector in without}
    for *before, end in without:
        ending.setdefault(end, []).append(tuple(before))
    for last in [last for last in range(1, nodes + 1) if nodes % last == 0]:
        for base, _ in classes_of(n - 1, nodes // last, ending.get(0, ())):
            columns = columns_above(base, last, ending, flat)
            found += [(*((*column, 0) for column in base), (*column, last)) for column in columns]
    return found


def columns_above(base, last, ending, flat):
    """Return what may stand above `last` in the last column of a Hermite normal form that begins with `base`.

    The lattice then has all vectors (times · column + base, times · last), none of which may be barred.
    """
    name = {vector: tuple(reduced(vector, base)) for vector in flat}
    columns = set(product(*[range(column[row]) for row, column in enumerate(base)]))
    for times in range(1, max(ending, default=0) // last + 1):
        barred = {name[vector] for vector in ending.get(times * last, ())}
        if times == 1:  # these columns are reduced
            columns -= barred
        elif barred:
            columns = {top for top in columns if tuple(reduced([times * entry for entry in top], base)) not in barred}
    return columns


KINDS = (collective, capacity, bisection, symmetry, deadlock, exhaustion, two_phase, oblivious, permutation)
KINDS = {kind.__name__: kind for kind in KINDS}


# === 4  Networks, automorphisms, traffic, lattices =======================================================
class Network:
    """Nodes 0 … n − 1 with one terminal each, all forwarding, and links of one flit per cycle in each direction.

    arcs    (tail, head) → number of parallel links
    sides   sides of the address space, x first: node x + side of x · (y + …)
    """

    def __init__(self, n, links, sides, directed=False):
        """Join nodes by links (tail, head), without self-loops. If both ends list a link, the larger number counts."""
        listed = Counter((tail, head) for tail, head in links if tail != head)
        reverse = Counter({(head, tail): number for (tail, head), number in listed.items()})
        self.n, self.sides = n, sides
        self.arcs = dict(listed if directed else listed | reverse)
        self.tails = [[] for _ in range(n)]  # of each node: where its incoming channels begin
        for tail, head in self.arcs:
            self.tails[head].append(tail)

    def distances(self, root, length=lambda tail, head: 1, hops=None):
        """Return {node: least length of a path to the root}; with hops, only paths with the fewest hops count."""
        away, waiting = {}, [(0, root)]
        while waiting:
            far, head = heappop(waiting)
            if head not in away:
                away[head] = far
                for tail in self.tails[head]:
                    if tail not in away and (not hops or hops[tail] == hops[head] + 1):
                        heappush(waiting, (far + length(tail, head), tail))
        return away


Orbit = namedtuple("Orbit", "first size")  # nodes or arcs that automorphisms exchange: the first, and how many


class Orbits:
    """The Orbit of each node and arc under automorphisms, given as lists of images, for which `kept` must hold."""

    def __init__(self, network, generators, kept=lambda image: True):
        arcs = network.arcs
        for image in generators:
            expect(sorted(image) == list(range(network.n)), "a generator is no permutation of the nodes")
            same = all(arcs.get((image[tail], image[head])) == links for (tail, head), links in arcs.items())
            expect(same, "a generator does not keep the network")
            expect(kept(image), "a generator does not keep the traffic or the root")
        self.network = network
        self.node = orbits_of(range(network.n), [image.__getitem__ for image in generators])
        self.arc = orbits_of(arcs, [lambda arc, to=image: (to[arc[0]], to[arc[1]]) for image in generators])

    def busiest(self, load):
        """Return the greatest load of a link. Loads, given for an orbit's first arc, spread evenly over the orbit."""
        return max(Fraction(flits, self.arc[arc].size * self.network.arcs[arc]) for arc, flits in load.items())


def orbits_of(things, images):
    """Return the Orbit of each thing. Permutations are finite, so repeated images reach all of an orbit."""
    found = {}
    for first in sorted(things):
        if first not in found:
            members, new = {first}, {first}
            while new := {image(thing) for thing in new for image in images} - members:
                members |= new
            found |= dict.fromkeys(members, Orbit(first, len(members)))
    return found


def traffic_of(network, text):
    """Return (demand, keeps): demand(source, target) is the share of a source's flits that it sends to a target.

    keeps(image) is whether a permutation of the nodes, given by their images, keeps the traffic.
    """
    if text == "uniform":
        return lambda source, target: Fraction(1, network.n), lambda image: True
    n, sides = network.n, network.sides
    bits = n.bit_length() - 1
    half = 2 ** (bits // 2)
    digits, square = addresses(sides), len(sides) == 2 and sides[0] == sides[1]
    by_bits = text not in ("tornado", "neighbour") and not (text == "transpose" and square)
    expect(not by_bits or n == 1 << bits, "expected a power of 2 as the number of nodes")
    expect(not by_bits or text != "transpose" or bits % 2 == 0, "expected a power of 4 as the number of nodes")
    patterns = {
        "bit_complement": lambda node: n - 1 - node,
        "bit_reversal": lambda node: int(f"{node:0{bits}b}"[::-1], 2),
        "perfect_shuffle": lambda node: node * 2 % n + node * 2 // n,
        "transpose": lambda node: number_of(digits[node][::-1], sides) if square else node * half % (n - 1) or node,
        "tornado": lambda node: number_of([digit + (side - 1) // 2 for digit, side in zip(digits[node], sides)], sides),
        "neighbour": lambda node: number_of([digits[node][0] + 1, *digits[node][1:]], sides),
    }
    target_of = [patterns[text](node) for node in range(n)]
    return (
        lambda source, target: int(target_of[source] == target),
        lambda image: all(target_of[image[node]] == image[target_of[node]] for node in range(n)),
    )


def addresses(sides):
    """Return the digits of the nodes 0, 1, … of an address space; x comes first and varies fastest."""
    return [digits[::-1] for digits in product(*map(range, sides[::-1]))]


def number_of(digits, sides):
    """Return the node with the given digits, each taken modulo its side."""
    return sum(digit % side * prod(sides[:place]) for place, (digit, side) in enumerate(zip(digits, sides)))


def hermite(columns):
    """Return the Hermite normal form of the lattice of some columns: the basis whose column i ends at row i."""
    left, basis = [list(column) for column in columns], []
    for row in reversed(range(len(left[0]))):
        while sum(column[row] != 0 for column in left) > 1:
            least = min((column for column in left if column[row]), key=lambda column: abs(column[row]))
            left = [
                column if column is least else [x - column[row] // least[row] * y for x, y in zip(column, least)]
                for column in left
            ]
        pivot = left.pop(next(index for index, column in enumerate(left) if column[row]))
        basis.insert(0, pivot if pivot[row] > 0 else [-entry for entry in pivot])
    return tuple((*reduced(column[:row], basis), *column[row:]) for row, column in enumerate(basis))


def reduced(vector, basis, order=None):
    """Return what a lattice leaves of a vector, row by row. The basis is triangular in the order of its rows."""
    for row in reversed(order or range(len(vector))):
        if times := vector[row] // basis[row][row]:
            vector = [entry - times * other for entry, other in zip(vector, basis[row])]
    return vector


# === 5  Families of networks =============================================================================
# A spelling names a family and its parameters, whose names (k, n, a, m, q, s, t) are those of the spelling.
def network_of(spelling):
    """Make the network of a spelling such as torus(k=4, n=2)."""
    family, parameters = call(spelling)
    expect(family in FAMILIES, "expected a family that this checker knows")
    return FAMILIES[family](**parameters)


def call(text):
    """Return (name, parameters) of a spelling such as torus(radices=[4, 4], directed=true), or of a name alone.

    Python would also read comments, a parameter given twice, and values of other forms. So the result is spelled again,
    and must be the same text, apart from quotes.
    """
    expect(text.isprintable(), "expected a spelling that can be printed")
    tree = ast.parse(text if "(" in text else f"{text}()", mode="eval").body
    name = tree.func.id
    given = {word.arg: getattr(word.value, "id", "") or ast.literal_eval(word.value) for word in tree.keywords}
    plain = lambda words: words.replace('"', "").replace(": ", "=")  # noqa: E731
    again = f"{name}({plain(json.dumps(given, ensure_ascii=False))[1:-1]})"
    expect(plain(text) in (name, again), "expected name(key=value, …) as torusweep writes it")
    expect(given.get("directed", "true") in ("true", "false"), "expected directed=true or directed=false")
    truth = {"true": True, "false": False}
    return name, {key: truth.get(value, value) if isinstance(value, str) else value for key, value in given.items()}


def derived(sides, along, directed=False, back=lambda address, dimension: False, fold=lambda digits: digits):
    """Make a network of addresses, with a link from each address one step forwards in the dimensions along(address).

    back   whether an address's link in a dimension leads backwards instead
    fold   maps the digits that a step leads to; the result is then taken modulo the sides
    """
    expect(min(sides) > 0, "expected sides of 1 or more")
    expect(prod(sides) <= MOST_NODES, f"expected a network of 1 to {MOST_NODES:,} nodes")
    links = set()
    for node, address in enumerate(addresses(sides)):
        for dimension in along(address):
            digits = [*address]
            digits[dimension] += -1 if back(address, dimension) else 1
            links.add((node, number_of(fold(digits), sides)))
    return Network(prod(sides), links, sides, directed)


def box(k, n, part=1):
    """Return n sides of k. k must be a multiple of `part`."""
    expect(0 < n <= MOST_DIMENSIONS, f"expected 1 to {MOST_DIMENSIONS} dimensions")
    expect(k % part == 0, f"expected a k that {part} divides")
    return [k] * n


def grid(k=None, n=None, radices=None, directed=False, closed=True):
    """Make a torus, or a mesh if its rows are not closed."""
    expect((k is None) == (n is None), "expected both k and n, or neither")
    expect((k is None) != (radices is None), "expected k and n, or radices")
    sides = radices or box(k, n)
    inner = lambda address: [i for i, side in enumerate(sides) if closed or address[i] + 1 < side]  # noqa: E731
    return derived(sides, inner, directed)


def pruned(k, n, whole, base=0):
    """Make a torus with all links in the dimensions `whole`; all others take turns along dimension `base`."""
    expect(n <= MOST_DIMENSIONS, f"expected at most {MOST_DIMENSIONS} dimensions")
    turns = [dimension for dimension in range(n) if dimension not in whole]
    expect(len(turns) > 1, "expected two dimensions or more that take turns")
    sides = box(k, n, part=len(turns))
    return derived(sides, lambda address: [*whole, turns[address[base] % len(turns)]])


def alternating(k, n, kept):
    """Make a torus with one-way rows in dimensions kept(address): backwards where their other digits' sum is odd."""
    back = lambda address, dimension: (sum(address) - address[dimension]) % 2  # noqa: E731
    return derived(box(k, n, part=2), kept, directed=True, back=back)


def zigzag(k, along):
    """Make a 3-D torus with half of its x and y links: backwards where the sum of the digits `along` is odd."""
    back = lambda address, dimension: dimension < 2 and sum(address[i] for i in along) % 2  # noqa: E731
    return derived(box(k, 3, part=2), lambda address: (0, 1, 2), back=back)


def quotient(basis, order=None):
    """Make the network of the integer vectors modulo a lattice, whose basis is triangular in the order of its rows."""
    sides = [column[row] for row, column in enumerate(basis)]
    return derived(sides, lambda address: range(len(address)), fold=lambda v: reduced(v, basis, order))


def circulant(n, steps):
    """Make a circulant graph as a lattice network: n times a step leads back, and steps can change places."""
    expect(len(steps) <= MOST_STEPS, f"expected at most {MOST_STEPS} steps")
    expect(min(steps) > 0, "expected steps above 0")
    expect(max(steps) < n, "expected steps below n")
    expect(gcd(n, *steps) == 1, "expected steps that lead to all nodes")
    every = range(len(steps))
    rounds = [[n * (row == i) for row in every] for i in every]
    changes = [[steps[j] * (row == i) - steps[i] * (row == j) for row in every] for i in every for j in range(i)]
    return quotient(hermite(rounds + changes))


def sequin(k, s, t):
    """Make a k × k torus in which going round x adds s to y, and going round y adds t to x."""
    fold = lambda digits: [digits[0] + t * (digits[1] == k), digits[1] + s * (digits[0] == k)]  # noqa: E731
    return derived([k, k], lambda address: (0, 1), fold=fold)


def twisted_torus(radices, twists):
    """Make a torus in which going round dimension i adds twists[i][j] to dimension j. Twists must lead in no circle."""
    every = set(range(len(radices)))
    for dimension, shifts in twists.items():
        expect(dimension in every, "expected twists of the torus's dimensions")
        expect(set(shifts) <= every - {dimension}, "expected shifts of other dimensions")
    shift = lambda i, j: twists.get(i, {}).get(j, 0)  # noqa: E731
    columns = [[radices[i] if i == j else -shift(i, j) for j in every] for i in every]
    order = []
    for _ in every:
        free = (i for i in sorted(every - {*order}) if not any(columns[i][j] for j in every - {i, *order}))
        order.append(next(free, None))
        expect(order[-1] is not None, "expected twists that lead in no circle")
    return quotient(columns, order)


def modules(side, closed, n, levels, gates):
    """Make modules with sides `side`; join n in each dimension and level, at gates (place, level, dimension)."""
    inner = len(side)
    leads = {place: [inner * (level - 1) + dimension] for place, level, dimension in gates if level <= levels}
    within = lambda address: [i for i in range(inner) if closed or address[i] + 1 < side[i]]  # noqa: E731
    along = lambda address: within(address) + leads.get(tuple(address[:inner]), [])  # noqa: E731
    return derived([*side, *[n] * (inner * (levels - 1))], along)


def h3dt(m, n, levels, q, closed):
    """Make a hierarchical 3-D torus of modules m³. A level has 2^q corners of the planes z = 0, 1, 2 as its gates."""
    expect(m > 2, "expected modules of three planes or more")
    expect(n > 1, "expected two modules or more")
    expect(0 <= q < 3, "expected q of 0 to 2")
    expect(1 < levels <= 2 ** (2 - q) + 1, "expected as many levels as there are corners")
    corners = [(0, 0), (m - 1, 0), (0, m - 1), (m - 1, m - 1)]
    gates = [((*corner, 2 - i), 2 + number // 2**q, i) for number, corner in enumerate(corners) for i in range(3)]
    return modules([m] * 3, closed, n, levels, gates)


def tesh(m, levels, q):
    """Make a TESH network of 4 × 4 modules with gates at their corners."""
    expect((m, q) == (2, 0), "expected m=2 and q=0")
    expect(levels in (2, 3), "expected 2 or 3 levels")
    gates = [((0, 0), 3, 1), ((3, 0), 3, 0), ((0, 3), 2, 1), ((3, 3), 2, 0)]
    return modules([4, 4], False, 4, levels, gates)


def graph(path, directed=False, format="edgelist"):
    """Read the links of a file of lines "u v" or "u,v". A line that occurs twice is two parallel links."""
    expect(format == "edgelist", "expected an edge list")
    file = Path(path)
    expect(file.is_file(), "expected a file of links")
    expect(file.stat().st_size <= MOST_BYTES_OF_LINKS, "expected a file of links of at most 16 MiB")
    # a first comment of SNAP's or Matrix Market's stays, so that the file is refused: it is no edge list
    other_format = r"(?!\A(#\s*(Und|D)irected graph|%%MatrixMarket))"
    text = re.sub(other_format + r"(?<!\S)[#%].*", "", file.read_bytes().decode("utf-8-sig"))
    links = []
    for line in text.replace(",", " ").split("\n"):
        numbers = line.split()
        plain = len(numbers) in (0, 2) and re.fullmatch("[0-9]*", "".join(numbers))
        expect(plain, "expected lines of two numbers, without heading, weights or other columns")
        links += [(int(numbers[0]), int(numbers[1]))] if numbers else []
    nodes = {node for link in links for node in link}
    expect(len(nodes) <= MOST_NODES, f"expected at most {MOST_NODES:,} nodes")
    expect(nodes == set(range(len(nodes))), "expected the nodes 0 … n − 1, each on some line")
    return Network(len(nodes), links, [len(nodes)], directed)


FAMILIES = {
    "torus": lambda k=None, n=None, radices=None, directed=False: grid(k, n, radices, directed),
    "mesh": lambda k=None, n=None, radices=None: grid(k, n, radices, closed=False),
    "ring": lambda k: grid(k, 1),
    "hypercube": lambda n: grid(2, n),
    "rt": lambda a: grid(radices=[2 * a, a]),
    "pt": lambda a: grid(radices=[2 * a, a, a]),
    "partly_pruned_torus": lambda k, n, intact: pruned(k, n, range(intact)),
    "pruned_torus": lambda k, n: pruned(k, n, [0]),
    "pruned_t1": lambda k: pruned(k, 3, [2], base=2),
    "pruned_t2": lambda k: zigzag(k, along=(0, 1, 2)),
    "pruned_xy": lambda k: zigzag(k, along=(0, 1)),
    "directed_torus": lambda k, n: alternating(k, n, lambda address: range(n)),
    "pruned_directed_torus": lambda k, n: alternating(k, n, lambda address: (0, 1 + address[0] % (n - 1))),
    "lattice": lambda matrix: quotient(hermite(zip(*matrix, strict=True))),
    "rtt": lambda a: twisted_torus([2 * a, a], {1: {0: a}}),
    "ptt": lambda a: twisted_torus([2 * a, a, a], {1: {0: a}}),
    "pdtt": lambda a: twisted_torus([2 * a, a, a], {1: {0: a}, 2: {0: a}}),
    "illiac": lambda k: twisted_torus([k, k], {0: {1: 1}}),
    "ccc": lambda n: derived([n, *box(2, n)], lambda address: (0, 1 + address[0])),
    "mh3dt": lambda m, n, levels, q: h3dt(m, n, levels, q, closed=True),
    "h3dt": lambda m, n, levels, q: h3dt(m, n, levels, q, closed=False),
} | {family.__name__: family for family in (circulant, twisted_torus, sequin, tesh, graph)}


if __name__ == "__main__":
    gc.disable()  # no circles of references are left behind; looking for some takes a quarter of the time
    raise SystemExit(main())
