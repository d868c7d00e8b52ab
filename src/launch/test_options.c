/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_options.c - what ftrun's command line means, and that each bad one is told what is bad.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "launch/options.h"

enum { MAX_WORDS = 40 };

static int clear_environment(void **state)
{
    (void)state;
    for (int i = 0; i < FT_SET_COUNT; i++)
        unsetenv(ft_settings_table[i].env);
    return 0;
}

/* Splits line at blanks and parses it as "ftrun line". The words live until the next call. */
static enum ft_status parse(const char *line, struct ft_options *o, char *err, int errlen)
{
    static char text[500];
    static char *argv[MAX_WORDS];
    int argc = 0;
    snprintf(text, sizeof text, "ftrun %s", line);
    for (char *p = strtok(text, " "); p; p = strtok(NULL, " ")) {
        assert_true(argc < MAX_WORDS - 1);
        argv[argc++] = p;
    }
    argv[argc] = NULL;
    return ft_options_parse(argc, argv, o, err, errlen);
}

static struct ft_options good(const char *line)
{
    struct ft_options o;
    char err[600] = "";
    if (parse(line, &o, err, sizeof err) != FT_OK)
        fail_msg("'%s' was refused: %s", line, err);
    return o;
}

static void refused(const char *line, const char *said)
{
    struct ft_options o;
    char err[600] = "";
    clear_environment(NULL);
    assert_int_equal(parse(line, &o, err, sizeof err), FT_ERR_ARG);
    if (!strstr(err, said))
        fail_msg("'%s' was refused with '%s'", line, err);
}

static void rehearsals(void **state)
{
    (void)state;
    assert_int_equal(good("-n 2 ./prog").rehearse, 0);
    struct ft_options o = good("-n 2 --rehearse ./prog 7"); /* what comes next is no value of it */
    assert_int_equal(o.rehearse, 3);
    assert_string_equal(o.program[0], "./prog");
    assert_int_equal(good("--rehearse=12 -n 2 ./prog").rehearse, 12);
    refused("-n 2 --rehearse= ./prog", "needs a value");
    refused("-n 2 --rehearse=0 ./prog", "1 or more");
    refused("-n 2 --rehearse=2k ./prog", "1 or more");
    refused("-n 2 --rehearse --spares 0 ./prog", "no spare can take the place");
    refused("-n 2 --rehearse --inject rank=0,point=safepoint ./prog", "draws the deaths itself");
}

static void defaults(void **state)
{
    (void)state;
    struct ft_options o = good("-n 9 ./prog -v --spares 7");
    assert_int_equal(o.task, FT_TASK_RUN);
    assert_int_equal(o.nranks, 9);
    assert_int_equal(o.nchecksums, 2);
    assert_int_equal(o.nspares, 1);
    assert_int_equal(o.verbose, 0); /* -v is the program's */
    assert_string_equal(o.program[0], "./prog");
    assert_string_equal(o.program[3], "7");
    assert_null(o.program[4]);
    assert_null(o.report);
    assert_string_equal(getenv("FTRMA_CHECKSUMS"), "2");
    assert_string_equal(getenv("FTRMA_SPARES"), "1");
    assert_string_equal(ft_setting_str(FT_SET_CHECKPOINT), "daly");
}

static void everything_given(void **state)
{
    (void)state;
    struct ft_options o = good(
        "-np 4 --checksums=2 --spares 3 --mtbf 60.5 --checkpoint every:5 --recovery global -v -v"
        " --log puts --log-limit 64 --demand stream"
        " --inject rank=1,point=safepoint --inject=spare=2,point=agree.vote --report r.json "
        "--trace t.json"
        " -H a:2 --hostfile h --host-args --x -- -p");
    assert_int_equal(o.nranks, 4);
    assert_int_equal(o.nchecksums, 2);
    assert_int_equal(o.nspares, 3);
    assert_int_equal(o.verbose, 2);
    assert_string_equal(o.report, "r.json");
    assert_string_equal(o.trace, "t.json");
    assert_string_equal(o.hosts, "a:2");
    assert_string_equal(o.hostfile, "h");
    assert_string_equal(o.host_args, "--x");
    assert_string_equal(o.program[0], "-p");
    assert_string_equal(getenv("FTRMA_MTBF"), "60.5");
    assert_string_equal(getenv("FTRMA_CHECKPOINT"), "every:5");
    assert_string_equal(getenv("FTRMA_RECOVERY"), "global");
    assert_string_equal(getenv("FTRMA_LOG"), "puts");
    assert_string_equal(getenv("FTRMA_LOG_LIMIT"), "67108864");
    assert_string_equal(getenv("FTRMA_DEMAND"), "stream");
    assert_string_equal(getenv("FTRMA_INJECT"), "rank=1,point=safepoint;spare=2,point=agree.vote");
    assert_string_equal(getenv("FTRMA_VERBOSE"), "2");
}

