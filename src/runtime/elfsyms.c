/* SPDX-License-Identifier: BSD-3-Clause
 *
 * elfsyms.c - finds the program's static data by the symbols of its object files: see maps.h.
 *
 * A library counts as the program's own unless it lies below a directory of the system or of the
 * host MPI, is a language's runtime, or is this one. Symbols are read from the files, which must be
 * those that were loaded: their program headers are compared with memory.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/maps.h"

#if defined(__aarch64__)
#define COPIED R_AARCH64_COPY
#else
#define COPIED R_X86_64_COPY
#endif

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int begins(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

static int is_host(const char *path)
{
    const char *f = file_of(path);
    return begins(f, "libmpi.so") || begins(f, "libopen-pal.so") || begins(f, "libpmix.so");
}

/* The directory of the host's libraries, with its plugins below; "" if there is none. */
struct looked {
    struct ft_elf *e;
    char host[512];
};

static int is_own(const struct looked *l, const char *path)
{
    static const char *const system[] = {"/lib/",       "/lib32/",     "/lib64/",      "/usr/lib/",
                                         "/usr/lib32/", "/usr/lib64/", "/usr/libexec/"};
    static const char *const runtime[] = {
        "ld-",      "libc.so",  "libc-",     "libm.so",   "libm-",         "libpthread",
        "libdl.so", "librt.so", "libstdc++", "libgcc_s",  "libgfortran",   "libquadmath",
        "libgomp",  "libomp",   "libiomp",   "libpython", "libc++",        "libunwind",
        "libasan",  "libtsan",  "libubsan",  "liblsan",   "libftrma_sites"};
    if (path[0] != '/' || (l->host[0] && begins(path, l->host)))
        return 0;
    for (size_t i = 0; i < FT_COUNTOF(system); i++)
        if (begins(path, system[i]))
            return 0;
    for (size_t i = 0; i < FT_COUNTOF(runtime); i++)
        if (begins(file_of(path), runtime[i]))
            return 0;
    return 1;
}

static int holds(const struct dl_phdr_info *d, uintptr_t at)
{
    for (int i = 0; i < d->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &d->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && at - (d->dlpi_addr + p->p_vaddr) < p->p_memsz)
            return 1;
    }
    return 0;
}

static int find_host(struct dl_phdr_info *d, size_t size, void *arg)
{
    struct looked *l = arg;
    (void)size;
    if (!is_host(d->dlpi_name))
        return 0;
    snprintf(l->host, sizeof l->host, "%.*s", (int)(file_of(d->dlpi_name) - d->dlpi_name),
             d->dlpi_name);
    return 1;
}

static const ElfW(Ehdr) * head_of(const struct ft_elf_file *f) { return (const void *)f->text; }

static const void *part(const struct ft_elf_file *f, uint64_t at, uint64_t bytes)
{
    return at <= f->bytes && bytes <= f->bytes - at && at % 8 == 0 ? f->text + at : NULL;
}

static void add_file(struct ft_elf *e, const struct dl_phdr_info *d, const char *path)
{
    struct stat sb;
    struct ft_elf_file f = {.path = path, .bias = d->dlpi_addr};
    int fd = e->n < FT_ELF_FILES ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    if (fstat(fd, &sb) == 0 && (size_t)sb.st_size > sizeof(ElfW(Ehdr))) {
        void *p = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        f.text = p == MAP_FAILED ? NULL : p;
        f.bytes = (size_t)sb.st_size;
    }
    close(fd);
    if (!f.text)
        return;
    const ElfW(Ehdr) *h = head_of(&f);
    const void *phdrs = memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 &&
                                h->e_ident[EI_CLASS] == ELFCLASS64 && h->e_phnum == d->dlpi_phnum
                            ? part(&f, h->e_phoff, (uint64_t)h->e_phnum * sizeof(ElfW(Phdr)))
                            : NULL;
    if (phdrs && memcmp(phdrs, d->dlpi_phdr, (size_t)h->e_phnum * sizeof(ElfW(Phdr))) == 0)
        e->file[e->n++] = f;
    else
        munmap((void *)(uintptr_t)f.text, f.bytes); /* the file was rebuilt while it runs */
}

static int add_object(struct dl_phdr_info *d, size_t size, void *arg)
{
    struct looked *l = arg;
    int program = d->dlpi_name[0] == '\0';
    (void)size;
    l->e->fortran |= begins(file_of(d->dlpi_name), "libgfortran.so");
    for (int i = 0; i < d->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &d->dlpi_phdr[i];
        uint64_t from = d->dlpi_addr + p->p_vaddr, page = ft_page_bytes();
        if (p->p_type == PT_LOAD)
            ft_span_add(&l->e->loaded, from & ~(page - 1), ft_align_up(from + p->p_memsz, page));
    }
    if (program ? l->e->program[0] == '\0' || l->e->n > 0
                : !is_own(l, d->dlpi_name) || holds(d, (uintptr_t)&ft_elf_open))
        return 0; /* the first one without a name is the program, others are the kernel's */
    add_file(l->e, d, program ? l->e->program : d->dlpi_name);
    return 0;
}

