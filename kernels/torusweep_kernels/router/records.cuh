// What router.cu keeps, and what a thread sees of it.

typedef unsigned long long bits_t;
typedef unsigned short vcs_t;  // VCs as bits

// Of an input VC: front, out, count, moved as in outcome.State; flits of the front still to go; packets taken from its
// queue; when the route is known, or flits may go; of a head that asks, what `ask` found: allowed VCs << 16 | run << 8
// | VC on which it needs no more + 2
struct Vc { int front, out, count, rest, moved, begins, due, asked; };
// Of an output VC: credits, the input VC that holds it, packets put into the queue at its end
struct Out { int credits, holder, ends; };
// Of a channel: VCs that are held; the turns of its allocations, of VCs and of the switch
struct Channel { int held, granted, sent; };
// Of a node: its source queue in `line`, from the first to behind the last; packets not generated yet, from the first
// to behind the last; of its messages those that only time keeps from being generated, by cycle and number, and those
// that have just become so; the turn of ejection; whether VC allocation may differ from that of the cycle before
struct Node { int taken, behind, coming, end, awaited, added, ejected, changed; };
struct Packet { int row, time, length, entered, delivered, stage, going, message; };
// Of a message: see task.Messages; its node; messages missing that it waits for, packets not delivered; when it is
// generated, once none is missing; the next one of the list that it is in; when it was generated, -1 = not yet
struct Message { int begin, packets, delay, node, missing, undelivered, ready, link, generated; };
// Of an input port, VCs: that hold a front; whose route is being found; whose head asks; whose grant is yet to take
// effect; whose flits can go; of whose front no flit has gone; emptied in the cycle before, with flits behind; and the
// turn
struct Port { vcs_t there, routing, asking, granted, able, fresh, waking, turn; };

enum { WORMHOLE, CUT_THROUGH, STORE_AND_FORWARD };
enum { RUN, AXIS, PATH, AHEAD, REST };
enum { REFUSED = -2, NEVER = 0x7fffffff };
#define ANY_VC -2
#define NO_VC -1

__device__ inline int lowest(bits_t word) { return __ffsll((long long)word) - 1; }
// The first bit of a word that is not 0, in round-robin order from `turn` on.
__device__ inline int from(bits_t word, int turn) {
    const bits_t behind = word >> turn;
    return behind ? turn + lowest(behind) : lowest(word);
}
__device__ inline bits_t bit(int place) { return 1ull << place; }

// The network, one experiment, one of its nodes, and the cycle.
struct Sight {
    int nodes, ports, inputs, transit, vcs, directions, runs;
    int escape, buffer, switching, memory, balanced, adaptive, bubble, transit_first, ejection, single;
    int route_delay, vc_delay, switch_delay, credit_delay, source_queue, measure_from, arrival_slots, credit_slots, places, longest, has_messages;
    const int *far, *feed, *delay, *width, *sending, *until;
    const signed char *port_of, *low, *direction, *phase;
    const unsigned char* wrap;
    const short* hops;
    const long long* after;
    const int* successor;
    Vc* of_vc;
    Out* of_out;
    Port* of_port;
    Channel* of_channel;
    Node* of_node;
    Packet* packets;
    Message* messages;
    int* line;
    short* left;
    bits_t* crossed;
    int* queue;
    vcs_t *arrivals, *credits;
    bits_t *able_ports, *asking_ports, *due_ports;
    long long *flits, *sums;
    int* undelivered;
    int node, t;

    __device__ int in(int i) const { return i * nodes + node; }
    __device__ Vc& vc(int i, int v) const { return of_vc[(long long)in(i) * vcs + v]; }
    __device__ Out& out(int code) const { return of_out[(long long)in(code >> 4) * vcs + (code & 15)]; }
    __device__ int slot(int cycle, int slots) const { return cycle & (slots - 1); }
    __device__ void count_flits(int v, int sign) const { sums[(long long)v * nodes + node] += sign * (t > measure_from ? t : measure_from); }

    // Note that a VC's flits can go, if they can.
    __device__ void ready(int i, int v) {
        Port& port = of_port[in(i)];
        const Vc& here = vc(i, v);
        const bool started = here.front >= 0 && !((port.routing | port.asking | port.granted) >> v & 1);
        if (!started || here.count == 0 || (here.out >= 0 && out(here.out).credits == 0)) return;
        port.able |= 1 << v;
        able_ports[node] |= bit(i);
    }

    __device__ void bring(int i, int v, int packet) {
        Vc& here = vc(i, v);
        here.front = packet;
        here.moved = t;
        here.rest = packets[packet].length;
        here.due = t + route_delay;
        of_port[in(i)].there |= 1 << v;
        of_port[in(i)].routing |= 1 << v;
        due_ports[node] |= bit(i);
    }

    // The first run that has hops left, -1 = none.
    __device__ int first_run(int packet) const {
        for (int run = 0; run < runs; ++run) {
            if (left[(long long)packet * runs + run] > 0) return run;
        }
        return -1;
    }
};
