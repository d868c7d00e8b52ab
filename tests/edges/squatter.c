/* SPDX-License-Identifier: BSD-3-Clause
 *
 * squatter.c - another user of the machine, who takes every abstract socket name that a job could
 * want: each name of ftrma that /proc/net/unix shows, and similar names for the first 64 processes.
 * Prints the first names that it sees. Not an MPI program.
 *
 *   edges_squatter FILE     until FILE exists
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void take(const char *name)
{
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0),
        n = snprintf(sa.sun_path + 1, sizeof sa.sun_path - 1, "%s", name);
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
    if (fd < 0 || bind(fd, (struct sockaddr *)&sa, len) != 0)
        close(fd);
}

/* PREFIX-NUMBER: all of them. */
static void take_all(char *name)
{
    char other[120], *dash = strrchr(name, '-');
    static int said;
    if (said++ < 5)
        printf("seen: %s\n", name);
    take(name);
    for (int i = -1; dash && i < 64; i++) {
        snprintf(other, sizeof other, "%.*s-%d", (int)(dash - name), name, i);
        take(other);
    }
}

static void look(void)
{
    char line[512], name[120];
    FILE *f = fopen("/proc/net/unix", "r");
    while (f && fgets(line, sizeof line, f)) {
        char *at = strchr(line, '@');
        if (at && strstr(at, "ftrma") && sscanf(at, "@%100s", name) == 1)
            take_all(name);
    }
    if (f)
        fclose(f);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("looking\n");
    while (access(argv[1], F_OK) != 0)
        look();
    return 0;
}
