/* SPDX-License-Identifier: BSD-3-Clause
 *
 * carriers.c - a process of a program without MPI joins the job, and other services for src/ftt.
 */
#include "runtime/carriers.h"

#include <string.h>

#include "msg/msg.h"
#include "runtime/names.h"
#include "runtime/output.h"
#include "runtime/rt.h"
#include "runtime/told.h"
#include "transport/turn.h"

static void nothing(void *buf, int bytes) { (void)buf, (void)bytes; }
static void not_rolled_back(int over) { (void)over; }
static void no_host(void) {}

/* The same as MPI_Init, without a host: the board alone says who we are. */
static enum ft_joining join(void)
{
    struct ft_board *b;
    int slot = ft_names_slot(), rank, nranks;
    const char *where = ft_setting_str(FT_SET_BOARD);
    if (slot < 0 || !*where || ft_board_open(where, slot, &b) != FT_OK)
        return FT_JOIN_NO_JOB;
    int recovery, spares = b->nspares;
    char err[400];
    if (ft_told_recovery(&recovery, err, sizeof err) != FT_OK ||
        (recovery != FT_RECOVERY_PROGRAM && spares > 0))
        return FT_JOIN_LEVEL;
    struct ft_host host = {.slot = slot,
                           .nslots = b->nslots,
                           .plain = 1,
                           .bcast0 = nothing,
                           .going_back = no_host,
                           .rolled_back = not_rolled_back,
                           .reap = no_host,
                           .finalize = no_host};
    ft_runtime_entering();
    ft_runtime_host_is_up();
    ft_runtime_start(&host, &rank, &nranks);
    ft_runtime_begin_heap();
    ft_runtime_after_init();
    ft_leave();
    ft_failpoint(INIT_LEAVE);
    return FT_JOINED;
}

enum ft_joining ft_carriers_join(int *own)
{
    struct ft_rt *rt = ft_own_rt;
    *own = !rt;
    if (!rt)
        return join();
    if (atomic_load(&rt->me->phase) >= FT_PHASE_FINALIZED)
        return FT_JOIN_OVER;
    /* [Rank 1 is lost after body. Its replacement does not run body again, and never opens: the
     * others wait for it in FTT_Close.] */
    if (ft_in_run(rt))
        return FT_JOIN_IN_RUN;
    if (!rt->told && rt->board->nspares > 0)
        return FT_JOIN_LEVEL;
    return FT_JOINED;
}

/* In no call, as the program would be in a call of MPI: the agent does not act for it meanwhile. */
void ft_carriers_end(void)
{
    ft_enter();
    ft_runtime_finalize();
    ft_leave();
}

uint32_t ft_carriers_now(int *slot, uint32_t *incarnation, unsigned char *dead, void (*news)(void))
{
    struct ft_rt *rt = ft_own_rt;
    size_t n = (size_t)rt->board->nranks;
    pthread_mutex_lock(&rt->map_lock);
    memcpy(slot, rt->slot_of, n * sizeof *slot);
    memcpy(incarnation, rt->incarnation, n * sizeof *incarnation);
    for (size_t r = 0; r < n; r++)
        dead[r] = (unsigned char)ft_bit_get(&rt->dead, slot[r]);
    uint32_t generation = rt->mapped_in;
    rt->news = news;
    pthread_mutex_unlock(&rt->map_lock);
    return generation;
}

void ft_carriers_opened(void)
{
    atomic_fetch_or(&ft_own_rt->me->testament.position, FT_TESTAMENT_OPEN);
}

void ft_carriers_output(void)
{
    if (ft_own_rt->replacement && ft_own_rt->told)
        ft_output_go_on(ft_own_rt);
}

int ft_carriers_may_take_back(void) { return ft_in_body(ft_own_rt) && ft_runtime_on_main(); }

/* Where threads call MPI in turns, another one may be in a call now: then main passes no door but to
 * leave, and takes no messages. Without MPI there are none. */
static int passes_door(void)
{
    if (ft_own_rt->host.plain || !ft_runtime_on_main())
        return 0;
    return !ft_runtime_threads ||
           ((atomic_load_explicit(&ft_attention, memory_order_relaxed) & FT_ATT_PARK) != 0 &&
            ft_carriers_may_take_back());
}

void ft_carriers_door(void)
{
    if (!passes_door())
        return;
    ft_door_uncounted();
    if (!ft_runtime_threads)
        ft_looked();
}

int ft_carriers_go_on(void)
{
    if (!passes_door())
        return 0;
    ft_door_uncounted();
    if (ft_runtime_threads)
        return 0;
    ft_looked_long();
    return ft_msg_active > 0;
}

struct ft_holder ft_carriers_holds(struct ft_holder h)
{
    if (!ft_runtime_on_main())
        return h;
    struct ft_holder was = ft_own_rt->holder;
    ft_own_rt->holder = h;
    return was;
}
