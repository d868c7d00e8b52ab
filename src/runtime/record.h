/* SPDX-License-Identifier: BSD-3-Clause
 *
 * record.h - all that passes between the agent and its main or the world, as lines of text in a
 * file (FTRMA_AGENT_LOG). `scripts/records.sh` compares two versions of the agent by them. Each
 * line is one write, so the record of a killed process is complete.
 *
 *   E NS BEGIN name value ...      what never changes (ft_agent_cfg)
 *   E NS WHERE parity P aware A holds H levels L nodes LIST groups LIST     (domains 1: struct
 *       ft_where), and, for each level from 1 on, E NS LEVEL name count parents
 *   E NS MAIN moves place reached passed answered | moved reason bytes version safepoint | asks
 *       longest cannot replaying taken taken_in hold over no_snapshot lost
 *   E NS MAIL from MAIL = words      E NS EXITED slot orderly
 *   E NS TICK                        E NS TIME what
 *   E NS JOB_OVER                    E NS SEEN look value
 *   E NS WITNESSED = words           E NS ALIVE slot
 *   E NS FAILED slot
 *   A NS MAIL to MAIL                A NS COMMAND kind number version snapshot generation era rank
 *       alone aside why [word]       A NS HOLD value
 *   A NS WISH value                  A NS TOOK
 *   A NS ATTENTION bits              A NS PUBLISH word value
 *   A NS GATE number                 A NS REPAIR n
 *   A NS BIND generation             A NS WATCH slot
 *   A NS KILL slot                   A NS READY order ...
 *   A NS EVENT event who a b c       A NS JOB_DONE
 *   A NS LOST status
 *
 * E is an event, A an action, NS nanoseconds since the job's zero. Kinds and places are by name.
 * MAIL is AGREE kind oldest failed flags committed generation, ORDER kind generation seq order arg
 * flags max bytes not_ok came running no_snapshot, DEMAND kind generation rank ch version, MARKER
 * snapshot rank kind, or NAME number. The words of an event (recover/mail_words.h) are all of it.
 * ALIVE and FAILED follow from what was heard before. `ftrma-sim
 * --replay-agent` feeds the others to the machine again.
 */
#ifndef FT_RUNTIME_RECORD_H
#define FT_RUNTIME_RECORD_H

#include "base/base.h"

struct ft_agent;
struct ft_process_cfg;
struct ft_agree_data;

/* Opens the file, if one is set. The agent's thread calls it. */
void ft_record_begin(struct ft_agent *a, const struct ft_process_cfg *cfg);
/* Writes one line after "E NS " or "A NS ". Does nothing if there is no file. */
__attribute__((format(printf, 3, 4))) void ft_record(struct ft_agent *a, char which,
                                                     const char *fmt, ...);
void ft_record_mail(struct ft_agent *a, char which, int slot, const void *mail);
void ft_record_data(struct ft_agent *a, const char *what, const struct ft_agree_data *d);
void ft_record_main(
    struct ft_agent *a); /* writes the copy of main's half, if it says something new */

#endif
