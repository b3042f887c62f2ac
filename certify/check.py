#!/usr/bin/env python3
"""Checks certificates of torusweep. Plain Python: it shares no line and no module with torusweep.

    python certify/check.py FILE … [--claim '{"topology": "torus(k=8, n=2)", "at_most": "63/4"}']

A file holds a certificate, or one on each line. What is proved is printed, or why nothing is; the status is 0 where all
are valid. With --claim, one must say exactly that. docs/certificates.md has the fields, what each kind proves, and on
which assumptions. Networks are made here, from their spelling: what a proof says of a network is not believed.
"""

import argparse
import ast
import hashlib
import json
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise, permutations, product
from math import ceil, gcd, prod
from pathlib import Path


class Invalid(Exception):
    """Why a certificate proves nothing."""


def expect(condition, why):
    if not condition:
        raise Invalid(why)


def call(text):
    """(name, arguments) of a spelling such as torus(radices=[4, 4], directed=true), or of a bare name."""
    tree = ast.parse(text, mode="eval").body
    if isinstance(tree, ast.Name) and tree.id == text:
        return text, {}
    given = [(one.arg, one.value) for one in tree.keywords]
    expect(text == text.strip() and not tree.args and len(dict(given)) == len(given), "expected name(key=value, …)")
    word = lambda value: value.id != "false" and value.id  # noqa: E731
    return tree.func.id, {key: word(v) if isinstance(v, ast.Name) else ast.literal_eval(v) for key, v in given}


def addressed(sides, links, directed=False):
    """The network in which links(digits) gives the digits of nodes that a node has links to; x varies fastest."""
    expect(min(sides) > 0 and prod(sides) <= 1 << 15, "expected a network of 1 to 32,768 nodes")
    each = ((u, links(digits_of(u, sides))) for u in range(prod(sides)))
    return Network(prod(sides), ((u, number_of(v, sides)) for u, there in each for v in there), sides, directed)


class Network:
    """Nodes 0 … n − 1 with one terminal each; arcs: (tail, head) → links; sides of its address space, x first."""

    def __init__(self, n, links, sides, directed=False, parallel=False):
        self.n, self.sides, self.arcs, self.back = n, sides, {}, [[] for _ in range(n)]
        for u, v in (link for link in links if link[0] != link[1]):
            self.arcs[u, v] = self.arcs.get((u, v), 0) + 1 if parallel else 1
        for (u, v), number in [] if directed else list(self.arcs.items()):  # from one end, from the other, or from both
            self.arcs[u, v] = self.arcs[v, u] = max(number, self.arcs.get((v, u), 0))
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


