/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ftt_tasks - work stealing over active messages. Each rank owns a share of the tasks, an uneven
 * one. Whoever has none left asks others for some of theirs by a header; the owner answers with the
 * number of a task, or that it has none. Results go back to the owner as headers, which the owner
 * answers when it has counted them: each task is done at least once, and its result counted once. A
 * lost owner's replacement hands its tasks out again. It does not call MPI.
 *
 *   ftrun --recovery program -n 4 --spares 3 --inject rank=1,point=ftt.polled,hit=60 ./ftt_tasks
 *   ftt_tasks [TASKS]      400
 */
#include <ftrma_transport.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEAL = 1, RESULT };
struct result {
    int32_t task, pad;
    uint64_t value;
};

static FTT_Transport *t;
static int rank, size, tasks, from, to, next, counted, idle; /* own: [from, to) */
static int outstanding;                                      /* headers */
static char *is_counted;
static uint64_t sum;

static void must(int status, const char *what)
{
    if (status == FTT_OK)
        return;
    fprintf(stderr, "ftt_tasks: %s: %s\n", what, FTT_Status_text(status));
    exit(1);
}

/* Rank r owns as many as r + 1 of 1 + 2 + ... + size. */
static int begin_of(int r) { return (int)((long)tasks * r * (r + 1) / ((long)size * (size + 1))); }
static int owner(int task)
{
    int r = 0;
    while (begin_of(r + 1) <= task)
        r++;
    return r;
}

static uint64_t work(int task)
{
    uint64_t x = (uint64_t)task + 1;
    for (int i = 0; i < 20000; i++)
        x = (x ^ x >> 27) * 0x94d049bb133111ebull + (uint64_t)i;
    return x;
}

/* One that is not handed out; then, again, one whose result is not there. [The thief was lost.] */
static int take(void)
{
    for (int i = from; i < to; i++) {
        int k = from + (next - from + i - from) % (to - from);
        if (!is_counted[k - from]) {
            next = k + 1 < to ? k + 1 : from;
            return k;
        }
    }
    return -1;
}

static void count(const struct result *r)
{
    if (is_counted[r->task - from])
        return; /* it was done twice */
    is_counted[r->task - from] = 1;
    sum += r->value * (2 * (uint64_t)r->task + 1);
    counted++;
}

static void ask(int whom, uint32_t what, const void *data, size_t bytes)
{
    must(FTT_Send_header(t, whom, what, data, bytes, 0, NULL), "FTT_Send_header");
    outstanding++;
}

static void do_task(int task)
{
    struct result r = {.task = task, .value = work(task)};
    if (owner(task) == rank)
        count(&r);
    else
        ask(owner(task), RESULT, &r, sizeof r);
}

static void serve(const FTT_Event *ev)
{
    int32_t task = -1;
    struct result r;
    if (ev->tag == STEAL) {
        task = take();
    } else {
        memcpy(&r, ev->data, sizeof r);
        count(&r);
    }
    int st = FTT_Answer(t, ev, &task, sizeof task, 0);
    if (st != FTT_ERR_DEAD) /* whoever asked was lost: its replacement asks again */
        must(st, "FTT_Answer");
}

int main(int argc, char **argv)
{
    tasks = argc > 1 ? atoi(argv[1]) : 400;
    must(FTT_Open(&t), "FTT_Open");
    rank = FTT_Rank(t);
    size = FTT_Size(t);
    from = next = begin_of(rank);
    to = begin_of(rank + 1);
    is_counted = calloc((size_t)(to - from) + 1, 1);
    if (!is_counted)
        return 1;
    int victim = rank, asking = 0, over = 0, said = 0;
    while (!over) {
        FTT_Event ev;
        int st = FTT_Poll(t, &ev, asking || idle >= size ? -1 : 0), mine;
        outstanding -= st == FTT_OK && ev.kind == FTT_EV_ANSWER;
        if (st == FTT_OK && ev.kind == FTT_EV_HEADER) {
            serve(&ev);
        } else if (st == FTT_OK && ev.kind == FTT_EV_ANSWER && ev.tag == STEAL) {
            int32_t task = -1; /* in FTT_Close, FTT_ERR_CLOSED: all that it had is done */
            if (ev.status == FTT_OK)
                memcpy(&task, ev.data, sizeof task);
            asking = 0;
            idle = task < 0 ? idle + 1 : 0;
            if (task >= 0)
                do_task(task);
        } else if (st == FTT_OK && ev.kind == FTT_EV_COLLECTIVE) {
            over = ev.status == FTT_OK;
            said = over;
            if (over && rank == 0) {
                uint64_t all;
                memcpy(&all, ev.data, 8);
                printf("result: %016llx of %d tasks\n", (unsigned long long)all, tasks);
                fflush(stdout);
            }
        } else if (st == FTT_TIMEOUT && counted < to - from && (mine = take()) >= 0) {
            do_task(mine);
        } else if (st == FTT_TIMEOUT && !asking && size > 1) {
            victim = (victim + 1) % size;
            victim = victim == rank ? (victim + 1) % size : victim;
            ask(victim, STEAL, NULL, 0);
            asking = 1;
        }
        if (counted == to - from && !said && !over) { /* the own share is complete */
            said = 1;
            must(FTT_Allreduce(t, "sum", FTT_SUM, FTT_INT64, &sum, 1), "FTT_Allreduce");
        }
        if (st == FTT_OK && ev.kind == FTT_EV_FAILURE)
            idle = 0; /* its replacement has work again */
    }
    /* others' headers are answered until all own ones of all ranks are */
    FTT_Event ev;
    for (int end = 0, began = 0; !end;) {
        if (!outstanding && !began) {
            must(FTT_Barrier(t, "end"), "FTT_Barrier");
            began = 1;
        }
        must(FTT_Poll(t, &ev, -1), "FTT_Poll");
        if (ev.kind == FTT_EV_HEADER)
            serve(&ev);
        outstanding -= ev.kind == FTT_EV_ANSWER;
        if (ev.kind == FTT_EV_COLLECTIVE)
            began = end = ev.status == FTT_OK;
    }
    must(FTT_Close(t), "FTT_Close");
    return 0;
}
