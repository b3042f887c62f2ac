// Philox4x32-10 for CUDA code, put in place of `#include "philox/philox.cuh"` by torusweep_kernels.cuda.cuda_source;
// kernels/torusweep_kernels/philox/__init__.py is its specification.

// out: four random words of the counter c and the key (k0, k1)
__device__ inline void philox4x32(const unsigned int c[4], unsigned int k0, unsigned int k1, unsigned int out[4]) {
    unsigned int c0 = c[0], c1 = c[1], c2 = c[2], c3 = c[3];
    for (int turn = 0; turn < 10; ++turn) {
        const unsigned long long first = 0xD2511F53ull * c0, second = 0xCD9E8D57ull * c2;
        c0 = (unsigned int)(second >> 32) ^ c1 ^ k0;
        c1 = (unsigned int)second;
        c2 = (unsigned int)(first >> 32) ^ c3 ^ k1;
        c3 = (unsigned int)first;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

// a whole number in 0 .. bound - 1 from a draw; see torusweep_kernels.philox.below
__device__ inline unsigned int below(unsigned int draw, unsigned int bound) {
    return (unsigned int)((unsigned long long)draw * bound >> 32);
}

// float64 in [0, 1) from two random words; see torusweep_kernels.philox.unit
__device__ inline double unit(unsigned int high, unsigned int low) {
    return (double)(long long)((unsigned long long)high << 21 | low >> 11) * 0x1p-53;
}
