/* SPDX-License-Identifier: BSD-3-Clause
 *
 * maps.h - the mappings of this process, from the kernel's list; and the program's static data,
 * from its object files. For the check of the program's memory (memcheck.c). Main only. Nothing
 * here allocates from the program's heap.
 */
#ifndef FT_RUNTIME_MAPS_H
#define FT_RUNTIME_MAPS_H

#include "base/private.h"
#include "image/memory.h"

/* An array in memory of our own that grows. */
#define FT_LIST(type)  \
    struct {           \
        type *v;       \
        size_t n, cap; \
    }
/* Makes room for one more. Returns 0 if there is no memory. */
#define FT_LIST_ROOM(l)   \
    ((l)->n < (l)->cap || \
     ((l)->v = ft_list_grow((l)->v, &(l)->cap, (l)->n, sizeof *(l)->v), (l)->n < (l)->cap))
#define FT_LIST_FREE(l) \
    (ft_private_free((l)->v, (l)->cap * sizeof *(l)->v), (l)->v = NULL, (l)->n = (l)->cap = 0)
/* Returns the new address; the old one if there is no memory, and *cap is unchanged. */
void *ft_list_grow(void *v, size_t *cap, size_t n, size_t one);
typedef FT_LIST(struct ft_span) ft_span_list;
int ft_span_add(ft_span_list *l, uint64_t from, uint64_t to); /* 0: no memory */

struct ft_map {
    uint64_t from, to;
    char rights[5];   /* "rw-p" */
    const char *path; /* "" without one */
};
/* Calls `each` for each line of /proc/self/maps, in order of addresses. Returns 0 if it cannot be
 * read. */
int ft_maps_each(void (*each)(void *arg, const struct ft_map *m), void *arg);

/* ---- elfsyms.c ---- */

#define FT_ELF_FILES 64
struct ft_elf_file {
    const char *path;
    uint64_t bias;
    const char *text; /* the mapped file */
    size_t bytes;
};
struct ft_elf {
    ft_span_list loaded; /* where all object files lie */
    struct ft_elf_file file[FT_ELF_FILES];
    int n;
    char program[512]; /* its path */
    int fortran;       /* GNU Fortran's runtime is loaded */
};
/* Finds out what is loaded: where it lies, and which files are the program and its own
 * libraries. */
void ft_elf_open(struct ft_elf *e);
/* Calls `each` for their writable static data; name NULL if there are no symbols. Names live as
 * long as e. `each` returns 0 to stop. */
void ft_elf_statics(struct ft_elf *e,
                    int (*each)(void *arg, uint64_t addr, uint64_t bytes, const char *name,
                                const char *source),
                    void *arg);
void ft_elf_close(struct ft_elf *e);

#endif
