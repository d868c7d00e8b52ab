/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_share.c - private memory becomes shared in place: heap, stack, static data, in a process of
 * its own each time.
 */
#define _GNU_SOURCE
#include <sys/resource.h>
#include <sys/stat.h>

#include "transport/apart.h"
#include "transport/share.h"
#include "transport/test_job.h"

#define PAGE ft_page_bytes()
#define LARGEST_PAGE 65536ul

static char fixed[5 * LARGEST_PAGE] = "initialised";
static int (*volatile before_and_after)(void); /* calls that the compiler cannot see through */

static void fill(char *p, size_t n, uint64_t seed)
{
    struct ft_prng r = {seed};
    for (size_t i = 0; i < n; i++)
        p[i] = (char)ft_prng_next(&r);
}

static int filled(const char *p, size_t n, uint64_t seed)
{
    struct ft_prng r = {seed};
    for (size_t i = 0; i < n; i++)
        if (p[i] != (char)ft_prng_next(&r))
            return 0;
    return 1;
}

static char *pages(size_t n)
{
    char *p = mmap(NULL, n * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    return p;
}

/* Whether the arena's file has these bytes at off: what others see. */
static int file_has(uint64_t off, const void *p, size_t n)
{
    char buf[8192];
    for (size_t at = 0, here; at < n; at += here) {
        here = n - at < sizeof buf ? n - at : sizeof buf;
        if (pread(job.arena.fd, buf, here, (off_t)(off + at)) != (ssize_t)here ||
            memcmp(buf, (const char *)p + at, here) != 0)
            return 0;
    }
    return 1;
}

/* Shares [p, p + n): the contents stay, a store to memory appears in the file, and a store to the
 * file appears in memory. */
static void share_and_look(char *p, size_t n)
{
    uint64_t off = 0;
    char *copy = malloc(n);
    CHECK(copy);
    memcpy(copy, p, n);
    CHECK(ft_arena_share(&job.arena, p, n, &off) == FT_OK);
    CHECK(off == FT_MIRROR + (uint64_t)(uintptr_t)p);
    CHECK(memcmp(p, copy, n) == 0 && file_has(off, p, n));
    for (size_t i = 0; i<n; i += n> 64 ? n / 61 : 1) {
        p[i] = (char)(p[i] + 1);
        CHECK(file_has(off + i, p + i, 1));
        CHECK(pwrite(job.arena.fd, copy + i, 1, (off_t)(off + i)) == 1);
        CHECK(p[i] == copy[i]);
    }
    free(copy);
}

static void static_data(void)
{
    char was[sizeof fixed];
    memcpy(was, fixed, sizeof fixed);
    share_and_look(fixed + 5, 1);
    share_and_look(fixed + PAGE - 3, 7);
    share_and_look(fixed, sizeof fixed);
    CHECK(memcmp(was, fixed, sizeof fixed) == 0 && strcmp(fixed, "initialised") == 0);
}

static void heap(void)
{
    enum { N = 200 };
    char *block[N];
    for (int i = 0; i < N; i++) {
        block[i] = malloc(100 + 97 * (size_t)i);
        CHECK(block[i]);
        fill(block[i], 100 + 97 * (size_t)i, (uint64_t)i);
    }
    for (int i = 3; i < N; i += 7)
        share_and_look(block[i], 100 + 97 * (size_t)i);
    for (int i = 0; i < N; i++) /* neighbours on the same pages too */
        CHECK(filled(block[i], 100 + 97 * (size_t)i, (uint64_t)i));
    for (int i = 0; i < N; i++)
        free(block[i]);
    char *large = malloc(10 << 20); /* a mapping of its own */
    CHECK(large);
    fill(large, 10 << 20, 5);
    share_and_look(large + 100, (10 << 20) - 200);
    CHECK(filled(large, 10 << 20, 5));
    free(large);
}

/* The pages of the running frames are among those that are shared. */
static void stack(void)
{
    char here[3 * PAGE], small[16];
    fill(here, sizeof here, 9);
    fill(small, sizeof small, 10);
    share_and_look(small, sizeof small);
    share_and_look(here, sizeof here);
    CHECK(filled(here, sizeof here, 9) && filled(small, sizeof small, 10));
}

static __attribute__((noinline)) int deep(void)
{
    volatile char much[1 << 20];
    for (size_t i = sizeof much; i > 0; i -= PAGE) /* downwards, as a stack grows */
        much[i - 1] = (char)i;
    return much[sizeof much - 1] != much[PAGE - 1] ? 1 : 1;
}

static __attribute__((noinline)) void large_frame(size_t n)
{
    volatile char large[n];
    uint64_t off;
    for (size_t i = n; i > 0; i -= i < 512 ? i : 512)
        large[i - 1] = 1;
    CHECK(ft_arena_share(&job.arena, (void *)(uintptr_t)large, n, &off) == FT_OK);
    CHECK(before_and_after() == 1);
    CHECK(large[n - 1] == 1);
}

/* Shares an array as large as the stack has ever been, wherever in a page it begins: the stack can
 * still grow afterwards. */
static void stack_still_grows(void)
{
    before_and_after = deep;
    for (size_t i = 0; i < 16; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            large_frame((1 << 20) + i * 256);
            _exit(0);
        }
        int status;
        CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    }
}

