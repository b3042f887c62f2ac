// VC allocation: heads are promoted to the front of their VC, request output VCs, and are granted them (choices.py).
struct VcAllocation : Detours {
    // Promote the next packet of a channel's VC to its front; some of its flits have arrived.
    __device__ void promote_head(int i, int v) {
        Vc& here = vc(i, v);
        const int packet = queued(in(i), v, here.begins);
        if (switching == STORE_AND_FORWARD && here.count < packets[packet].length && first_run(packet) >= 0) return;
        here.begins += 1;
        begin_routing(i, v, packet);
    }

    // Promote packets behind those that have left. Eject heads that have arrived; let others request an output VC.
    __device__ void find_routes() {
        for (bits_t due = due_ports(); due; due &= due - 1) {
            const int i = lowest(due);
            Port& bits = port(i);
            for (bits_t waking = bits.waking; waking; waking &= waking - 1) {
                const int v = lowest(waking);
                if (vc(i, v).front < 0) promote_head(i, v);
            }
            bits.waking = 0;
            for (bits_t routing = bits.routing; routing; routing &= routing - 1) {
                const int v = lowest(routing);
                if (vc(i, v).due > t) continue;
                bits.routing &= ~(1 << v);
                request_vc(i, v);
            }
            if (!(bits.routing | bits.granted)) due_ports() &= ~bit(i);
        }
    }

    // The bit of a run, and the packet's bits after a hop of it.
    __device__ bits_t run_bit(int run, int d) const { return bit(memory == AXIS ? d >> 1 : memory == PATH ? 0 : run); }

    __device__ bits_t crossed_after(int packet, int run, int d, int stage) const {
        const bits_t before = memory == AXIS && packets[packet].stage != stage ? 0 : crossed[packet];
        return wrap[(long long)node * directions + d] ? before | run_bit(run, d) : before;
    }

    // See choices.choices.
    __device__ void request_vc(int i, int v) {
        Vc& here = vc(i, v);
        const int packet = here.front;
        if (decisions) choose_route(packet);
        const int run = first_run(packet);
        if (run < 0) {
            hold_vc(i, v, -1);
            return;
        }
        const long long entry = (long long)packets[packet].row * runs + run;
        const int d = direction[entry], stage = phase[entry], rest = left[(long long)packet * runs + run];
        const Constant<signed char> ends = low + 4 * stage;  // first VC and end, of column 0, then of column 1
        const bool past = crossed_after(packet, run, d, stage) & run_bit(run, d),
                   still = until[(long long)node * directions + d] < rest;
        int first = past || (memory == AHEAD && still), last = first;
        if (memory == REST) {
            first = last = !still;
        } else if (balanced && !past && !still) {
            if (rest == hops[entry]) last = 1;
            else if (ends[2] <= v && v < ends[3]) first = last = 1;
        }
        int allowed = 0;
        for (int column = first; column <= last; ++column)
            allowed |= (1 << ends[2 * column + 1]) - (1 << ends[2 * column]);
        if (decisions) {
            const int p = port_of[(long long)node * directions + d];
            out(p, lowest(allowed)).claimed += here.rest;
        }
        const int keeps = !bubble ? ANY_VC : packets[packet].going == d ? v : NO_VC;
        here.request = (int)((unsigned int)allowed << 16 | (unsigned int)run << 8 | (unsigned int)(keeps + 2));
        port(i).requesting |= 1 << v;
        requesting_ports() |= bit(i);
        self().changed = 1;
    }

    __device__ void hold_vc(int i, int v, int code) {
        vc(i, v).out = code;
        vc(i, v).due = t + vc_delay;
        port(i).granted |= 1 << v;
        port(i).fresh |= 1 << v;
        due_ports() |= bit(i);
    }

    // Activate the grants that take effect in this cycle.
    __device__ void activate_grants() {
        for (bits_t due = due_ports(); due; due &= due - 1) {
            const int i = lowest(due);
            Port& bits = port(i);
            for (bits_t granted = bits.granted; granted; granted &= granted - 1) {
                const int v = lowest(granted);
                if (vc(i, v).due > t) continue;
                bits.granted &= ~(1 << v);
                ready(i, v);
            }
            if (!(bits.routing | bits.granted)) due_ports() &= ~bit(i);
        }
    }

