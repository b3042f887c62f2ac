/* What one thread of a processor can do at most of what our kernels consist of: a loop each, and nothing beside it. */

#include "vectors.h"

typedef double Lanes __attribute__((vector_size(64)));
typedef uint32_t Half __attribute__((vector_size(32)));

/* Copies all vectors, again and again: bandwidth. */
void copy(const Vector *from, Vector *to, int64_t vectors, int64_t times)
{
    for (int64_t time = 0; time < times; time++) {
        for (int64_t i = 0; i < vectors; i++) to[i] = from[i];
        __asm__ volatile("" ::: "memory"); /* once more */
    }
}

/* OR of vectors at random places. */
uint64_t gather_vectors(const Vector *table, int64_t size, const uint32_t *place, int64_t many, int64_t times)
{
    Vector sum = {0};
    for (int64_t time = 0; time < times; time++)
        for (int64_t i = 0; i < many; i++) sum |= table[(uint64_t)(place[i] ^ (uint32_t)(time * 2654435761u)) * size >> 32];
    return any(sum);
}

static inline __attribute__((always_inline)) uint64_t or_degree(Vector *space, int64_t vectors, int degree, int64_t rows)
{
    Vector total = {0}, changed = total;
    for (int64_t row = 0, v = 0; row < rows; row++, v = v + 1 < vectors / 2 - degree ? v + 1 : 0) {
        Vector before = space[v], after = before;
#pragma GCC unroll 8
        for (int p = 1; p <= degree; p++) after |= space[v + p];
        space[vectors - 1 - v] = after;
        changed |= after ^ before;
        total += ones(after ^ before);
    }
    return any(total) + any(changed);
}

/* Rows of a level as peak.c computes them, of degree 4 or 6, in a space that the first cache holds: OR, popcount, store. */
uint64_t or_rows(Vector *space, int64_t vectors, int64_t degree, int64_t rows)
{
    return degree == 4 ? or_degree(space, vectors, 4, rows) : or_degree(space, vectors, 6, rows);
}

/* Independent loads of 32 bits at random places: place uint32[many] of all 2³² values. */
uint32_t gather(const uint32_t *table, int64_t size, const uint32_t *place, int64_t many, int64_t times)
{
    uint32_t sum = 0;
    for (int64_t time = 0; time < times; time++)
        for (int64_t i = 0; i < many; i++) sum += table[(uint64_t)(place[i] ^ (uint32_t)(time * 2654435761u)) * size >> 32];
    return sum;
}

/* Counters at random places, one more each. */
void increment(uint32_t *table, int64_t size, const uint32_t *place, int64_t many, int64_t times)
{
    for (int64_t time = 0; time < times; time++)
        for (int64_t i = 0; i < many; i++) table[(uint64_t)(place[i] ^ (uint32_t)(time * 2654435761u)) * size >> 32]++;
}

/* Sums of rows of 16 numbers at random places, `degree` rows a sum, in a mask's lanes. */
double add_rows(const Lanes *table, int64_t rows, const uint32_t *place, int64_t many, int64_t degree, int64_t times)
{
    Lanes sum[2] = {{0}, {0}};
    for (int64_t time = 0; time < times; time++)
        for (int64_t i = 0; i + degree <= many; i += degree) {
            Lanes own[2] = {{0}, {0}};
            for (int64_t p = 0; p < degree; p++) {
                const Lanes *row = table + 2 * ((uint64_t)(place[i + p] ^ (uint32_t)(time * 2654435761u)) * rows >> 32);
                own[0] += row[0], own[1] += row[1];
            }
            sum[0] += own[0], sum[1] += own[1];
        }
    return sum[0][0] + sum[1][0];
}

/* Philox4x32-10: words uint32[4][many] of counters 0 … many − 1, eight at once, again and again with other keys. */
void philox(uint32_t *words, int64_t many, int64_t times)
{
    for (int64_t time = 0; time < times; time++) {
        Vector counter = {0, 1, 2, 3, 4, 5, 6, 7};
        for (int64_t i = 0; i + 8 <= many; i += 8, counter += 8) {
            Vector c0 = counter, c1 = {0}, c2 = {0}, c3 = {0};
            uint32_t k0 = time, k1 = 0;
#pragma GCC unroll 10
            for (int round = 0; round < 10; round++, k0 += 0x9E3779B9, k1 += 0xBB67AE85) {
                Vector first = product(c0, 0xD2511F53), second = product(c2, 0xCD9E8D57);
                c0 = (second >> 32) ^ c1 ^ k0, c2 = (first >> 32) ^ c3 ^ k1, c1 = second, c3 = first; /* upper halves do not matter */
            }
            const Vector *drawn[4] = {&c0, &c1, &c2, &c3};
            for (int word = 0; word < 4; word++) {
                Half low = __builtin_convertvector(*drawn[word], Half);
                __builtin_memcpy(words + word * many + i, &low, sizeof low);
            }
        }
    }
}
