// Flows over shortest paths from several roots. reference.py is the specification.
//
// A block follows one root (lane) after another, all levels of it: outwards along a queue of the nodes in the order of
// their levels, and back along the same queue. A node's place among those of its level differs from launch to launch,
// its results do not: one thread computes each sum, over channels, nodes or lanes in their order and without atomics.
// The result equals that of the specification to the bit (compile without contraction to fused operations).
//
// Index is the type of nodes, distances and places in a queue: unsigned short (flows.cu) or int (wide.cu).
//
//   start     int[nodes + 1], other Index[arcs], capacity double[arcs]: the channels of node v are start[v] ..
//             start[v + 1] - 1; capacity is read only if `weighted`, and is 1 otherwise
//   distance  Index[lanes, nodes]: NONE = not reached (NONE + 1 is not a distance either)
//   count, unit, rest  double[lanes, nodes], of the nodes reached
//   weight    double[lanes], demand double[lanes or 1, nodes]: the demand of lane l for node v is
//             weight[l] * demand[l * stride + v]
//   by_hops   whether traffic splits over next hops: a neighbour then counts once, not once for each of its paths

const int NONE = (Index)-2;
const int LANES = 32, TILE = 64;  // lanes of a block of total_up, nodes that it reads at once; also in gpu.py

struct Side {
    const int* start;
    const Index* other;
    const double* capacity;
};

// The arguments of search.
struct Search {
    Side toward, away;
    const int* root;
    const double *weight, *demand;
    Index* distance;
    double *count, *unit, *rest;
    Index* queue;
    double* most;
    long long stride;
    int nodes, lanes, by_hops, weighted;
};

// What a block shares. Of few nodes, a thread that finds a node sets its bit in `seen`, and others keep from it;
// distances are then shared, too, and a row receives a copy. Of many, the distance itself is claimed in its row.
struct Room {
    Index* distance;
    unsigned int *seen, *added;

    // Whether this thread is the first to find the node, at this level.
    __device__ bool claim(int node, int level) const {
        if constexpr (sizeof(Index) == sizeof(int)) {
            int* const word = (int*)distance + node;
            return relaxed(word) == NONE && atomicCAS(word, NONE, level) == NONE;
        } else {
            unsigned int *const word = seen + node / 32, bit = 1u << node % 32;
            if (relaxed(word) & bit || atomicOr(word, bit) & bit) return false;
            store_relaxed(distance + node, level);
            return true;
        }
    }
};

