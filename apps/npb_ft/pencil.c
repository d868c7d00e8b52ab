/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pencil.c - the distributed 3-D transform: three passes of 1-D transforms with an exchange of
 * blocks between them.
 *
 * A stage works tile by tile: some lines along its axis, small enough for the cache. It reads a
 * tile that lies in one piece (or in one piece per sender), transforms it, and writes the lines,
 * cut in chunks, to where the next stage finds *its* tiles in one piece. So there is no pass that
 * only packs, unpacks or transposes. With c and t the place of a line on the fixed and the tile
 * axis, and i along it, member k of the out group is sent the i of its chunk as one block:
 *
 *     first stage    block k = [c][i / T][t][T of i]      next stage: axis t, tiles of T lines
 * along i, c fixed second stage   block k = [t][i / T][c][T of i]      next stage: axis c, tiles of
 * T lines along i, t fixed  (swap) third stage    no blocks: whole lines [c][t][i]
 *
 * A rank reads its block to itself where the stage before wrote it; only blocks of others go
 * through the window.
 */
#include "ft.h"

#include <assert.h>
#include <ftrma.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TILE = 8, /* lines in a tile: chunks of two cache lines, and a tile of lines of 512 points takes
                 64 KiB */
    PAD = 4,  /* points between the lines of a tile: they are not all to fall into the same cache
                 sets */
};

int ft_pencil_choose(const struct ft_class *cls, int size)
{
    int best = 0;
    for (int p = 1; p <= size; p++) {
        int q = size / p;
        bool fits = p * q == size && cls->nx % p == 0 && cls->ny % p == 0 && cls->ny % q == 0 &&
                    cls->nz % q == 0;
        if (fits && (best == 0 || abs(p - q) < abs(best - size / best)))
            best = p;
    }
    return best;
}

static void *allocate(size_t bytes)
{
    void *mem = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (mem)
        memset(mem, 0, bytes); /* pages are there before the clock runs */
    return mem;
}

/* exp(-4 alpha pi^2 k^2) for the wave numbers k of the indices first.. of an axis of n points. */
static double *damping(int n, int first, int count)
{
    const double alpha = 1.0e-6, pi = 3.14159265358979323846;
    double *factor = malloc((size_t)count * sizeof *factor);
    for (int i = 0; factor && i < count; i++) {
        int k = first + i < n / 2 ? first + i : first + i - n;
        factor[i] = exp(-4.0 * alpha * pi * pi * (double)k * (double)k);
    }
    return factor;
}

