// A cycle of a node.
struct Cycle : SwitchAllocation {
    __device__ void cycle() {
        credits_return();
        flits_arrive();
        generate();
        refill();
        find_routes();
        allocate_vcs();
        activate_grants();
        allocate_switch();
        if (decisions) see_channels();
    }

    __device__ void credits_return() {
        const bool heed = switching != WORMHOLE || adaptive;  // requesting heads look at credits
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
                if (here.front < 0) promote_head(i, v);
                else if (here.count == 1) ready(i, v);
            }
        }
    }
};
