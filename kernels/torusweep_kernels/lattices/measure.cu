// Distances and loads of many lattice graphs, a block each. reference.py is the specification.
//
// A thread owns every stride-th node, at most 64, and a bit of a 64-bit mask stands for each. Between two barriers a
// word that a thread writes is read and written by no other thread. One thread computes each sum, over ports in their
// order, and the loads of the nodes are added in the order of the specification. So the results equal those of the
// specification to the bit (compile without contraction to fused operations).

const int MOST = 6;  // dimensions; also in __init__.py

// Of each block:
//   forms      int[blocks, n, n]: its lattice's Hermite normal form
//   degree     int[blocks]: receives the neighbours of a node
//   histogram  int[blocks, width]: receives the nodes at each distance; 0 before
//   load       double[blocks, n]: receives the load of a channel of each dimension, if `loads`
// Shared memory, of N nodes: if `loads`, double count[N], unit[N], sums[n, (N + 1) / 2]; then unsigned short
// heads[2n, N], short distance[N], and three words.
extern "C" __launch_bounds__(1024) __global__ void measure(
    const int* __restrict__ forms, int* __restrict__ degree, int* __restrict__ histogram, double* __restrict__ load,
    int n, int width, int loads) {
    extern __shared__ __align__(8) unsigned int room[];
    const int thread = threadIdx.x, threads = blockDim.x;
    const long long block = blockIdx.x;
    const int* const form = forms + block * n * n;
    int nodes = 1;
    for (int i = 0; i < n; ++i) nodes *= form[i * n + i];
    const int half = (nodes + 1) / 2;
    unsigned int *const gained = room, *const kept = room + 2;
    double* const count = (double*)(room + 4);
    double *const unit = count + (loads ? nodes : 0), *const sums = unit + (loads ? nodes : 0);
    unsigned short* const heads = (unsigned short*)(sums + (loads ? n * half : 0));
    short* const distance = (short*)(heads + 2 * n * nodes);

    // heads[2j, v] = v + e_j and heads[2j + 1, v] = v - e_j
    for (int tail = thread; tail < nodes; tail += threads) {
        int digit[MOST], rest = tail;
#pragma unroll
        for (int i = 0; i < MOST; ++i) {
            if (i >= n) break;
            digit[i] = rest % form[i * n + i];
            rest /= form[i * n + i];
        }
        int stride = 1;
#pragma unroll
        for (int j = 0; j < MOST; ++j) {
            if (j >= n) break;
            int head = tail + stride;
            if (digit[j] + 1 == form[j * n + j]) {
                // beyond the last digit of dimension j the column j is subtracted, which changes the digits before j
                int moved[MOST];
                head = tail - digit[j] * stride;
#pragma unroll
                for (int i = 0; i < j; ++i) moved[i] = digit[i] - form[i * n + j];
                int before = stride;
#pragma unroll
                for (int i = j - 1; i >= 0; --i) {
                    const int side = form[i * n + i], turns = moved[i] / side - (moved[i] % side < 0);
#pragma unroll
                    for (int h = 0; h <= i; ++h) moved[h] -= turns * form[h * n + i];
                    before /= side;
                    head += (moved[i] - digit[i]) * before;
                }
            }
            heads[2 * j * nodes + tail] = (unsigned short)head;
            heads[(2 * j + 1) * nodes + head] = (unsigned short)tail;
            stride *= form[j * n + j];
        }
        distance[tail] = (short)(tail ? -1 : 0);
    }
    if (thread == 0) {
        gained[0] = gained[1] = *kept = 0;
        if (loads) count[0] = 1;
        histogram[block * width] = 1;
    }
    __syncthreads();

    // the ports that lead from node 0 to another node, and where no earlier port leads
    if (thread < 2 * n) {
        const int head = heads[thread * nodes];
        bool keep = head != 0;
        for (int earlier = 0; earlier < thread; ++earlier) keep = keep && heads[earlier * nodes] != head;
        if (keep) atomicOr(kept, 1u << thread);
    }
    __syncthreads();
    const unsigned int ports = *kept;
    if (thread == 0) degree[block] = __popc(ports);

    // outwards: distances from node 0, and shortest paths to each node
    unsigned long long left = 0;
    for (int node = thread, place = 0; node < nodes; node += threads, ++place)
        if (node) left |= 1ull << place;
    int level = 0;
    for (;; ++level) {
        unsigned long long found = 0;
        for (unsigned long long some = left; some; some &= some - 1) {
            const int place = __ffsll((long long)some) - 1, node = thread + place * threads;
            bool reached = false;
            double paths = 0;
            for (unsigned int rest = ports; rest; rest &= rest - 1) {
                const int head = heads[(__ffs((int)rest) - 1) * nodes + node];
                if (distance[head] != level) continue;
                reached = true;
                if (!loads) break;
                paths += count[head];
            }
            if (!reached) continue;
            found |= 1ull << place;
            if (loads) count[node] = paths;  // read by others from the next level on
        }
        if (found) atomicAdd(gained + level % 2, (unsigned int)__popcll(found));
        __syncthreads();
        const unsigned int number = gained[level % 2];
        if (!number) break;
        if (thread == 0) {
            histogram[block * width + level + 1] = (int)number;
            gained[(level + 1) % 2] = 0;
        }
        left ^= found;
        for (; found; found &= found - 1)
            distance[thread + (__ffsll((long long)found) - 1) * threads] = (short)(level + 1);
        __syncthreads();
    }
    if (!loads) return;

    // inwards: traffic through each node to itself and beyond, for each path to it
    for (; level >= 0; --level) {
        for (int node = thread; node < nodes; node += threads) {
            if (distance[node] != level) continue;
            double total = 0;
            for (unsigned int rest = ports; rest; rest &= rest - 1) {
                const int head = heads[(__ffs((int)rest) - 1) * nodes + node];
                if (distance[head] == level + 1) total += unit[head];
            }
            unit[node] = (1 + count[node] * total) / count[node];
        }
        __syncthreads();
    }

    // what all nodes' channels + e_j carry of node 0's traffic: neighbours, then neighbours of these sums
    for (int j = 0; j < n; ++j) {
        const unsigned short* const head = heads + 2 * j * nodes;
        for (int pair = thread; pair < half; pair += threads) {
            double sum = 0;
            for (int node = 2 * pair; node < nodes && node < 2 * pair + 2; ++node)
                if (ports >> 2 * j & 1 && distance[head[node]] == distance[node] + 1)
                    sum += count[node] * unit[head[node]];
            sums[j * half + pair] = sum;
        }
    }
    __syncthreads();
    for (int step = 1; step < half; step *= 2) {
        for (int j = 0; j < n; ++j)
            for (int pair = 2 * step * thread; pair + step < half; pair += 2 * step * threads)
                sums[j * half + pair] += sums[j * half + pair + step];
        __syncthreads();
    }
    if (thread < n) load[block * n + thread] = sums[thread * half] / nodes;
}
