/* SPDX-License-Identifier: BSD-3-Clause
 *
 * file.c - MPI-IO is done by the host (MPI-3.1, 13). A file that one process opens for itself
 * concerns no other; the handle of such a communicator is a host communicator of this process
 * alone, which is all that the host needs. When several ranks open a file together, they do so over
 * a host communicator that is made of their present carriers, and the host's collectives need all
 * of these. So a rank that is lost while such a file is open ends the job (runtime.h,
 * ft_runtime_shared_files). Later it cannot be run again alone either: nobody would open the file
 * with it.
 *
 * In its collectives the host waits for the others by its own progress alone: our messages stand
 * still. [q waits in MPI_Ssend for p, whose receive is open; p waits in MPI_File_open for q.] So
 * all meet in a barrier of ours first. When a member leaves it, all have come, and none of them
 * needs another one's progress any more.
 */
#include "base/offheap.h"
#include "mpi/mpi_internal.h"
#include "msg/msg.h"

#define MOST_SHARED 1024

struct shared_file {
    MPI_File fh;
    struct ft_comm *comm; /* holds one of its references */
    int in_body;
};
FT_STATIC(__typeof__(struct shared_file[MOST_SHARED]), shared);
FT_STATIC(int, nshared);
#define shared FT_MY(shared)
#define nshared FT_MY(nshared)

/* A split collective that has begun, and the host's function that ends it. */
typedef int split_end(MPI_File fh, void *buf, MPI_Status *status);
struct split {
    MPI_File fh;
    void *buf;
    split_end *end;
};
FT_STATIC(struct split *, splits); /* [split_places], of which nsplits are in use */
FT_STATIC(size_t, nsplits);
FT_STATIC(size_t, split_places);
#define splits FT_MY(splits)
#define nsplits FT_MY(nsplits)
#define split_places FT_MY(split_places)

/* All went back: forgets the files that body had opened (there are some only after a replay that
 * diverged). */
void ft_file_reset(void)
{
    int n = 0;
    nsplits = 0; /* nor are they active any more */
    for (int i = 0; i < nshared; i++)
        if (shared[i].in_body)
            ft_comm_release(shared[i].comm);
        else
            shared[n++] = shared[i];
    nshared = n;
    atomic_store(ft_runtime_shared_files, (uint32_t)n);
}

/* A host communicator of the carriers of c's members. */
static int host_comm(const struct ft_comm *c, MPI_Comm *out)
{
    int *slots = ft_scratch(FT_SCRATCH_COMM, (size_t)c->ctx.size * sizeof *slots);
    MPI_Group group;

    for (int i = 0; i < c->ctx.size; i++)
        slots[i] = ft_runtime_slot(c->ctx.world[i]);
    int code = HOST(Group_incl)(ft_world_group, c->ctx.size, slots, &group);
    if (code != MPI_SUCCESS)
        return code;
    code = HOST(Comm_create_group)(MPI_COMM_WORLD, group, (int)(c->ctx.id & 0x3fff), out);
    HOST(Group_free)(&group);
    return code;
}

/* NULL: only this process has opened it. */
static struct shared_file *find(MPI_File fh)
{
    for (int i = 0; i < nshared; i++)
        if (shared[i].fh == fh)
            return &shared[i];
    return NULL;
}

int ft_file_is_shared(MPI_File fh) { return find(fh) != NULL; }

/* Returns when all that share the file have come to this call. */
static void meet(MPI_File fh)
{
    const struct shared_file *f = find(fh);

    if (FT_LIKELY(!f))
        return;
    ft_door();
    ft_barrier(&f->comm->all);
}

static int open_shared(struct ft_comm *c, const char *filename, int amode, MPI_Info info,
                       MPI_File *fh)
{
    MPI_Comm comm;

    if (nshared == MOST_SHARED)
        return MPI_ERR_NO_MEM;
    ft_homelog_incomplete(FT_UNKEPT_FILE);
    /* First: who leaves the barrier waits in the host for all, and all have counted the file. */
    atomic_fetch_add(ft_runtime_shared_files, 1);
    ft_barrier(&c->all);
    int code = host_comm(c, &comm);
    if (code == MPI_SUCCESS) {
        code = HOST(File_open)(comm, filename, amode, info, fh);
        HOST(Comm_free)(&comm);
    }
    if (code != MPI_SUCCESS) {
        atomic_fetch_sub(ft_runtime_shared_files, 1);
        return code;
    }
    c->refs++;
    shared[nshared++] = (struct shared_file){*fh, c, ft_runtime_in_body()};
    return MPI_SUCCESS;
}

FT_MPI(int, File_open,
       (MPI_Comm comm, const char *filename, int amode, MPI_Info info, MPI_File *fh))
{
    struct ft_comm *c = ft_comm_of(comm);

    FT_CHECK(!c || !c->inter, comm, MPI_ERR_COMM, "MPI_File_open");
    if (!c)
        return HOST(File_open)(comm, filename, amode, info, fh);
    if (c->ctx.size == 1)
        return HOST(File_open)(c == ft_comm_world ? MPI_COMM_SELF : comm, filename, amode, info,
                               fh);
    ft_door();
    ft_comm_keep_on_node(c, "MPI_File_open");
    return open_shared(c, filename, amode, info, fh);
}

FT_MPI(int, File_close, (MPI_File * fh))
{
    meet(*fh);
    struct shared_file *f = find(*fh);
    int code = HOST(File_close)(fh);
    if (f) {
        ft_comm_release(f->comm);
        *f = shared[--nshared];
        atomic_fetch_sub(ft_runtime_shared_files, 1);
    }
    return code;
}

