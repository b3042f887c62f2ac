// Simulated annealing of many chains, a block each, all moves in one launch. reference.py is the specification.
//
// What decides is the same in every thread: random numbers, the move, its energy. All arithmetic of decisions is in
// whole numbers, but for one product of a temperature and an entry of a table, which all backends round alike. A move is
// rejected where its energy exceeds a limit, in whatever order the energy is summed. So it is summed group of sources by
// group of sources, and a group's bitsets are in shared memory. Between two barriers a word that a thread writes is read
// and written by no other thread, but for the sums of a level, which atomics add up.

#include "philox/philox.cuh"

const int MOVES = 256;         // of one temperature
const int LOG_SHIFT = 20;      // of 32 bits, those that do not number the table's 4096 entries
const long long UNREACHED = 2;  // these three also in quotient.py

// The graph of a block. Ports of the quotient are numbered a * d + p.
//   head, shift, mate  int[m * d]; before: none of them changes until a move is accepted
//   ports              unsigned short[d, nodes]: neighbours in the graph itself, a missing link leads back to its node
struct Graph {
    int *head, *shift, *mate;
    unsigned short* ports;
    int copies, m, d, nodes;
};

// A move: four ports, and what they lead to after it. A port that comes twice has what is last.
struct Move {
    int port[4], head[4], shift[4], mate[4];

    // the last place of a port, -1 where the move does not change it
    __device__ int place(int wanted) const {
        int found = -1;
#pragma unroll
        for (int k = 0; k < 4; ++k)
            if (port[k] == wanted) found = k;
        return found;
    }
    // element k of one of the four arrays, which stay in registers
    __device__ static int pick(const int (&values)[4], int k) {
        return k == 0 ? values[0] : k == 1 ? values[1] : k == 2 ? values[2] : values[3];
    }
    __device__ int head_of(const Graph& graph, int wanted) const {
        const int k = place(wanted);
        return k < 0 ? graph.head[wanted] : pick(head, k);
    }
    __device__ int shift_of(const Graph& graph, int wanted) const {
        const int k = place(wanted);
        return k < 0 ? graph.shift[wanted] : pick(shift, k);
    }
};

// The sums of three levels in turn: of the last one, which is read, of this one, and of the next one, which is cleared.
struct Sums {
    unsigned int* words;
    int level;
};

struct Goal {
    long long diameter, penalty, energy;

    // of a pair, what it costs to be more than `level` hops away, and the same added up over levels 0 .. level
    __device__ long long cost(long long level) const { return level >= diameter ? penalty : 1; }
    __device__ long long costs(long long level) const {
        const long long beyond = level + 1 - diameter;
        return level + 1 + (penalty - 1) * (beyond > 0 ? beyond : 0);
    }
};

__device__ inline int modulo(int value, int s) { return (value % s + s) % s; }

__device__ inline int length(const int* place, int u, int v) {
    const int x = place[2 * u] - place[2 * v], y = place[2 * u + 1] - place[2 * v + 1];
    return (x < 0 ? -x : x) + (y < 0 ? -y : y);
}

// Whether drawn links can be exchanged, but for parallel links; if so, `move` says how.
__device__ inline bool propose(const Graph& graph, const int* place, int longest, int e, int f, int turn, Move& move) {
    const int s = graph.copies, m = graph.m, d = graph.d;
    if (graph.head[e] < 0 || graph.head[f] < 0 || f == e || f == graph.mate[e]) return false;
    const int back = graph.mate[e], ahead = graph.mate[f];
    const int a = e / d, b = back / d, c = f / d, g = ahead / d;
    const int other = modulo(turn + graph.shift[f] - graph.shift[e], s);
    if ((a == c && turn == 0) || (b == g && other == 0)) return false;
    if (length(place, a, turn * m + c) > longest || length(place, b, other * m + g) > longest) return false;
    move = {{e, f, back, ahead}, {c, a, g, b}, {turn, modulo(-turn, s), other, modulo(-other, s)}, {f, e, ahead, back}};
    return true;
}

// Whether a port of the move leads where another port of its node leads: to be joined over the threads of a block.
__device__ inline bool is_parallel(const Graph& graph, const Move& move) {
    bool found = false;
    for (int i = threadIdx.x; i < 4 * graph.d; i += blockDim.x) {
        const int port = Move::pick(move.port, i / graph.d), other = port / graph.d * graph.d + i % graph.d;
        found |= other != port && move.head_of(graph, other) == move.head_of(graph, port) &&
                 move.shift_of(graph, other) == move.shift_of(graph, port);
    }
    return found;
}

// The ports of the move in all copies: as they are after it, or as they are in the quotient.
__device__ inline void connect(const Graph& graph, const Move& move, bool after) {
    for (int i = threadIdx.x; i < 4 * graph.copies; i += blockDim.x) {
        const int k = i / graph.copies, copy = i % graph.copies, port = Move::pick(move.port, k);
        if (move.place(port) != k) continue;
        const int shift = after ? Move::pick(move.shift, k) : graph.shift[port];
        const int head = after ? Move::pick(move.head, k) : graph.head[port];
        graph.ports[port % graph.d * graph.nodes + copy * graph.m + port / graph.d] =
            (unsigned short)((copy + shift) % graph.copies * graph.m + head);
    }
}