def digits_of(node, sides):
    return [node // prod(sides[:i]) % side for i, side in enumerate(sides)]


def number_of(digits, sides):
    return sum(digit % side * prod(sides[:i]) for i, (digit, side) in enumerate(zip(digits, sides)))


def move(a, i, by=1):
    return [*a[:i], a[i] + by, *a[i + 1 :]]


def hermite(columns):
    """The basis of the lattice that columns generate whose column i ends at row i: its Hermite normal form."""
    left, basis = [list(column) for column in columns], []
    for i in reversed(range(len(left[0]))):
        while sum(c[i] != 0 for c in left) > 1:
            least = min((c for c in left if c[i]), key=lambda c: abs(c[i]))
            left = [c if c is least else [x - c[i] // least[i] * y for x, y in zip(c, least)] for c in left]
        pivot = next(c for c in left if c[i])
        left.remove(pivot)
        basis.insert(0, pivot if pivot[i] > 0 else [-x for x in pivot])
    return [reduced(column, basis, range(j)) for j, column in enumerate(basis)]


def reduced(vector, basis, order):
    for j in reversed(order):
        times = vector[j] // basis[j][j]
        vector = [x - times * y for x, y in zip(vector, basis[j])] if times else vector
    return vector


class Families:
    def torus(self, k=None, n=None, radices=None, directed=False, closed=True):
        expect((radices is None) == (k is not None) == (n is not None), "expected k and n, or radices")
        sides = radices or [k] * n
        free = [i for i in range(len(sides)) if sides[i] > 1]
        on = lambda a: (move(a, i) for i in free if closed or a[i] + 1 < sides[i])  # noqa: E731
        return addressed(sides, on, directed)

    def partly_pruned_torus(self, k, n, intact, base=0):
        """Dimensions `intact` have all their links; the others take turns along the dimension `base`."""
        whole = range(intact) if type(intact) is int else intact
        turns = [i for i in range(n) if i not in whole]
        expect(len(turns) > 1 and k % len(turns) == 0, "expected dimensions that take turns evenly")
        return addressed([k] * n, lambda a: [move(a, i) for i in (*whole, turns[a[base] % len(turns)])])

    def parity(self, k, n, kept, along=None):
        """Forwards in dimensions kept(digits) where digits `along`, or all others, are even in sum, else backwards."""
        expect(k % 2 == 0, "expected an even k")
        back = lambda a, i: sum(a[j] for j in along or range(n) if along or j != i) % 2  # noqa: E731
        on = lambda a: [move(a, i, 1 - 2 * back(a, i)) for i in kept(a)]  # noqa: E731
        return addressed([k] * n, (lambda a: [*on(a), move(a, 2)]) if along else on, not along)

    def lattice(self, matrix, basis=None, order=None):
        basis = basis or hermite(zip(*matrix, strict=True))
        on = lambda a: [reduced(move(a, i), basis, order or range(len(a))) for i in range(len(a))]  # noqa: E731
        return addressed([column[i] for i, column in enumerate(basis)], on)

    def circulant(self, n, steps):
        """The lattice of the combinations of steps that lead back: n e_i, and steps_j e_i − steps_i e_j."""
        expect(gcd(n, *steps) == 1 and min(steps) > 0 and max(steps) < n, "expected steps that lead to all nodes")
        unit = [[int(i == j) for j in range(len(steps))] for i in range(len(steps))]
        pairs = ((i, j) for i in range(len(steps)) for j in range(i))
        ties = [[steps[j] * x - steps[i] * y for x, y in zip(unit[i], unit[j])] for i, j in pairs]
        return self.lattice(None, hermite([[n * x for x in row] for row in unit] + ties))

    def twisted_torus(self, radices, twists):
        """Going round dimension j adds twists[j][i] to dimension i."""
        every, order = range(len(radices)), []
        columns = [[radices[j] if i == j else -twists.get(j, {}).get(i, 0) for i in every] for j in every]
        for _ in every:
            free = (j for j in every if j not in order and not any(columns[j][i] for i in {*every} - {j, *order}))
            order.append(next(free))
        return self.lattice(None, columns, order)

    def modules(self, side, closed, n, levels, gates):
        """Modules joined as tori, level by level; gates: (place in the module, level, dimension) of their links."""
        d = len(side)
        leads = {place: d * (level - 1) + i for place, level, i in gates if level <= levels}
        inside = lambda a: [move(a, i) for i in range(d) if closed or a[i] + 1 < side[i]]  # noqa: E731
        above = lambda a: [move(a, i) for i in [leads.get(tuple(a[:d]))] if i]  # noqa: E731
        return addressed([*side, *[n] * (d * (levels - 1))], lambda a: inside(a) + above(a))

    def mh3dt(self, m, n, levels, q, closed=True):
        """The gates of level l are the corners number (l − 2) 2^q … (l − 1) 2^q − 1 of the planes z = 0, 1, 2."""
        corners = list(enumerate((x, y) for y in (0, m - 1) for x in (0, m - 1)))
        gates = [((*xy, 2 - i), 2 + number // 2**q, i) for number, xy in corners for i in range(3)]
        expect(m > 2 and n > 1 and 1 < levels <= 2 ** (2 - q) + 1, "expected as many levels as there are corners")
        return self.modules([m] * 3, closed, n, levels, gates)

    def tesh(self, m, levels, q):
        expect((m, q) == (2, 0) and levels in (2, 3), "expected m=2, q=0, and 2 or 3 levels")
        gates = [((0, 0), 3, 1), ((3, 0), 3, 0), ((0, 3), 2, 1), ((3, 3), 2, 0)]
        return self.modules([4, 4], False, 4, levels, gates)

    def graph(self, path, directed=False, format="edgelist"):
        """A file of lines "u v" with the nodes 0 … n − 1; a line that is there twice is two parallel links."""
        with open(path, encoding="utf-8") as file:
            links = [[int(node) for node in line.split()] for line in file if line.strip() and line[0] != "#"]
        nodes = {node for link in links for node in link}
        expect(format == "edgelist" and nodes == set(range(len(nodes))), "expected an edgelist of the nodes 0 … n − 1")
        return Network(len(nodes), links, [len(nodes)], directed, parallel=True)


F = Families()
NAMES = ("torus", "partly_pruned_torus", "lattice", "circulant", "twisted_torus", "mh3dt", "tesh", "graph")
FAMILIES = {name: getattr(F, name) for name in NAMES} | {
    "mesh": lambda k=None, n=None, radices=None: F.torus(k, n, radices, closed=False),
    "ring": lambda k: F.torus(k, 1),
    "hypercube": lambda n: F.torus(2, n),
    "rt": lambda a: F.torus(radices=[2 * a, a]),
    "pt": lambda a: F.torus(radices=[2 * a, a, a]),
    "pruned_torus": lambda k, n: F.partly_pruned_torus(k, n, 1),
    "pruned_t1": lambda k: F.partly_pruned_torus(k, 3, [2], 2),
    "pruned_t2": lambda k: F.parity(k, 3, lambda a: (0, 1), along=(0, 1, 2)),
    "pruned_xy": lambda k: F.parity(k, 3, lambda a: (0, 1), along=(0, 1)),
    "directed_torus": lambda k, n: F.parity(k, n, lambda a: range(n)),
    "pruned_directed_torus": lambda k, n: F.parity(k, n, lambda a: (0, 1 + a[0] % (n - 1))),
    "rtt": lambda a: F.twisted_torus([2 * a, a], {1: {0: a}}),
    "ptt": lambda a: F.twisted_torus([2 * a, a, a], {1: {0: a}}),
    "pdtt": lambda a: F.twisted_torus([2 * a, a, a], {1: {0: a}, 2: {0: a}}),
    "illiac": lambda k: F.twisted_torus([k, k], {0: {1: 1}}),
    "sequin": lambda k, s, t: addressed(
        [k, k], lambda a: [[a[0] + 1, a[1] + s * (a[0] == k - 1)], [a[0] + t * (a[1] == k - 1), a[1] + 1]]
    ),
    "ccc": lambda n: addressed([n] + [2] * n, lambda a: [move(a, 0), move(a, 1 + a[0])]),
    "h3dt": lambda m, n, levels, q: F.mh3dt(m, n, levels, q, closed=False),
}


def network_of(text):
    name, given = call(text)
    expect(not given.keys() & {"closed", "base", "basis", "order"}, "unknown parameters")
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
                orbit = {first: None}  # in the order in which they are met
                waiting = [first]  # permutations are finite: what is reached forwards is the orbit
                for one in waiting:
                    new = dict.fromkeys(other for image in images if (other := image(one)) not in orbit)
                    orbit |= new
                    waiting += new
                found |= dict.fromkeys(orbit, (first, len(orbit)))
        return found

    def busiest(self, load):
        """The greatest load of a link: loads, by an orbit's first arc, are spread over the orbit by its group."""
        return max(Fraction(flits, self.arc[arc][1] * self.net.arcs[arc]) for arc, flits in load.items())


# whether data go up trees, and down them; whether there is a root
OPERATIONS = {"all_gather": (0, 1, 0), "reduce_scatter": (1, 0, 0), "all_reduce": (1, 1, 0)}
OPERATIONS |= {"broadcast": (0, 1, 1), "reduce": (1, 0, 1)}


class Kinds:
    def collective(self, claim, proof):
        net, operation, root = network_of(claim["topology"]), claim["operation"], claim["root"]
        if operation == "all_to_all":
            expect(root is None, "expected no root")
            least, most = self.throughput(net, self.traffic(net, "uniform"), "all", proof)
            return {"at_least": 1 / most, "at_most": least and 1 / least}
        expect(operation in OPERATIONS, "unknown operation")
        up, down, rooted = OPERATIONS[operation]
        cut, trees, generators = map(proof.pop, ("cut", "trees", "generators"))
        parts = list(dict.fromkeys(cut))
        expect(root in range(net.n) if rooted else root is None, "expected a root of broadcast and reduce only")
        expect(len(cut) == net.n and parts == list(range(len(parts))), "expected a set of each node, numbered in order")
        expect(len(parts) > 1 and (len(parts) == 2 or operation == "all_reduce"), "expected a cut of two sets")
        sides, each = ([cut[root]], Fraction(1)) if rooted else ([0, 1], Fraction(1, net.n))
        through = [net.crossing(cut, lambda u, v, own=o: u != v and (u if down else v) == own) for o in sides]
        bound = max(each * (1 if rooted else cut.count(o)) / links for o, links in zip(sides, through))
        if operation == "all_reduce":  # 2p − 2 messages a flit tell p sets of all others (Harary & Schwenk 1974)
            bound = Fraction(2 * len(parts) - 2, net.crossing(cut))
        if trees is None:
            expect(generators is None, "generators of no trees")
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

    def traffic(self, net, text):
        """(demand(s, t): flits to t for each that s sends, whether a permutation of the nodes keeps them)."""
        if text == "uniform":
            return lambda s, t: Fraction(1, net.n), lambda image: True
        n, bits, sides = net.n, net.n.bit_length() - 1, net.sides
        digits, square = [digits_of(s, sides) for s in range(n)], len(sides) == 2 and sides[0] == sides[1]
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

    def throughput(self, net, traffic, routes, proof):
        """(some routing carries this, none carries more), in flits a cycle and terminal: by flows, and by lengths."""
        (demand, kept), minimal = traffic, {"all": False, "minimal": True}[routes]
        generators, roots, lengths, scale, flows = map(proof.pop, ("generators", "roots", "lengths", "scale", "flows"))
        orbits, length, load, needed, every = Orbits(net, generators, kept), {}, {}, 0, range(net.n)
        for u, v, much in lengths or []:
            expect(orbits.arc[u, v][0] == (u, v) and (u, v) not in length and much > 0, "expected a length of an orbit")
            length[u, v] = much
        reps = {orbits.node[root] for root in roots}
        expect(roots == [first for first, _ in sorted(reps)], "expected the first nodes of orbits as roots")
        rest = [t for t in every if orbits.node[t] not in reps]
        left_out = any(demand(s, t) for t in rest for s in every if s != t)
        expect(not left_out, "traffic to a node that is no root's image")
        expect(len(flows or roots) == len(roots) and (scale is None) == (flows is None), "expected a flow to each root")
        for root, flow in zip(roots, flows or [[]] * len(roots)):
            hops, size, left = minimal and net.distances(root), orbits.node[root][1], [0] * net.n
            away = net.distances(root, lambda u, v: length.get(orbits.arc[u, v][0], 0), hops)
            needed += size * sum(demand(s, root) * away[s] for s in every)
            for u, v, flits in flow:
                expect(flits > 0 and (not hops or hops[u] == hops[v] + 1), "expected flow on hops that routes may take")
                left[u], left[v] = left[u] + flits, left[v] - flits
                load[orbits.arc[u, v][0]] = load.get(orbits.arc[u, v][0], 0) + flits * size
            expect(len({(u, v) for u, v, _ in flow}) == len(flow), "expected the flow of an arc once")
            enough = flows is None or all(left[s] >= scale * demand(s, root) for s in every if s != root)
            expect(enough, "a flow leaves out some traffic")
        expect(not lengths or gcd(*length.values()) == 1, "expected lengths without a common factor")
        room = sum(links * length.get(orbits.arc[arc][0], 0) for arc, links in net.arcs.items())
        most = None if lengths is None else room / Fraction(needed)
        return None if flows is None else scale / orbits.busiest(load), most

    def capacity(self, claim, proof):
        net = network_of(claim["topology"])
        least, most = self.throughput(net, self.traffic(net, claim["traffic"]), claim["routes"], proof)
        return {"at_least": least, "at_most": most}

    def bisection(self, claim, proof):
        """A cut; and uniform traffic that fits, of whose N² pairs ⌊N/2⌋⌈N/2⌉ cross from a half to the other."""
        net, half = network_of(claim["topology"]), proof.pop("half")
        few, part = net.n // 2, [v in set(half) for v in range(net.n)]
        expect(half == [v for v in range(net.n) if part[v]] and len(half) == few > 0, "expected half of the nodes")
        expect(proof.setdefault("lengths", None) is None, "expected no lengths")
        carried, _ = self.throughput(net, self.traffic(net, "uniform"), "all", proof)
        bound = Fraction(ceil(carried * few * (net.n - few) / net.n))
        return {"at_least": bound, "at_most": Fraction(net.crossing(part, lambda u, v: u > v))}

    def symmetry(self, claim, proof):
        """Orbits of the nodes under all automorphisms: those of the generators; nodes whose distances differ."""
        net, generators, differ = network_of(claim["topology"]), proof.pop("generators"), proof.pop("differ")
        orbits = Orbits(net, generators)
        first = [orbits.node[v][0] for v in range(net.n)]
        expect(proof.pop("orbits") == first, "the generators have other orbits")
        expect(differ == sorted(set(differ) & set(first)), "expected the first nodes of orbits")
        seen = {tuple(sorted(net.distances(v).values())) for v in differ}
        expect(len(seen) == len(differ) > 0, "two of the nodes that differ have the same distances")
        return {"at_least": Fraction(len(seen)), "at_most": Fraction(len(set(first)))}

    def deadlock(self, claim, proof):
        """Channels (tail, head, class): an order that grows along each dependency; or packets that wait in a circle."""
        net, most = network_of(claim["topology"]), claim["virtual_channels"] - 1
        (name, options), dateline = call(claim["routing"]), {"none": False, "dateline": most > 0}[claim["vc_rule"]]
        expect(name == "dimension_order" and options.keys() <= {"tie"} and most >= 0, "expected dimension_order(tie=…)")
        route = DimensionOrder(net, options.get("tie", "split"), dateline)
        if "order" in proof:
            order = proof.pop("order")
            place = {tuple(channel): i for i, channel in enumerate(order)}
            used, follows = route.dependencies()
            expect(place.keys() == used and len(order) == len(place), "expected each channel that is used, once")
            expect(all(place[held] < place[wanted] for held, wanted in follows), "a packet requests an earlier channel")
            return {"deadlock_free": "yes"}
        cycle, packets = [tuple(channel) for channel in proof.pop("cycle")], proof.pop("packets")
        expect(len(set(cycle)) == len(cycle) == len(packets) > 1, "expected a packet for each channel, each once")
        for held, wanted, (s, d) in zip(cycle, cycle[1:] + cycle[:1], packets):
            goes = 0 <= min(s, d) <= max(s, d) < net.n and [held, wanted] in [way[:2] for way in route.ways(s, d)]
            expect(goes, "a packet does not enter by its channel and request the next")
        return {"deadlock_free": "no"}

    def exhaustion(self, claim, proof):
        """All lattices of a size: one form of each class under signed permutations; their sizes add up to all."""
        n, nodes = claim["dimensions"], claim["nodes"]
        expect(0 < n < 6 and 0 < nodes <= 1 << 15, "expected one to five dimensions")
        signs = list(product((1,), *[(1, -1)] * (n - 1)))
        turns = [list(zip(order, each)) for order in permutations(range(n)) for each in signs]
        winner = network_of(claim["topology"])
        seen, sums, frozen = set(), [], lambda form: tuple(map(tuple, form))
        for form in proof.pop("forms"):
            orbit = {frozen(hermite([[x * column[i] for i, x in turn] for column in form])) for turn in turns}
            net = F.lattice(None, form)
            expect(frozen(form) in orbit and net.n == nodes and not orbit & seen, "expected forms of different classes")
            seen |= orbit
            sums.append((sum(net.distances(0).values()), len(orbit)))
        expect(len(seen) == sublattices(n, nodes), "some lattices are missing")
        best = min(sums)[0]
        fits = call(claim["topology"])[0] == "lattice" and (winner.n, len(winner.sides)) == (nodes, n)
        expect(fits and sum(winner.distances(0).values()) == best, "expected a lattice with the least sum")
        attained = sum(size for total, size in sums if total == best)
        proved = {"lattices": len(seen), "classes": len(sums), "attained": attained}
        return proved | {"mean_distance": Fraction(best, nodes)}


def sublattices(n, nodes):
    """Hermite normal forms of n rows and a determinant: d^(n − 1) of them have d last."""
    divisors = [d for d in range(1, nodes + 1) if nodes % d == 0]
    return sum(d ** (n - 1) * sublattices(n - 1, nodes // d) for d in divisors) if n else nodes == 1


class DimensionOrder:
    """Routes along x first, then y …, the shorter way round; class 1 from the hop across a ring's dateline on."""

    def __init__(self, net, tie, dateline):
        self.n, self.sides, self.dateline = net.n, net.sides, dateline
        self.halfway = {"split": [1, -1], "random": [1, -1], "positive": [1], "sign": None}[tie]
        same = lambda *kind: net.arcs == F.torus(radices=net.sides, directed=kind[0], closed=kind[1]).arcs  # noqa: E731
        kind = next((kind for kind in ((False, True), (False, False), (True, True)) if same(*kind)), None)
        expect(kind, "expected a torus or mesh with all its links")
        self.forwards, self.closed = kind[0], [side == 2 or kind[1] for side in net.sides]

    def steps(self, i, s, d):
        """The directions in which a packet goes along dimension i, from digit s to d."""
        k, on, sign = self.sides[i], (d - s) % self.sides[i], 1 if d > s else -1
        if s == d or not self.closed[i]:
            return [sign] * (s != d)
        if k > 2 and 2 * on == k and not self.forwards:
            return self.halfway or [sign]
        return [1 if self.forwards or k == 2 or 2 * on < k else -1]

    def run(self, v, i, step, hops):
        crossed, channels, k = 0, [], self.sides[i]
        for _ in range(hops):
            digits = digits_of(v, self.sides)
            crossed |= self.closed[i] and digits[i] == (k - 1 if step > 0 else 0)
            w = number_of(move(digits, i, step), self.sides)
            channels.append((v, w, int(crossed and self.dateline)))
            v = w
        return channels

    def ways(self, s, d):
        """The channels of each route between two nodes."""
        ways, ends = [[(None, s, 0)]], list(zip(self.sides, digits_of(s, self.sides), digits_of(d, self.sides)))
        for i, (k, a, b) in enumerate(ends):
            goes = [(step, (b - a) * step % k) for step in self.steps(i, a, b)] or [(1, 0)]
            ways = [way + self.run(way[-1][1], i, step, hops) for way in ways for step, hops in goes]
        return [way[1:] for way in ways]

    def dependencies(self):
        """(channels, (held, requested)): within a dimension of each longest run, and from one to each later one."""
        used, follows, arrive, depart = set(), set(), {}, {}
        for i, k in enumerate(self.sides):
            far = lambda s, x, i=i, k=k: [(d - s) * x % k for d in range(k) if x in self.steps(i, s, d)]  # noqa: E731
            hops = {(s, x): max(far(s, x), default=0) for s, x in product(range(k), (1, -1))}
            for v, x in product(range(self.n), (1, -1)):
                run = self.run(v, i, x, hops[digits_of(v, self.sides)[i], x])
                used |= set(run)
                follows |= set(pairwise(run))
                depart.setdefault((v, i), set()).update(run[:1])
                for channel in run:
                    arrive.setdefault((channel[1], i), set()).add(channel)
        for (v, i), held in arrive.items():
            for j in range(i + 1, len(self.sides)):
                follows |= set(product(held, depart[v, j]))
        return used, follows


KINDS = {
    "collective": "topology operation root at_least at_most",
    "capacity": "topology traffic routes at_least at_most",
    "bisection": "topology at_least at_most",
    "symmetry": "topology at_least at_most",
    "deadlock": "topology routing vc_rule virtual_channels deadlock_free",
    "exhaustion": "topology dimensions nodes lattices classes mean_distance attained",
}


def plain(value):
    """Whether it is text, whole numbers and null, in lists and mappings."""
    parts = value.values() if type(value) is dict else value if type(value) is list else ()
    return (value is None or type(value) in (str, int, list, dict)) and all(map(plain, parts))


def check(text):
    """What a certificate proves: its kind and claim. Raises Invalid."""
    try:
        given = json.loads(text)
        expect(plain(given), "expected text, whole numbers and null")
        digest, kind, claim, proof = map(given.pop, ("digest", "kind", "claim", "proof"))
        expect(not given and set(claim) == set(KINDS[kind].split()), "expected other fields")
        content = json.dumps([kind, claim, proof], sort_keys=True).encode()
        expect(hashlib.sha256(content).hexdigest() == digest, "the digest is of another text")
        proved = getattr(Kinds(), kind)(claim, proof)
        expect(not proof, "unknown fields of the proof")
        for name, value in proved.items():
            value = str(value) if isinstance(value, Fraction) else value
            expect(claim[name] == value, f"{name}: claimed {claim[name]}, is {value}")
    except Exception as error:  # whatever is wrong with it
        raise error if type(error) is Invalid else Invalid(f"malformed: {type(error).__name__}: {error}") from None
    return {"kind": kind, **claim}


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Checks certificates of torusweep: docs/certificates.md.")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--claim", default={}, type=json.loads, help="JSON of what one of them must say: kind, claim")
    options, proved, failed = parser.parse_args(arguments), [], False
    for path in options.files:
        text = Path(path).read_bytes() if Path(path).is_file() else parser.error(f"{path}: no such file")
        for number, line in enumerate(filter(str.strip, text.decode(errors="replace").splitlines()), 1):
            try:
                proved.append(check(line))
                print(f"valid: {json.dumps(proved[-1], ensure_ascii=False)}")
            except Invalid as why:
                print(f"{path}:{number}: REFUSED: {why}")
                failed = True
    if not failed and not any(
        all(name in one and one[name] == value for name, value in options.claim.items()) for one in proved
    ):
        print(f"REFUSED: nothing proves {json.dumps(options.claim, ensure_ascii=False)}")
        failed = True
    return failed


if __name__ == "__main__":
    raise SystemExit(main())
