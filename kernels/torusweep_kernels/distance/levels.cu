// Levels of a breadth-first search from many sources, a bit (lane) each. reference.py is the specification.
//
// A node has a row: a bit for each source, in pieces of 16 bytes, 2 ^ shift of them. A thread owns one piece of many
// nodes' rows, the same one in all of them, so that the threads of a warp read side by side. Rows have a last one more
// than there are nodes, which is always empty. Items are counted in 32 bits: nodes << shift is less than 2 ^ 31.
//
// There are two methods. `dense` reads all rows, and the rows of their predecessors unless they are full. `sparse`
// keeps apart what a level brought: it reads only pieces of which a predecessor gained a bit in the level before, which
// are few where the sources of a piece are near each other.
//
// The host launches many levels, and many searches, without waiting. happened[i] says whether there was something to do
// for the i-th level; if not, its launch and the later ones return at once.

#include "cuda.cuh"

// What a source is compiled for stands before this text as other values of these.
#ifndef DEGREE
#define DEGREE 0  // predecessors of a node: int predecessor[DEGREE, nodes], a missing one is `nodes`; 0 = lists
#endif
#ifndef REMOVED
#define REMOVED 1  // whether some lanes may not enter some nodes
#endif
#ifndef CHOSEN
#define CHOSEN 1  // whether some nodes do not count
#endif
#ifndef NEWS
#define NEWS 1  // whether to say which lanes gained a bit in a level
#endif

#define LANES 128  // of a piece
#define PLANES 5   // binary digits of a count of `tally`

typedef unsigned long long word_t;
struct __align__(16) Piece {
    word_t x, y;
};

__device__ inline bool empty(const Piece& piece) { return (piece.x | piece.y) == 0; }

__device__ inline void add(Piece& sum, const Piece& piece) {
    sum.x |= piece.x;
    sum.y |= piece.y;
}

__device__ inline unsigned int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline unsigned int all_threads() { return gridDim.x * blockDim.x; }

// OR of a piece over those predecessors of a node that `on` tells to read. Says whether there is one.
//   start, predecessor   lists: those of node v are predecessor[start[v] .. start[v + 1] - 1]; a table needs no start
template <class On>
__device__ inline bool gather(Piece& got, const Piece* __restrict__ rows, const long long* __restrict__ start,
                              const int* __restrict__ predecessor, unsigned int node, unsigned int nodes,
                              unsigned int piece, int shift, const On& on) {
    bool any = false;
#if DEGREE
    unsigned int from[DEGREE];
    bool read[DEGREE];
#pragma unroll
    for (int k = 0; k < DEGREE; ++k) from[k] = ((unsigned int)predecessor[k * nodes + node] << shift) + piece;
#pragma unroll
    for (int k = 0; k < DEGREE; ++k) any |= read[k] = on(from[k]);
    if (!any) return false;
#pragma unroll
    for (int k = 0; k < DEGREE; ++k)
        if (read[k]) add(got, rows[from[k]]);
#else
    for (long long link = start[node]; link < start[node + 1]; ++link) {
        const unsigned int from = ((unsigned int)predecessor[link] << shift) + piece;
        if (!on(from)) continue;
        any = true;
        add(got, rows[from]);
    }
#endif
    return any;
}

// The lanes that may enter a node.
//   kept_at   int[nodes]: row of kept Piece[., pieces]; -1 = all lanes
__device__ inline void keep(Piece& piece_of_node, const int* __restrict__ kept_at, const Piece* __restrict__ kept,
                            unsigned int node, unsigned int piece, int shift) {
    const int row = kept_at[node];
    if (row < 0) return;
    const Piece may = kept[((unsigned int)row << shift) + piece];
    piece_of_node.x &= may.x;
    piece_of_node.y &= may.y;
}

__device__ inline void clear_room(unsigned int* room, unsigned int words) {
    for (unsigned int i = threadIdx.x; i < words; i += blockDim.x) room[i] = 0;
    __syncthreads();
}

// What a thread found in a level: counted new bits of the two words of its piece, and the lanes that they belong to.
struct Found {
    unsigned int x, y, read;  // read: pieces that `sparse` read
    Piece lanes;
    bool any;  // also bits of nodes that do not count
};

__device__ inline void count(Found& found, const Piece& gained, const unsigned char* __restrict__ counted,
                             unsigned int node) {
    found.any |= !empty(gained);
    if (CHOSEN && !counted[node]) return;
    found.x += __popcll(gained.x);
    found.y += __popcll(gained.y);
    if (NEWS) add(found.lanes, gained);
}

