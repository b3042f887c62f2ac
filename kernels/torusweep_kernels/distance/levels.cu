// Levels of a breadth-first search of many sources, one bit each: see reference.py, which is the specification.
//
// A thread owns one word of every stride-th node's row, so that the threads of a warp read neighbouring
// words, and a link's row is read once however many sources it carries. Nothing is shared between
// threads: each writes its own count of new bits, which the host adds up for many levels at once. Levels
// are launched ahead without asking whether they are needed: happened[i] says whether the i-th launch
// before changed anything, and where none did, the rest return at once.

typedef unsigned long long word_t;

// One level for every node: next = old | OR over feeders.
//   old, next  word_t[nodes, words]
//   start      long long[nodes + 1], feeder int[arcs]: node v is reached from feeder[start[v] .. start[v + 1] - 1]
//   full       word_t[words]: the lanes in use
//   kept_at    int[nodes]: row of kept word_t[., words], the lanes that may enter a node; -1 = all
//   counted    unsigned char[nodes]: whether a node counts as a destination
//   gained     unsigned int[levels, threads]: counted new bits; happened int[levels + 1]
// Threads in all: a multiple of words.
extern "C" __global__ void advance(const word_t* __restrict__ old, word_t* __restrict__ next, const long long* __restrict__ start,
                                   const int* __restrict__ feeder, const word_t* __restrict__ full, const int* __restrict__ kept_at,
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
            for (long long link = start[node]; link < start[node + 1]; ++link) after |= old[(long long)feeder[link] * words + word];
            if (kept_at[node] >= 0) after &= kept[(long long)kept_at[node] * words + word];
        }
        next[node * words + word] = after;
        any |= after != before;
        if (counted[node]) count += __popcll(after ^ before);
    }
    gained[level * threads + thread] = count;
    if (any) happened[level + 1] = 1;
}

// The same level's new bits lane by lane: pairs unsigned int[levels, threads], the others as above.
// Threads in all: a multiple of 64 * words.
extern "C" __global__ void tally(const word_t* __restrict__ old, const word_t* __restrict__ next, const unsigned char* __restrict__ counted,
                                 unsigned int* __restrict__ pairs, const int* __restrict__ happened, int level, int nodes, int words) {
    if (!happened[level + 1]) return;
    const long long threads = (long long)gridDim.x * blockDim.x;
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const int lanes = 64 * words, lane = (int)(thread % lanes), word = lane / 64;
    unsigned int count = 0;
    for (long long node = thread / lanes; node < nodes; node += threads / lanes) {
        if (counted[node]) count += (unsigned int)((old[node * words + word] ^ next[node * words + word]) >> (lane % 64)) & 1u;
    }
    pairs[level * threads + thread] = count;
}
