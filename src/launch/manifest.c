/* SPDX-License-Identifier: BSD-3-Clause
 *
 * manifest.c - see manifest.h.
 */
#include "launch/manifest.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/settings.h"
#include "launch/json.h"

#define SUM "xxh3"

static void put_hex(cJSON *to, const char *key, uint64_t v)
{
    char text[24];
    snprintf(text, sizeof text, "%016" PRIx64, v);
    cJSON_AddStringToObject(to, key, text);
}

static void put_text(cJSON *to, const char *key, const char *text)
{
    if (text)
        ft_json_text(to, key, text);
}

static void put_settings(cJSON *to)
{
    cJSON *all = cJSON_AddObjectToObject(to, "settings");
    for (int i = 0; i < FT_SET_COUNT; i++)
        if (strncmp(ft_settings_table[i].doc, "internal", 8) != 0 &&
            getenv(ft_settings_table[i].env))
            put_text(all, ft_settings_table[i].env, getenv(ft_settings_table[i].env));
}

static void put_ranks(cJSON *to, const struct ft_manifest *m)
{
    cJSON *all = cJSON_AddArrayToObject(to, "files");
    char text[40];
    for (int r = 0; r < m->nranks; r++) {
        cJSON *one = cJSON_CreateObject();
        cJSON_AddItemToArray(all, one);
        snprintf(text, sizeof text, "rank.%d", r);
        put_text(one, "name", text);
        cJSON_AddNumberToObject(one, "image_bytes", (double)m->rank[r].bytes);
        snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, m->rank[r].sum[1],
                 m->rank[r].sum[0]);
        put_text(one, "image_xxh3", text);
        cJSON_AddNumberToObject(one, "stdout", (double)m->rank[r].printed[0]);
        cJSON_AddNumberToObject(one, "stderr", (double)m->rank[r].printed[1]);
    }
}

static cJSON *add_list(cJSON *to, const char *key)
{
    cJSON *list = cJSON_CreateArray();
    cJSON_AddItemToObject(to, key, list);
    return list;
}

static void put_groups(cJSON *to, const struct ft_groups *g)
{
    cJSON *all = add_list(to, "groups");
    for (int k = 0; k < g->ngroups; k++) {
        cJSON *one = cJSON_CreateObject(), *ranks = add_list(one, "ranks"),
              *checksums = add_list(one, "checksums");
        cJSON_AddItemToArray(all, one);
        for (int i = 0; i < ft_group_size(g, k); i++)
            cJSON_AddItemToArray(ranks, cJSON_CreateNumber(ft_group_member(g, k, i)));
        for (int i = 0; i < g->parity; i++)
            cJSON_AddItemToArray(checksums, cJSON_CreateNumber(ft_group_checksum(g, k, i)));
    }
}

/* Of all members but the checksum. */
static uint64_t sum_of(const cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json);
    uint64_t sum = text ? XXH3_64bits(text, strlen(text)) : 0;
    cJSON_free(text);
    return sum;
}

char *ft_manifest_print(const struct ft_manifest *m)
{
    cJSON *json = cJSON_CreateObject();
    cJSON_AddNumberToObject(json, "format", FT_MANIFEST_FORMAT);
    put_hex(json, "job", m->job);
    cJSON_AddNumberToObject(json, "checkpoint", (double)m->version);
    cJSON_AddNumberToObject(json, "ranks", m->nranks);
    cJSON_AddNumberToObject(json, "checksums", m->nchecksums);
    cJSON_AddNumberToObject(json, "parity", m->parity);
    cJSON_AddNumberToObject(json, "spares", m->nspares);
    if (m->groups)
        put_groups(json, m->groups);
    cJSON_AddNumberToObject(json, "wtime", m->wtime);
    put_text(json, "program", m->program);
    put_text(json, "program_id", m->program_id);
    put_text(json, "library_id", m->library_id);
    put_text(json, "processor", m->processor);
    cJSON *args = cJSON_AddArrayToObject(json, "arguments");
    for (char **a = m->arguments; a && *a; a++)
        cJSON_AddItemToArray(args, ft_json_string(*a));
    put_settings(json);
    put_ranks(json, m);
    put_hex(json, SUM, sum_of(json));
    char *text = cJSON_Print(json);
    cJSON_Delete(json);
    return text;
}

static double number(const cJSON *json, const char *key)
{
    const cJSON *v = cJSON_GetObjectItemCaseSensitive(json, key);
    return cJSON_IsNumber(v) ? v->valuedouble : -1;
}

static uint64_t hex(const cJSON *json, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
    return text ? strtoull(text, NULL, 16) : 0;
}

static char *text_of(const cJSON *json, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
    return text ? strdup(text) : NULL;
}

static int take_rank(const cJSON *one, struct ft_manifest_rank *r)
{
    const char *sum = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(one, "image_xxh3"));
    char high[17] = "";
    double bytes = number(one, "image_bytes"), out = number(one, "stdout"),
           err = number(one, "stderr");
    if (!sum || strlen(sum) != 32 || bytes < 0 || out < 0 || err < 0)
        return 0;
    memcpy(high, sum, 16);
    *r = (struct ft_manifest_rank){.bytes = (uint64_t)bytes,
                                   .sum = {strtoull(sum + 16, NULL, 16), strtoull(high, NULL, 16)},
                                   .printed = {(uint64_t)out, (uint64_t)err}};
    return 1;
}

static int take_all(const cJSON *json, struct ft_manifest *m)
{
    const cJSON *files = cJSON_GetObjectItemCaseSensitive(json, "files"), *one;
    double version = number(json, "checkpoint"), n = number(json, "ranks");
    int r = 0;
    if (version < 1 || n < 1 || n > FT_MAX_SLOTS || cJSON_GetArraySize(files) != (int)n)
        return 0;
    m->job = hex(json, "job");
    m->version = (uint64_t)version;
    m->nranks = (int)n;
    m->nchecksums = (int)number(json, "checksums");
    m->parity = (int)number(json, "parity");
    m->nspares = (int)number(json, "spares");
    m->wtime = number(json, "wtime");
    m->program = text_of(json, "program");
    m->program_id = text_of(json, "program_id");
    m->library_id = text_of(json, "library_id");
    m->processor = text_of(json, "processor");
    m->rank = calloc((size_t)m->nranks, sizeof *m->rank);
    int good = m->rank && m->wtime >= 0;
    cJSON_ArrayForEach(one, files) good = good && take_rank(one, &m->rank[r++]);
    return good;
}

enum ft_status ft_manifest_parse(const char *text, struct ft_manifest *m, char *why, size_t size)
{
    enum ft_status st = FT_ERR_ARG;
    *m = (struct ft_manifest){0};
    cJSON *json = cJSON_Parse(text);
    uint64_t sum = hex(json, SUM);
    cJSON_DeleteItemFromObjectCaseSensitive(json, SUM);
    if (!json || !cJSON_IsObject(json) || sum != sum_of(json))
        snprintf(why, size, "its manifest is damaged");
    else if (number(json, "format") != FT_MANIFEST_FORMAT)
        snprintf(why, size, "its format is %g, and this ftrun reads format %d",
                 number(json, "format"), FT_MANIFEST_FORMAT);
    else if (!take_all(json, m))
        snprintf(why, size, "its manifest misses something");
    else
        st = FT_OK;
    cJSON_Delete(json);
    if (st != FT_OK)
        ft_manifest_finish(m);
    return st;
}

void ft_manifest_finish(struct ft_manifest *m)
{
    free(m->program);
    free(m->program_id);
    free(m->library_id);
    free(m->processor);
    free(m->rank);
    *m = (struct ft_manifest){0};
}
