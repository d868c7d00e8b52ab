/* SPDX-License-Identifier: BSD-3-Clause
 *
 * whoami.c - all ways by which a program learns who it is agree: MPI, the environment before main
 * and after MPI_Init, and what a child inherits. `early`: the environment is also asked before
 * MPI_Init. `own`: the program sets one of the names itself, and must find it unchanged.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                                    "OMPI_COMM_WORLD_NODE_RANK", "PMIX_RANK"};
/* Open MPI 5 does not set the last one. */
static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
                                    "OMPI_APP_CTX_NUM_PROCS"};
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
extern char **environ;
static int before[COUNT(ranks)], before_size, me, np;

/* Without getenv, so that it cannot be noticed. */
static int number(const char *name)
{
    size_t n = strlen(name);
    for (char **e = environ; *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return atoi(*e + n + 1);
    return -1;
}

__attribute__((constructor)) static void before_main(void)
{
    for (size_t i = 0; i < COUNT(ranks); i++)
        before[i] = number(ranks[i]);
    before_size = number("OMPI_COMM_WORLD_SIZE");
}

static void must_be(const char *what, const char *name, int is, int should)
{
    if (is == should)
        return;
    printf("rank %d: %s %s is %d and not %d\n", me, what, name, is, should);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static int childs(const char *name)
{
    char command[100];
    int is = -1;
    snprintf(command, sizeof command, "echo $%s", name);
    FILE *f = popen(command, "r");
    if (!f || fscanf(f, "%d", &is) != 1)
        is = -1;
    if (f)
        pclose(f);
    return is;
}

static void check(int own)
{
    for (size_t i = own; i < COUNT(ranks); i++) {
        must_be("getenv says that", ranks[i], getenv(ranks[i]) ? atoi(getenv(ranks[i])) : -1, me);
        must_be("environ says that", ranks[i], number(ranks[i]), me);
        if (before[i] < np) /* else it was a spare */
            must_be("before main", ranks[i], before[i], me);
    }
    for (size_t i = 0; i < COUNT(sizes); i++)
        if (i < COUNT(sizes) - 1 || getenv(sizes[i]) || OMPI_MAJOR_VERSION < 5)
            must_be("getenv says that", sizes[i], getenv(sizes[i]) ? atoi(getenv(sizes[i])) : -1,
                    np);
    must_be("before main", "OMPI_COMM_WORLD_SIZE", before_size, np);
    must_be("a child says that", own ? ranks[1] : ranks[0], childs(own ? ranks[1] : ranks[0]), me);
    must_be("a child says that", sizes[0], childs(sizes[0]), np);
    if (own)
        must_be("what the program has set,", ranks[0], number(ranks[0]), 77);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int own = strcmp(how, "own") == 0, sum = 0;
    if (own)
        setenv(ranks[0], "77", 1);
    if (strcmp(how, "early") == 0 && !getenv("PMIX_RANK"))
        return 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    check(own);
    for (int i = 0; i < 20; i++)
        MPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(own);
    if (me == 0)
        printf("sum %d\n", sum);
    MPI_Finalize();
    check(own);
    return 0;
}