static void overlaps(void)
{
    struct ft_prng r = {job.seed};
    char *p = pages(64);
    fill(p, 64 * PAGE, 77);
    for (int i = 0; i < 300; i++) {
        size_t from = ft_prng_below(&r, 64 * PAGE),
               n = 1 + ft_prng_below(&r, ft_prng_below(&r, 2) ? 5 * PAGE : 50);
        share_and_look(p + from, n < 64 * PAGE - from ? n : 64 * PAGE - from);
        CHECK(filled(p, 64 * PAGE, 77));
    }
    share_and_look(p, 64 * PAGE);
    CHECK(filled(p, 64 * PAGE, 77));
}

static void mapped_anew(void)
{
    char *p = pages(8);
    fill(p, 8 * PAGE, 1);
    share_and_look(p, 8 * PAGE);
    CHECK(munmap(p, 8 * PAGE) == 0);
    CHECK(mmap(p, 8 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
               0) == p);
    CHECK(p[5] == 0);
    fill(p, 8 * PAGE, 2);
    share_and_look(p, 8 * PAGE);
    CHECK(filled(p, 8 * PAGE, 2));
    CHECK(mmap(p + 2 * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
               -1, 0) == p + 2 * PAGE);
    fill(p, 8 * PAGE, 3); /* a new page in the middle of shared ones */
    share_and_look(p, 8 * PAGE);
}

static void what_cannot_be_shared(void)
{
    uint64_t off = 0;
    char *p = pages(3);
    CHECK(ft_arena_share(&job.arena, NULL, 0, &off) == FT_OK);
    CHECK(ft_arena_share(&job.arena, p + 9, 0, &off) == FT_OK &&
          off == FT_MIRROR + (uint64_t)(uintptr_t)p + 9);
    CHECK(munmap(p + PAGE, PAGE) == 0);
    CHECK(ft_arena_share(&job.arena, p, 3 * PAGE, &off) == FT_ERR_RANGE); /* a hole */
    CHECK(munmap(p, PAGE) == 0 && munmap(p + 2 * PAGE, PAGE) == 0);
    CHECK(ft_arena_share(&job.arena, p, PAGE, &off) != FT_OK);
    uint64_t own = ft_arena_alloc(&job.arena, 100, 64);
    CHECK(ft_arena_share(&job.arena, ft_arena_ptr(&job.arena, own), 100, &off) == FT_OK &&
          off == own);
    char *last = job.arena.base + job.arena.bytes - 10;
    CHECK(ft_arena_share(&job.arena, last, 11, &off) == FT_ERR_RANGE);
}

static int shared(const char *p)
{
    char was = *p, seen = 0;
    *(volatile char *)(uintptr_t)p = (char)(was + 1);
    ssize_t n = pread(job.arena.fd, &seen, 1, (off_t)(FT_MIRROR + (uint64_t)(uintptr_t)p));
    *(volatile char *)(uintptr_t)p = was;
    CHECK(n == 1);
    return seen == (char)(was + 1);
}

/* Random ranges come and go: a page is shared as long as one of them lies on it, and no byte is
 * ever lost. */
static void private_again(void)
{
    enum { PAGES = 32, RANGES = 12 };
    struct ft_prng r = {job.seed + 5};
    struct {
        size_t from, n;
    } held[RANGES];
    char *p = pages(PAGES);
    uint64_t off;
    int n = 0, on_page[PAGES] = {0};
    fill(p, PAGES * PAGE, 8);
    for (int step = 0; step < 500 || n > 0; step++) {
        int add = step < 500 && n < RANGES && (n == 0 || ft_prng_below(&r, 2)),
            i = add ? n : (int)ft_prng_below(&r, (uint64_t)n);
        if (add) {
            held[i].from = ft_prng_below(&r, PAGES * PAGE - 1);
            held[i].n = 1 + ft_prng_below(&r, ft_min_u64(6 * PAGE, PAGES * PAGE - held[i].from));
            CHECK(ft_arena_share(&job.arena, p + held[i].from, held[i].n, &off) == FT_OK);
            n++;
        } else {
            ft_arena_unshare(&job.arena, p + held[i].from, held[i].n);
        }
        for (size_t k = held[i].from / PAGE; k <= (held[i].from + held[i].n - 1) / PAGE; k++)
            on_page[k] += add ? 1 : -1;
        if (!add)
            held[i] = held[--n];
        for (int k = 0; k < PAGES; k++)
            CHECK(shared(p + (size_t)k * PAGE + 7) == (on_page[k] > 0));
        CHECK(filled(p, PAGES * PAGE, 8));
    }
}

