/* SPDX-License-Identifier: BSD-3-Clause
 *
 * failpoint.h - named places where a process can be made to die or stop by a setting.
 *
 *   FTRMA_INJECT="rank=2,point=ckpt.parity.sent,hit=3;checksum=0,point=agree.decided,action=stop"
 *
 * Every step of every protocol passes one. The names are rows of failpoint.def, so that tests can
 * enumerate them. A failpoint that is not armed costs one predictable branch on a process-local
 * byte.
 */
#ifndef FT_BASE_FAILPOINT_H
#define FT_BASE_FAILPOINT_H

#include <stdint.h>

#include "base/status.h"

enum ft_failpoint_id {
#define FT_FAILPOINT(id, name, who, doc) FT_FP_##id,
#include "base/failpoint.def"
#undef FT_FAILPOINT
    FT_FP_COUNT
};

/* What a failpoint does to the process: SIGKILL, SIGSTOP, or nothing but counting its hits. */
enum ft_fp_action { FT_FP_NONE = 0, FT_FP_KILL, FT_FP_STOP, FT_FP_COUNTED };

/* WRITER: the process that ftrun starts to write set number `index` of a job to files
 * (launch/writer.h). It carries no position. */
enum ft_role {
    FT_ROLE_RANK = 0,
    FT_ROLE_CHECKSUM = 1,
    FT_ROLE_SPARE = 2,
    FT_ROLE_WRITER = 3,
    FT_ROLE_GATEWAY = 4, /* of node `index`; it carries no position either */
    FT_ROLE_KEEPER = 5,
    FT_ROLE_NODE = 6,    /* a victim only: any process of the node, and all of them die */
    FT_ROLE_LAUNCHER = 7 /* ftrun itself, of a job on several nodes; its index is 0 */
};

/* A row of the table. `who` says which processes pass the point: R ranks, C checksum processes, S
 * spares, W writers, G gateways, K keepers, L ftrun. */
struct ft_fp_info {
    const char *name, *who, *doc;
};
extern const struct ft_fp_info ft_fp_table[FT_FP_COUNT];

/* The armed action of each point in this process (enum ft_fp_action). */
extern uint8_t ft_fp_armed[FT_FP_COUNT] __attribute__((visibility("hidden")));
/* Counts a hit of an armed point, and acts at the chosen one. Any thread; does not allocate. */
void ft_fp_hit(enum ft_failpoint_id id);

#define ft_failpoint(ID)                                                                           \
    do {                                                                                           \
        if (__builtin_expect(__atomic_load_n(&ft_fp_armed[FT_FP_##ID], __ATOMIC_RELAXED) != 0, 0)) \
            ft_fp_hit(FT_FP_##ID);                                                                 \
    } while (0)

/* Checks a complete FTRMA_INJECT text without arming anything. On FT_ERR_ARG err holds a sentence
 * that names the bad part. nranks, nchecksums, nspares and nnodes bound the victims' numbers; -1:
 * not known. NULL and the empty text are valid. */
enum ft_status ft_fp_check(const char *spec, int nranks, int nchecksums, int nspares, int nnodes,
                           char *err, int errlen);
/* Arms the failpoints that concern this process, disarms all others, and sets their hits to 0.
 * Called at start, and again when a spare takes the place of a rank or a checksum process. An entry
 * rank=R or checksum=I is armed only for the first carrier (incarnation 0), unless it says again=1:
 * then every carrier dies. An entry spare=I stays with the process that started as spare I,
 * whatever it carries later, so that a replacement can be killed in the middle of its rejoin. Call
 * it when no other thread passes failpoints whose arming changes here, or accept that one hit is
 * judged by the old arming. */
enum ft_status ft_fp_arm(const char *spec, enum ft_role role, int index, int incarnation);
/* This process is on this node of a job on several: an entry node=K concerns it, whatever it
 * carries. At the chosen hit the node's gateway ends first, so nobody on another node sees one
 * process end before the other; then its keeper and all its processes. By stop they stop. b: this
 * node's board. To be called before ft_fp_arm. */
struct ft_board;
void ft_fp_on_node(struct ft_board *b, int node);
/* From this call on, points that no entry names count their hits. To be called before ft_fp_arm. */
void ft_fp_count_all(void);
uint64_t ft_fp_hits(enum ft_failpoint_id id); /* of a point that is armed or counted */
int ft_fp_find(const char *name);             /* -1 when unknown */
/* Sets the words where ft_fp_hit notes, before it acts, the point last hit (id + 1), the time
 * (CLOCK_MONOTONIC), and which entries have acted. They lie in shared memory, so that survivors can
 * say what killed a process. Any of them may be NULL. */
void ft_fp_set_last_hit(_Atomic uint32_t *word, _Atomic uint64_t *t_ns, _Atomic uint64_t *entries);
/* Returns entry number n (from 0) of a text, and its length in *len; NULL: there are fewer entries.
 * */
const char *ft_fp_entry(const char *spec, int n, int *len);
/* The bit of entry n in the word of entries that have acted. From 64 entries on several entries
 * share a bit. */
#define FT_FP_ENTRY(n) (1ull << ((n) % 64))

#endif
