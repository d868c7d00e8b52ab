/* SPDX-License-Identifier: BSD-3-Clause
 *
 * replay_agent.c - reads a record, feeds its events to a process, and answers for main.
 *
 * As long as the process here gives the same commands at the same events as the recorded one, main
 * answers as it did. Once they are apart, as another version of the machine may give a command
 * earlier, numbers of commands differ, also where room is made at another time (RESERVE). From then
 * on the recorded answer to the k-th of the other commands is given to the k-th of those here, and
 * RESERVE is answered at once. Records that are not exact do not have what the process's own clock
 * did, apart from checkpoints that are due or late: that happens here as soon as the time has come.
 */
#include "replay_agent.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recover/action_text.h"
#include "recover/mail_words.h"
#include "sim.h"

#define COMMANDS 4096

struct record_file {
    int n;
    char **line;
};

struct agent_replay {
    struct record_file f;
    struct ft_process_cfg cfg;
    struct ft_groups groups;
    int slots[FT_MAX_SLOTS], group_of[FT_MAX_SLOTS];
    /* of a job that knew its failure domains */
    struct ft_where where;
    struct ft_domains domains;
    int node_of[FT_MAX_SLOTS], place_of[FT_MAX_SLOTS];
    struct ft_process *p;
    struct ft_process_actions out;
    struct sim_compared compared;
    struct ft_main heard;
    uint64_t now, dues;                           /* dues: that the clock here was ahead by */
    int exact;                                    /* the record has all that the clock did */
    int event, nevents;                           /* the line that is being fed */
    uint64_t recorded[COMMANDS], given[COMMANDS]; /* numbers of commands but RESERVE */
    struct ft_answer answer[COMMANDS];
    int nrecorded, ngiven, nanswered;
    /* All commands, with RESERVE: how many there were, and a hash of their kinds and events. */
    struct all_commands {
        uint64_t n, hash;
    } all[2]; /* by SIM_RECORDED, SIM_AGAIN */
};

/* --- the file --- */

static int read_file(const char *path, struct record_file *f)
{
    FILE *in = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    int cap = 0;
    *f = (struct record_file){0};
    if (!in) {
        perror(path);
        return 0;
    }
    while ((n = getline(&line, &room, in)) > 0) {
        if (line[n - 1] == '\n')
            line[n - 1] = '\0';
        if (f->n == cap) {
            cap = cap ? 2 * cap : 256;
            f->line = realloc(f->line, (size_t)cap * sizeof *f->line);
        }
        if (!f->line || !(f->line[f->n++] = strdup(line))) {
            fprintf(stderr, "ftrma-sim: no memory\n");
            exit(3);
        }
    }
    free(line);
    fclose(in);
    return 1;
}

static void free_file(struct record_file *f)
{
    for (int i = 0; i < f->n; i++)
        free(f->line[i]);
    free(f->line);
}

/* "E NS text" or "A NS text": the letter; 0: neither. */
static char read_line(const char *line, uint64_t *ns, const char **text)
{
    char letter, space;
    int used = 0;
    if (sscanf(line, "%c %" SCNu64 "%c%n", &letter, ns, &space, &used) != 3 || !used ||
        (letter != 'E' && letter != 'A'))
        return 0;
    *text = line + used;
    return letter;
}

static int read_words(const char *text, uint64_t *w, int most)
{
    int n = 0;
    text = strstr(text, " =");
    for (text = text ? text + 2 : ""; *text && n < most;) {
        char *end;
        w[n++] = strtoull(text, &end, 16);
        if (end == text)
            return n - 1;
        text = end;
    }
    return n;
}

/* A list "0,2,3"; 0: there is none. */
static int read_list(const char *text, int *out, int n)
{
    for (int i = 0; i < n; i++) {
        char *end;
        out[i] = (int)strtol(text, &end, 10);
        if (end == text)
            return 0;
        text = *end == ',' ? end + 1 : end;
    }
    return 1;
}

/* --- the beginning --- */

static int bad_record(const struct agent_replay *r, const char *why)
{
    fprintf(stderr, "ftrma-sim: line %d: %s\n", r->event + 1, why);
    return 0;
}

