// Cycles of many experiments on one network: see reference.py, which is the specification, and steps.py, which goes about it in the same way.
//
// A thread owns every stride-th node. In a cycle it reads and writes what is its node's alone, but for what waits until a later one. Flits that
// will arrive are noted at the receiver's port and credits that will return at the sender's channel, in wheels with a slot for every cycle:
// always in another slot than that of this cycle, which the owner reads and empties. The packet that a flit is of is noted at once at
// the end of the receiver's queue, which is read when the flit is there. What messages wait for is counted down by atomics, and shows in the
// next cycle at the earliest. So the order of nodes within a cycle does not matter, and a cycle needs one barrier: that of the block where
// it simulates an experiment alone, the end of the launch where several do.
//
// Ports come before nodes: input port i of a node is i * nodes + node, channel p is p * nodes + node, so that threads of a warp read
// neighbours. VC v of them is that * vcs + v. Seen from its own node, an input VC is i * 16 + v and an output VC p * 16 + v; -1 = none.
// `turn` is the place behind the one that was last, from which on a round-robin looks.

typedef unsigned long long bits_t;
typedef unsigned short vcs_t;  // VCs as bits

// Of an input VC: front, out, count, moved as in outcome.State; flits of the front still to go; packets taken from its queue; when the
// route is known, or flits may go; of a head that asks, what `ask` found: allowed VCs << 16 | run << 8 | VC on which it needs no more + 2
struct Vc { int front, out, count, rest, moved, begins, due, asked; };
// Of an output VC: credits, the input VC that holds it, packets put into the queue at its end
struct Out { int credits, holder, ends; };
// Of a channel: VCs that are held; the turns of its allocations, of VCs and of the switch
struct Channel { int held, granted, sent; };
// Of a node: its source queue in `line`, from the first to behind the last; packets not generated yet, from the first to behind the last; of its
// messages those that only time keeps from being generated, by cycle and number, and those that have just become so; the turn of ejection;
// whether VC allocation may differ from that of the cycle before
struct Node { int taken, behind, coming, end, awaited, added, ejected, changed; };
struct Packet { int row, time, length, entered, delivered, stage, going, message; };
// Of a message: see task.Messages; its node; messages missing that it waits for, packets not delivered; when it is generated, once none is
// missing; the next one of the list that it is in; when it was generated, -1 = not yet
struct Message { int begin, packets, delay, node, missing, undelivered, ready, link, generated; };
// Of an input port, VCs: that hold a front; whose route is being found; whose head asks; whose grant is yet to take effect; whose flits can
// go; of whose front no flit has gone; emptied in the cycle before, with flits behind; and the turn
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

// What a thread sees: the network, one experiment, one of its nodes, and the cycle.
struct Router {
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

    __device__ void cycle() {
        credits_return();
        flits_arrive();
        generate();
        refill();
        find_routes();
        allocate_channels();
        start();
        allocate_switch();
    }

    // Note that a VC's flits can go, if they can.
    __device__ void ready(int i, int v) {
        Port& port = of_port[in(i)];
        const Vc& here = vc(i, v);
        const bool started = here.front >= 0 && !((port.routing | port.asking | port.granted) >> v & 1);
        if (!started || here.count == 0 || (here.out >= 0 && out(here.out).credits == 0)) return;
        port.able |= 1 << v;
        able_ports[node] |= bit(i);
    }

    __device__ void credits_return() {
        const bool heed = switching != WORMHOLE || adaptive;  // heads that ask look at credits
        vcs_t* const returned = credits + (long long)slot(t, credit_slots) * ports * nodes;
        for (int p = 0; p < ports; ++p) {
            bits_t from_vcs = returned[in(p)];
            if (!from_vcs) continue;
            returned[in(p)] = 0;
            if (heed) of_node[node].changed = 1;
            for (; from_vcs; from_vcs &= from_vcs - 1) {
                Out& there = out(p << 4 | lowest(from_vcs));
                there.credits += 1;
                if (there.credits == 1 && there.holder >= 0) ready(there.holder >> 4, there.holder & 15);
            }
        }
    }