// Search from the block's lanes. TWICE: unit + rest, with twice the digits. GATHERED: counts, then units, are also kept
// in shared memory, where neighbours read them; otherwise they are read from the rows.
template <bool TWICE, bool GATHERED>
__device__ inline void follow(const Search& task, unsigned int* room) {
    const bool narrow = sizeof(Index) < sizeof(int);
    const int thread = threadIdx.x, threads = blockDim.x, nodes = task.nodes, words = (nodes + 31) / 32;
    const bool by_hops = task.by_hops, weighted = task.weighted;
    const Side toward = task.toward, away = task.away;
    double* const kept = (double*)room;  // [2, nodes]
    Room own;
    own.added = room + (GATHERED ? (TWICE ? 4 : 2) * nodes : 0);  // nodes found at three levels in turn
    own.seen = own.added + 3;
    Index* const queue = task.queue + (long long)blockIdx.x * (2 * nodes + 1ll);
    Index* const ends = queue + nodes;  // of the levels in the queue

    for (int lane = blockIdx.x; lane < task.lanes; lane += gridDim.x) {
        const long long row = (long long)lane * nodes;
        double *const count = task.count + row, *const unit = task.unit + row, *const rest = task.rest + row;
        own.distance = narrow ? (Index*)(own.seen + words) : task.distance + row;
        for (int node = thread; node < nodes; node += threads) own.distance[node] = NONE;
        if (narrow)
            for (int word = thread; word < words; word += threads) own.seen[word] = 0;
        if (thread < 3) own.added[thread] = 0;
        __syncthreads();
        if (thread == 0) {
            const int root = task.root[lane];
            own.claim(root, 0);
            queue[0] = root;
            ends[0] = 1;
            count[root] = 1;
            if (GATHERED) kept[root] = 1;  // the root is this thread's in the first level, too
        }

        // Outwards: count the paths to the nodes of a level, and find those of the next one. Their distances are stored
        // while others are read: neither the old value nor the new one is that of the level before.
        double* const near = GATHERED ? kept : count;
        double most = 1;
        int level = 0, begin = 0, end = 1;
        for (; begin < end; ++level) {
            unsigned int* const added = own.added + level % 3;
            for (int place = begin + thread; place < end; place += threads) {
                const int node = queue[place];
                if (level) {
                    double ways = 0;
#pragma unroll 4
                    for (int arc = toward.start[node]; arc < toward.start[node + 1]; ++arc) {
                        const int nearer = toward.other[arc];
                        if (relaxed(own.distance + nearer) != level - 1) continue;
                        const double each = by_hops ? 1.0 : near[nearer];
                        ways += weighted ? each * toward.capacity[arc] : each;
                    }
                    count[node] = ways;
                    if (GATHERED) kept[node] = ways;
                    most = ways > most ? ways : most;
                }
                for (int arc = away.start[node]; arc < away.start[node + 1]; ++arc) {
                    const int farther = away.other[arc];
                    if (own.claim(farther, level + 1)) queue[end + (int)atomicAdd(added, 1u)] = farther;
                }
            }
            __syncthreads();
            begin = end;
            end += (int)*added;
            if (thread == 0) {
                ends[level + 1] = end;
                own.added[(level + 2) % 3] = 0;  // read before the last barrier, added to after the next one
            }
        }
        // bits of positive numbers have the order of the numbers
        if (most > 1) atomicMax((unsigned long long*)task.most + lane, (unsigned long long)__double_as_longlong(most));
        if (narrow)
            for (int node = thread; node < nodes; node += threads) task.distance[row + node] = own.distance[node];

        // Inwards: unit = demand / count + near / count * sum of farther units.
        double *const far = GATHERED ? kept : unit, *const low = GATHERED ? kept + nodes : rest;
        const double weight = task.weight[lane], *const demand = task.demand + lane * task.stride;
        const int last = --level;
        end = begin;
        for (; level >= 0; --level) {
            begin = level ? ends[level - 1] : 0;
            for (int place = begin + thread; place < end; place += threads) {
                const int node = queue[place];
                const double wanted = weight * demand[node], paths = count[node];
                double once = 0;
                Twice beyond = {0, 0};
                if (level < last) {
#pragma unroll 4
                    for (int arc = away.start[node]; arc < away.start[node + 1]; ++arc) {
                        const int farther = away.other[arc];
                        if (own.distance[farther] != level + 1) continue;
                        if (TWICE) {
                            const Twice each = {far[farther], low[farther]};
                            beyond = plus(beyond, weighted ? times(each, away.capacity[arc]) : each);
                        } else {
                            once += weighted ? far[farther] * away.capacity[arc] : far[farther];
                        }
                    }
                }
                if (TWICE) {
                    if (by_hops) beyond = over(normal(beyond), paths);
                    const Twice carried = normal(plus(over({wanted, 0}, paths), beyond));
                    unit[node] = carried.high;
                    rest[node] = carried.low;
                    if (GATHERED) {
                        far[node] = carried.high;
                        low[node] = carried.low;
                    }
                } else {
                    const double carried = wanted / paths + (by_hops ? 1.0 / paths : 1.0) * once;
                    unit[node] = carried;
                    if (GATHERED) far[node] = carried;
                }
            }
            __syncthreads();
            end = begin;
        }
    }
}

// Search outwards from each lane's root and carry its demand back. A block has a queue of 2 * nodes + 1; most
// double[lanes] receives the largest count of a lane that exceeds 1. Shared memory: if `gathered`, 8 bytes a node; then 12
// bytes, and with Index of 16 bits a bit and 2 bytes a node.
extern "C" __launch_bounds__(1024, 1) __global__ void search(
    const int* __restrict__ toward_start, const Index* __restrict__ toward, const double* __restrict__ toward_capacity,
    const int* __restrict__ away_start, const Index* __restrict__ away, const double* __restrict__ away_capacity,
    const int* __restrict__ root, const double* __restrict__ weight, const double* __restrict__ demand, Index* distance,
    double* count, double* unit, Index* queue, double* most, long long stride, int nodes, int lanes, int by_hops,
    int weighted, int gathered) {
    extern __shared__ __align__(8) unsigned int room[];
    const Search task = {{toward_start, toward, toward_capacity},
                         {away_start, away, away_capacity},
                         root, weight, demand, distance, count, unit, unit, queue, most, stride, nodes, lanes,
                         by_hops, weighted};
    gathered ? follow<false, true>(task, room) : follow<false, false>(task, room);
}

