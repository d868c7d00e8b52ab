/* SPDX-License-Identifier: BSD-3-Clause
 *
 * store.c - the distributed hash table of store.h, after "Fault Tolerance for Remote Memory Access
 * Programming Models", 7.2.2.
 */
#include "store.h"

#include <assert.h>
#include <stddef.h>

#define CELL_WORDS (sizeof(struct cell) / sizeof(uint64_t))
#define WORD(field) (offsetof(struct cell, field) / sizeof(uint64_t))
#define NEXT_FREE ((MPI_Aint)0)

uint64_t mix64(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

uint64_t store_value(uint64_t key)
{
    return mix64(key *
                 UINT64_C(0x9e3779b97f4a7c15)); /* an odd factor keeps it a bijection with 0 at 0 */
}

static int home_volume(const struct store *s, uint64_t key)
{
    return (int)((key >> 32) % (uint64_t)s->ranks);
}

static uint64_t home_slot(const struct store *s, uint64_t key)
{
    return (key & UINT32_MAX) % s->slots;
}

static MPI_Aint cell_at(uint64_t cell) { return (MPI_Aint)(1 + CELL_WORDS * cell); }

int store_create(struct store *s, uint64_t slots, uint64_t heap)
{
    assert(slots > 0 && slots <= UINT32_MAX);
    struct store made = {.slots = slots, .cells = slots + heap};
    uint64_t words = 1 + CELL_WORDS * made.cells;

    MPI_Comm_rank(MPI_COMM_WORLD, &made.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &made.ranks);
    int rc = MPI_Win_allocate((MPI_Aint)(words * sizeof(uint64_t)), sizeof(uint64_t), MPI_INFO_NULL,
                              MPI_COMM_WORLD, &made.words, &made.win);
    if (rc != MPI_SUCCESS)
        return rc;

    made.words[NEXT_FREE] = slots;
    for (uint64_t w = 1; w < words; w++)
        made.words[w] = CELL_EMPTY;
    *s = made;
    return MPI_SUCCESS;
}

void store_destroy(struct store *s) { MPI_Win_free(&s->win); }

/* One word of a volume: replaced by desired if it is expected. Returns what was there. */
static uint64_t compare_and_swap(const struct store *s, int volume, MPI_Aint word,
                                 uint64_t expected, uint64_t desired)
{
    uint64_t found;

    MPI_Compare_and_swap(&desired, &expected, &found, MPI_UINT64_T, volume, word, s->win);
    MPI_Win_flush(volume, s->win);
    return found;
}

static uint64_t take_heap_cell(const struct store *s, int volume)
{
    const uint64_t one = 1;
    uint64_t taken;

    MPI_Fetch_and_op(&one, &taken, MPI_UINT64_T, volume, NEXT_FREE, MPI_SUM, s->win);
    MPI_Win_flush(volume, s->win);
    assert(taken >= s->slots);
    return taken;
}

bool store_insert(const struct store *s, uint64_t key)
{
    assert(key != CELL_EMPTY);
    int volume = home_volume(s, key);
    MPI_Aint slot = cell_at(home_slot(s, key));
    struct cell fresh = {.key = key, .value = store_value(key), .next = CHAIN_END};

    if (compare_and_swap(s, volume, slot + (MPI_Aint)WORD(key), CELL_EMPTY, key) == CELL_EMPTY) {
        MPI_Accumulate(&fresh.value, 1, MPI_UINT64_T, volume, slot + (MPI_Aint)WORD(value), 1,
                       MPI_UINT64_T, MPI_REPLACE, s->win);
        MPI_Win_flush(volume, s->win);
        return true;
    }

    uint64_t taken = take_heap_cell(s, volume);
    if (taken >= s->cells)
        return false;
    /* The cell is complete at the target before the swap publishes it. A swap fails only because
     * another one went in, so some insert always gets on; cells are never given back, so next
     * cannot return to a former value in between. */
    for (;;) {
        MPI_Put(&fresh, CELL_WORDS, MPI_UINT64_T, volume, cell_at(taken), CELL_WORDS, MPI_UINT64_T,
                s->win);
        MPI_Win_flush(volume, s->win);
        uint64_t head = compare_and_swap(s, volume, slot + (MPI_Aint)WORD(next), fresh.next, taken);
        if (head == fresh.next)
            return true;
        assert(head >= s->slots);
        fresh.next = head;
    }
}

static struct cell read_cell(const struct store *s, int volume, uint64_t cell, bool settled)
{
    struct cell c;

    assert(cell < s->cells);
    if (settled || cell >= s->slots)
        MPI_Get(&c, CELL_WORDS, MPI_UINT64_T, volume, cell_at(cell), CELL_WORDS, MPI_UINT64_T,
                s->win);
    else
        MPI_Get_accumulate(NULL, 0, MPI_UINT64_T, &c, CELL_WORDS, MPI_UINT64_T, volume,
                           cell_at(cell), CELL_WORDS, MPI_UINT64_T, MPI_NO_OP, s->win);
    MPI_Win_flush(volume, s->win);
    return c;
}

uint64_t store_lookup(const struct store *s, uint64_t key, bool settled, uint64_t *value)
{
    assert(key != CELL_EMPTY);
    int volume = home_volume(s, key);
    uint64_t cell = home_slot(s, key), found = 0;

    /* New cells are hung in front, so nothing can be passed over or met twice on the way; the bound
     * is for a damaged chain. */
    for (uint64_t steps = 0; steps <= s->cells - s->slots; steps++) {
        struct cell c = read_cell(s, volume, cell, settled);
        if (c.key == key && c.value != CELL_EMPTY) {
            *value = c.value;
            found++;
        }
        if (c.next < s->slots || c.next >= s->cells)
            break;
        cell = c.next;
    }
    return found;
}

void store_settle(const struct store *s)
{
    MPI_Win_flush_all(s->win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(s->win);
}

static void census_chain(const struct store *s, const struct cell *cells, uint64_t slot,
                         uint64_t used, struct census *n, uint64_t *chained)
{
    if (cells[slot].key == CELL_EMPTY) {
        n->wrong += cells[slot].value != CELL_EMPTY || cells[slot].next != CHAIN_END;
        return;
    }
    for (const struct cell *c = &cells[slot];; c = &cells[c->next]) {
        bool misplaced = home_volume(s, c->key) != s->rank || home_slot(s, c->key) != slot;
        n->wrong += misplaced || c->key == CELL_EMPTY || c->value != store_value(c->key);
        n->keys++;
        n->contents += mix64(mix64(c->key) + c->value);
        n->values += c->value;
        if (c->next == CHAIN_END)
            return;
        if (c->next < s->slots || c->next >= used || *chained == used - s->slots) {
            n->wrong++; /* leads out of the heap, or round in a circle */
            return;
        }
        ++*chained;
    }
}

struct census store_census(const struct store *s)
{
    const struct cell *cells = (const struct cell *)&s->words[1];
    uint64_t next_free = s->words[NEXT_FREE];
    uint64_t used = next_free < s->cells ? next_free : s->cells;
    uint64_t chained = 0;
    struct census n = {.taken = next_free - s->slots};

    if (next_free < s->slots) {
        n.wrong = 1;
        return n;
    }
    for (uint64_t slot = 0; slot < s->slots; slot++)
        census_chain(s, cells, slot, used, &n, &chained);
    n.wrong += chained != used - s->slots; /* a heap cell was taken and hangs nowhere */
    return n;
}
