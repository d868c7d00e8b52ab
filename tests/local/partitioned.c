/* SPDX-License-Identifier: BSD-3-Clause
 *
 * partitioned.c - partitioned communication between neighbours, with requests for one tag that were
 * made in setup, where body begins, and in a round. Partitions are marked in other orders by each
 * rank, with messages between; what MPI_Parrived and the like say, and how often in vain, is told
 * to a neighbour, who is asked in the end what it heard: a process that is replaced and says
 * anything else the second time is found out. The result holds none of that.
 */
#include "protect.h"

enum { PARTS = 6, EACH = 150, FEW = 4, SMALL_PARTS = 8, SMALL_EACH = 2, SMALL_FEW = 16, TAG = 5 };

static struct {
    uint64_t round, sum, seen, said, heard, vain;
} st;

struct pair {
    MPI_Request req[2]; /* to the right, from the left */
    int parts, few;
    int words;
    uint64_t *out, *in;
};
static struct pair made_in_setup, made_in_body, small;

static int left(void) { return (me + np - 1) % np; }
static int right(void) { return (me + 1) % np; }
static void saw(uint64_t v) { st.seen = mix(st.seen + v); }
static uint64_t word(uint64_t r, int from, int i)
{
    return mix(r * 1000003 + (uint64_t)(from * 100000 + i));
}

static void make(struct pair *p, int parts, int each, int few)
{
    p->parts = parts;
    p->few = few;
    p->words = parts * each;
    if (!p->out) {
        p->out = room((size_t)p->words * 8);
        p->in = room((size_t)p->words * 8);
    }
    MPI_Psend_init(p->out, parts, each, MPI_UINT64_T, right(), TAG, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &p->req[0]);
    MPI_Precv_init(p->in, few, p->words / few, MPI_UINT64_T, left(), TAG, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &p->req[1]);
}

static void start_pair(struct pair *p, uint64_t r)
{
    for (int i = 0; i < p->words; i++) {
        p->out[i] = word(r, me, i);
        p->in[i] = 0;
    }
    MPI_Start(&p->req[(int)r % 2]);
    MPI_Start(&p->req[1 - (int)r % 2]);
}

/* All of p's, beginning somewhere; a message of another kind in the middle. */
static void mark(struct pair *p, uint64_t r)
{
    int first = (me * 3 + (int)r) % p->parts;
    for (int i = 0; i < p->parts; i++) {
        if (i == p->parts / 2)
            tell(right(), r, st.sum);
        MPI_Pready((first + i) % p->parts, p->req[0]);
    }
    st.sum = mix(st.sum + hear(left(), r));
}

static void verify(const struct pair *p, uint64_t r, int first, int n)
{
    for (int i = first; i < first + n; i++)
        CHECK(p->in[i] == word(r, left(), i));
}

/* In the order in which they come. */
static void look(struct pair *p, uint64_t r)
{
    uint64_t here = 0;
    for (int left_over = p->few; left_over > 0;)
        for (int i = 0, flag; i < p->few; i++) {
            if (here >> i & 1)
                continue;
            MPI_Parrived(p->req[1], i, &flag);
            st.vain += !flag;
            if (!flag)
                continue;
            saw((uint64_t)i);
            verify(p, r, i * (p->words / p->few), p->words / p->few);
            here |= UINT64_C(1) << i;
            left_over--;
        }
}

static void complete(struct pair *p, uint64_t r)
{
    int flag = 0, which;
    switch (r % 3) {
    case 0:
        for (; !flag; st.vain += !flag)
            MPI_Testall(2, p->req, &flag, MPI_STATUSES_IGNORE);
        break;
    case 1:
        MPI_Waitany(2, p->req, &which, MPI_STATUS_IGNORE);
        saw((uint64_t)which);
        MPI_Wait(&p->req[1 - which], MPI_STATUS_IGNORE);
        break;
    default: MPI_Waitall(2, p->req, MPI_STATUSES_IGNORE);
    }
    verify(p, r, 0, p->words);
    st.sum = mix_all(st.sum, p->in, (size_t)p->words);
}

static void one_round(uint64_t r)
{
    static struct pair now;
    start_pair(&made_in_setup, r);
    start_pair(&small, r + 1);
    if (r % 2)
        mark(&small, r + 1);
    mark(&made_in_setup, r);
    start_pair(&made_in_body, r + 2);
    mark(&made_in_body, r + 2);
    look(&made_in_body, r + 2);
    if (r % 2 == 0)
        mark(&small, r + 1);
    if (r % 4 != 1)
        look(&made_in_setup, r);
    if (r % 3 == 1) { /* the next one for this tag */
        make(&now, 3, 10, 5);
        start_pair(&now, r + 3);
        mark(&now, r + 3);
        complete(&now, r + 3);
        MPI_Request_free(&now.req[0]);
        MPI_Request_free(&now.req[1]);
    }
    complete(&made_in_setup, r);
    complete(&small, r + 1);
    complete(&made_in_body, r + 2);

    uint64_t mine = mix(st.seen + st.vain), theirs;
    st.said = mix(st.said ^ mine);
    MPI_Sendrecv(&mine, 1, MPI_UINT64_T, right(), 20000, &theirs, 1, MPI_UINT64_T, left(), 20000,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    st.heard = mix(st.heard ^ theirs);
}

static void body(void *arg)
{
    (void)arg;
    make(&made_in_body, FEW, 30, SMALL_FEW - 4);
    for (; st.round < opt.rounds; st.round++) {
        safepoint();
        one_round(st.round);
    }
    MPI_Request_free(&made_in_body.req[0]);
    MPI_Request_free(&made_in_body.req[1]);
}

int main(int argc, char **argv)
{
    start(argc, argv, 20);
    make(&made_in_setup, PARTS, EACH, FEW);
    make(&small, SMALL_PARTS, SMALL_EACH, SMALL_FEW);
    made_in_body.out = room(8 * FEW * 30);
    made_in_body.in = room(8 * FEW * 30);
    st.sum = mix((uint64_t)me + 7);
    protect(&st, sizeof st);
    run(body, NULL);
    uint64_t theirs;
    MPI_Sendrecv(&st.said, 1, MPI_UINT64_T, right(), 4, &theirs, 1, MPI_UINT64_T, left(), 4,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(theirs == st.heard);
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&made_in_setup.req[i]);
        MPI_Request_free(&small.req[i]);
    }
    return finish(st.sum);
}
