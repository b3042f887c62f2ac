// The choice between a route and a detour: see reference_detours.py. Loops are not unrolled: few networks need them, and
// all take more instructions and registers then.
struct Detours : Sources {
    __device__ int* seen_at(int cycle) const {
        return part<int>(to_seen) + (long long)(cycle & 1) * ports * nodes * vcs;
    }

    // Note for the next cycle how many flits occupy the node's output VCs.
    __device__ void see_channels() {
        for (int p = 0; p < ports; ++p) {
#pragma unroll 1
            for (int v = 0; v < vcs; ++v) {
                const Out there = out(p, v);
                seen_at(t + 1)[(long long)in(p) * vcs + v] = buffer - there.credits + there.claimed;
            }
        }
    }

    // Flits that occupied VCs low .. behind - 1 of a channel at the end of the last cycle.
    __device__ int occupied(int channel, int low, int behind) const {
        int total = 0;
#pragma unroll 1
        for (int v = low; v < behind; ++v) total += seen_at(t)[(long long)channel * vcs + v];
        return total;
    }

    // Flits that occupied the channels of so many hops of a route.
    template <class Hops>
    __device__ long long occupied_along(int row, Hops rest) const {
        long long total = 0;
#pragma unroll 1
        for (int run = 0, at = node; run < runs; ++run) {
            const int d = rest[run] > 0 ? direction[(long long)row * runs + run] : 0;
            for (int hop = 0; hop < rest[run]; ++hop) {
                const int c = port_of[(long long)at * directions + d] * nodes + at;
                total += occupied(c, 0, vcs);
                at = far[c] % nodes;
            }
        }
        return total;
    }

    // The first run of a route that has hops left; their sum.
    template <class Hops>
    __device__ int first_of(Hops rest, int* sum) const {
        int first = -1;
        *sum = 0;
#pragma unroll 1
        for (int run = 0; run < runs; ++run) {
            if (first < 0 && rest[run] > 0) first = run;
            *sum += rest[run];
        }
        return first;
    }

    __device__ bool takes_detour(int packet, int other) const {
        const int own = packets[packet].row;
        const short* const own_rest = left + (long long)packet * runs;
        const Constant<short> other_rest = hops + (long long)other * runs;
        if (sees_all) return occupied_along(own, own_rest) > occupied_along(other, other_rest) + threshold;
        int own_hops, other_hops;
        const long long own_entry = (long long)own * runs + first_of(own_rest, &own_hops),
                        other_entry = (long long)other * runs + first_of(other_rest, &other_hops);
        const Constant<signed char> port = port_of + (long long)node * directions;
        const int p = port[direction[own_entry]], q = port[direction[other_entry]];
        const Constant<signed char> own_ends = low + 4 * phase[own_entry], other_ends = low + 4 * phase[other_entry];
        const bool shared = p == q;
        const long long own_flits = occupied(in(p), shared ? own_ends[0] : 0, shared ? own_ends[1] : vcs),
                        other_flits = occupied(in(q), shared ? other_ends[0] : 0, shared ? other_ends[1] : vcs);
        return own_flits * own_hops > other_flits * other_hops + threshold;
    }

    // Let a packet whose route computation ends choose between its route and a detour.
    __device__ void choose_route(int packet) {
        const int k = passed[packet];
        if (k < 0 || k >= decisions) return;
        passed[packet] = (signed char)(k + 1);
        const int other = detour[(long long)packet * decisions + k];
        if (other < 0 || !takes_detour(packet, other)) return;
        passed[packet] = -1;
        packets[packet].row = other;
        crossed[packet] = 0;
#pragma unroll 1
        for (int run = 0; run < runs; ++run) left[(long long)packet * runs + run] = hops[(long long)other * runs + run];
    }
};
