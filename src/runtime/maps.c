/* SPDX-License-Identifier: BSD-3-Clause
 *
 * maps.c - lists in memory of our own, and the kernel's list of mappings: see maps.h.
 */
#include "runtime/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void *ft_list_grow(void *v, size_t *cap, size_t n, size_t one)
{
    size_t more = *cap ? 2 * *cap : 256;
    void *p = ft_private_alloc(more * one);
    if (!p)
        return v;
    if (n)
        memcpy(p, v, n * one);
    ft_private_free(v, *cap * one);
    *cap = more;
    return p;
}

int ft_span_add(ft_span_list *l, uint64_t from, uint64_t to)
{
    if (!FT_LIST_ROOM(l))
        return 0;
    l->v[l->n++] = (struct ft_span){from, to};
    return 1;
}

static const char *hex(const char *p, uint64_t *out)
{
    for (*out = 0;; p++) {
        if (*p >= '0' && *p <= '9')
            *out = *out << 4 | (uint64_t)(*p - '0');
        else if (*p >= 'a' && *p <= 'f')
            *out = *out << 4 | (uint64_t)(*p - 'a' + 10);
        else
            return p;
    }
}

/* "7f00-7f10 rw-p 00000000 00:01 1234   /path" */
static int parse(const char *p, struct ft_map *m)
{
    p = hex(p, &m->from);
    if (*p != '-')
        return 0;
    p = hex(p + 1, &m->to);
    if (*p != ' ' || strlen(p) < 6)
        return 0;
    memcpy(m->rights, p + 1, 4);
    m->rights[4] = '\0';
    for (int field = 0; field < 4 && p; field++)
        p = strchr(p + 1, ' ');
    if (!p)
        return 0;
    p += strspn(p, "0123456789 ");
    m->path = p;
    return 1;
}

int ft_maps_each(void (*each)(void *arg, const struct ft_map *m), void *arg)
{
    char text[8192];
    size_t len = 0;
    int passing = 0; /* the rest of a line that is too long */
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    for (;;) {
        ssize_t n = read(fd, text + len, sizeof text - 1 - len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        len += (size_t)n;
        text[len] = '\0';
        char *line = text, *end;
        while ((end = strchr(line, '\n'))) {
            struct ft_map m;
            *end = '\0';
            if (!passing && parse(line, &m))
                each(arg, &m);
            passing = 0;
            line = end + 1;
        }
        len -= (size_t)(line - text);
        memmove(text, line, len);
        if (len == sizeof text - 1) {
            struct ft_map m;
            text[len] = '\0';
            if (!passing && parse(text, &m))
                each(arg, &m);
            passing = 1;
            len = 0;
        }
    }
    close(fd);
    return 1;
}