static void mpiruns_options_are_handed_on(void **state)
{
    (void)state;
    unsetenv("LD_PRELOAD");
    struct ft_options o =
        good("-np 2 -x A=b=c -x D --oversubscribe -map-by slot --mca btl self,sm --tag-output -x "
             "FTRMA_SPARES=2"
             " -x LD_PRELOAD=libmine.so --mtbf 2h --log-limit 1.5G -vv prog -x E");
    static const char *const want[] = {"-x",   "A=b=c", "-x",  "D",       "--map-by",
                                       "slot", "--mca", "btl", "self,sm", "--tag-output"};
    assert_int_equal(o.nhanded, FT_COUNTOF(want));
    for (size_t i = 0; i < FT_COUNTOF(want); i++)
        assert_string_equal(o.handed[i], want[i]);
    assert_true(o.host_decides);
    assert_int_equal(o.nspares,
                     2); /* ours are read by ftrun, and the library goes before the user's */
    assert_string_equal(getenv("LD_PRELOAD"), "libmine.so");
    unsetenv("LD_PRELOAD");
    assert_string_equal(getenv("FTRMA_MTBF"), "2h");
    assert_string_equal(getenv("FTRMA_LOG_LIMIT"), "1610612736");
    assert_int_equal(o.verbose, 2);
    assert_string_equal(o.program[1], "-x");
    assert_false(good("--ntasks 2 -x A prog").host_decides);
}

static void environment_counts_and_options_win(void **state)
{
    (void)state;
    setenv("FTRMA_SPARES", "5", 1);
    setenv("FTRMA_CHECKSUMS", "3", 1);
    setenv("FTRMA_VERBOSE", "1", 1);
    setenv("FTRMA_INJECT", "rank=0,point=park", 1);
    struct ft_options o = good("-n 4 --checksums 1 --inject rank=1,point=safepoint prog");
    assert_int_equal(o.nspares, 5);
    assert_int_equal(o.nchecksums, 1);
    assert_int_equal(o.verbose, 1);
    assert_string_equal(getenv("FTRMA_INJECT"), "rank=0,point=park;rank=1,point=safepoint");
}

static void no_checksums_means_no_checkpoints(void **state)
{
    (void)state;
    assert_int_equal(good("-n 4 --checksums 0 prog").nchecksums, 0);
    assert_string_equal(ft_setting_str(FT_SET_CHECKPOINT), "off");
}

static void several_hosts(void **state)
{
    struct ft_options o = good("-n 4 --host a,b,c --rsh rsh -x HOSTS_TEST=7 prog");
    (void)state;
    assert_int_equal(o.virtual_nodes, 3);
    assert_int_equal(o.nhosts, 3);
    assert_string_equal(o.host[2], "c");
    assert_string_equal(getenv("HOSTS_TEST"), "7");
    unsetenv("HOSTS_TEST");
    o = good("-n 4 --host a prog"); /* mpirun's */
    assert_int_equal(o.nhosts, 0);
    o = good("-n 4 --host a, prog"); /* the same */
    assert_int_equal(o.nhosts, 0);
    assert_int_equal(o.virtual_nodes, 0);
    assert_string_equal(o.hosts, "a");
}

