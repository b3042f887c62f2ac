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
static inline unsigned long long atomicMax(unsigned long long* where, unsigned long long other) {
    const unsigned long long before = *where;
    if (other > before) *where = other;
    return before;
}
static inline long long __double_as_longlong(double value) { return __builtin_bit_cast(long long, value); }
static inline double __longlong_as_double(long long value) { return __builtin_bit_cast(double, value); }
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

// A thread is a stack of its own, which the loop in `together_` goes on with until it waits or ends. It is kept for the blocks that follow.
// setjmp and longjmp switch between stacks; swapcontext would make a system call each time, and take most of a test.
enum State_ { RUNS_, WAITS_, ENDED_ };
static const unsigned int STACK_ = 1 << 16, MOST_ = 4096, PATIENCE_ = 1000;
static jmp_buf loop_, threads_at_[MOST_];
static char* stacks_[MOST_];
static State_ states_[MOST_];
static int released_[MOST_];  // what a barrier returns
static unsigned int thread_now_;
static bool moved_;  // some thread has come to a barrier or to its end

static void back_to_the_loop_() {
    if (!_setjmp(threads_at_[thread_now_])) _longjmp(loop_, 1);
}

int __syncthreads_or(int predicate) {
    states_[thread_now_] = WAITS_;
    moved_ = true;
    released_[thread_now_] = predicate;
    back_to_the_loop_();
    return released_[thread_now_];
}
void __syncthreads() { __syncthreads_or(0); }
void __nanosleep(unsigned int) { back_to_the_loop_(); }

#ifdef SHARED
static const unsigned int WORDS = 1 << 16, GARBAGE = 0xA5A5A5A5u;
extern "C" {
__align__(16) unsigned int SHARED[WORDS];
unsigned int shared_words = 0;
}
#endif

static void (*body)();
static void run_blocks_() {
    for (;;) {
        body();
        states_[thread_now_] = ENDED_;
        moved_ = true;
        back_to_the_loop_();
    }
}

static void go_on_(unsigned int thread, unsigned int first_block, unsigned int threads) {
    thread_now_ = thread;
    threadIdx.x = thread % threads;
    blockIdx.x = first_block + thread / threads;
    if (_setjmp(loop_)) return;
    if (stacks_[thread_now_]) _longjmp(threads_at_[thread_now_], 1);
    stacks_[thread_now_] = static_cast<char*>(malloc(STACK_));
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = stacks_[thread_now_];
    context.uc_stack.ss_size = STACK_;
    makecontext(&context, run_blocks_, 0);
    setcontext(&context);
}

// Let the threads of a block go on if all of them are at the barrier. Returns how many have ended.
static unsigned int release_(unsigned int first, unsigned int threads) {
    unsigned int waiting = 0, ended = 0;
    int any = 0;
    for (unsigned int i = first; i < first + threads; ++i) {
        waiting += states_[i] == WAITS_;
        ended += states_[i] == ENDED_;
        any |= states_[i] == WAITS_ && released_[i];
    }
    if (waiting && ended && waiting + ended == threads) {
        fprintf(stderr, "a barrier that %u of %u threads never come to\n", ended, threads);
        abort();
    }
    for (unsigned int i = first; waiting == threads && i < first + threads; ++i) {
        states_[i] = RUNS_;
        released_[i] = any;
    }
    return ended;
}

// Run so many blocks, all at the same time.
static void together_(unsigned int first_block, unsigned int blocks, unsigned int threads) {
    const unsigned int all = blocks * threads;
    if (all > MOST_) {
        fprintf(stderr, "%u threads at the same time, at most %u\n", all, MOST_);
        abort();
    }
#ifdef SHARED
    if (blocks > 1 && shared_words) {
        fprintf(stderr, "blocks with shared memory run one after the other here\n");
        abort();
    }
    for (unsigned int i = 0; shared_words && i < WORDS; ++i) SHARED[i] = GARBAGE;
#endif
    for (unsigned int i = 0; i < all; ++i) states_[i] = RUNS_;
    for (unsigned int ended = 0, idle = 0; ended < all;) {
        moved_ = false;
        for (unsigned int k = 0; k < all; ++k) {
            const unsigned int i = backwards ? all - 1 - k : k;
            if (states_[i] == RUNS_) go_on_(i, first_block, threads);
        }
        ended = 0;
        for (unsigned int b = 0; b < blocks; ++b) ended += release_(b * threads, threads);
        idle = moved_ ? 0 : idle + 1;
        if (idle > PATIENCE_) {
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
    if (cooperative) together_(0, grid, threads);
    for (unsigned int i = 0; !cooperative && i < grid; ++i) together_(backwards ? grid - 1 - i : i, 1, threads);
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
