// The state of router.cu, and a thread's view of it.

typedef unsigned long long bits_t;
typedef unsigned short vcs_t;  // VCs as bits

// An input VC. front, out, count, moved: see outcome.Snapshot. rest: flits of the front packet not yet sent. begins:
// packets taken from its queue. due: cycle in which the route is known, or flits may be sent. request: what
// `request_vc` found, allowed VCs << 16 | run << 8 | VC for which fewer credits suffice + 2
struct Vc { int front, out, count, rest, moved, begins, due, request; };
// An output VC: credits, the input VC that holds it, packets put into the queue at its end
struct Out { int credits, holder, ends; };
// A channel: bits of its VCs that are held; the turns of VC allocation and of switch allocation
struct Channel { int held, granted, sent; };
// A node. taken .. behind - 1: its source queue, places in `line`. coming .. end - 1: packets not generated yet.
// awaited: list of the messages that wait only for time, by cycle and number. added: list of messages not yet sorted
// into it. ejected: the turn of ejection. changed: its VC allocation may differ from the last cycle's
struct Node { int taken, behind, coming, end, awaited, added, ejected, changed; };
struct Packet { int row, time, length, entered, delivered, stage, going, message; };
// A message: see task.Messages. missing: messages that it still waits for. undelivered: its packets not yet delivered.
// ready: cycle of generation, once none is missing. link: the next one in its list. generated: when, -1 = not yet
struct Message { int begin, packets, delay, node, missing, undelivered, ready, link, generated; };
// An input port, bits of VCs. there: with a front. routing: in route computation. requesting: whose head requests a VC.
// granted: whose grant is yet to take effect. able: that can send. fresh: none of whose front's flits was sent. waking:
// whose front left in the last cycle, with flits behind. turn: of its nominations
struct Port { vcs_t there, routing, requesting, granted, able, fresh, waking, turn; };

enum { WORMHOLE, CUT_THROUGH, STORE_AND_FORWARD };
enum { RUN, AXIS, PATH, AHEAD, REST };
enum { REFUSED = -2, NEVER = 0x7fffffff };
#define ANY_VC -2
#define NO_VC -1

__device__ inline int lowest(bits_t word) { return __ffsll((long long)word) - 1; }
// The first set bit of a word that is not 0, in round-robin order from `turn` on.
__device__ inline int from(bits_t word, int turn) {
    const bits_t behind = word >> turn;
    return behind ? turn + lowest(behind) : lowest(word);
}
__device__ inline bits_t bit(int place) { return 1ull << place; }

// What a thread reads and writes: the network, one experiment, one of its nodes, the cycle.
struct View {
    int nodes, ports, inputs, transit, vcs, directions, runs;
    int escape, buffer, switching, memory, balanced, adaptive, bubble, transit_first, ejection, single;
    int route_delay, vc_delay, switch_delay, credit_delay, source_queue, measure_from, arrival_slots, credit_slots,
        places, longest, has_messages, decisions, sees_all, threshold;
    const int *far, *feed, *delay, *width, *sending, *back, *until;
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
    bits_t *able_ports, *requesting_ports, *due_ports;
    long long *flits, *sums;
    int *claimed, *seen;
    const int* detour;
    signed char* passed;
    int* undelivered;
    int node, t;

    __device__ int in(int i) const { return i * nodes + node; }
    __device__ Vc& vc(int i, int v) const { return of_vc[(long long)in(i) * vcs + v]; }
    __device__ Out& out(int code) const { return of_out[(long long)in(code >> 4) * vcs + (code & 15)]; }
    __device__ int slot(int cycle, int slots) const { return cycle & (slots - 1); }
    __device__ void count_flits(int v, int sign) const {
        sums[(long long)v * nodes + node] += sign * (t > measure_from ? t : measure_from);
    }

    // Mark a VC as able to send, if it is.
    __device__ void ready(int i, int v) {
        Port& port = of_port[in(i)];
        const Vc& here = vc(i, v);
        const bool started = here.front >= 0 && !((port.routing | port.requesting | port.granted) >> v & 1);
        if (!started || here.count == 0 || (here.out >= 0 && out(here.out).credits == 0)) return;
        port.able |= 1 << v;
        able_ports[node] |= bit(i);
    }

    // Put a packet at the front of a VC, and begin its route computation.
    __device__ void begin_routing(int i, int v, int packet) {
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
