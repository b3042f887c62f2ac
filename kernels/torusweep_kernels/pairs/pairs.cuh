// A random packet of a traffic, put in place of `#include "pairs/pairs.cuh"`, which stands behind that of
// philox/philox.cuh; kernels/torusweep_kernels/pairs/reference.py is the specification, tables.py says what the tables
// are. Equal to it to the bit: compile without contraction to fused operations.

// cdf, guide: [nodes] of weight, [nodes] of common, [pairs] of the entries of own, one after another; uniform: a bit for
// each of the three, whether its weights are equal
struct Traffic {
    const double* cdf;
    const int* guide;
    const int *source, *destination;
    const long long* reduced_start;
    const int* reduced;
    const double* rejection;
    int nodes, pairs, uniform;
    double product_sum, own_sum;
};

// the choice among the `number` whose tables begin at `begin`, from a random number in [0, 1)
__device__ inline int chosen(const Traffic& t, long long begin, int number, bool uniform, double at) {
    int place = (int)(at * number);
    if (place >= number) place = number - 1;
    if (uniform) return place;
    const double* const cdf = t.cdf + begin;
    place = t.guide[begin + place];
    while (place > 0 && cdf[place - 1] > at) --place;
    while (place < number && cdf[place] <= at) ++place;
    return place < number ? place : number - 1;
}

// source and destination from two random numbers; whether the pair may be rejected
__device__ inline bool pair_at(const Traffic& t, double one, double two, int& source, int& destination) {
    const double at = one * (t.product_sum + t.own_sum);
    const bool product = at < t.product_sum;
    if (t.product_sum != 0 && (product || t.own_sum == 0)) {
        source = chosen(t, 0, t.nodes, t.uniform & 1, t.own_sum == 0 ? one : at / t.product_sum);
        destination = chosen(t, t.nodes, t.nodes, t.uniform & 2, two);
        return product;
    }
    const double left = t.product_sum == 0 ? one : (at - t.product_sum) / t.own_sum;
    const int place = chosen(t, 2ll * t.nodes, t.pairs, t.uniform & 4, left);
    source = t.source[place];
    destination = t.destination[place];
    return false;
}

// the probability with which a pair of the product is drawn again
__device__ inline double rejection_of(const Traffic& t, int source, int destination) {
    const long long end = t.reduced_start[source + 1];
    long long low = t.reduced_start[source];
    for (long long high = end; low < high;) {
        const long long middle = (low + high) / 2;
        if (t.reduced[middle] < destination) low = middle + 1;
        else high = middle;
    }
    return low < end && t.reduced[low] == destination ? t.rejection[low] : 0.0;
}

// packet number `packet`
__device__ inline void draw_pair(const Traffic& t, unsigned long long packet, unsigned int key0, unsigned int key1,
                                 int& source, int& destination) {
    const unsigned int of_pairs = 1, of_rejections = 2;
    for (unsigned int attempt = 0;; ++attempt) {
        unsigned int counter[4] = {(unsigned int)packet, (unsigned int)(packet >> 32), attempt, of_pairs}, words[4];
        philox4x32(counter, key0, key1, words);
        const double one = unit(words[0], words[1]), two = unit(words[2], words[3]);
        if (!pair_at(t, one, two, source, destination)) return;
        const double chance = rejection_of(t, source, destination);
        if (chance == 0) return;
        counter[3] = of_rejections;
        philox4x32(counter, key0, key1, words);
        if (!(words[0] * 0x1p-32 < chance)) return;
    }
}