// Add what the threads of a block found to the level's counts: one atomic a counter and block.
//   room      unsigned int[counters + 1], then unsigned int[4 * pieces] for news; all 0
//   counter   int[words]: the counter of each word
//   gained    unsigned long long[counters + 1]: the last for pieces read; news unsigned int[4 * pieces]
//   happened  of the next level
__device__ inline void add_up(const Found& found, unsigned int* room, unsigned int piece, int shift,
                              const int* __restrict__ counter, int counters, unsigned long long* gained,
                              unsigned int* news, int* happened) {
    if (counters == 1) {
        atomicAdd(room, found.x + found.y);  // all threads to one word: the compiler adds up a warp's first
    } else {
        if (found.x) atomicAdd(room + counter[2 * piece], found.x);
        if (found.y) atomicAdd(room + counter[2 * piece + 1], found.y);
    }
    if (found.read) atomicAdd(room + counters, found.read);
    unsigned int* const lanes = room + counters + 1;
    if (NEWS && !empty(found.lanes)) {
        atomicOr(lanes + 4 * piece, (unsigned int)found.lanes.x);
        atomicOr(lanes + 4 * piece + 1, (unsigned int)(found.lanes.x >> 32));
        atomicOr(lanes + 4 * piece + 2, (unsigned int)found.lanes.y);
        atomicOr(lanes + 4 * piece + 3, (unsigned int)(found.lanes.y >> 32));
    }
    if (!__syncthreads_or(found.any)) return;
    for (unsigned int i = threadIdx.x; i <= (unsigned int)counters; i += blockDim.x)
        if (room[i]) atomicAdd(gained + i, (unsigned long long)room[i]);
    if (NEWS) {
        for (unsigned int i = threadIdx.x; i < 4u << shift; i += blockDim.x)
            if (lanes[i] & ~(unsigned int)relaxed((const int*)news + i)) atomicOr(news + i, lanes[i]);
    }
    if (threadIdx.x == 0) store_relaxed(happened, 1);
}

// Empty rows for a search, if the one before it came to its end; otherwise it and all later ones do nothing.
//   seen, was   as in `sparse`, only emptied for it
//   before      happened of that search, of `last` levels; last = -1: none
extern "C" __global__ void clear(Piece* __restrict__ rows, Piece* __restrict__ seen, unsigned char* __restrict__ was,
                                 const int* __restrict__ before, int* happened, int last, int is_sparse, int nodes,
                                 int shift) {
    if (last >= 0 && (!before[0] || before[last])) return;
    const unsigned int items = (unsigned int)nodes << shift;
    for (unsigned int item = thread_number(); item < items; item += all_threads()) {
        rows[item] = {0, 0};
        if (!is_sparse) continue;
        seen[item] = {0, 0};
        was[item] = 0;
    }
    if (thread_number() == 0) happened[0] = 1;
}

__device__ inline void set(Piece* rows, unsigned int node, unsigned int lane, int shift) {
    atomicOr((unsigned int*)(rows + (node << shift)) + lane / 32, 1u << lane % 32);
}

// Set the bit of each lane in its source's row; source int[lanes], -1 = unused.
extern "C" __global__ void seed(Piece* rows, Piece* seen, unsigned char* was, const int* __restrict__ source,
                                const int* __restrict__ happened, int lanes, int is_sparse, int shift) {
    if (!happened[0]) return;
    for (unsigned int lane = thread_number(); lane < (unsigned int)lanes; lane += all_threads()) {
        if (source[lane] < 0) continue;
        const unsigned int node = (unsigned int)source[lane], item = (node << shift) + lane / LANES;
        set(rows, node, lane, shift);
        if (!is_sparse) continue;
        set(seen, node, lane, shift);
        atomicOr((unsigned int*)was + item / 4, 1u << 8 * (item % 4));
    }
}

// One level for every node: next = old | OR over its predecessors.
//   full       Piece[pieces]: the lanes in use
//   counted    unsigned char[nodes]: whether a node counts as a destination
//   gained     unsigned long long[levels, counters + 1]; news unsigned int[levels, 4 * pieces]
//   happened   int[levels + 1]
extern "C" __global__ void dense(const Piece* __restrict__ old, Piece* __restrict__ next,
                                 const long long* __restrict__ start, const int* __restrict__ predecessor,
                                 const Piece* __restrict__ full, const int* __restrict__ kept_at,
                                 const Piece* __restrict__ kept, const unsigned char* __restrict__ counted,
                                 const int* __restrict__ counter, unsigned long long* gained, unsigned int* news,
                                 int* happened, int level, int nodes, int shift, int counters) {
    if (!happened[level]) return;
    extern __shared__ unsigned int room[];
    clear_room(room, counters + 1 + (NEWS ? 4u << shift : 0u));
    const unsigned int items = (unsigned int)nodes << shift, piece = thread_number() & ((1u << shift) - 1u);
    const Piece all = full[piece];
    Found found = {0, 0, 0, {0, 0}, false};
    for (unsigned int item = thread_number(); item < items; item += all_threads()) {
        const unsigned int node = item >> shift;
        const Piece before = old[item];
        Piece after = before;
        if (before.x != all.x || before.y != all.y) {
            gather(after, old, start, predecessor, node, nodes, piece, shift, [](unsigned int) { return true; });
            if (REMOVED) keep(after, kept_at, kept, node, piece, shift);
        }
        next[item] = after;
        count(found, {after.x ^ before.x, after.y ^ before.y}, counted, node);
    }
    add_up(found, room, piece, shift, counter, counters, gained + (long long)level * (counters + 1),
           news + ((long long)level << (shift + 2)), happened + level + 1);
}

