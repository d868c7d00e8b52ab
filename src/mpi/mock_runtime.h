/* SPDX-License-Identifier: BSD-3-Clause
 *
 * mock_runtime.h - for the unit tests of this room: an implementation of the runtime as far as
 * src/mpi calls it; other rooms and the host are real. A test includes it once. It defines the
 * functions of src/runtime and host.c, so the linker leaves those out.
 *
 * A test's main calls mock_main. Then the process is the only rank of a job, and the host is a
 * singleton. MPI calls go to the library, and HOST(X) does what the host does with the same
 * arguments. For more ranks see mock_ranks.
 *
 * mock_fail_memory makes allocations of the library and of the test fail, never those of the host.
 * A call that ends the job continues where MOCK_ENDS_JOB stands.
 */
#ifndef FT_MPI_MOCK_RUNTIME_H
#define FT_MPI_MOCK_RUNTIME_H

#define _GNU_SOURCE
#include <dlfcn.h>

#include "transport/test_job.h"

#include "coll/sched.h"
#include "mpi/mpi_internal.h"
#include "msg/channels.h"
#include "rma/putlog.h"
#include "rma/windows.h"

/* ---- memory ---- */
static struct {
    int armed;
    long left;   /* allocations that succeed before the first that does not */
    long failed; /* how many failed */
    int once;    /* only the first fails */
} mock_memory;

static inline void mock_fail_memory(long left, int once)
{
    mock_memory.armed = 1;
    mock_memory.left = left;
    mock_memory.failed = 0;
    mock_memory.once = once;
}
/* How many allocations failed. */
static inline long mock_memory_back(void)
{
    mock_memory.armed = 0;
    return mock_memory.failed;
}
static int mock_has_memory(void)
{
    if (!mock_memory.armed || mock_memory.left-- > 0 ||
        (mock_memory.once && mock_memory.failed > 0))
        return 1;
    mock_memory.failed++;
    return 0;
}
void *__real_malloc(size_t n);
void *__real_calloc(size_t k, size_t n);
void *__real_realloc(void *p, size_t n);
void *__real_aligned_alloc(size_t to, size_t n);
void *__wrap_malloc(size_t n) { return mock_has_memory() ? __real_malloc(n) : NULL; }
void *__wrap_calloc(size_t k, size_t n) { return mock_has_memory() ? __real_calloc(k, n) : NULL; }
void *__wrap_realloc(void *p, size_t n) { return mock_has_memory() ? __real_realloc(p, n) : NULL; }
void *__wrap_aligned_alloc(size_t to, size_t n)
{
    return mock_has_memory() ? __real_aligned_alloc(to, n) : NULL;
}
void *__real_ft_offheap_try(size_t n);
void *__wrap_ft_offheap_try(size_t n);
void *__wrap_ft_offheap_try(size_t n)
{
    return mock_has_memory() ? __real_ft_offheap_try(n) : NULL;
}

/* ---- the end of the job ---- */
static jmp_buf mock_ended;
static struct {
    int expected, code;
    char message[400];
} mock_end;
/* What an ended job leaves allocated is no leak: the check for leaks runs before the first such
 * end. */
void __lsan_do_leak_check(void) __attribute__((weak));
static inline void mock_expect_end(void)
{
    if (__lsan_do_leak_check)
        __lsan_do_leak_check();
    mock_end.expected = 1;
}
/* 1 if the statement ended the job; mock_end says how. */
#define MOCK_ENDS_JOB(statement)                    \
    (mock_expect_end(), setjmp(mock_ended) ? 1 : ({ \
         statement;                                 \
         mock_end.expected = 0;                     \
         0;                                         \
     }))

_Noreturn void ft_runtime_abort(int code, const char *message)
{
    mock_memory.armed = 0;
    mock_end.code = code;
    snprintf(mock_end.message, sizeof mock_end.message, "%s", message ? message : "MPI_Abort");
    if (!mock_end.expected) {
        fprintf(stderr, "the job was ended: %s\n", mock_end.message);
        abort();
    }
    mock_end.expected = 0;
    ft_leave();
    longjmp(mock_ended, 1);
}

static void mock_name(char *out, size_t size) { snprintf(out, size, "rank 0"); }
static void mock_give_up(enum ft_reason reason, const char *message)
{
    (void)reason;
    ft_runtime_abort(FT_EXIT_LOST, message);
}
static const struct ft_giver mock_giver = {.name = mock_name, .end = mock_give_up};

/* ---- the host ---- */
void __lsan_disable(void) __attribute__((weak));
void __lsan_enable(void) __attribute__((weak));

static void *mock_hosts_own(const char *name)
{
    void *fn = dlsym(RTLD_NEXT, name);
    if (!fn) {
        fprintf(stderr, "the host has no %s\n", name);
        abort();
    }
    return fn;
}

/* What the host allocates at its start does not count. */
static int mock_init_thread(int *argc, char ***argv, int required, int *provided)
{
    __typeof__(&PMPI_Init_thread) init =
        (__typeof__(&PMPI_Init_thread))mock_hosts_own("PMPI_Init_thread");
    if (__lsan_disable)
        __lsan_disable();
    int code = init(argc, argv, required, provided);
    if (__lsan_enable)
        __lsan_enable();
    return code;
}