static void *need(size_t bytes)
{
    void *p = calloc(1, bytes);
    if (!p) {
        fprintf(stderr, "ftrma-sim: no memory\n");
        exit(3);
    }
    return p;
}

/* The k-th level, in the line that is due. */
static int read_level(struct agent_replay *r, const char *text, int k)
{
    struct ft_domain_level *l = &r->domains.level[k];
    int used = 0;
    if (sscanf(text, "LEVEL %63s %d %n", l->name, &l->count, &used) != 2 || !used || l->count < 1 ||
        l->count > FT_MAX_SLOTS)
        return bad_record(r, "this is no level of failure domains");
    int *parent = need((size_t)l->count * sizeof *parent);
    if (read_list(text + used, parent, l->count))
        l->parent = parent;
    else
        free(parent);
    if (!l->parent != (k == r->domains.nlevels))
        return bad_record(r, "this is not all of a level");
    return 1;
}

/* The lines that follow the first one. */
static int read_where(struct agent_replay *r)
{
    static char nodes[6 * FT_MAX_SLOTS + 1], places[6 * FT_MAX_SLOTS + 1];
    struct ft_process_cfg *c = &r->cfg;
    struct ft_where *w = &r->where;
    const char *text = "";
    uint64_t ns;
    char fmt[100];
    int positions = c->nranks + c->nchecksums;
    snprintf(fmt, sizeof fmt,
             "WHERE parity %%d aware %%d holds %%d levels %%d nodes %%%ds groups %%%ds",
             6 * FT_MAX_SLOTS, 6 * FT_MAX_SLOTS);
    r->event = 1;
    if (r->f.n < 2 || read_line(r->f.line[1], &ns, &text) != 'E' ||
        sscanf(text, fmt, &w->parity, &w->aware, &w->holds, &r->domains.nlevels, nodes, places) !=
            6 ||
        r->domains.nlevels < 1 || r->domains.nlevels > FT_DOMAIN_LEVELS ||
        !read_list(nodes, r->node_of, c->nslots) || !read_list(places, r->place_of, positions))
        return bad_record(r, "the job knew where its processes were, which this record does not "
                             "say");
    for (int k = 1; k <= r->domains.nlevels; k++) {
        r->event = 1 + k;
        if (r->event >= r->f.n || read_line(r->f.line[r->event], &ns, &text) != 'E' ||
            !read_level(r, text, k))
            return bad_record(r, "a level of failure domains is missing");
    }
    w->domains = &r->domains;
    w->node_of = r->node_of;
    w->group_of = r->place_of;
    w->scratch = need(ft_place_spares_scratch(&r->domains, positions, c->nslots - positions) *
                      sizeof *w->scratch);
    c->where = w;
    r->event = 0;
    return 1;
}

