/* SPDX-License-Identifier: BSD-3-Clause
 *
 * json.h - what ftrun adds to cJSON: texts of any bytes, and times.
 */
#ifndef FT_LAUNCH_JSON_H
#define FT_LAUNCH_JSON_H

#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdio.h>

/* The text as UTF-8: a byte that belongs to no UTF-8 character becomes the four characters \xNN.
 * malloc'ed; never NULL. */
char *ft_utf8(const char *text);
/* cJSON_AddStringToObject and cJSON_CreateString of ft_utf8(text). */
void ft_json_text(cJSON *object, const char *key, const char *text);
cJSON *ft_json_string(const char *text);
/* Nanoseconds, added as microseconds with three decimals. */
void ft_json_us(cJSON *object, const char *key, uint64_t ns);
/* Microseconds from since to t (0 if t is earlier); null if t is 0, for what never happened. */
void ft_json_span(cJSON *object, const char *key, uint64_t since, uint64_t t);
void ft_json_flag(cJSON *object, const char *key, int value);
void ft_json_number(cJSON *object, const char *key, double value);
/* Adds ASCII text that lives as long as the object. */
void ft_json_literal(cJSON *object, const char *key, const char *text);
/* cJSON_AddArrayToObject; never NULL. */
cJSON *ft_json_array(cJSON *object, const char *key);
cJSON *ft_json_object(cJSON *array); /* a new object at the array's end */
/* Writes the value on one line, without a newline. */
void ft_json_print(const cJSON *value, FILE *f);

#endif