// `search` with twice the digits: unit + rest; if `gathered`, 16 bytes of shared memory a node.
extern "C" __launch_bounds__(1024, 1) __global__ void search_twice(
    const int* __restrict__ toward_start, const Index* __restrict__ toward, const double* __restrict__ toward_capacity,
    const int* __restrict__ away_start, const Index* __restrict__ away, const double* __restrict__ away_capacity,
    const int* __restrict__ root, const double* __restrict__ weight, const double* __restrict__ demand, Index* distance,
    double* count, double* unit, double* rest, Index* queue, double* most, long long stride, int nodes, int lanes,
    int by_hops, int weighted, int gathered) {
    extern __shared__ __align__(8) unsigned int room[];
    const Search task = {{toward_start, toward, toward_capacity},
                         {away_start, away, away_capacity},
                         root, weight, demand, distance, count, unit, rest, queue, most, stride, nodes, lanes,
                         by_hops, weighted};
    gathered ? follow<true, true>(task, room) : follow<true, false>(task, room);
}

// A lane's demand reached (0), demand not reached (1) or demand * distance (2) of the next nodes, added to sum.
template <int WHICH>
__device__ inline double added(double sum, const double* wanted, const Index* away, int size) {
#pragma unroll 8
    for (int place = 0; place < size; ++place) {
        const int hops = away[place];
        const double amount = WHICH == 2 ? wanted[place] * hops : wanted[place];
        sum += (hops == NONE) == (WHICH == 1) ? amount : 0.0;
    }
    return sum;
}

// The totals of every lane, over nodes in their order: demand reached, demand not reached, demand * distance, to totals
// double[3, all]. Three warps add them up, a thread a lane; the others meanwhile read the next nodes of LANES lanes, as
// they are in memory. Rows of a tile are so long that the threads of a warp read different banks.
extern "C" __launch_bounds__(1024) __global__ void total_up(const Index* __restrict__ distance,
                                                            const double* __restrict__ weight,
                                                            const double* __restrict__ demand,
                                                            double* __restrict__ totals, long long stride,
                                                            long long all, int nodes, int lanes) {
    extern __shared__ __align__(8) unsigned int room[];
    const int WIDTH = TILE + 1, AWAY = TILE + 2, ADDING = 3 * LANES;
    double* const wanted = (double*)room;                      // [2, LANES, WIDTH]
    Index* const away = (Index*)(wanted + 2 * LANES * WIDTH);  // [2, LANES, AWAY]
    const int thread = threadIdx.x, threads = blockDim.x, first = blockIdx.x * LANES;
    const int which = thread / LANES, lane = first + thread % LANES, tiles = (nodes + TILE - 1) / TILE;
    double sum = 0;
    for (int tile = 0; tile <= tiles; ++tile) {
        if (which < 3 && tile > 0 && lane < lanes) {
            const int row = (tile + 1) % 2 * LANES + thread % LANES, left = nodes - (tile - 1) * TILE;
            const double* const amounts = wanted + row * WIDTH;
            const Index* const hops = away + row * AWAY;
            const int size = left < TILE ? left : TILE;
            if (which == 0) sum = added<0>(sum, amounts, hops, size);
            if (which == 1) sum = added<1>(sum, amounts, hops, size);
            if (which == 2) sum = added<2>(sum, amounts, hops, size);
        }
        if (which >= 3 && tile < tiles) {
            const int turn = tile % 2 * LANES;
#pragma unroll 4
            for (int item = thread - ADDING; item < LANES * TILE; item += threads - ADDING) {
                const int row = item / TILE, place = item % TILE, node = tile * TILE + place;
                if (node >= nodes || first + row >= lanes) continue;
                const long long at = first + row;
                wanted[(turn + row) * WIDTH + place] = weight[at] * demand[at * stride + node];
                away[(turn + row) * AWAY + place] = distance[at * nodes + node];
            }
        }
        __syncthreads();
    }
    if (which < 3 && lane < lanes) totals[which * all + lane] = sum;
}

// The lanes of the part of all roots that a block of add_up adds up. The first lane is number `first` of its part.
struct Part {
    int number, arc, begin, end;
};

