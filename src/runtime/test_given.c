/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_given.c - what a process gets from others, and how the library changes it: mpirun's
 * variables, standard streams, the host's descriptors, a core, the begin of the heap. Each test
 * runs in a process of its own.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fds.h"
#include "runtime/input.h"
#include "runtime/names.h"
#include "runtime/output.h"
#include "runtime/start.h"

static struct ft_board *board;
static int board_fd;
static struct ft_rt rt;

/* The process in slot `slot` of two ranks, a checksum process and a spare. */
static void join(int slot)
{
    int launcher = (int)getpid();
    FT_ASSERT(ft_board_create(2, 1, 1, launcher, &board, &board_fd) == FT_OK);
    for (int i = 0; i < board->nslots; i++)
        board->slot[i].at_first = i < 2    ? FT_WHO(FT_ROLE_RANK, i)
                                  : i == 2 ? FT_WHO(FT_ROLE_CHECKSUM, 0)
                                           : FT_WHO(FT_ROLE_SPARE, 0);
    rt.board = board;
    rt.self = slot;
    rt.me = &board->slot[slot];
    rt.nslots = board->nslots;
    atomic_store(&rt.pos, slot < 3 ? slot : -1);
    ft_own_rt = &rt;
}

static void in_child(void (*what)(void), int status_wanted)
{
    int status;
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        what();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), status_wanted);
}

