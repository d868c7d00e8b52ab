/* SPDX-License-Identifier: BSD-3-Clause
 *
 * rescue.c - see rescue.h. Its parts are marked by what the paper's table 2 counts.
 */
#include "rescue.h"
#include "arguments.h"

#include <assert.h>
#include <ftrma.h>
#include <stdio.h>
#include <string.h>

enum { TAG_IMAGE = 1000, TAG_COPY }; /* the kernels' tags are smaller */

static int before(const struct rescue *s) { return (s->rank + s->size - 1) % s->size; }
static int after(const struct rescue *s, int rank) { return (rank + 1) % s->size; }

static void no_memory(const struct rescue *s, const char *what)
{
    fprintf(stderr, "%s: rank %d: no memory for %s\n", s->name, s->rank, what);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* --- message logging --- */

static void deliver(void *arg, int dest, int tag, const void *data, size_t bytes)
{
    const struct rescue *s = arg;
    int count = (int)(bytes / sizeof(double));

    if (s->req)
        MPI_Isend(data, count, MPI_DOUBLE, dest, tag, MPI_COMM_WORLD, s->req);
    else
        MPI_Send(data, count, MPI_DOUBLE, dest, tag, MPI_COMM_WORLD);
}

static void log_and_send(struct sender *sender, const double *data, int count, int dest, int tag,
                         MPI_Request *req)
{
    struct rescue *s = (struct rescue *)sender; /* its first member */
    double began = rescue_now(), in_mpi = rescue_mpi_seconds();

    if (req)
        *req = MPI_REQUEST_NULL;
    s->req = req;
    if (!klog_send(s->log, dest, tag, data, (size_t)count * sizeof *data))
        no_memory(s, "the log of its messages");
    s->req = NULL;
    s->figures.payload_s += rescue_now() - began - (rescue_mpi_seconds() - in_mpi);
}

/* --- checkpoint/restart --- */

static struct rescue_image *image_at(struct rescue *s, int checkpoint)
{
    struct rescue_image *i = &s->image[s->image[0].mine_at != checkpoint];

    assert(i->mine_at == checkpoint);
    return i;
}

/* When all have passed the barrier's entry, all images are where they belong. Nobody writes over
 * those of the checkpoint before, to which all go back if a rank is lost until then. */
static void save(struct rescue *s)
{
    struct rescue_image *i = &s->image[s->image[0].mine_at == klog_checkpoint(s->log)];
    double began = rescue_now();

    i->mine_at = i->theirs_at = -1;
    klog_save(s->log, i->mine);
    i->mine_at = klog_iteration(s->log);
    MPI_Sendrecv(i->mine, s->count, MPI_DOUBLE, after(s, s->rank), TAG_IMAGE, i->theirs,
                 s->their_count, MPI_DOUBLE, before(s), TAG_IMAGE, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    i->theirs_at = i->mine_at;
    MPI_Barrier(MPI_COMM_WORLD);
    klog_committed(s->log);
    s->figures.checkpoint_s += rescue_now() - began;
}

static void go_back(struct rescue *s, int checkpoint)
{
    klog_load(s->log, image_at(s, checkpoint)->mine, checkpoint);
}

/* --- told of a loss --- */

struct place {
    int iteration, checkpoint, whole, theirs_at[2];
};
enum { PLACE_INTS = sizeof(struct place) / sizeof(int) };

static bool has_copy(const struct place *p, int checkpoint)
{
    return p->theirs_at[0] == checkpoint || p->theirs_at[1] == checkpoint;
}

/* All say where they are. Returns the newest checkpoint that anybody knows all to have: 0 is what
 * setup makes. */
static int tell(struct rescue *s)
{
    struct place mine = {klog_iteration(s->log),
                         klog_checkpoint(s->log),
                         s->whole,
                         {s->image[0].theirs_at, s->image[1].theirs_at}};
    int newest = 0;

    MPI_Allgather(&mine, PLACE_INTS, MPI_INT, s->place, PLACE_INTS, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < s->size; r++)
        if (s->place[r].whole && s->place[r].checkpoint > newest)
            newest = s->place[r].checkpoint;
    for (int r = 0; r < s->size; r++)
        s->front[r] = s->place[r].whole ? s->place[r].iteration : newest;
    return newest;
}

/* The first rank that has its memory ends the job, and the others wait for that. */
static void give_up(const struct rescue *s, int lost, int checkpoint)
{
    int first = 0;

    while (!s->place[first].whole)
        first++;
    while (s->rank != first)
        MPI_Barrier(MPI_COMM_WORLD);
    fprintf(stderr,
            "%s: rank %d is lost, and so is the copy of its checkpoint of iteration %d, which rank "
            "%d kept: the run cannot go on\n",
            s->name, lost, checkpoint, after(s, lost));
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* New ranks get their images from the next one. */
static void get_images(struct rescue *s, int checkpoint)
{
    for (int r = 0; r < s->size; r++)
        if (!s->place[r].whole && !has_copy(&s->place[after(s, r)], checkpoint))
            give_up(s, r, checkpoint);
    if (!s->place[before(s)].whole)
        MPI_Send(image_at(s, checkpoint)->theirs, s->their_count, MPI_DOUBLE, before(s), TAG_IMAGE,
                 MPI_COMM_WORLD);
    if (s->whole)
        return;
    MPI_Recv(s->image[1].mine, s->count, MPI_DOUBLE, after(s, s->rank), TAG_IMAGE, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    s->image[1].mine_at = checkpoint; /* image[0] still has what setup made */
}

/* Whoever has no copy of the image of the rank before it gets one. */
static void get_copies(struct rescue *s, int checkpoint)
{
    struct rescue_image *i = image_at(s, checkpoint);
    MPI_Request req = MPI_REQUEST_NULL;

    if (!has_copy(&s->place[s->rank], checkpoint))
        MPI_Irecv(i->theirs, s->their_count, MPI_DOUBLE, before(s), TAG_COPY, MPI_COMM_WORLD, &req);
    if (!has_copy(&s->place[after(s, s->rank)], checkpoint))
        MPI_Send(i->mine, s->count, MPI_DOUBLE, after(s, s->rank), TAG_COPY, MPI_COMM_WORLD);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    i->theirs_at = checkpoint;
}

/* A loss during the repair begins it again. What this process has got is then its own: it is whole
 * as soon as its data is there. */
static void repair(struct rescue *s)
{
    int checkpoint = tell(s);

    if (checkpoint > 0)
        get_images(s, checkpoint);
    if (!s->whole)
        go_back(s, checkpoint);
    s->whole = true;
    if (checkpoint > 0)
        get_copies(s, checkpoint);
    if (klog_recover(s->log, s->front, checkpoint) == KLOG_LOCAL) {
        s->figures.local++;
        return;
    }
    s->figures.global++;
    s->figures.again += (uint64_t)(klog_iteration(s->log) - checkpoint);
    go_back(s, checkpoint);
}

void rescue_enter(struct rescue *s)
{
    s->req = NULL;
    klog_abort(s->log);
    if (FTRMA_Replaced(NULL, NULL, 0) > 0)
        repair(s);
    s->whole = true;
}

/* --- the loop and its surroundings --- */

void rescue_begin(struct rescue *s)
{
    if (klog_checkpoint_due(s->log))
        save(s);
    /* What was lost is there again. Whoever is lost here has done 0 to CP_INT - 1 iterations since
     * the checkpoint, as in the paper's figures 6 to 8. */
    FTRMA_Safepoint();
    double began = rescue_now();
    klog_begin(s->log);
    s->figures.buffer_s += rescue_now() - began;
    s->mpi_before = rescue_mpi_seconds();
}

void rescue_end(struct rescue *s)
{
    s->figures.mpi_s += rescue_mpi_seconds() - s->mpi_before;
    klog_end(s->log);
}

void rescue_leave(struct rescue *s)
{
    struct klog_counts counts = klog_counts(s->log);

    klog_save(s->log, s->last);
    s->last_figures = s->figures;
    s->last_figures.replayed = counts.replayed;
    s->last_figures.spared = counts.spared;
}

double rescue_run(FTRMA_Body *body, void *arg)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    if (FTRMA_Run(body, arg) != MPI_SUCCESS) /* it has said why */
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    return MPI_Wtime() - start;
}

void rescue_options(struct rescue *s, int cp_int, int *argc, char **argv)
{
    int left = 1, log_size = -1;

    for (int i = 1; i < *argc; i++) {
        const char *value = i + 1 < *argc ? argv[i + 1] : "";
        int n = parse_count(value);
        if (!strcmp(argv[i], "--every") && n > 0) {
            cp_int = n;
            i++;
        } else if (!strcmp(argv[i], "--log") && (n > 0 || !strcmp(value, "0"))) {
            log_size = n;
            i++;
        } else {
            argv[left++] = argv[i];
        }
    }
    *argc = left;
    s->cp_int = cp_int;
    s->log_size = log_size < 0 || log_size > cp_int ? cp_int : log_size;
}

static double *room_for(const struct rescue *s, int count)
{
    double *room = calloc((size_t)count + 1, sizeof *room);

    if (!room)
        no_memory(s, "the images of checkpoints");
    return room;
}

void rescue_create(struct rescue *s, const char *name, const struct rescue_part part[], int parts)
{
    s->sender.send = log_and_send;
    s->name = name;
    MPI_Comm_rank(MPI_COMM_WORLD, &s->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &s->size);
    s->log = klog_create(s->rank, s->size, s->cp_int, s->log_size, deliver, s);
    s->place = calloc((size_t)s->size, sizeof *s->place);
    s->front = calloc((size_t)s->size, sizeof *s->front);
    bool ok = s->log && s->place && s->front;
    for (int i = 0; ok && i < parts; i++)
        ok = klog_register(s->log, part[i].data, part[i].bytes);
    if (!ok)
        no_memory(s, "copies of its data");
    size_t count = klog_image_bytes(s->log) / sizeof(double);
    if (count > INT_MAX) {
        fprintf(stderr, "%s: rank %d: its data is too long for a message\n", name, s->rank);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    s->count = (int)count;
    MPI_Sendrecv(&s->count, 1, MPI_INT, after(s, s->rank), TAG_IMAGE, &s->their_count, 1, MPI_INT,
                 before(s), TAG_IMAGE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++)
        s->image[i] =
            (struct rescue_image){-1, -1, room_for(s, s->count), room_for(s, s->their_count)};
    s->last = room_for(s, s->count);
    klog_save(s->log, s->image[0].mine); /* checkpoint 0: each replacement makes it again */
    s->image[0].mine_at = 0;
    if (FTRMA_Protect(s->last, (size_t)s->count * sizeof *s->last) != MPI_SUCCESS ||
        FTRMA_Protect(&s->last_figures, sizeof s->last_figures) != MPI_SUCCESS)
        no_memory(s, "what is left at the end");
}

void rescue_destroy(struct rescue *s)
{
    klog_destroy(s->log);
    for (int i = 0; i < 2; i++) {
        free(s->image[i].mine);
        free(s->image[i].theirs);
    }
    free(s->last);
    free(s->place);
    free(s->front);
}

void rescue_report(struct rescue *s, double seconds)
{
    const struct rescue_figures *f = &s->last_figures;
    uint64_t sum[3] = {f->again, f->replayed, f->spared}, most[2] = {f->local, f->global};

    klog_load(s->log, s->last, klog_iteration(s->log));
    MPI_Allreduce(MPI_IN_PLACE, sum, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (s->rank != 0)
        return;
    printf("rollback: %llu local, %llu global; survivors went back %llu iterations; %llu messages "
           "from logs, %llu not sent again\n",
           (unsigned long long)most[0], (unsigned long long)most[1], (unsigned long long)sum[0],
           (unsigned long long)sum[1], (unsigned long long)sum[2]);
    printf("phases: checkpoints %.6f s, MPI %.6f s, payload copies %.6f s, buffer copies %.6f s, "
           "total %.6f s\n",
           f->checkpoint_s, f->mpi_s, f->payload_s, f->buffer_s, seconds);
}