// The energy of the graph, and its diameter; something above `most` as soon as that is known. rows: words of two
// bitsets of nodes << shift words, a group of 32 << shift sources.
__device__ inline long long evaluate(const Graph& graph, const Goal& goal, long long most, unsigned int* rows,
                                     int shift, Sums& sums, int& diameter) {
    const int nodes = graph.nodes, words = nodes << shift, group = 32 << shift, mask = (1 << shift) - 1;
    const int thread = threadIdx.x, threads = blockDim.x;
    long long total = 0, unreached = 0, paid = 0;
    int deepest = 0;
    diameter = 0;
    for (int base = 0; base < graph.m; base += group) {
        const int sources = graph.m - base < group ? graph.m - base : group;
        unsigned int *old = rows, *next = rows + words;
        for (int i = thread; i < words; i += threads) {
            const int lane = (i >> shift) - base;  // of the node itself
            old[i] = lane >= 0 && lane < sources && lane / 32 == (i & mask) ? 1u << lane % 32 : 0u;
        }
        __syncthreads();
        const long long pairs = (long long)nodes * sources;
        long long left = pairs - sources;
        int level = 0;
        while (left) {
            total += left * goal.cost(level);
            if (total > most) return total;
            ++level;
            sums.level = sums.level == 2 ? 0 : sums.level + 1;
            unsigned int count = 0;
            for (int i = thread; i < words; i += threads) {
                const int node = i >> shift, word = i & mask, lanes = sources - 32 * word;
                const unsigned int all = lanes >= 32 ? ~0u : lanes > 0 ? (1u << lanes) - 1 : 0u;
                unsigned int after = old[i];
                if (after != all)
                    for (int p = 0; p < graph.d; ++p) after |= old[((int)graph.ports[p * nodes + node] << shift) | word];
                next[i] = after;
                count += __popc(after);
            }
            if (thread == 0) sums.words[sums.level == 2 ? 0 : sums.level + 1] = 0;
            if (count) atomicAdd(sums.words + sums.level, count);
            __syncthreads();
            const long long now = pairs - sums.words[sums.level];
            unsigned int* const before = old;
            old = next;
            next = before;
            if (now == left) {  // the rest is never reached
                --level;
                unreached += left;
                paid += left * goal.costs(level);
                break;
            }
            left = now;
        }
        deepest = level > deepest ? level : deepest;
    }
    diameter = unreached ? nodes : deepest;
    // pairs without a path are counted as long as any pair is reached, and then cost more than any path
    return total + unreached * (goal.costs(deepest) + UNREACHED * nodes * goal.penalty) - paid;
}

// Of each block:
//   number     unsigned int[blocks]: of its chain
//   quotient, best  int[blocks, 3, m * d]: head, shift, mate of where it is, and of the best graph
//   ports      unsigned short[blocks, d, nodes]: see Graph; as the quotient has them
//   state      long long[blocks, 5]: receives energy, the best graph's energy and diameter, moves, accepted moves
// Of all:
//   temperature  double[temperatures]; logs double[4096]: -ln u
//   place      int[nodes, 2], longest: see Wires; diameter, penalty, energy: see Goal
//   first, key0, key1: number of the first move, seed
//   shift      2^shift words of 32 sources are a group
// Shared memory: 2 * nodes << shift words, and three.
extern "C" __launch_bounds__(1024) __global__ void anneal(
    const unsigned int* __restrict__ number, int* quotient, int* best, unsigned short* ports, long long* state,
    const double* __restrict__ temperature, const double* __restrict__ logs, const int* __restrict__ place,
    int temperatures, int longest, long long diameter, long long penalty, long long energy, unsigned long long first,
    unsigned int key0, unsigned int key1, int copies, int m, int d, int shift) {
    extern __shared__ unsigned int room[];
    const long long chain = blockIdx.x;
    const int size = m * d, nodes = copies * m;
    quotient += chain * 3 * size;
    best += chain * 3 * size;
    const Graph graph = {quotient, quotient + size, quotient + 2 * size, ports + chain * d * nodes, copies, m, d, nodes};
    const Goal goal = {diameter, penalty, energy};
    Sums sums = {room, 2};
    unsigned int* const rows = room + 3;
    if (threadIdx.x == 0) sums.words[0] = 0;
    __syncthreads();
    int reached;
    long long here = evaluate(graph, goal, 1ll << 62, rows, shift, sums, reached);
    long long best_energy = here, best_diameter = reached, moves = 0, accepted = 0;
    for (const long long end = (long long)temperatures * MOVES; moves < end;) {
        if (best_energy <= goal.energy && best_diameter <= goal.diameter) break;
        const unsigned long long drawn = first + moves;
        const unsigned int counter[4] = {(unsigned int)drawn, (unsigned int)(drawn >> 32), number[chain], 0};
        unsigned int words[4];
        philox4x32(counter, key0, key1, words);
        const double warmth = temperature[moves++ / MOVES];
        Move move;
        if (!propose(graph, place, longest, below(words[0], size), below(words[1], size), below(words[2], copies), move))
            continue;
        if (__syncthreads_or(is_parallel(graph, move))) continue;
        connect(graph, move, true);
        const long long most = here + (long long)(warmth * logs[words[3] >> LOG_SHIFT]);
        __syncthreads();
        const long long there = evaluate(graph, goal, most, rows, shift, sums, reached);
        if (there > most) {
            connect(graph, move, false);
            continue;
        }
        here = there;
        ++accepted;
        if (threadIdx.x == 0)
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                graph.head[move.port[k]] = move.head[k];
                graph.shift[move.port[k]] = move.shift[k];
                graph.mate[move.port[k]] = move.mate[k];
            }
        __syncthreads();
        if (here >= best_energy) continue;
        best_energy = here;
        best_diameter = reached;
        for (int i = threadIdx.x; i < 3 * size; i += blockDim.x) best[i] = quotient[i];
    }
    if (threadIdx.x) return;
    const long long found[5] = {here, best_energy, best_diameter, moves, accepted};
    for (int i = 0; i < 5; ++i) state[5 * chain + i] = found[i];
}
