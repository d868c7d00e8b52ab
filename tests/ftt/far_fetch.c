/* SPDX-License-Identifier: BSD-3-Clause
 *
 * far_fetch.c - rank 0 fetches from rank 1, of another node, more than an arena can hold: the data
 * goes to the program's memory, and nothing else is taken for it. 2 ranks. It never calls MPI.
 *
 *   ftt_far_fetch [late]     late: the first carrier of rank 1 does not publish; it is to be lost when
 * it is asked, with its node, so that the next one is on the asker's node
 */
#include <ftrma_transport.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES ((size_t)20 << 20) /* FTRMA_ARENA_SIZE is to be less */
#define NAME "a long block"

static FTT_Transport *t;

static void must(int status, const char *what)
{
    if (status == FTT_OK)
        return;
    fprintf(stderr, "far_fetch: %s: %s\n", what, FTT_Status_text(status));
    exit(1);
}

static unsigned char byte_at(size_t i) { return (unsigned char)(i * 7 + (i >> 14)); }

static void publish(unsigned char *block, int late)
{
    FTT_Event ev;
    while (late && FTT_Incarnation(t, FTT_Rank(t)) == 0)
        (void)FTT_Poll(t, &ev, -1);
    for (size_t i = 0; i < BYTES; i++)
        block[i] = byte_at(i);
    must(FTT_Publish(t, NAME, block, BYTES), "FTT_Publish");
}

static void fetch(unsigned char *block)
{
    size_t same = 0;
    must(FTT_Fetch(t, 1, NAME, block, BYTES), "FTT_Fetch");
    for (size_t i = 0; i < BYTES; i++)
        same += block[i] == byte_at(i);
    printf("result: %s\n", same == BYTES ? "all of it" : "something else");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    (void)argv;
    unsigned char *block = calloc(1, BYTES);
    must(FTT_Open(&t), "FTT_Open");
    must(block ? FTT_OK : FTT_ERR_NO_MEMORY, "calloc");
    if (FTT_Rank(t) == 1)
        publish(block, argc > 1);
    else if (FTT_Rank(t) == 0)
        fetch(block);
    must(FTT_Close(t), "FTT_Close");
    return 0;
}