__device__ inline Part part_of(int arcs, int lanes, int first, int share) {
    const int blocks = (int)((arcs + blockDim.x - 1) / blockDim.x), number = (int)(blockIdx.x / blocks);
    const int begin = number * share - first, end = begin + share;
    return {number, (int)(blockIdx.x % blocks * blockDim.x + threadIdx.x), begin > 0 ? begin : 0,
            end < lanes ? end : lanes};
}

// Add up the load of every channel, from own[arc] to other[arc], over the lanes of each share of the roots in their
// order: sums double[shares, arcs]. A thread has a channel and a share. If the first share has begun in an earlier
// launch, sums[0] is its sum so far.
extern "C" __global__ void add_up(const Index* __restrict__ own, const Index* __restrict__ other,
                                  const double* __restrict__ capacity, const double* __restrict__ count,
                                  const Index* __restrict__ distance, const double* __restrict__ unit, double* sums,
                                  int arcs, int nodes, int lanes, int by_hops, int weighted, int first, int share) {
    const Part part = part_of(arcs, lanes, first, share);
    if (part.arc >= arcs) return;
    double& place = sums[(long long)part.number * arcs + part.arc];
    double sum = part.number == 0 && first ? place : 0.0;
    const long long before = (long long)part.begin * nodes;
    const int from = own[part.arc], to = other[part.arc];
    const double links = weighted ? capacity[part.arc] : 1.0;
    count += before;
    distance += before;
    unit += before;
#pragma unroll 4
    for (int lane = part.begin; lane < part.end; ++lane, count += nodes, distance += nodes, unit += nodes)
        if (distance[to] == distance[from] + 1) sum += (by_hops ? 1.0 : count[from]) * unit[to] * links;
    place = sum;
}

// `add_up` with twice the digits, to sums + lows; no share continues, since what is left of a sum hardly depends on its
// order.
extern "C" __global__ void add_up_twice(const Index* __restrict__ own, const Index* __restrict__ other,
                                        const double* __restrict__ capacity, const double* __restrict__ count,
                                        const Index* __restrict__ distance, const double* __restrict__ unit,
                                        const double* __restrict__ rest, double* __restrict__ sums,
                                        double* __restrict__ lows, int arcs, int nodes, int lanes, int by_hops,
                                        int weighted, int first, int share) {
    const Part part = part_of(arcs, lanes, first, share);
    if (part.arc >= arcs) return;
    Twice sum = {0, 0};
    const long long before = (long long)part.begin * nodes;
    const int from = own[part.arc], to = other[part.arc];
    count += before;
    distance += before;
    unit += before;
    rest += before;
#pragma unroll 4
    for (int lane = part.begin; lane < part.end; ++lane) {
        if (distance[to] == distance[from] + 1) {
            Twice each = {unit[to], rest[to]};
            if (!by_hops) each = times(each, count[from]);
            sum = plus(sum, weighted ? times(each, capacity[part.arc]) : each);
        }
        count += nodes;
        distance += nodes;
        unit += nodes;
        rest += nodes;
    }
    sum = normal(sum);
    sums[(long long)part.number * arcs + part.arc] = sum.high;
    lows[(long long)part.number * arcs + part.arc] = sum.low;
}

// Add sums double[shares, arcs] to total in their order. A share that goes on with the next launch is not yet added:
// where `unfinished`, its sum, the last one, is moved to sums[0].
extern "C" __global__ void add_shares(double* sums, double* __restrict__ total, int arcs, int shares, int unfinished) {
    const int arc = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (arc >= arcs) return;
    double sum = total[arc];
    const int finished = shares - unfinished;
    for (int share = 0; share < finished; ++share) sum += sums[(long long)share * arcs + arc];
    total[arc] = sum;
    if (unfinished) sums[arc] = sums[(long long)finished * arcs + arc];
}

// `add_shares` with twice the digits, to total + left, of all shares.
extern "C" __global__ void add_shares_twice(const double* __restrict__ sums, const double* __restrict__ lows,
                                            double* __restrict__ total, double* __restrict__ left, int arcs,
                                            int shares) {
    const int arc = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (arc >= arcs) return;
    Twice sum = {total[arc], left[arc]};
    for (int share = 0; share < shares; ++share)
        sum = plus(sum, {sums[(long long)share * arcs + arc], lows[(long long)share * arcs + arc]});
    sum = normal(sum);
    total[arc] = sum.high;
    left[arc] = sum.low;
}