#define IN_CHILD(fn)                \
    static void fn(void **state)    \
    {                               \
        (void)state;                \
        in_child(fn##_in_child, 0); \
    }

/* --- mpirun's variables --- */

static void is(const char *name, const char *value)
{
    const char *v = getenv(name);
    if (value ? !v || strcmp(v, value) != 0 : v != NULL) {
        fprintf(stderr, "%s is %s\n", name, v ? v : "not there");
        abort();
    }
}

static void start_by_mpirun(int slot)
{
    char text[16];
    snprintf(text, sizeof text, "%d", slot);
    setenv("OMPI_COMM_WORLD_RANK", text, 1);
    setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
    setenv("OMPI_COMM_WORLD_LOCAL_RANK", text, 1);
    setenv("OMPI_COMM_WORLD_LOCAL_SIZE", "4", 1);
    setenv("PMIX_RANK", text, 1);
    setenv("PMIX_NAMESPACE", "job.1", 1);
}

static void a_rank_sees_ranks_in_child(void)
{
    start_by_mpirun(1);
    join(1);
    FT_ASSERT(ft_names_slot() == 1);
    ft_names_loaded(board, 1);
    is("OMPI_COMM_WORLD_RANK", "1");
    is("OMPI_COMM_WORLD_SIZE", "2");
    is("PMIX_NAMESPACE", "job.1");
    ft_names_host(); /* the host's MPI_Init sees what mpirun said */
    is("OMPI_COMM_WORLD_SIZE", "4");
    ft_names_program();
    is("OMPI_COMM_WORLD_SIZE", "2");
    ft_names_given(1, 2);
    is("OMPI_COMM_WORLD_RANK", "1");
    is("OMPI_COMM_WORLD_LOCAL_SIZE", "2");
    is("FTRMA_HOST_NAMES", "OMPI_COMM_WORLD_RANK=1;OMPI_COMM_WORLD_SIZE=4;"
                           "OMPI_COMM_WORLD_LOCAL_RANK=1;OMPI_COMM_WORLD_LOCAL_SIZE=4;"
                           "PMIX_RANK=1;PMIX_NAMESPACE=job.1");
    is("NO_SUCH_NAME", NULL);
}
IN_CHILD(a_rank_sees_ranks)

/* A spare that looks before MPI_Init sees no rank's number; as a replacement it sees its rank's. */
static void a_replacement_is_told_its_rank_in_child(void)
{
    start_by_mpirun(3);
    join(3);
    FT_ASSERT(ft_names_slot() == 3);
    ft_names_loaded(board, 3);
    is("OMPI_COMM_WORLD_RANK", "3");
    is("OMPI_COMM_WORLD_SIZE", "2");
    ft_names_host();
    ft_names_program();
    setenv("PMIX_RANK", "99", 1); /* what the program sets stays */
    ft_names_given(0, 2);         /* says that it was asked for */
    is("OMPI_COMM_WORLD_RANK", "0");
    is("PMIX_RANK", "99");
}
IN_CHILD(a_replacement_is_told_its_rank)

/* FTRMA_HOST_NAMES passes mpirun's values to the processes that this one starts. */
static void a_child_of_the_program_knows_its_slot_in_child(void)
{
    start_by_mpirun(7);
    setenv("FTRMA_HOST_NAMES", "OMPI_COMM_WORLD_RANK=2;PMIX_NAMESPACE=job.1", 1);
    FT_ASSERT(ft_names_slot() == 2);
}
IN_CHILD(a_child_of_the_program_knows_its_slot)

static void without_mpirun_there_is_no_slot_in_child(void)
{
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("FTRMA_HOST_NAMES");
    FT_ASSERT(ft_names_slot() == -1);
}
IN_CHILD(without_mpirun_there_is_no_slot)

/* --- standard output and error --- */

static void note_streams(void)
{
    for (int i = 0; i < 2; i++) {
        struct stat sb;
        FT_ASSERT(fstat(STDOUT_FILENO + i, &sb) == 0);
        atomic_store(&rt.me->output[i].dev, sb.st_dev);
        atomic_store(&rt.me->output[i].ino, sb.st_ino);
        atomic_store(&rt.me->output[i].fd, memfd_create("stream", MFD_CLOEXEC));
    }
}

static void has(int i, const char *text)
{
    char got[200];
    ssize_t n = pread(atomic_load(&rt.me->output[i].fd), got, sizeof got - 1, 0);
    FT_ASSERT(n >= 0);
    got[n] = '\0';
    if (strcmp(got, text) != 0)
        abort();
}

static void redirect(int to, int *kept)
{
    *kept = dup(to);
    int pipe_of_mpirun[2];
    FT_ASSERT(pipe(pipe_of_mpirun) == 0 && dup2(pipe_of_mpirun[1], to) == to);
}

static void output_goes_to_files_in_child(void)
{
    int out, err;
    uint64_t pos[2];
    join(1);
    redirect(1, &out);
    redirect(2, &err);
    note_streams();
    ft_output_prepare(&rt);
    FT_ASSERT(ft_print_where() > 2);
    ft_output_begin(&rt);
    printf("hello");
    ft_output_mark(pos);
    FT_ASSERT(pos[0] == 5 && pos[1] == 0);
    has(0, "hello");
    fprintf(stderr, "oh");
    ft_output_mark(pos);
    FT_ASSERT(pos[1] == 2);
    has(1, "oh");
    /* Back to position 3, which is a jump; then to the present position, which is none. */
    ft_output_jump((uint64_t[2]){3, 2});
    FT_ASSERT(atomic_load(&rt.me->output[0].jumps) == 1);
    FT_ASSERT(atomic_load(&rt.me->output[1].jumps) == 0);
    FT_ASSERT(atomic_load(&rt.me->output[0].jump[0].at) == 5);
    FT_ASSERT(atomic_load(&rt.me->output[0].jump[0].pos) == 3);
    printf("lo!");
    ft_output_mark(pos);
    FT_ASSERT(pos[0] == 6);
    ft_output_jump(pos);
    FT_ASSERT(atomic_load(&rt.me->output[0].jumps) == 1);
    /* Nobody reads the jumps: when the ring is full, the next one is omitted. */
    for (uint64_t i = 0; i < FT_JUMP_RING; i++)
        ft_output_jump((uint64_t[2]){100 + i, 2});
    FT_ASSERT(atomic_load(&rt.me->output[0].jumps) == FT_JUMP_RING);
}
IN_CHILD(output_goes_to_files)

static void the_programs_own_redirection_stays_in_child(void)
{
    int out, err;
    uint64_t pos[2];
    join(1);
    redirect(1, &out);
    redirect(2, &err);
    note_streams();
    FT_ASSERT(dup2(out, 1) == 1); /* by a wrapper */
    ft_output_begin(&rt);
    FT_ASSERT(printf(" ") == 1);
    ft_output_mark(pos);
    FT_ASSERT(pos[0] == 0);
    has(0, "");
}
IN_CHILD(the_programs_own_redirection_stays)

/* --- standard input --- */

static int feed(const char *text)
{
    int p[2];
    struct stat sb;
    FT_ASSERT(pipe(p) == 0);
    FT_ASSERT(write(p[1], text, strlen(text)) == (ssize_t)strlen(text));
    atomic_store(&rt.me->input.fd, p[0]);
    atomic_store(&rt.me->input.begun, strlen(text));
    atomic_store(&rt.me->input.fed, strlen(text));
    FT_ASSERT(fstat(STDIN_FILENO, &sb) == 0);
    return p[1];
}

static void rank_0_reads_from_the_pipe_in_child(void)
{
    char line[20];
    join(0);
    feed("one\ntwo\nthree\n");
    ft_input_loaded(board, 0);
    ft_input_begin(&rt);
    FT_ASSERT(atomic_load(&board->input_is) == FT_INPUT_OURS);
    FT_ASSERT(ft_input_mark(&rt) == 0);
    FT_ASSERT(fgets(line, sizeof line, stdin) && strcmp(line, "one\n") == 0);
    FT_ASSERT(ft_input_mark(&rt) == 4); /* stdio has taken more */
    ft_box_move(&rt.box, FT_AT_BODY);
    FT_ASSERT(fgets(line, sizeof line, stdin) && strcmp(line, "two\n") == 0);
    FT_ASSERT(ft_input_mark(&rt) == 8);
    FT_ASSERT(atomic_load(&board->read_in_body) == 1);
    ft_input_check(&rt, 8);
    /* No descriptor is left to look by, and then standard input is another's. */
    FT_ASSERT(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0}) == 0);
    FT_ASSERT(ft_input_mark(&rt) == 8);
    ft_input_check(&rt, 8);
    close(STDIN_FILENO);
    FT_ASSERT(ft_input_mark(&rt) == 8);
}
IN_CHILD(rank_0_reads_from_the_pipe)