/* The other collectives of MPI-3.1, 13. Halves of a split collective may wait, too (13.4.5); the
 * nonblocking calls do not. */
#define TOGETHER(X, params, args) \
    FT_MPI(int, X, params)        \
    {                             \
        meet(fh);                 \
        return HOST(X) args;      \
    }
TOGETHER(File_set_size, (MPI_File fh, MPI_Offset size), (fh, size))
TOGETHER(File_preallocate, (MPI_File fh, MPI_Offset size), (fh, size))
TOGETHER(File_set_info, (MPI_File fh, MPI_Info info), (fh, info))
TOGETHER(File_set_view,
         (MPI_File fh, MPI_Offset at, MPI_Datatype etype, MPI_Datatype type, const char *datarep,
          MPI_Info info),
         (fh, at, etype, type, datarep, info))
TOGETHER(File_seek_shared, (MPI_File fh, MPI_Offset at, int whence), (fh, at, whence))
TOGETHER(File_set_atomicity, (MPI_File fh, int flag), (fh, flag))
TOGETHER(File_sync, (MPI_File fh), (fh))

/* ---- split collectives (13.4.5) ---- */

/* The host keeps such a request in the file, and nobody else sees it. Until its end it is active
 * like the requests of request_host.c. Main leaves by no door between its begin and this. */
static void split_begins(MPI_File fh, const void *buf, split_end *end)
{
    if (nsplits == split_places) {
        split_places = split_places ? 2 * split_places : 4;
        splits = ft_offheap_realloc(splits, split_places * sizeof *splits);
    }
    splits[nsplits++] = (struct split){fh, (void *)(uintptr_t)buf, end};
    ft_msg_active++;
}

static void split_ends(MPI_File fh)
{
    for (size_t i = 0; i < nsplits; i++)
        if (splits[i].fh == fh) {
            splits[i] = splits[--nsplits];
            FT_ASSERT(ft_msg_active > 0);
            ft_msg_active--;
            return;
        }
}

/* [The host reads into memory that is about to be restored, and body, entered again, may not begin
 * another one on this file.] Where others have the file open, too, they would have to come. */
void ft_file_end_splits(void)
{
    for (size_t i = nsplits; i-- > 0;) {
        struct split s = splits[i];
        if (find(s.fh))
            continue;
        s.end(s.fh, s.buf, MPI_STATUS_IGNORE);
        split_ends(s.fh);
    }
}

/* in: const for a buffer that is written to the file. */
#define SPLIT(X, in, params, args)                                                               \
    static int X##_ends(MPI_File fh, void *buf, MPI_Status *status)                              \
    {                                                                                            \
        return HOST(X##_end)(fh, buf, status);                                                   \
    }                                                                                            \
    FT_MPI(int, X##_begin, params)                                                               \
    {                                                                                            \
        ft_door();                                                                               \
        meet(fh);                                                                                \
        int code = HOST(X##_begin) args;                                                         \
        if (code == MPI_SUCCESS)                                                                 \
            split_begins(fh, buf, X##_ends);                                                     \
        return code;                                                                             \
    }                                                                                            \
    FT_MPI(int, X##_end, (MPI_File fh, in void *buf, MPI_Status *status))                        \
    {                                                                                            \
        meet(fh);                                                                                \
        split_ends(fh);                                                                          \
        return HOST(X##_end)(fh, buf, status);                                                   \
    }
#define MOVE(X, in)                                                                            \
    TOGETHER(X, (MPI_File fh, in void *buf, int count, MPI_Datatype type, MPI_Status *status), \
             (fh, buf, count, type, status))                                                   \
    SPLIT(X, in, (MPI_File fh, in void *buf, int count, MPI_Datatype type), (fh, buf, count, type))
#define MOVE_AT(X, in)                                                                       \
    TOGETHER(X,                                                                              \
             (MPI_File fh, MPI_Offset at, in void *buf, int count, MPI_Datatype type,        \
              MPI_Status *status),                                                           \
             (fh, at, buf, count, type, status))                                             \
    SPLIT(X, in, (MPI_File fh, MPI_Offset at, in void *buf, int count, MPI_Datatype type),   \
          (fh, at, buf, count, type))
MOVE(File_read_all, )
MOVE(File_write_all, const)
MOVE(File_read_ordered, )
MOVE(File_write_ordered, const)
MOVE_AT(File_read_at_all, )
MOVE_AT(File_write_at_all, const)

/* The host's group consists of processes. They carry the same ranks as when the file was opened: a
 * rank that is lost while others have the file open too ends the job. */
FT_MPI(int, File_get_group, (MPI_File fh, MPI_Group *group))
{
    MPI_Group carriers;
    int n, code = HOST(File_get_group)(fh, &carriers);

    if (!ft_mpi_up || code != MPI_SUCCESS) {
        if (code == MPI_SUCCESS)
            *group = carriers;
        return code;
    }
    HOST(Group_size)(carriers, &n);
    int *member = ft_scratch(FT_SCRATCH_COMM, (size_t)n * sizeof *member);
    ft_group_ranks(carriers, n, member);
    HOST(Group_free)(&carriers);
    for (int i = 0; i < n; i++) {
        int rank = 0;
        while (rank < ft_nranks() && ft_runtime_slot(rank) != member[i])
            rank++;
        FT_ASSERT(rank < ft_nranks());
        member[i] = rank;
    }
    return HOST(Group_incl)(ft_world_group, n, member, group);
}
