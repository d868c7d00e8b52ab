/* SPDX-License-Identifier: BSD-3-Clause
 *
 * json.c - see json.h. Without memory the process ends: these are called by ftrun after the job,
 * and by the writer of a set.
 */
#include "launch/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/base.h"

/* The length of the UTF-8 character that begins at s; 0: there is none. Overlong forms and
 * surrogates are not characters. */
static int utf8_length(const unsigned char *s)
{
    static const struct {
        unsigned char from, to, next_from, next_to;
        int length;
    } first[] = {
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t i = 0; i < FT_COUNTOF(first); i++) {
        if (s[0] < first[i].from || s[0] > first[i].to)
            continue;
        if (first[i].length > 1 && (s[1] < first[i].next_from || s[1] > first[i].next_to))
            return 0;
        for (int k = 2; k < first[i].length; k++)
            if (s[k] < 0x80 || s[k] > 0xbf)
                return 0;
        return first[i].length;
    }
    return 0;
}

char *ft_utf8(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t room = 4 * strlen(text) + 1, n = 0;
    char *out = ft_need(malloc(room), room, "a text of the report");
    while (*s) {
        int k = utf8_length(s);
        if (k == 0)
            n += (size_t)snprintf(out + n, room - n, "\\x%02x", *s++);
        for (; k > 0; k--)
            out[n++] = (char)*s++;
    }
    out[n] = '\0';
    return out;
}

static cJSON *need(cJSON *value) { return ft_need(value, sizeof *value, "the report"); }

cJSON *ft_json_string(const char *text)
{
    char *utf8 = ft_utf8(text);
    cJSON *value = need(cJSON_CreateString(utf8));
    free(utf8);
    return value;
}

void ft_json_text(cJSON *object, const char *key, const char *text)
{
    cJSON_AddItemToObject(object, key, ft_json_string(text));
}

void ft_json_number(cJSON *object, const char *key, double value)
{
    need(cJSON_AddNumberToObject(object, key, value));
}

void ft_json_flag(cJSON *object, const char *key, int value)
{
    need(cJSON_AddBoolToObject(object, key, value));
}

void ft_json_literal(cJSON *object, const char *key, const char *text)
{
    cJSON_AddItemToObject(object, key, need(cJSON_CreateStringReference(text)));
}

void ft_json_us(cJSON *object, const char *key, uint64_t ns)
{
    ft_json_number(object, key, (double)ns / 1000);
}

void ft_json_span(cJSON *object, const char *key, uint64_t since, uint64_t t)
{
    if (t)
        ft_json_us(object, key, t > since ? t - since : 0);
    else
        need(cJSON_AddNullToObject(object, key));
}

cJSON *ft_json_array(cJSON *object, const char *key)
{
    return need(cJSON_AddArrayToObject(object, key));
}

cJSON *ft_json_object(cJSON *array)
{
    cJSON *o = need(cJSON_CreateObject());
    cJSON_AddItemToArray(array, o);
    return o;
}

void ft_json_print(const cJSON *value, FILE *f)
{
    char *text = ft_need(cJSON_PrintUnformatted(value), 0, "the report");
    fputs(text, f);
    cJSON_free(text);
}