static void what_was_read_is_not_read_again_in_child(void)
{
    char line[20];
    join(0);
    feed("one\ntwo\n");
    ft_input_loaded(board, 0);
    ft_input_begin(&rt);
    FT_ASSERT(fgets(line, sizeof line, stdin) != NULL);
    rt.restored = 1;
    ft_input_check(&rt, 0); /* gives the job up */
}
static void what_was_read_is_not_read_again(void **state)
{
    (void)state;
    in_child(what_was_read_is_not_read_again_in_child, FT_EXIT_LOST);
}

static void other_ranks_have_nothing_to_read_in_child(void)
{
    char c;
    join(1);
    feed("one\n");
    ft_input_loaded(board, 1); /* it may carry rank 0 by then */
    ft_input_begin(&rt);
    FT_ASSERT(read(0, &c, 1) == 0);
    FT_ASSERT(atomic_load(&board->input_is) == FT_INPUT_UNKNOWN);
    FT_ASSERT(ft_input_mark(&rt) == 0);
}
IN_CHILD(other_ranks_have_nothing_to_read)

/* --- descriptors of the host --- */

static void the_hosts_descriptors_are_missed_in_child(void)
{
    ft_host_fds_before();
    int mine = dup(0), hosts[2];
    (void)mine;
    FT_ASSERT(pipe(hosts) == 0);
    ft_host_fds_note();
    FT_ASSERT(ft_host_fds_intact());
    int other = open("/dev/null", O_RDONLY);
    FT_ASSERT(other >= 0 && ft_host_fds_intact());
    FT_ASSERT(dup2(other, hosts[1]) == hosts[1]); /* something else has its number */
    FT_ASSERT(!ft_host_fds_intact());
}
IN_CHILD(the_hosts_descriptors_are_missed)

/* --- a core for each rank --- */

static void ranks_are_bound_if_there_are_cores_in_child(void)
{
    cpu_set_t before, after;
    join(1);
    FT_ASSERT(sched_getaffinity(0, sizeof before, &before) == 0);
    setenv("FTRMA_BIND", "none", 1);
    ft_rt_bind(&rt, 1);
    FT_ASSERT(sched_getaffinity(0, sizeof after, &after) == 0 && CPU_EQUAL(&before, &after));
    setenv("FTRMA_BIND", "core", 1);
    ft_rt_bind(&rt, 1);
    FT_ASSERT(sched_getaffinity(0, sizeof after, &after) == 0);
    FT_ASSERT(CPU_COUNT(&after) == 1 || CPU_EQUAL(&before, &after)); /* with too few all share */
    if (CPU_COUNT(&after) == 1) { /* now there is one core, and two ranks */
        ft_rt_bind(&rt, 0);
        FT_ASSERT(sched_getaffinity(0, sizeof before, &before) == 0 && CPU_EQUAL(&before, &after));
    }
    rt.host.threads = 1;
    setenv("FTRMA_BIND", "auto", 1);
    ft_rt_bind(&rt, 0);
}
IN_CHILD(ranks_are_bound_if_there_are_cores)

/* --- the heap --- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* the sanitizer has a malloc of its own */
static void heap_begins_where_it_is_said_in_child(void) {}
#else
static void heap_begins_where_it_is_said_in_child(void)
{
    join(1);
    uint64_t far = ft_align_up((uint64_t)(uintptr_t)sbrk(0) + (64 << 20), 2 << 20);
    rt.lost_heap = far;
    ft_runtime_begin_heap();
    FT_ASSERT(atomic_load(&rt.me->testament.heap_from) == far);
    for (size_t bytes = 16; bytes < 8 << 20; bytes *= 3) {
        void *volatile p = malloc(bytes);
        FT_ASSERT(p && (uint64_t)(uintptr_t)p >= far && (uint64_t)(uintptr_t)p < far + (64 << 20));
    }
    rt.lost_heap = far - (32 << 20); /* the break is beyond that address: it stays */
    ft_runtime_begin_heap();
    FT_ASSERT(atomic_load(&rt.me->testament.heap_from) == far);
}
#endif
IN_CHILD(heap_begins_where_it_is_said)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rank_sees_ranks),
        cmocka_unit_test(a_replacement_is_told_its_rank),
        cmocka_unit_test(a_child_of_the_program_knows_its_slot),
        cmocka_unit_test(without_mpirun_there_is_no_slot),
        cmocka_unit_test(output_goes_to_files),
        cmocka_unit_test(the_programs_own_redirection_stays),
        cmocka_unit_test(rank_0_reads_from_the_pipe),
        cmocka_unit_test(what_was_read_is_not_read_again),
        cmocka_unit_test(other_ranks_have_nothing_to_read),
        cmocka_unit_test(the_hosts_descriptors_are_missed),
        cmocka_unit_test(ranks_are_bound_if_there_are_cores),
        cmocka_unit_test(heap_begins_where_it_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
