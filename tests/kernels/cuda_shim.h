// Enough of CUDA's language to compile a kernel as C++ and run its threads one after the other.
// For kernels whose threads do not wait for each other: no shared memory, no shuffles, no barriers.
#pragma once
#define __global__
#define __device__

struct Three {
    unsigned int x, y, z;
};
static Three threadIdx{0, 0, 0}, blockIdx{0, 0, 0}, blockDim{1, 1, 1}, gridDim{1, 1, 1};

static inline int __popcll(unsigned long long value) { return __builtin_popcountll(value); }

static inline unsigned long long atomicAdd(unsigned long long* where, unsigned long long more) {
    const unsigned long long before = *where;
    *where += more;
    return before;
}
static inline int atomicMin(int* where, int other) {
    const int before = *where;
    if (other < before) *where = other;
    return before;
}

template <int... I>
struct Places {};
template <class T, T... I>
using PlacesOf = Places<I...>;

template <class... A, int... I>
void launch(void (*kernel)(A...), unsigned int grid, unsigned int block, void** arguments, Places<I...>) {
    gridDim.x = grid;
    blockDim.x = block;
    for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < block; ++threadIdx.x) kernel(*static_cast<A*>(arguments[I])...);
}

template <class... A>
void launch(void (*kernel)(A...), unsigned int grid, unsigned int block, void** arguments) {
    launch(kernel, grid, block, arguments, __make_integer_seq<PlacesOf, int, sizeof...(A)>{});
}
