// Flows over shortest paths from several roots: see reference.py, which is the specification.
//
// A thread owns one lane (root) of some nodes; rows hold the lanes of a node side by side, so that the threads
// of a warp read neighbouring words. Every sum is one thread's, over channels in their order, without atomics:
// the result is that of the specification to the bit (compile without contraction to fused operations).
//
//   start     long long[nodes + 1], other int[arcs], capacity double[arcs]: the channels of node v are start[v] ..
//             start[v + 1] - 1
//   distance  int[nodes, lanes]: -2 where not reached, so that one more is no distance; count, unit double[nodes,
//             lanes]
//   inward    whether traffic splits over next hops, so that a node counts as one, and not as its paths

// One level outwards: nodes next to the level before are reached, and count the ways to it.
// happened[step] says whether the launch before reached any; where it did not, the rest return at once. Another
// thread may set the distance that is read here, from "not reached" to this level: both differ from the level before.
extern "C" __global__ void reach(const long long* __restrict__ start, const int* __restrict__ other, const double* __restrict__ capacity,
                                 double* count, int* distance, int* happened, int step, int level, int nodes, int lanes, int inward) {
    if (!happened[step]) return;
    bool any = false;
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x; item < (long long)nodes * lanes; item += threads) {
        if (distance[item] >= 0) continue;
        const long long node = item / lanes, lane = item % lanes;
        double ways = 0;
        for (long long arc = start[node]; arc < start[node + 1]; ++arc) {
            const long long nearer = (long long)other[arc] * lanes + lane;
            if (distance[nearer] == level - 1) ways += (inward ? 1.0 : count[nearer]) * capacity[arc];
        }
        if (ways > 0) {
            count[item] = ways;
            distance[item] = level;
            any = true;
        }
    }
    if (any) happened[step + 1] = 1;
}

// One level inwards: unit = demand / count + near / count * sum of farther units, for the nodes of this level; unit
// holds their demand.
extern "C" __global__ void carry(const long long* __restrict__ start, const int* __restrict__ other, const double* __restrict__ capacity,
                                 const double* __restrict__ count, const int* __restrict__ distance, double* unit, int level, int nodes,
                                 int lanes, int inward) {
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x; item < (long long)nodes * lanes; item += threads) {
        if (distance[item] != level) continue;
        const long long node = item / lanes, lane = item % lanes;
        double beyond = 0;
        for (long long arc = start[node]; arc < start[node + 1]; ++arc) {
            const long long farther = (long long)other[arc] * lanes + lane;
            if (distance[farther] == level + 1) beyond += unit[farther] * capacity[arc];
        }
        unit[item] = unit[item] / count[item] + (inward ? 1.0 / count[item] : 1.0) * beyond;
    }
}

// What every channel carries, added up over the lanes in their order: a thread owns a channel, from own[arc] to
// other[arc]. partial double[arcs] is the sum over a share of the roots, the block's first being `first`; total
// double[arcs] that over shares.
extern "C" __global__ void add_up(const int* __restrict__ own, const int* __restrict__ other, const double* __restrict__ capacity,
                                  const double* __restrict__ count, const int* __restrict__ distance, const double* __restrict__ unit,
                                  double* __restrict__ partial, double* __restrict__ total, int arcs, int lanes, int inward, long long first,
                                  long long share) {
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
                sum += (inward ? 1.0 : count[from + lane]) * unit[to + lane] * capacity[arc];
        }
        partial[arc] = sum;
    }
}