static bool plan_all(struct ft_pencil *p, const struct ft_class *cls)
{
    bool ok = true;
    const struct ft_group *g1 = &p->g1, *g2 = &p->g2;
    p->forward[0] = (struct ft_stage){.n = cls->nx, .nt = p->ly1, .nc = p->lz, .out = g1};
    p->forward[1] = (struct ft_stage){
        .n = cls->ny, .nt = p->lx, .nc = p->lz, .in = g1, .out = g2, .swap = true};
    p->forward[2] = (struct ft_stage){.n = cls->nz, .nt = p->ly2, .nc = p->lx, .in = g2};
    p->inverse[0] = (struct ft_stage){.n = cls->nz, .nt = p->ly2, .nc = p->lx, .out = g2};
    p->inverse[1] = (struct ft_stage){
        .n = cls->ny, .nt = p->lz, .nc = p->lx, .in = g2, .out = g1, .swap = true};
    p->inverse[2] = (struct ft_stage){.n = cls->nx, .nt = p->ly1, .nc = p->lz, .in = g1};
    for (int i = 0; i < 6; i++) {
        struct ft_stage *s = i < 3 ? &p->forward[i] : &p->inverse[i - 3];
        s->tile = s->nt < TILE ? s->nt : TILE;
        assert(s->nt % s->tile == 0);
        int in_stride = s->in ? s->tile : 1, in_dist = s->in ? 1 : s->n,
            out_dist = s->out ? s->n + PAD : s->n;
        /* estimated: a measured plan might be another one, with other bits, in a process that
         * replaces this one */
        s->plan = fftw_plan_many_dft(1, &s->n, s->tile, s->in ? p->gathered : p->buf[0], NULL,
                                     in_stride, in_dist, s->out ? p->lines : p->buf[1], NULL, 1,
                                     out_dist, i < 3 ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
        ok = ok && s->plan;
    }
    return ok;
}

bool ft_pencil_init(struct ft_pencil *p, const struct ft_class *cls, int rank, int p1, int p2)
{
    assert(cls->nx >= cls->ny &&
           cls->ny >= cls->nz); /* as NPB has it: the longest transform is along x */
    assert(cls->nx % p1 == 0 && cls->ny % p1 == 0 && cls->ny % p2 == 0 && cls->nz % p2 == 0);
    int i1 = rank / p2, i2 = rank % p2;
    *p = (struct ft_pencil){
        .lx = cls->nx / p1, .ly1 = cls->ny / p1, .ly2 = cls->ny / p2, .lz = cls->nz / p2};
    p->y0 = i1 * p->ly1;
    p->z0 = i2 * p->lz;
    p->local = (size_t)cls->nx * (size_t)p->ly1 * (size_t)p->lz;
    p->g1 = (struct ft_group){.size = p1, .me = i1, .first = i2, .stride = p2};
    p->g2 = (struct ft_group){.size = p2, .me = i2, .first = i1 * p2, .stride = 1};

    /* room for the blocks of the others of the larger group */
    size_t others = (size_t)(p1 > p2 ? p1 : p2) - 1;
    p->win_points = p->local / (others + 1) * others;
    MPI_Win_allocate((MPI_Aint)(p->win_points * sizeof(cplx)), sizeof(cplx), MPI_INFO_NULL,
                     MPI_COMM_WORLD, &p->win_base, &p->win);
    if (p->win_points > 0)
        memset(p->win_base, 0, p->win_points * sizeof(cplx));

    p->u = allocate(p->local * sizeof(cplx));
    p->buf[0] = allocate(p->local * sizeof(cplx));
    p->buf[1] = allocate(p->local * sizeof(cplx));
    p->gathered = allocate((size_t)cls->nx * TILE * sizeof(cplx));
    p->lines = allocate(((size_t)cls->nx + PAD) * TILE * sizeof(cplx));
    for (int i = 0; i < 2; i++) /* a transform writes all but u before it reads it */
        FTRMA_Unprotect(p->buf[i], p->local * sizeof(cplx));
    FTRMA_Unprotect(p->gathered, (size_t)cls->nx * TILE * sizeof(cplx));
    FTRMA_Unprotect(p->lines, ((size_t)cls->nx + PAD) * TILE * sizeof(cplx));
    p->damp_x = damping(cls->nx, i1 * p->lx, p->lx);
    p->damp_y = damping(cls->ny, i2 * p->ly2, p->ly2);
    p->damp_z = damping(cls->nz, 0, cls->nz);
    bool ok = p->u && p->buf[0] && p->buf[1] && p->gathered && p->lines && p->damp_x && p->damp_y &&
              p->damp_z;
    return ok && plan_all(p, cls);
}

void ft_pencil_finish(struct ft_pencil *p)
{
    void *memory[] = {p->u,     p->buf[0], p->buf[1], p->gathered,
                      p->lines, p->damp_x, p->damp_y, p->damp_z};
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++)
        free(memory[i]);
    for (int i = 0; i < 3; i++) {
        fftw_destroy_plan(p->forward[i].plan);
        fftw_destroy_plan(p->inverse[i].plan);
    }
    fftw_cleanup();
    MPI_Win_free(&p->win);
}

/* The tile at (c, t) of what the group sent me; own: what I wrote for the group. */
static const cplx *gather_tile(const struct ft_pencil *p, const struct ft_stage *s, const cplx *own,
                               int c, int t)
{
    const struct ft_group *g = s->in;
    size_t block = p->local / (size_t)g->size, piece = (size_t)(s->n / g->size) * (size_t)s->tile;
    size_t at = ((size_t)c * (size_t)(s->nt / s->tile) + (size_t)(t / s->tile)) * piece;
    if (g->size == 1)
        return own + at;
    for (int k = 0; k < g->size; k++) {
        const cplx *from =
            k == g->me ? own + (size_t)k * block : p->win_base + (size_t)(k - (k > g->me)) * block;
        memcpy(p->gathered + (size_t)k * piece, from + at, piece * sizeof(cplx));
    }
    return p->gathered;
}