/* An allocation of Slurm with two hosts, and a scontrol that names them. */
static void hosts_of_an_allocation(void **state)
{
    static const struct {
        const char *line;
        int nhosts; /* -1: refused */
    } cases[] = {{"-n 4 prog", 2},
                 {"-n 4 -x A=1 prog", 2},
                 {"-n 4 --tag-output prog", -1},
                 {"-n 4 --timestamp-output prog", -1},
                 {"-n 4 --report-bindings prog", -1},
                 {"-n 4 --bind-to core prog", -1},
                 {"-n 4 --mca btl self prog", -1},
                 {"-n 4 --tag-output --map-by node prog", 0}, /* the others: mpirun's */
                 {"-n 4 --rank-by slot prog", 0},
                 {"-n 4 -rf file prog", 0},
                 {"-n 4 --tag-output --host a prog", 0}};
    char dir[] = "/tmp/ftrma-slurm-XXXXXX", path[64], *before = strdup(getenv("PATH")), all[5000];
    (void)state;
    assert_true(mkdtemp(dir) && before);
    snprintf(path, sizeof path, "%s/scontrol", dir);
    FILE *f = fopen(path, "w");
    fputs("#!/bin/sh\necho h1\necho h2\n", f);
    fclose(f);
    chmod(path, 0700);
    snprintf(all, sizeof all, "%s:%s", dir, before);
    setenv("PATH", all, 1);
    setenv("SLURM_JOB_NUM_NODES", "2", 1);
    setenv("SLURM_JOB_NODELIST", "h[1-2]", 1);
    for (size_t i = 0; i < FT_COUNTOF(cases); i++) {
        clear_environment(NULL);
        if (cases[i].nhosts < 0)
            refused(cases[i].line, "is an option of mpirun, which does not start jobs on several "
                                   "hosts: leave it out");
        else
            assert_int_equal(good(cases[i].line).nhosts, cases[i].nhosts);
    }
    unsetenv("SLURM_JOB_NUM_NODES");
    unsetenv("SLURM_JOB_NODELIST");
    setenv("PATH", before, 1);
    free(before);
    remove(path);
    remove(dir);
}

/* A hostfile with this text, in a line with this at its end. */
static const char *with_file(const char *text, const char *line)
{
    static char whole[200];
    static char path[] = "/tmp/ftrma-hosts-XXXXXX";
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    snprintf(whole, sizeof whole, "--hostfile %s %s", path, line);
    return whole;
}

static void drop_file(const char *line)
{
    char path[40];
    assert_int_equal(sscanf(line, "--hostfile %39s", path), 1);
    assert_int_equal(unlink(path), 0);
}

static void a_file_names_hosts(void **state)
{
    static const char *const same[] = {"a\nb\n",
                                       "# nodes\n\n  a slots=2 max_slots=4\n\tb slots=2 # the other",
                                       "a\nb\na\nb\n", "a:3\r\nb slots=3\r\n"};
    static const struct {
        const char *text, *said;
    } other[] = {{"a slots=2\nb slots=3\n", "a has 2 slots and b has 3"},
                 {"a\nb\na\n", "a has 2 slots and b has 1"},
                 {"a\nb slots\n", "line 2: must be a host's name"},
                 {"a slots=0\n", "line 1: must be"},
                 {"a:x\n", "'x' is no number of slots"},
                 {"# nothing\n", "names no host"}};
    (void)state;
    for (size_t i = 0; i < FT_COUNTOF(same); i++) {
        const char *line = with_file(same[i], "-n 4 prog");
        struct ft_options o = good(line);
        assert_int_equal(o.nhosts, 2);
        assert_int_equal(o.virtual_nodes, 2);
        assert_string_equal(o.host[0], "a");
        assert_string_equal(o.host[1], "b");
        drop_file(line);
    }
    for (size_t i = 0; i < FT_COUNTOF(other); i++) {
        const char *line = with_file(other[i].text, "-n 4 prog");
        refused(line, other[i].said);
        drop_file(line);
    }
    const char *line = with_file("a slots=4\n", "-n 4 prog");
    assert_int_equal(good(line).nhosts, 0); /* mpirun's */
    drop_file(line);
    line = with_file("a\nb\n", "-n 4 --map-by node prog");
    refused(line, "--map-by is an option of mpirun");
    drop_file(line);
}