void ft_elf_open(struct ft_elf *e)
{
    struct looked l = {.e = e};
    ssize_t n = readlink("/proc/self/exe", e->program, sizeof e->program - 1);
    e->program[n > 0 ? n : 0] = '\0';
    dl_iterate_phdr(find_host, &l);
    dl_iterate_phdr(add_object, &l);
}

void ft_elf_close(struct ft_elf *e)
{
    for (int i = 0; i < e->n; i++)
        munmap((void *)(uintptr_t)e->file[i].text, e->file[i].bytes);
    e->n = 0;
    FT_LIST_FREE(&e->loaded);
}

/* ---- what is in a file ---- */

static const ElfW(Shdr) * sections(const struct ft_elf_file *f, size_t *n)
{
    const ElfW(Ehdr) *h = head_of(f);
    *n = h->e_shnum;
    const ElfW(Shdr) *s =
        h->e_shentsize == sizeof *s ? part(f, h->e_shoff, (uint64_t)h->e_shnum * sizeof *s) : NULL;
    return s;
}

/* Finds a section of this type: its contents, and how many entries of `one` bytes it has. */
static const void *table_of(const struct ft_elf_file *f, const ElfW(Shdr) * s, size_t one,
                            size_t *n)
{
    *n = s->sh_entsize == one ? s->sh_size / one : 0;
    return *n ? part(f, s->sh_offset, s->sh_size) : NULL;
}

/* Names end within the table. */
static const char *strings_of(const struct ft_elf_file *f, const ElfW(Shdr) * all, size_t n,
                              uint32_t i, size_t *bytes)
{
    if (i >= n || all[i].sh_offset > f->bytes || all[i].sh_size > f->bytes - all[i].sh_offset ||
        all[i].sh_size == 0)
        return NULL;
    const char *s = f->text + all[i].sh_offset;
    *bytes = all[i].sh_size;
    return s[all[i].sh_size - 1] == '\0' ? s : NULL;
}

static const ElfW(Shdr) * find(const ElfW(Shdr) * s, size_t n, uint32_t type)
{
    for (size_t i = 0; i < n; i++)
        if (s[i].sh_type == type)
            return &s[i];
    return NULL;
}

/* Data that a program can write, and that is neither the linker's own nor thread-local. */
static int is_data(const ElfW(Shdr) * s, const char *name)
{
    static const char *const others[] = {
        ".got",   ".dynamic", ".data.rel.ro",    ".init_array", ".fini_array", ".preinit_array",
        ".ctors", ".dtors",   ".tm_clone_table", ".jcr",        "__llvm"};
    uint64_t want = SHF_ALLOC | SHF_WRITE;
    if ((s->sh_type != SHT_PROGBITS && s->sh_type != SHT_NOBITS) ||
        (s->sh_flags & (want | SHF_TLS)) != want)
        return 0;
    for (size_t i = 0; i < FT_COUNTOF(others); i++)
        if (begins(name, others[i]))
            return 0;
    return 1;
}

/* Whether one of the program's own libraries defines that variable; then its copy in the program is
 * the program's. */
static int own_library_has(const struct ft_elf *e, const char *name)
{
    for (int i = 1; i < e->n; i++) {
        size_t n, nsyms, len;
        const ElfW(Shdr) *all = sections(&e->file[i], &n),
                         *s = all ? find(all, n, SHT_DYNSYM) : NULL;
        const ElfW(Sym) *sym = s ? table_of(&e->file[i], s, sizeof *sym, &nsyms) : NULL;
        const char *text = sym ? strings_of(&e->file[i], all, n, s->sh_link, &len) : NULL;
        for (size_t k = 0; text && k < nsyms; k++)
            if (sym[k].st_shndx != SHN_UNDEF && sym[k].st_name < len &&
                strcmp(text + sym[k].st_name, name) == 0)
                return 1;
    }
    return 0;
}

/* Variables of shared libraries that were copied into the program (stdout, environ) and are not its
 * own. */
