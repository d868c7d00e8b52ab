/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reason.h - the one way to give a job up, and all reasons for it. They are rows of one table
 * (reason.def), which ftrun's last line, the report, `ftrun --help-reasons` and ftrun(1) use.
 */
#ifndef FT_BASE_REASON_H
#define FT_BASE_REASON_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum ft_reason {
    FT_REASON_NONE, /* the job was not given up */
#define FT_REASON(id, name, what, todo) FT_REASON_##id,
#include "base/reason.def"
#undef FT_REASON
    FT_REASON_COUNT
};

struct ft_reason_info {
    const char *name;        /* "no-spare": the same in all versions */
    const char *what, *todo; /* formats: what happened, and what the user can do about it */
};
extern const struct ft_reason_info ft_reason_table[FT_REASON_COUNT]; /* NONE: empty texts */

/* The message of a reason is one format, so that the compiler checks its arguments. */
#define FT_REASON(id, name, what, todo) \
    __attribute__((unused)) static const char FT_REASON_FORMAT_##id[] = what ". " todo;
#include "base/reason.def"
#undef FT_REASON

/* Gives the job up: ends it with status 75, the reason and its message. Where there is no job it
 * ends this process. The arguments are those of the row's texts, in the order of their numbers. Any
 * thread. */
#define ft_give_up(id, ...) ft_give_up_as(FT_REASON_##id, FT_REASON_FORMAT_##id, ##__VA_ARGS__)
/* Writes the same message to a text, for a caller that does not end the job itself. */
#define ft_reason_say(out, size, id, ...) snprintf(out, size, FT_REASON_FORMAT_##id, ##__VA_ARGS__)

__attribute__((format(printf, 2, 3))) _Noreturn void ft_give_up_as(enum ft_reason reason,
                                                                   const char *format, ...);
/* Gives the job up with a message that ft_reason_say has made. */
_Noreturn void ft_give_up_with(enum ft_reason reason, const char *message);

/* Gives the job up for NO_MEMORY, the only reason for which a process ends for want of memory.
 * what: the purpose of the memory. where: a path that names the memory, of which `left` bytes are
 * left. where NULL: the memory of the node, of which nobody knows what is left. */
_Noreturn void ft_no_memory(const char *what, uint64_t bytes, const char *where, uint64_t left);

/* Functions that the runtime sets once there is a job. */
struct ft_giver {
    void (*name)(char *out, size_t size); /* writes the name of this process: "rank 3" */
    void (*end)(enum ft_reason reason, const char *message); /* ends the job; does not return */
};
extern const struct ft_giver *_Atomic ft_giver; /* NULL: there is no job (yet) */

/* Writes a row's text for a document: N for numbers, "..." for texts. */
void ft_reason_plain(const char *format, char *out, size_t size);

#endif