/* Names of hosts are kept whole, or refused. */
static void names_that_are_too_long(void **state)
{
    char name[FT_HOST_NAME + 1], text[400];
    (void)state;
    memset(name, 'a', sizeof name - 1);
    for (int n = FT_HOST_NAME; n >= FT_HOST_NAME - 1; n--) {
        name[n] = '\0';
        const char *said = "has 256 characters, and a host's name has 255 at most";
        snprintf(text, sizeof text, "%s\nb\n", name);
        const char *line = with_file(text, "-n 4 prog");
        if (n == FT_HOST_NAME)
            refused(line, said);
        else
            assert_string_equal(good(line).host[0], name);
        drop_file(line);
        snprintf(text, sizeof text, "-n 4 --host b,%s prog", name);
        if (n == FT_HOST_NAME)
            refused(text, said);
        else
            assert_string_equal(good(text).host[1], name);
    }
}

static void tasks(void **state)
{
    (void)state;
    assert_int_equal(good("--help").task, FT_TASK_HELP);
    assert_int_equal(good("-n 4 -h").task, FT_TASK_HELP);
    assert_int_equal(good("--help-settings").task, FT_TASK_SETTINGS);
    assert_int_equal(good("--help-reasons").task, FT_TASK_REASONS);
    assert_int_equal(good("--version").task, FT_TASK_VERSION);
    assert_int_equal(good("--inject list").task, FT_TASK_FAILPOINTS);
    assert_null(getenv("FTRMA_INJECT"));
}

static void a_debugger(void **state)
{
    char err[600];
    struct ft_options o;
    (void)state;
    (void)good("-n 4 --debug prog");
    assert_string_equal(getenv("FTRMA_PING_TIMEOUT_MS"), "0");
    assert_string_equal(getenv("FTRMA_LEASE_MS"), "0");
    setenv("FTRMA_LEASE_MS", "999", 1);
    assert_int_equal(parse("-n 4 prog", &o, err, sizeof err), FT_ERR_ARG);
    assert_non_null(strstr(err, "FTRMA_LEASE_MS=999: must be 0 or from 1000"));
    clear_environment(NULL);
    setenv("FTRMA_WIRE_FAULTS", "delay=50,cut=x", 1);
    assert_int_equal(parse("-n 4 prog", &o, err, sizeof err), FT_ERR_ARG);
    assert_non_null(strstr(err, "FTRMA_WIRE_FAULTS=delay=50,cut=x: must be delay=MS"));
    setenv("FTRMA_WIRE_FAULTS", "from=1,delay=50,cut=1000,slow=3", 1);
    (void)good("-n 4 prog");
}

static void several_codewords(void **state)
{
    (void)state;
    struct ft_options o = good("-n 16 --parity 3 prog");
    assert_int_equal(o.parity, 3);
    assert_int_equal(o.nchecksums, 6); /* two groups of 8 */
    assert_int_equal(o.nspares, 3);
    assert_string_equal(getenv("FTRMA_PARITY"), "3");
    assert_string_equal(getenv("FTRMA_SPARES"), "3");
    clear_environment(NULL);
    o = good("-n 4 --checksums 2 --parity 2 --spares 1 --domains f --aware rack prog");
    assert_int_equal(o.nchecksums, 2);
    assert_int_equal(o.nspares, 1);
    assert_string_equal(getenv("FTRMA_DOMAINS"), "f");
    assert_string_equal(getenv("FTRMA_AWARE"), "rack");
}