    // The VC of channel p in `possible` that has room and the most credits, then the most hops left, if it exceeds the
    // best one so far. need: credits for VC `keeps` (ANY_VC: for every VC); need_else: for the others.
    __device__ void better(int p, bits_t possible, int keeps, int need, int need_else, int far, long long* most,
                           int* best) const {
        for (possible &= ~(bits_t)channel(p).held; possible; possible &= possible - 1) {
            const int v = lowest(possible), has = out(p, v).credits;
            const long long score = (long long)has << 16 | far;
            if (has >= (keeps == ANY_VC || keeps == v ? need : need_else) && score > *most) {
                *most = score;
                *best = p << 4 | v;
            }
        }
    }

    // The output VC that a requesting head chooses (-1 = none), and the run of its hop.
    __device__ int choice(int i, int v, int* run) const {
        const Vc here = vc(i, v);
        const int packet = here.front, length = packets[packet].length;
        const Constant<signed char> ways = direction + (long long)packets[packet].row * runs,
                                    port = port_of + (long long)node * directions;
        long long most = -1;
        int best = -1;
        if (adaptive) {
            const bits_t above = bit(vcs) - bit(escape);
            const int room = switching == WORMHOLE ? buffer : length;
            for (int r = 0; r < runs; ++r) {
                const long long before = most;
                const int far = left[(long long)packet * runs + r];
                if (far > 0) better(port[ways[r]], above, ANY_VC, room, room, far, &most, &best);
                if (most != before) *run = r;
            }
            if (best >= 0) return best;
        }
        *run = here.request >> 8 & 255;
        const int need = switching == WORMHOLE ? 0 : length;
        better(port[ways[*run]], (unsigned int)here.request >> 16, (here.request & 255) - 2, need, need + experiment().longest, 0,
               &most, &best);
        return best;
    }

    __device__ void allocate_vcs() {
        if (!self().changed) return;
        self().changed = 0;
        int winner[64];  // for each output port: place in round-robin order << 10 | input VC
        bits_t outputs = 0;
        int choosing = 0, run;
        const int all_vcs = inputs * vcs;
        for (bits_t requesting = requesting_ports(); requesting; requesting &= requesting - 1) {
            const int i = lowest(requesting);
            for (bits_t heads = port(i).requesting; heads; heads &= heads - 1) {
                const int v = lowest(heads), code = choice(i, v, &run);
                if (code < 0) continue;
                const int p = code >> 4;
                ++choosing;
                int order = i * vcs + v - channel(p).granted;
                if (order < 0) order += all_vcs;
                if (transit_first && i >= transit) order += all_vcs;
                const int bid = order << 10 | i << 4 | v;
                if (!(outputs & bit(p)) || bid < winner[p]) winner[p] = bid;
                outputs |= bit(p);
            }
        }
        if (choosing > __popcll(outputs)) self().changed = 1;
        for (; outputs; outputs &= outputs - 1) {
            const int bid = winner[lowest(outputs)];
            grant(bid >> 4 & 63, bid & 15);
        }
    }

    // Give a head the output VC that it chooses; its packet takes the hop.
    __device__ void grant(int i, int v) {
        int run = 0;
        const int code = choice(i, v, &run), p = code >> 4;  // no other thread takes a VC of this port
        const Vc here = vc(i, v);
        const int packet = here.front;
        const long long entry = (long long)packets[packet].row * runs + run;
        const int d = direction[entry], stage = phase[entry];
        if (decisions) {
            out(p, lowest((unsigned int)here.request >> 16)).claimed -= here.rest;
            out(code).claimed += here.rest;
        }
        channel(p).held |= 1 << (code & 15);
        channel(p).granted = i * vcs + v + 1;
        out(code).holder = i << 4 | v;
        port(i).requesting &= ~(1 << v);
        if (!port(i).requesting) requesting_ports() &= ~bit(i);
        crossed[packet] = crossed_after(packet, run, d, stage);
        packets[packet].stage = stage;
        packets[packet].going = d;
        left[(long long)packet * runs + run] -= 1;
        hold_vc(i, v, code);
    }
};