static int read_cfg(struct agent_replay *r, const char *text)
{
    struct ft_process_cfg *c = &r->cfg;
    struct ft_carrier_cfg *k = &c->carrier;
    int domains, used = 0;
    char slots[6 * FT_MAX_SLOTS + 1], groups[6 * FT_MAX_SLOTS + 1], why[200], fmt[400];
    snprintf(fmt, sizeof fmt,
             "BEGIN slot %%d of %%d ranks %%d checksums %%d parity %%d logs %%d snapshot %%d "
             "demand %%d stream %%d restart %%d checkpoints %%d every %%d mtbf %%lf silence %%d "
             "local %%d why_not %%d domains %%d slots %%%ds groups %%%ds%%n",
             6 * FT_MAX_SLOTS, 6 * FT_MAX_SLOTS);
    sscanf(text, fmt, &c->self, &c->nslots, &c->nranks, &c->nchecksums, &k->parity, &k->logs,
           &k->snapshot, &k->demand, &k->stream, &k->restart, &k->checkpoints, &k->every, &k->mtbf,
           &c->silence, &c->local, &c->why_not, &domains, slots, groups, &used);
    if (!used)
        return bad_record(r, "no record begins like this");
    r->exact = !strcmp(text + used, " exact");
    if (c->nslots < 1 || c->nslots > FT_MAX_SLOTS || c->nranks < 1 || c->nchecksums < 0 ||
        c->nranks + c->nchecksums > c->nslots || c->self < 0 || c->self >= c->nslots)
        return bad_record(r, "there is no such job");
    if ((k->demand || k->snapshot) && !r->exact)
        return bad_record(r, "of a job with demand checkpoints or snapshots the record does not "
                             "yet say all that was looked at (run it with --demand off and "
                             "FTRMA_SNAPSHOT=barrier)");
    k->nranks = c->nranks;
    k->told = c->why_not == FT_FALLBACK_PROGRAM;
    if (read_list(slots, r->slots, c->nranks + c->nchecksums))
        c->slot_of = r->slots;
    int grouped = read_list(groups, r->group_of, c->nranks);
    if (c->nchecksums) {
        if (ft_groups_init(&r->groups, c->nranks, c->nchecksums, k->parity,
                           grouped ? r->group_of : NULL, why, sizeof why) != FT_OK)
            return bad_record(r, why);
        c->groups = &r->groups;
    }
    for (int i = 0; i < c->nslots; i++)
        ft_bit_set(&c->neighbours, i);
    return !domains || read_where(r);
}

/* --- steps --- */

static void note_command(struct agent_replay *r, int list, const char *name)
{
    struct all_commands *all = &r->all[list];
    all->n++;
    all->hash = (all->hash ^ (uint64_t)r->event) * 0x100000001b3ull;
    for (; *name; name++)
        all->hash = (all->hash ^ (uint64_t)*name) * 0x100000001b3ull;
}

/* To be looked at when all actions of an event are known. */
static int is_apart(struct agent_replay *r)
{
    const struct all_commands *was = &r->all[SIM_RECORDED], *is = &r->all[SIM_AGAIN];
    r->compared.apart |= !r->exact || was->n != is->n || was->hash != is->hash;
    return r->compared.apart;
}

/* What the shell sends of its own: it has looked up what it says, which the machine does not know.
 */
static void take_mails_of_shell(struct agent_replay *r, const struct ft_action *a)
{
    char text[100];
    int pos = r->p->carrier.pos;
    if (a->kind == FT_DO_SAY_LEFT) {
        snprintf(text, sizeof text, "MAIL %d LEFT %d 0", a->to, (int)a->value);
        sim_compared_add(&r->compared, SIM_AGAIN, text, r->event);
    }
    int group = a->kind == FT_DO_SAY_TAGS ? ft_group_of_position(&r->groups, pos) : -1;
    for (int i = 0; group >= 0 && i < ft_group_size(&r->groups, group); i++) {
        int rank = ft_group_member(&r->groups, group, i);
        snprintf(text, sizeof text, "MAIL %d DEMAND %u %u %d %u 0",
                 ft_process_map(r->p, &r->cfg).slot_of[rank], a->demand.kind, a->demand.generation,
                 rank, a->demand.ch);
        sim_compared_add(&r->compared, SIM_AGAIN, text, r->event);
    }
}

static void take_text(struct agent_replay *r, int i)
{
    char text[FT_ACTION_TEXT];
    if (ft_action_text(&r->out, i, r->cfg.nslots, text, sizeof text))
        sim_compared_add(&r->compared, SIM_AGAIN, text, r->event);
}

/* The shell sends this mail to each rank that lives, and a record has each. */
static void take_mails_to_ranks(struct agent_replay *r, int i)
{
    struct ft_mapping m = ft_process_map(r->p, &r->cfg);
    for (int rank = 0; rank < r->cfg.nranks; rank++) {
        r->out.act.a[i].to = m.slot_of[rank];
        if (m.slot_of[rank] != r->cfg.self)
            take_text(r, i);
    }
    r->out.act.a[i].to = FT_TO_RANKS;
}

