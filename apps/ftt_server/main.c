/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ftt_server - workers fetch blocks by name from each other, step by step: a ring of cells, a piece
 * of which each rank advances. Each step's piece is published under its name and kept, so a
 * replacement begins with step 0 and catches up from what the others still serve. The result is the
 * same whoever is killed, and however often. It does not call MPI.
 *
 *   ftrun --recovery program -n 4 --spares 3 --inject rank=2,point=ftt.came,hit=40 ./ftt_server
 *   ftt_server [STEPS]      50
 */
#include <ftrma_transport.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CELLS 512
#define EDGE 8 /* cells of a neighbour that a step needs */

static void must(int status, const char *what)
{
    if (status == FTT_OK)
        return;
    fprintf(stderr, "ftt_server: %s: %s\n", what, FTT_Status_text(status));
    exit(1);
}

static uint64_t mix(uint64_t x) { return (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull; }

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 50;
    FTT_Transport *t;
    must(FTT_Open(&t), "FTT_Open");
    int rank = FTT_Rank(t), size = FTT_Size(t), left = (rank + size - 1) % size,
        right = (rank + 1) % size;
    uint64_t(*piece)[CELLS] = malloc(((size_t)steps + 1) * sizeof *piece);
    if (!piece)
        return 1;
    for (int i = 0; i < CELLS; i++)
        piece[0][i] = mix((uint64_t)(rank * CELLS + i + 1));
    for (int s = 0; s <= steps; s++) {
        uint64_t low[EDGE], high[EDGE], sum = 0;
        FTT_Part last = {(CELLS - EDGE) * 8, EDGE * 8, 1, 0}, first = {0, EDGE * 8, 1, 0};
        char name[32];
        snprintf(name, sizeof name, "piece %d", s);
        must(FTT_Publish(t, name, piece[s], sizeof piece[s]), "FTT_Publish");
        if (s == steps)
            break;
        must(FTT_Fetch_part(t, left, name, &last, low, sizeof low), "FTT_Fetch_part");
        must(FTT_Fetch_part(t, right, name, &first, high, sizeof high), "FTT_Fetch_part");
        for (int i = 0; i < EDGE; i++)
            sum = sum * 31 + low[i] + 7 * high[i];
        for (int i = 0; i < CELLS; i++)
            piece[s + 1][i] = mix(piece[s][i] + sum + (uint64_t)i);
    }
    uint64_t sum = 0, theirs[CELLS];
    char name[32];
    snprintf(name, sizeof name, "piece %d", steps);
    for (int r = 0; r < size; r++) {
        must(FTT_Fetch(t, r, name, theirs, sizeof theirs), "FTT_Fetch");
        for (int i = 0; i < CELLS; i++)
            sum = mix(sum + theirs[i]);
    }
    must(FTT_Close(t), "FTT_Close"); /* until then it serves those that catch up */
    if (rank == 0)
        printf("result: %016llx after %d steps\n", (unsigned long long)sum, steps);
    return 0;
}
