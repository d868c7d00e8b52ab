/* SPDX-License-Identifier: BSD-3-Clause
 *
 * request_host.c - requests that the host carries: those of files (MPI-3.1, 13.4.3), and
 * generalized ones (12.2). Until the program has completed or freed them they are active like ours:
 * no image is taken, because body would start them again after a rollback. The host may complete
 * requests of its own through the same calls; only those that are listed here count.
 */
#include "base/offheap.h"
#include "mpi/request.h"

struct host_request {
    MPI_Request handle;
    int awaited;
};
FT_STATIC(struct host_request *, listed); /* [places], of which nlisted are in use */
FT_STATIC(size_t, nlisted);
FT_STATIC(size_t, places);
#define listed FT_MY(listed)
#define nlisted FT_MY(nlisted)
#define places FT_MY(places)

static struct host_request *find(MPI_Request h)
{
    for (size_t i = nlisted; i-- > 0;) /* most often a late one */
        if (listed[i].handle == h)
            return &listed[i];
    return NULL;
}

static void forget(struct host_request *q)
{
    *q = listed[--nlisted];
    FT_ASSERT(ft_msg_active > 0);
    ft_msg_active--;
}

/* The host may give one handle for several requests that are over already. */
static int started(int code, MPI_Request h, int awaited)
{
    if (code != MPI_SUCCESS || !ft_mpi_up || h == MPI_REQUEST_NULL || find(h))
        return code;
    if (nlisted == places) {
        places = places ? 2 * places : 16;
        listed = ft_offheap_realloc(listed, places * sizeof *listed);
    }
    listed[nlisted++] = (struct host_request){h, awaited};
    ft_msg_active++;
    return code;
}

void ft_request_host_left(MPI_Request was, MPI_Request now)
{
    struct host_request *q = was == now ? NULL : find(was);

    if (q)
        forget(q);
}

/* Generalized ones are not waited for: the program would have completed them. Nor are those of
 * files that others have open, too. [Another member stands, and has not called File_iwrite_all.] */
void ft_request_host_await_files(void)
{
    for (size_t i = nlisted; i-- > 0;) {
        MPI_Request h = listed[i].handle;
        if (!listed[i].awaited)
            continue;
        HOST(Wait)(&h, MPI_STATUS_IGNORE);
        forget(&listed[i]);
    }
    ft_file_end_splits();
}

void ft_request_host_drop_all(void) { nlisted = 0; }

FT_MPI(int, Grequest_start,
       (MPI_Grequest_query_function * query, MPI_Grequest_free_function *release,
        MPI_Grequest_cancel_function *cancel, void *extra_state, MPI_Request *request))
{
    ft_door();
    int code = HOST(Grequest_start)(query, release, cancel, extra_state, request);
    return started(code, *request, 0);
}

/* in: const for a buffer that is written to the file. */
#define START(X, in)                                                                        \
    FT_MPI(int, X,                                                                          \
           (MPI_File fh, in void *buf, int count, MPI_Datatype type, MPI_Request *request)) \
    {                                                                                       \
        ft_door();                                                                          \
        int code = HOST(X)(fh, buf, count, type, request);                                  \
        return started(code, *request, !ft_file_is_shared(fh));                             \
    }
#define START_AT(X, in)                                                             \
    FT_MPI(int, X,                                                                  \
           (MPI_File fh, MPI_Offset at, in void *buf, int count, MPI_Datatype type, \
            MPI_Request *request))                                                  \
    {                                                                               \
        ft_door();                                                                  \
        int code = HOST(X)(fh, at, buf, count, type, request);                      \
        return started(code, *request, !ft_file_is_shared(fh));                     \
    }
START(File_iread, )
START(File_iread_all, )
START(File_iread_shared, )
START(File_iwrite, const)
START(File_iwrite_all, const)
START(File_iwrite_shared, const)
START_AT(File_iread_at, )
START_AT(File_iread_at_all, )
START_AT(File_iwrite_at, const)
START_AT(File_iwrite_at_all, const)
