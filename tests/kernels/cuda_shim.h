// Enough of CUDA's language to compile a kernel as C++ and run its threads one after the other, from the first or from the last on;
// where they wait for each other (BARRIERS), each from barrier to barrier, and blocks one after the other unless the launch is cooperative.
// Shared memory is one array of words sized by the launch (SHARED is its name): full of garbage when a block begins, and unchanged behind its
// end when it is done. No shuffles.
#pragma once
#define __global__
#define __device__
#define __launch_bounds__(...)
#define __shared__
#define __align__(bytes) __attribute__((aligned(bytes)))

struct Three {
    unsigned int x, y, z;
};
static Three threadIdx{0, 0, 0}, blockIdx{0, 0, 0}, blockDim{1, 1, 1}, gridDim{1, 1, 1};

extern "C" int backwards, cooperative;
int backwards = 0, cooperative = 0;

static inline double __fma_rn(double one, double other, double more) { return __builtin_fma(one, other, more); }
template <class T>
static inline T __ldg(const T* where) {
    return *where;
}
static inline int __ffsll(long long value) { return __builtin_ffsll(value); }
static inline int __ffs(int value) { return __builtin_ffs(value); }
static inline int __popc(unsigned int value) { return __builtin_popcount(value); }
static inline int __popcll(unsigned long long value) { return __builtin_popcountll(value); }

static inline unsigned long long atomicAdd(unsigned long long* where, unsigned long long more) {
    const unsigned long long before = *where;
    *where += more;
    return before;
}
static inline unsigned int atomicAdd(unsigned int* where, unsigned int more) {
    const unsigned int before = *where;
    *where += more;
    return before;
}
static inline int atomicAdd(int* where, int more) {
    const int before = *where;
    *where += more;
    return before;
}
static inline unsigned int atomicOr(unsigned int* where, unsigned int more) {
    const unsigned int before = *where;
    *where |= more;
    return before;
}
static inline unsigned int atomicAnd(unsigned int* where, unsigned int left) {
    const unsigned int before = *where;
    *where &= left;
    return before;
}
static inline int atomicSub(int* where, int less) {
    const int before = *where;
    *where -= less;
    return before;
}
static inline int atomicExch(int* where, int other) {
    const int before = *where;
    *where = other;
    return before;
}
static inline int atomicCAS(int* where, int expected, int other) {
    const int before = *where;
    if (before == expected) *where = other;
    return before;
}
static inline int atomicMax(int* where, int other) {
    const int before = *where;
    if (other > before) *where = other;
    return before;
}
static inline void __threadfence() {}
static inline int atomicMin(int* where, int other) {
    const int before = *where;
    if (other < before) *where = other;
    return before;
}

template <int... I>
struct Places {};
template <class T, T... I>
using PlacesOf = Places<I...>;

#ifdef BARRIERS
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

// A thread is a stack of its own, which the loop in `together` goes on with until it waits or ends. It is kept for the blocks that follow.
// setjmp and longjmp switch between stacks; swapcontext would make a system call each time, and take most of a test.
enum State { RUNS, WAITS, ENDED };
static const unsigned int STACK = 1 << 16, MOST = 4096, PATIENCE = 1000;
static jmp_buf loop, threads_at[MOST];
static char* stacks[MOST];
static State states[MOST];
static int released[MOST];  // what a barrier returns
static unsigned int thread_now;
static bool moved;  // some thread has come to a barrier or to its end

static void back_to_the_loop() {
    if (!_setjmp(threads_at[thread_now])) _longjmp(loop, 1);
}

int __syncthreads_or(int predicate) {
    states[thread_now] = WAITS;
    moved = true;
    released[thread_now] = predicate;
    back_to_the_loop();
    return released[thread_now];
}
void __syncthreads() { __syncthreads_or(0); }
void __nanosleep(unsigned int) { back_to_the_loop(); }

#ifdef SHARED
static const unsigned int WORDS = 1 << 16, GARBAGE = 0xA5A5A5A5u;
extern "C" {
__align__(16) unsigned int SHARED[WORDS];
unsigned int shared_words = 0;
}
#endif

static void (*body)();
static void run_blocks() {
    for (;;) {
        body();
        states[thread_now] = ENDED;
        moved = true;
        back_to_the_loop();
    }
}

