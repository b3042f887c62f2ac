// Distances and loads of many networks of one size, a block of threads each. reference.py is the specification.
//
// A block takes some roots at once. Threads share pairs of a root and a node: outwards level by level, each pair reads
// the neighbours' distances to its root and adds up their paths; back, it adds up what the farther nodes carry. One
// thread computes each sum, in the order of ports or of channels. Loads have twice the digits and are rounded once; all
// other numbers are whole. So the results equal those of the specification to the bit (compile without contraction to
// fused operations).

#include "cuda.cuh"
#include "twice.cuh"

typedef unsigned short Index;
const int NONE = (Index)-2;  // not reached; NONE + 1 is not a distance either
const double NEAR_MIDDLE = 0.5 - 0.5 / (1 << 30);  // of the distance to the next number: see sums.rounded

// The number high + low >= 0, rounded once: as sums.rounded.
__device__ inline double rounded(Twice number) {
    const double total = number.high + number.low, rest = number.low - (total - number.high);
    if (rest == 0 || !(total > 0)) return total;
    const double other = __longlong_as_double(__double_as_longlong(total) + (rest > 0 ? 1 : -1));
    const double gap = other - total;
    if ((rest > 0 ? rest : -rest) < (gap > 0 ? gap : -gap) * NEAR_MIDDLE) return total;
    return __double_as_longlong(total) & 1 ? other : total;
}