static const struct {
    const char *line, *said;
} bad_lines[] = {
    {"", "no program"},
    {"-n 4", "no program"},
    {"-n 4 --", "no program"},
    {"prog", "number of ranks is missing"},
    {"-n 0 prog", "-n 0"},
    {"-n -1 prog", "-n -1"},
    {"-n four prog", "-n four"},
    {"-n 4097 prog", "-n 4097"},
    {"-n", "-n N"},
    {"-n 4 --host a,b,a prog", "a is named twice"},
    {"-n 4 --host , prog", "--host ,: names no host"},
    {"-n 4 --host a:2,b:2 prog", "name hosts without ':N'"},
    {"-n 4 --host a,b --tag-output prog", "--tag-output is an option of mpirun"},
    {"-n 4 --host a,b --hostfile h prog", "name the hosts by one of them"},
    {"-n 4 --host a,b --host-args h prog", "--host-args is for mpirun"},
    {"-n 4 --host a,b --save d prog",
     "--save needs checkpoints, and a job on several nodes takes them only with --checksums C"},
    {"-n 4 --virtual-nodes 2 --save d prog", "only with --checksums C: add it"},
    {"-n 4 --virtual-nodes 2 --rehearse prog",
     "--rehearse needs checkpoints, and a job on several nodes takes them only with --checks"},
    {"-n 4 --checksums 0 --save d prog", "leave out --checkpoint off, --checksums 0"},
    {"-n 4 --virtual-nodes 2 --checksums 2 --spares 0 --rehearse prog",
     "no spare can take the place"},
    {"-n 4 --hostfile /nowhere/h prog", "/nowhere/h: cannot be read"},
    {"-n 4 --host a --rsh ssh prog", "--rsh is for jobs on several hosts"},
    {"-n 4 --checksums 5 prog", "more checksum processes than ranks (4)"},
    {"-n 4 --checksums x prog", "--checksums x"},
    {"-n 8 --parity 0 prog", "--parity 0: must be a whole number from 1 to 8"},
    {"-n 99 --parity 9 prog", "--parity 9: must be"},
    {"-n 8 --parity 2 --checksums 3 prog",
     "--checksums 3: 3 checksum processes: must be a multiple of the parity, 2"},
    {"-n 5 --parity 3 --checksums 6 prog",
     "--checksums 6: parity 3 is larger than a group: 5 ranks in 2 groups are 2 each"},
    {"-n 2 --parity 3 prog", "--parity 3: parity 3 is larger than a group"},
    {"-n 300 --checksums 2 prog", "300 ranks need at least 3 checksum processes"},
    {"-n 4 --spares=-2 prog", "--spares -2"},
    {"-n 4000 --spares 90 --checksums 7 prog", "together more than 4096 processes"},
    {"-n 4 --spares 99999999999 prog",
     "--spares 99999999999: must be a whole number from 0 to 4096"},
    {"-n 4 --mtbf 0 prog", "--mtbf 0"},
    {"-n 4 --mtbf soon prog", "--mtbf soon"},
    {"-n 4 --checkpoint sometimes prog", "--checkpoint sometimes"},
    {"-n 4 --checkpoint every:0 prog", "--checkpoint every:0"},
    {"-n 4 --recovery local prog", "--recovery local"},
    {"-n 4 --snapshot vanilla prog", "wrong results for gets"},
    {"-n 4 --snapshot fast prog",
     "--snapshot fast: must be barrier, delay, peek, double or partial"},
    {"-n 4 --log none prog", "--log none"},
    {"-n 4 --log-limit 0 prog", "--log-limit 0"},
    {"-n 4 --log-limit 1Q prog", "--log-limit 1Q: must be a size such as"},
    {"-n 4 --demand sometimes prog", "--demand sometimes"},
    {"-n 4 --log-limit 8796093022208 prog", "--log-limit 8796093022208"}, /* 2^63 bytes */
    {"-n 4 --inject rank=4,point=safepoint prog", "--inject: no such victim"},
    {"-n 4 --inject rank=1,point=nowhere prog", "'nowhere'"},
    {"-n 4 --report= prog", "'--report' needs a value"},
    {"-n 4 --verbose=2 prog", "takes no value"},
    {"-n 4 --sparse 3 prog", "unknown option '--sparse'"},
    {"-n 4 --sparse 3 prog", "did you mean --spares?"},
    {"-n 4 --checkpoint=dayl prog",
     "--checkpoint dayl: must be daly, every:K (K of 1 or more) or off; did you mean daly?"},
    {"-n 4 --log al prog", "must be off, puts or all; did you mean all?"},
    {"-n 4 --log-lim 5 prog", "unknown option '--log-lim'"}, /* no abbreviations */
    {"-n 4 -vz prog", "unknown option '-z'"},
    {"-n 4 -x =3 prog", "-x =3: must be VAR or VAR=VALUE"},
    {"-n 4 --mca btl", "needs two values"},
    {"-n=4 prog", "write '-n 4'"}, /* not for names of one letter */
    {"-n= prog", "write '-n N'"},
    {"-n 4 -H=a,b prog", "write '-H a,b'"},
    {"-n 4 -x=A=b prog", "write '-x A=b'"},
    {"-n 4 -v=2 prog", "option '-v' takes no value"},
    {"-N=2 prog", "write '--host A,B'"},
    {"-n 4 -y=2 prog", "unknown option '-y'"},
    {"-n 4 -N 2 prog", "write '--host A,B'"},
    {"-n 4 -npernode 2 prog", "write '--host A,B'"},
    {"-c4 prog", "write '-n N'"},
    {"--ntasks=4 --partition=fast prog", "ask the batch system"},
    {"-n 4 --genv A B prog", "write '-x VAR=VALUE'"},
    {"-n 4 prog a : b", "':'"},
};