    __device__ void flits_arrive() {
        vcs_t* const arrived = arrivals + (long long)slot(t, arrival_slots) * transit * nodes;
        for (int i = 0; i < transit; ++i) {
            bits_t to_vcs = arrived[in(i)];
            if (!to_vcs) continue;
            arrived[in(i)] = 0;
            for (; to_vcs; to_vcs &= to_vcs - 1) {
                const int v = lowest(to_vcs);
                Vc& here = vc(i, v);
                here.count += 1;
                count_flits(v, -1);
                if (here.front < 0) come_forward(i, v);
                else if (here.count == 1) ready(i, v);
            }
        }
    }

    // The next packet of a channel's VC, some of whose flits are here.
    __device__ void come_forward(int i, int v) {
        Vc& here = vc(i, v);
        const int packet = queue[((long long)in(i) * vcs + v) * places + (here.begins & (places - 1))];
        if (switching == STORE_AND_FORWARD && here.count < packets[packet].length && first_run(packet) >= 0) return;
        here.begins += 1;
        bring(i, v, packet);
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

    // What is generated in this cycle joins the source queue.
    __device__ void generate() {
        Node& here = of_node[node];
        if (has_messages) {
            file_added(here);
            for (; here.awaited >= 0 && messages[here.awaited].ready <= t; here.awaited = messages[here.awaited].link) {
                Message& message = messages[here.awaited];
                message.generated = t;
                for (int k = 0; k < message.packets; ++k) line[here.behind++] = message.begin + k;
            }
        } else {
            for (; here.coming < here.end && packets[here.coming].time <= t; ++here.coming) line[here.behind++] = here.coming;
        }
    }

    // Empty injection VCs take packets from the source queue; what it has no room for then is refused.
    __device__ void refill() {
        Node& here = of_node[node];
        if (here.taken == here.behind) return;
        for (int v = 0; v < vcs; ++v) {
            for (int i = transit; i < inputs; ++i) {
                if (here.taken == here.behind || of_port[in(i)].there >> v & 1) continue;
                const int packet = line[here.taken++];
                vc(i, v).count = packets[packet].length;
                bring(i, v, packet);
            }
        }
        if (source_queue < 0) return;
        for (; here.behind - here.taken > source_queue; --here.behind) {
            packets[line[here.behind - 1]].entered = REFUSED;
            atomicSub(undelivered, 1);
        }
    }

    // Messages that have been added come to their places among the awaited. Some may have been so in this cycle, by threads that
    // are ahead: they are generated in the next one at the earliest, and where they stand does not depend on when they came.
    __device__ void file_added(Node& here) {
        if (*(volatile int*)&here.added < 0) return;
        int message = atomicExch(&here.added, -1);
        __threadfence();
        while (message >= 0) {
            const int next = messages[message].link, ready = messages[message].ready;
            int* place = &here.awaited;
            while (*place >= 0 && (messages[*place].ready < ready || (messages[*place].ready == ready && *place < message))) {
                place = &messages[*place].link;
            }
            messages[message].link = *place;
            *place = message;
            message = next;
        }
    }

    // Those that wait for a message know from cycle `known` on that it was delivered. Of a message that waits for no other one any more the
    // cycle is known; a step, delivered then, at once tells those that wait for it: steps that are yet to do so are on a stack.
    __device__ void done(int message, int known) {
        for (int stack = -1;;) {
            for (long long i = after[message]; i < after[message + 1]; ++i) {
                const int other = successor[i];
                Message& there = messages[other];
                atomicMax(&there.ready, known < NEVER - there.delay ? known + there.delay : NEVER);
                __threadfence();  // whoever finds none missing finds the latest cycle, too
                if (atomicSub(&there.missing, 1) > 1) continue;
                __threadfence();
                if (there.packets == 0) {
                    there.link = stack;
                    stack = other;
                } else {
                    add(other);
                }
            }
            if (stack < 0) return;
            message = stack;
            stack = messages[message].link;
            known = messages[message].generated = *(volatile int*)&messages[message].ready;
        }
    }

    __device__ void add(int message) {
        int* const added = &of_node[messages[message].node].added;
        int before = *(volatile int*)added, found;
        for (;; before = found) {
            *(volatile int*)&messages[message].link = before;
            __threadfence();
            found = atomicCAS(added, before, message);
            if (found == before) return;
        }
    }

    // Packets behind those that have left come forward; heads whose route is known leave the network here, or ask for an output VC.
    __device__ void find_routes() {
        for (bits_t due = due_ports[node]; due; due &= due - 1) {
            const int i = lowest(due);
            Port& port = of_port[in(i)];
            for (bits_t waking = port.waking; waking; waking &= waking - 1) {
                const int v = lowest(waking);
                if (vc(i, v).front < 0) come_forward(i, v);
            }
            port.waking = 0;
            for (bits_t routing = port.routing; routing; routing &= routing - 1) {
                const int v = lowest(routing);
                if (vc(i, v).due > t) continue;
                port.routing &= ~(1 << v);
                ask(i, v);
            }
            if (!(port.routing | port.granted)) due_ports[node] &= ~bit(i);
        }
    }

    // The first run that has hops left, -1 = none.
    __device__ int first_run(int packet) const {
        for (int run = 0; run < runs; ++run) {
            if (left[(long long)packet * runs + run] > 0) return run;
        }
        return -1;
    }

    // The bit of a run, and the packet's bits after a hop of it.
    __device__ bits_t run_bit(int run, int d) const { return bit(memory == AXIS ? d >> 1 : memory == PATH ? 0 : run); }
    __device__ bits_t crossed_after(int packet, int run, int d, int stage) const {
        const bits_t before = memory == AXIS && packets[packet].stage != stage ? 0 : crossed[packet];
        return wrap[(long long)node * directions + d] ? before | run_bit(run, d) : before;
    }

    // See choices.choices.
    __device__ void ask(int i, int v) {
        Vc& here = vc(i, v);
        const int packet = here.front, run = first_run(packet);
        if (run < 0) {
            hold(i, v, -1);
            return;
        }
        const long long entry = (long long)packets[packet].row * runs + run;
        const int d = direction[entry], stage = phase[entry], rest = left[(long long)packet * runs + run];
        const signed char* const ends = low + 4 * stage;  // first VC and the one behind the last, of column 0, then of column 1
        const bool past = crossed_after(packet, run, d, stage) & run_bit(run, d), still = until[(long long)node * directions + d] < rest;
        int first = past || (memory == AHEAD && still), last = first;
        if (memory == REST) {
            first = last = !still;
        } else if (balanced && !past && !still) {
            if (rest == hops[entry]) last = 1;
            else if (ends[2] <= v && v < ends[3]) first = last = 1;
        }
        int allowed = 0;
        for (int column = first; column <= last; ++column) allowed |= (1 << ends[2 * column + 1]) - (1 << ends[2 * column]);
        const int keeps = !bubble ? ANY_VC : packets[packet].going == d ? v : NO_VC;
        here.asked = (int)((unsigned int)allowed << 16 | (unsigned int)run << 8 | (unsigned int)(keeps + 2));
        of_port[in(i)].asking |= 1 << v;
        asking_ports[node] |= bit(i);
        of_node[node].changed = 1;
    }

    __device__ void hold(int i, int v, int code) {
        vc(i, v).out = code;
        vc(i, v).due = t + vc_delay;
        of_port[in(i)].granted |= 1 << v;
        of_port[in(i)].fresh |= 1 << v;
        due_ports[node] |= bit(i);
    }

    // Grants that take effect in this cycle.
    __device__ void start() {
        for (bits_t due = due_ports[node]; due; due &= due - 1) {
            const int i = lowest(due);
            Port& port = of_port[in(i)];
            for (bits_t granted = port.granted; granted; granted &= granted - 1) {
                const int v = lowest(granted);
                if (vc(i, v).due > t) continue;
                port.granted &= ~(1 << v);
                ready(i, v);
            }
            if (!(port.routing | port.granted)) due_ports[node] &= ~bit(i);
        }
    }

    // Of the output VCs in `possible`, channel p's, the one that has room and the most credits, if it has more than `most`.
    // needs: the credits for VC `keeps` (any VC: ANY_VC), and for the others.
    __device__ void better(int p, bits_t possible, int keeps, int need, int need_else, int* most, int* best) const {
        for (possible &= ~(bits_t)of_channel[in(p)].held; possible; possible &= possible - 1) {
            const int v = lowest(possible), has = of_out[(long long)in(p) * vcs + v].credits;
            if (has >= (keeps == ANY_VC || keeps == v ? need : need_else) && has > *most) {
                *most = has;
                *best = p << 4 | v;
            }
        }
    }

    // The output VC that an asking head chooses (-1 = none), and the run of its hop.
    __device__ int choice(int i, int v, int* run) const {
        const Vc& here = vc(i, v);
        const int packet = here.front, length = packets[packet].length;
        const signed char* const ways = direction + (long long)packets[packet].row * runs;
        const signed char* const port = port_of + (long long)node * directions;
        int most = -1, best = -1;
        if (adaptive) {
            const bits_t above = bit(vcs) - bit(escape);
            const int room = switching == WORMHOLE ? buffer : length;
            for (int r = 0; r < runs; ++r) {
                const int before = best;
                if (left[(long long)packet * runs + r] > 0) better(port[ways[r]], above, ANY_VC, room, room, &most, &best);
                if (best != before) *run = r;
            }
            if (best >= 0) return best;
        }
        *run = here.asked >> 8 & 255;
        const int need = switching == WORMHOLE ? 0 : length;
        better(port[ways[*run]], (unsigned int)here.asked >> 16, (here.asked & 255) - 2, need, need + longest, &most, &best);
        return best;
    }

    __device__ void allocate_channels() {
        if (!of_node[node].changed) return;
        of_node[node].changed = 0;
        int winner[64];  // of every output port: its order << 10 | the input VC
        bits_t outputs = 0;
        int choosing = 0, run;
        const int all_vcs = inputs * vcs;
        for (bits_t asking = asking_ports[node]; asking; asking &= asking - 1) {
            const int i = lowest(asking);
            for (bits_t heads = of_port[in(i)].asking; heads; heads &= heads - 1) {
                const int v = lowest(heads), code = choice(i, v, &run);
                if (code < 0) continue;
                const int p = code >> 4;
                ++choosing;
                int order = i * vcs + v - of_channel[in(p)].granted;
                if (order < 0) order += all_vcs;
                if (transit_first && i >= transit) order += all_vcs;
                const int bid = order << 10 | i << 4 | v;
                if (!(outputs & bit(p)) || bid < winner[p]) winner[p] = bid;
                outputs |= bit(p);
            }
        }
        if (choosing > __popcll(outputs)) of_node[node].changed = 1;
        for (; outputs; outputs &= outputs - 1) {
            const int bid = winner[lowest(outputs)];
            grant(bid >> 4 & 63, bid & 15);
        }
    }

    // A head takes the output VC that it chooses, and its packet the hop.
    __device__ void grant(int i, int v) {
        int run = 0;
        const int code = choice(i, v, &run), packet = vc(i, v).front;  // nobody else takes a VC of the port that it takes one of
        const long long entry = (long long)packets[packet].row * runs + run;
        const int d = direction[entry], stage = phase[entry];
        Channel& channel = of_channel[in(code >> 4)];
        channel.held |= 1 << (code & 15);
        channel.granted = i * vcs + v + 1;
        out(code).holder = i << 4 | v;
        Port& port = of_port[in(i)];
        port.asking &= ~(1 << v);
        if (!port.asking) asking_ports[node] &= ~bit(i);
        crossed[packet] = crossed_after(packet, run, d, stage);
        packets[packet].stage = stage;
        packets[packet].going = d;
        left[(long long)packet * runs + run] -= 1;
        hold(i, v, code);
    }

    // Switch allocation, and what it sends.
    __device__ void allocate_switch() {
        if (!able_ports[node]) return;
        if (single) send_singly();
        else send_several();
    }

    __device__ int output(int i, int v) const {
        const int code = vc(i, v).out;
        return code < 0 ? ports : code >> 4;
    }
    __device__ int& turn_of(int output) const { return output == ports ? of_node[node].ejected : of_channel[in(output)].sent; }
    // Of the input ports that bid for an output, the next to be taken.
    __device__ int next_port(bits_t bids, int turn) const {
        const bits_t through = bids & (bit(transit) - 1);
        return from(transit_first && through ? through : bids, turn);
    }

    // No input port sends, and no channel takes, several flits a cycle.
    __device__ void send_singly() {
        bits_t able = able_ports[node], outputs = 0, clashes = 0;
        signed char wanted[64], chosen[64];  // by input port: the output, and the VC that it nominates
        for (bits_t rest = able; rest; rest &= rest - 1) {
            const int i = lowest(rest), v = from(of_port[in(i)].able, of_port[in(i)].turn), o = output(i, v);
            clashes |= outputs & bit(o);
            outputs |= bit(o);
            wanted[i] = (signed char)o;
            chosen[i] = (signed char)v;
        }
        for (bits_t rest = clashes; rest; rest &= rest - 1) able &= ~losers(able, lowest(rest), wanted);
        for (; able; able &= able - 1) {
            const int i = lowest(able), v = chosen[i], o = wanted[i];
            of_port[in(i)].turn = (vcs_t)(v + 1);
            if (!(clashes >> o & 1)) turn_of(o) = i + 1;
            send(i, v);
        }
    }

    // As bits, the input ports that nominate for an output and are not taken.
    __device__ bits_t losers(bits_t able, int output, const signed char* wanted) {
        bits_t bids = 0;
        for (; able; able &= able - 1) bids |= wanted[lowest(able)] == output ? able & -able : 0;
        const int turn = turn_of(output);
        for (int many = output == ports ? ejection : 1; bids && many > 0; --many) {
            const int taken = next_port(bids, turn);
            bids &= ~bit(taken);
            turn_of(output) = taken + 1;
        }
        return bids;
    }

    __device__ void send_several() {
        const bits_t able = able_ports[node];
        bits_t outputs = 0;
        vcs_t nominated[64], taken[64];  // by input port
        for (bits_t rest = able; rest; rest &= rest - 1) {
            const int i = lowest(rest);
            bits_t can = of_port[in(i)].able;
            nominated[i] = taken[i] = 0;
            for (int many = sending[in(i)]; can && many > 0; --many) {
                const int v = from(can, of_port[in(i)].turn);
                can &= ~bit(v);
                nominated[i] |= 1 << v;
                outputs |= bit(output(i, v));
            }
        }
        for (; outputs; outputs &= outputs - 1) {
            const int o = lowest(outputs), turn = turn_of(o);
            int many = o == ports ? ejection : width[in(o)];
            for (bits_t bids = able; bids && many > 0;) {
                const int i = next_port(bids, turn);
                bids &= ~bit(i);
                for (bits_t left_over = nominated[i]; left_over && many > 0;) {
                    const int v = from(left_over, of_port[in(i)].turn);
                    left_over &= ~bit(v);
                    if (output(i, v) != o) continue;
                    taken[i] |= 1 << v;
                    turn_of(o) = i + 1;
                    --many;
                }
            }
        }
        for (bits_t rest = able; rest; rest &= rest - 1) {
            const int i = lowest(rest), turn = of_port[in(i)].turn;
            for (bits_t going = taken[i]; going;) {
                const int v = from(going, turn);
                going &= ~bit(v);
                of_port[in(i)].turn = (vcs_t)(v + 1);
                send(i, v);
            }
        }
    }

    __device__ void send(int i, int v) {
        Vc& here = vc(i, v);
        Port& port = of_port[in(i)];
        const int packet = here.front, code = here.out;
        const bool fresh = port.fresh >> v & 1;
        here.rest -= 1;
        here.count -= 1;
        here.moved = t;
        const bool tail = here.rest == 0;
        bool more = !tail && here.count > 0;
        if (i < transit) {
            credits[(long long)slot(t + credit_delay, credit_slots) * ports * nodes + feed[in(i)]] |= 1 << v;
            count_flits(v, 1);
        } else {
            sums[(long long)vcs * nodes + node] += 1;
            if (fresh) packets[packet].entered = t;
        }
        if (code < 0) {
            sums[(long long)(vcs + 1) * nodes + node] += 1;
            if (tail) {
                packets[packet].delivered = t + switch_delay;
                atomicSub(undelivered, 1);
                const int message = packets[packet].message;
                if (message >= 0 && atomicSub(&messages[message].undelivered, 1) == 1) done(message, t + (switch_delay > 1 ? switch_delay : 1));
            }
        } else {
            const int c = in(code >> 4), w = code & 15;
            Out& there = out(code);
            there.credits -= 1;
            more = more && there.credits > 0;
            arrivals[(long long)slot(t + delay[c], arrival_slots) * transit * nodes + far[c]] |= 1 << w;
            if (t >= measure_from) flits[c] += 1;
            if (fresh) {
                queue[((long long)far[c] * vcs + w) * places + (there.ends & (places - 1))] = packet;
                there.ends += 1;
            }
            if (tail) {
                there.holder = -1;
                of_channel[c].held &= ~(1 << w);
                of_node[node].changed = 1;
            }
        }
        port.fresh &= ~(1 << v);
        if (tail) {
            here.front = here.out = -1;
            port.there &= ~(1 << v);
            if (i < transit && here.count > 0) {
                port.waking |= 1 << v;
                due_ports[node] |= bit(i);
            }
        }
        if (!more) {
            port.able &= ~(1 << v);
            if (!port.able) able_ports[node] &= ~bit(i);
        }
    }
};

// Cycles t .. stop - 1 of the experiments `running`, by `blocks` blocks each; several blocks: of one cycle. An experiment may end sooner,
// once undelivered[e], the number of its packets that are not delivered nor refused, is 0: nothing happens any more.
//
//   far, delay, width  int[ports, nodes]: input port at each channel's end (-1 = no channel), cycles to there, switch included; capacity
//   feed        int[transit, nodes]: channel of each input port, -1 = none; sending int[inputs, nodes]: VCs that may send in a cycle
//   until       int[nodes, directions], low signed char[phases, 2, 2]: see Task; port_of, wrap [nodes, directions]: see Wiring
//   direction, hops, phase  [rows, runs]: see simulate
//   longest     int[experiments]: longest packet
// and of every experiment
//   vcs Vc[inputs, nodes, v], outs Out[ports, nodes, v], channels Channel[ports, nodes], nodes Node[nodes], input_ports Port[inputs, nodes]
//   queue       int[transit, nodes, v, places]; places and slots are powers of 2
//   arrivals    vcs_t[arrival_slots, transit, nodes], credits vcs_t[credit_slots, ports, nodes]
//   busy        bits_t[3, nodes]: input ports with flits that can go, with heads that ask, with something due
//   flits       long long[ports, nodes]: sent since measure_from
//   sums        long long[v + 2, nodes]: flits in the buffers of VC v summed over cycles since then (as long as none is there); flits injected; ejected
// and of all packets, counted through all experiments
//   packets     Packet[.]; left short[., runs], crossed bits_t[.]: see Travel; line int[.]: source queues, each in the places of its node's packets
//   messages    Message[.], after long long[. + 1], successor int[.]: see task.Messages
extern "C" __launch_bounds__(512) __global__ void advance(
    const int* __restrict__ far, const int* __restrict__ delay, const int* __restrict__ width,
    const int* __restrict__ feed, const int* __restrict__ sending, const int* __restrict__ until,
    const signed char* __restrict__ low, const signed char* __restrict__ port_of, const unsigned char* __restrict__ wrap,
    const signed char* __restrict__ direction, const short* __restrict__ hops, const signed char* __restrict__ phase,
    const int* __restrict__ longest, int* vcs, int* outs, int* channels, int* nodes, unsigned short* input_ports, int* queue,
    unsigned short* arrivals, unsigned short* credits, unsigned long long* busy, long long* flits, long long* sums, int* packets, short* left,
    unsigned long long* crossed, int* line, int* messages, const long long* __restrict__ after, const int* __restrict__ successor, int* undelivered, int size, int ports, int inputs, int transit, int v, int directions, int runs, int escape,
    int buffer, int switching, int memory, int balanced, int adaptive, int bubble, int transit_first, int ejection, int single, int route_delay, int vc_delay,
    int switch_delay, int credit_delay, int source_queue, int measure_from, int has_messages, int arrival_slots, int credit_slots, int places, const int* __restrict__ running,
    int blocks, int t, int stop) {
    const long long e = running[blockIdx.x / blocks], wide = size;
    Router router = {
        size, ports, inputs, transit, v, directions, runs,
        escape, buffer, switching, memory, balanced, adaptive, bubble, transit_first, ejection, single,
        route_delay, vc_delay, switch_delay, credit_delay, source_queue, measure_from, arrival_slots, credit_slots, places, longest[e], has_messages,
        far, feed, delay, width, sending, until,
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
        undelivered + e,
        0, t};
    const int first = blockIdx.x % blocks * blockDim.x + threadIdx.x, stride = blocks * blockDim.x;
    for (; router.t < stop; ++router.t) {
        for (router.node = first; router.node < size; router.node += stride) router.cycle();
        if (!__syncthreads_or(*(volatile int*)router.undelivered > 0)) return;
    }
}