static void take_actions(struct agent_replay *r)
{
    for (int i = 0; i < r->out.act.n; i++) {
        const struct ft_action *a = &r->out.act.a[i];
        if (a->kind == FT_DO_MAIL && a->to == FT_TO_RANKS)
            take_mails_to_ranks(r, i);
        else
            take_text(r, i);
        take_mails_of_shell(r, a);
        if (a->kind == FT_DO_COMMAND)
            note_command(r, SIM_AGAIN, ft_command_name(a->command));
        if (a->kind == FT_DO_COMMAND && a->command != FT_CMD_RESERVE && r->ngiven < COMMANDS)
            r->given[r->ngiven++] = a->number;
    }
    ft_process_check(r->p, &r->cfg);
}

static void step(struct agent_replay *r, struct ft_process_event ev)
{
    r->now = ft_max_u64(r->now, ev.now);
    ev.now = r->now;
    ft_process_step(r->p, &r->cfg, &ev, &r->out);
    take_actions(r);
}

/* The number here of the last command that main has answered, whose answer goes into m. */
static void set_answer(struct agent_replay *r, struct ft_main *m)
{
    const struct ft_carrier *c = &r->p->carrier;
    int n = r->nanswered < r->ngiven ? r->nanswered : r->ngiven;
    m->answered = c->commands;
    m->answer = (struct ft_answer){0};
    if (c->cmd.kind == FT_CMD_NONE || c->cmd.kind == FT_CMD_RESERVE)
        return;
    if (n && r->given[n - 1] == c->cmd.number)
        m->answer = r->answer[n - 1];
    else
        m->answered--; /* not yet */
}

/* The commands are apart: main answers what the record has answered already, and RESERVE. */
static void answer(struct agent_replay *r)
{
    for (int i = 0; i < COMMANDS; i++) {
        const struct ft_carrier *c = &r->p->carrier;
        struct ft_main m = r->heard;
        if (r->p->agree.asking || r->p->lost || c->cmd.kind == FT_CMD_NONE ||
            c->state == FT_CS_GONE)
            return;
        set_answer(r, &m);
        if (m.answered < c->cmd.number)
            return;
        if (i + 1 == COMMANDS) {
            printf("differs: at line %d %s is given again and again\n", r->event + 1,
                   ft_command_name(c->cmd.kind));
            return;
        }
        m.asks = 0;
        step(r, (struct ft_process_event){.kind = FT_PE_MAIN, .now = r->now, .main = &m});
    }
}

/* The clock, but for checkpoints that are due or late. */
static void pass_time(struct agent_replay *r, uint64_t now)
{
    struct ft_due *d = &r->p->carrier.due;
    for (int i = 0; i < 100 && !r->exact && !r->p->agree.asking && !r->p->lost; i++) {
        struct ft_due was = *d;
        uint64_t next = d->next_ns;
        d->next_ns = d->target_ns = 0;
        uint64_t t = ft_process_expiry(r->p);
        *d = was;
        if (t > now)
            return;
        step(r, (struct ft_process_event){.kind = FT_PE_TIME, .now = t});
        r->dues += next && !d->next_ns;
        answer(r);
    }
}

/* --- events --- */

static enum ft_place place_of(const char *name)
{
    int p = 0;
    while (p < FT_PLACES && strcmp(ft_place_name((enum ft_place)p), name) != 0)
        p++;
    return (enum ft_place)p;
}

static int hear_main(struct agent_replay *r, const char *text)
{
    struct ft_main m = {0};
    struct ft_answer *a = &m.answer;
    char at[16];
    int n = sscanf(text,
                   "MAIN %" SCNu64 " %15s %" SCNu64 " %" SCNu64 " %" SCNu64 " | %u %u %" SCNu64
                   " %" SCNx64 " %" SCNu64 " | %u %d %u %u %" SCNx64 " %u %" SCNu64 " %u %u %u",
                   &m.moves, at, &m.reached, &m.passed, &m.answered, &a->moved, &a->reason,
                   &a->bytes, &a->version, &a->safepoint, &m.asks, &m.longest, &m.cannot,
                   &m.replaying, &m.taken, &m.taken_in, &m.hold, &m.over, &m.no_snapshot, &m.lost);
    m.place = place_of(at);
    if (n != 20 || m.place == FT_PLACES)
        return bad_record(r, "this is not what main says of itself");
    while (r->nanswered < r->nrecorded && r->recorded[r->nanswered] <= m.answered) {
        r->answer[r->nanswered] = *a;
        r->nanswered++;
    }
    if (r->compared.apart)
        set_answer(r, &m);
    r->heard = m;
    step(r, (struct ft_process_event){.kind = FT_PE_MAIN, .now = r->now, .main = &m});
    return 1;
}

