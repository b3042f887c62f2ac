// Packets on random shortest paths. reference.py is the specification.
//
//   heads     int[nodes, width]: where each port leads, a missing one to its own node; capacity double[nodes, width]
//   distance  int[lanes, nodes]: hops to the lane's destination, -2 = not reached (-2 + 1 is not a distance either)
//   limit     unsigned int[lanes, nodes, width]: where each port's part of the draws ends
//
// One thread computes each sum, over ports in their order. The limits equal those of the specification to the bit
// (compile without contraction to fused operations). Packets add integers, whose order does not matter.

#include "cuda.cuh"
#include "philox/philox.cuh"
#include "pairs/pairs.cuh"

// Fill in the rows of each lane's destination, a block for a lane, level by level back from it. A block finds the nodes
// of a level from a queue of those before, and then sums over their ports.
//   start, predecessor  long long[nodes + 1], int[]: which nodes' ports lead to each
//   paths, queue        double[blocks, nodes], int[blocks, nodes]: scratch; the weight of all paths from a node
//   too_many            set to 1 where they exceed a double
extern "C" __global__ void reach(const int* __restrict__ heads, const double* __restrict__ capacity,
                                 const long long* __restrict__ start, const int* __restrict__ predecessor,
                                 const int* __restrict__ targets, int* distance, unsigned int* limit, double* paths,
                                 int* queue, int* too_many, int nodes, int width, int lanes, int by_paths) {
    extern __shared__ unsigned int room[];
    unsigned int* const size = room;  // nodes in the block's queue
    const double scale = 4294967296.0, most = 4294967295.0, greatest = 1.7976931348623157e308;
    const int thread = threadIdx.x, threads = blockDim.x;
    double* const count = paths + (long long)blockIdx.x * nodes;
    int* const found = queue + (long long)blockIdx.x * nodes;
    for (int lane = blockIdx.x; lane < lanes; lane += gridDim.x) {
        int* const far = distance + (long long)lane * nodes;
        unsigned int* const ends = limit + (long long)lane * nodes * width;
        for (int node = thread; node < nodes; node += threads) far[node] = node == targets[lane] ? 0 : -2;
        if (thread == 0) {
            found[0] = targets[lane];
            count[targets[lane]] = 1;
            *size = 1;
        }
        __syncthreads();
        for (int begin = 0, end = 1, level = 1; begin < end; ++level) {
            for (int i = begin + thread; i < end; i += threads) {
                const int node = found[i];
                for (long long link = start[node]; link < start[node + 1]; ++link) {
                    const int other = predecessor[link];
                    if (relaxed(far + other) < 0 && atomicCAS(far + other, -2, level) == -2)
                        found[atomicAdd(size, 1u)] = other;
                }
            }
            __syncthreads();
            begin = end;
            end = (int)*size;
            for (int i = begin + thread; i < end; i += threads) {
                const int node = found[i];
                const long long row = (long long)node * width;
                double total = 0;
                for (int p = 0; p < width; ++p) {
                    const int other = heads[row + p];
                    if (far[other] == level - 1) total += (by_paths ? count[other] : 1.0) * capacity[row + p];
                }
                const double share = scale / total;
                double sum = 0;
                for (int p = 0; p < width; ++p) {
                    const int other = heads[row + p];
                    if (far[other] == level - 1) sum += (by_paths ? count[other] : 1.0) * capacity[row + p];
                    ends[row + p] = (unsigned int)(sum * share < most ? sum * share : most);
                }
                count[node] = total;
                if (total > greatest) store_relaxed(too_many, 1);
            }
            __syncthreads();
        }
    }
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
