// A cycle of a node, and the barrier after it.
struct Cycle : SwitchAllocation {
    // Wait until all threads of the experiment have ended the cycle. Returns whether it goes on: to all of them the same.
    // The last one of several blocks decides, since packets of the next cycle may be delivered before another block has
    // looked.
    __device__ bool goes_on(int share) const {
        int *const undelivered = &experiment().undelivered, *const arrived = &experiment().arrived,
                   *const begun = &experiment().begun;
        if (share == 1) return __syncthreads_or(*(volatile int*)undelivered > 0);
        __syncthreads();
        int next = NEVER;
        if (threadIdx.x == 0) {
            __threadfence();
            if (atomicAdd(arrived, 1) == share - 1) {
                *(volatile int*)arrived = 0;
                __threadfence();
                if (*(volatile int*)undelivered > 0) next = t + 1;
                *(volatile int*)begun = next;
            } else {
                while ((next = *(volatile int*)begun) <= t) __nanosleep(20);
                __threadfence();
            }
        }
        return __syncthreads_or(next != NEVER);
    }

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
        vcs_t* const returned = credits(t);
        for (int p = 0; p < ports; ++p) {
            bits_t from_vcs = returned[in(p)];
            if (!from_vcs) continue;
            returned[in(p)] = 0;
            if (heed) self().changed = 1;
            for (; from_vcs; from_vcs &= from_vcs - 1) {
                const int v = lowest(from_vcs);
                const Out there = out(p, v);
                out(p, v).credits = there.credits + 1;
                if (there.credits == 0 && there.holder >= 0) ready(there.holder >> 4, there.holder & 15);
            }
        }
    }

    __device__ void flits_arrive() {
        vcs_t* const arrived = arrivals(t);
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