/* Replaces the host's function of this name; a test adds its own before the first lookup. */
static struct {
    const char *name;
    void *fn;
} mock_host[8] = {{"PMPI_Init_thread", (void *)mock_init_thread}};

void *ft_host_symbol(const char *name)
{
    for (size_t i = 0; i < FT_COUNTOF(mock_host) && mock_host[i].name; i++)
        if (strcmp(mock_host[i].name, name) == 0)
            return mock_host[i].fn;
    return mock_hosts_own(name);
}

/* ---- the runtime ---- */
static struct {
    int rank, nranks;
    int in_body, objects;
    struct ft_host host;
    size_t kept; /* bytes of windows that a rehearsal keeps */
    int keeps;
    int wants_host_end;
    void *protected;
} mock_rt = {.nranks = 1};

FT_STATE(uint32_t, ft_next_ctx) = 16;
FT_STATE(int, ft_runtime_threads);
static _Atomic uint32_t mock_shared_files;
FT_STATE(_Atomic uint32_t *, ft_runtime_shared_files) = &mock_shared_files;

double ft_runtime_clock(void) { return 1e-9 * (double)ft_now_ns(); }
int ft_runtime_clock_is_global(void) { return 1; }
void ft_runtime_entering(void) {}
void ft_runtime_host_is_up(void) {}
int ft_runtime_started(void) { return 0; }
void ft_runtime_begin_heap(void) {}
void ft_runtime_after_init(void) {}
void ft_runtime_finalize(void) {}
int ft_runtime_wants_host_end(void) { return mock_rt.wants_host_end; }
int ft_runtime_slot(int rank) { return rank; }
int ft_runtime_node(void) { return 0; }
int ft_runtime_near(int rank) { return rank >= 0; }
int ft_my_rank(void) { return mock_rt.rank; }
int ft_nranks(void) { return mock_rt.nranks; }
void ft_runtime_prepare(void) {}
void ft_runtime_safepoint(void) {}
void ft_runtime_object_created(void) { mock_rt.objects += mock_rt.in_body; }
void ft_runtime_object_freed(int in_body) { mock_rt.objects -= in_body; }
int ft_runtime_in_body(void) { return mock_rt.in_body; }
int ft_runtime_keeps_windows(void) { return mock_rt.keeps; }
void ft_runtime_keep_window(const void *addr, size_t bytes)
{
    (void)addr;
    mock_rt.kept += bytes;
}
void ft_runtime_door_of_thread(void) {}
enum ft_status ft_runtime_protect(void *addr, size_t bytes)
{
    (void)bytes;
    mock_rt.protected = addr;
    return FT_OK;
}
enum ft_status ft_runtime_unprotect(const void *addr, size_t bytes)
{
    (void)bytes;
    mock_rt.protected = mock_rt.protected == addr ? NULL : mock_rt.protected;
    return FT_OK;
}
enum ft_status ft_runtime_run(void (*body)(void *), void *arg, int stays)
{
    (void)stays;
    mock_rt.in_body = 1;
    body(arg);
    mock_rt.in_body = 0;
    return FT_OK;
}
void ft_attend_door(int counted)
{
    if (counted)
        ft_call_begin();
    ft_attend_at_door();
}

/* ft_runtime_start: the rooms below, on the arena and the board of test_job.h. */
void ft_runtime_start(const struct ft_host *host, int *rank, int *nranks)
{
    int slot_of[JOB_MAX];
    mock_rt.host = *host;
    ft_giver = &mock_giver;
    for (int i = 0; i < mock_rt.nranks; i++)
        slot_of[i] = i;
    ft_msg_init(&job.tp, mock_rt.nranks, mock_rt.rank, slot_of, 0);
    ft_rma_init(&job.tp, mock_rt.nranks, mock_rt.rank, slot_of);
    ft_msg_stop_keeping();
    ft_putlog_segment(FT_SEG_SETUP, 0);
    FT_ASSERT(ft_homelog_init(&job.tp, mock_rt.rank, 0, 0, 0));
    atomic_store(&job.arena.ctl->live, 1);
    *rank = mock_rt.rank;
    *nranks = mock_rt.nranks;
}

/* ---- jobs ---- */
/* The host's own leaks are not the library's. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libmpi\nleak:libopen-\nleak:libpmix\nleak:mca_\nleak:libevent\nleak:"
           "libhwloc\nleak:PMPI_\n";
}

void __lsan_register_root_region(const void *p, size_t bytes) __attribute__((weak));

/* This process becomes the only rank of a job, and calls MPI_Init. */
static inline void mock_begin(void)
{
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 1); /* starts no daemon */
    setenv("OMPI_MCA_btl", "self", 1);
    job_begin(1, 1);
    job_enter(0);
    FT_ASSERT(MPI_Init(NULL, NULL) == MPI_SUCCESS);
    if (__lsan_register_root_region) /* requests point to what is allocated for them */
        __lsan_register_root_region(ft_request_base,
                                    (size_t)((char *)ft_request_end - (char *)ft_request_base));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

#endif
