/* SPDX-License-Identifier: BSD-3-Clause
 *
 * store.h - a hash table spread over the ranks, reached by MPI-3 one-sided calls only.
 *
 * Each rank owns a volume of fixed size in its window. A key belongs to one slot of one volume. The
 * first key of a slot lives in the table; those that collide with it live in cells of the overflow
 * heap, which hang from the slot newest first:
 *
 *   word  0           1 ...                            1 + 3 * slots ...
 *        +-----------+------------------- - -+--------+------------------- - -+------+
 *        | next free | key value next | ...  |        | key value next | ...  |      |
 *        +-----------+------------------- - -+--------+------------------- - -+------+
 *                     table: cells 0 .. slots-1        heap: cells slots .. cells-1
 *
 *  next free   the first heap cell that nobody has taken; only ever added to, may run past the end
 * when the heap is full key         CELL_EMPTY until taken. In the table claimed by
 * compare-and-swap, never released value       in the table written once, by who claimed the key;
 * CELL_EMPTY until then next        cell index of the next cell of the chain, CHAIN_END (cell 0 is
 * in the table, no chain leads to it) after the last
 *
 * A table element may change at any time before store_settle, so it is touched by MPI's atomics
 * only. A heap cell is private to its writer until a compare-and-swap on the element's next
 * publishes it, and constant from then on, so MPI_Put and MPI_Get do.
 */
#ifndef KVSTORE_STORE_H
#define KVSTORE_STORE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#define CELL_EMPTY UINT64_C(0)
#define CHAIN_END UINT64_C(0)

struct cell {
    uint64_t key, value, next;
};

struct store {
    MPI_Win win;
    uint64_t *words;       /* my own volume, as pictured */
    uint64_t slots, cells; /* of every volume; cells counts table and heap */
    int rank, ranks;
};

/* The result of a walk through one volume. */
struct census {
    uint64_t keys;     /* cells that hold a key */
    uint64_t taken;    /* heap cells asked for, those that were not there included */
    uint64_t contents; /* sum of a hash of each key with its value: independent of the order of
                          arrival */
    uint64_t values;   /* sum of the values */
    uint64_t wrong;    /* rules broken: misplaced key, wrong value, bad link, lost cell */
};

/* A bijection that maps 0 to 0. */
uint64_t mix64(uint64_t x);

/* The value that belongs to a key; not CELL_EMPTY if the key is not. */
uint64_t store_value(uint64_t key);

/* Collective over MPI_COMM_WORLD: allocates the window and empties the caller's volume by local
 * stores. The caller has a barrier before the first access. Returns an MPI error code; *s is valid
 * on MPI_SUCCESS only. */
int store_create(struct store *s, uint64_t slots, uint64_t heap);
void store_destroy(struct store *s);

/* The calls below are made within a lock_all epoch and leave nothing unflushed.
 * Adds a key, which must be new and not CELL_EMPTY. Lock-free. False if the heap of the key's
 * volume is full. */
bool store_insert(const struct store *s, uint64_t key);

/* How often the key is present (0 or 1 if all is well), and one value of it. settled: nobody
 * inserts any more, see store_settle; otherwise a key that another rank is inserting right now may
 * or may not be seen. */
uint64_t store_lookup(const struct store *s, uint64_t key, bool settled, uint64_t *value);

/* Collective: all inserts of all ranks are over and visible to everyone, also to local loads. */
void store_settle(const struct store *s);

/* Walks the caller's own volume by local loads, after store_settle. */
struct census store_census(const struct store *s);

#endif /* KVSTORE_STORE_H */