// Of each block, a network of N nodes with P ports:
//   ports         int[networks, N, P]: neighbours, -1 = none; capacity int[networks, N, P], if `weighted`
//   terminals     int[networks, N]; share double[networks, N]: what each terminal sends to a node
//   histogram     unsigned long long[networks, N + 1], eccentricity int[networks, N], connected int[networks]: receive
//                 those of `measure_networks`; histogram is 0 before
//   load          double[networks, N, P], hops double[networks]: receive them, if `loads`
//   overflow      int[1]: receives 1 where paths exceed float64
//   most          pairs of roots and nodes that a block takes at once: roots * N, or 32 if that is less
// Shared memory: unsigned long long pairs[4]; if `loads`, double paths[most], unit[most], rest[most], high[N P], low[N P];
// int word[6], farthest[N]; Index heads[N P], distance[most]; if `loads`, into[N P], first[N + 1]; unsigned char works[N].
extern "C" __launch_bounds__(1024) __global__ void measure(
    const int* __restrict__ ports, const int* __restrict__ capacity, const int* __restrict__ terminals,
    const double* __restrict__ share, unsigned long long* __restrict__ histogram, int* __restrict__ eccentricity,
    int* __restrict__ connected, double* __restrict__ load, double* __restrict__ hops, int* __restrict__ overflow,
    int networks, int nodes, int width, int roots, int most, int loads, int weighted) {
    extern __shared__ __align__(8) unsigned int room[];
    const int thread = threadIdx.x, threads = blockDim.x, channels = nodes * width;
    unsigned long long* const pairs = (unsigned long long*)room;  // found at three levels in turn, and at distance 0
    double* const paths = (double*)(pairs + 4);
    double *const unit = paths + (loads ? most : 0), *const rest = unit + (loads ? most : 0);
    double *const high = rest + (loads ? most : 0), *const low = high + (loads ? channels : 0);
    int* const word = (int*)(low + (loads ? channels : 0));  // found at three levels in turn, nodes that work, their pairs
    int* const farthest = word + 6;
    Index* const heads = (Index*)(farthest + nodes);
    Index *const distance = heads + channels, *const into = distance + most;
    Index* const first = into + (loads ? channels : 0);
    unsigned char* const works = (unsigned char*)(first + (loads ? nodes + 1 : 0));

    for (long long network = blockIdx.x; network < networks; network += gridDim.x) {
        const long long at = network * nodes;
        for (int node = thread; node < nodes; node += threads) {
            farthest[node] = 0;
            works[node] = terminals[at + node] > 0;
        }
        if (thread < 6) word[thread] = 0;
        if (thread < 4) pairs[thread] = 0;
        for (int channel = thread; channel < channels; channel += threads) {
            const int head = ports[at * width + channel];
            heads[channel] = head < 0 ? nodes : head;
            if (loads) high[channel] = low[channel] = 0;
        }
        __syncthreads();
        for (int node = thread; node < nodes; node += threads) {
            int entering = 0, leaving = 0;
            for (int channel = 0; channel < channels; ++channel) entering += heads[channel] == node;
            for (int port = 0; port < width; ++port) leaving += heads[node * width + port] < nodes;
            if (loads) first[node + 1] = entering;
            if (entering + leaving) works[node] = 1;
            if (works[node]) atomicAdd(word + 3, 1);
        }
        __syncthreads();
        if (loads && thread == 0) {
            first[0] = 0;
            for (int node = 0; node < nodes; ++node) first[node + 1] += first[node];
        }
        __syncthreads();
        if (loads) {
            for (int node = thread; node < nodes; node += threads) {
                int place = first[node];
                for (int channel = 0; channel < channels; ++channel)
                    if (heads[channel] == node) into[place++] = channel;
            }
        }

        for (int begin = 0; begin < nodes; begin += roots) {
            const int some = (nodes - begin < roots ? nodes - begin : roots) * nodes;
            __syncthreads();
            for (int pair = thread; pair < some; pair += threads) {
                const bool own = begin + pair / nodes == pair % nodes;
                distance[pair] = own ? 0 : NONE;
                if (loads) paths[pair] = own;
            }
            if (thread < 3) word[thread] = pairs[thread] = 0;
            __syncthreads();

            // Outwards. Distances are stored while others are read: neither the old value nor the new one is that of
            // the level before.
            int level = 0;
            for (bool more = true; more;) {
                ++level;
                unsigned long long gained = 0;
                int found = 0, both = 0;
                for (int pair = thread; pair < some; pair += threads) {
                    const int root = begin + pair / nodes, node = pair % nodes, row = pair - node;
                    const int reached = relaxed(distance + pair);
                    if (level == 1 && reached == 0) {
                        atomicAdd(pairs + 3, (unsigned long long)terminals[at + node] * terminals[at + node]);
                        both += works[node];
                    }
                    if (reached != NONE) continue;
                    double ways = 0;
                    bool nearer = false;
                    for (int port = 0; port < width; ++port) {
                        const int channel = node * width + port, head = heads[channel];
                        if (head == nodes || relaxed(distance + row + head) != level - 1) continue;
                        nearer = true;
                        if (!loads) break;
                        ways += weighted ? paths[row + head] * capacity[at * width + channel] : paths[row + head];
                    }
                    if (!nearer) continue;
                    if (loads) {
                        paths[pair] = ways;
                        if (ways > 1.7976931348623157e308) atomicExch(overflow, 1);
                    }
                    store_relaxed(distance + pair, level);
                    ++found;
                    both += works[node] && works[root];
                    const unsigned long long here = terminals[at + node], there = terminals[at + root];
                    gained += here * there;
                    if (here * there) atomicMax(farthest + node, level);
                }
                if (gained) atomicAdd(pairs + level % 3, gained);
                if (both) atomicAdd(word + 4, both);
                if (found) atomicAdd(word + level % 3, found);
                __syncthreads();
                more = word[level % 3] > 0;
                if (thread == 0) {
                    histogram[network * (nodes + 1) + level] += pairs[level % 3];
                    word[(level + 2) % 3] = pairs[(level + 2) % 3] = 0;  // read before this barrier, added to after the next
                }
            }
            if (!loads) continue;

            // Inwards: unit = demand / paths + the units of farther nodes.
            for (--level; level >= 0; --level) {
                for (int pair = thread; pair < some; pair += threads) {
                    if (distance[pair] != level) continue;
                    const int root = begin + pair / nodes, node = pair % nodes, row = pair - node;
                    Twice carried = over({terminals[at + node] * share[at + root], 0}, paths[pair]);
                    for (int place = first[node]; place < first[node + 1]; ++place) {
                        const int channel = into[place], tail = row + channel / width;
                        if (distance[tail] != level + 1) continue;
                        const Twice each = {unit[tail], rest[tail]};
                        carried = plus(carried, weighted ? times(each, capacity[at * width + channel]) : each);
                    }
                    carried = normal(carried);
                    unit[pair] = carried.high;
                    rest[pair] = carried.low;
                }
                __syncthreads();
            }
            for (int channel = thread; channel < channels; channel += threads) {
                const int tail = channel / width, head = heads[channel];
                if (head == nodes) continue;
                const double links = weighted ? capacity[at * width + channel] : 1;
                Twice total = {high[channel], low[channel]};
                for (int row = 0; row < some; row += nodes) {
                    if (distance[row + head] + 1 != distance[row + tail] || distance[row + tail] == NONE) continue;
                    const Twice each = times({unit[row + tail], rest[row + tail]}, paths[row + head]);
                    total = plus(total, weighted ? times(each, links) : each);
                }
                total = normal(total);
                high[channel] = total.high;
                low[channel] = total.low;
            }
        }
        __syncthreads();
        for (int node = thread; node < nodes; node += threads)
            eccentricity[at + node] = terminals[at + node] ? farthest[node] : -1;
        if (thread == 0) histogram[network * (nodes + 1)] = pairs[3];
        if (thread == 0) connected[network] = (long long)word[3] * word[3] == word[4];
        if (!loads) {
            __syncthreads();
            continue;
        }
        for (int channel = thread; channel < channels; channel += threads) {
            high[channel] = rounded({high[channel], low[channel]});
            load[at * width + channel] = high[channel];
        }
        __syncthreads();
        if (thread < 32) {  // the sum of all loads, by one warp
            Twice total = {0, 0};
            for (int channel = thread; channel < channels; channel += 32) total = plus(total, {high[channel], 0});
            total = normal(total);
            rest[thread] = total.high;
            unit[thread] = total.low;
        }
        __syncthreads();
        if (thread == 0) {
            Twice total = {0, 0};
            for (int part = 0; part < 32 && part < threads; ++part) total = plus(total, {rest[part], unit[part]});
            hops[network] = total.high + total.low;
        }
        __syncthreads();
    }
}
