/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mpirun.c - Open MPI's mpirun and its flags.
 */
#define _GNU_SOURCE 1 /* asprintf, pipe2 */
#include "launch/mpirun.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include "base/base.h"

/* What the host must be told, for the versions [from, to] of Open MPI. A value "DIR" stands for the
 * job's private directory. A variable marked soft does not replace the user's own. Flags are for
 * mpirun's command line. */
struct host_row {
    int from, to;
    enum { ENV, SOFT_ENV, FLAG } kind;
    const char *name, *value;
};
static const struct host_row table[] = {
    {0, 99, ENV, "OMPI_ALLOW_RUN_AS_ROOT", "1"},
    {0, 99, ENV, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
    /* The session directory, which remains after kills. */
    {0, 4, ENV, "OMPI_MCA_orte_tmpdir_base", "DIR"},
    {5, 99, ENV, "PRTE_MCA_prte_tmpdir_base", "DIR"},
    /* The host carries no traffic after MPI_Init, but MPI_Init requires a way to each peer. The
     * cheapest one leaves its backing files when a process is killed, so they go to our
     * directory. */
    {0, 99, SOFT_ENV, "OMPI_MCA_pml", "ob1"},
    {0, 4, SOFT_ENV, "OMPI_MCA_btl", "self,vader"},
    {0, 4, ENV, "OMPI_MCA_btl_vader_backing_directory", "DIR"},
    {5, 99, SOFT_ENV, "OMPI_MCA_btl", "self,sm"},
    {5, 99, ENV, "OMPI_MCA_btl_sm_backing_directory", "DIR"},
    /* Pointers of shared files would be in the session directory, parts of which mpirun removes when
     * a process is killed. [A replacement that opens a file meanwhile gets an error.] */
    {0, 99, SOFT_ENV, "OMPI_MCA_sharedfp", "^sm"},
    /* Python hashes strings with a random number of each process, so sets would have another order
     * in a replacement. */
    {0, 99, SOFT_ENV, FT_HASH_SEED, "0"},
    /* A program's large arrays lie in one heap (runtime/heap.c), where huge pages make up for what
     * mappings of their own would have spared. The C library asks for them where the system leaves
     * this to programs; it reads this before any of our code runs. */
    {0, 99, SOFT_ENV, "GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"},
    {0, 99, FLAG, "--enable-recovery", NULL}, /* survivors continue */
    {0, 99, FLAG, "--oversubscribe", NULL},
    {0, 99, FLAG, "--bind-to", "none"},
};

static int applies(const struct host_row *r, const struct ft_host_launcher *h)
{
    return h->major >= r->from && h->major <= r->to;
}

static int may_execute(const char *path)
{
    struct stat sb;
    return stat(path, &sb) == 0 && S_ISREG(sb.st_mode) && access(path, X_OK) == 0;
}

enum ft_status ft_find_program(const char *name, char *path, int size)
{
    const char *dirs = strchr(name, '/') ? NULL : getenv("PATH");
    if (!dirs) {
        int n = snprintf(path, (size_t)size, "%s", name);
        return n < size && strchr(name, '/') && may_execute(path) ? FT_OK : FT_ERR_ARG;
    }
    while (*dirs) {
        int len = (int)strcspn(dirs, ":");
        int n = snprintf(path, (size_t)size, "%.*s/%s", len ? len : 1, len ? dirs : ".", name);
        if (n < size && may_execute(path))
            return FT_OK;
        dirs += len + (dirs[len] == ':');
    }
    return FT_ERR_ARG;
}

/* The first bytes that `path --version` prints; 0 on failure. */
static int read_version(const char *path, char *text, int size)
{
    int p[2], n = 0;
    if (pipe2(p, O_CLOEXEC) != 0)
        return 0;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(p[1], STDOUT_FILENO);
        execl(path, path, "--version", (char *)NULL);
        _exit(127);
    }
    close(p[1]);
    while (pid > 0 && n < size - 1) {
        ssize_t k = read(p[0], text + n, (size_t)(size - 1 - n));
        if (k < 0 && errno == EINTR)
            continue;
        if (k <= 0)
            break;
        n += (int)k;
    }
    close(p[0]);
    text[n] = '\0';
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    return n;
}

