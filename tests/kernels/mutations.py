"""What is taken away from a CUDA source, or made wrong, so that a sanitizer must report it."""

from __future__ import annotations


class Mutation:
    """A source's text with something taken away that orders accesses: (case, text, instead, which of its places)."""

    def __init__(self, case: str, old: str, new: str, place: int | None = None) -> None:
        self.case, self.old, self.new, self.place = case, old, new, place

    def __call__(self, code: str) -> str:
        pieces = code.split(self.old)
        assert len(pieces) > 1, f"{self.old!r} is no more in the source"
        if self.place is None:
            return self.new.join(pieces)
        before, after = pieces[: self.place + 1], pieces[self.place + 1 :]
        return self.old.join(before) + self.new + self.old.join(after)


BARRIER = "__syncthreads();"
MUTATIONS = {
    "happened stored plainly": Mutation("distance", "store_relaxed(happened, 1)", "*happened = 1"),
    "bits of sources set plainly": Mutation(
        "distance",
        "atomicOr((unsigned int*)(rows + (node << shift)) + lane / 32, 1u << lane % 32)",
        "((unsigned int*)(rows + (node << shift)))[lane / 32] |= 1u << lane % 32",
    ),
    "news of sources told plainly": Mutation(
        "distance",
        "atomicOr((unsigned int*)was + item / 4, 1u << 8 * (item % 4))",
        "((unsigned int*)was)[item / 4] |= 1u << 8 * (item % 4)",
    ),
    "news of this level asked for": Mutation(
        "distance", "[was](unsigned int from) { return was[from]; }", "[is](unsigned int from) { return is[from]; }"
    ),
    "news stored beside those of the level before": Mutation(
        "distance", "next[item] = got;", "const_cast<Piece*>(old)[item] = got;"
    ),
    "pieces read counted plainly": Mutation(
        "distance", "atomicAdd(room + counters, found.read)", "room[counters] += found.read"
    ),
    "new bits added plainly": Mutation(
        "distance", "atomicAdd(gained + i, (unsigned long long)room[i])", "gained[i] += room[i]"
    ),
    "new bits of a block added plainly": Mutation(
        "distance", "atomicAdd(room, found.x + found.y)", "*room += found.x + found.y"
    ),
    "new bits of a block's groups added plainly": Mutation(
        "distance", "atomicAdd(room + counter[2 * piece], found.x)", "room[counter[2 * piece]] += found.x"
    ),
    "no barrier before new bits are added": Mutation("distance", BARRIER, "", 0),
    "no barrier after new bits are added": Mutation("distance", "__syncthreads_or(found.any)", "found.any"),
    "lanes of a block joined plainly": Mutation(
        "distance",
        "atomicOr(lanes + 4 * piece, (unsigned int)found.lanes.x)",
        "lanes[4 * piece] |= (unsigned int)found.lanes.x",
    ),
    "lanes joined plainly": Mutation("distance", "atomicOr(news + i, lanes[i])", "news[i] |= lanes[i]"),
    "lanes read plainly": Mutation("distance", "(unsigned int)relaxed((const int*)news + i)", "news[i]"),
    "bits of a lane added plainly": Mutation(
        "distance",
        "atomicAdd(pairs + (i & ((1u << shift) - 1u)) * LANES + (i >> shift), room[i])",
        "pairs[(i & ((1u << shift) - 1u)) * LANES + (i >> shift)] += room[i]",
    ),
    "bits of a block's lane added plainly": Mutation(
        "distance", "atomicAdd(room + (bit << shift) + piece, x)", "room[(bit << shift) + piece] += x"
    ),
    "no barrier after bits of a lane are added": Mutation("distance", BARRIER, "", 1),
    "no barrier before a root": Mutation("loads", BARRIER, "", 0),
    "no barrier between levels of loads": Mutation("loads", BARRIER, "", 1),
    "no barrier between levels inwards": Mutation("loads", BARRIER, "", 2),
    "no barrier between levels inwards, from rows": Mutation("loads from rows", BARRIER, "", 2),
    "no barrier before nodes are added": Mutation("loads", BARRIER, "", 3),
    "nodes added while they are read": Mutation("loads", "(tile + 1) % 2 * LANES", "tile % 2 * LANES"),
    "nodes found at two levels in turn": Mutation("loads", "(level + 2) % 3", "(level + 1) % 3"),
    "nodes found counted plainly": Mutation("loads", "atomicAdd(added, 1u)", "(*added)++"),
    "nodes found read plainly": Mutation("loads", "relaxed(word) & bit", "*word & bit"),
    "nodes found stored plainly": Mutation("loads", "atomicOr(word, bit) & bit", "!(*word |= bit)"),
    "distances of loads stored plainly": Mutation(
        "loads", "store_relaxed(distance + node, level)", "distance[node] = level"
    ),
    "distances of loads read plainly": Mutation("loads", "relaxed(own.distance + nearer)", "own.distance[nearer]"),
    "the most paths stored plainly": Mutation("loads", "if (most > 1) atomicMax(", "task.most[lane] = most; (void)("),
    "wide distances read plainly": Mutation("loads, wide", "relaxed(word) == NONE", "*word == NONE"),
    "wide distances stored plainly": Mutation(
        "loads, wide", "atomicCAS(word, NONE, level) == NONE", "(*word = level) == level"
    ),
    "distances of walks read plainly": Mutation("walks", "relaxed(far + other)", "far[other]"),
    "nodes of walks found plainly": Mutation(
        "walks", "atomicCAS(far + other, -2, level) == -2", "(far[other] = level) > 0"
    ),
    "places in the queue of walks taken plainly": Mutation("walks", "atomicAdd(size, 1u)", "(*size)++"),
    "no barrier before the first level of walks": Mutation("walks", BARRIER, "", 0),
    "no barrier before a level's sums of walks": Mutation("walks", BARRIER, "", 1),
    "no barrier between levels of walks": Mutation("walks", BARRIER, "", 2),
    "too many paths told plainly": Mutation("many walks", "store_relaxed(too_many, 1)", "*too_many = 1"),
    "packets counted plainly": Mutation("walks", "atomicAdd(counter + channel, 1ull)", "++counter[channel]"),
    "random packets counted plainly": Mutation(
        "random walks", "atomicAdd(counter + channel, 1ull)", "++counter[channel]"
    ),
    "random packets without a path counted plainly": Mutation(
        "random walks", "atomicAdd(unreachable + own, 1ull)", "++unreachable[own]"
    ),
    "no barrier between levels of a block": Mutation("blocks", BARRIER, "", 5),
    "no barrier between levels inwards of a block": Mutation("blocks", BARRIER, "", 6),
    "nodes of a block found at two levels in turn": Mutation("blocks", "(level + 2) % 3", "(level + 1) % 3"),
    "nodes of a block stored plainly": Mutation(
        "blocks", "store_relaxed(distance + pair, level)", "distance[pair] = level"
    ),
    "pairs of a block counted plainly": Mutation(
        "blocks", "atomicAdd(pairs + level % 3, gained)", "pairs[level % 3] += gained"
    ),
    "no barrier before the first level of a graph": Mutation("annealing", BARRIER, "", 0),
    "no barrier between levels of a graph": Mutation("annealing", BARRIER, "", 1),
    "no barrier after an accepted move": Mutation(
        "annealing", f"}}\n        {BARRIER}\n        if (here >= best_energy)", "}\n        if (here >= best_energy)"
    ),
    "no fences": Mutation("router of several blocks", "__threadfence();", ""),
    "credits back in the same cycle": Mutation("router", "credits(t + credit_delay + back[in(i)])", "credits(t)"),
    "deliveries counted plainly": Mutation(
        "router", "atomicSub(&experiment().undelivered, 1)", "--experiment().undelivered"
    ),
    "no barrier of the blocks": Mutation(
        "router of several blocks", f"        {BARRIER}\n        int next", "        int next"
    ),
    "no fence before a block arrives": Mutation(
        "router of several blocks",
        "            __threadfence();\n            if (atomicAdd(arrived",
        "            if (atomicAdd(arrived",
    ),
    "no fence before a cycle begins": Mutation(
        "router of several blocks", "arrived = 0;\n                __threadfence();", "arrived = 0;"
    ),
    "no barrier after states are copied": Mutation("router", f"round.bytes);\n            {BARRIER}", "round.bytes);"),
    "no fence after a cycle begins": Mutation(
        "router of several blocks", "__nanosleep(20);\n                __threadfence();", "__nanosleep(20);"
    ),
    "blocks that do not wait for a cycle": Mutation(
        "router of several blocks",
        "while ((next = *(volatile int*)begun) <= t)",
        "while ((next = *(volatile int*)begun) < t)",
    ),
    "blocks counted plainly": Mutation("router of several blocks", "atomicAdd(arrived, 1)", "(*arrived)++"),
    "threads that do not wait for their block": Mutation(
        "router of several blocks",
        "return __syncthreads_or(next != NEVER);",
        "return next != NEVER || threadIdx.x > 0;",
    ),
}

