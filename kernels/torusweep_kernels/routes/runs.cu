// The changes of flow along the lines of packets' routes: see lines.py; cpu.py does the same on the CPU.
//
//   place   unsigned int[nodes, directions, 2]: the slot of a node in a direction, and the hops from there to the slot
//           behind its line
//   node    unsigned int[slots]: the node in a slot; nodes or more = the line ends here
//   change  unsigned long long[groups, slots], whose prefix sums are the flows; subtraction is addition modulo 2^64
//   first   the lowest number of a packet whose route takes a missing direction
// Packet b is of group (remainder + b) modulo groups.
extern "C" __global__ void follow(const unsigned int* __restrict__ place, const unsigned int* __restrict__ node,
                                  const int* __restrict__ start, const int* __restrict__ row,
                                  const signed char* __restrict__ direction, const short* __restrict__ hops,
                                  const long long* __restrict__ amount, int nodes, int directions, int runs, int stride,
                                  int packets, int groups, int remainder, int slots, unsigned long long* change,
                                  int* first) {
    const long long threads = (long long)gridDim.x * blockDim.x;
    for (long long packet = (long long)blockIdx.x * blockDim.x + threadIdx.x; packet < packets; packet += threads) {
        unsigned int at = (unsigned int)start[packet];
        unsigned long long* const own =
            change + ((unsigned int)remainder + (unsigned int)packet) % (unsigned int)groups * (long long)slots;
        const unsigned long long each = (unsigned long long)amount[packet * stride];
        for (long long run = (long long)row[packet] * runs, end = run + runs; run < end && at < (unsigned int)nodes;
             ++run) {
            unsigned int left = (unsigned int)hops[run];
            while (left > 0 && at < (unsigned int)nodes) {
                const long long entry = 2 * ((long long)at * directions + direction[run]);
                const unsigned int slot = place[entry], rest = place[entry + 1], steps = left < rest ? left : rest;
                atomicAdd(own + slot, each);
                atomicAdd(own + slot + steps, 0 - each);
                at = node[slot + steps];
                left -= steps;
            }
        }
        if (at >= (unsigned int)nodes) atomicMin(first, (int)packet);
    }
}
