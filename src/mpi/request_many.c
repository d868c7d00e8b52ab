/* SPDX-License-Identifier: BSD-3-Clause
 *
 * request_many.c - completes several requests (MPI-3.1, 3.7.5): Waitall, Waitany, Waitsome,
 * Testall, Testany, Testsome. The arrays may hold our requests, null and inactive ones, and the
 * host's own.
 */
#include "alog/homelog_replay.h"
#include "mpi/outcome.h"
#include "mpi/request.h"

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* Collects the errors of several completions. MPI reports them in the statuses; their MPI_ERROR
 * fields are not changed if there is no error (MPI-3.1, 3.2.5). */
struct errors {
    MPI_Comm where;
    int any;
    MPI_Status *all; /* the array that is filled from its begin; NULL: there is none */
};

static MPI_Status *array_of(MPI_Status *statuses)
{
    return statuses == MPI_STATUSES_IGNORE ? NULL : statuses;
}

static void note(struct errors *e, MPI_Status *status, int code)
{
    if (FT_UNLIKELY(code != MPI_SUCCESS)) {
        for (MPI_Status *s = e->all; s && !e->any && s != status; s++)
            s->MPI_ERROR = MPI_SUCCESS;
        e->any = code;
    }
    if (FT_UNLIKELY(e->any) && e->all)
        status->MPI_ERROR = code;
}

static int raise_errors(const struct errors *e, const char *call)
{
    return FT_LIKELY(!e->any) ? MPI_SUCCESS : ft_error(e->where, MPI_ERR_IN_STATUS, call);
}

static void complete_one(MPI_Request *h, MPI_Status *status, struct errors *e)
{
    MPI_Comm where = MPI_COMM_WORLD;
    int code = ft_request_complete(h, status, &where);
    if (FT_UNLIKELY(code))
        e->where = where;
    note(e, status, code);
}

/* Whether h is over; a foreign request is asked without being completed. */
static int is_over(MPI_Request h, enum ft_request_state state)
{
    int flag = 0;
    if (state == FT_REQUEST_FOREIGN)
        return HOST(Request_get_status)(h, &flag, MPI_STATUS_IGNORE) != MPI_SUCCESS || flag;
    return state == FT_REQUEST_OVER;
}

/* Completes a request that is over, ours or the host's. */
static void complete_any(MPI_Request *h, MPI_Status *status, struct errors *e)
{
    if (ft_request_state(*h) != FT_REQUEST_FOREIGN) {
        complete_one(h, status, e);
        return;
    }
    MPI_Request was = *h;
    int code = HOST(Wait)(h, status);
    ft_request_host_left(was, *h);
    note(e, status, code);
}

FT_MPI(int, Waitall, (int count, MPI_Request *requests, MPI_Status *statuses))
{
    struct errors e = {MPI_COMM_WORLD, 0, array_of(statuses)};

    if (!ft_mpi_up)
        return HOST(Waitall)(count, requests, statuses);
    ft_door();
    FT_CHECK(count >= 0, MPI_COMM_WORLD, MPI_ERR_COUNT, "MPI_Waitall");
    for (int i = 0; i < count; i++) {
        struct ft_request *q = ft_request_of(requests[i]);
        if (!q && requests[i] != MPI_REQUEST_NULL) {
            note(&e, status_at(statuses, i),
                 ft_request_wait_foreign(&requests[i], status_at(statuses, i)));
            continue;
        }
        ft_request_await(requests[i]);
        complete_one(&requests[i], status_at(statuses, i), &e);
    }
    return raise_errors(&e, "MPI_Waitall");
}

/* Counts the requests that take part (are not idle), and those that are over; fills over[] with the
 * indices of the latter, at most max. */
static int scan(int count, const MPI_Request *requests, int *over, int max, int *taking_part,
                int *foreign)
{
    int found = 0;

    *taking_part = *foreign = 0;
    for (int i = 0; i < count && found < max; i++) {
        enum ft_request_state state = ft_request_state(requests[i]);
        *taking_part += state != FT_REQUEST_IDLE;
        *foreign += state == FT_REQUEST_FOREIGN;
        if (is_over(requests[i], state))
            over[found++] = i;
    }
    return found;
}

/* Looks once, and, if nothing is over, again after progress. */
static int scan_twice(int count, const MPI_Request *requests, int *over, int max, int *taking_part,
                      int *foreign)
{
    int found = scan(count, requests, over, max, taking_part, foreign);
    if (found == 0 && *taking_part > 0) {
        ft_msg_progress();
        found = scan(count, requests, over, max, taking_part, foreign);
    }
    return found;
}

static struct ft_req **pending_list(int count)
{
    return ft_scratch(FT_SCRATCH_WAIT, (size_t)count * sizeof(struct ft_req *));
}

/* Sleeps until one of ours may be over. If there are foreign ones, it looks again soon. */
static void wait_for_any(int count, const MPI_Request *requests, int foreign, struct ft_waiter *w)
{
    if (foreign) {
        ft_wait(w);
        return;
    }
    struct ft_req **pending = pending_list(count);
    for (int i = 0; i < count; i++) {
        struct ft_request *q = ft_request_of(requests[i]);
        pending[i] = q && q->active ? &q->r : NULL;
    }
    ft_msg_wait_any(pending, count);
}

static int none_takes_part(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++)
        if (ft_request_state(requests[i]) != FT_REQUEST_IDLE)
            return 0;
    return 1;
}

/* Finds at most max indices of requests that are over, or repeats the recorded ones and waits until
 * they are over. waits: at least one, unless none takes part; then it returns 0, as for all. */
