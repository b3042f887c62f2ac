#!/usr/bin/env python3
"""Checks certificates of torusweep. Plain Python: it shares no line and no module with torusweep.

    python certify/check.py FILE … [--claim '{"topology": "torus(k=8, n=2)", "at_most": "63/4"}']

A file holds a certificate, or one on each line. What is proved is printed, or why nothing is; the status is 0 where all
are valid. With --claim, one must say exactly that. docs/certificates.md has the fields, what each kind proves, and on
which assumptions. Networks are made here, from their spelling: what a proof says of a network is not believed.
"""

import argparse
import ast
import gc
import hashlib
import json
import re
from collections import Counter
from fractions import Fraction
from functools import cache
from heapq import heappop, heappush
from itertools import pairwise, permutations, product
from math import ceil, gcd, prod
from pathlib import Path


class Invalid(Exception):
    """Why a certificate proves nothing."""


def expect(condition, why):
    if not condition:
        raise Invalid(why)


def once(pairs):
    """An object of JSON whose keys differ; Python's reader would take the last of equal ones."""
    found = dict(pairs)
    expect(len(found) == len(pairs), "expected each key once")
    return found


def call(text):
    """(name, arguments) of a spelling such as torus(radices=[4, 4], directed=true), or of a bare name.

    Only as torusweep writes it: Python would also read comments, a key twice, and what does not look like its value.
    """
    tree = ast.parse(text if "(" in text else text + "()", mode="eval").body
    given = {one.arg: getattr(one.value, "id", "") or ast.literal_eval(one.value) for one in tree.keywords}
    bare = lambda words: words.replace('"', "").replace(": ", "=")  # noqa: E731
    own = (tree.func.id, f"{tree.func.id}({bare(json.dumps(given, ensure_ascii=False))[1:-1]})")
    known = text.isprintable() and given.get("directed", "true") in ("true", "false")
    expect(known and bare(text) in own, "expected name(key=value, …) as torusweep writes it")
    return tree.func.id, {key: value == "true" if value in ("true", "false") else value for key, value in given.items()}


def box(k, n):
    """n sides of k, which is at least 2 where there are several: no more than 15 make 32,768 nodes."""
    expect(0 < n < 16, "expected 1 to 15 dimensions")
    return [k] * n


def derived(sides, steps, directed=False, fold=lambda digits: digits):
    """The network of digits, x fastest, with a link from digits a along each i of steps(a): 1 more in dimension i.

    ~i is 1 less in dimension i. What fold makes of the digits is then taken modulo the sides.
    """
    expect(min(sides) > 0 and prod(sides) <= 1 << 15, "expected a network of 1 to 32,768 nodes")
    links = {(u, number_of(fold(move(a, i)), sides)) for u, a in enumerate(addresses(sides)) for i in steps(a)}
    return Network(prod(sides), links, sides, directed)


class Network:
    """Nodes 0 … n − 1 with one terminal each; arcs: (tail, head) → links; sides of its address space, x first."""

    def __init__(self, n, links, sides, directed=False):
        there = Counter(link for link in links if link[0] != link[1])
        both = there | Counter({(v, u): number for (u, v), number in there.items()})  # the larger number of either end
        self.n, self.sides, self.arcs, self.back = n, sides, dict(there if directed else both), [[] for _ in range(n)]
        for u, v in self.arcs:
            self.back[v].append(u)

    def distances(self, root, length=lambda u, v: 1, hops=None):
        """By node: the least length of a path to the root; with hops, of a path of fewest hops."""
        away, waiting = {}, [(0, root)]
        while waiting:
            far, v = heappop(waiting)
            if v not in away:
                away[v] = far
                for u in self.back[v]:
                    if u not in away and (not hops or hops[u] == hops[v] + 1):
                        heappush(waiting, (far + length(u, v), u))
        return away

    def crossing(self, part, out=lambda a, b: a != b):
        """Links from each part to others: out(part of the tail, part of the head)."""
        return sum(links for (u, v), links in self.arcs.items() if out(part[u], part[v]))


def addresses(sides):
    """The digits of the nodes 0, 1, …"""
    return [digits[::-1] for digits in product(*map(range, sides[::-1]))]


