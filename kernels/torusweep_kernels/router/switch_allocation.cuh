// Switch allocation and traversal.
struct SwitchAllocation : VcAllocation {
    __device__ void allocate_switch() {
        if (!able_ports()) return;
        if (single) send_singly();
        else send_several();
    }

    __device__ int output(int i, int v) const {
        const int code = vc(i, v).out;
        return code < 0 ? ports : code >> 4;
    }

    __device__ int& turn_of(int output) const {
        return output == ports ? self().ejected : channel(output).sent;
    }

    // The next input port in round-robin order of those that bid for an output.
    __device__ int next_port(bits_t bids, int turn) const {
        const bits_t through = bids & (bit(transit) - 1);
        return from(transit_first && through ? through : bids, turn);
    }

    // Where no input port sends, and no channel carries, more than one flit a cycle.
    __device__ void send_singly() {
        bits_t able = able_ports(), outputs = 0, clashes = 0;
        signed char wanted[64], chosen[64];  // by input port: the output, and the VC that it nominates
        for (bits_t rest = able; rest; rest &= rest - 1) {
            const int i = lowest(rest);
            const Port bits = port(i);
            const int v = from(bits.able, bits.turn), o = output(i, v);
            clashes |= outputs & bit(o);
            outputs |= bit(o);
            wanted[i] = (signed char)o;
            chosen[i] = (signed char)v;
        }
        for (bits_t rest = clashes; rest; rest &= rest - 1) able &= ~losers(able, lowest(rest), wanted);
        for (; able; able &= able - 1) {
            const int i = lowest(able), v = chosen[i], o = wanted[i];
            port(i).turn = (vcs_t)(v + 1);
            if (!(clashes >> o & 1)) turn_of(o) = i + 1;
            send(i, v);
        }
    }

    // Bits of the input ports that nominate a VC for this output, and are not taken.
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
        const bits_t able = able_ports();
        bits_t outputs = 0;
        vcs_t nominated[64], taken[64];  // by input port
        for (bits_t rest = able; rest; rest &= rest - 1) {
            const int i = lowest(rest);
            const Port bits = port(i);
            bits_t can = bits.able;
            nominated[i] = taken[i] = 0;
            for (int many = sending[in(i)]; can && many > 0; --many) {
                const int v = from(can, bits.turn);
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
                    const int v = from(left_over, port(i).turn);
                    left_over &= ~bit(v);
                    if (output(i, v) != o) continue;
                    taken[i] |= 1 << v;
                    turn_of(o) = i + 1;
                    --many;
                }
            }
        }
        for (bits_t rest = able; rest; rest &= rest - 1) {
            const int i = lowest(rest), turn = port(i).turn;
            for (bits_t going = taken[i]; going;) {
                const int v = from(going, turn);
                going &= ~bit(v);
                port(i).turn = (vcs_t)(v + 1);
                send(i, v);
            }
        }
    }

    __device__ void send(int i, int v) {
        Vc here = vc(i, v);
        Port bits = port(i);
        const int packet = here.front, code = here.out;
        const bool fresh = bits.fresh >> v & 1;
        here.rest -= 1;
        here.count -= 1;
        here.moved = t;
        const bool tail = here.rest == 0;
        bool more = !tail && here.count > 0;
        if (i < transit) {
            credits(t + credit_delay + back[in(i)])[feed[in(i)]] |= 1 << v;
            count_flits(v, 1);
        } else {
            sum(vcs) += 1;
            if (fresh) packets[packet].entered = t;
        }
        if (code < 0) {
            sum(vcs + 1) += 1;
            if (tail) deliver(packet);
        } else {
            const int p = code >> 4, w = code & 15, end = far[in(p)];
            Out there = out(p, w);
            there.credits -= 1;
            if (decisions) there.claimed -= 1;
            more = more && there.credits > 0;
            arrivals(t + delay[in(p)])[end] |= 1 << w;
            if (t >= measure_from) part<long long>(to_flits)[in(p)] += 1;
            if (fresh) {
                queued(end, w, there.ends) = packet;
                there.ends += 1;
            }
            if (tail) {
                there.holder = -1;
                channel(p).held &= ~(1 << w);
                self().changed = 1;
            }
            out(p, w) = there;
        }
        bits.fresh &= ~(1 << v);
        if (tail) {
            here.front = here.out = -1;
            bits.there &= ~(1 << v);
            if (i < transit && here.count > 0) {
                bits.waking |= 1 << v;
                due_ports() |= bit(i);
            }
        }
        if (!more) {
            bits.able &= ~(1 << v);
            if (!bits.able) able_ports() &= ~bit(i);
        }
        port(i) = bits;
        vc(i, v) = here;
    }

    // The last flit of a packet leaves the network.
    __device__ void deliver(int packet) {
        packets[packet].delivered = t + switch_delay;
        atomicSub(&experiment().undelivered, 1);
        const int message = packets[packet].message;
        if (message >= 0 && atomicSub(&messages[message].undelivered, 1) == 1)
            release_successors(message, t + (switch_delay > 1 ? switch_delay : 1));
    }
};
