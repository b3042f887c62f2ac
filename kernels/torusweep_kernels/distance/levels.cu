// Levels of a breadth-first search from many sources, one bit each. reference.py is the specification.
//
// A thread owns one word of every stride-th node's row. The threads of a warp therefore read neighbouring words, and a
// row is read once for all sources. Threads share nothing: each writes its own count of new bits, and the host adds
// up the counts of many levels at once. The host launches several levels ahead. happened[i] says whether the i-th
// launch before changed anything; if it did not, the later launches return at once.

#include "cuda.cuh"

typedef unsigned long long word_t;

// One level for every node: next = old | OR over its predecessors.
//   old, next  word_t[nodes, words]
//   start      long long[nodes + 1], predecessor int[arcs]: node v is reached from predecessor[start[v] ..
//              start[v + 1] - 1]
//   full       word_t[words]: the lanes in use
//   kept_at    int[nodes]: row of kept word_t[., words], the lanes that may enter a node; -1 = all
//   counted    unsigned char[nodes]: whether a node counts as a destination
//   gained     unsigned int[levels, threads]: counted new bits; happened int[levels + 1]
// Threads in all: a multiple of words.
extern "C" __global__ void advance(const word_t* __restrict__ old, word_t* __restrict__ next,
                                   const long long* __restrict__ start, const int* __restrict__ predecessor,
                                   const word_t* __restrict__ full, const int* __restrict__ kept_at,
                                   const word_t* __restrict__ kept, const unsigned char* __restrict__ counted,
                                   unsigned int* __restrict__ gained, int* happened, int level, int nodes, int words) {
    if (!happened[level]) return;
    const long long threads = (long long)gridDim.x * blockDim.x;
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const int word = (int)(thread % words);
    const word_t all = full[word];
    unsigned int count = 0;
    bool any = false;
    for (long long node = thread / words; node < nodes; node += threads / words) {
        const word_t before = old[node * words + word];
        word_t after = before;
        if (before != all) {
            for (long long link = start[node]; link < start[node + 1]; ++link)
                after |= old[(long long)predecessor[link] * words + word];
            if (kept_at[node] >= 0) after &= kept[(long long)kept_at[node] * words + word];
        }
        next[node * words + word] = after;
        any |= after != before;
        if (counted[node]) count += __popcll(after ^ before);
    }
    gained[level * threads + thread] = count;
    if (any) store_relaxed(happened + level + 1, 1);
}

// Count the same level's new bits for each lane: pairs unsigned int[levels, threads]; other arguments as above.
// Threads in all: a multiple of 64 * words.
extern "C" __global__ void tally(const word_t* __restrict__ old, const word_t* __restrict__ next,
                                 const unsigned char* __restrict__ counted, unsigned int* __restrict__ pairs,
                                 const int* __restrict__ happened, int level, int nodes, int words) {
    if (!happened[level + 1]) return;
    const long long threads = (long long)gridDim.x * blockDim.x;
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const int lanes = 64 * words, lane = (int)(thread % lanes), word = lane / 64;
    unsigned int count = 0;
    for (long long node = thread / lanes; node < nodes; node += threads / lanes) {
        if (counted[node])
            count += (unsigned int)((old[node * words + word] ^ next[node * words + word]) >> (lane % 64)) & 1u;
    }
    pairs[level * threads + thread] = count;
}
