// Packets on random shortest paths. reference.py is the specification.
//
//   heads     int[nodes, width]: where each port leads, a missing one to its own node; capacity double[nodes, width]
//   distance  int[lanes, nodes]: hops to the lane's destination, -2 = not reached (-2 + 1 is not a distance either)
//   count     double[lanes, nodes]; limit unsigned int[lanes, nodes, width]: where each port's part of the draws ends
//
// One thread computes each sum, over ports in their order. The limits equal those of the specification to the bit
// (compile without contraction to fused operations). Packets add integers, whose order does not matter.

#include "cuda.cuh"
#include "philox/philox.cuh"
#include "pairs/pairs.cuh"

// One level back from the destinations. happened[step] says whether the last launch reached any node; if not, later
// launches return at once. Another thread may change a distance read here from "not reached" to this level: neither is
// the last level.
extern "C" __global__ void reach(const int* __restrict__ heads, const double* __restrict__ capacity, int* distance,
                                 double* count, unsigned int* limit, int* happened, int step, int level, int nodes,
                                 int width, int lanes, int by_paths) {
    if (!happened[step]) return;
    const double scale = 4294967296.0, most = 4294967295.0;
    bool any = false;
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x; row < (long long)nodes * lanes;
         row += threads) {
        if (distance[row] >= 0) continue;
        const long long node = row % nodes, lane = row - node;
        double total = 0;
        for (long long port = node * width; port < (node + 1) * width; ++port) {
            const long long other = lane + heads[port];
            if (relaxed(distance + other) == level - 1) total += (by_paths ? count[other] : 1.0) * capacity[port];
        }
        if (!(total > 0)) continue;
        const double share = scale / total;
        double end = 0;
        for (int p = 0; p < width; ++p) {
            const long long port = node * width + p, other = lane + heads[port];
            if (relaxed(distance + other) == level - 1) end += (by_paths ? count[other] : 1.0) * capacity[port];
            limit[row * width + p] = (unsigned int)(end * share < most ? end * share : most);
        }
        count[row] = total;
        store_relaxed(distance + row, level);
        any = true;
    }
    if (any) store_relaxed(happened + step + 1, 1);
}

// Walk packet `number` from a node to its destination, whose rows begin at row `rows`: count it on each channel.
__device__ inline void walk_packet(const int* heads, const unsigned int* limit, long long rows, int node, int target,
                                   unsigned long long number, unsigned int key0, unsigned int key1, int width,
                                   unsigned long long* counter) {
    const unsigned int stream = 0, greatest = 0xFFFFFFFEu;
    for (unsigned int block = 0; node != target; ++block) {
        const unsigned int words[4] = {(unsigned int)number, (unsigned int)(number >> 32), block, stream};
        unsigned int draws[4];
        philox4x32(words, key0, key1, draws);
#pragma unroll
        for (int word = 0; word < 4; ++word) {
            if (node == target) break;
            const unsigned int drawn = draws[word] < greatest ? draws[word] : greatest;
            const unsigned int* const ends = limit + (rows + node) * width;
            int port = 0;
            while (drawn >= ends[port]) ++port;  // the last port that leads nearer ends above every draw
            const long long channel = (long long)node * width + port;
            atomicAdd(counter + channel, 1ull);
            node = heads[channel];
        }
    }
}

// Walk packets order[begin .. end - 1] to their destinations, whose rows are lane[destination].
// start, destination, group int[packets]; first: number of the packet at place 0; passed [groups, nodes, width],
// unreachable [groups]. groups: 0 = `group` says a packet's, else it is (remainder + place) modulo groups.
extern "C" __global__ void walk(const int* __restrict__ heads, const int* __restrict__ distance,
                                const unsigned int* __restrict__ limit, const int* __restrict__ order,
                                const int* __restrict__ lane, const int* __restrict__ start,
                                const int* __restrict__ destination, const int* __restrict__ group, int begin, int end,
                                unsigned long long first, unsigned int key0, unsigned int key1, int nodes, int width,
                                int groups, int remainder, unsigned long long* passed,
                                unsigned long long* unreachable) {
    const unsigned int threads = gridDim.x * blockDim.x;
    for (unsigned int item = begin + blockIdx.x * blockDim.x + threadIdx.x; item < (unsigned int)end; item += threads) {
        const int place = order[item], target = destination[place], node = start[place];
        const int own = groups ? ((unsigned int)remainder + place) % (unsigned int)groups : group[place];
        const long long rows = (long long)lane[target] * nodes;
        if (distance[rows + node] < 0) atomicAdd(unreachable + own, 1ull);
        else walk_packet(heads, limit, rows, node, target, first + place, key0, key1, width,
                         passed + (long long)own * nodes * width);
    }
}

// Draw the packets from number `first` (pairs.cuh: cdf .. own_sum), and walk each from starts[source] to
// finishes[destination]. The rows are those of all nodes, in their order.
extern "C" __global__ void walk_drawn(
    const int* __restrict__ heads, const int* __restrict__ distance, const unsigned int* __restrict__ limit,
    const int* __restrict__ starts, const int* __restrict__ finishes, const double* __restrict__ cdf,
    const int* __restrict__ guide, const int* __restrict__ own_source, const int* __restrict__ own_destination,
    const long long* __restrict__ reduced_start, const int* __restrict__ reduced, const double* __restrict__ rejection,
    int sources, int pairs, int uniform, double product_sum, double own_sum, int packets, unsigned long long first,
    unsigned int key0, unsigned int key1, int nodes, int width, int groups, int remainder, unsigned long long* passed,
    unsigned long long* unreachable) {
    const Traffic traffic = {cdf,       guide,   own_source, own_destination, reduced_start, reduced,
                             rejection, sources, pairs,      uniform,         product_sum,   own_sum};
    const unsigned int threads = gridDim.x * blockDim.x;
    for (unsigned int item = blockIdx.x * blockDim.x + threadIdx.x; item < (unsigned int)packets; item += threads) {
        int source, destination;
        draw_pair(traffic, first + item, key0, key1, source, destination);
        const int node = starts[source], target = finishes[destination];
        const unsigned int own = ((unsigned int)remainder + item) % (unsigned int)groups;
        const long long rows = (long long)target * nodes;
        if (distance[rows + node] < 0) atomicAdd(unreachable + own, 1ull);
        else walk_packet(heads, limit, rows, node, target, first + item, key0, key1, width,
                         passed + (long long)own * nodes * width);
    }
}
