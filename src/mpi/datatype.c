/* SPDX-License-Identifier: BSD-3-Clause
 *
 * datatype.c - what the engine must know of a datatype. Predefined types are in a table filled at
 * start; derived ones are asked of the host, with a small cache from which MPI_Type_free evicts.
 * The host handles layouts: PMPI_Pack and PMPI_Unpack gather and scatter all elements but those of
 * which it cannot count the bytes.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "alog/log.h"
#include "mpi/typemap.h"

/* Entries in ft_type_table: that a type is not there must be found out quickly. */
#define TABLE_LIMIT 200

FT_STATE(__typeof__(struct ft_type[256]), ft_type_table);
FT_STATE(size_t, ft_pack_limit) = INT_MAX / 2;
FT_STATIC(unsigned, entries); /* of the table */
/* Indexed by ft_type_hash / 4; a later type displaces an earlier one. */
FT_STATIC(__typeof__(struct ft_type[64]), derived);
#define entries FT_MY(entries)
#define derived FT_MY(derived)

/* Address arithmetic that works with MPI_BOTTOM (NULL). */
static void *at(const void *base, ptrdiff_t off)
{
    return (void *)((uintptr_t)base + (uintptr_t)off);
}

/* The host is asked to pack nothing. If the type is not committed that raises an error, so its
 * handler is replaced meanwhile. */
static int is_committed(MPI_Datatype t)
{
    char none;
    int position = 0;

    ft_quiet_begin();
    int code = HOST(Pack)(&none, 0, t, &none, 0, &position, MPI_COMM_SELF);
    ft_quiet_end();
    return code == MPI_SUCCESS;
}

static int describe(MPI_Datatype t, struct ft_type *out)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Count size;

    if (HOST(Type_size_x)(t, &size) != MPI_SUCCESS || size == MPI_UNDEFINED ||
        HOST(Type_get_extent)(t, &lb, &extent) != MPI_SUCCESS ||
        HOST(Type_get_true_extent)(t, &true_lb, &true_extent) != MPI_SUCCESS)
        return 0;
    *out = (struct ft_type){.handle = t,
                            .size = (size_t)size,
                            .extent = extent,
                            .true_lb = true_lb,
                            .true_extent = true_extent};
    out->predefined = (uint8_t)ft_type_is_named(t);
    if (!out->predefined && !is_committed(t))
        return 0;
    if (size > 0 && extent == size && true_extent == size && true_lb == 0)
        out->contiguous = out->predefined || ft_typemap_is_dense(t, (size_t)size);
    if (size > 0 && (out->predefined || ft_check_data))
        out->padded = (uint8_t)ft_typemap_is_padded(out);
    if (out->padded && ft_check_data)
        out->contiguous = 0;
    /* Data may come at any moment: what is allocated then would be elsewhere in a replay. */
    if (!out->predefined && !out->contiguous && out->size > ft_pack_limit)
        (void)ft_typemap_of(out, FT_BY_BYTES);
    return 1;
}

static enum ft_kind integer_kind(size_t size, int is_signed)
{
    switch (size) {
    case 1: return is_signed ? FT_KIND_INT8 : FT_KIND_UINT8;
    case 2: return is_signed ? FT_KIND_INT16 : FT_KIND_UINT16;
    case 4: return is_signed ? FT_KIND_INT32 : FT_KIND_UINT32;
    case 8: return is_signed ? FT_KIND_INT64 : FT_KIND_UINT64;
    default: return FT_KIND_OTHER;
    }
}

static const struct ft_type *enter_in_table(const struct ft_type *t)
{
    unsigned slot = ft_type_hash(t->handle);

    while (ft_type_table[slot].size && ft_type_table[slot].handle != t->handle)
        slot = (slot + 1) % FT_COUNTOF(ft_type_table);
    if (!ft_type_table[slot].size && entries == TABLE_LIMIT)
        return NULL;
    entries += !ft_type_table[slot].size;
    ft_type_table[slot] = *t;
    /* A replay needs it for comparisons. If it were made only then, it would move what the program
     * allocates after it. */
    if (t->padded || !t->contiguous)
        (void)ft_typemap_of(t, FT_BY_VALUES);
    return &ft_type_table[slot];
}

