// Cycles of many experiments on one network. reference.py is the specification; cycle.py works in the same way.
//
// A thread owns every stride-th node. In a cycle it reads and writes only its nodes' state, except what takes effect in
// a later cycle:
// - Flits and credits on their way go into timing wheels, flits at the receiver's port and credits at the sender's
//   channel. Their slot is never that of this cycle, which the owner reads and empties.
// - A flit's packet is appended at once to the receiver's queue, which is read when the flit has arrived.
// - The messages that a message waits for are counted down by atomics. This shows in the next cycle or later.
// The order of nodes within a cycle therefore does not matter, and a cycle needs one barrier: the block's, if one block
// simulates the experiment, otherwise the end of the launch.
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

// Simulate cycles t .. stop - 1 of the experiments `running`, `blocks` blocks each; with several blocks, one cycle. An
// experiment ends earlier once undelivered[e], the number of its packets neither delivered nor refused, is 0.
//
//   far, delay, width  int[ports, nodes]: input port at each channel's end (-1 = no channel), cycles to there, switch
//                      included; capacity
//   feed        int[transit, nodes]: channel of each input port, -1 = none; sending int[inputs, nodes]: VCs that may
//               send in a cycle; back int[inputs, nodes]: cycles that a credit takes back beside credit_delay
//   until       int[nodes, directions], low signed char[phases, 2, 2]: see Task; port_of, wrap [nodes, directions]: see
//               Wiring
//   direction, hops, phase  [rows, runs]: see simulate
//   longest     int[experiments]: longest packet
// Arrays of every experiment:
//   vcs Vc[inputs, nodes, v], outs Out[ports, nodes, v], channels Channel[ports, nodes], nodes Node[nodes], input_ports
//   Port[inputs, nodes]
//   queue       int[transit, nodes, v, places]; places and slots are powers of 2
//   arrivals    vcs_t[arrival_slots, transit, nodes], credits vcs_t[credit_slots, ports, nodes]
//   busy        bits_t[3, nodes]: input ports with VCs that can send, with heads that request, with something due
//   flits       long long[ports, nodes]: sent since measure_from
//   sums        long long[v + 2, nodes]: flits in the buffers of VC v, summed over cycles since then (when the buffers
//               are empty again); flits injected; flits ejected
//   claimed     int[ports, nodes, v]: flits that fronts are still to send: see state.State
//   seen        int[2, ports, nodes, v]: flits that occupy each output VC, at the end of an odd and of an even cycle.
//               Both are empty without detours
// Arrays of all experiments' packets and messages together:
//   packets     Packet[.]; left short[., runs], crossed bits_t[.]: see Travel; line int[.]: source queues, each in the
//               places of its node's packets
//   messages    Message[.], after long long[. + 1], successor int[.]: see task.Messages
//   detour      int[., decisions]: see task.Detours; passed signed char[.]: hops taken while a packet may take one, then -1
extern "C" __launch_bounds__(512) __global__ void advance(
    const int* __restrict__ far, const int* __restrict__ delay, const int* __restrict__ width,
    const int* __restrict__ feed, const int* __restrict__ sending, const int* __restrict__ back,
    const int* __restrict__ until,
    const signed char* __restrict__ low, const signed char* __restrict__ port_of,
    const unsigned char* __restrict__ wrap, const signed char* __restrict__ direction, const short* __restrict__ hops,
    const signed char* __restrict__ phase, const int* __restrict__ longest, int* vcs, int* outs, int* channels,
    int* nodes, unsigned short* input_ports, int* queue, unsigned short* arrivals, unsigned short* credits,
    unsigned long long* busy, long long* flits, long long* sums, int* claimed, int* seen, int* packets, short* left,
    unsigned long long* crossed, int* line, int* messages, const long long* __restrict__ after,
    const int* __restrict__ successor, const int* __restrict__ detour, signed char* passed, int* undelivered, int size, int ports, int inputs, int transit, int v,
    int directions, int runs, int escape, int buffer, int switching, int memory, int balanced, int adaptive,
    int bubble, int transit_first, int ejection, int single, int route_delay, int vc_delay, int switch_delay,
    int credit_delay, int source_queue, int measure_from, int has_messages, int decisions, int sees_all, int threshold, int arrival_slots, int credit_slots,
    int places, const int* __restrict__ running, int blocks, int t, int stop) {
    const long long e = running[blockIdx.x / blocks], wide = size;
    Cycle router;
    static_cast<View&>(router) = {
        size, ports, inputs, transit, v, directions, runs,
        escape, buffer, switching, memory, balanced, adaptive, bubble, transit_first, ejection, single,
        route_delay, vc_delay, switch_delay, credit_delay, source_queue, measure_from, arrival_slots, credit_slots,
        places, longest[e], has_messages, decisions, sees_all, threshold,
        far, feed, delay, width, sending, back, until,
        port_of, low, direction, phase,
        wrap,
        hops,
        after,
        successor,
        (Vc*)vcs + e * inputs * wide * v,
        (Out*)outs + e * ports * wide * v,
        (Port*)input_ports + e * inputs * wide,
        (Channel*)channels + e * ports * wide,
        (Node*)nodes + e * wide,
        (Packet*)packets,
        (Message*)messages,
        line,
        left,
        crossed,
        queue + e * transit * wide * v * places,
        arrivals + e * arrival_slots * transit * wide, credits + e * credit_slots * ports * wide,
        busy + 3 * e * wide, busy + (3 * e + 1) * wide, busy + (3 * e + 2) * wide,
        flits + e * ports * wide, sums + e * (v + 2) * wide,
        decisions ? claimed + e * ports * wide * v : claimed,
        decisions ? seen + 2 * e * ports * wide * v : seen,
        detour,
        passed,
        undelivered + e,
        0, t};
    const int first = blockIdx.x % blocks * blockDim.x + threadIdx.x, stride = blocks * blockDim.x;
    for (; router.t < stop; ++router.t) {
        for (router.node = first; router.node < size; router.node += stride) router.cycle();
        if (!__syncthreads_or(*(volatile int*)router.undelivered > 0)) return;
    }
}
