/* SPDX-License-Identifier: BSD-3-Clause
 *
 * timeline_page.c - the timeline as a page that needs no other file: its data, and timeline.html
 * around them.
 */
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "tools/timeline.h"

/* The contents of timeline.html; FT_TIMELINE_HTML is its path. */
__asm__(".pushsection .rodata\n"
        "timeline_html: .incbin \"" FT_TIMELINE_HTML "\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char timeline_html[] __attribute__((visibility("hidden")));

/* JSON inside of a script: a text must not contain the end of the script. */
static void put_value(cJSON *value, FILE *f)
{
    char *text = cJSON_PrintUnformatted(value);
    if (!text)
        timeline_fail("no memory for the page");
    for (const char *s = text; *s; s++)
        if (*s == '<')
            fputs("\\u003c", f);
        else
            putc(*s, f);
    cJSON_free(text);
    cJSON_Delete(value);
}

static void put_string(const char *s, FILE *f) { put_value(cJSON_CreateString(s), f); }

static void put_kinds(FILE *f)
{
    fputs("kinds:[", f);
    for (int k = 0; k < KINDS; k++) {
        fprintf(f, "%s[%d,", k ? "," : "", kinds[k].lane);
        put_string(kinds[k].legend, f);
        fputc(',', f);
        put_string(kinds[k].label, f);
        fprintf(f, ",\"%s\"]", kinds[k].colour);
    }
    fputs("],\nmarkKinds:[", f);
    for (int m = 0; m < MARK_KINDS; m++) {
        fputs(m ? ",[" : "[", f);
        put_string(mark_info[m].shape, f);
        fputc(',', f);
        put_string(mark_info[m].legend, f);
        fputc(']', f);
    }
    fputs("],\n", f);
}

static void put_data(const struct timeline *t, FILE *f)
{
    fprintf(f, "const data={begin:%.6f,end:%.6f,\n", t->begin, t->end);
    put_kinds(f);
    fputs("rows:[", f);
    for (int i = 0; i < t->rows; i++) {
        fputs(i ? ",[" : "[", f);
        put_string(t->row[i].name, f);
        fputc(',', f);
        put_string(t->row[i].before, f);
        fputc(']', f);
    }
    fputs("],\nspans:[", f);
    for (size_t i = 0; i < t->spans; i++) {
        const struct span *s = &t->span[i];
        fprintf(f, "%s[%d,%d,%.6f,%.6f,", i ? ",\n" : "", s->row, s->kind, s->begin, s->end);
        put_string(s->what, f);
        fputc(']', f);
    }
    fputs("],\nmarks:[", f);
    for (size_t i = 0; i < t->marks; i++) {
        const struct mark *m = &t->mark[i];
        fprintf(f, "%s[%d,%d,%.6f,", i ? ",\n" : "", m->row, (int)m->kind, m->at);
        put_string(m->label, f);
        fputc(',', f);
        put_string(m->what, f);
        fputc(']', f);
    }
    fputs("],\nlosses:[", f);
    for (size_t i = 0; i < t->losses; i++) {
        fprintf(f, "%s[%.6f,%.6f,", i ? ",\n" : "", t->loss[i].from, t->loss[i].to);
        put_string(t->loss[i].what, f);
        fputc(']', f);
    }
    fputs("]};\n", f);
}

/* Fills in three places of the page. */
void timeline_page(const struct timeline *t, const char *name, FILE *f)
{
    const char *s = timeline_html;
    while (*s) {
        if (strncmp(s, "@NAME@", 6) == 0) {
            timeline_text(name, f);
            s += 6;
        } else if (strncmp(s, "@PATTERNS@", 10) == 0) {
            timeline_patterns(f);
            s += 10;
        } else if (strncmp(s, "@DATA@", 6) == 0) {
            put_data(t, f);
            s += 6;
        } else {
            putc(*s++, f);
        }
    }
}
