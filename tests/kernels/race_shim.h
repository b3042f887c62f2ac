// CUDA's language on the CPU for sanitizers. Every CUDA thread of a launch is a fiber of its own, of all blocks at
// the same time, and goes on in random order. One access happens before another only where CUDA says so: at the begin
// and the end of a launch, at barriers of a block, and by atomics with fences. ThreadSanitizer then reports each pair of
// accesses without order, whatever order they happened to have. Without RACES, AddressSanitizer and
// UndefinedBehaviorSanitizer see the same program: every array, and what a block shares, is an allocation of its own, of
// exactly its size. The program runs one launch, from a file to a file.
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#define __global__
#define __device__
#define __launch_bounds__(...)
#define __shared__
#define __align__(bytes) __attribute__((aligned(bytes)))
#ifdef RACES
#define UNSEEN __attribute__((no_sanitize("thread"), noinline))
extern "C" {
void* __tsan_get_current_fiber(void);
void* __tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void*);
void __tsan_release(void*);
}
#else
#define UNSEEN __attribute__((noinline))
static void* __tsan_get_current_fiber() { return nullptr; }
static void* __tsan_create_fiber(unsigned) { return nullptr; }
static void __tsan_switch_to_fiber(void*, unsigned) {}
static void __tsan_acquire(void*) {}
static void __tsan_release(void*) {}
#endif
static const unsigned int NO_ORDER = 1;  // switching to a fiber orders nothing

struct Three {
    unsigned int x, y, z;
};
enum State { READY, WAITING, ENDED };
struct Thread {
    ucontext_t context;
    void* fiber;
    unsigned int block, number;
    State state;
    int predicate;
    // an atomic after a fence releases what the thread wrote before; a barrier ends that, since what the thread knows
    // from then on needs another fence
    bool fenced;
    void* loaded[64];  // atomics since the last fence, which acquires what they read
    int loads;
};
struct Block {
    unsigned int arrived, ended, phase;
    int any;
    char tokens[2][8];  // of barriers, alternately: a thread may be at the next one while others leave this one
    unsigned int* shared;
};
static const unsigned int MOST_THREADS_ = 4096, STACK_ = 1 << 16, GARBAGE_ = 0xA5A5A5A5u;
static Thread threads_[MOST_THREADS_];
static Thread* now_;
static Block* blocks_;
static ucontext_t loop_;
static void* loop_fiber_;
static char begin_[8], end_[8];
static Three block_size_{1, 1, 1}, grid_size_{1, 1, 1};
static unsigned long long random_ = 88172645463325252ull;

UNSEEN static unsigned int drawn() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return (unsigned int)(random_ >> 20);
}
UNSEEN static Three thread_index() { return {now_->number, 0, 0}; }
UNSEEN static Three block_index() { return {now_->block, 0, 0}; }
UNSEEN static Three block_size() { return block_size_; }
UNSEEN static Three grid_size() { return grid_size_; }
UNSEEN static unsigned int* shared_memory() { return blocks_[now_->block].shared; }
#define threadIdx thread_index()
#define blockIdx block_index()
#define blockDim block_size()
#define gridDim grid_size()

template <class T>
static inline T __ldg(const T* where) {
    return *where;
}
static inline double __fma_rn(double one, double other, double more) { return __builtin_fma(one, other, more); }
static inline int __ffsll(long long value) { return __builtin_ffsll(value); }
static inline int __ffs(int value) { return __builtin_ffs(value); }
static inline int __popc(unsigned int value) { return __builtin_popcount(value); }
static inline int __popcll(unsigned long long value) { return __builtin_popcountll(value); }

UNSEEN static void give_way() {
    Thread* const self = now_;
    __tsan_switch_to_fiber(loop_fiber_, NO_ORDER);
    swapcontext(&self->context, &loop_);
}
UNSEEN static void before_atomic(void* word) {
    if (drawn() % 8 == 0) give_way();
    if (now_->fenced) __tsan_release(word);
}
UNSEEN static void after_atomic(void* word) {
    if (now_->loads < 64) now_->loaded[now_->loads++] = word;
}
UNSEEN static void __threadfence() {
    now_->fenced = true;
    for (int i = 0; i < now_->loads; ++i) __tsan_acquire(now_->loaded[i]);
    now_->loads = 0;
    if (drawn() % 8 == 0) give_way();
}

#define ATOMIC(name, type, body)                         \
    static inline type name(type* where, type operand) { \
        before_atomic(where);                            \
        const type before = body;                        \
        after_atomic(where);                             \
        return before;                                   \
    }
