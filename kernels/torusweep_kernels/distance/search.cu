// Breadth-first search of one graph from at most 32 sources, one bit each, all levels by one block. Both bitsets and
// the counts of a level are in shared memory, so the block never waits for the host. reference.py is the specification.
//
// A thread owns every stride-th node, and only it writes this node's words. Atomics add up counts in whole numbers;
// their order does not matter.

#include "cuda.cuh"

const int LANES = 32;  // also in gpu_many.py

// Of each block:
//   first, nodes   long long[blocks], int[blocks]: its graph's first node among those of all graphs, and their number
//   source         int[blocks, LANES]: the node that each lane starts from; -1 = unused
//   mates, row     unsigned int[blocks, LANES], long long[blocks, LANES]: of each of its groups the lanes, and the
//                  place in histogram of the pairs at distance 0; the first 0 in mates ends the groups
//   gone_at        long long[blocks + 1]; gone, barred int[.], unsigned int[.]: removed nodes gone[gone_at[block] ..
//                  gone_at[block + 1] - 1], and the lanes for which they are removed
//   farthest       int[blocks, LANES]: receives each lane's last level, if `wanted`
// Of all graphs, one after another:
//   counted        unsigned char[nodes]: whether a node counts as a destination
//   start          long long[nodes + 1], predecessor int[arcs]: node v is reached from predecessor[start[v] ..
//                  start[v + 1] - 1], numbered within its graph
//   histogram      unsigned long long[.], added to
// Threads a block: LANES or more. Shared memory: 2 * nodes + 3 * LANES words.
extern "C" __launch_bounds__(1024) __global__ void search(
    const long long* __restrict__ first, const int* __restrict__ nodes, const int* __restrict__ source,
    const unsigned int* __restrict__ mates, const long long* __restrict__ row, const long long* __restrict__ gone_at,
    const int* __restrict__ gone, const unsigned int* __restrict__ barred, int* __restrict__ farthest,
    const unsigned char* __restrict__ counted, const long long* __restrict__ start,
    const int* __restrict__ predecessor, unsigned long long* histogram, int wanted) {
    extern __shared__ unsigned int room[];
    const int block = blockIdx.x, thread = threadIdx.x, threads = blockDim.x, size = nodes[block];
    unsigned int *old = room, *next = room + size, *gained = next + size, *last = gained + 2 * LANES;
    counted += first[block];
    start += first[block];
    mates += (long long)block * LANES;
    for (int i = thread; i < 2 * size + 3 * LANES; i += threads) room[i] = 0;
    __syncthreads();
    const long long lane = (long long)block * LANES + thread;
    if (thread < LANES && source[lane] >= 0) atomicOr(next + source[lane], 1u << thread);
    unsigned int all = 0;
    int groups = 0;
    for (; groups < LANES && mates[groups]; ++groups) all |= mates[groups];
    __syncthreads();
    for (int level = 0;; ++level) {
        // the last level's sums are read and cleared while other threads add to these
        unsigned int* sums = gained + level % 2 * LANES;
        unsigned int reached = 0;
        bool any = false;
        for (int group = 0; group < groups; ++group) {
            unsigned int count = 0;
            for (int node = thread; node < size; node += threads) {
                const unsigned int fresh = next[node] ^ old[node];
                any |= fresh != 0;
                if (!counted[node]) continue;
                count += __popc(fresh & mates[group]);
                reached |= fresh;
            }
            if (count) atomicAdd(sums + group, count);
        }
        if (wanted) {
            // all threads that write an element write the same value
            for (; reached; reached &= reached - 1) store_relaxed(last + __ffs(reached) - 1, level);
        }
        if (!__syncthreads_or(any)) break;
        if (thread < groups && sums[thread]) {
            atomicAdd(histogram + row[lane] + level, (unsigned long long)sums[thread]);
            sums[thread] = 0;
        }
        unsigned int* before = old;
        old = next;
        next = before;
        for (int node = thread; node < size; node += threads) {
            unsigned int after = old[node];
            if (after != all) {
                for (long long link = start[node]; link < start[node + 1]; ++link) after |= old[predecessor[link]];
            }
            next[node] = after;
        }
        if (gone_at[block] == gone_at[block + 1]) continue;
        __syncthreads();
        for (long long i = gone_at[block] + thread; i < gone_at[block + 1]; i += threads)
            atomicAnd(next + gone[i], ~barred[i]);
        __syncthreads();
    }
    if (thread < LANES) farthest[lane] = (int)last[thread];
}