/* Cuts the transformed lines of the tile at (c, t) into chunks for the tiles of the next stage. */
static void scatter_lines(const struct ft_pencil *p, const struct ft_stage *s, cplx *out, int c,
                          int t)
{
    int len = s->n / s->out->size, chunk = len < TILE ? len : TILE;
    assert(len % chunk == 0);
    size_t line = (size_t)(s->n + PAD),
           chunk_step = (size_t)(s->swap ? s->nc : s->nt) * (size_t)chunk;
    size_t c_step = s->swap ? (size_t)chunk : (size_t)len * (size_t)s->nt;
    size_t t_step = s->swap ? (size_t)len * (size_t)s->nc : (size_t)chunk;
    for (int k = 0; k < s->out->size; k++) {
        cplx *to = out + (size_t)k * (p->local / (size_t)s->out->size) + (size_t)c * c_step +
                   (size_t)t * t_step;
        const cplx *from = p->lines + (size_t)k * (size_t)len;
        for (int i = 0; i < len; i += chunk, to += chunk_step, from += chunk)
            for (int j = 0; j < s->tile; j++)
                if (chunk == TILE) /* a constant size is a few moves and not a call */
                    memcpy(to + (size_t)j * t_step, from + (size_t)j * line, TILE * sizeof(cplx));
                else
                    memcpy(to + (size_t)j * t_step, from + (size_t)j * line,
                           (size_t)chunk * sizeof(cplx));
    }
}

/* One time step of the lines along z at x, y.. of the spectrum. */
static void evolve_lines(const struct ft_pencil *p, const struct ft_stage *s, cplx *u, int x, int y)
{
    for (int j = 0; j < s->tile; j++, u += s->n) {
        double factor = p->damp_x[x] * p->damp_y[y + j];
        for (int z = 0; z < s->n; z++)
            u[z] *= factor * p->damp_z[z];
    }
}

/* in: complete lines, or the previous stage's output (after the exchange). evolve: in is the
 * spectrum; make a time step of it. */
static void run_stage(const struct ft_pencil *p, const struct ft_stage *s, cplx *in, cplx *out,
                      bool evolve)
{
    assert(in != out && !(evolve && s->in));
    /* the inner loop goes along the axis on which tiles are neighbours in out */
    int outer_end = s->swap ? s->nt : s->nc, outer_step = s->swap ? s->tile : 1;
    int inner_end = s->swap ? s->nc : s->nt, inner_step = s->swap ? 1 : s->tile;
    for (int o = 0; o < outer_end; o += outer_step) {
        for (int i = 0; i < inner_end; i += inner_step) {
            int c = s->swap ? i : o, t = s->swap ? o : i;
            size_t line = ((size_t)c * (size_t)s->nt + (size_t)t) * (size_t)s->n;
            if (evolve)
                evolve_lines(p, s, in + line, c, t);
            const cplx *tile = s->in ? gather_tile(p, s, in, c, t) : in + line;
            /* A transform out of place does not change its input, though the type does not say
             * so. */
            fftw_execute_dft(s->plan, (cplx *)tile, s->out ? p->lines : out + line);
            if (s->out)
                scatter_lines(p, s, out, c, t);
        }
    }
}

/* Puts my blocks into the windows of the group. Everybody goes through the same fences, whatever
 * its group. */
static void exchange(const struct ft_pencil *p, const struct ft_group *g, const cplx *blocks)
{
    if (g->size == 1)
        return;
    size_t block = p->local / (size_t)g->size;
    MPI_Win_fence(MPI_MODE_NOPRECEDE,
                  p->win); /* the others have read what the exchange before brought */
    for (int i = 1; i < g->size; i++) {
        int k = (g->me + i) % g->size; /* not all to the same one at the same time */
        MPI_Aint slot = g->me - (g->me > k);
        MPI_Put(blocks + (size_t)k * block, (int)block, MPI_C_DOUBLE_COMPLEX,
                g->first + k * g->stride, slot * (MPI_Aint)block, (int)block, MPI_C_DOUBLE_COMPLEX,
                p->win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, p->win);
}

const cplx *ft_pencil_transform(struct ft_pencil *p, bool inverse)
{
    const struct ft_stage *stage = inverse ? p->inverse : p->forward;
    cplx *result = inverse ? p->buf[0] : p->u;
    run_stage(p, &stage[0], p->u, p->buf[0], inverse);
    exchange(p, stage[0].out, p->buf[0]);
    run_stage(p, &stage[1], p->buf[0], p->buf[1], false);
    exchange(p, stage[1].out, p->buf[1]);
    run_stage(p, &stage[2], p->buf[1], result, false);
    return result;
}
