"""Networks of machines as plain loops, from the definitions of their papers; shares no code with pipeline/.

Each function returns {(node, node): parallel links}, both directions of an undirected link, and the nodes of terminals.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise, product

Machine = tuple[Counter, list[int]]


def undirected(links, terminals) -> Machine:
    arcs: Counter = Counter()
    for u, v in links:
        if u != v:
            arcs[u, v] += 1
            arcs[v, u] += 1
    return arcs, sorted(terminals)


def at_each(nodes, count):
    return [node for node in nodes for _ in range(count)]


def number(digits, sides):
    value = 0
    for digit, side in reversed(list(zip(digits, sides))):
        value = value * side + digit
    return value


def hyperx(sides, terminals=1, widths=None) -> Machine:
    """Ahn et al. 2009: routers are joined if they differ in one coordinate only."""
    widths = widths or [1] * len(sides)
    links = []
    for u, v in combinations(product(*map(range, sides)), 2):
        differ = [i for i in range(len(sides)) if u[i] != v[i]]
        if len(differ) == 1:
            links += [(number(u, sides), number(v, sides))] * widths[differ[0]]
    count = 1
    for side in sides:
        count *= side
    return undirected(links, at_each(range(count), terminals))


def dragonfly(a, p, h, groups=None, arrangement="palm_tree", local=None) -> Machine:
    """Kim et al. 2008 (consecutive), Camarero et al. 2014 (palm tree): port by port, each looks for its partner."""
    groups = groups or a * h + 1
    local = local or [a]
    arcs: Counter = Counter()
    for group, r, s in product(range(groups), range(a), range(a)):
        digits_r, digits_s, rest_r, rest_s = [], [], r, s
        for side in local:
            digits_r.append(rest_r % side)
            digits_s.append(rest_s % side)
            rest_r, rest_s = rest_r // side, rest_s // side
        if sum(x != y for x, y in zip(digits_r, digits_s)) == 1:
            arcs[r + a * group, s + a * group] += 1
    for u, v in global_ports(list(range(a)), a, h, groups, arrangement):
        arcs[u, v] += 1
    return arcs, at_each(range(a * groups), p)


def global_ports(members, size, h, groups, arrangement):
    """The arcs over global ports: port k of a group leads to a group, and there to the port that leads back."""

    def target(group, k):
        turn, q = divmod(k, groups - 1)
        if arrangement == "palm_tree":
            return turn, (group + q + 1) % groups
        return turn, [other for other in range(groups) if other != group][q]

    ports = len(members) * h // (groups - 1) * (groups - 1)
    for group, k in product(range(groups), range(ports)):
        turn, other = target(group, k)
        back = [j for j in range(ports) if target(other, j) == (turn, group)]
        assert len(back) == 1
        yield members[k // h] + size * group, members[back[0] // h] + size * other


def boardfly(groups, copper, optical, copper_order, optical_order) -> Machine:
    """Rings of 4 chips; the ports of a board, and of a group, look for their partners as those of a Dragonfly."""

    def members(chips, ports, order):
        return [port // ports if order == "blocks" else port % chips for port in range(chips * ports)]

    arcs: Counter = Counter()
    for chip in range(32 * groups):
        for step in (1, -1):
            arcs[chip, chip // 4 * 4 + (chip + step) % 4] += 1
    for group, (u, v) in product(
        range(groups), list(global_ports(members(4, copper, copper_order), 4, 1, 8, "palm_tree"))
    ):
        arcs[u + 32 * group, v + 32 * group] += 1
    for u, v in global_ports(members(32, optical, optical_order), 32, 1, groups, "palm_tree"):
        arcs[u, v] += 1
    return arcs, at_each(range(32 * groups), 1)


def megafly(leaves, spines, p, h, groups=None, arrangement="palm_tree") -> Machine:
    groups, size = groups or spines * h + 1, leaves + spines
    arcs: Counter = Counter()
    for group, leaf, spine in product(range(groups), range(leaves), range(leaves, size)):
        arcs[leaf + size * group, spine + size * group] += 1
        arcs[spine + size * group, leaf + size * group] += 1
    for u, v in global_ports(list(range(leaves, size)), size, h, groups, arrangement):
        arcs[u, v] += 1
    return arcs, at_each([leaf + size * group for group in range(groups) for leaf in range(leaves)], p)


def fat_tree(k, n) -> Machine:
    """Petrini & Vanneschi 1997: switches <w, l> and <w', l + 1> are joined if w and w' are equal outside digit l."""
    words, links = list(product(range(k), repeat=n - 1)), []
    for level, u, v in product(range(n - 1), words, words):
        if all(u[i] == v[i] for i in range(n - 1) if i != level):
            links.append(
                (number(u, [k] * (n - 1)) + level * k ** (n - 1), number(v, [k] * (n - 1)) + (level + 1) * k ** (n - 1))
            )
    return undirected(links, at_each(range(k ** (n - 1)), k))


def xgft(down, up) -> Machine:
    """Öhring et al. 1995: recursively, m_h copies of the lower tree, whose tops are joined to w_h new tops each."""
    levels = [["terminal"]]  # of one tree of height 0: names of nodes by level
    edges = []

    def copies(names, tag):
        return [(tag, name) for name in names]

    for m, w in zip(down, up):
        tops = levels[-1]
        edges = [((tag, u), (tag, v)) for tag in range(m) for u, v in edges]
        new = [("top", top, parent) for top in tops for parent in range(w)]
        edges += [((tag, top), ("top", top, parent)) for tag in range(m) for top in tops for parent in range(w)]
        levels = [[name for tag in range(m) for name in copies(level, tag)] for level in levels] + [new]
    return levels, edges


def slim_fly_is(arcs, q) -> bool:
    """Hafner's conditions on a graph in the numbering y + q (x + q s), for prime q, by loops over differences."""
    within = [{(v - u) % q for u, v in arcs if u // (q * q) == v // (q * q) == s and u // q == v // q} for s in (0, 1)]
    # every difference occurs at every place, and x and m do not matter
    for s, x, y in product((0, 1), range(q), range(q)):
        node = y + q * (x + q * s)
        found = {(v % q - y) % q for v in range(node - y, node - y + q) if (node, v) in arcs}
        if found != {d % q for d in within[s]}:
            return False
    across = {(u, v) for u, v in arcs if u < q * q <= v}
    expected = {((m * x + c) % q + q * x, c + q * (m + q)) for x, m, c in product(range(q), repeat=3)}
    return across == expected and not any(u // q != v // q and (u < q * q) == (v < q * q) for u, v in arcs)


def polarfly(q) -> Machine:
    """Prime q: points with the first coordinate that is not 0 equal to 1, joined if their product is 0 modulo q."""
    points = [(1, a, b) for a in range(q) for b in range(q)] + [(0, 1, a) for a in range(q)] + [(0, 0, 1)]
    links = [
        (i, j) for (i, u), (j, v) in combinations(enumerate(points), 2) if sum(x * y for x, y in zip(u, v)) % q == 0
    ]
    return undirected(links, range(len(points)))


def de_bruijn(d, k) -> Machine:
    words = list(product(range(d), repeat=k))
    arcs = Counter((words.index(u), words.index(v)) for u in words for v in words if u != v and u[1:] == v[:-1])
    return arcs, list(range(len(words)))


def kautz(d, k) -> Machine:
    words = [w for w in product(range(d + 1), repeat=k) if all(x != y for x, y in pairwise(w))]

    def place(word):
        value = word[0]
        for before, letter in pairwise(word):
            value = value * d + (letter - before - 1) % (d + 1)
        return value

    assert sorted(map(place, words)) == list(range(len(words)))
    return Counter((place(u), place(v)) for u in words for v in words if u[1:] == v[:-1] and u != v), list(
        range(len(words))
    )


def hamming_mesh(board, boards) -> Machine:
    (a, b), (columns, rows) = board, boards
    wide, high, links = a * columns, b * rows, []
    for y, x in product(range(high), range(wide)):
        node = x + wide * y
        if (x + 1) % a:
            links.append((node, node + 1))
        else:
            links.append((node, wide * high + y))
        if x % a == 0:
            links.append((node, wide * high + y))
        if (y + 1) % b:
            links.append((node, node + wide))
        else:
            links.append((node, wide * high + high + x))
        if y % b == 0:
            links.append((node, wide * high + high + x))
    return undirected(links, range(wide * high))


def tofu(x, y, z) -> Machine:
    sides, links = (x, y, z, 2, 3, 2), []
    for u in product(*map(range, sides)):
        for i, ring in enumerate((True, True, True, False, True, False)):
            if (ring and sides[i] > 2) or u[i] + 1 < sides[i]:
                v = (*u[:i], (u[i] + 1) % sides[i], *u[i + 1 :])
                links.append((number(u, sides), number(v, sides)))
    return undirected(links, range(12 * x * y * z))


def cube_pod(joined, side) -> Machine:
    cubes, links = len(joined[0]), []
    for cube, *place in product(range(cubes), *[range(side)] * 3):
        for axis in range(3):
            there, other = list(place), cube
            there[axis] = (place[axis] + 1) % side
            if place[axis] == side - 1:
                other = joined[axis][cube]
            links.append((number([*place, cube], [side] * 3 + [cubes]), number([*there, other], [side] * 3 + [cubes])))
    return undirected(links, range(cubes * side**3))