static int choose(int waits, int count, const MPI_Request *requests, int *over, int max)
{
    struct ft_waiter w = FT_WAITER_UNRUNG;
    int taking_part, foreign, found = 0;

    if (none_takes_part(count, requests))
        return 0;
    if (waits) /* here, since whether it has to wait is another thing in a replay (heap.c) */
        (void)pending_list(count);
    switch (ft_outcome_of(waits, over, max, &found, count)) {
    case FT_OUTCOME_KNOWN:
        for (int i = 0; i < found; i++)
            ft_request_await(requests[over[i]]);
        return found;
    case FT_OUTCOME_NONE:
        if (waits) /* the lost process did not wait here */
            ft_replay_diverged(NULL, FT_ACT_OUTCOME, 0, 0, 0, NULL);
        ft_outcome_in_vain();
        return 0;
    case FT_OUTCOME_OPEN: break;
    }
    while ((found = scan_twice(count, requests, over, max, &taking_part, &foreign)) == 0 && waits)
        wait_for_any(count, requests, foreign, &w);
    ft_wait_end(&w);
    if (found > 0)
        ft_outcome_note(over, found);
    return found;
}

FT_MPI(int, Waitany, (int count, MPI_Request *requests, int *index, MPI_Status *status))
{
    struct errors e = {MPI_COMM_WORLD, 0, NULL};

    if (!ft_mpi_up)
        return HOST(Waitany)(count, requests, index, status);
    ft_door();
    FT_CHECK(count >= 0, MPI_COMM_WORLD, MPI_ERR_COUNT, "MPI_Waitany");
    if (choose(1, count, requests, index, 1) == 0) {
        *index = MPI_UNDEFINED;
        ft_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, 0);
        return MPI_SUCCESS;
    }
    complete_any(&requests[*index], status, &e);
    return e.any ? ft_error(e.where, e.any, "MPI_Waitany") : MPI_SUCCESS;
}

FT_MPI(int, Testany, (int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status))
{
    struct errors e = {MPI_COMM_WORLD, 0, NULL};
    int found, which;

    if (!ft_mpi_up)
        return HOST(Testany)(count, requests, index, flag, status);
    ft_door();
    FT_CHECK(count >= 0, MPI_COMM_WORLD, MPI_ERR_COUNT, "MPI_Testany");
    found = choose(0, count, requests, &which, 1);
    *flag = found > 0 || none_takes_part(count, requests);
    *index = found > 0 ? which : MPI_UNDEFINED;
    ft_outcome_polled(*flag);
    if (found > 0)
        complete_any(&requests[which], status, &e);
    else if (*flag)
        ft_status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, 0);
    return e.any ? ft_error(e.where, e.any, "MPI_Testany") : MPI_SUCCESS;
}

static int test_all(int count, const MPI_Request *requests)
{
    switch (ft_outcome_flag()) {
    case FT_OUTCOME_KNOWN:
        for (int i = 0; i < count; i++)
            ft_request_await(requests[i]);
        return 1;
    case FT_OUTCOME_NONE: return 0;
    case FT_OUTCOME_OPEN: break;
    }
    for (int i = 0; i < count; i++) {
        enum ft_request_state state = ft_request_state(requests[i]);
        if (state == FT_REQUEST_PENDING) {
            ft_msg_progress();
            state = ft_request_state(requests[i]);
        }
        if (state != FT_REQUEST_IDLE && !is_over(requests[i], state))
            return 0;
    }
    ft_outcome_note_flag();
    return 1;
}

FT_MPI(int, Testall, (int count, MPI_Request *requests, int *flag, MPI_Status *statuses))
{
    struct errors e = {MPI_COMM_WORLD, 0, array_of(statuses)};

    if (!ft_mpi_up)
        return HOST(Testall)(count, requests, flag, statuses);
    ft_door();
    FT_CHECK(count >= 0, MPI_COMM_WORLD, MPI_ERR_COUNT, "MPI_Testall");
    *flag = none_takes_part(count, requests) || test_all(count, requests);
    ft_outcome_polled(*flag);
    for (int i = 0; i < count && *flag; i++)
        complete_any(&requests[i], status_at(statuses, i), &e);
    return raise_errors(&e, "MPI_Testall");
}

static int complete_some(int found, MPI_Request *requests, const int *indices, MPI_Status *statuses,
                         const char *call)
{
    struct errors e = {MPI_COMM_WORLD, 0, array_of(statuses)};
    for (int i = 0; i < found; i++)
        complete_any(&requests[indices[i]], status_at(statuses, i), &e);
    return raise_errors(&e, call);
}

FT_MPI(int, Waitsome,
       (int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses))
{
    if (!ft_mpi_up)
        return HOST(Waitsome)(count, requests, outcount, indices, statuses);
    ft_door();
    FT_CHECK(count >= 0, MPI_COMM_WORLD, MPI_ERR_COUNT, "MPI_Waitsome");
    *outcount = choose(1, count, requests, indices, ft_outcome_most(count));
    if (*outcount == 0) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    return complete_some(*outcount, requests, indices, statuses, "MPI_Waitsome");
}

FT_MPI(int, Testsome,
       (int count, MPI_Request *requests, int *outcount, int *indices, MPI_Status *statuses))
{
    if (!ft_mpi_up)
        return HOST(Testsome)(count, requests, outcount, indices, statuses);
    ft_door();
    FT_CHECK(count >= 0, MPI_COMM_WORLD, MPI_ERR_COUNT, "MPI_Testsome");
    *outcount = choose(0, count, requests, indices, ft_outcome_most(count));
    ft_outcome_polled(*outcount > 0);
    if (*outcount == 0 && none_takes_part(count, requests))
        *outcount = MPI_UNDEFINED;
    return *outcount > 0 ? complete_some(*outcount, requests, indices, statuses, "MPI_Testsome")
                         : MPI_SUCCESS;
}
