/* SPDX-License-Identifier: BSD-3-Clause
 *
 * identity.c - see identity.h.
 */
#define _GNU_SOURCE 1 /* asprintf */
#include "launch/identity.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/base.h"

/* The GNU build id among the notes in [at, end); NULL: it is not there. */
static const unsigned char *find_note(const char *at, const char *end, size_t *len)
{
    while (end - at >= (ptrdiff_t)sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr h;
        memcpy(&h, at, sizeof h);
        size_t name = ft_align_up(h.n_namesz, 4), desc = ft_align_up(h.n_descsz, 4),
               left = (size_t)(end - at) - sizeof h;
        at += sizeof h;
        if (name > left || desc > left - name)
            return NULL;
        if (h.n_type == NT_GNU_BUILD_ID && h.n_namesz == 4 && memcmp(at, "GNU", 4) == 0) {
            *len = h.n_descsz;
            return (const unsigned char *)at + name;
        }
        at += name + desc;
    }
    return NULL;
}

static const unsigned char *build_id(const char *file, size_t bytes, size_t *len)
{
    Elf64_Ehdr e;
    Elf64_Phdr p;
    if (bytes < sizeof e || memcmp(file, ELFMAG, SELFMAG) != 0 || file[EI_CLASS] != ELFCLASS64)
        return NULL;
    memcpy(&e, file, sizeof e);
    for (size_t i = 0; i < e.e_phnum; i++) {
        if (e.e_phentsize < sizeof p || e.e_phoff > bytes ||
            (i + 1) * e.e_phentsize > bytes - e.e_phoff)
            return NULL;
        memcpy(&p, file + e.e_phoff + i * e.e_phentsize, sizeof p);
        const unsigned char *id = NULL;
        if (p.p_type == PT_NOTE && p.p_offset <= bytes && p.p_filesz <= bytes - p.p_offset)
            id = find_note(file + p.p_offset, file + p.p_offset + p.p_filesz, len);
        if (id)
            return id;
    }
    return NULL;
}

static char *identity(const char *file, size_t bytes)
{
    char text[160] = "build-id:";
    size_t len = 0, n = strlen(text);
    const unsigned char *id = build_id(file, bytes, &len);
    for (size_t i = 0; id && i < len && n + 3 < sizeof text; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%02x", id[i]);
    if (!id) {
        XXH128_hash_t h = XXH3_128bits(file, bytes);
        snprintf(text, sizeof text, "xxh3:%016" PRIx64 "%016" PRIx64, h.high64, h.low64);
    }
    return strdup(text);
}

char *ft_file_identity(const char *path)
{
    struct stat sb;
    char *out = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *p = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &sb) == 0 && sb.st_size > 0)
        p = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p != MAP_FAILED) {
        out = identity(p, (size_t)sb.st_size);
        munmap(p, (size_t)sb.st_size);
    }
    if (fd >= 0)
        close(fd);
    return out;
}

char *ft_processor_identity(void)
{
    struct utsname u;
    char *line = NULL, *out = NULL;
    size_t room = 0;
    FILE *f = fopen("/proc/cpuinfo", "re");
    const char *found = "";
    while (f && getline(&line, &room, f) > 0)
        if (strncmp(line, "flags", 5) == 0 || strncmp(line, "Features", 8) == 0) { /* x86; arm64 */
            char *colon = strchr(line, ':');
            line[strcspn(line, "\n")] = '\0';
            found = colon ? colon + 1 : "";
            break;
        }
    if (uname(&u) != 0 || asprintf(&out, "%s:%ld:%s", u.machine, sysconf(_SC_PAGESIZE), found) < 0)
        out = NULL;
    if (f)
        fclose(f);
    free(line);
    return ft_need(out, 1, "the processor's name");
}

const char *const ft_identity_name[FT_IDS] = {[FT_ID_PROGRAM] = "its program",
                                              [FT_ID_LIBRARY] = "its libftrma.so",
                                              [FT_ID_LIBC] = "its libc",
                                              [FT_ID_LIBM] = "its libm",
                                              [FT_ID_PROCESSOR] = "its processor"};

static char *of_file(const char *path)
{
    char *id = path ? ft_file_identity(path) : NULL;
    return id ? id : ft_need(strdup(""), 1, "the identity of a file");
}

/* Where the process has a library from; NULL: not known. dladdr does not tell: the address of a
 * function of libc may be the executable's own. */
static char *file_of_library(const char *name)
{
    struct link_map *map = NULL;
    void *lib = dlopen(name, RTLD_LAZY);
    char *path = lib && dlinfo(lib, RTLD_DI_LINKMAP, &map) == 0 && map ? strdup(map->l_name) : NULL;
    if (lib)
        dlclose(lib);
    return path;
}

void ft_identities(const char *program, const char *library, char *out[FT_IDS])
{
    char *libc = file_of_library("libc.so.6"), *libm = file_of_library("libm.so.6");
    out[FT_ID_PROGRAM] = of_file(program);
    out[FT_ID_LIBRARY] = of_file(library);
    out[FT_ID_LIBC] = of_file(libc);
    out[FT_ID_LIBM] = of_file(libm);
    out[FT_ID_PROCESSOR] = ft_processor_identity();
    free(libc);
    free(libm);
}
