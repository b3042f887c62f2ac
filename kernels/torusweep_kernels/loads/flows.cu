// Flows over shortest paths from several roots. reference.py is the specification.
//
// A thread owns one lane (root) of some nodes. A row has all lanes of a node, so the threads of a warp read
// neighbouring words. One thread computes each sum, over channels in their order and without atomics. The result
// equals that of the specification to the bit (compile without contraction to fused operations).
//
//   start     long long[nodes + 1], other int[arcs], capacity double[arcs]: the channels of node v are start[v] ..
//             start[v + 1] - 1
//   distance  int[nodes, lanes]: -2 = not reached (-2 + 1 is not a distance either)
//   count, unit  double[nodes, lanes]
//   by_hops   whether traffic splits over next hops: a neighbour then counts once, not once for each of its paths

#include "cuda.cuh"

// Numbers with twice the digits, as in twice.py: |low| may exceed half a unit in the last place of high.
struct Twice {
    double high, low;
};

__device__ inline Twice plus(Twice one, Twice other) {
    const double total = one.high + other.high, back = total - one.high;
    const double error = (one.high - (total - back)) + (other.high - back);
    return {total, one.low + (error + other.low)};
}

__device__ inline Twice times(Twice one, double factor) {
    const double product = one.high * factor;
    return {product, __fma_rn(one.high, factor, -product) + one.low * factor};
}

__device__ inline Twice over(Twice one, double divisor) {
    const double quotient = one.high / divisor;
    return {quotient, (__fma_rn(-quotient, divisor, one.high) + one.low) / divisor};
}

__device__ inline Twice normal(Twice one) {
    const double total = one.high + one.low;
    return {total, one.low - (total - one.high)};
}

// One level outwards: reach the neighbours of the last level, and count their paths to it. happened[step] says whether
// the last launch reached any node; if not, later launches return at once. Another thread may change a distance read
// here from "not reached" to this level: neither is the last level.
extern "C" __global__ void reach(const long long* __restrict__ start, const int* __restrict__ other,
                                 const double* __restrict__ capacity, double* count, int* distance, int* happened,
                                 int step, int level, int nodes, int lanes, int by_hops) {
    if (!happened[step]) return;
    bool any = false;
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x; item < (long long)nodes * lanes;
         item += threads) {
        if (distance[item] >= 0) continue;
        const long long node = item / lanes, lane = item % lanes;
        double ways = 0;
        for (long long arc = start[node]; arc < start[node + 1]; ++arc) {
            const long long nearer = (long long)other[arc] * lanes + lane;
            if (relaxed(distance + nearer) == level - 1) ways += (by_hops ? 1.0 : count[nearer]) * capacity[arc];
        }
        if (ways > 0) {
            count[item] = ways;
            store_relaxed(distance + item, level);
            any = true;
        }
    }
    if (any) store_relaxed(happened + step + 1, 1);
}

// The totals of every lane, over nodes in their order: demand reached, demand not reached, demand * distance, largest
// count. totals double[4, lanes]; unit holds the demand. A thread owns a lane.
extern "C" __global__ void total_up(const double* __restrict__ count, const int* __restrict__ distance,
                                    const double* __restrict__ unit, double* __restrict__ totals, int nodes,
                                    int lanes) {
    const int threads = (int)(gridDim.x * blockDim.x);
    for (int lane = (int)(blockIdx.x * blockDim.x + threadIdx.x); lane < lanes; lane += threads) {
        double delivered = 0, unreachable = 0, hops = 0, most = 0;
#pragma unroll 16
        for (int node = 0; node < nodes; ++node) {
            const long long item = (long long)node * lanes + lane;
            const int away = distance[item];
            const double wanted = unit[item], paths = count[item], through = away >= 0 ? wanted : 0.0;
            delivered += through;
            unreachable += away >= 0 ? 0.0 : wanted;
            hops += through * away;
            if (away >= 0 && paths > most) most = paths;
        }
        totals[lane] = delivered;
        totals[lanes + lane] = unreachable;
        totals[2ll * lanes + lane] = hops;
        totals[3ll * lanes + lane] = most;
    }
}

