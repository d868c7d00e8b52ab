/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ftrma_process.c - starts one process of a job on several nodes, without mpirun.
 *
 *   ftrma-process NSLOTS SLOT FROM END DIRECTORY LIBRARIES PROGRAM [ARGUMENTS...]
 *
 * MPI_Init of Open MPI needs a PMIx server that tells it who it is. This is one, for this process
 * alone: it says that the process is SLOT of a world of NSLOTS, and that no other process is on its
 * node, so that the host opens no shared memory and no connection to anybody. Fences are answered
 * at once, and nobody else is asked: the host carries no traffic, and no other process need exist.
 * FROM and END: the slots from FROM to below END are on this node. DIRECTORY: where the server and
 * the host keep their files; it is removed with them by whoever made it. LIBRARIES: the program's
 * LD_PRELOAD.
 *
 * It ends as the program does, and each of the two is killed when the other one is.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <limits.h>
#include <pmix.h>
#include <pmix_server.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define JOB "ftrma"

/* ---- what the process asks of the server ---- */

static pmix_proc_t client;

static pmix_status_t at_once(pmix_op_cbfunc_t done, void *arg)
{
    if (done)
        done(PMIX_SUCCESS, arg);
    return PMIX_SUCCESS;
}

static pmix_status_t connected(const pmix_proc_t *p, void *server, pmix_op_cbfunc_t done, void *arg)
{
    (void)p;
    (void)server;
    return at_once(done, arg);
}

/* MPI_Abort before the library has the job; after MPI_Init it is the library's own. */
static pmix_status_t aborted(const pmix_proc_t *p, void *server, int status, const char text[],
                             pmix_proc_t whom[], size_t n, pmix_op_cbfunc_t done, void *arg)
{
    (void)p;
    (void)server;
    (void)status;
    (void)text;
    (void)whom;
    (void)n;
    return at_once(done, arg);
}

static pmix_status_t fence(const pmix_proc_t who[], size_t n, const pmix_info_t info[],
                           size_t ninfo, char *data, size_t bytes, pmix_modex_cbfunc_t done,
                           void *arg)
{
    (void)who;
    (void)n;
    (void)info;
    (void)ninfo;
    if (done)
        done(PMIX_SUCCESS, data, bytes, arg, free, data);
    return PMIX_SUCCESS;
}

struct ask {
    pmix_modex_cbfunc_t done;
    void *arg;
};

static void answer(pmix_status_t status, char *data, size_t bytes, void *arg)
{
    struct ask a = *(struct ask *)arg;
    char *copy = malloc(bytes + 1);
    if (copy)
        memcpy(copy, data, bytes);
    free(arg);
    a.done(copy ? status : PMIX_ERR_NOMEM, copy, copy ? bytes : 0, a.arg, free, copy);
}

/* What another process has published: what this one has, since all use the same transports. */
static pmix_status_t modex(const pmix_proc_t *p, const pmix_info_t info[], size_t ninfo,
                           pmix_modex_cbfunc_t done, void *arg)
{
    struct ask *a = malloc(sizeof *a);
    (void)p;
    (void)info;
    (void)ninfo;
    if (!a)
        return PMIX_ERR_NOMEM;
    *a = (struct ask){done, arg};
    return PMIx_server_dmodex_request(&client, answer, a);
}

