// Switch allocation and traversal.
struct SwitchAllocation : VcAllocation {
    __device__ void allocate_switch() {
        if (!able_ports[node]) return;
        if (single) send_singly();
        else send_several();
    }

    __device__ int output(int i, int v) const {
        const int code = vc(i, v).out;
        return code < 0 ? ports : code >> 4;
    }

    __device__ int& turn_of(int output) const {
        return output == ports ? of_node[node].ejected : of_channel[in(output)].sent;
    }

    // The next input port in round-robin order of those that bid for an output.
    __device__ int next_port(bits_t bids, int turn) const {
        const bits_t through = bids & (bit(transit) - 1);
        return from(transit_first && through ? through : bids, turn);
    }

    // Where no input port sends, and no channel carries, more than one flit a cycle.
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
            const int due = slot(t + credit_delay + back[in(i)], credit_slots);
            credits[(long long)due * ports * nodes + feed[in(i)]] |= 1 << v;
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
                if (message >= 0 && atomicSub(&messages[message].undelivered, 1) == 1)
                    release_successors(message, t + (switch_delay > 1 ? switch_delay : 1));
            }
        } else {
            const int c = in(code >> 4), w = code & 15;
            Out& there = out(code);
            there.credits -= 1;
            if (decisions) claimed[(long long)c * vcs + w] -= 1;
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