# a source that leaves an array, or computes what C++ does not define: (mutation, words of the report)
OVERFLOW, POISON = "heap-buffer-overflow", "use-after-poison"
WRONG = {
    "a channel too many of a level": (
        Mutation("distance", "link < start[node + 1]", "link <= start[node + 1]"), OVERFLOW,
    ),
    "a channel too many of a load": (
        Mutation("loads", "arc < toward.start[node + 1]", "arc <= toward.start[node + 1]"), OVERFLOW,
    ),
    "a lane too many of loads": (Mutation("loads", "lane < part.end", "lane <= part.end"), OVERFLOW),
    "a node too many of a root": (
        Mutation("loads", "node < nodes; node += threads) own", "node <= nodes; node += threads) own"), OVERFLOW,
    ),
    "a lane too many of totals": (Mutation("loads", "first + row >= lanes", "first + row > lanes"), OVERFLOW),
    "a share too many of loads": (
        Mutation("loads", "share < finished; ++share", "share < finished + 2; ++share"), OVERFLOW,
    ),
    "a row too many of walks": (Mutation("walks", "node < nodes; node", "node <= nodes; node"), OVERFLOW),
    "a link too many of walks": (Mutation("walks", "link < start[node + 1]", "link <= start[node + 1]"), OVERFLOW),
    "a queue behind the last one": (Mutation("walks", "queue + (long long)blockIdx.x", "queue + gridDim.x"), OVERFLOW),
    "a limit that no unsigned int holds": (
        Mutation("walks", "(sum * share < most ? sum * share : most)", "(sum * share * 2)"), "outside the range",
    ),
    "a pair too many": (Mutation("pairs", "item < (unsigned int)packets", "item <= (unsigned int)packets"), OVERFLOW),
    "a sum before the first of a choice": (Mutation("pairs", "place > 0 && cdf", "cdf"), OVERFLOW),
    "the end of the next source's pairs": (
        Mutation("pairs", "t.reduced_start[source + 1]", "t.reduced_start[source + 2]"), OVERFLOW,
    ),
    "rows of the next destination": (
        Mutation("random walks", "(long long)target * nodes", "(target + 1ll) * nodes"), OVERFLOW,
    ),
    "the load of the next channel of a block": (
        Mutation("blocks", "load[at * width + channel] =", "load[at * width + channel + 1] ="), OVERFLOW,
    ),
    "the next network of a block": (
        Mutation("blocks", "eccentricity[at + node]", "eccentricity[at + nodes + node]"), OVERFLOW,
    ),
    "the next port of a graph": (
        Mutation("annealing", "graph.ports[port % graph.d *", "graph.ports[(port % graph.d + 1) *"), OVERFLOW,
    ),
    "a node too many of the router": (
        Mutation("router", "router.node < network.nodes", "router.node <= network.nodes"), POISON,
    ),
    "a node too many of a router's sums": (
        Mutation("router", "[(long long)which * nodes + node]", "[(long long)which * nodes + node + 1]"), POISON,
    ),
    "a shift too far": (Mutation("distance", "plane[digit].x >> bit", "plane[digit].x >> (bit + 1)"), "shift exponent"),
    "a row's news too many": (Mutation("distance", "was + item / 4", "was + item"), OVERFLOW),
    "a word too many of a row": (Mutation("distance", "i < 4u << shift", "i <= 4u << shift"), OVERFLOW),
    "a lane too many of distances": (
        Mutation("distance", "i < (unsigned int)LANES << shift", "i <= (unsigned int)LANES << shift"), OVERFLOW,
    ),
    "a number too large": (
        Mutation("distance", "happened + level + 1)", "happened + (level + 2147483647 - 2147483646))"),
        "signed integer overflow",
    ),
}  # fmt: skip