static void bad_lines_are_told_what_is_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < FT_COUNTOF(bad_lines); i++) {
        struct ft_options o = {.nranks = -7};
        char err[600] = "";
        clear_environment(NULL);
        if (parse(bad_lines[i].line, &o, err, sizeof err) != FT_ERR_ARG)
            fail_msg("'%s' was taken", bad_lines[i].line);
        if (!strstr(err, bad_lines[i].said))
            fail_msg("'%s' should be in the message about '%s', which is: %s", bad_lines[i].said,
                     bad_lines[i].line, err);
        assert_int_equal(o.nranks, -7); /* set on success only */
    }
}

static void bad_environment_is_told_by_its_own_name(void **state)
{
    (void)state;
    static const char *const names[] = {
        "FTRMA_SPARES",          "FTRMA_CHECKSUMS", "FTRMA_MTBF",      "FTRMA_CHECKPOINT",
        "FTRMA_RECOVERY",        "FTRMA_INJECT",    "FTRMA_VERBOSE",   "FTRMA_ARENA_SIZE",
        "FTRMA_PING_TIMEOUT_MS", "FTRMA_LOG",       "FTRMA_LOG_LIMIT", "FTRMA_DEMAND",
        "FTRMA_DEMAND_AT"};
    for (size_t i = 0; i < FT_COUNTOF(names); i++) {
        struct ft_options o;
        char err[600] = "";
        clear_environment(NULL);
        setenv(names[i], "rubbish", 1);
        assert_int_equal(parse("-n 4 prog", &o, err, sizeof err), FT_ERR_ARG);
        if (!strstr(err, names[i]))
            fail_msg("%s should be in: %s", names[i], err);
    }
}

static void *text_of(void (*print)(FILE *))
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    print(f);
    fclose(f);
    return text;
}

static void help_names_everything(void **state)
{
    (void)state;
    static const char *const options[] = {
        "-n",          "-np",         "--checksums",  "--parity",   "--domains",       "--aware",
        "--spares",    "--mtbf",      "--checkpoint", "--snapshot", "--recovery",      "--log",
        "--log-limit", "--demand",    "--inject",     "--report",   "--trace",         "-H",
        "--hostfile",  "--host-args", "-v",           "--help",     "--help-settings", "--version"};
    char *help = text_of(ft_print_help), *settings = text_of(ft_print_settings),
         *points = text_of(ft_print_failpoints);
    for (size_t i = 0; i < FT_COUNTOF(options); i++)
        assert_non_null(strstr(help, options[i]));
    for (int i = 0; i < FT_SET_COUNT; i++)
        assert_non_null(strstr(settings, ft_settings_table[i].env));
    assert_non_null(strstr(points, "ckpt.parity.piece"));
    free(help);
    free(settings);
    free(points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(rehearsals, clear_environment),
        cmocka_unit_test_setup(defaults, clear_environment),
        cmocka_unit_test_setup(everything_given, clear_environment),
        cmocka_unit_test_setup(mpiruns_options_are_handed_on, clear_environment),
        cmocka_unit_test_setup(environment_counts_and_options_win, clear_environment),
        cmocka_unit_test_setup(no_checksums_means_no_checkpoints, clear_environment),
        cmocka_unit_test_setup(several_codewords, clear_environment),
        cmocka_unit_test_setup(tasks, clear_environment),
        cmocka_unit_test_setup(several_hosts, clear_environment),
        cmocka_unit_test_setup(a_debugger, clear_environment),
        cmocka_unit_test_setup(hosts_of_an_allocation, clear_environment),
        cmocka_unit_test_setup(a_file_names_hosts, clear_environment),
        cmocka_unit_test_setup(names_that_are_too_long, clear_environment),
        cmocka_unit_test_setup(bad_lines_are_told_what_is_bad, clear_environment),
        cmocka_unit_test_setup(bad_environment_is_told_by_its_own_name, clear_environment),
        cmocka_unit_test_setup(help_names_everything, clear_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