/* mpirun takes the parent of its own directory for Open MPI's. If it is found in /bin, which is
 * /usr/bin, it would refuse "/". */
static enum ft_status name_directory(struct ft_host_launcher *h, const char *name)
{
    char dir[PATH_MAX];
    *strrchr(h->path, '/') = '\0';
    if (!realpath(h->path, dir))
        return FT_ERR_ARG;
    int n = snprintf(h->path, sizeof h->path, "%s/%s", dir, name);
    return n < (int)sizeof h->path ? FT_OK : FT_ERR_ARG;
}

enum ft_status ft_host_find(struct ft_host_launcher *h, char *err, int errlen)
{
    static const char *const names[] = {"mpirun.openmpi", "mpirun"};
    int found = 0;
    for (size_t i = 0; i < FT_COUNTOF(names); i++) {
        char text[512];
        if (ft_find_program(names[i], h->path, sizeof h->path) != FT_OK ||
            name_directory(h, names[i]) != FT_OK)
            continue;
        found = 1;
        read_version(h->path, text, sizeof text);
        const char *p = strstr(text, "(Open MPI) ");
        if (p && (h->major = atoi(p + strlen("(Open MPI) "))) >= 4)
            return FT_OK;
    }
    if (found)
        snprintf(err, (size_t)errlen,
                 "%s is not of Open MPI 4 or later: apt-get install openmpi-bin", h->path);
    else
        snprintf(err, (size_t)errlen, "mpirun was not found on PATH: apt-get install openmpi-bin");
    return FT_ERR_ARG;
}

void ft_host_environment(const struct ft_host_launcher *h, const char *dir)
{
    for (size_t i = 0; i < FT_COUNTOF(table); i++)
        if (applies(&table[i], h) && table[i].kind != FLAG)
            setenv(table[i].name, strcmp(table[i].value, "DIR") == 0 ? dir : table[i].value,
                   table[i].kind == ENV);
}

struct args {
    char **v;
    int n;
};

static void add(struct args *a, const char *text)
{
    char **v = realloc(a->v, (size_t)(a->n + 2) * sizeof *v);
    char *copy = strdup(text);
    FT_ASSERT(v && copy); /* a launcher without memory for its arguments cannot go on */
    a->v = v;
    a->v[a->n++] = copy;
    a->v[a->n] = NULL;
}

static void add_pair(struct args *a, const char *flag, const char *value)
{
    if (value) {
        add(a, flag);
        add(a, value);
    }
}

/* Settings reach local processes through mpirun's environment anyway; -x also passes them to other
 * nodes. */
static void add_settings(struct args *a)
{
    for (int i = 0; i < FT_SET_COUNT; i++)
        if (i == FT_SET_BOARD || getenv(ft_settings_table[i].env)) /* the board's is set later */
            add_pair(a, "-x", ft_settings_table[i].env);
}

/* Quotes work as in a shell; nothing is executed. */
static enum ft_status add_words(struct args *a, const char *text, char *err, int errlen)
{
    wordexp_t w;
    if (wordexp(text, &w, WRDE_NOCMD | WRDE_UNDEF) != 0) {
        snprintf(err, (size_t)errlen,
                 "--host-args: cannot split '%s' into words (quote what is special to a shell)",
                 text);
        return FT_ERR_ARG;
    }
    for (size_t i = 0; i < w.we_wordc; i++)
        add(a, w.we_wordv[i]);
    wordfree(&w);
    return FT_OK;
}

static int host_args_name(const struct ft_options *o, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (o->host_args && strstr(o->host_args, words[i]))
            return 1;
        for (int k = 0; k < o->nhanded; k++)
            if ((k == 0 || strcmp(o->handed[k - 1], "-x") != 0) && strstr(o->handed[k], words[i]))
                return 1;
    }
    return 0;
}

/* Where memory is looked at closely, the library that records allocations: ":path", or nothing. It
 * comes after ours, whose functions it calls. */
static void sites_beside(const char *preload, char *out, size_t size)
{
    int dir = (int)(strrchr(preload, '/') - preload);
    snprintf(out, size, ":%.*s/libftrma_sites.so", dir, preload);
    if (!(strcmp(ft_setting_str(FT_SET_CHECK_MEMORY), "always") == 0 ||
          *ft_setting_str(FT_SET_REHEARSAL)) ||
        access(out + 1, R_OK) != 0)
        out[0] = '\0';
}

