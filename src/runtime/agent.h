/* SPDX-License-Identifier: BSD-3-Clause
 *
 * agent.h - the agent, a thread that is the shell of struct ft_process (recover/process.h). It
 * feeds the machine with what happens, and carries out what the machine says. It decides nothing.
 *
 *   shell.c   the thread; mails, news of main, clocks and deaths are events
 *   carry.c   carries out actions, one by one, in their order
 *   look.c    looks at what the machine has asked for (FT_LOOK_*), and says what this process knows
 *             of the dead
 *
 * One event is fed at a time (ft_agent_feed). What a step owes (WITNESSED, a copy of main's half)
 * is fed next, before anything else. Nothing is fed while actions are carried out.
 */
#ifndef FT_RUNTIME_AGENT_H
#define FT_RUNTIME_AGENT_H

#include <semaphore.h>

#include "recover/process.h"
#include "runtime/ckpt.h"
#include "runtime/replay.h"
#include "runtime/save.h"
#include "runtime/sentinel.h"

_Static_assert(sizeof(struct ft_mail) <= FT_MAIL_BYTES, "a mail holds any message");

struct ft_agent {
    struct ft_rt *rt;
    sem_t own_table;  /* posted when the thread has its own descriptors */
    int record;       /* the descriptor of the record (record.h); -1: there is none */
    ptrdiff_t engine; /* the engine of its thread */
    struct ft_process_cfg cfg;
    struct ft_process *p;           /* the machine */
    struct ft_process_actions *out; /* what it has said in its last step */
    struct ft_main main;            /* main's half, as the machine has last heard it */
    struct ft_agree_data local;     /* given with WITNESSED */
    struct ft_bitset dead;          /* the set of WITNESS, while the answer is owed */
    int owes_witness, owes_copy;
    uint64_t nodes_out; /* bits of nodes that the machine has heard are out */
    int feeding;        /* an event is being fed */
    union {
        struct ft_mail m;
        char room[FT_MAIL_BYTES];
    } mail_in;
    /* What it looks at. */
    uint32_t looks;
    uint64_t group_seen; /* LOOK_GROUP: what was last seen; UINT64_MAX: nothing yet */
    uint64_t tick_ns, stuck_progress;
    int stuck_ticks;
    uint64_t awaited; /* the version that all wait to go back to, until the user is told; 0: none */
    /* The process that started this one; the processes that it watches; those that it asks no more. */
    int parent;              /* the process that started this one */
    uint64_t launcher_start; /* ftrun's start time; 0: it is not watched */
    uint64_t orphan_ns;      /* when to look at the starter next */
    struct ft_sentinel watch;
    int mails_wait;            /* mails wait until their receivers have taken others */
    struct ft_bitset repaired; /* slots of the dead whose locks were broken */
    struct ft_bitset lost,
        released; /* slots of the dead whose arenas will be given back; whose were (release.c) */
    uint32_t lost_in; /* the generation of the newest of these */
    int rebind_due;   /* main was told of a generation, and may not have made a call since */
    int release_due;  /* main was told to give arenas back, and may not have made a call since */
    int64_t limit_ms; /* how long a process may be silent */
    uint64_t ping_ns; /* when the next tick of the detector is */
    /* For still.c, which sees that nothing moves any more. limit: seconds; from: [nranks], at the
     * root; was: what main had done at the last look. */
    struct {
        uint64_t next_ns, was[4];
        uint32_t naps, answered, *from;
        int64_t limit;
        enum { FT_STILL_MOVING = 0, FT_STILL_ASKED, FT_STILL_SAID, FT_STILL_ENDING } step;
    } still;
};
extern FT_STATE(struct ft_agent *, ft_a);
#define ft_a FT_MY(ft_a)

/* shell.c */
void ft_agent_feed(struct ft_agent *a, struct ft_process_event ev);
void ft_agent_mail(struct ft_agent *a, int slot, const struct ft_mail *m, uint32_t bytes);
void ft_agent_attention(struct ft_agent *a, uint32_t what);
static inline struct ft_mapping ft_agent_map(const struct ft_agent *a)
{
    return ft_process_map(a->p, &a->cfg);
}
static inline int ft_agent_main_busy(const struct ft_agent *a) /* 1: a command is outstanding */
{
    return ft_box_busy(&a->rt->box, &a->main);
}
static inline int ft_agent_finished(const struct ft_agent *a) /* 1: MPI_Finalize may be left */
{
    return (a->p->carrier.facts & FT_FACT_DONE) != 0;
}

/* carry.c: carries out what the machine has said in its last step */
void ft_carry_start(struct ft_agent *a);
void ft_carry_out(struct ft_agent *a);
void ft_carry_say_awaited(struct ft_agent *a); /* tells the user as soon as main is in no call */

/* look.c */
int ft_look_around(struct ft_agent *a); /* 1: something was seen, and fed */
void ft_look_testify(struct ft_agent *a, const struct ft_bitset *dead, struct ft_agree_data *d);
void ft_look_await(struct ft_agent *a, uint32_t looks);
uint64_t ft_look_bytes(struct ft_agent *a, uint64_t version); /* bytes of all images of a group */

/* save.c. ask: the root asks to save this version, if that is due, when all have copied. gone_on:
 * all have gone back to the checkpoint that was read from files. */
void ft_save_ask(struct ft_agent *a, uint64_t version);
void ft_save_gone_on(struct ft_agent *a);
/* release.c: notes who is lost by this decision, and gives their arenas back when all is well again
 */
void ft_release_lost(struct ft_agent *a, const struct ft_decision *d);
void ft_release_poll(struct ft_agent *a);
/* still.c: says who waits for whom when nothing moves any more */
void ft_still_start(struct ft_agent *a);
void ft_still_look(struct ft_agent *a, uint64_t now);

#endif
