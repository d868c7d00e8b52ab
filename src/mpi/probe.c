/* SPDX-License-Identifier: BSD-3-Clause
 *
 * probe.c - MPI_Probe and MPI_Iprobe (MPI-3.1, 3.8.1).
 */
#include "mpi/outcome.h"
#include "mpi/request.h"

FT_MPI(int, Probe, (int source, int tag, MPI_Comm comm, MPI_Status *status))
{
    struct ft_msg_status s;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Probe, (source, tag, comm, status));
    int code = ft_check_source(c, source, tag);

    FT_CHECK(!code, comm, code, "MPI_Probe");
    if (source == MPI_PROC_NULL) {
        ft_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, 0);
        return MPI_SUCCESS;
    }
    ft_msg_probe(c->ctx.id, ft_world_source(c, source), ft_engine_tag(tag), &s);
    ft_status_set(status, ft_came_from(c, source, s.source), s.tag, s.bytes, 0);
    return MPI_SUCCESS;
}

/* For any source, ft_msg_iprobe notes where the message came from; then this notes that one
 * came. */
static int iprobe(uint32_t ctx, int source, int tag, struct ft_msg_status *s)
{
    switch (ft_outcome_flag()) {
    case FT_OUTCOME_KNOWN: ft_msg_probe(ctx, source, tag, s); return 1;
    case FT_OUTCOME_NONE: return 0;
    case FT_OUTCOME_OPEN: break;
    }
    if (!ft_msg_iprobe(ctx, source, tag, s))
        return 0;
    ft_outcome_note_flag();
    return 1;
}

int ft_iprobe(struct ft_comm *c, int source, int tag, struct ft_msg_status *s)
{
    return iprobe(c->ctx.id, ft_world_source(c, source), ft_engine_tag(tag), s);
}

FT_MPI(int, Iprobe, (int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status))
{
    struct ft_msg_status s;
    ft_door();
    struct ft_comm *c = ft_comm_of(comm);
    FT_COMM_OR_HOST(c, comm, Iprobe, (source, tag, comm, flag, status));
    int code = ft_check_source(c, source, tag);

    FT_CHECK(!code, comm, code, "MPI_Iprobe");
    if (source == MPI_PROC_NULL) {
        *flag = 1;
        ft_status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, 0);
        return MPI_SUCCESS;
    }
    *flag = ft_iprobe(c, source, tag, &s);
    ft_outcome_polled(*flag);
    if (*flag)
        ft_status_set(status, ft_came_from(c, source, s.source), s.tag, s.bytes, 0);
    return MPI_SUCCESS;
}
