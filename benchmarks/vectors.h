/* Rows of bits, eight words a vector. */

#include <stdint.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

typedef uint64_t Vector __attribute__((vector_size(64)));

/* The number of ones of every word. */
static inline Vector ones(Vector bits)
{
#ifdef __AVX512VPOPCNTDQ__
    return (Vector)_mm512_popcnt_epi64((__m512i)bits);
#else
    Vector count;
    for (int i = 0; i < 8; i++) count[i] = __builtin_popcountll(bits[i]);
    return count;
#endif
}

static inline uint64_t any(Vector bits) { return bits[0] | bits[1] | bits[2] | bits[3] | bits[4] | bits[5] | bits[6] | bits[7]; }

/* Of the lower halves of every word. */
static inline Vector product(Vector a, uint64_t factor)
{
#ifdef __AVX512F__
    return (Vector)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64(factor));
#else
    return (a & 0xFFFFFFFF) * factor;
#endif
}