// One level for pieces of which a predecessor gained a bit in the level before. Other arguments as above.
//   seen        Piece[nodes, pieces]: all bits
//   old, next   Piece[nodes, pieces]: bits gained in the level before, and in this one; only where `was`, `is` say so
//   was, is     unsigned char[nodes + 1, pieces]
extern "C" __global__ void sparse(Piece* __restrict__ seen, const Piece* __restrict__ old, Piece* __restrict__ next,
                                  const unsigned char* __restrict__ was, unsigned char* __restrict__ is,
                                  const long long* __restrict__ start, const int* __restrict__ predecessor,
                                  const int* __restrict__ kept_at, const Piece* __restrict__ kept,
                                  const unsigned char* __restrict__ counted, const int* __restrict__ counter,
                                  unsigned long long* gained, unsigned int* news, int* happened, int level, int nodes,
                                  int shift, int counters) {
    if (!happened[level]) return;
    extern __shared__ unsigned int room[];
    clear_room(room, counters + 1 + (NEWS ? 4u << shift : 0u));
    const unsigned int items = (unsigned int)nodes << shift, piece = thread_number() & ((1u << shift) - 1u);
    Found found = {0, 0, 0, {0, 0}, false};
    for (unsigned int item = thread_number(); item < items; item += all_threads()) {
        const unsigned int node = item >> shift;
        Piece got = {0, 0};
        const auto on = [was](unsigned int from) { return was[from]; };
        if (gather(got, old, start, predecessor, node, nodes, piece, shift, on)) {
            Piece mine = seen[item];
            got.x &= ~mine.x;
            got.y &= ~mine.y;
            if (REMOVED) keep(got, kept_at, kept, node, piece, shift);
            ++found.read;
            if (!empty(got)) {
                add(mine, got);
                seen[item] = mine;
                next[item] = got;
                count(found, got, counted, node);
            }
        }
        is[item] = !empty(got);
    }
    add_up(found, room, piece, shift, counter, counters, gained + (long long)level * (counters + 1),
           news + ((long long)level << (shift + 2)), happened + level + 1);
}

// Count the same level's new bits for each lane: pairs unsigned int[levels, lanes].
// A thread adds rows to LANES counts at once, whose binary digits are planes of bits.
//   is   of `sparse`, whose next rows are what the level brought; not read after `dense`
extern "C" __global__ void tally(const Piece* __restrict__ old, const Piece* __restrict__ next,
                                 const unsigned char* __restrict__ is, const unsigned char* __restrict__ counted,
                                 unsigned int* __restrict__ pairs, const int* __restrict__ happened, int is_sparse,
                                 int level, int nodes, int shift) {
    if (!happened[level + 1]) return;
    extern __shared__ unsigned int room[];  // unsigned int[LANES, pieces]: neighbouring threads add to other banks
    const unsigned int items = (unsigned int)nodes << shift, piece = thread_number() & ((1u << shift) - 1u);
    clear_room(room, LANES << shift);
    for (unsigned int item = thread_number(); item < items;) {
        Piece plane[PLANES] = {};
        for (int row = 1; row < 1 << PLANES && item < items; ++row, item += all_threads()) {
            if ((CHOSEN && !counted[item >> shift]) || (is_sparse && !is[item])) continue;
            Piece carry = next[item];
            if (!is_sparse) carry = {carry.x ^ old[item].x, carry.y ^ old[item].y};
#pragma unroll
            for (int digit = 0; digit < PLANES; ++digit) {
                const Piece both = {plane[digit].x & carry.x, plane[digit].y & carry.y};
                plane[digit].x ^= carry.x;
                plane[digit].y ^= carry.y;
                carry = both;
            }
        }
        for (int bit = 0; bit < LANES / 2; ++bit) {
            unsigned int x = 0, y = 0;
#pragma unroll
            for (int digit = 0; digit < PLANES; ++digit) {
                x |= (unsigned int)(plane[digit].x >> bit & 1u) << digit;
                y |= (unsigned int)(plane[digit].y >> bit & 1u) << digit;
            }
            if (x) atomicAdd(room + (bit << shift) + piece, x);
            if (y) atomicAdd(room + ((bit + LANES / 2) << shift) + piece, y);
        }
    }
    __syncthreads();
    pairs += (long long)level * (LANES << shift);
    for (unsigned int i = threadIdx.x; i < (unsigned int)LANES << shift; i += blockDim.x)
        if (room[i]) atomicAdd(pairs + (i & ((1u << shift) - 1u)) * LANES + (i >> shift), room[i]);
}