static int hear_mail(struct agent_replay *r, const char *text)
{
    static struct ft_mail m;
    static uint64_t w[FT_MAIL_WORDS];
    int from, n = read_words(text, w, FT_MAIL_WORDS);
    if (sscanf(text, "MAIL %d", &from) != 1 || from < 0 || from >= r->cfg.nslots ||
        !ft_mail_from_words(&m, r->cfg.nslots, w, n))
        return bad_record(r, "this mail is not complete, or it has more testimonies than there is "
                             "room for here");
    step(r, (struct ft_process_event){.kind = FT_PE_MAIL, .now = r->now, .slot = from, .mail = &m});
    return 1;
}

static int witness(struct agent_replay *r, const char *text)
{
    static struct ft_agree_data d;
    static uint64_t w[FT_MAIL_WORDS];
    int n = read_words(text, w, FT_MAIL_WORDS);
    if (!ft_agree_data_from_words(&d, r->cfg.nslots, w, n))
        return bad_record(r, "what this process has to say of the dead is not complete");
    if (!r->p->agree.asking) {
        printf("differs: at line %d a vote was given, which none is now\n", r->event + 1);
        return 0;
    }
    step(r, (struct ft_process_event){.kind = FT_PE_WITNESSED, .now = r->now, .local = &d});
    return 1;
}

static int hear_clock(struct agent_replay *r, const char *text)
{
    if (!strcmp(text, "TIME")) { /* as it was fed */
        step(r, (struct ft_process_event){.kind = FT_PE_TIME, .now = r->now});
        return 1;
    }
    if (r->dues > 0) {
        r->dues--;
        return 1;
    }
    uint64_t t = ft_process_expiry(r->p);
    if (t == UINT64_MAX) {
        printf("differs: at line %d the clock has rung, which is not set now\n", r->event + 1);
        return 0;
    }
    step(r, (struct ft_process_event){.kind = FT_PE_TIME, .now = t});
    return 1;
}

static int see(struct agent_replay *r, const char *text)
{
    static const struct {
        const char *name;
        uint32_t look;
    } looks[] = {{"QUIET", FT_LOOK_QUIET}, {"STUCK", FT_LOOK_STUCK},
                 {"ROOM", FT_LOOK_ROOM},   {"LIVE", FT_LOOK_LIVE},
                 {"GROUP", FT_LOOK_GROUP}, {"UNTOUCHED", FT_LOOK_UNTOUCHED}};
    char name[16];
    uint64_t value;
    struct ft_process_event ev = {.kind = FT_PE_SEEN, .now = r->now};
    if (sscanf(text, "SEEN %15s %" SCNx64, name, &value) != 2)
        return bad_record(r, "this is nothing to be seen");
    for (size_t i = 0; i < FT_COUNTOF(looks); i++)
        if (!strcmp(looks[i].name, name))
            ev.look = looks[i].look;
    ev.value = value;
    if (!ev.look)
        return bad_record(r, "this is nothing that is looked at");
    step(r, ev);
    return 1;
}

