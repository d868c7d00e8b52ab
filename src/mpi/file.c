/* SPDX-License-Identifier: BSD-3-Clause
 *
 * file.c - MPI-IO is done by the host (MPI-3.1, 13). A file that one process opens for itself
 * concerns no other; the handle of such a communicator is a host communicator of this process
 * alone, which is all that the host needs. When several ranks open a file together, they do so over
 * a host communicator that is made of their present carriers, and the host's collectives need all
 * of these. So a rank that is lost while such a file is open ends the job (runtime.h,
 * ft_runtime_shared_files). Later it cannot be run again alone either: nobody would open the file
 * with it.
 */
#include "mpi/mpi_internal.h"

#define MOST_SHARED 1024

struct shared_file {
    MPI_File fh;
    int in_body;
};
FT_STATIC(__typeof__(struct shared_file[MOST_SHARED]), shared);
FT_STATIC(int, nshared);
#define shared FT_MY(shared)
#define nshared FT_MY(nshared)

/* All went back: forgets the files that body had opened (there are some only after a replay that
 * diverged). */
void ft_file_reset(void)
{
    int n = 0;
    for (int i = 0; i < nshared; i++)
        if (!shared[i].in_body)
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

static int open_shared(const struct ft_comm *c, const char *filename, int amode, MPI_Info info,
                       MPI_File *fh)
{
    MPI_Comm comm;

    if (nshared == MOST_SHARED)
        return MPI_ERR_NO_MEM;
    ft_homelog_incomplete(FT_UNKEPT_FILE);
    atomic_fetch_add(ft_runtime_shared_files, 1); /* first: from here on the host waits for all */
    int code = host_comm(c, &comm);
    if (code == MPI_SUCCESS) {
        code = HOST(File_open)(comm, filename, amode, info, fh);
        HOST(Comm_free)(&comm);
    }
    if (code == MPI_SUCCESS)
        shared[nshared++] = (struct shared_file){*fh, ft_runtime_in_body()};
    else
        atomic_fetch_sub(ft_runtime_shared_files, 1);
    return code;
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
    int i = 0;

    while (i < nshared && shared[i].fh != *fh)
        i++;
    int code = HOST(File_close)(fh);
    if (i < nshared) {
        shared[i] = shared[--nshared];
        atomic_fetch_sub(ft_runtime_shared_files, 1);
    }
    return code;
}

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