/* Memory that was once a window grows, moves, and leaves its place to a new window: two windows
 * with contents of their own. */
static void freed_and_grown(void)
{
    const size_t n = 1 << 20; /* malloc gives it a mapping of its own, which realloc moves */
    char *first = malloc(n), *moved, *second;
    uint64_t off;
    CHECK(first);
    fill(first, n, 1);
    CHECK(ft_arena_share(&job.arena, first, n, &off) == FT_OK);
    ft_arena_unshare(&job.arena, first, n);
    CHECK((moved = realloc(first, 20 * n)) && (second = malloc(n)));
    fill(second, n, 2);
    CHECK(ft_arena_share(&job.arena, second, n, &off) == FT_OK);
    memset(moved + n, 3, 19 * n);
    CHECK(filled(moved, n, 1) && filled(second, n, 2));
    pid_t pid = fork(); /* what is private is so in a child as well */
    if (pid == 0) {
        moved[0]++;
        _exit(0);
    }
    CHECK(waitpid(pid, NULL, 0) == pid && filled(moved, n, 1));
}

/* Forks. The parent stores, then the child, and each sees its own. */
static void fork_and_store(char *p, size_t n)
{
    volatile int here = 1;
    int go[2];
    char c = 0;
    fill(p, n, 1);
    CHECK(pipe(go) == 0);
    pid_t pid = ft_fork_apart(fork);
    CHECK(pid >= 0);
    if (pid == 0) {
        CHECK(read(go[0], &c, 1) == 1); /* the parent has stored */
        CHECK(here == 1 && filled(p, n, 1));
        fill(p, n, 2);
        here = 2;
        CHECK(!ft_share_any());
        pid_t next = ft_fork_apart(fork); /* nothing is shared any more */
        if (next == 0)
            _exit(0);
        CHECK(waitpid(next, NULL, 0) == next);
        ft_arena_unshare(&job.arena, p, n); /* is none of its business */
        _exit(here);
    }
    here = 3;
    fill(p, n, 3);
    int status;
    CHECK(write(go[1], &c, 1) == 1);
    CHECK(waitpid(pid, &status, 0) == pid && status == 2 << 8);
    CHECK(here == 3 && filled(p, n, 3));
    close(go[0]);
    close(go[1]);
}

static void forked(void)
{
    enum { PAGES = 40 };
    char here[5 * PAGE], *p = pages(PAGES), *gone = pages(PAGES);
    uint64_t off;
    fork_and_store(p, PAGES * PAGE);      /* nothing is shared yet */
    for (size_t i = 1; i < PAGES; i += i) /* on one page, on several, on the same ones */
        CHECK(ft_arena_share(&job.arena, p + i * PAGE - 3, i * 100, &off) == FT_OK);
    CHECK(ft_arena_share(&job.arena, here + PAGE, 3 * PAGE, &off) == FT_OK);
    CHECK(ft_arena_share(&job.arena, gone, PAGES * PAGE, &off) == FT_OK);
    CHECK(munmap(gone + 3 * PAGE, 17 * PAGE) == 0); /* by the program, before the window */
    for (int i = 0; i < 10; i++) {
        fork_and_store(p, PAGES * PAGE);
        fork_and_store(here, sizeof here);
        fork_and_store(gone, 3 * PAGE);
        fork_and_store(gone + 20 * PAGE, (PAGES - 20) * PAGE);
    }
    CHECK(shared(p + 2 * PAGE) && shared(here + 2 * PAGE) && shared(gone));
}

/* The window lies next to the frames of fork, which returns different values on them. */
static __attribute__((noinline)) void forked_beside(void)
{
    volatile int here[4] = {1, 1, 1, 1};
    uint64_t off;
    CHECK(ft_arena_share(&job.arena, (void *)(uintptr_t)here, sizeof here, &off) == FT_OK);
    for (int i = 0; i < 300; i++) {
        int status;
        pid_t pid = ft_fork_apart(fork);
        CHECK(pid >= 0);
        if (pid == 0) {
            here[1] = 2;
            _exit(here[0] + here[1]);
        }
        CHECK(waitpid(pid, &status, 0) == pid && status == 3 << 8 && here[1] == 1);
    }
    ft_arena_unshare(&job.arena, (void *)(uintptr_t)here, sizeof here);
}

static void dies(void) { kill(getpid(), SIGKILL); }