static void find_copies(const struct ft_elf *e, const struct ft_elf_file *f, ft_span_list *out)
{
    size_t n, nrela, nsyms, len;
    const ElfW(Shdr) *all = sections(f, &n), *s = all ? find(all, n, SHT_DYNSYM) : NULL;
    const ElfW(Sym) *sym = s ? table_of(f, s, sizeof *sym, &nsyms) : NULL;
    const char *text = sym ? strings_of(f, all, n, s->sh_link, &len) : NULL;
    for (size_t i = 0; text && i < n; i++) {
        const ElfW(Rela) *r =
            all[i].sh_type == SHT_RELA ? table_of(f, &all[i], sizeof *r, &nrela) : NULL;
        for (size_t k = 0; r && k < nrela; k++) {
            size_t which = ELF64_R_SYM(r[k].r_info);
            if (ELF64_R_TYPE(r[k].r_info) != COPIED || which >= nsyms || sym[which].st_name >= len)
                continue;
            if (!own_library_has(e, text + sym[which].st_name))
                ft_span_add(out, f->bias + r[k].r_offset,
                            f->bias + r[k].r_offset + sym[which].st_size);
        }
    }
    out->n = ft_spans_join(out->v, out->n);
}

struct taker {
    int (*each)(void *arg, uint64_t addr, uint64_t bytes, const char *name, const char *source);
    void *arg;
    /* addresses not to be handed out; for a file without all its symbols also those handed out
     * already */
    ft_span_list copies;
    int partial;
};

/* The variables of a file that has its symbols. Local ones come after the name of their source; of
 * the others the source is not known. */
static void take_symbols(const struct ft_elf_file *f, struct taker *t, const ElfW(Shdr) * all,
                         size_t n, const ElfW(Shdr) * table, const char *names, size_t names_bytes)
{
    size_t nsyms, len;
    struct ft_span gap;
    ft_span_list taken = {0};
    const ElfW(Sym) *sym = table_of(f, table, sizeof *sym, &nsyms);
    const char *text = sym ? strings_of(f, all, n, table->sh_link, &len) : NULL, *source = NULL;
    for (size_t i = 0; text && i < nsyms; i++) {
        const ElfW(Sym) *s = &sym[i];
        const char *name = s->st_name < len ? text + s->st_name : "";
        int type = ELF64_ST_TYPE(s->st_info), local = ELF64_ST_BIND(s->st_info) == STB_LOCAL;
        if (type == STT_FILE)
            source = name;
        if ((type != STT_OBJECT && type != STT_COMMON) || s->st_size == 0 || s->st_shndx >= n ||
            s->st_shndx == SHN_UNDEF)
            continue;
        const ElfW(Shdr) *in = &all[s->st_shndx];
        if (in->sh_name >= names_bytes || !is_data(in, names + in->sh_name) || !*name ||
            ft_mem_is_internal(name))
            continue;
        uint64_t at = f->bias + s->st_value;
        if (!ft_spans_gap(t->copies.v, t->copies.n, at, at + s->st_size, &gap))
            continue;
        if (!t->each(t->arg, at, s->st_size, name, local && source && *source ? source : f->path))
            break;
        if (t->partial)
            ft_span_add(&taken, at, at + s->st_size);
    }
    for (size_t i = 0; i < taken.n; i++)
        ft_span_add(&t->copies, taken.v[i].from, taken.v[i].to);
    t->copies.n = ft_spans_join(t->copies.v, t->copies.n);
    FT_LIST_FREE(&taken);
}

/* All data of a file without symbols. */
static void take_sections(const struct ft_elf_file *f, struct taker *t, const ElfW(Shdr) * all,
                          size_t n, const char *names, size_t names_bytes)
{
    for (size_t i = 0; i < n; i++) {
        struct ft_span gap;
        if (all[i].sh_name >= names_bytes || !is_data(&all[i], names + all[i].sh_name))
            continue;
        uint64_t at = f->bias + all[i].sh_addr, to = at + all[i].sh_size;
        for (; ft_spans_gap(t->copies.v, t->copies.n, at, to, &gap); at = gap.to)
            if (!t->each(t->arg, gap.from, gap.to - gap.from, NULL, f->path))
                return;
    }
}

void ft_elf_statics(struct ft_elf *e,
                    int (*each)(void *arg, uint64_t addr, uint64_t bytes, const char *name,
                                const char *source),
                    void *arg)
{
    for (int i = 0; i < e->n; i++) {
        const struct ft_elf_file *f = &e->file[i];
        size_t n, len;
        const ElfW(Shdr) *all = sections(f, &n), *symtab = all ? find(all, n, SHT_SYMTAB) : NULL,
                         *dynsym = all ? find(all, n, SHT_DYNSYM) : NULL;
        struct taker t = {.each = each, .arg = arg, .partial = !symtab};
        const char *names = all ? strings_of(f, all, n, head_of(f)->e_shstrndx, &len) : NULL;
        if (!names)
            continue; /* nothing is known of its contents */
        find_copies(e, f, &t.copies);
        if (symtab || dynsym)
            take_symbols(f, &t, all, n, symtab ? symtab : dynsym, names, len);
        if (!symtab)
            take_sections(f, &t, all, n, names, len);
        FT_LIST_FREE(&t.copies);
    }
}