char *ft_host_preload(const char *preload)
{
    const char *others = getenv("LD_PRELOAD");
    char sites[PATH_MAX], *all;
    sites_beside(preload, sites, sizeof sites);
    int len = asprintf(&all, "%s%s%s%s", preload, sites, others && *others ? ":" : "",
                       others ? others : "");
    FT_ASSERT(len > 0);
    return all;
}

enum ft_status ft_host_arguments(const struct ft_host_launcher *h, const struct ft_options *o,
                                 int nprocs, const char *preload, char ***argv, char *err,
                                 int errlen)
{
    struct args a = {0};
    static const char *const binding[] = {"bind-to", "binding_policy", "map-by", "rankfile",
                                          "cpu-set", "cpu-list",       "-rf"};
    char count[16], *all, *text;
    FT_ASSERT(nprocs > 0 && o->program);
    if (host_args_name(o, binding, FT_COUNTOF(binding)))
        /* the user has decided about binding */
        setenv(ft_settings_table[FT_SET_BIND].env, "none", 0);
    add(&a, h->path);
    for (size_t i = 0; i < FT_COUNTOF(table); i++) {
        if (!applies(&table[i], h) || table[i].kind != FLAG)
            continue;
        add(&a, table[i].name);
        if (table[i].value)
            add(&a, table[i].value);
    }
    add_pair(&a, "-H", o->hosts);
    add_pair(&a, "--hostfile", o->hostfile);
    for (int i = 0; i < o->nhanded; i++)
        add(&a, o->handed[i]);
    if (o->host_args && add_words(&a, o->host_args, err, errlen) != FT_OK) {
        ft_host_free_arguments(a.v);
        return FT_ERR_ARG;
    }
    add_settings(&a);
    all = ft_host_preload(preload);
    int len = asprintf(&text, "LD_PRELOAD=%s", all);
    FT_ASSERT(len > 0);
    add_pair(&a, "-x", text);
    free(text);
    free(all);
    snprintf(count, sizeof count, "%d", nprocs);
    add_pair(&a, "-np", count);
    for (char **p = o->program; *p; p++)
        add(&a, *p);
    *argv = a.v;
    return FT_OK;
}

int ft_host_handles_output(const struct ft_options *o)
{
    /* --tag-output, --timestamp-output, --output-filename, ... */
    static const char *const about[] = {"-output", "-xml", "-merge-stderr", "iof_"};
    return host_args_name(o, about, FT_COUNTOF(about));
}

int ft_host_handles_input(const struct ft_options *o)
{
    static const char *const about[] = {"-stdin", "iof_"};
    return host_args_name(o, about, FT_COUNTOF(about));
}

void ft_host_free_arguments(char **argv)
{
    for (char **p = argv; p && *p; p++)
        free(*p);
    free(argv);
}

/* Finds libftrma.so relative to ftrun: build/bin -> build/lib, <prefix>/bin -> <prefix>/lib/ftrma
 * or <prefix>/lib/<triplet>/ftrma. */
int ft_find_library(char *out, size_t size)
{
    char self[PATH_MAX], pattern[PATH_MAX + 40];
    static const char *const places[] = {"lib/libftrma.so", "lib/ftrma/libftrma.so",
                                         "lib/*/ftrma/libftrma.so", "lib64/ftrma/libftrma.so"};
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        return 0;
    self[n] = '\0';
    for (int up = 0; up < 2; up++) { /* ftrun itself, then bin */
        char *slash = strrchr(self, '/');
        if (!slash)
            return 0;
        *slash = '\0';
    }
    for (size_t i = 0; i < FT_COUNTOF(places); i++) {
        glob_t g;
        snprintf(pattern, sizeof pattern, "%s/%s", self, places[i]);
        if (glob(pattern, 0, NULL, &g) != 0)
            continue;
        snprintf(out, size, "%s", g.gl_pathv[0]);
        globfree(&g);
        return access(out, R_OK) == 0;
    }
    return 0;
}
