/* SPDX-License-Identifier: BSD-3-Clause
 *
 * reason.c - the table of reasons, and how a job is given up.
 */
#include "base/reason.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"

const struct ft_reason_info ft_reason_table[FT_REASON_COUNT] = {
    [FT_REASON_NONE] = {"", "", ""},
#define FT_REASON(id, name, what, todo) [FT_REASON_##id] = {name, what, todo},
#include "base/reason.def"
#undef FT_REASON
};

const struct ft_giver *_Atomic ft_giver;

_Noreturn void ft_give_up_with(enum ft_reason reason, const char *message)
{
    char text[1200];
    FT_ASSERT(reason > FT_REASON_NONE && reason < FT_REASON_COUNT);
    if (ft_giver)
        ft_giver->end(reason, message);
    int n = snprintf(text, sizeof text, "ftrma: %s [%s] (pid %d)\n", message,
                     ft_reason_table[reason].name, (int)getpid());
    ft_print(text, ft_min_u64((uint64_t)n, sizeof text - 1));
    _exit(FT_EXIT_LOST);
}

_Noreturn void ft_give_up_as(enum ft_reason reason, const char *format, ...)
{
    char message[1000];
    va_list ap;
    va_start(ap, format);
    vsnprintf(message, sizeof message, format, ap);
    va_end(ap);
    ft_give_up_with(reason, message);
}

_Noreturn void ft_no_memory(const char *what, uint64_t bytes, const char *where, uint64_t left)
{
    char name[48] = "this process", has[400] = "the node gives no more";
    if (ft_giver)
        ft_giver->name(name, sizeof name);
    if (where)
        snprintf(has, sizeof has, "%.300s has %llu bytes left", where, (unsigned long long)left);
    ft_give_up(NO_MEMORY, name, what, (unsigned long long)bytes, has);
}

void ft_reason_plain(const char *format, char *out, size_t size)
{
    size_t n = 0;
    while (*format && n + 4 < size) {
        if (*format != '%') {
            out[n++] = *format++;
            continue;
        }
        format += strcspn(format, "diuxsp"); /* the conversion is the first of these letters */
        n += (size_t)snprintf(out + n, size - n, "%s", *format == 's' ? "..." : "N");
        format += *format != '\0';
    }
    out[n] = '\0';
}