void ft_type_init(void)
{
    /* The frequent types come first: they get the place where ft_type_of looks. */
    static const struct {
        MPI_Datatype t;
        char kind; /* i signed integer, u unsigned, f float, d double */
    } list[] = {
        {MPI_DOUBLE, 'd'},
        {MPI_INT, 'i'},
        {MPI_BYTE, 0},
        {MPI_CHAR, 0},
        {MPI_FLOAT, 'f'},
        {MPI_LONG, 'i'},
        {MPI_UINT64_T, 'u'},
        {MPI_INT64_T, 'i'},
        {MPI_UNSIGNED_LONG, 'u'},
        {MPI_LONG_LONG, 'i'},
        {MPI_UNSIGNED, 'u'},
        {MPI_INT32_T, 'i'},
        {MPI_UINT32_T, 'u'},
        {MPI_C_DOUBLE_COMPLEX, 0},
        {MPI_DOUBLE_PRECISION, 'd'},
        {MPI_INTEGER, 'i'},
        {MPI_REAL, 'f'},
        {MPI_DOUBLE_COMPLEX, 0},
        {MPI_COMPLEX, 0},
        {MPI_LOGICAL, 0},
        {MPI_CHARACTER, 0},
        {MPI_AINT, 'i'},
        {MPI_UNSIGNED_LONG_LONG, 'u'},
        {MPI_SHORT, 'i'},
        {MPI_UNSIGNED_SHORT, 'u'},
        {MPI_SIGNED_CHAR, 'i'},
        {MPI_UNSIGNED_CHAR, 'u'},
        {MPI_LONG_DOUBLE, 0},
        {MPI_WCHAR, 0},
        {MPI_PACKED, 0},
        {MPI_INT8_T, 'i'},
        {MPI_UINT8_T, 'u'},
        {MPI_INT16_T, 'i'},
        {MPI_UINT16_T, 'u'},
        {MPI_C_BOOL, 0},
        {MPI_C_FLOAT_COMPLEX, 0},
        {MPI_C_LONG_DOUBLE_COMPLEX, 0},
        {MPI_OFFSET, 'i'},
        {MPI_COUNT, 'i'},
        {MPI_INTEGER4, 'i'},
        {MPI_INTEGER8, 'i'},
        {MPI_REAL4, 'f'},
        {MPI_REAL8, 'd'},
        {MPI_COMPLEX8, 0},
        {MPI_COMPLEX16, 0},
        {MPI_INTEGER1, 'i'},
        {MPI_INTEGER2, 'i'},
        {MPI_2INT, 0},
        {MPI_FLOAT_INT, 0},
        {MPI_DOUBLE_INT, 0},
        {MPI_LONG_INT, 0},
        {MPI_SHORT_INT, 0},
        {MPI_LONG_DOUBLE_INT, 0},
        {MPI_2INTEGER, 0},
        {MPI_2REAL, 0},
        {MPI_2DOUBLE_PRECISION, 0},
        {MPI_CXX_BOOL, 0},
        {MPI_CXX_FLOAT_COMPLEX, 0},
        {MPI_CXX_DOUBLE_COMPLEX, 0},
        {MPI_CXX_LONG_DOUBLE_COMPLEX, 0},
    };

    for (size_t i = 0; i < FT_COUNTOF(list); i++) {
        struct ft_type t;

        if (!describe(list[i].t, &t) || t.size == 0)
            continue;
        if (list[i].kind == 'i' || list[i].kind == 'u')
            t.kind = (uint8_t)integer_kind(t.size, list[i].kind == 'i');
        else if (list[i].kind == 'f' && t.size == sizeof(float))
            t.kind = FT_KIND_FLOAT;
        else if ((list[i].kind == 'd' || list[i].kind == 'f') && t.size == sizeof(double))
            t.kind = FT_KIND_DOUBLE;
        enter_in_table(&t);
    }
}

const struct ft_type *ft_type_slow(MPI_Datatype t, struct ft_type *store)
{
    if (t == MPI_DATATYPE_NULL || !t) /* NULL: a number in Fortran that stands for no type */
        return NULL;
    unsigned slot = ft_type_hash(t);
    struct ft_type *cached = &derived[slot / 4], fresh;
    for (; ft_type_table[slot].size; slot = (slot + 1) % FT_COUNTOF(ft_type_table))
        if (ft_type_table[slot].handle == t)
            return &ft_type_table[slot];
    if (cached->handle != t) {
        if (!describe(t, &fresh)) /* this may use the place for a type of which t consists */
            return NULL;
        *cached = fresh;
    }
    if (cached->predefined &&
        cached->size) { /* a rare type that is never freed: find it by its place as well */
        const struct ft_type *e = enter_in_table(cached);
        if (e)
            return e;
        cached->predefined = 0; /* moved like any other, but no operation combines it */
    }
    *store = *cached; /* another lookup may displace it */
    return store;
}

/* Zeroes the packed bytes of one element that hold no value. */
static void clear_padding(const struct ft_typemap *all, const struct ft_typemap *values,
                          char *packed)
{
    const struct ft_piece *v = values->piece, *end = v + values->npieces;
    size_t block = 0, inside = 0; /* of *v: its next value */

    for (const struct ft_piece *p = all->piece; p < all->piece + all->npieces; p++)
        for (size_t i = 0; i < p->n * p->len;) {
            ptrdiff_t here = p->off + (ptrdiff_t)(i / p->len) * p->stride + (ptrdiff_t)(i % p->len);
            if (v == end || here != v->off + (ptrdiff_t)block * v->stride + (ptrdiff_t)inside) {
                *packed++ = 0;
                i++;
                continue;
            }
            size_t n = ft_min_u64(v->len - inside, p->len - i % p->len);
            packed += n;
            i += n;
            inside += n;
            if (inside == v->len) {
                inside = 0;
                block++;
            }
            if (block == v->n) {
                block = 0;
                v++;
            }
        }
}