static pmix_status_t wants_events(pmix_status_t *codes, size_t n, const pmix_info_t info[],
                                  size_t ninfo, pmix_op_cbfunc_t done, void *arg)
{
    (void)codes;
    (void)n;
    (void)info;
    (void)ninfo;
    (void)done;
    (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t wants_no_events(pmix_status_t *codes, size_t n, pmix_op_cbfunc_t done,
                                     void *arg)
{
    return wants_events(codes, n, NULL, 0, done, arg);
}

static pmix_status_t notified(pmix_status_t code, const pmix_proc_t *from, pmix_data_range_t range,
                              pmix_info_t info[], size_t ninfo, pmix_op_cbfunc_t done, void *arg)
{
    (void)code;
    (void)from;
    (void)range;
    (void)info;
    (void)ninfo;
    (void)done;
    (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_server_module_t module = {.client_connected = connected,
                                      .client_finalized = connected,
                                      .abort = aborted,
                                      .fence_nb = fence,
                                      .direct_modex = modex,
                                      .register_events = wants_events,
                                      .deregister_events = wants_no_events,
                                      .notify_event = notified};

/* ---- what the server is told of the world ---- */

static sem_t registered;

static void is_registered(pmix_status_t status, void *arg)
{
    *(pmix_status_t *)arg = status;
    sem_post(&registered);
}

_Noreturn static void fail(const char *what, pmix_status_t status)
{
    fprintf(stderr, "ftrma: the PMIx server of a process cannot start: %s: %s\n", what,
            PMIx_Error_string(status));
    _exit(1);
}

static void await(const char *what, pmix_status_t status, const pmix_status_t *result)
{
    if (status == PMIX_OPERATION_SUCCEEDED)
        return;
    while (status == PMIX_SUCCESS && sem_wait(&registered) != 0)
        ;
    if (status == PMIX_SUCCESS)
        status = *result;
    if (status != PMIX_SUCCESS)
        fail(what, status);
}

static void begin(const char *directory)
{
    pmix_info_t info[3];
    bool no = false;
    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, directory, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SYSTEM_TMPDIR, directory, PMIX_STRING);
    PMIX_INFO_LOAD(&info[2], PMIX_SERVER_TOOL_SUPPORT, &no, PMIX_BOOL);
    pmix_status_t st = PMIx_server_init(&module, info, 3);
    if (st != PMIX_SUCCESS)
        fail("PMIx_server_init", st);
    for (int i = 0; i < 3; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
}

/* Each process is alone on a node of its own, named after its slot. */
static void describe_process(pmix_info_t *out, uint32_t i)
{
    uint32_t zero = 0;
    uint16_t first = 0;
    char host[16];
    pmix_data_array_t *a;
    snprintf(host, sizeof host, "r%u", i);
    PMIX_DATA_ARRAY_CREATE(a, 7, PMIX_INFO);
    pmix_info_t *p = a->array;
    PMIX_INFO_LOAD(&p[0], PMIX_RANK, &i, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&p[1], PMIX_APPNUM, &zero, PMIX_UINT32);
    PMIX_INFO_LOAD(&p[2], PMIX_GLOBAL_RANK, &i, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&p[3], PMIX_LOCAL_RANK, &first, PMIX_UINT16);
    PMIX_INFO_LOAD(&p[4], PMIX_NODE_RANK, &first, PMIX_UINT16);
    PMIX_INFO_LOAD(&p[5], PMIX_NODEID, &i, PMIX_UINT32);
    PMIX_INFO_LOAD(&p[6], PMIX_HOSTNAME, host, PMIX_STRING);
    PMIX_LOAD_KEY(out->key, PMIX_PROC_DATA);
    out->value.type = PMIX_DATA_ARRAY;
    out->value.data.darray = a;
}

/* Makes the host's directory for this process. The host would make one in $TMPDIR and leave it
 * there, since it removes it only in its own finalize. */
static void make_session(char *path, size_t size, const char *directory, long slot)
{
    int n = snprintf(path, size, "%s/session.%ld", directory, slot);
    if (n >= (int)size)
        errno = ENAMETOOLONG;
    else if (mkdir(path, 0700) == 0)
        return;
    fprintf(stderr,
            "ftrma: no directory can be made in %s: %s. Set TMPDIR to a directory that has room\n",
            directory, strerror(errno));
    _exit(1);
}

#define GENERAL 14 /* entries that are not about one process */

static void describe(uint32_t n, uint32_t self, const char *session)
{
    size_t room = (size_t)n * 8 + 1, in_names = 0, in_slots = 0;
    char *names = malloc(room), *slots = malloc(room), *nodes = NULL, *procs = NULL, peers[16];
    uint32_t one = 1;
    pmix_info_t *info;
    pmix_status_t result;
    PMIX_INFO_CREATE(info, GENERAL + n);
    if (!names || !slots || !info)
        fail("memory", PMIX_ERR_NOMEM);
    for (uint32_t i = 0; i < n; i++) {
        in_names += (size_t)snprintf(names + in_names, room - in_names, "%sr%u", i ? "," : "", i);
        in_slots += (size_t)snprintf(slots + in_slots, room - in_slots, "%s%u", i ? ";" : "", i);
    }
    pmix_status_t st = PMIx_generate_regex(names, &nodes);
    if (st == PMIX_SUCCESS)
        st = PMIx_generate_ppn(slots, &procs);
    if (st != PMIX_SUCCESS)
        fail("the map of processes", st);
    snprintf(peers, sizeof peers, "%u", self);
    size_t k = 0;
    PMIX_INFO_LOAD(&info[k++], PMIX_JOBID, JOB, PMIX_STRING);
    PMIX_INFO_LOAD(&info[k++], PMIX_UNIV_SIZE, &n, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[k++], PMIX_JOB_SIZE, &n, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[k++], PMIX_MAX_PROCS, &n, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[k++], PMIX_JOB_NUM_APPS, &one, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[k++], PMIX_LOCAL_SIZE, &one, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[k++], PMIX_NODE_SIZE, &one, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[k++], PMIX_NUM_NODES, &n, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[k++], PMIX_LOCAL_PEERS, peers, PMIX_STRING);
    PMIX_INFO_LOAD(&info[k++], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[k++], PMIX_PROC_MAP, procs, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[k++], PMIX_NODEID, &self, PMIX_UINT32);
    /* Open MPI 5 asks for both. A server of PMIx 5 puts a file in the second one, or in $TMPDIR. */
    PMIX_INFO_LOAD(&info[k++], PMIX_TMPDIR, session, PMIX_STRING);
    PMIX_INFO_LOAD(&info[k++], PMIX_NSDIR, session, PMIX_STRING);
    for (uint32_t i = 0; i < n; i++)
        describe_process(&info[k++], i);
    pmix_nspace_t job;
    PMIX_LOAD_NSPACE(job, JOB);
    await("the job", PMIx_server_register_nspace(job, 1, info, k, is_registered, &result), &result);
    PMIX_LOAD_PROCID(&client, JOB, self);
    await("the process",
          PMIx_server_register_client(&client, getuid(), getgid(), NULL, is_registered, &result),
          &result);
    PMIX_INFO_FREE(info, GENERAL + n);
    free(names);
    free(slots);
    free(nodes);
    free(procs);
}

/* ---- the process ---- */

static void set_number(const char *name, long number)
{
    char text[16];
    snprintf(text, sizeof text, "%ld", number);
    setenv(name, text, 1);
}

/* What mpirun would have set, and what keeps the host from looking for others. Open MPI 4 takes a
 * process for one of a job, and not for one that was started alone, by the first two. The third one
 * is where it makes its files; as it came from ftrun, it names a directory on ftrun's node. */
static void set_environment(long n, long slot, long from, long end, const char *session)
{
    setenv("OMPI_MCA_ess", "pmi", 1);
    setenv("OMPI_MCA_orte_local_daemon_uri", "1.0;tcp://127.0.0.1:9", 1);
    setenv("OMPI_MCA_orte_tmpdir_base", session, 1);
    setenv("OMPI_MCA_pml", "ob1", 1);
    setenv("OMPI_MCA_btl", "self", 1);
    setenv("OMPI_MCA_pmix_base_collect_data", "0", 1);
    setenv("OMPI_MCA_pml_base_check_pml", "0", 1);
    set_number("OMPI_COMM_WORLD_SIZE", n);
    set_number("OMPI_COMM_WORLD_RANK", slot);
    set_number("OMPI_COMM_WORLD_LOCAL_SIZE", end - from);
    set_number("OMPI_COMM_WORLD_LOCAL_RANK", slot - from);
    set_number("OMPI_COMM_WORLD_NODE_RANK", slot - from);
}

_Noreturn static void become(char **argv, char **environment, pid_t server)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != server)
        _exit(1);
    execvpe(argv[0], argv, environment);
    fprintf(stderr, "ftrma: %s cannot be executed: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* The variables that the server adds, in the environment of the process. */
static char **environment_of(void)
{
    char **all;
    size_t n = 0;
    while (environ[n])
        n++;
    all = calloc(n + 1, sizeof *all);
    for (size_t i = 0; all && i < n; i++)
        all[i] = strdup(environ[i]);
    pmix_status_t st = all ? PMIx_server_setup_fork(&client, &all) : PMIX_ERR_NOMEM;
    if (st != PMIX_SUCCESS)
        fail("the environment", st);
    return all;
}

int main(int argc, char **argv)
{
    if (argc < 8) {
        fprintf(stderr, "usage: ftrma-process NSLOTS SLOT FROM END DIRECTORY LIBRARIES PROGRAM [ARGUMENTS...]\n"
                        "It is started by ftrun, on each node of a job.\n");
        return 2;
    }
    long n = strtol(argv[1], NULL, 10), slot = strtol(argv[2], NULL, 10);
    char session[PATH_MAX];
    make_session(session, sizeof session, argv[5], slot);
    sem_init(&registered, 0, 0);
    begin(argv[5]);
    describe((uint32_t)n, (uint32_t)slot, session);
    set_environment(n, slot, strtol(argv[3], NULL, 10), strtol(argv[4], NULL, 10), session);
    setenv("LD_PRELOAD", argv[6], 1); /* not earlier: it is not the server's */
    char **environment = environment_of();
    pid_t server = getpid(), pid = fork();
    if (pid == 0)
        become(argv + 7, environment, server);
    if (pid < 0) {
        fprintf(stderr, "ftrma: no process can be made: %s\n", strerror(errno));
        return 1;
    }
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    _exit(128 + WTERMSIG(status));
}
