/* SPDX-License-Identifier: BSD-3-Clause
 *
 * names.c - see names.h.
 */
#define _GNU_SOURCE
#include "runtime/names.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/failpoint.h"
#include "base/settings.h"

enum name_kind { RANK, SIZE, JOB }; /* JOB: set by the host alone; identifies its job */

static const struct {
    const char *name;
    enum name_kind kind;
    int local; /* counts the processes of a node */
} table[] = {
    {"OMPI_COMM_WORLD_RANK", RANK, 0},
    {"OMPI_COMM_WORLD_SIZE", SIZE, 0},
    {"OMPI_COMM_WORLD_LOCAL_RANK", RANK, 1},
    {"OMPI_COMM_WORLD_LOCAL_SIZE", SIZE, 1},
    {"OMPI_COMM_WORLD_NODE_RANK", RANK, 1},
    {"OMPI_WORLD_SIZE", SIZE, 0},
    {"OMPI_WORLD_LOCAL_SIZE", SIZE, 1},
    {"OMPI_APP_CTX_NUM_PROCS", SIZE, 0},
    {"PMIX_RANK", RANK, 0},
    {"PMIX_NAMESPACE", JOB, 0},
};
#define NAMES FT_COUNTOF(table)
#define TEXT 112

/* Each text is "NAME=value". host: as mpirun has set it; empty: not set. ours: what the library has
 * stored before main; given: since MPI_Init. No text is changed while `environ` points to it. */
static char host[NAMES][TEXT], ours[NAMES][TEXT], given[NAMES][TEXT];
static char *programs[NAMES]; /* as before the host's MPI_Init */
static int asked[NAMES];      /* the program has looked for it */
/* A lookup may be in vain: it is not known which rank this process will carry. */
static int watching;