// One level inwards: unit = demand / count + near / count * sum of farther units, for the nodes of this level; unit
// holds their demand.
extern "C" __global__ void carry(const long long* __restrict__ start, const int* __restrict__ other,
                                 const double* __restrict__ capacity, const double* __restrict__ count,
                                 const int* __restrict__ distance, double* unit, int level, int nodes, int lanes,
                                 int by_hops) {
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x; item < (long long)nodes * lanes;
         item += threads) {
        if (distance[item] != level) continue;
        const long long node = item / lanes, lane = item % lanes;
        double beyond = 0;
        for (long long arc = start[node]; arc < start[node + 1]; ++arc) {
            const long long farther = (long long)other[arc] * lanes + lane;
            if (distance[farther] == level + 1) beyond += unit[farther] * capacity[arc];
        }
        unit[item] = unit[item] / count[item] + (by_hops ? 1.0 / count[item] : 1.0) * beyond;
    }
}

// Add up the load of every channel over the lanes in their order. A thread owns a channel, from own[arc] to other[arc].
//   partial double[arcs]  sum over one share of the roots; the block's first root is number `first`
//   total double[arcs]    sum over shares
extern "C" __global__ void add_up(const int* __restrict__ own, const int* __restrict__ other,
                                  const double* __restrict__ capacity, const double* __restrict__ count,
                                  const int* __restrict__ distance, const double* __restrict__ unit,
                                  double* __restrict__ partial, double* __restrict__ total, int arcs, int lanes,
                                  int by_hops, long long first, long long share) {
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long arc = (long long)blockIdx.x * blockDim.x + threadIdx.x; arc < arcs; arc += threads) {
        const long long from = (long long)own[arc] * lanes, to = (long long)other[arc] * lanes;
        double sum = partial[arc];
        for (int lane = 0; lane < lanes; ++lane) {
            if ((first + lane) % share == 0) {
                total[arc] += sum;
                sum = 0;
            }
            if (distance[to + lane] == distance[from + lane] + 1)
                sum += (by_hops ? 1.0 : count[from + lane]) * unit[to + lane] * capacity[arc];
        }
        partial[arc] = sum;
    }
}

// `carry` with twice the digits: unit + rest.
extern "C" __global__ void carry_twice(const long long* __restrict__ start, const int* __restrict__ other,
                                       const double* __restrict__ capacity, const double* __restrict__ count,
                                       const int* __restrict__ distance, double* unit, double* rest, int level,
                                       int nodes, int lanes, int by_hops) {
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x; item < (long long)nodes * lanes;
         item += threads) {
        if (distance[item] != level) continue;
        const long long node = item / lanes, lane = item % lanes;
        Twice beyond = {0, 0};
        for (long long arc = start[node]; arc < start[node + 1]; ++arc) {
            const long long farther = (long long)other[arc] * lanes + lane;
            if (distance[farther] == level + 1)
                beyond = plus(beyond, times({unit[farther], rest[farther]}, capacity[arc]));
        }
        if (by_hops) beyond = over(normal(beyond), count[item]);
        const Twice carried = normal(plus(over({unit[item], 0}, count[item]), beyond));
        unit[item] = carried.high;
        rest[item] = carried.low;
    }
}

// `add_up` with twice the digits, to total + left, without shares: what is left of a sum hardly depends on its order.
extern "C" __global__ void add_up_twice(const int* __restrict__ own, const int* __restrict__ other,
                                        const double* __restrict__ capacity, const double* __restrict__ count,
                                        const int* __restrict__ distance, const double* __restrict__ unit,
                                        const double* __restrict__ rest, double* __restrict__ total,
                                        double* __restrict__ left, int arcs, int lanes, int by_hops) {
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long arc = (long long)blockIdx.x * blockDim.x + threadIdx.x; arc < arcs; arc += threads) {
        const long long from = (long long)own[arc] * lanes, to = (long long)other[arc] * lanes;
        Twice sum = {total[arc], left[arc]};
        for (int lane = 0; lane < lanes; ++lane)
            if (distance[to + lane] == distance[from + lane] + 1) {
                const Twice each = times({unit[to + lane], rest[to + lane]}, by_hops ? 1.0 : count[from + lane]);
                sum = plus(sum, times(each, capacity[arc]));
            }
        sum = normal(sum);
        total[arc] = sum.high;
        left[arc] = sum.low;
    }
}
