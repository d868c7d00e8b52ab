/* SPDX-License-Identifier: BSD-3-Clause
 *
 * memory_names.c - the name of memory in a note: see memory.h.
 */
#include <stdio.h>
#include <string.h>

#include "image/memory.h"

static int is_digit(char c) { return c >= '0' && c <= '9'; }
static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Reads lengths and names in sequence, as in C++: "4Heat1u". Returns their end; NULL: it is
 * something else. */
static const char *plain_names(const char *p, char *out, size_t size)
{
    size_t len = 0;
    out[0] = '\0';
    while (is_digit(*p) || (*p == 'L' && is_digit(p[1]))) { /* L: known only in its own source */
        size_t n = 0;
        p += *p == 'L';
        for (; is_digit(*p) && n < 1000; p++)
            n = 10 * n + (size_t)(*p - '0');
        if (n == 0 || n > strlen(p) || len + n + 3 > size)
            return NULL;
        len += (size_t)snprintf(out + len, size - len, "%s%.*s", len ? "::" : "", (int)n, p);
        p += n;
    }
    return len ? p : NULL;
}

static int from_cxx(const char *name, char *out, size_t size)
{
    const char *end = NULL;
    /* of a function: the variable follows its name and signature */
    if (strncmp(name, "_ZZ", 3) == 0) {
        const char *p = strrchr(name, 'E');
        end = p ? plain_names(p + 1, out, size) : NULL;
        return end && (*end == '\0' || *end == '.' || *end == '_');
    }
    if (strncmp(name, "_ZN", 3) == 0) {
        const char *p = name + 3;
        if (strncmp(p, "12_GLOBAL__N_1", 14) == 0) /* a namespace without a name */
            p += 14;
        end = plain_names(p, out, size);
        return end && *end == 'E' && (end[1] == '\0' || end[1] == '.');
    }
    if (strncmp(name, "_ZL", 3) == 0)
        end = plain_names(name + 2, out, size);
    return end && (*end == '\0' || *end == '.');
}

static int from_fortran(const char *name, char *out, size_t size)
{
    const char *mod = strncmp(name, "__", 2) == 0 ? strstr(name, "_MOD_") : NULL;
    if (!mod || mod < name + 3)
        return 0;
    snprintf(out, size, "%.*s::%s", (int)(mod - name - 2), name + 2, mod + 5);
    return 1;
}

void ft_mem_tidy(const char *name, char *out, size_t size)
{
    if (from_cxx(name, out, size) || from_fortran(name, out, size))
        return;
    const char *clang = strchr(name, '.'); /* clang writes function.variable, gcc variable.number */
    if (clang && is_letter(clang[1]) && strncmp(clang + 1, "lto_priv", 8) != 0 &&
        strncmp(clang + 1, "part", 4) != 0)
        name = clang + 1;
    size_t n = name[0] == '.' ? strlen(name) : strcspn(name, ".@");
    snprintf(out, size, "%.*s", (int)n, name);
}

int ft_mem_is_internal(const char *name)
{
    static const char *const begins[] = {"_ZGV",       "_ZT",         "__gcov",
                                         "__llvm",     "__asan",      "__tsan",
                                         "__odr_asan", "__sanitizer", "completed."};
    for (size_t i = 0; i < FT_COUNTOF(begins); i++)
        if (strncmp(name, begins[i], strlen(begins[i])) == 0)
            return 1;
    return strstr(name, "ftrma_") != NULL;
}

void ft_mem_size(uint64_t bytes, char *out, size_t size)
{
    unsigned long long n = bytes;
    if (n < 10000)
        snprintf(out, size, "%llu bytes", n);
    else if (n < 10000000)
        snprintf(out, size, "%llu KB", (n + 500) / 1000);
    else
        snprintf(out, size, "%llu MB", (n + 500000) / 1000000);
}

static const char *file_of(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "";
}

/* A name that a program can write: letters, digits and "::". */
static int is_writable(const char *s)
{
    if (strncmp(s, "_Z", 2) == 0)
        return 0;
    for (; *s; s++)
        if (!is_letter(*s) && !is_digit(*s) && *s != ':')
            return 0;
    return 1;
}

struct ft_note ft_mem_note(const struct ft_mem_thing *t, uint64_t changed, const char *owner,
                           const char *site)
{
    struct ft_note n = {.at = t->addr};
    char name[80], size[32], part[32];
    ft_mem_size(t->whole_bytes, size, sizeof size);
    ft_mem_size(changed, part, sizeof part);
    switch (t->kind) {
    case FT_MEM_STATIC:
        n.at = 0;
        ft_mem_tidy(t->name, name, sizeof name);
        snprintf(n.what, sizeof n.what, "'%s' (%s, %.40s)", name, size, file_of(t->source));
        if (is_writable(name) && !(strncmp(t->name, "__", 2) == 0 &&
                                   strstr(t->name, "_MOD_"))) /* a small one is hardly an array */
            snprintf(n.args, sizeof n.args, "%s%.70s, sizeof %.70s", t->bytes <= 8 ? "&" : "", name,
                     name);
        break;
    case FT_MEM_UNNAMED:
        snprintf(n.what, sizeof n.what, "static data of %.60s (%s, without a symbol)",
                 file_of(t->source), part);
        break;
    case FT_MEM_BLOCK:
        if (owner)
            snprintf(n.what, sizeof n.what, "a heap block of %s, to which '%.80s' points,", size,
                     owner);
        else
            snprintf(n.what, sizeof n.what, "a heap block of %s", size);
        break;
    case FT_MEM_MAPPING:
        if (changed < t->whole_bytes)
            snprintf(n.what, sizeof n.what, "part of a mapping of %s", size);
        else
            snprintf(n.what, sizeof n.what, "a mapping of %s", size);
        break;
    }
    size_t len = strlen(n.what);
    if (site)
        snprintf(n.what + len, sizeof n.what - len, "%s allocated by %s,", owner ? "" : ",", site);
    return n;
}