/* Elements that are too large for the host: packs all that `bytes` bytes hold, or unpacks these,
 * which may end within an element. */
static void copy_large(const struct ft_type *t, const void *buf, char *packed, size_t bytes,
                       int packs)
{
    struct ft_cursor c;
    struct ft_step s;

    if (!ft_cursor_begin(&c, t, FT_BY_BYTES, 0, (ptrdiff_t)buf))
        ft_error_fatal(MPI_ERR_TYPE, "taking a large datatype apart");
    while (bytes > 0) {
        ft_cursor_step(&c, NULL, &s);
        for (size_t i = 0; i < s.n && bytes > 0; i++) {
            void *block = (void *)(s.at[0] + (ptrdiff_t)i * s.stride[0]);
            size_t n = ft_min_u64(s.len, bytes);
            memcpy(packs ? packed : block, packs ? block : packed, n);
            packed += n;
            bytes -= n;
        }
    }
}

static void pack_elements(const struct ft_type *t, const void *buf, size_t count, char *out)
{
    if (t->size > ft_pack_limit) {
        copy_large(t, buf, out, count * t->size, 1);
        return;
    }
    size_t piece = ft_pack_limit / t->size;
    for (size_t i = 0; i < count; i += piece) {
        size_t n = ft_min_u64(piece, count - i);
        int position = 0;
        if (HOST(Pack)(at(buf, (ptrdiff_t)i * t->extent), (int)n, t->handle, out + i * t->size,
                       (int)(n * t->size), &position, MPI_COMM_SELF))
            ft_error_fatal(MPI_ERR_TYPE, "packing a datatype");
    }
}

void ft_pack(const struct ft_type *t, const void *buf, size_t count, void *out)
{
    if (t->size == 0 || count == 0)
        return;
    if (t->contiguous) {
        memcpy(out, buf, count * t->size);
        return;
    }
    pack_elements(t, buf, count, out);
    const struct ft_typemap *all =
        t->padded && ft_check_data ? ft_typemap_of(t, FT_BY_BYTES) : NULL;
    const struct ft_typemap *values = all ? ft_typemap_of(t, FT_BY_VALUES) : NULL;
    for (size_t i = 0; values && i < count; i++)
        clear_padding(all, values, (char *)out + i * t->size);
}

static void unpack_elements(const struct ft_type *t, const void *in, size_t n, void *buf)
{
    int position = 0;
    if (HOST(Unpack)(in, (int)(n * t->size), &position, buf, (int)n, t->handle, MPI_COMM_SELF))
        ft_error_fatal(MPI_ERR_TYPE, "unpacking a datatype");
}

void ft_unpack(const struct ft_type *t, const void *in, size_t bytes, void *buf)
{
    if (t->size == 0 || bytes == 0)
        return;
    if (t->contiguous) {
        memcpy(buf, in, bytes);
        return;
    }
    if (t->size > ft_pack_limit) {
        copy_large(t, buf, (char *)(uintptr_t)in, bytes, 0);
        return;
    }
    size_t count = bytes / t->size, rest = bytes % t->size, piece = ft_pack_limit / t->size;
    for (size_t i = 0; i < count; i += piece)
        unpack_elements(t, (const char *)in + i * t->size, ft_min_u64(piece, count - i),
                        at(buf, (ptrdiff_t)i * t->extent));
    if (rest) { /* the last element came in part: its missing bytes keep their old values */
        void *last = at(buf, (ptrdiff_t)count * t->extent),
             *whole = ft_scratch(FT_SCRATCH_PIECE, t->size);
        ft_pack(t, last, 1, whole);
        memcpy(whole, (const char *)in + count * t->size, rest);
        unpack_elements(t, whole, 1, last);
    }
}

void ft_type_forget(MPI_Datatype t)
{
    derived[ft_type_hash(t) / 4].handle = NULL;
    ft_typemap_forget(t);
}

FT_MPI(int, Type_free, (MPI_Datatype * type))
{
    struct ft_type store;
    const struct ft_type *t = ft_any_pinned() ? ft_type_of(*type, &store) : NULL;
    int later = t && !t->predefined ? ft_free_later(MPI_OP_NULL, *type) : -1;

    if (later < 0) {
        ft_type_forget(*type);
        return HOST(Type_free)(type);
    }
    FT_CHECK(later == MPI_SUCCESS, MPI_COMM_WORLD, later, "MPI_Type_free");
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}
