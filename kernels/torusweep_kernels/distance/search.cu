// Breadth-first search of one graph from at most 32 sources, a bit each, by one block from the first level to the last:
// the graph's two bitsets and what a level counts are in shared memory, and nothing waits for the host. See
// reference.py, which is the specification.
//
// A thread owns every so many-th node, and alone writes its words. Counts are added up by atomics in whole numbers,
// whose order does not matter.

const int LANES = 32;  // as gpu_many.py has it

// Of each block:
//   first, nodes   long long[blocks], int[blocks]: its graph's first node among those of all graphs, and their number
//   source         int[blocks, LANES]: the node that each lane starts from; -1 = unused
//   mates, row     unsigned int[blocks, LANES], long long[blocks, LANES]: its groups, each as its lanes and as the
//                  place in histogram of the pairs
//                  at distance 0; the first of mates that is 0 ends them
//   gone_at        long long[blocks + 1]; gone, barred int[.], unsigned int[.]: nodes gone[gone_at[block] ..
//                  gone_at[block + 1] - 1], and the
//                  lanes for which they do not exist
//   farthest       int[blocks, LANES]: receives each lane's last level, where `wanted`
// Of all graphs, one after the other: counted unsigned char[nodes], whether a node counts as a destination; start long
// long[nodes + 1], feeder int[arcs]: node v is reached from feeder[start[v] .. start[v + 1] - 1], numbered within its
// graph.
//   histogram      unsigned long long[.], added to
// Threads a block: LANES or more. Shared memory: 2 * nodes + 3 * LANES words.
extern "C" __launch_bounds__(1024) __global__ void search(
    const long long* __restrict__ first, const int* __restrict__ nodes, const int* __restrict__ source, const unsigned int* __restrict__ mates,
    const long long* __restrict__ row, const long long* __restrict__ gone_at, const int* __restrict__ gone, const unsigned int* __restrict__ barred,
    int* __restrict__ farthest, const unsigned char* __restrict__ counted, const long long* __restrict__ start, const int* __restrict__ feeder,
    unsigned long long* histogram, int wanted) {
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
        // those of the level before are read and cleared while others add to these
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
            for (; reached; reached &= reached - 1) last[__ffs(reached) - 1] = level;  // all threads that write it write the same value
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
                for (long long link = start[node]; link < start[node + 1]; ++link) after |= old[feeder[link]];
            }
            next[node] = after;
        }
        if (gone_at[block] == gone_at[block + 1]) continue;
        __syncthreads();
        for (long long i = gone_at[block] + thread; i < gone_at[block + 1]; i += threads) atomicAnd(next + gone[i], ~barred[i]);
        __syncthreads();
    }
    if (thread < LANES) farthest[lane] = (int)last[thread];
}