static int hear(struct agent_replay *r, const char *text)
{
    int slot = 0, orderly = 0;
    char kind[16] = "";
    sscanf(text, "%15s %d %d", kind, &slot, &orderly);
    if (!strcmp(kind, "WHERE") || !strcmp(kind, "LEVEL"))
        return 1; /* was read at the beginning */
    if (!strcmp(kind, "ADOPTED") || !strcmp(kind, "ALIVE") || !strcmp(kind, "FAILED"))
        return 1; /* follows from what was heard before */
    r->nevents++;
    if (r->p->lost)
        return 1;
    if (r->p->agree.asking != !strcmp(kind, "WITNESSED") && r->p->agree.asking) {
        printf("differs: before line %d a vote is given, which none was\n", r->event + 1);
        return 0;
    }
    struct ft_bitset set = {{0}};
    struct ft_process_event ev = {.now = r->now, .slot = slot, .orderly = orderly, .set = &set};
    if (!strcmp(kind, "MAIN"))
        return hear_main(r, text);
    if (!strcmp(kind, "MAIL"))
        return hear_mail(r, text);
    if (!strcmp(kind, "WITNESSED"))
        return witness(r, text);
    if (!strcmp(kind, "TIME"))
        return hear_clock(r, text);
    if (!strcmp(kind, "SEEN"))
        return see(r, text);
    ev.kind = !strcmp(kind, "EXITED")     ? FT_PE_EXITED
              : !strcmp(kind, "TICK")     ? FT_PE_TICK
              : !strcmp(kind, "JOB_OVER") ? FT_PE_JOB_OVER
                                          : 0;
    if (!ev.kind || slot >= r->cfg.nslots)
        return bad_record(r, "there is no such event");
    if (slot >= 0)
        ft_bit_set(&set, slot);
    step(r, ev);
    return 1;
}

static void note_recorded(struct agent_replay *r, const char *text)
{
    char name[16];
    uint64_t number;
    sim_compared_add(&r->compared, SIM_RECORDED, text, r->event);
    if (sscanf(text, "COMMAND %15s %" SCNu64, name, &number) != 2)
        return;
    note_command(r, SIM_RECORDED, name);
    if (strcmp(name, "RESERVE") != 0 && r->nrecorded < COMMANDS)
        r->recorded[r->nrecorded++] = number;
}

static int feed(struct agent_replay *r)
{
    const char *text;
    uint64_t ns;
    for (int i = 1; i < r->f.n; i++) {
        char letter = read_line(r->f.line[i], &ns, &text);
        if (letter == 'A') {
            note_recorded(r, text);
            continue;
        }
        if (is_apart(r))
            answer(r);
        r->event = i;
        if (!letter)
            return bad_record(r, "a line of a record begins with E or A, and a time");
        pass_time(r, ns);
        r->now = ft_max_u64(r->now, ns);
        if (!hear(r, text))
            return 0;
        if (r->compared.apart)
            answer(r);
    }
    return 1;
}

int sim_agent_slots(const char *path)
{
    int slots = 0;
    uint64_t ns;
    FILE *in = fopen(path, "r");
    if (!in) {
        perror(path);
        return 0;
    }
    if (fscanf(in, "E %" SCNu64 " BEGIN slot %*d of %d", &ns, &slots) != 2)
        fprintf(stderr, "ftrma-sim: %s is not the record of a process\n", path);
    fclose(in);
    return slots;
}

int sim_agent_replay(const char *path)
{
    static struct agent_replay r;
    const char *text;
    int status = 2, differences = 0;
    if (!read_file(path, &r.f))
        return 2;
    r.compared.line = (const char *const *)r.f.line;
    r.compared.list[0].answers = r.compared.list[1].answers = -1;
    if (r.f.n > 0 && read_line(r.f.line[0], &r.now, &text) == 'E' && read_cfg(&r, text)) {
        r.p = calloc(1, ft_process_bytes(&r.cfg));
        if (!r.p) {
            fprintf(stderr, "ftrma-sim: no memory\n");
            exit(3);
        }
        ft_process_init(r.p, &r.cfg, r.now, &r.out);
        take_actions(&r);
        int fed = feed(&r);
        int n = r.compared.n;
        r.compared.last = r.event;
        differences = sim_compared_differences(&r.compared) + !fed;
        status = differences != 0;
        printf("%s: %d events, %d actions, %d differences\n", path, r.nevents, n, differences);
    }
    free(r.p);
    ft_groups_finish(&r.groups);
    ft_domains_finish(&r.domains);
    free(r.where.scratch);
    free_file(&r.f);
    return status;
}
