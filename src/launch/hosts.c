/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hosts.c - see hosts.h.
 */
#define _GNU_SOURCE 1
#include "launch/hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "launch/options_given.h"

#define NAME_SET 4096 /* characters of all names of a file, at most */

static enum ft_status by_option(struct ft_options *o, char *err, int errlen)
{
    static char *names; /* the options point into it; those of another command line are over */
    char *save = NULL;
    free(names);
    names = strdup(o->hosts);
    FT_ASSERT(names);
    for (char *h = strtok_r(names, ",", &save); h; h = strtok_r(NULL, ",", &save)) {
        for (int i = 0; i < o->nhosts; i++)
            if (strcmp(o->host[i], h) == 0)
                return BAD("--host %s: %s is named twice", o->hosts, h);
        if (strchr(h, ':'))
            return BAD("--host %s: name hosts without ':N'; ftrun spreads ranks evenly", o->hosts);
        if (strlen(h) >= FT_HOST_NAME)
            return BAD("--host: '%.40s...' has %d characters, and a host's name has %d at most: "
                       "name the host by its address",
                       h, (int)strlen(h), FT_HOST_NAME - 1);
        if (o->nhosts == FT_NODES)
            return BAD("--host: a job has at most %d nodes", FT_NODES);
        o->host[o->nhosts++] = h;
    }
    if (o->nhosts == 0)
        return BAD("--host %s: names no host", o->hosts);
    if (o->nhosts == 1) { /* "a,": mpirun's */
        o->hosts = o->host[0];
        o->nhosts = 0;
    }
    return FT_OK;
}

struct found {
    int n, line;
    int64_t slots[FT_NODES];
};

/* The slots that the words after a name give it; -1: there is a word that is not understood. */
static int64_t slots_of(char *words)
{
    char *save = NULL;
    int64_t n = 1, v;
    for (char *w = strtok_r(words, " \t\r\n", &save); w; w = strtok_r(NULL, " \t\r\n", &save)) {
        char *eq = strchr(w, '=');
        if (!eq || ft_parse_i64(eq + 1, &v) != FT_OK || v < 1)
            return -1;
        *eq = '\0';
        if (strcmp(w, "slots") == 0)
            n = v;
        else if (strcmp(w, "max_slots") != 0 && strcmp(w, "max-slots") != 0)
            return -1;
    }
    return n;
}

static enum ft_status take_line(struct ft_options *o, struct found *f, char *line, char *err,
                                int errlen)
{
    static char names[FT_NODES][FT_HOST_NAME]; /* the options point into it */
    int64_t slots = 1;
    int k = 0;
    line[strcspn(line, "#\n")] = '\0';
    char *name = line + strspn(line, " \t\r"), *rest = name + strcspn(name, " \t\r");
    if (!*name)
        return FT_OK;
    if (*rest)
        *rest++ = '\0';
    char *colon = strchr(name, ':');
    if (colon)
        *colon = '\0';
    if (colon && (ft_parse_i64(colon + 1, &slots) != FT_OK || slots < 1))
        return BAD("--hostfile %s, line %d: '%s' is no number of slots", o->hostfile, f->line,
                   colon + 1);
    int64_t more = slots_of(rest);
    if (strlen(name) >= sizeof names[0])
        return BAD("--hostfile %s, line %d: '%.40s...' has %d characters, and a host's name has "
                   "%d at most: name the host by its address",
                   o->hostfile, f->line, name, (int)strlen(name), FT_HOST_NAME - 1);
    if (more < 0 || !*name)
        return BAD("--hostfile %s, line %d: must be a host's name, and no more than slots=N and "
                   "max_slots=N after it",
                   o->hostfile, f->line);
    slots = slots > more ? slots : more;
    while (k < f->n && strcmp(names[k], name) != 0)
        k++;
    if (k == FT_NODES)
        return BAD("--hostfile %s: a job has at most %d nodes", o->hostfile, FT_NODES);
    if (k == f->n) {
        snprintf(names[k], sizeof names[k], "%s", name);
        f->slots[k] = 0;
        o->host[f->n++] = names[k];
    }
    f->slots[k] += slots;
    return FT_OK;
}

static enum ft_status by_file(struct ft_options *o, char *err, int errlen)
{
    struct found f = {0};
    char line[NAME_SET];
    enum ft_status st = FT_OK;
    FILE *from = fopen(o->hostfile, "re");
    if (!from)
        return BAD("--hostfile %s: cannot be read: %s", o->hostfile, strerror(errno));
    while (st == FT_OK && fgets(line, sizeof line, from)) {
        f.line++;
        st = take_line(o, &f, line, err, errlen);
    }
    fclose(from);
    if (st != FT_OK)
        return st;
    if (f.n == 0)
        return BAD("--hostfile %s: names no host", o->hostfile);
    for (int i = 1; i < f.n; i++)
        if (f.slots[i] != f.slots[0])
            return BAD("--hostfile %s: %s has %d slots and %s has %d; ftrun spreads processes over "
                       "several hosts evenly: leave the slots out",
                       o->hostfile, o->host[0], (int)f.slots[0], o->host[i], (int)f.slots[i]);
    o->nhosts = f.n > 1 ? f.n : 0; /* one: mpirun's */
    return FT_OK;
}

enum ft_status ft_hosts_find(struct ft_options *o, char *err, int errlen)
{
    int several = o->hosts && strchr(o->hosts, ',');
    if (several && o->hostfile)
        return BAD("--host %s and --hostfile %s: name the hosts by one of them", o->hosts,
                   o->hostfile);
    if (several)
        return by_option(o, err, errlen);
    return o->hostfile && !o->hosts ? by_file(o, err, errlen) : FT_OK;
}
