// Cycles of many experiments on one network. reference.py is the specification; cycle.py works in the same way.
//
// A thread owns every stride-th node. In a cycle it reads and writes only its nodes' state, except what takes effect in
// a later cycle:
// - Flits and credits on their way go into timing wheels, flits at the receiver's port and credits at the sender's
//   channel. Their slot is never that of this cycle, which the owner reads and empties.
// - A flit's packet is appended at once to the receiver's queue, which is read when the flit has arrived.
// - The messages that a message waits for are counted down by atomics. This shows in the next cycle or later.
// The order of nodes within a cycle therefore does not matter, and a cycle needs one barrier: the block's, if one block
// simulates the experiment, otherwise one of the experiment's blocks, which all run at the same time.
//
// Ports come before nodes: input port i of a node is i * nodes + node, channel p is p * nodes + node. The threads of a
// warp then read neighbouring words. Their VC v is that number * vcs + v. Seen from its own node, an input VC is
// i * 16 + v and an output VC p * 16 + v; -1 = none. A `turn` is the place at which a round-robin search begins, one
// after the last winner.

#include "records.cuh"
#include "sources.cuh"
#include "detours.cuh"
#include "vc_allocation.cuh"
#include "switch_allocation.cuh"
#include "cycle.cuh"

// Simulate cycles t .. stop - 1 of the `number` experiments `running`. As many blocks as the grid has for each of them
// work on an experiment; if there are several, the launch is a cooperative one. If the grid has fewer blocks than
// experiments, a block simulates one after another. An experiment ends earlier once all its packets are delivered or
// refused.
//
// advance_in_shared works on copies of the states in shared memory, of round.bytes; a block for each experiment. It is
// compiled apart, so that the compiler knows where the states are.
//
// Network:
//   far, delay, width  int[ports, nodes]: input port at each channel's end (-1 = no channel), cycles to there, switch
//                      included; capacity
//   feed        int[transit, nodes]: channel of each input port, -1 = none; sending int[inputs, nodes]: VCs that may
//               send in a cycle; back int[inputs, nodes]: cycles that a credit takes back beside credit_delay
//   until       int[nodes, directions], low signed char[phases, 2, 2]: see Task; port_of, wrap [nodes, directions]: see
//               Wiring
//   direction, hops, phase  [rows, runs]: see simulate
// State of every experiment, in this order:
//   experiment Experiment[1], vcs Vc[inputs, nodes, v], outs Out[ports, nodes, v], channels Channel[ports, nodes],
//   nodes Node[nodes], input_ports Port[inputs, nodes]
//   queue       int[transit, nodes, v, places]; places and slots are powers of 2
//   arrivals    vcs_t[arrival_slots, transit, nodes], credits vcs_t[credit_slots, ports, nodes]
//   busy        bits_t[3, nodes]: input ports with VCs that can send, with heads that request, with something due
//   flits       long long[ports, nodes]: sent since measure_from
//   sums        long long[v + 2, nodes]: flits in the buffers of VC v, summed over cycles since then (when the buffers
//               are empty again); flits injected; flits ejected
//   seen        int[2, ports, nodes, v]: flits that occupy each output VC, at the end of an odd and of an even cycle;
//               empty without detours
// Arrays of all experiments' packets and messages together:
//   packets     Packet[.]; left short[., runs], crossed bits_t[.]: see Travel; line int[.]: source queues, each in the
//               places of its node's packets
//   messages    Message[.], after long long[. + 1], successor int[.]: see task.Messages
//   detour      int[., decisions]: see task.Detours; passed signed char[.]: hops taken while a packet may take one, then -1
template <bool IN_SHARED>
__device__ inline void simulate(const Network& network, const Round& round, const int* running, int number, int t,
                                int stop, unsigned char* room) {
    const int grid = gridDim.x, share = !IN_SHARED && grid > number ? grid / number : 1;  // blocks of an experiment
    const int first = blockIdx.x % share * blockDim.x + threadIdx.x, stride = share * blockDim.x;
    Cycle router;
    static_cast<Network&>(router) = network;
    static_cast<Round&>(router) = round;
    for (int k = blockIdx.x / share; k < number; k += grid / share) {
        unsigned char* const state = round.states + running[k] * round.bytes;
        router.state = IN_SHARED ? room : state;
        if (IN_SHARED) {
            copy_pieces(room, state, round.bytes);
            __syncthreads();
        }
        for (router.t = t; router.t < stop; ++router.t) {
            for (router.node = first; router.node < network.nodes; router.node += stride) router.cycle();
            if (!router.goes_on(share)) break;
        }
        if (IN_SHARED) copy_pieces(state, room, round.bytes);  // after the last cycle's barrier
    }
}

extern "C" __launch_bounds__(512, 1) __global__ void advance(const Network network, const Round round,
                                                          const int* __restrict__ running, int number, int t,
                                                          int stop) {
    simulate<false>(network, round, running, number, t, stop, nullptr);
}

extern "C" __launch_bounds__(512, 1) __global__ void advance_in_shared(const Network network, const Round round,
                                                                    const int* __restrict__ running, int number,
                                                                    int t, int stop) {
    extern __shared__ __align__(16) unsigned int room[];
    simulate<true>(network, round, running, number, t, stop, (unsigned char*)room);
}