ATOMIC(atomicAdd, unsigned long long, __atomic_fetch_add(where, operand, __ATOMIC_RELAXED))
ATOMIC(atomicAdd, unsigned int, __atomic_fetch_add(where, operand, __ATOMIC_RELAXED))
ATOMIC(atomicAdd, int, __atomic_fetch_add(where, operand, __ATOMIC_RELAXED))
ATOMIC(atomicOr, unsigned int, __atomic_fetch_or(where, operand, __ATOMIC_RELAXED))
ATOMIC(atomicAnd, unsigned int, __atomic_fetch_and(where, operand, __ATOMIC_RELAXED))
ATOMIC(atomicSub, int, __atomic_fetch_sub(where, operand, __ATOMIC_RELAXED))
ATOMIC(atomicExch, int, __atomic_exchange_n(where, operand, __ATOMIC_RELAXED))
static inline int atomicCAS(int* where, int expected, int other) {
    before_atomic(where);
    __atomic_compare_exchange_n(where, &expected, other, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    after_atomic(where);
    return expected;
}
template <bool GREATEST, class Word>
static inline Word extreme(Word* where, Word other) {
    before_atomic(where);
    Word before = __atomic_load_n(where, __ATOMIC_RELAXED);
    while ((GREATEST ? before < other : before > other) &&
           !__atomic_compare_exchange_n(where, &before, other, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    after_atomic(where);
    return before;
}
static inline int atomicMax(int* where, int other) { return extreme<true>(where, other); }
static inline int atomicMin(int* where, int other) { return extreme<false>(where, other); }
static inline unsigned long long atomicMax(unsigned long long* where, unsigned long long other) {
    return extreme<true>(where, other);
}
static inline long long __double_as_longlong(double value) { return __builtin_bit_cast(long long, value); }
static inline double __longlong_as_double(long long value) { return __builtin_bit_cast(double, value); }

// A volatile word: the text of a kernel has volatile_at<int>(word) in place of *(volatile int*)word.
template <class Word>
struct Volatile {
    Word* word;
    operator Word() const {
        if (drawn() % 8 == 0) give_way();
        const Word value = __atomic_load_n(word, __ATOMIC_RELAXED);
        after_atomic(word);
        return value;
    }
    Word operator=(Word value) {
        if (now_->fenced) __tsan_release(word);
        __atomic_store_n(word, value, __ATOMIC_RELAXED);
        return value;
    }
};
template <class Word>
static inline Volatile<Word> volatile_at(const void* word) {
    return Volatile<Word>{(Word*)word};
}

UNSEEN static int __syncthreads_or(int predicate) {
    Thread& self = *now_;
    void* const token = blocks_[self.block].tokens[blocks_[self.block].phase % 2];
    __tsan_release(token);
    self.state = WAITING;
    self.predicate = predicate;
    self.fenced = false;
    give_way();
    __tsan_acquire(token);
    return now_->predicate;
}
UNSEEN static void __syncthreads() { __syncthreads_or(0); }

UNSEEN static void __nanosleep(unsigned int) { give_way(); }

static void (*body_)();
UNSEEN static void enter() {
    __tsan_acquire(begin_);
    body_();
    __tsan_release(end_);
    now_->state = ENDED;
    give_way();
    abort();
}

UNSEEN static void prepare(Thread& thread, unsigned int block, unsigned int number) {
    thread.block = block;
    thread.number = number;
    thread.state = READY;
    thread.fiber = __tsan_create_fiber(0);
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = malloc(STACK_);
    thread.context.uc_stack.ss_size = STACK_;
    makecontext(&thread.context, enter, 0);
}

// Let the waiting threads of a block go on if all of its threads have come to the barrier.
UNSEEN static void release_if_all_came(Block& block, Thread* of_block, unsigned int threads, unsigned int* ready,
                                       unsigned int& number) {
    if (!block.arrived || block.arrived + block.ended < threads) return;
    if (block.ended) {
        fprintf(stderr, "a barrier that %u of %u threads never come to\n", block.ended, threads);
        abort();
    }
    for (unsigned int i = 0; i < threads; ++i) {
        of_block[i].state = READY;
        of_block[i].predicate = block.any;
        ready[number++] = (unsigned int)(of_block - threads_) + i;
    }
    block.arrived = 0;
    block.any = 0;
    ++block.phase;
}

UNSEEN static void run(unsigned int grid, unsigned int threads, unsigned int shared_words) {
    const unsigned int all = grid * threads;
    if (all > MOST_THREADS_) {
        fprintf(stderr, "expected at most %u threads, got %u x %u\n", MOST_THREADS_, grid, threads);
        abort();
    }
    blocks_ = (Block*)calloc(grid, sizeof(Block));
    for (unsigned int b = 0; b < grid; ++b) {
        blocks_[b].shared = (unsigned int*)malloc(4ul * shared_words);
        for (unsigned int w = 0; w < shared_words; ++w) blocks_[b].shared[w] = GARBAGE_;
    }
    unsigned int* const ready = (unsigned int*)malloc(4ul * all);
    unsigned int number = all, left = all;
    loop_fiber_ = __tsan_get_current_fiber();
    for (unsigned int i = 0; i < all; ++i) {
        prepare(threads_[i], i / threads, i % threads);
        ready[i] = i;
    }
    __tsan_release(begin_);  // after all that the threads find, their stacks included
    while (number) {
        const unsigned int k = drawn() % number;
        Thread& thread = threads_[ready[k]];
        now_ = &thread;
        __tsan_switch_to_fiber(thread.fiber, NO_ORDER);
        swapcontext(&loop_, &thread.context);
        if (thread.state == READY) continue;
        ready[k] = ready[--number];
        Block& block = blocks_[thread.block];
        if (thread.state == ENDED) {
            --left;
            ++block.ended;
        } else {
            ++block.arrived;
            block.any |= thread.predicate;
        }
        release_if_all_came(block, threads_ + thread.block * threads, threads, ready, number);
    }
    if (left) {
        fprintf(stderr, "%u threads wait for ever\n", left);
        abort();
    }
    __tsan_acquire(end_);
}

template <int... I>
struct Places {};
template <class T, T... I>
using PlacesOf = Places<I...>;

static unsigned int launch_[5];  // grid, block, words of shared memory, arguments, arrays that structs point to

template <class... A, int... I>
UNSEEN void launch(void (*kernel)(A...), void** arguments, Places<I...>) {
    static void (*called)(A...);
    static void** given;
    called = kernel;
    given = arguments;
    body_ = []() UNSEEN { called(*static_cast<A*>(given[I])...); };
    grid_size_.x = launch_[0];
    block_size_.x = launch_[1];
    run(launch_[0], launch_[1], launch_[2]);
}
template <class... A>
void launch(void (*kernel)(A...), void** arguments) {
#ifdef __clang__
    launch(kernel, arguments, __make_integer_seq<PlacesOf, int, sizeof...(A)>{});
#else
    launch(kernel, arguments, Places<__integer_pack(sizeof...(A))...>{});
#endif
}

// Read a launch, run the kernel of that name, write back the arrays. Each argument is (is it an array, bytes, content);
// each array that a struct points to is (argument, byte of the field, bytes, gaps, content, begin and end of each gap).
UNSEEN static void read_from(FILE* file, void* to, size_t bytes) {
    if (bytes && fread(to, 1, bytes, file) != bytes) {
        fprintf(stderr, "the launch's file ends early\n");
        abort();
    }
}
static void run_kernel(const char* name, void** arguments);
#ifdef RACES
static void forbid(void*, size_t, bool) {}
#else
extern "C" void __asan_poison_memory_region(void const volatile*, size_t);
extern "C" void __asan_unpoison_memory_region(void const volatile*, size_t);
static void forbid(void* begin, size_t bytes, bool on) {
    on ? __asan_poison_memory_region(begin, bytes) : __asan_unpoison_memory_region(begin, bytes);
}
#endif
UNSEEN int main(int, char** files) {
    static char name[64];
    static long long head[128][2];
    static void *data[128], *arguments[128], *pointed[128];
    static long long link[128][4];
    FILE* file = fopen(files[1], "rb");
    if (!file) abort();
    read_from(file, name, sizeof name);
    read_from(file, &random_, 8);
    read_from(file, launch_, sizeof launch_);
    for (unsigned int i = 0; i < launch_[3]; ++i) {
        read_from(file, head[i], 16);
        data[i] = malloc((size_t)head[i][1]);
        read_from(file, data[i], (size_t)head[i][1]);
        arguments[i] = head[i][0] ? (void*)&data[i] : data[i];
    }
    for (unsigned int i = 0; i < launch_[4]; ++i) {
        read_from(file, link[i], 32);
        pointed[i] = malloc((size_t)link[i][2]);
        read_from(file, pointed[i], (size_t)link[i][2]);
        memcpy((char*)arguments[link[i][0]] + link[i][1], &pointed[i], sizeof(void*));
        for (long long k = 0, gap[2]; k < link[i][3]; ++k) {
            read_from(file, gap, 16);
            forbid((char*)pointed[i] + gap[0], (size_t)(gap[1] - gap[0]), true);
        }
    }
    fclose(file);
    run_kernel(name, arguments);
    file = fopen(files[2], "wb");
    for (unsigned int i = 0; i < launch_[3]; ++i)
        if (head[i][0]) fwrite(data[i], 1, (size_t)head[i][1], file);
    for (unsigned int i = 0; i < launch_[4]; ++i) {
        forbid(pointed[i], (size_t)link[i][2], false);
        fwrite(pointed[i], 1, (size_t)link[i][2], file);
    }
    fclose(file);
    fprintf(stderr, "launched\n");
    return 0;
}
