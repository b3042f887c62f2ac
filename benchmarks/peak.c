/* Distances between all pairs of nodes of an undirected regular graph as one writes it by hand, for speed alone: what our kernel is held against.

   Row v of a space holds, a bit a source, who has reached node v; a level is row(v) |= OR of its neighbours' rows, from one space to
   another. Some consecutive nodes are a tile: it rests while neither it nor a tile that it reads from changed, and for good once complete. */

#include "vectors.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { VECTORS = 1, BITS = 512 * VECTORS, TILE = 32, PAGE = 4096, HUGE_PAGE = 1 << 21 };

typedef struct {
    int nodes, degree, tiles;
    const int32_t *neighbour;              /* [nodes][degree] */
    int *tile_start, *tile_neighbour;      /* which tiles each reads from, itself left out; none: no tile rests before it is complete */
    int64_t *histogram;                    /* [nodes + 1] */
    int64_t rows;                          /* computed, all levels together */
    atomic_int next;                       /* block of sources */
    pthread_mutex_t lock;
} Graph;

static int least(int a, int b) { return a < b ? a : b; }

/* Rows low … high − 1 of the next level; 1 if any changed, + 2 if all are full. */
static inline __attribute__((always_inline)) int advance(
    const Graph *g, int degree, const Vector *old, Vector *new, int low, int high, const Vector *full, Vector *total)
{
    Vector changed = {0}, missing = {0};
    for (int v = low; v < high; v++) {
        const int32_t *neighbour = g->neighbour + (size_t)v * degree;
        for (int k = 0; k < VECTORS; k++) {
            Vector before = old[(size_t)v * VECTORS + k], after = before;
#pragma GCC unroll 8
            for (int p = 0; p < degree; p++) after |= old[(size_t)neighbour[p] * VECTORS + k];
            new[(size_t)v * VECTORS + k] = after;
            changed |= after ^ before;
            missing |= after ^ full[k];
            *total += ones(after ^ before);
        }
    }
    return (any(changed) != 0) | (any(missing) == 0) << 1;
}

static int advance_any(const Graph *g, const Vector *old, Vector *new, int low, int high, const Vector *full, Vector *total)
{
    switch (g->degree) {
    case 4: return advance(g, 4, old, new, low, high, full, total);
    case 6: return advance(g, 6, old, new, low, high, full, total);
    default: return advance(g, g->degree, old, new, low, high, full, total);
    }
}

static int is_active(const Graph *g, const uint8_t *changed, int tile)
{
    if (changed[tile] || !g->tile_start) return 1;
    for (int i = g->tile_start[tile]; i < g->tile_start[tile + 1]; i++)
        if (changed[g->tile_neighbour[i]]) return 1;
    return 0;
}

/* All levels of a block of sources. Adds to histogram; returns the rows computed. */
static int64_t search(const Graph *g, int first, Vector *old, Vector *new, uint8_t *changed, uint8_t *following, uint8_t *complete, int64_t *histogram)
{
    Vector full[VECTORS] = {{0}};
    int used = least(BITS, g->nodes - first);
    memset(old, 0, (size_t)g->nodes * sizeof full);
    memset(changed, 1, g->tiles);
    memset(complete, 0, g->tiles);
    for (int i = 0; i < used; i++) {
        ((uint64_t *)full)[i / 64] |= UINT64_C(1) << i % 64;
        ((uint64_t *)(old + (size_t)(first + i) * VECTORS))[i / 64] |= UINT64_C(1) << i % 64;
    }
    histogram[0] += used;
    int64_t rows = 0;
    for (int level = 1, some = 1; some; level++) {
        Vector total = {0};
        some = 0;
        for (int tile = 0; tile < g->tiles; tile++) {
            following[tile] = 0;
            if (complete[tile] || !is_active(g, changed, tile)) continue;
            int low = tile * TILE, high = least(low + TILE, g->nodes);
            int outcome = advance_any(g, old, new, low, high, full, &total);
            rows += high - low;
            some |= following[tile] = outcome & 1;
            complete[tile] = outcome >> 1;
        }
        for (int i = 0; i < 8; i++) histogram[level] += total[i];
        Vector *space = old;
        uint8_t *marks = changed;
        old = new, new = space, changed = following, following = marks;
    }
    return rows;
}

static void *work(void *argument)
{
    Graph *g = argument;
    size_t bytes = (size_t)g->nodes * sizeof(Vector) * VECTORS;
    /* half a page apart: a store at a load's address modulo the page would stall it */
    size_t second = (bytes + PAGE - 1) / PAGE * PAGE + PAGE / 2, whole = (second + bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    char *space = aligned_alloc(HUGE_PAGE, whole);
    uint8_t *marks = malloc(3 * (size_t)g->tiles);
    int64_t *histogram = calloc(g->nodes + 1, sizeof *histogram), rows = 0;
    if (!space || !marks || !histogram) abort();
    madvise(space, whole, MADV_HUGEPAGE);
    for (int64_t first; (first = (int64_t)BITS * atomic_fetch_add(&g->next, 1)) < g->nodes;)
        rows += search(g, first, (Vector *)space, (Vector *)(space + second), marks, marks + g->tiles, marks + 2 * g->tiles, histogram);
    pthread_mutex_lock(&g->lock);
    for (int i = 0; i <= g->nodes; i++) g->histogram[i] += histogram[i];
    g->rows += rows;
    pthread_mutex_unlock(&g->lock);
    free(space), free(marks), free(histogram);
    return 0;
}

/* Leaves them out where a tile reads from more than TILE others on average: then looking costs more than it saves. */
static void find_tiles(Graph *g)
{
    int *seen = malloc(g->tiles * sizeof *seen), used = 0;
    g->tile_start = calloc(g->tiles + 1, sizeof *g->tile_start);
    g->tile_neighbour = malloc((size_t)g->tiles * TILE * sizeof *g->tile_neighbour);
    if (!seen || !g->tile_start || !g->tile_neighbour) abort();
    memset(seen, -1, g->tiles * sizeof *seen);
    for (int tile = 0; tile < g->tiles && g->tile_start; tile++) {
        seen[tile] = tile;
        int end = least((tile + 1) * TILE, g->nodes) * g->degree;
        for (int i = tile * TILE * g->degree; i < end && g->tile_start; i++) {
            int other = g->neighbour[i] / TILE;
            if (seen[other] == tile) continue;
            if (used == g->tiles * TILE) free(g->tile_start), g->tile_start = 0;
            else seen[other] = tile, g->tile_neighbour[used++] = other;
        }
        if (g->tile_start) g->tile_start[tile + 1] = used;
    }
    free(seen);
}

/* histogram[d], d of 0 … nodes: ordered pairs at distance d are added. Returns the rows computed. */
int64_t distances(int64_t nodes, int64_t degree, const int32_t *neighbour, int64_t threads, int64_t *histogram)
{
    Graph g = {.nodes = nodes, .degree = degree, .tiles = (nodes + TILE - 1) / TILE, .neighbour = neighbour, .histogram = histogram};
    pthread_mutex_init(&g.lock, 0);
    find_tiles(&g);
    pthread_t others[threads];
    for (int i = 1; i < threads; i++)
        if (pthread_create(others + i, 0, work, &g)) abort();
    work(&g);
    for (int i = 1; i < threads; i++) pthread_join(others[i], 0);
    free(g.tile_start), free(g.tile_neighbour);
    return g.rows;
}
