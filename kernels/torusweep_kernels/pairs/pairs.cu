// The sources and destinations of random packets, in arrays.

#include "philox/philox.cuh"
#include "pairs/pairs.cuh"

// source, destination int[packets]: those of the packets from number `first`; the tables: pairs.cuh
extern "C" __global__ void draw(const double* __restrict__ cdf, const int* __restrict__ guide,
                                const int* __restrict__ own_source, const int* __restrict__ own_destination,
                                const long long* __restrict__ reduced_start, const int* __restrict__ reduced,
                                const double* __restrict__ rejection, int nodes, int pairs, int uniform,
                                double product_sum, double own_sum, unsigned long long first, unsigned int key0,
                                unsigned int key1, int packets, int* source, int* destination) {
    const Traffic traffic = {cdf,       guide, own_source, own_destination, reduced_start, reduced,
                             rejection, nodes, pairs,      uniform,         product_sum,   own_sum};
    const unsigned int threads = gridDim.x * blockDim.x;
    for (unsigned int item = blockIdx.x * blockDim.x + threadIdx.x; item < (unsigned int)packets; item += threads)
        draw_pair(traffic, first + item, key0, key1, source[item], destination[item]);
}