/* The place of the variable in `environ`. */
static char **entry(const char *name)
{
    size_t n = strlen(name);
    for (char **e = environ; e && *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return e;
    return NULL;
}

static const char *value(const char *text) { return strchr(text, '=') + 1; }

/* The value of a name, as the library has passed it to processes that are started by this one. */
static int look_up(const char *told, const char *name, char *out)
{
    size_t n = strlen(name);
    for (const char *p = told; p && *p; p = strchr(p, ';') ? strchr(p, ';') + 1 : NULL)
        if (strncmp(p, name, n) == 0 && p[n] == '=') {
            int bytes = (int)strcspn(p, ";");
            return bytes < TEXT && snprintf(out, TEXT, "%.*s", bytes, p) > 0;
        }
    return 0;
}

static int same(const char *text, const char *name)
{
    char **e = entry(name);
    return e && strcmp(*e, text) == 0;
}

static int told_of_this_job(const char *told)
{
    char job[TEXT];
    return *told && look_up(told, "PMIX_NAMESPACE", job) && same(job, "PMIX_NAMESPACE");
}

static void learn(void)
{
    const char *told = ft_setting_str(FT_SET_HOST_NAMES);
    int use = told_of_this_job(told);
    for (size_t i = 0; i < NAMES; i++) {
        char **e = entry(table[i].name);
        if (use)
            look_up(told, table[i].name, host[i]);
        else if (e && strlen(*e) < TEXT && !strchr(*e, ';'))
            memcpy(host[i], *e, strlen(*e) + 1);
        memcpy(ours[i], host[i], TEXT);
    }
}

static void tell(void)
{
    char text[NAMES * TEXT] = "";
    for (size_t i = 0, n = 0; i < NAMES; i++)
        if (host[i][0])
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s", n ? ";" : "", host[i]);
    setenv(ft_settings_table[FT_SET_HOST_NAMES].env, text, 1);
}

static int find(const char *name)
{
    for (size_t i = 0; i < NAMES; i++)
        if (strcmp(table[i].name, name) == 0)
            return (int)i;
    return -1;
}

int ft_names_slot(void)
{
    int i = find("OMPI_COMM_WORLD_RANK");
    if (!host[i][0])
        learn();
    return host[i][0] ? atoi(value(host[i])) : -1;
}

/* With ranks on several nodes, variables that count those of one node are left to the host. */
static int is_ours(size_t i)
{
    const char *all = host[find("OMPI_COMM_WORLD_SIZE")],
               *here = host[find("OMPI_COMM_WORLD_LOCAL_SIZE")];
    if (!host[i][0] || table[i].kind == JOB)
        return 0;
    return !table[i].local || (*all && *here && strcmp(value(all), value(here)) == 0);
}

static void write_text(char *out, size_t i, int number)
{
    snprintf(out, TEXT, "%s=%d", table[i].name, number);
}

void ft_names_loaded(const struct ft_board *b, int slot)
{
    uint32_t at_first = b->slot[slot].at_first, role = at_first >> 24;
    int rank = (int)(at_first & 0xffffff) + (role > FT_ROLE_RANK ? b->nranks : 0) +
               (role > FT_ROLE_CHECKSUM ? b->nchecksums : 0);
    for (size_t i = 0; i < NAMES; i++) {
        if (!is_ours(i) || (table[i].kind == RANK && at_first == FT_WHO_NONE))
            continue;
        write_text(ours[i], i, table[i].kind == RANK ? rank : b->nranks);
        if (same(host[i], table[i].name))
            *entry(table[i].name) = ours[i];
    }
    if (!told_of_this_job(ft_setting_str(FT_SET_HOST_NAMES)))
        tell();
    watching = role != FT_ROLE_RANK;
}

void ft_names_host(void)
{
    watching = 0;
    for (size_t i = 0; i < NAMES; i++) {
        char **e = entry(table[i].name);
        programs[i] = e && host[i][0] ? *e : NULL;
        if (programs[i])
            *e = host[i];
    }
}

void ft_names_program(void)
{
    for (size_t i = 0; i < NAMES; i++) {
        char **e = programs[i] ? entry(table[i].name) : NULL;
        if (e)
            *e = programs[i];
    }
}

/* Python copies the environment at its start (os.environ). */
static void tell_python(const int *changed)
{
    int (*is_up)(void), (*hold)(void), (*run)(const char *);
    void (*let_go)(int);
    char text[64 + NAMES * (TEXT + 8)] = "__import__('os').environ.update({";
    size_t n = strlen(text);
    *(void **)&is_up = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    *(void **)&hold = dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
    *(void **)&run = dlsym(RTLD_DEFAULT, "PyRun_SimpleString");
    *(void **)&let_go = dlsym(RTLD_DEFAULT, "PyGILState_Release");
    if (!is_up || !hold || !run || !let_go || !is_up())
        return;
    for (size_t i = 0; i < NAMES; i++)
        if (changed[i])
            n += (size_t)snprintf(text + n, sizeof text - n, "'%s':'%s',", table[i].name,
                                  value(given[i]));
    snprintf(text + n, sizeof text - n, "})");
    int held = hold();
    run(text);
    let_go(held);
}

static void say_asked(int rank)
{
    char text[700];
    int n = 0;
    for (size_t i = 0; i < NAMES; i++)
        if (asked[i] && table[i].kind == RANK && is_ours(i) && atoi(value(ours[i])) != rank)
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%s",
                          n ? ", " : "ftrma: note: a replacement has read ", table[i].name);
    if (!n)
        return;
    n += snprintf(text + n, sizeof text - (size_t)n,
                  " before MPI_Init, when it was not yet rank %d: it has read other values than "
                  "the lost process had. Read them "
                  "after MPI_Init, or call MPI_Comm_rank\n",
                  rank);
    ft_print(text, (size_t)n);
}

void ft_names_given(int rank, int nranks)
{
    int changed[NAMES] = {0}, any = 0;
    say_asked(rank);
    for (size_t i = 0; i < NAMES; i++) {
        char **e = is_ours(i) ? entry(table[i].name) : NULL;
        if (!e || strcmp(*e, ours[i]) != 0)
            continue;
        write_text(given[i], i, table[i].kind == RANK ? rank : nranks);
        changed[i] = strcmp(given[i], ours[i]) != 0;
        any |= changed[i];
        if (changed[i])
            *e = given[i];
    }
    if (any)
        tell_python(changed);
}

/* ---- replacements of the C library's: a process that does not know its rank notes what it is
 * asked for ---- */

FT_EXPORT char *getenv(const char *name)
{
    if (FT_UNLIKELY(watching)) {
        int i = find(name);
        if (i >= 0)
            asked[i] = 1;
    }
    char **e = entry(name);
    return e ? *e + strlen(name) + 1 : NULL;
}

FT_EXPORT char *secure_getenv(const char *name)
{
    return getauxval(AT_SECURE) ? NULL : getenv(name);
}
