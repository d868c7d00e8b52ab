/* SPDX-License-Identifier: BSD-3-Clause
 *
 * conform.c - what each function of the transport promises, and under a death. It never calls MPI.
 *
 *   conform CASE        calls: errors and statuses, no deaths
 *                       storm: an iterative job that uses all; ends with the same result if ranks
 *                       are killed at any place
 *                       figure: a rank dies while the others vote
 *                       ping: a death is told before it is agreed upon
 *                       full: FTT_Close with as many collectives outstanding as are allowed; 2 ranks
 *                       unread: FTT_Close without the helper thread, before all was read; 3 ranks
 */
#define _POSIX_C_SOURCE 200809L
#include <ftrma_transport.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static FTT_Transport *t;
static int rank, size;

#define CHECK(x)                                                                              \
    do {                                                                                      \
        if (!(x)) {                                                                           \
            fprintf(stderr, "conform.c:%d: rank %d: %s does not hold\n", __LINE__, rank, #x); \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)

static int deaths;
static void died(void *arg, int r, uint32_t incarnation)
{
    (void)arg, (void)r, (void)incarnation;
    deaths++;
}

/* The next event of this kind. Others may come before it, as ranks are not in step: they are kept.
 */
static struct kept {
    struct kept *next;
    FTT_Event ev;
    char data[FTT_MESSAGE_MAX + FTT_NAME_MAX + 16];
} * kept, *given;

static FTT_Event next(enum FTT_Kind kind)
{
    for (;;) {
        struct kept **at = &kept, *k;
        while (*at && (*at)->ev.kind != kind)
            at = &(*at)->next;
        if (*at) {
            free(given);
            given = *at;
            *at = given->next;
            return given->ev;
        }
        CHECK((k = malloc(sizeof *k)));
        CHECK(FTT_Poll(t, &k->ev, -1) == FTT_OK);
        k->next = NULL;
        if (k->ev.data)
            k->ev.data = memcpy(k->data, k->ev.data, k->ev.bytes);
        if (k->ev.label)
            k->ev.label = strcpy(k->data + FTT_MESSAGE_MAX + 8, k->ev.label);
        for (at = &kept; *at;)
            at = &(*at)->next;
        *at = k;
    }
}

/* Waits for all, by any label that was not used before. */
static void together(const char *label)
{
    CHECK(FTT_Barrier(t, label) == FTT_OK);
    FTT_Event ev = next(FTT_EV_COLLECTIVE);
    CHECK(ev.status == FTT_OK && strcmp(ev.label, label) == 0 && ev.bytes == 0);
}

static void messages(int right, int left)
{
    static char big[FTT_MESSAGE_MAX + 1];
    FTT_Event ev, header;
    uint64_t id = 0;
    CHECK(FTT_Send(t, size, 1, "x", 1, 0, NULL) == FTT_ERR_ARG);
    CHECK(FTT_Send(t, -1, 1, "x", 1, 0, NULL) == FTT_ERR_ARG);
    CHECK(FTT_Send(t, right, 1, NULL, 1, 0, NULL) == FTT_ERR_ARG);
    CHECK(FTT_Send(t, right, 1, big, sizeof big, 0, &id) == FTT_ERR_LONG && id == 0);
    CHECK(FTT_Poll(t, NULL, 0) == FTT_ERR_ARG);
    for (size_t i = 0; i < sizeof big; i++)
        big[i] = (char)(i * 7 + (size_t)rank);
    together("before");
    /* the longest message, to itself, with an acknowledgement */
    CHECK(FTT_Send(t, rank, 4, big, FTT_MESSAGE_MAX, 1, &id) == FTT_OK && id);
    for (int i = 0; i < 2; i++) {
        ev = next(i ? FTT_EV_MESSAGE : FTT_EV_ACK);
        CHECK(ev.rank == rank && ev.id == id && ev.tag == 4 && ev.bytes == FTT_MESSAGE_MAX);
        CHECK(memcmp(ev.data, big, ev.bytes) == 0);
    }
    together("order");
    for (uint32_t i = 0; i < 500; i++)
        CHECK(FTT_Send(t, right, i, &i, i % 2 ? sizeof i : 0, 0, NULL) == FTT_OK);
    for (uint32_t i = 0; i < 500; i++) {
        ev = next(FTT_EV_MESSAGE);
        CHECK(ev.rank == left && ev.tag == i && ev.bytes == (i % 2 ? 4 : 0));
        CHECK(!ev.bytes || memcmp(ev.data, &i, 4) == 0);
    }
    together("header");
    CHECK(FTT_Send_header(t, right, 9, "ask", 4, 0, &id) == FTT_OK);
    header = next(FTT_EV_HEADER);
    CHECK(header.rank == left && header.tag == 9 && strcmp(header.data, "ask") == 0);
    CHECK(FTT_Answer(t, &ev, "x", 1, 0) == FTT_ERR_ARG);
    CHECK(FTT_Answer(t, &header, big, sizeof big, 0) == FTT_ERR_LONG);
    CHECK(FTT_Answer(t, &header, "reply", 6, 1) == FTT_OK);
    uint64_t asked = header.id;
    ev = next(FTT_EV_ANSWER);
    CHECK(ev.id == id && ev.tag == 9 && ev.rank == right && !strcmp(ev.data, "reply"));
    ev = next(FTT_EV_ANSWERED);
    CHECK(ev.rank == left && ev.id == asked);
    together("answered");
    CHECK(!kept); /* nothing came twice */
}

static void names(int right)
{
    static char long_name[FTT_NAME_MAX + 2], most[20000], got[20000], small[5];
    FTT_Part part = {.offset = 1, .item = 1, .count = 3, .stride = 2};
    memset(long_name, 'n', FTT_NAME_MAX + 1);
    for (size_t i = 0; i < sizeof most; i++)
        most[i] = (char)(i + (size_t)rank);
    CHECK(FTT_Publish(t, long_name, small, 5) == FTT_ERR_NAME);
    CHECK(FTT_Publish(t, "", small, 5) == FTT_ERR_NAME &&
          FTT_Publish(t, NULL, small, 5) == FTT_ERR_NAME);
    CHECK(FTT_Unpublish(t, "nothing") == FTT_ERR_NOT_FOUND);
    CHECK(FTT_Fetch(t, right, long_name, got, 5) == FTT_ERR_NAME);
    CHECK(FTT_Fetch(t, size, "most", got, 5) == FTT_ERR_ARG);
    long_name[FTT_NAME_MAX] = 0;
    CHECK(FTT_Publish(t, long_name, "12345", 5) == FTT_OK);
    uint64_t id;
    FTT_Event ev;
    CHECK(FTT_Ifetch(t, right, "most", got, sizeof got, &id) == FTT_OK);
    together("asked"); /* the fetch may wait there */
    CHECK(FTT_Publish(t, "most", most, sizeof most) == FTT_OK);
    ev = next(FTT_EV_FETCHED);
    CHECK(ev.id == id && ev.status == FTT_OK && ev.bytes == sizeof got);
    for (size_t i = 0; i < sizeof got; i++)
        CHECK(got[i] == (char)(i + (size_t)right));
    CHECK(FTT_Fetch(t, right, long_name, small, 5) == FTT_OK && memcmp(small, "12345", 5) == 0);
    CHECK(FTT_Fetch_part(t, right, long_name, &part, small, 2) == FTT_ERR_SIZE);
    memset(small, 0, 5);
    part.count = 2;
    CHECK(FTT_Fetch_part(t, right, long_name, &part, small, 2) == FTT_OK &&
          !memcmp(small, "24\0", 3));
    part.stride = 4; /* beyond the end */
    CHECK(FTT_Fetch_part(t, right, long_name, &part, small, 2) == FTT_ERR_SIZE);
    CHECK(FTT_Fetch(t, right, long_name, got, 6) == FTT_ERR_SIZE && got[5] != '5');
    CHECK(FTT_Ifetch(t, right, long_name, got, 4, &id) == FTT_OK);
    ev = next(FTT_EV_FETCHED);
    CHECK(ev.status == FTT_ERR_SIZE && ev.bytes == 5 && ev.id == id);
    together("fetched");
}

/* Blocks in public memory, which others copy by themselves: each block is of one number throughout,
 * though its owner withdraws it, changes it and publishes it again all the time. */
#define WORDS 65536
static void blocks(int right)
{
    static uint64_t got[WORDS];
    FTT_Part part = {.offset = 8, .item = 8, .count = 3, .stride = 16};
    FTT_Buffer mine;
    FTT_Event ev;
    void *addr;
    uint64_t *block, id, before = 0;
    CHECK(FTT_Alloc(t, sizeof got, &mine, &addr) == FTT_OK);
    block = addr;
    for (uint64_t i = 1; i <= 120; i++) {
        if (i > 1 && i % 2)
            CHECK(FTT_Unpublish(t, "block") == FTT_OK);
        else if (i > 1) /* what is published again meanwhile is another block */
            CHECK(FTT_Publish(t, "block", &id, sizeof id) == FTT_OK);
        for (int k = 0; k < WORDS; k++)
            block[k] = i;
        CHECK(FTT_Publish(t, "block", block, sizeof got) == FTT_OK);
        int st = FTT_Fetch(t, right, "block", got, sizeof got);
        CHECK(st == FTT_OK || st == FTT_ERR_SIZE);
        if (st == FTT_ERR_SIZE)
            continue;
        for (int k = 1; k < WORDS; k++)
            CHECK(got[k] == got[0]);
        CHECK(got[0] >= before);
        before = got[0];
    }
    together("blocks");
    CHECK(FTT_Fetch(t, right, "block", got, 8) == FTT_ERR_SIZE);
    CHECK(FTT_Ifetch(t, right, "block", got, 8, &id) == FTT_OK);
    ev = next(FTT_EV_FETCHED);
    CHECK(ev.id == id && ev.status == FTT_ERR_SIZE && ev.bytes == sizeof got && ev.rank == right);
    for (int k = 0; k < WORDS; k++)
        block[k] = (uint64_t)k * 3; /* nobody fetches now */
    together("changed");
    CHECK(FTT_Ifetch_part(t, right, "block", &part, got, 24, &id) == FTT_OK);
    ev = next(FTT_EV_FETCHED);
    CHECK(ev.id == id && ev.status == FTT_OK && got[0] == 3 && got[1] == 9 && got[2] == 15);
    CHECK(FTT_Fetch(t, rank, "block", got, sizeof got) == FTT_OK &&
          got[WORDS - 1] == 3 * (WORDS - 1));
    together("parts");
    CHECK(FTT_Unpublish(t, "block") == FTT_OK && FTT_Release(t, &mine) == FTT_OK);
}

static void buffers(int right, int left)
{
    struct {
        FTT_Buffer shared, own;
    } mine, theirs;
    static char own[3000], data[3000];
    FTT_Buffer old;
    FTT_Event ev;
    void *addr;
    uint64_t id;
    CHECK(FTT_Alloc(t, 100000, NULL, &addr) == FTT_ERR_ARG);
    CHECK(FTT_Alloc(t, 100000, &mine.shared, &addr) == FTT_OK && mine.shared.bytes == 100000);
    CHECK(FTT_Register(t, own, sizeof own, &mine.own) == FTT_OK);
    CHECK(FTT_Publish(t, "buffers", &mine, sizeof mine) == FTT_OK);
    CHECK(FTT_Fetch(t, right, "buffers", &theirs, sizeof theirs) == FTT_OK);
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(3 * i + (size_t)rank);
    CHECK(FTT_Put(t, &theirs.shared, 99999, data, 2, 0, 0, NULL) == FTT_ERR_SIZE);
    CHECK(FTT_Put(t, &theirs.shared, UINT64_MAX, data, 2, 0, 0, NULL) == FTT_ERR_SIZE);
    old = theirs.shared;
    old.serial += 77;
    CHECK(FTT_Put(t, &old, 0, data, 2, 0, 0, NULL) == FTT_ERR_HANDLE);
    old.index = 1u << 30;
    CHECK(FTT_Get(t, &old, 0, data, 2, 0, 0, NULL) == FTT_ERR_HANDLE);
    old.rank = 99;
    CHECK(FTT_Get(t, &old, 0, data, 2, 0, 0, NULL) == FTT_ERR_ARG);
    together("handles");
    CHECK(FTT_Put(t, &theirs.shared, 64, data, sizeof data, 5, FTT_SEND_ACK | FTT_RECEIVE_ACK,
                  &id) == FTT_OK);
    ev = next(FTT_EV_PUT);
    CHECK(ev.rank == right && ev.id == id && ev.tag == 5 && ev.bytes == sizeof data);
    ev = next(FTT_EV_PUT_HERE);
    CHECK(ev.rank == left && ev.tag == 5 && ev.bytes == sizeof data);
    for (size_t i = 0; i < sizeof data; i++)
        CHECK(((char *)addr)[64 + i] == (char)(3 * i + (size_t)left));
    int st = FTT_Put(t, &theirs.own, 0, data, sizeof data, 0, 0, NULL);
    CHECK(st == FTT_OK || st == FTT_ERR_KERNEL);
    together("registered");
    CHECK(st != FTT_OK || own[5] == (char)(15 + left));
    memset(data, 0, sizeof data);
    CHECK(FTT_Get(t, &theirs.shared, 64, data, sizeof data, 6, FTT_SEND_ACK, &id) == FTT_OK);
    CHECK(data[1] == (char)(3 + rank) && next(FTT_EV_GET).id == id);
    together("got");
    CHECK(FTT_Release(t, &mine.shared) == FTT_OK && FTT_Release(t, &mine.shared) == FTT_ERR_HANDLE);
    CHECK(FTT_Release(t, &theirs.shared) == FTT_ERR_HANDLE || size == 1);
    together("released");
    CHECK(FTT_Put(t, &theirs.shared, 0, data, 1, 0, 0, NULL) == FTT_ERR_HANDLE);
    CHECK(FTT_Unpublish(t, "buffers") == FTT_OK);
}

/* A handle of a part of public memory, also at its begin, is released alone. */
static void parts_of_buffers(void)
{
    FTT_Buffer all, part, other;
    char *at, byte = 0;
    void *addr, *elsewhere;
    for (size_t begin = 0; begin <= 128; begin += 128) {
        CHECK(FTT_Alloc(t, 4096, &all, &addr) == FTT_OK);
        at = addr;
        memset(at, 7, 4096);
        CHECK(FTT_Register(t, at + begin, 64, &part) == FTT_OK);
        CHECK(FTT_Get(t, &part, 63, &byte, 1, 0, 0, NULL) == FTT_OK && byte == 7);
        CHECK(FTT_Release(t, &part) == FTT_OK);
        CHECK(FTT_Get(t, &part, 0, &byte, 1, 0, 0, NULL) == FTT_ERR_HANDLE);
        CHECK(FTT_Alloc(t, 4096, &other, &elsewhere) == FTT_OK && elsewhere != addr);
        memset(elsewhere, 9, 4096);
        for (int i = 0; i < 4096; i++)
            CHECK(at[i] == 7);
        CHECK(FTT_Get(t, &all, 4095, &byte, 1, 0, 0, NULL) == FTT_OK && byte == 7);
        CHECK(FTT_Release(t, &other) == FTT_OK && FTT_Release(t, &all) == FTT_OK);
    }
}

static void agreements(void)
{
    int64_t mine = rank + 1, all[64];
    double x = 0.5 * rank;
    FTT_Event ev;
    uint64_t ping;
    CHECK(FTT_Barrier(t, "") == FTT_ERR_NAME);
    CHECK(FTT_Broadcast(t, "b", size, &mine, 8) == FTT_ERR_ARG);
    CHECK(FTT_Gather(t, "g", 0, &mine, FTT_COLLECTIVE_MAX + 1) == FTT_ERR_LONG);
    CHECK(FTT_Allreduce(t, "sum", FTT_SUM, FTT_INT64, &mine, 1) == FTT_OK);
    ev = next(FTT_EV_COLLECTIVE);
    memcpy(all, ev.data, 8);
    CHECK(ev.bytes == 8 && all[0] == size * (size + 1) / 2 && !strcmp(ev.label, "sum"));
    CHECK(FTT_Reduce(t, "max", size - 1, FTT_MAX, FTT_DOUBLE, &x, 1) == FTT_OK);
    ev = next(FTT_EV_COLLECTIVE);
    CHECK(ev.bytes == (rank == size - 1 ? 8u : 0u));
    if (ev.bytes) {
        memcpy(&x, ev.data, 8);
        CHECK(x == 0.5 * (size - 1));
    }
    CHECK(FTT_Broadcast(t, "cast", size - 1, &mine, 8) == FTT_OK);
    ev = next(FTT_EV_COLLECTIVE);
    memcpy(all, ev.data, 8);
    CHECK(all[0] == size);
    CHECK(FTT_Gather(t, "gather", 0, &mine, 8) == FTT_OK);
    ev = next(FTT_EV_COLLECTIVE);
    for (int r = 0; r < size && rank == 0; r++) {
        memcpy(all, (const char *)ev.data + 8 * r, 8);
        CHECK(ev.bytes == 8u * (unsigned)size && all[0] == r + 1);
    }
    CHECK(FTT_Allreduce(t, "sum", FTT_SUM, FTT_INT64, &mine, 1) == FTT_OK); /* told again */
    ev = next(FTT_EV_COLLECTIVE);
    memcpy(all, ev.data, 8);
    CHECK(all[0] == size * (size + 1) / 2);
    CHECK(FTT_Vote(t, 0) == FTT_ERR_ARG && FTT_Vote(t, 3) == FTT_OK);
    ev = next(FTT_EV_VOTED);
    CHECK(ev.tag == 3 && ev.bytes == 0);
    CHECK(FTT_Ping(t, size, 0, died, NULL, NULL) == FTT_ERR_ARG);
    CHECK(FTT_Ping(t, 0, 0, died, NULL, &ping) == FTT_OK);
    CHECK(FTT_Cancel(t, ping) == FTT_OK && FTT_Cancel(t, ping) == FTT_ERR_NOT_FOUND);
    CHECK(FTT_Incarnation(t, rank) == 0 && FTT_Incarnation(t, size) == UINT32_MAX);
    CHECK(deaths == 0);
}

/* What does not fit is refused by its status, and nothing is lost: what was accepted comes, once
 * and in order, and the same call works when there is room again. */
static void limits(void)
{
    static FTT_Buffer some[5000];
    static char own[64];
    FTT_Buffer large;
    FTT_Event ev, header = {.kind = FTT_EV_HEADER, .rank = rank, .incarnation = 77};
    void *addr = NULL;
    uint64_t id = 0, last = 0;
    uint32_t sent = 0, came = 0;
    int n = 0, st;
    CHECK(FTT_Answer(t, &header, "x", 1, 0) == FTT_ERR_DEAD);
    CHECK(FTT_Alloc(t, (size_t)1 << 46, &large, &addr) == FTT_ERR_NO_MEMORY && !addr);
    while ((st = FTT_Register(t, own, sizeof own, &some[n])) == FTT_OK)
        CHECK(++n < 5000);
    CHECK(n && (st == FTT_ERR_NO_MEMORY || (st == FTT_ERR_KERNEL && n == 0)));
    while (n)
        CHECK(FTT_Release(t, &some[--n]) == FTT_OK);
    CHECK(FTT_Register(t, own, sizeof own, &some[0]) == FTT_OK &&
          FTT_Release(t, &some[0]) == FTT_OK);
    CHECK(FTT_Poll(t, &ev, 0) == FTT_TIMEOUT);
    CHECK(FTT_Progress(t, 0) == FTT_OK); /* nobody takes what this process sends to itself */
    while ((st = FTT_Send(t, rank, sent, &sent, sizeof sent, 0, &id)) == FTT_OK) {
        last = id;
        CHECK(++sent < 100000);
    }
    CHECK(st == FTT_ERR_FULL && id == last && sent > 1000);
    CHECK(FTT_Send_header(t, rank, 0, "x", 1, 0, NULL) == FTT_ERR_FULL);
    CHECK(FTT_Ifetch(t, rank, "nothing", own, sizeof own, NULL) == FTT_ERR_FULL);
    while (came < sent) {
        CHECK(FTT_Poll(t, &ev, -1) == FTT_OK && ev.kind == FTT_EV_MESSAGE && ev.rank == rank);
        CHECK(ev.tag == came && ev.bytes == sizeof came &&
              memcmp(ev.data, &came, sizeof came) == 0);
        came++;
    }
    while ((st = FTT_Send(t, rank, sent, "x", 1, 0, NULL)) ==
           FTT_ERR_FULL) /* not acknowledged yet */
        CHECK(FTT_Poll(t, &ev, 0) == FTT_TIMEOUT);
    CHECK(st == FTT_OK);
    CHECK(FTT_Poll(t, &ev, -1) == FTT_OK && ev.kind == FTT_EV_MESSAGE && ev.tag == sent);
    CHECK(FTT_Progress(t, 1) == FTT_OK);
}

/* The last rank has all headers, polls none of them, and comes to FTT_Close. */
static void asks_who_closes(void)
{
    static char word;
    uint64_t id;
    if (rank == size - 1) {
        CHECK(FTT_Publish(t, "closing", &word, 1) == FTT_OK);
        for (int r = 0; r < rank; r++)
            CHECK(FTT_Fetch(t, r, "asked", &word, 1) == FTT_OK);
        return;
    }
    CHECK(FTT_Fetch(t, size - 1, "closing", &word, 1) == FTT_OK);
    CHECK(FTT_Send_header(t, size - 1, 8, "ask", 4, 0, &id) == FTT_OK);
    CHECK(FTT_Publish(t, "asked", &word, 1) == FTT_OK);
    FTT_Event ev = next(FTT_EV_ANSWER);
    CHECK(ev.id == id && ev.tag == 8 && ev.rank == size - 1 && ev.status == FTT_ERR_CLOSED &&
          ev.bytes == 0);
}

static void calls(void)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    FTT_Transport *again;
    CHECK(FTT_Open(&again) == FTT_ERR_OPEN);
    messages(right, left);
    names(right);
    blocks(right);
    buffers(right, left);
    parts_of_buffers();
    agreements();
    together("agreed");
    limits();
    together("end");
    asks_who_closes();
}

/* Each rank has a number for each step, which follows from all ranks' numbers of the step before. A
 * replacement begins with step 0: the survivors keep what they have published. */
#define STEPS 12
/* 2 KiB: the publisher copies them into the asker's memory, or, where they are public, the asker
 * does so by itself */
static uint64_t (*number)[256];

/* Others' headers are answered whenever they come. */
static FTT_Event poll_serving(void)
{
    FTT_Event ev;
    for (;;) {
        CHECK(FTT_Poll(t, &ev, -1) == FTT_OK);
        if (ev.kind != FTT_EV_HEADER)
            return ev;
        int st = FTT_Answer(t, &ev, ev.data, ev.bytes, 0);
        CHECK(st == FTT_OK || st == FTT_ERR_DEAD);
    }
}

static void ask_all(int step)
{
    char name[32], label[32];
    static uint64_t got[256];
    FTT_Event ev;
    uint64_t id;
    snprintf(name, sizeof name, "step %d", step);
    memset(number[step + 1], 0, sizeof number[0]);
    for (int i = 1; i <= size; i++) { /* itself last */
        int r = (rank + i) % size;
        if (r == rank)
            CHECK(FTT_Publish(t, name, number[step], sizeof number[step]) == FTT_OK);
        CHECK(FTT_Ifetch(t, r, name, got, sizeof got, &id) == FTT_OK);
        do
            ev = poll_serving();
        while (ev.kind != FTT_EV_FETCHED);
        CHECK(ev.id == id && ev.status == FTT_OK);
        for (int k = 0; k < 256; k++)
            number[step + 1][k] = number[step + 1][k] * 31 + got[k] * (uint64_t)(2 * rank + 3) + 7;
    }
    CHECK(FTT_Send_header(t, (rank + 1) % size, (uint32_t)step, &step, sizeof step, 1, &id) ==
          FTT_OK);
    snprintf(label, sizeof label, "all %d", step);
    int64_t sum = (int64_t)(number[step + 1][0] % 1000);
    int voted = 0, told = 0, answered = 0;
    CHECK(FTT_Vote(t, (uint32_t)step + 1) == FTT_OK);
    CHECK(FTT_Allreduce(t, label, FTT_SUM, FTT_INT64, &sum, 1) == FTT_OK);
    while (!voted || !told || !answered) {
        ev = poll_serving();
        if (ev.kind == FTT_EV_ANSWER) {
            CHECK(ev.id == id && !answered);
            answered = 1;
        } else if (ev.kind == FTT_EV_VOTED) {
            CHECK(!voted && ev.tag >= (uint32_t)step + 1);
            voted = 1;
        } else if (ev.kind == FTT_EV_COLLECTIVE && ev.status == FTT_OK) {
            CHECK(!told);
            told = 1;
        } else if (ev.kind == FTT_EV_COLLECTIVE) {
            CHECK(ev.status == FTT_ERR_DEAD);
            CHECK(FTT_Allreduce(t, label, FTT_SUM, FTT_INT64, &sum, 1) == FTT_OK);
        }
    }
}

static void storm(void)
{
    static uint64_t own[STEPS + 1][256];
    char name[32], label[32];
    uint64_t sum = 0;
    FTT_Event ev;
    FTT_Buffer b;
    void *addr = own;
    if (rank % 2 == 0)
        CHECK(FTT_Alloc(t, sizeof own, &b, &addr) == FTT_OK);
    number = addr;
    for (int i = 0; i < 256; i++)
        number[0][i] = (uint64_t)(rank * 256 + i);
    for (int step = 0; step < STEPS; step++) {
        snprintf(name, sizeof name, "step %d", step);
        if (step) { /* the same memory once more: whoever copies it meanwhile asks the publisher */
            snprintf(label, sizeof label, "step %d", step - 1);
            CHECK(FTT_Publish(t, label, number[step - 1], sizeof number[0]) == FTT_OK);
        }
        if (step % size != rank) /* that one publishes late, and all others wait for it */
            CHECK(FTT_Publish(t, name, number[step], sizeof number[step]) == FTT_OK);
        ask_all(step);
    }
    for (int i = 0; i < 256; i++)
        sum = sum * 131 + number[STEPS][i];
    printf("result: rank %d %016llx\n", rank, (unsigned long long)sum);
    fflush(stdout);
    /* others may still ask */
    CHECK(FTT_Barrier(t, "over") == FTT_OK);
    do {
        ev = poll_serving();
        if (ev.kind == FTT_EV_COLLECTIVE && ev.status != FTT_OK)
            CHECK(FTT_Barrier(t, "over") == FTT_OK);
    } while (ev.kind != FTT_EV_COLLECTIVE || ev.status != FTT_OK);
}

/* Rank 1 dies by itself while the others vote: all are told the same, and pings are called once. */
static void figure(void)
{
    FTT_Event ev;
    uint32_t first = FTT_Incarnation(t, rank);
    int failed = 0, voted = 0;
    if (rank == 1 && first == 0) { /* whoever opens after its death is told of no failure */
        for (int came = 1; came < size; came++)
            next(FTT_EV_MESSAGE);
        CHECK(FTT_Poll(t, &ev, 50) == FTT_TIMEOUT || ev.kind);
        FTT_Die(t);
    }
    if (first == 0) {
        CHECK(FTT_Send(t, 1, 1, NULL, 0, 0, NULL) == FTT_OK);
        int st = FTT_Ping(t, 1, 0, died, NULL, NULL);
        CHECK(st == FTT_OK || (st == FTT_KNOWN && deaths == 1));
        CHECK(FTT_Vote(t, 1) == FTT_OK && (FTT_Vote(t, 2) == FTT_ERR_BUSY || 1));
    }
    while (first == 0 && (!voted || !failed)) {
        CHECK(FTT_Poll(t, &ev, -1) == FTT_OK);
        if (ev.kind == FTT_EV_FAILURE) {
            CHECK(ev.rank == 1 && ev.incarnation == 1 && ev.generation == 1);
            failed = 1;
        }
        if (ev.kind == FTT_EV_VOTED && ev.tag == 1) {
            int32_t who;
            CHECK(ev.bytes == 4);
            memcpy(&who, ev.data, 4);
            CHECK(who == 1);
            voted = 1;
        }
    }
    if (first == 0) {
        (void)FTT_Poll(t, &ev, 0);
        CHECK(deaths == 1);
        CHECK(FTT_Ping(t, 1, 0, died, NULL, NULL) == FTT_KNOWN && deaths == 2);
    }
    printf("result: all agree\n");
    fflush(stdout);
}

/* Rank 1 dies while rank 3 is stopped (see ftt.sh). So nothing is agreed upon, and rank 1 has no
 * new incarnation, before rank 3 is taken for dead as well; yet the death is told. */
static int is_stopped(int pid)
{
    char path[64], line[256], *state;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "r");
    CHECK(f && fgets(line, sizeof line, f) && (state = strrchr(line, ')')));
    fclose(f);
    return state[2] == 'T' || state[2] == 't';
}

static uint32_t incarnation_at_death = UINT32_MAX;
static void died_early(void *arg, int r, uint32_t incarnation)
{
    (void)arg;
    CHECK(r == 1 && incarnation == 0);
    incarnation_at_death = FTT_Incarnation(t, 1);
}

static void ping(void)
{
    FTT_Event ev;
    int pid = (int)getpid();
    if (rank == 3 && FTT_Incarnation(t, 3) == 0) {
        CHECK(FTT_Send(t, 2, 1, &pid, sizeof pid, 0, NULL) == FTT_OK); /* here it stops */
    } else if (rank == 2 && FTT_Incarnation(t, 2) == 0) {
        memcpy(&pid, next(FTT_EV_MESSAGE).data, sizeof pid);
        while (!is_stopped(pid))
            ;
        CHECK(FTT_Ping(t, 1, 0, died_early, NULL, NULL) == FTT_OK);
        CHECK(FTT_Send(t, 1, 1, NULL, 0, 0, NULL) == FTT_OK);
        while (incarnation_at_death == UINT32_MAX)
            (void)FTT_Poll(t, &ev, 100);
        int st = FTT_Ping(t, 1, 0, died, NULL, NULL);
        CHECK(st == FTT_KNOWN && deaths == 1);
        printf("result: told while it has incarnation %u\n", (unsigned)incarnation_at_death);
        fflush(stdout);
    } else if (rank == 1 && FTT_Incarnation(t, 1) == 0) {
        next(FTT_EV_MESSAGE);
        FTT_Die(t);
    }
}

/* This rank is in FTT_Close: it answers no more. */
static void until_closing(int r)
{
    CHECK(FTT_Send_header(t, r, 1, NULL, 0, 0, NULL) == FTT_OK);
    CHECK(next(FTT_EV_ANSWER).status == FTT_ERR_CLOSED);
}

/* Rank 0 has begun all collectives that it may, and closes before rank 1 begins them. */
static void full(void)
{
    char label[32];
    if (rank != 0)
        until_closing(0);
    for (int i = 0; i < 16; i++) {
        snprintf(label, sizeof label, "full %d", i);
        CHECK(FTT_Barrier(t, label) == FTT_OK);
    }
    CHECK(rank != 0 || FTT_Barrier(t, "one more") == FTT_ERR_FULL);
    for (int i = 0; i < 16 && rank != 0; i++)
        CHECK(next(FTT_EV_COLLECTIVE).status == FTT_OK);
    printf("result: to the end\n");
    fflush(stdout);
}

static void brief_nap(void)
{
    struct timespec ms = {.tv_nsec = 1000000};
    (void)nanosleep(&ms, NULL);
}

/* Rank 1 reads nothing but in its calls. It closes last, and all agree before it has read what rank 2
 * has sent. */
static void unread(void)
{
    static FTT_Buffer flag;
    static char data[FTT_MESSAGE_MAX];
    void *addr;
    FTT_Event ev;
    if (rank == 1) {
        CHECK(FTT_Alloc(t, 1, &flag, &addr) == FTT_OK);
        volatile char *seen = addr;
        *seen = 0;
        CHECK(FTT_Publish(t, "flag", &flag, sizeof flag) == FTT_OK);
        together("flag");
        CHECK(FTT_Progress(t, 0) == FTT_OK);
        CHECK(FTT_Send(t, 2, 1, NULL, 0, 0, NULL) == FTT_OK);
        while (!*seen) /* set by rank 0 alone: no call here */
            brief_nap();
        CHECK(FTT_Send_header(t, 0, 1, NULL, 0, 0, NULL) == FTT_OK);
        while (FTT_Poll(t, &ev, 0) != FTT_OK || ev.kind != FTT_EV_ANSWER)
            brief_nap(); /* each takes one of the messages */
        CHECK(ev.status == FTT_ERR_CLOSED);
    } else if (rank == 0) {
        CHECK(FTT_Fetch(t, 1, "flag", &flag, sizeof flag) == FTT_OK);
        together("flag");
        next(FTT_EV_MESSAGE); /* rank 2 takes no event any more */
        until_closing(2);
        CHECK(FTT_Put(t, &flag, 0, "1", 1, 0, 0, NULL) == FTT_OK);
    } else {
        together("flag");
        next(FTT_EV_MESSAGE);
        CHECK(FTT_Send(t, 0, 1, NULL, 0, 0, NULL) == FTT_OK);
        for (int i = 0; i < 1000; i++)
            CHECK(FTT_Send(t, 1, 1, data, sizeof data, 0, NULL) == FTT_OK);
    }
    printf("result: to the end\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "calls";
    int st = FTT_Open(&t);
    if (st != FTT_OK) {
        fprintf(stderr, "FTT_Open: %s (%d)\n", FTT_Status_text(st), st);
        return 10 + st;
    }
    rank = FTT_Rank(t);
    size = FTT_Size(t);
    if (strcmp(what, "calls") == 0)
        calls();
    else if (strcmp(what, "storm") == 0)
        storm();
    else if (strcmp(what, "ping") == 0)
        ping();
    else if (strcmp(what, "full") == 0)
        full();
    else if (strcmp(what, "unread") == 0)
        unread();
    else
        figure();
    CHECK(FTT_Close(t) == FTT_OK);
    if (strcmp(what, "calls") == 0 && rank == 0)
        printf("result: all calls\n");
    return 0;
}
