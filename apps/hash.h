/* SPDX-License-Identifier: BSD-3-Clause
 *
 * hash.h - one number for all bits of a program's data: what `result:` prints.
 */
#ifndef APPS_HASH_H
#define APPS_HASH_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static const uint64_t HASH_START = 0xcbf29ce484222325u;

/* In the manner of FNV-1a, a word at a time; the shift lets high bits reach low ones. */
static inline uint64_t hash(uint64_t h, const void *data, size_t bytes)
{
    assert(bytes % sizeof(uint64_t) == 0);
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, (const char *)data + at, sizeof word);
        h = (h ^ word) * 0x100000001b3u;
        h ^= h >> 32;
    }
    return h;
}

#endif