/* The child is killed before it has its copy, or there is no memory for one. */
static void forked_in_vain(void)
{
    enum { PAGES = 4000 };
    char *p = pages(PAGES);
    uint64_t off;
    int status;
    long has = 0;
    fill(p, PAGES * PAGE, 1);
    CHECK(ft_arena_share(&job.arena, p, PAGES * PAGE, &off) == FT_OK);
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld", &has) == 1);
    fclose(f);
    struct rlimit was, tight;
    CHECK(getrlimit(RLIMIT_AS, &was) == 0);
    tight = (struct rlimit){((rlim_t)has + PAGES / 2) * PAGE, was.rlim_max};
    CHECK(setrlimit(RLIMIT_AS, &tight) == 0);
    errno = 0;
    pid_t pid = ft_fork_apart(fork);
    CHECK(pid == -1 && errno == ENOMEM);
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    CHECK(setrlimit(RLIMIT_AS, &was) == 0);
    CHECK(pthread_atfork(NULL, NULL, dies) == 0);
    pid = ft_fork_apart(fork);
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == SIGKILL);
    CHECK(filled(p, PAGES * PAGE, 1));
}

/* Slot 0 shares; slot 1 sees the contents and later changes, and writes back. */
static void seen_by_another(void)
{
    static char data[2 * LARGEST_PAGE];
    char local[300];
    uint64_t off, n = sizeof data;
    fill(data, sizeof data, 4);
    fill(local, sizeof local, 5);
    if (job.self == 0) {
        CHECK(ft_arena_share(&job.arena, data, sizeof data, &off) == FT_OK);
        atomic_store(&job.sh->word[0], off);
        CHECK(ft_arena_share(&job.arena, local, sizeof local, &off) == FT_OK);
        atomic_store(&job.sh->word[1], off);
        job_meet();
        job_meet();
        CHECK(filled(data, n, 6) && filled(local, sizeof local, 7));
        return;
    }
    job_meet();
    char *there = job.tp.ops->map(&job.tp, 0, atomic_load(&job.sh->word[0]), n, FT_TP_CONTROL),
         buf[sizeof local];
    CHECK(there && filled(there, n, 4));
    CHECK(job.tp.ops->get(&job.tp, 0, atomic_load(&job.sh->word[1]), buf, sizeof buf) == FT_OK);
    CHECK(filled(buf, sizeof buf, 5));
    fill(there, n, 6);
    fill(buf, sizeof buf, 7);
    CHECK(job.tp.ops->put(&job.tp, 0, atomic_load(&job.sh->word[1]), buf, sizeof buf) == FT_OK);
    job.tp.ops->unmap(&job.tp, 0, atomic_load(&job.sh->word[0]), there, n);
    job_meet();
}

static void alone(void **state)
{
    void (*body)(void) = *(void (**)(void)) * state;
    job_seed(1);
    job_begin(1, 1);
    job_spawn(0, body);
    job_join();
}

/* A program gives memory back, all of it or a part, and then frees the window over it. */
static void given_back_before(void)
{
    enum { N = 200 };
    struct stat was, is;
    CHECK(fstat(job.arena.fd, &was) == 0);
    for (int part = 0; part < 2; part++) {
        uint64_t off;
        char *p = pages(N);
        fill(p, N * PAGE, 3);
        CHECK(ft_arena_share(&job.arena, p, N * PAGE, &off) == FT_OK);
        munmap(p + (part ? PAGE : 0), (part ? N - 3 : N) * PAGE);
        ft_arena_unshare(&job.arena, p, N * PAGE);
        if (part) {
            CHECK(filled(p, PAGE, 3));
            munmap(p, N * PAGE);
        } else {
            CHECK(fstat(job.arena.fd, &is) == 0 && is.st_blocks == was.st_blocks);
        }
    }
}

static void two_processes(void **state)
{
    (void)state;
    job_begin(2, 2);
    job_spawn(0, seen_by_another);
    job_spawn(1, seen_by_another);
    job_join();
}

/* A pointer to a function is not a pointer to data, hence one more indirection. */
#define ALONE(body)                                             \
    {                                                           \
#body, alone, NULL, NULL, &(void (*[1])(void)) { body } \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        ALONE(static_data),
        ALONE(heap),
        ALONE(stack),
        ALONE(overlaps),
        ALONE(mapped_anew),
        ALONE(what_cannot_be_shared),
        ALONE(stack_still_grows),
        ALONE(private_again),
        ALONE(freed_and_grown),
        ALONE(given_back_before),
        ALONE(forked),
        ALONE(forked_beside),
        ALONE(forked_in_vain),
        cmocka_unit_test(two_processes),
    };
    /* away from this program's variables, as the library's are: pages are moved on a stack in it */
    ft_engine_enter(ft_engine_new());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
