/* SPDX-License-Identifier: BSD-3-Clause
 *
 * requests.c - requests active at every second safepoint: it is passed over, the next one is not.
 * REQUESTS_OF=NAME: requests that the host carries, of files NAME.0, NAME.1 ...; if NAME ends with
 * split, their split collectives; if it ends with generalized, generalized requests.
 */
#include "scenario.h"

enum { ROUNDS = 10 };

static struct {
    uint64_t round, sum;
} state;

static MPI_File file = MPI_FILE_NULL;
static int split;

static int no_query(void *x, MPI_Status *s)
{
    (void)x;
    MPI_Status_set_elements(s, MPI_BYTE, 0);
    MPI_Status_set_cancelled(s, 0);
    return MPI_SUCCESS;
}
static int no_free(void *x) { return (void)x, MPI_SUCCESS; }
static int no_cancel(void *x, int done) { return (void)x, (void)done, MPI_SUCCESS; }

/* In each way in which a request can be completed. */
static void complete(MPI_Request *req, uint64_t way)
{
    int flag = 0, which;
    switch (way % 4) {
    case 0: MPI_Wait(req, MPI_STATUS_IGNORE); break;
    case 1: MPI_Waitany(1, req, &which, MPI_STATUS_IGNORE); break;
    case 2:
        while (!flag)
            MPI_Test(req, &flag, MPI_STATUS_IGNORE);
        break;
    default: MPI_Waitall(1, req, MPI_STATUSES_IGNORE);
    }
    CHECK(*req == MPI_REQUEST_NULL);
}

/* A round that is done twice adds twice. */
static void body_of_host(void *arg)
{
    (void)arg;
    for (; state.round < ROUNDS; state.round++) {
        uint64_t x = mix(state.round + (uint64_t)me), y = 0;
        MPI_Request req;
        FTRMA_Safepoint();
        if (split)
            CHECK(MPI_File_write_at_all_begin(file, 0, &x, sizeof x, MPI_BYTE) == MPI_SUCCESS);
        else if (file != MPI_FILE_NULL)
            CHECK(MPI_File_iwrite_at(file, 0, &x, sizeof x, MPI_BYTE, &req) == MPI_SUCCESS);
        else
            MPI_Grequest_start(no_query, no_free, no_cancel, NULL, &req);
        MPI_Allreduce(&x, &y, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        state.sum += y;
        FTRMA_Safepoint();
        if (file == MPI_FILE_NULL)
            MPI_Grequest_complete(req);
        if (split)
            CHECK(MPI_File_write_at_all_end(file, &x, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        else
            complete(&req, state.round);
    }
}

static void open_file(const char *of)
{
    char name[300];
    snprintf(name, sizeof name, "%s.%d", of, me);
    CHECK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &file) == MPI_SUCCESS);
}

static void body(void *arg)
{
    (void)arg;
    for (; state.round < ROUNDS; state.round++) {
        uint64_t x = mix(state.round + (uint64_t)me), y = 0;
        MPI_Request req[2];
        FTRMA_Safepoint();
        MPI_Irecv(&y, 1, MPI_UINT64_T, (me + np - 1) % np, 1, MPI_COMM_WORLD, &req[0]);
        FTRMA_Safepoint();
        MPI_Isend(&x, 1, MPI_UINT64_T, (me + 1) % np, 1, MPI_COMM_WORLD, &req[1]);
        MPI_Waitall(2, req, MPI_STATUSES_IGNORE);
        CHECK(y == mix(state.round + (uint64_t)((me + np - 1) % np)));
        state.sum = mix(state.sum ^ y);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    const char *of = getenv("REQUESTS_OF");
    split = of && strstr(of, "split");
    if (of && !strstr(of, "generalized"))
        open_file(of);
    FTRMA_Protect(&state, sizeof state);
    CHECK(FTRMA_Run(of ? body_of_host : body, NULL) == MPI_SUCCESS);
    if (file != MPI_FILE_NULL)
        MPI_File_close(&file);
    return finish(state.sum);
}