def number_of(digits, sides):
    return sum(digit % side * prod(sides[:i]) for i, (digit, side) in enumerate(zip(digits, sides)))


def move(a, i):
    return [*a[:i], a[i] + 1, *a[i + 1 :]] if i >= 0 else [*a[:~i], a[~i] - 1, *a[~i + 1 :]]


def hermite(columns):
    """The basis of the lattice that columns generate whose column i ends at row i: its Hermite normal form."""
    left, basis = [list(column) for column in columns], []
    for i in reversed(range(len(left[0]))):
        while sum(c[i] != 0 for c in left) > 1:
            least = min((c for c in left if c[i]), key=lambda c: abs(c[i]))
            left = [c if c is least else [x - c[i] // least[i] * y for x, y in zip(c, least)] for c in left]
        pivot = left.pop(next(j for j, c in enumerate(left) if c[i]))
        basis.insert(0, pivot if pivot[i] > 0 else [-x for x in pivot])
    return tuple((*reduced(column[:j], basis), *column[j:]) for j, column in enumerate(basis))


def reduced(vector, basis, order=None):
    """What a lattice leaves of a vector: 0 ≤ x < basis[i][i] in each row i. In an order the basis is triangular."""
    for j in reversed(order or range(len(vector))):
        if times := vector[j] // basis[j][j]:
            vector = [x - times * y for x, y in zip(vector, basis[j])]
    return vector


def grid(k=None, n=None, radices=None, directed=False, closed=True):
    expect((radices is None) == (k is not None) == (n is not None), "expected k and n, or radices")
    sides = radices or box(k, n)
    return derived(sides, lambda a: (i for i, side in enumerate(sides) if closed or a[i] + 1 < side), directed)


def pruned(k, n, whole, base=0):
    """Dimensions `whole` have all their links; the others take turns along the dimension `base`."""
    sides = box(k, n)
    turns = [i for i in range(n) if i not in whole]
    expect(len(turns) > 1 and k % len(turns) == 0, "expected dimensions that take turns evenly")
    return derived(sides, lambda a: [*whole, turns[a[base] % len(turns)]])


def zigzag(k, n, kept, along=None):
    """Forwards in dimensions kept(digits) where digits `along`, or all others, are even in sum, else backwards."""
    expect(k % 2 == 0, "expected an even k")
    back = lambda a, i: sum(a[j] for j in along or range(n) if along or j != i) % 2  # noqa: E731
    return derived(box(k, n), lambda a: [~i if back(a, i) else i for i in kept(a)] + [2] * bool(along), not along)


def quotient(basis, order=None):
    sides = [column[i] for i, column in enumerate(basis)]
    return derived(sides, lambda a: range(len(a)), fold=lambda a: reduced(a, basis, order))


def circulant(n, steps):
    """The lattice of the combinations of steps that lead back: n e_i, and steps_j e_i − steps_i e_j."""
    expect(len(steps) <= 32, "expected at most 32 steps")
    expect(gcd(n, *steps) == 1 and min(steps) > 0 and max(steps) < n, "expected steps that lead to all nodes")
    every = range(len(steps))
    ties = [[steps[j] * (x == i) - steps[i] * (x == j) for x in every] for i in every for j in range(i)]
    return quotient(hermite([[n * (x == i) for x in every] for i in every] + ties))


def sequin(k, s, t):
    """Going round x adds s to y, and going round y adds t to x."""
    return derived([k, k], lambda a: (0, 1), fold=lambda a: [a[0] + t * (a[1] == k), a[1] + s * (a[0] == k)])


def twisted_torus(radices, twists):
    """Going round dimension j adds twists[j][i] to dimension i."""
    every, order = range(len(radices)), []
    expect(all(j in every and {*adds} <= {*every} - {j} for j, adds in twists.items()), "expected other dimensions")
    columns = [[radices[j] if i == j else -twists.get(j, {}).get(i, 0) for i in every] for j in every]
    for _ in every:
        order += [next(j for j in every if j not in order and not any(columns[j][i] for i in {*every} - {j, *order}))]
    return quotient(columns, order)


def modules(side, closed, n, levels, gates):
    """Modules joined as tori, level by level; gates: (place in the module, level, dimension) of their links."""
    d = len(side)
    leads = {place: [d * (level - 1) + i] for place, level, i in gates if level <= levels}
    inside = lambda a: [i for i in range(d) if closed or a[i] + 1 < side[i]]  # noqa: E731
    return derived([*side, *[n] * (d * (levels - 1))], lambda a: inside(a) + leads.get(tuple(a[:d]), []))


def h3dt(m, n, levels, q, closed):
    """The gates of level l are the corners number (l − 2) 2^q … (l − 1) 2^q − 1 of the planes z = 0, 1, 2."""
    fits = m > 2 and n > 1 and 0 <= q < 3 and 1 < levels <= 2 ** (2 - q) + 1
    expect(fits, "expected as many levels as there are corners")
    corners = list(enumerate((x, y) for y in (0, m - 1) for x in (0, m - 1)))
    gates = [((*xy, 2 - i), 2 + number // 2**q, i) for number, xy in corners for i in range(3)]
    return modules([m] * 3, closed, n, levels, gates)


def tesh(m, levels, q):
    expect((m, q) == (2, 0) and levels in (2, 3), "expected m=2, q=0, and 2 or 3 levels")
    gates = [((0, 0), 3, 1), ((3, 0), 3, 0), ((0, 3), 2, 1), ((3, 3), 2, 0)]
    return modules([4, 4], False, 4, levels, gates)


def graph(path, directed=False, format="edgelist"):
    """A file of lines "u v" or "u,v" with the nodes 0 … n − 1; a line that is there twice is two parallel links."""
    expect(Path(path).is_file() and Path(path).stat().st_size <= 1 << 24, "expected a file of at most 16 MiB")
    other = r"(?!\A(#\s*(Und|D)irected graph|%%MatrixMarket))"  # no comments: they say that the file is no edge list
    text = re.sub(other + r"(?<!\S)[#%].*", "", Path(path).read_bytes().decode("utf-8-sig")).replace(",", " ")
    lines = [line.split() for line in text.split("\n")]
    plain = all(len(line) in (0, 2) and re.fullmatch("[0-9]*", "".join(line)) for line in lines)
    expect(format == "edgelist" and plain, "expected lines of two numbers, without heading, weights or other columns")
    links = [(int(u), int(v)) for u, v in filter(None, lines)]
    nodes = {node for link in links for node in link}
    expect(
        len(nodes) <= 1 << 15 and nodes == set(range(len(nodes))),
        "expected the nodes 0 … n − 1 of at most 32,768, each on some line",
    )
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
    "pruned_t1": lambda k: pruned(k, 3, [2], 2),
    "pruned_t2": lambda k: zigzag(k, 3, lambda a: (0, 1), along=(0, 1, 2)),
    "pruned_xy": lambda k: zigzag(k, 3, lambda a: (0, 1), along=(0, 1)),
    "directed_torus": lambda k, n: zigzag(k, n, lambda a: range(n)),
    "pruned_directed_torus": lambda k, n: zigzag(k, n, lambda a: (0, 1 + a[0] % (n - 1))),
    "lattice": lambda matrix: quotient(hermite(zip(*matrix, strict=True))),
    "rtt": lambda a: twisted_torus([2 * a, a], {1: {0: a}}),
    "ptt": lambda a: twisted_torus([2 * a, a, a], {1: {0: a}}),
    "pdtt": lambda a: twisted_torus([2 * a, a, a], {1: {0: a}, 2: {0: a}}),
    "illiac": lambda k: twisted_torus([k, k], {0: {1: 1}}),
    "ccc": lambda n: derived([n] + [2] * n, lambda a: (0, 1 + a[0])),
    "mh3dt": lambda m, n, levels, q: h3dt(m, n, levels, q, closed=True),
    "h3dt": lambda m, n, levels, q: h3dt(m, n, levels, q, closed=False),
} | {family.__name__: family for family in (circulant, twisted_torus, sequin, tesh, graph)}


def network_of(text):
    name, given = call(text)
    return FAMILIES[name](**given)


class Orbits:
    """Orbits under automorphisms, which are checked. node, arc: each one's (first of its orbit, size of the orbit)."""

    def __init__(self, net, generators, kept=lambda image: True):
        for image in generators:
            expect(sorted(image) == list(range(net.n)), "a generator is no permutation of the nodes")
            same = all(net.arcs.get((image[u], image[v])) == links for (u, v), links in net.arcs.items())
            expect(same and kept(image), "a generator does not keep the network, or what is asked of it")
        self.net, self.node = net, self.orbits(range(net.n), [image.__getitem__ for image in generators])
        self.arc = self.orbits(net.arcs, [lambda arc, g=image: (g[arc[0]], g[arc[1]]) for image in generators])

    def orbits(self, things, images):
        found = {}
        for first in sorted(things):
            if first not in found:
                orbit, new = {first}, {first}
                while new := {image(one) for one in new for image in images} - orbit:
                    orbit |= new  # permutations are finite: what is reached forwards is the orbit
                found |= dict.fromkeys(orbit, (first, len(orbit)))
        return found

    def busiest(self, load):
        """The greatest load of a link: loads, by an orbit's first arc, are spread over the orbit by its group."""
        return max(Fraction(flits, self.arc[arc][1] * self.net.arcs[arc]) for arc, flits in load.items())


# whether data go up trees, and down them; whether there is a root
OPERATIONS = {"all_gather": (0, 1, 0), "reduce_scatter": (1, 0, 0), "all_reduce": (1, 1, 0), "all_to_all": (0, 0, 0)}
OPERATIONS |= {"broadcast": (0, 1, 1), "reduce": (1, 0, 1)}


def collective(net, proof, topology, operation, root, at_least, at_most):
    up, down, rooted = OPERATIONS[operation]
    expect(root in range(net.n) if rooted else root is None, "expected a root of broadcast and reduce only")
    if operation == "all_to_all":
        least, most = throughput(net, "uniform", "all", proof)
        return {"at_least": 1 / most, "at_most": least and 1 / least}
    cut, trees, generators = map(proof.pop, ("cut", "trees", "generators"))
    parts = list(dict.fromkeys(cut))
    expect(len(cut) == net.n and parts == list(range(len(parts))), "expected a set of each node, numbered in order")
    expect(len(parts) > 1 and (len(parts) == 2 or operation == "all_reduce"), "expected a cut of two sets")
    sides, each = ([cut[root]], Fraction(1)) if rooted else ([0, 1], Fraction(1, net.n))
    through = [net.crossing(cut, lambda u, v, own=o: u != v and (u if down else v) == own) for o in sides]
    bound = max(each * (1 if rooted else cut.count(o)) / links for o, links in zip(sides, through))
    if operation == "all_reduce":  # 2p − 2 messages a flit tell p sets of all others (Harary & Schwenk 1974)
        bound = Fraction(2 * len(parts) - 2, net.crossing(cut))
    if trees is None and generators is None:
        return {"at_least": bound, "at_most": None}
    orbits, load, weights = Orbits(net, generators, lambda image: not rooted or image[root] == root), {}, {}
    for weight, parent in trees:
        expect(weight > 0 and parent.count(-1) == 1 and len(parent) == net.n, "expected spanning trees of one root")
        top, links = parent.index(-1), [(p, v) for v, p in enumerate(parent) if p != -1]
        above = [top if p == -1 else p for p in parent]
        for _ in range(net.n.bit_length()):
            above = [above[v] for v in above]
        expect(set(above) == {top} and top == (root if rooted else top), "expected trees, out of the root")
        weights[orbits.node[top]] = weights.get(orbits.node[top], 0) + weight
        for arc in links * down + [(v, p) for p, v in links] * up:
            load[orbits.arc[arc][0]] = load.get(orbits.arc[arc][0], 0) + weight
    shares = {Fraction(weights.get(orbit, 0), orbit[1]) for orbit in orbits.node.values()}
    expect(rooted or operation == "all_reduce" or len(shares) == 1, "expected trees of equal weight of each root")
    return {"at_least": bound, "at_most": orbits.busiest(load) / sum(weights.values())}


def traffic_of(net, text):
    """(demand(s, t): flits to t for each that s sends, whether a permutation of the nodes keeps them)."""
    if text == "uniform":
        return lambda s, t: Fraction(1, net.n), lambda image: True
    n, bits, sides = net.n, net.n.bit_length() - 1, net.sides
    digits, square = addresses(sides), len(sides) == 2 and sides[0] == sides[1]
    if text not in ("tornado", "neighbour") and not (text == "transpose" and square):
        expect(n == 1 << bits and (text != "transpose" or bits % 2 == 0), "expected a power of 2, or 4, of nodes")
    to = {
        "bit_complement": lambda s: n - 1 - s,
        "bit_reversal": lambda s: int(f"{s:0{bits}b}"[::-1], 2),
        "perfect_shuffle": lambda s: s * 2 % n + s * 2 // n,
        "transpose": lambda s: number_of(digits[s][::-1], sides) if square else s * 2 ** (bits // 2) % (n - 1) or s,
        "tornado": lambda s: number_of([d + (k + 1) // 2 - 1 for d, k in zip(digits[s], sides)], sides),
        "neighbour": lambda s: number_of(move(digits[s], 0), sides),
    }[text]
    to = [to(s) for s in range(n)]
    return lambda s, t: int(to[s] == t), lambda image: all(to[image[s]] == image[to[s]] for s in range(n))


def throughput(net, traffic, routes, proof):
    """(some routing carries this, none carries more), in flits a cycle and terminal: by flows, and by lengths."""
    (demand, kept), minimal = traffic_of(net, traffic), {"all": False, "minimal": True}[routes]
    generators, roots, lengths, scale, flows = map(proof.pop, ("generators", "roots", "lengths", "scale", "flows"))
    orbits, load, needed, every = Orbits(net, generators, kept), {}, 0, range(net.n)
    length = {(u, v): much for u, v, much in lengths or []}
    firsts = all(orbits.arc[arc][0] == arc and much > 0 for arc, much in length.items())
    expect(firsts and len(length) == len(lengths or []), "expected one length of an orbit, at its first channel")
    reps = {orbits.node[root] for root in roots}
    expect(roots == [first for first, _ in sorted(reps)], "expected the first nodes of orbits as roots")
    rest = [t for t in every if orbits.node[t] not in reps]
    expect(not any(demand(s, t) for t in rest for s in every if s != t), "traffic to no root's image")
    expect(len(flows or roots) == len(roots) and (flows is None or scale > 0), "expected flows in a scale")
    for root, flow in zip(roots, flows or [[]] * len(roots)):
        hops, size, left = minimal and net.distances(root), orbits.node[root][1], [0] * net.n
        away = net.distances(root, lambda u, v: length.get(orbits.arc[u, v][0], 0), hops)
        needed += size * sum(demand(s, root) * away[s] for s in every)
        for u, v, flits in flow:
            expect(flits > 0 and (not hops or hops[u] == hops[v] + 1), "expected flow on hops that routes may take")
            left[u], left[v] = left[u] + flits, left[v] - flits
            load[orbits.arc[u, v][0]] = load.get(orbits.arc[u, v][0], 0) + flits * size
        expect(len({(u, v) for u, v, _ in flow}) == len(flow), "expected the flow of an arc once")
        expect(flows is None or all(left[s] >= scale * demand(s, root) for s in every if s != root), "traffic left out")
    expect(not lengths or gcd(*length.values()) == 1, "expected lengths without a common factor")
    room = sum(links * length.get(orbits.arc[arc][0], 0) for arc, links in net.arcs.items())
    return None if flows is None else scale / orbits.busiest(load), None if lengths is None else room / Fraction(needed)


def capacity(net, proof, topology, traffic, routes, at_least, at_most):
    return dict(zip(("at_least", "at_most"), throughput(net, traffic, routes, proof)))


def bisection(net, proof, topology, at_least, at_most):
    """A cut; and uniform traffic that fits, of whose N² pairs ⌊N/2⌋⌈N/2⌉ cross from a half to the other."""
    half, few = proof.pop("half"), net.n // 2
    part = [v in set(half) for v in range(net.n)]
    expect(half == [v for v in range(net.n) if part[v]] and len(half) == few > 0, "expected half of the nodes")
    expect(proof.setdefault("lengths", None) is None, "expected no lengths")
    bound = Fraction(ceil(throughput(net, "uniform", "all", proof)[0] * few * (net.n - few) / net.n))
    return {"at_least": bound, "at_most": Fraction(net.crossing(part, lambda u, v: u > v))}


def symmetry(net, proof, topology, at_least, at_most):
    """Orbits of the nodes under all automorphisms: those of the generators; nodes whose distances differ."""
    orbits, differ = Orbits(net, proof.pop("generators")), proof.pop("differ")
    first = [orbits.node[v][0] for v in range(net.n)]
    expect(proof.pop("orbits") == first, "the generators have other orbits")
    expect(differ == sorted(set(differ) & set(first)), "expected the first nodes of orbits")
    seen = {tuple(sorted(net.distances(v).values())) for v in differ}
    expect(len(seen) == len(differ) > 0, "two of the nodes that differ have the same distances")
    return {"at_least": Fraction(len(seen)), "at_most": Fraction(len(set(first)))}


def deadlock(net, proof, topology, routing, vc_rule, virtual_channels, deadlock_free):
    """Channels (tail, head, class): an order that grows along each dependency; or packets that wait in a circle."""
    (name, options), most = call(routing), virtual_channels - 1
    expect(most >= 0 and name == ("dimension_order", "listed")[vc_rule == "listed"], "expected another routing or rule")
    place = {tuple(channel): i for i, channel in enumerate(proof.get("order", ()))}
    if name == "listed":
        used, follows, starts = listed(net, most, place, proof.pop("tables"), **options)
    else:
        used, follows, starts = dimension_order(net, {"none": False, "dateline": most > 0}[vc_rule], **options)
    if "order" in proof:
        expect(place.keys() == used and len(proof.pop("order")) == len(place), "expected each channel in use, once")
        expect(all(place[held] < place[wanted] for held, wanted in follows), "a packet requests an earlier channel")
        return {"deadlock_free": "yes"}
    cycle, packets = [tuple(channel) for channel in proof.pop("cycle")], proof.pop("packets")
    waits = list(zip(cycle, cycle[1:] + cycle[:1]))
    expect({*cycle} <= starts and {*waits} <= follows and 0 < len(cycle) == len({*cycle}), "packets wait in no circle")
    expect(packets == [[held[0], wanted[1]] for held, wanted in waits], "expected packets of these two hops")
    return {"deadlock_free": "no"}


def exhaustion(net, proof, topology, dimensions, nodes, lattices, classes, mean_distance, attained):
    """No lattice of a size has a smaller sum of distances; how many have this one; classes under all symmetries."""
    n, least = dimensions, sum(net.distances(0).values())
    fits = call(topology)[0] == "lattice" and (net.n, len(net.sides)) == (nodes, n)
    expect(fits and n < 6, "expected a lattice of this size, of one to five dimensions")
    worse, norm, shapes = set(), 0, {0}
    while shapes:
        norm, shape = norm + 1, lambda vector: tuple(sorted(map(abs, vector)))
        shapes = {one for one in set(map(shape, shell(n, norm))) if spread([one] * n, nodes, least, [n - 1]) > least}
        worse |= {vector for vector in shell(n, norm) if shape(vector) in shapes}
    sums = [(spread(basis, nodes, least), size) for basis, size in classes_of(n, nodes, worse)]
    expect(min(sums)[0] >= least, "another lattice has a smaller sum")
    classes = classes if classes is None else sum(1 for _ in classes_of(n, nodes))
    sizes = {"lattices": number(n, nodes), "attained": sum(size for total, size in sums if total == least)}
    return sizes | {"classes": classes, "mean_distance": Fraction(least, nodes)}


def number(n, nodes):
    """Of the Hermite normal forms of n rows and a determinant: d^(n − 1) of them have d last."""
    divisors = (d for d in range(1, nodes + 1) if nodes % d == 0)
    return sum(d ** (n - 1) * number(n - 1, nodes // d) for d in divisors) if n else nodes == 1


@cache
def shell(n, norm):
    """The vectors of n whole numbers whose absolute values have this sum."""
    return [(x, *rest) for x in range(-norm, norm + 1) for rest in shell(n - 1, norm - abs(x))] if n else [()][norm:]


def spread(basis, nodes, most, order=None):
    """The sum of the distances in the lattice of a basis, or a number not above it; not followed beyond `most`.

    It adds up the nodes not within 0, 1, 2 … hops. Where the basis is a part of the lattice's, by the order's rows,
    the vectors within some hops have no fewer names modulo this part than there are nodes within as many.
    """
    names, total, hops = set(), 0, 0
    while len(names) < nodes and total <= most:
        names.update(tuple(reduced(vector, basis, order)) for vector in shell(len(basis), hops))
        total, hops = total + max(0, nodes - len(names)), hops + 1
    return total


def classes_of(n, nodes, without=()):
    """(one, how many) of each class of sublattices; −1 keeps every lattice, so that one sign need not be turned."""
    turns = product(permutations(range(n)), product((1,), *[(1, -1)] * (n - 1)))
    turns, left = [list(zip(*turn)) for turn in turns], set(sublattices(n, nodes, without))
    while left:
        basis = left.pop()
        orbit = {hermite([[x * column[i] for i, x in turn] for column in basis]) for turn in turns}
        left -= orbit
        yield basis, len(orbit)


def sublattices(n, nodes, without=()):
    """The Hermite normal forms of n rows and a determinant, of lattices that hold none of some vectors.

    At least one of each class under signed permutations, which take vectors of `without` to such vectors: those of the
    other coordinates take a lattice to one whose vectors that end in 0 are the chosen ones of their own class.
    """
    if n == 1:
        return [((nodes,),)] * all(x % nodes for (x,) in without)
    found, at = [], {z: [v[:-1] for v in without if v[-1] == z] for z in {v[-1] for v in without}}
    flat = {v[:-1] for v in without}
    for c in (c for c in range(1, nodes + 1) if nodes % c == 0):
        for base, _ in classes_of(n - 1, nodes // c, at.get(0, ())):
            names = {vector: tuple(reduced(vector, base)) for vector in flat}
            barred = [{names[vector] for vector in at.get(z, ())} for z in range(c, max(at, default=0) + 1, c)]
            left = set(product(*[range(column[i]) for i, column in enumerate(base)])).difference(*barred[:1])
            for times, none in enumerate(barred[1:], 2):
                left = {one for one in left if tuple(reduced([times * x for x in one], base)) not in none}
            found += [(*((*column, 0) for column in base), (*one, c)) for one in left]
    return found


def dimension_order(net, dateline, tie="split"):
    """Along x first, then y …, the shorter way round; class 1 from the hop across a ring's dateline on.

    (channels, pairs of a channel that packets hold and one that they then request, channels that packets enter by)
    """
    halfway = {"split": [1, -1], "random": [1, -1], "positive": [1], "sign": None}[tie]
    kinds = ((False, True), (False, False), (True, True))
    kinds = [kind for kind in kinds if grid(None, None, net.sides, *kind).arcs == net.arcs]
    expect(kinds, "expected a torus or mesh with all its links")
    (forwards, closed), runs = kinds[0], {}
    for i, k in enumerate(net.sides):
        ring, far, stride = closed or k == 2, {}, prod(net.sides[:i])
        for s, d in permutations(range(k), 2):
            on, steps = (d - s) % k, [1 if d > s else -1]
            if ring:
                tied = 2 * on == k > 2 and not forwards
                steps = halfway or steps if tied else [1 if forwards or k == 2 or 2 * on < k else -1]
            for step in steps:
                far[s, step] = max(far.get((s, step), 0), (d - s) * step % k)
        for v, step in product(range(net.n), (1, -1)):  # the longest run: the others are its beginnings
            digit = v // stride % k
            places = [digit + step * hop for hop in range(far.get((digit, step), 0) + 1)]
            at = [v + (place % k - digit) * stride for place in places]
            late = [int(dateline and ring and place not in range(k)) for place in places]
            runs[v, i, step] = list(zip(at, at[1:], late[1:]))
    used = {channel: i for (_, i, _), run in runs.items() for channel in run}
    follows = {pair for run in runs.values() for pair in pairwise(run)}
    for held, i in used.items():
        later = product(range(i + 1, len(net.sides)), (1, -1))
        follows |= {(held, requested) for j, step in later for requested in runs[held[1], j, step][:1]}
    return used.keys(), follows, {run[0] for run in runs.values() if run}


KINDS = {kind.__name__: kind for kind in (collective, capacity, bisection, symmetry, deadlock, exhaustion)}


def listed(net, most, place, tables, sha256):
    """Any routing as data: of packets to each node the places they may be in, and hops (place, place, class).

    They enter at the places 0 … n − 1, which are the nodes; other places are at the nodes that are named. Of channels
    that a packet may request next only the first in the order is returned: if that is further on, they all are.
    """
    expect(hashlib.sha256(json.dumps(tables).encode()).hexdigest() == sha256, "the routing's digest is another")
    expect(all((u, v) in net.arcs and 0 <= kind <= most for u, v, kind in place), "expected the network's channels")
    order, requests = [*place], set()
    for d, (nodes, hops) in zip(range(net.n), tables, strict=True):
        at, first = [*range(net.n), *nodes], {}
        taken = [place[at[a], at[b], kind] for a, b, kind in hops]
        for (a, _, _), i in zip(hops, taken):
            first[a] = min(i, first.get(a, i))
        goes = first.keys() | {d} == {*range(len(at))} >= {b for _, b, _ in hops} and d not in first
        expect(goes, "expected hops on from each place but the destination")
        requests.update((i, first.get(b)) for (_, b, _), i in zip(hops, taken))
    return {order[i] for i, _ in requests}, {(order[i], order[j]) for i, j in requests if j is not None}, set()


def check(text):
    """What a certificate proves: its kind and claim. Raises Invalid."""
    try:
        given = json.loads(text, object_pairs_hook=once)
        digest, kind, claim, proof = map(given.pop, ("digest", "kind", "claim", "proof"))
        content = json.dumps([kind, claim, proof], sort_keys=True)
        expect({*re.sub(r'"(\\.|[^"\\])*"', "", content)} <= {*"0123456789-[]{}:, nul"}, "expected whole numbers, text")
        expect(hashlib.sha256(content.encode()).hexdigest() == digest, "the digest is of another text")
        proved = KINDS[kind](network_of(claim["topology"]), proof, **claim)
        expect(not proof and not given, "unknown fields")
        for name, value in proved.items():
            value = str(value) if isinstance(value, Fraction) else value
            expect(claim[name] == value, f"{name}: claimed {claim[name]}, is {value}")
    except Exception as error:  # whatever is wrong with it
        raise error if type(error) is Invalid else Invalid(f"malformed: {type(error).__name__}: {error}") from None
    return {"kind": kind, **claim}


def shown(text):
    """Escape what a terminal obeys or an encoding lacks, such as half of a surrogate pair, as JSON does."""
    return "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Checks certificates of torusweep: docs/certificates.md.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    read = lambda text: json.loads(text, object_pairs_hook=once)  # noqa: E731
    parser.add_argument("--claim", default={}, type=read, help="JSON of what one of them must say: kind, claim")
    options, said, failed = parser.parse_args(arguments), False, False
    for path in options.files:
        small = path.is_file() and path.stat().st_size <= 1 << 30
        text = (
            path.read_text("utf-8", "replace") if small else parser.error(f"{path}: expected a file of at most 1 GiB")
        )
        for number, line in enumerate(filter(str.strip, text.splitlines()), 1):
            try:
                proved = check(line)
                said |= options.claim.items() <= proved.items()
                print(shown(f"valid: {json.dumps(proved, ensure_ascii=False)}"))
            except Invalid as why:
                print(shown(f"{path}:{number}: REFUSED: {why}"))
                failed = True
    if not failed and not said:
        print(shown(f"REFUSED: nothing proves {json.dumps(options.claim, ensure_ascii=False)}"))
    return failed or not said


if __name__ == "__main__":
    gc.disable()  # no circles of references are left behind; looking for some takes a quarter of the time
    raise SystemExit(main())
