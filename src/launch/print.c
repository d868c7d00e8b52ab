/* SPDX-License-Identifier: BSD-3-Clause
 *
 * print.c - what ftrun prints from its tables in place of a run.
 */
#include <stdio.h>
#include <string.h>

#include "base/failpoint.h"
#include "base/reason.h"
#include "base/settings.h"
#include "launch/options.h"

/* "(whole number of processes from 0 to 4096)", "(off|puts|all, default all)" */
static void print_values(FILE *f, enum ft_setting_id id)
{
    static const char *const types[] = {
        [FT_SETTING_WHOLE] = "whole number", [FT_SETTING_BYTES] = "size in ",
        [FT_SETTING_TIME] = "time in ",      [FT_SETTING_WHOLE_TIME] = "time in ",
        [FT_SETTING_PATH] = "path",          [FT_SETTING_TEXT] = "text"};
    const struct ft_setting_info *s = &ft_settings_table[id];
    char range[60];
    int words = s->type == FT_SETTING_WORDS || s->type == FT_SETTING_POLICY;
    ft_setting_range(id, range, sizeof range);
    fprintf(f, "  (%s%s%s%s", words ? "" : types[s->type],
            s->type == FT_SETTING_WHOLE && *s->unit ? " of " : "", s->unit, range);
    fprintf(f, *s->def ? ", default %s)" : ")", s->def);
}

void ft_print_settings(FILE *f)
{
    fputs("Settings are environment variables; an empty one means the default.\n"
          "A number alone has the unit that is printed; times may be 90s, 5min, 1.5h or 2d, sizes "
          "512M, 1.5G or 64KiB.\n\n",
          f);
    for (int i = 0; i < FT_SET_COUNT; i++) {
        const struct ft_setting_info *s = &ft_settings_table[i];
        fputs(s->env, f);
        print_values(f, (enum ft_setting_id)i);
        fprintf(f, "\n    %s\n", s->doc);
    }
}

void ft_print_failpoints(FILE *f)
{
    fputs("Failpoints, and which processes pass them: R ranks, C checksum processes, S spares, "
          "W writers of sets (--save);\non several nodes G gateways, K keepers and L the launcher, ftrun\n\n",
          f);
    for (int i = 0; i < FT_FP_COUNT; i++)
        fprintf(f, "%-22s %-4s %s\n", ft_fp_table[i].name, ft_fp_table[i].who, ft_fp_table[i].doc);
}

static void print_reasons(FILE *f)
{
    char text[600];
    fprintf(f,
            "Reasons for which a job is given up (status %d). The name stands in brackets at the "
            "end of the message.\n"
            "In the list N is a number, and ... a text.\n\n",
            FT_EXIT_LOST);
    for (int i = FT_REASON_NONE + 1; i < FT_REASON_COUNT; i++) {
        const struct ft_reason_info *r = &ft_reason_table[i];
        ft_reason_plain(r->what, text, sizeof text);
        fprintf(f, "%s\n    %s.\n", r->name, text);
        ft_reason_plain(r->todo, text, sizeof text);
        fprintf(f, "    %s.\n", text);
    }
}

static void print_version(FILE *f) { fputs("ftrun (ftrma) " FTRMA_VERSION "\n", f); }

int ft_print_task(enum ft_ftrun_task task)
{
    static char all[1 << 16]; /* written at once, so that an error is that of this write */
    setvbuf(stdout, all, _IOFBF, sizeof all);
    switch (task) {
    case FT_TASK_HELP: ft_print_help(stdout); break;
    case FT_TASK_SETTINGS: ft_print_settings(stdout); break;
    case FT_TASK_REASONS: print_reasons(stdout); break;
    case FT_TASK_VERSION: print_version(stdout); break;
    case FT_TASK_FAILPOINTS: ft_print_failpoints(stdout); break;
    case FT_TASK_RUN: break;
    }
    return fflush(stdout) == 0 && !ferror(stdout);
}