static void go_on(unsigned int thread, unsigned int first_block, unsigned int threads) {
    thread_now = thread;
    threadIdx.x = thread % threads;
    blockIdx.x = first_block + thread / threads;
    if (_setjmp(loop)) return;
    if (stacks[thread_now]) _longjmp(threads_at[thread_now], 1);
    stacks[thread_now] = static_cast<char*>(malloc(STACK));
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = stacks[thread_now];
    context.uc_stack.ss_size = STACK;
    makecontext(&context, run_blocks, 0);
    setcontext(&context);
}

// Let the threads of a block go on if all of them are at the barrier. Returns how many have ended.
static unsigned int release(unsigned int first, unsigned int threads) {
    unsigned int waiting = 0, ended = 0;
    int any = 0;
    for (unsigned int i = first; i < first + threads; ++i) {
        waiting += states[i] == WAITS;
        ended += states[i] == ENDED;
        any |= states[i] == WAITS && released[i];
    }
    if (waiting && ended && waiting + ended == threads) {
        fprintf(stderr, "a barrier that %u of %u threads never come to\n", ended, threads);
        abort();
    }
    for (unsigned int i = first; waiting == threads && i < first + threads; ++i) {
        states[i] = RUNS;
        released[i] = any;
    }
    return ended;
}

// Run so many blocks, all at the same time.
static void together(unsigned int first_block, unsigned int blocks, unsigned int threads) {
    const unsigned int all = blocks * threads;
    if (all > MOST) {
        fprintf(stderr, "%u threads at the same time, at most %u\n", all, MOST);
        abort();
    }
#ifdef SHARED
    if (blocks > 1 && shared_words) {
        fprintf(stderr, "blocks with shared memory run one after the other here\n");
        abort();
    }
    for (unsigned int i = 0; shared_words && i < WORDS; ++i) SHARED[i] = GARBAGE;
#endif
    for (unsigned int i = 0; i < all; ++i) states[i] = RUNS;
    for (unsigned int ended = 0, idle = 0; ended < all;) {
        moved = false;
        for (unsigned int k = 0; k < all; ++k) {
            const unsigned int i = backwards ? all - 1 - k : k;
            if (states[i] == RUNS) go_on(i, first_block, threads);
        }
        ended = 0;
        for (unsigned int b = 0; b < blocks; ++b) ended += release(b * threads, threads);
        idle = moved ? 0 : idle + 1;
        if (idle > PATIENCE) {
            fprintf(stderr, "%u of %u threads sleep for ever\n", all - ended, all);
            abort();
        }
    }
#ifdef SHARED
    for (unsigned int i = shared_words; shared_words && i < WORDS; ++i) {
        if (SHARED[i] == GARBAGE) continue;
        fprintf(stderr, "word %u of %u words of shared memory was written to\n", i, shared_words);
        abort();
    }
#endif
}

template <class... A, int... I>
void launch(void (*kernel)(A...), unsigned int grid, unsigned int threads, void** arguments, Places<I...>) {
    static void (*called)(A...);
    static void** given;
    called = kernel;
    given = arguments;
    body = [] { called(*static_cast<A*>(given[I])...); };
    gridDim.x = grid;
    blockDim.x = threads;
    if (cooperative) together(0, grid, threads);
    for (unsigned int i = 0; !cooperative && i < grid; ++i) together(backwards ? grid - 1 - i : i, 1, threads);
}
#else
template <class... A, int... I>
void launch(void (*kernel)(A...), unsigned int grid, unsigned int block, void** arguments, Places<I...>) {
    gridDim.x = grid;
    blockDim.x = block;
    for (unsigned int i = 0; i < grid; ++i) {
        blockIdx.x = backwards ? grid - 1 - i : i;
        for (unsigned int j = 0; j < block; ++j) {
            threadIdx.x = backwards ? block - 1 - j : j;
            kernel(*static_cast<A*>(arguments[I])...);
        }
    }
}
#endif

template <class... A>
void launch(void (*kernel)(A...), unsigned int grid, unsigned int block, void** arguments) {
    launch(kernel, grid, block, arguments, __make_integer_seq<PlacesOf, int, sizeof...(A)>{});
}
