// The state of router.cu, and a thread's view of it. gpu_state.structure reads the structs' layout here.

typedef unsigned long long bits_t;
typedef unsigned short vcs_t;  // VCs as bits

// Records are aligned, so that a thread that reads several fields does so by one load of 16 bytes.
//
// An input VC. front, out, count, moved: see outcome.Snapshot. rest: flits of the front packet not yet sent. begins:
// packets taken from its queue. due: cycle in which the route is known, or flits may be sent. request: what
// `request_vc` found, allowed VCs << 16 | run << 8 | VC for which fewer credits suffice + 2
struct __align__(16) Vc { int front, out, count, rest, moved, begins, due, request; };
// An output VC: credits, the input VC that holds it, packets put into the queue at its end. claimed: see state.State
struct __align__(16) Out { int credits, holder, ends, claimed; };
// A channel: bits of its VCs that are held; the turns of VC allocation and of switch allocation
struct __align__(16) Channel { int held, granted, sent; };
// A node. taken .. behind - 1: its source queue, places in `line`. coming .. end - 1: packets not generated yet.
// awaited: list of the messages that wait only for time, by cycle and number. ejected: the turn of ejection. changed:
// its VC allocation may differ from the last cycle's. added: list of messages not yet sorted into `awaited`, to which
// other threads add
struct __align__(16) Node { int taken, behind, coming, end, awaited, ejected, changed, added; };
struct __align__(16) Packet { int row, time, length, entered, delivered, stage, going, message; };
// A message: see task.Messages. missing: messages that it still waits for. undelivered: its packets not yet delivered.
// ready: cycle of generation, once none is missing. link: the next one in its list. generated: when, -1 = not yet
struct Message { int begin, packets, delay, node, missing, undelivered, ready, link, generated; };
// An input port, bits of VCs. there: with a front. routing: in route computation. requesting: whose head requests a VC.
// granted: whose grant is yet to take effect. able: that can send. fresh: none of whose front's flits was sent. waking:
// whose front left in the last cycle, with flits behind. turn: of its nominations
struct __align__(16) Port { vcs_t there, routing, requesting, granted, able, fresh, waking, turn; };
// An experiment. undelivered: its packets neither delivered nor refused. longest: packet, in flits. Where several blocks
// simulate it, arrived: blocks at the barrier; begun: the cycle that they may begin, NEVER = none
struct __align__(16) Experiment { int undelivered, longest, arrived, begun; };

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

// An array that no launch changes.
template <class T>
struct Constant {
    const T* array;
    __device__ T operator[](long long i) const { return __ldg(array + i); }
    __device__ Constant operator+(long long i) const { return {array + i}; }
};

// The network and the router. See router.cu for arrays, task.Task and Router for numbers.
struct Network {
    Constant<int> far, feed, delay, width, sending, back, until;
    Constant<signed char> low, port_of, direction, phase;
    Constant<unsigned char> wrap;
    Constant<short> hops;
    int nodes, ports, inputs, transit, vcs, directions, runs;
    int escape, buffer, switching, memory, balanced, adaptive, bubble, transit_first, ejection, single;
    int route_delay, vc_delay, switch_delay, credit_delay;
    int source_queue, measure_from, has_messages, decisions, sees_all, threshold;
};

// Experiments on the device together: their states, one after the other, and their packets and messages. An
// experiment's state takes so many bytes; to_…: where an array of it begins.
struct Round {
    unsigned char* states;
    Packet* packets;
    Message* messages;
    int* line;
    short* left;
    bits_t* crossed;
    signed char* passed;
    Constant<long long> after;
    Constant<int> successor, detour;
    long long bytes, to_experiment, to_vcs, to_outs, to_input_ports, to_channels, to_nodes, to_queue, to_arrivals;
    long long to_credits, to_busy, to_flits, to_sums, to_seen;
    int arrival_slots, credit_slots, places;
};

struct __align__(16) Piece { int words[4]; };
// Copy so many bytes, a multiple of 16; every thread of a block the same pieces each time.
__device__ inline void copy_pieces(unsigned char* to, const unsigned char* from, long long bytes) {
    for (int i = threadIdx.x; i < bytes / (int)sizeof(Piece); i += blockDim.x) ((Piece*)to)[i] = ((const Piece*)from)[i];
}

// What a thread reads and writes: the network, one experiment's state, one of its nodes, the cycle.
struct View : Network, Round {
    unsigned char* state;
    int node, t;

    template <class T>
    __device__ T* part(long long begin) const { return (T*)(state + begin); }
    __device__ int in(int i) const { return i * nodes + node; }
    __device__ Experiment& experiment() const { return *part<Experiment>(to_experiment); }
    __device__ Vc& vc(int i, int v) const { return part<Vc>(to_vcs)[(long long)in(i) * vcs + v]; }
    __device__ Out& out(int p, int v) const { return part<Out>(to_outs)[(long long)in(p) * vcs + v]; }
    __device__ Out& out(int code) const { return out(code >> 4, code & 15); }
    __device__ Port& port(int i) const { return part<Port>(to_input_ports)[in(i)]; }
    __device__ Channel& channel(int p) const { return part<Channel>(to_channels)[in(p)]; }
    __device__ Node& self() const { return node_at(node); }
    __device__ Node& node_at(int other) const { return part<Node>(to_nodes)[other]; }
    __device__ bits_t& able_ports() const { return part<bits_t>(to_busy)[node]; }
    __device__ bits_t& requesting_ports() const { return part<bits_t>(to_busy)[nodes + node]; }
    __device__ bits_t& due_ports() const { return part<bits_t>(to_busy)[2ll * nodes + node]; }
    // Flits and credits that arrive in a cycle, by port.
    __device__ vcs_t* arrivals(int cycle) const {
        return part<vcs_t>(to_arrivals) + (long long)(cycle & (arrival_slots - 1)) * transit * nodes;
    }
    __device__ vcs_t* credits(int cycle) const {
        return part<vcs_t>(to_credits) + (long long)(cycle & (credit_slots - 1)) * ports * nodes;
    }
    __device__ int& queued(int port, int v, int number) const {
        return part<int>(to_queue)[((long long)port * vcs + v) * places + (number & (places - 1))];
    }
    __device__ long long& sum(int which) const { return part<long long>(to_sums)[(long long)which * nodes + node]; }
    __device__ void count_flits(int v, int sign) const { sum(v) += sign * (t > measure_from ? t : measure_from); }

    // Mark a VC as able to send, if it is.
    __device__ void ready(int i, int v) {
        const Port bits = port(i);
        const Vc here = vc(i, v);
        const bool started = here.front >= 0 && !((bits.routing | bits.requesting | bits.granted) >> v & 1);
        if (!started || here.count == 0 || (here.out >= 0 && out(here.out).credits == 0)) return;
        port(i).able = (vcs_t)(bits.able | 1 << v);
        able_ports() |= bit(i);
    }

    // Put a packet at the front of a VC, and begin its route computation.
    __device__ void begin_routing(int i, int v, int packet) {
        Vc& here = vc(i, v);
        here.front = packet;
        here.moved = t;
        here.rest = packets[packet].length;
        here.due = t + route_delay;
        port(i).there |= 1 << v;
        port(i).routing |= 1 << v;
        due_ports() |= bit(i);
    }

    // The first run that has hops left, -1 = none.
    __device__ int first_run(int packet) const {
        for (int run = 0; run < runs; ++run) {
            if (left[(long long)packet * runs + run] > 0) return run;
        }
        return -1;
    }
};
