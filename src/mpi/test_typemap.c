/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_typemap.c - what the library knows of a datatype against what the host does with it: every
 * predefined type, and derived types drawn at random from all constructors.
 *
 * The host tells its type map by packing: a buffer whose bytes say where they are, packed, gives
 * the places in the order of the map.
 */
#include <float.h>

#include "mpi/mock_runtime.h"
#include "mpi/request.h"
#include "mpi/typemap.h"

#define ROOM (1 << 16) /* bytes that a drawn type may reach, half of them before its address */
#define MOST 4096      /* bytes of data in a drawn type, at most */

static struct ft_prng rng;
static int below(int n) { return (int)ft_prng_below(&rng, (uint64_t)n); }

/* ---- the host's type map ---- */

struct map {
    size_t n;
    int at[MOST]; /* from the element's address */
    int overlaps;
};

static size_t size_of(MPI_Datatype t)
{
    MPI_Count size;
    assert_int_equal(HOST(Type_size_x)(t, &size), MPI_SUCCESS);
    return (size_t)size;
}

static void host_map(MPI_Datatype t, struct map *m)
{
    static unsigned char low[ROOM], high[ROOM], out[2][MOST], seen[ROOM];
    int end;

    m->n = size_of(t);
    m->overlaps = 0;
    assert_true(m->n <= MOST);
    for (int i = 0; i < ROOM; i++) {
        low[i] = (unsigned char)i;
        high[i] = (unsigned char)(i >> 8);
        seen[i] = 0;
    }
    for (int k = 0; k < 2; k++) {
        end = 0;
        assert_int_equal(
            HOST(Pack)((k ? high : low) + ROOM / 2, 1, t, out[k], MOST, &end, MPI_COMM_SELF),
            MPI_SUCCESS);
        assert_int_equal(end, m->n);
    }
    for (size_t i = 0; i < m->n; i++) {
        int at = out[0][i] | out[1][i] << 8;
        m->at[i] = at - ROOM / 2;
        m->overlaps |= seen[at]++;
    }
}

/* ---- drawn types ---- */

static const MPI_Datatype basics[] = {MPI_CHAR,      MPI_SHORT,      MPI_INT,         MPI_DOUBLE,
                                      MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_LONG_DOUBLE, MPI_INT64_T};

enum { CONSTRUCTORS = 12 };

/* One constructor around `old`. */
static MPI_Datatype around(int which, MPI_Datatype old)
{
    MPI_Datatype t = MPI_DATATYPE_NULL, types[3] = {old, basics[below(4)], old};
    MPI_Aint lb, extent, places[4];
    int n = below(4), len[4], disp[4], sizes[2], subsizes[2], starts[2], at = below(5) - 2;
    int order = below(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, stride = below(5) - 2;
    int bytes = below(100) - 20;

    stride += stride == -1; /* Open MPI takes -1 byte for the type's own extent */
    bytes += bytes == -1;
    HOST(Type_get_extent)(old, &lb, &extent);
    for (int i = 0; i < 4; i++) {
        len[i] = below(3);
        disp[i] = at;
        places[i] = at * extent + below(3);
        at += len[i] + below(2);
    }
    for (int i = 0; i < 2; i++) {
        sizes[i] = 1 + below(4);
        subsizes[i] = 1 + below(sizes[i]);
        starts[i] = below(sizes[i] - subsizes[i] + 1);
    }
    switch (which) {
    case 0: MPI_Type_contiguous(n, old, &t); break;
    case 1: MPI_Type_vector(n, below(3), stride, old, &t); break;
    case 2: MPI_Type_create_hvector(n, below(3), bytes, old, &t); break;
    case 3: MPI_Type_indexed(n, len, disp, old, &t); break;
    case 4: MPI_Type_create_hindexed(n, len, places, old, &t); break;
    case 5: MPI_Type_create_indexed_block(n, below(3), disp, old, &t); break;
    case 6: MPI_Type_create_hindexed_block(n, below(3), places, old, &t); break;
    case 7: places[1] = 64, MPI_Type_create_struct(below(4), len, places, types, &t); break;
    case 8: MPI_Type_create_subarray(2, sizes, subsizes, starts, order, old, &t); break;
    case 9: {
        int how[] = {MPI_DISTRIBUTE_BLOCK + below(2), MPI_DISTRIBUTE_CYCLIC};
        int args[] = {MPI_DISTRIBUTE_DFLT_DARG, 1 + below(2)},
            grid[] = {1 + below(2), 1 + below(2)};
        if (below(4) == 0)
            how[0] = MPI_DISTRIBUTE_NONE, grid[0] = 1;
        MPI_Type_create_darray(grid[0] * grid[1], below(grid[0] * grid[1]), 2, sizes, how, args,
                               grid, order, old, &t);
        break;
    }
    case 10: MPI_Type_create_resized(old, lb - below(8), extent + below(8), &t); break;
    case 11: MPI_Type_dup(old, &t); break;
    }
    return t;
}

/* A type that the host can pack within ROOM; committed. depth of constructors, at least one. Only
 * the outermost may be of nothing: Open MPI takes several elements of a struct with such a part for
 * contiguous ones. */
static MPI_Datatype draw(int depth)
{
    for (;;) {
        MPI_Datatype t = basics[below(FT_COUNTOF(basics))];
        MPI_Aint lb, extent;
        int good = 1;
        for (int i = 0; i < depth && good; i++) {
            MPI_Datatype outer = around(below(CONSTRUCTORS), t);
            if (i > 0)
                MPI_Type_free(&t);
            t = outer;
            if (t == MPI_DATATYPE_NULL) /* the host knows better */
                break;
            size_t size = size_of(t);
            HOST(Type_get_true_extent)(t, &lb, &extent);
            good = size > 0 ? size <= MOST && lb > -ROOM / 4 && lb + extent < ROOM / 4
                            : i == depth - 1;
            HOST(Type_get_extent)(t, &lb, &extent);
            good = good && extent >= -ROOM / 32 && extent < ROOM / 32;
        }
        if (good && t != MPI_DATATYPE_NULL) {
            MPI_Type_commit(&t);
            return t;
        }
        if (t != MPI_DATATYPE_NULL)
            MPI_Type_free(&t);
    }
}

/* Prints how t was made, for a person who looks at a failure. */
static void print_type(MPI_Datatype t, int depth)
{
    int i[64], ni, na, nt, how;
    MPI_Aint a[64];
    MPI_Datatype parts[16];
    MPI_Aint lb, extent;
    HOST(Type_get_envelope)(t, &ni, &na, &nt, &how);
    HOST(Type_get_extent)(t, &lb, &extent);
    fprintf(stderr, "%*scombiner %d, size %zu, lb %ld, extent %ld:", 2 * depth, "", how, size_of(t),
            (long)lb, (long)extent);
    if (how == MPI_COMBINER_NAMED) {
        fprintf(stderr, " named\n");
        return;
    }
    HOST(Type_get_contents)(t, ni, na, nt, i, a, parts);
    for (int k = 0; k < ni; k++)
        fprintf(stderr, " %d", i[k]);
    for (int k = 0; k < na; k++)
        fprintf(stderr, " @%ld", (long)a[k]);
    fprintf(stderr, "\n");
    for (int k = 0; k < nt; k++)
        print_type(parts[k], depth + 1);
}

/* ---- layouts ---- */

static size_t spread(const struct ft_typemap *l, struct map *m)
{
    m->n = 0;
    for (const struct ft_piece *p = l->piece; p < l->piece + l->npieces; p++)
        for (size_t k = 0; k < p->n; k++)
            for (size_t b = 0; b < p->len; b++, m->n++)
                if (m->n < MOST)
                    m->at[m->n] = (int)(p->off + (ptrdiff_t)k * p->stride + (ptrdiff_t)b);
    return m->n;
}

static void compare_maps(MPI_Datatype t, const struct ft_type *known, struct map *host)
{
    static struct map ours;
    const struct ft_typemap *l = ft_typemap_of(known, FT_BY_BYTES);

    host_map(t, host);
    assert_non_null(l);
    assert_int_equal(spread(l, &ours), host->n);
    if (memcmp(ours.at, host->at, host->n * sizeof *ours.at) != 0) {
        fprintf(stderr, "FTRMA_TEST_SEED=%llu\n", (unsigned long long)job.seed);
        print_type(t, 0);
        for (size_t i = 0; i < host->n; i++)
            fprintf(stderr, "%d/%d ", ours.at[i], host->at[i]);
        fprintf(stderr, "\n");
        fail_msg("the library's type map differs from the host's");
    }
    for (const struct ft_piece *p = l->piece; p < l->piece + l->npieces; p++)
        assert_true(!l->list_len || (p->n == 1 && p->len == l->list_len));
}

static void compare_facts(const struct ft_type *known, MPI_Datatype t, const struct map *host)
{
    MPI_Aint lb, extent, true_lb, true_extent;
    int least = 0, end = 0, identity = host->n > 0;

    HOST(Type_get_extent)(t, &lb, &extent);
    HOST(Type_get_true_extent)(t, &true_lb, &true_extent);
    assert_true(known->handle == t);
    assert_int_equal(known->size, host->n);
    assert_int_equal(known->extent, extent);
    assert_int_equal(known->true_lb, true_lb);
    assert_int_equal(known->true_extent, true_extent);
    for (size_t i = 0; i < host->n; i++) {
        least = i == 0 || host->at[i] < least ? host->at[i] : least;
        end = i == 0 || host->at[i] >= end ? host->at[i] + 1 : end;
        identity = identity && host->at[i] == (int)i;
    }
    if (host->n > 0 && !ft_type_is_named(t)) {
        assert_int_equal(true_lb, least);
        assert_true(true_lb + true_extent >= end);
    }
    assert_int_equal(known->contiguous, identity && extent == (MPI_Aint)host->n);
}

/* The blocks of a type that consists of one predefined type: they begin where its elements do. */
static void compare_elements(const struct ft_type *known, const struct map *host)
{
    static struct map ours;
    const struct ft_typemap *l = ft_typemap_of(known, FT_BY_ELEMENT);
    const struct ft_type *b = l ? l->basic : NULL;

    assert_non_null(l);
    assert_int_equal(l->mixed && b, 0);
    if (!b || host->n == 0)
        return;
    size_t whole = (size_t)ft_max_u64((uint64_t)b->extent, (uint64_t)b->true_extent),
           n = host->n / b->size;
    if (n * whole > MOST)
        return;
    assert_int_equal(host->n % b->size, 0);
    assert_int_equal(spread(l, &ours), n * whole);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(ours.at[i * whole], host->at[i * b->size] - b->true_lb);
}

static void test_predefined(void **state)
{
    static const MPI_Datatype all[] = {MPI_CHAR,
                                       MPI_SHORT,
                                       MPI_INT,
                                       MPI_LONG,
                                       MPI_LONG_LONG,
                                       MPI_SIGNED_CHAR,
                                       MPI_UNSIGNED_CHAR,
                                       MPI_UNSIGNED_SHORT,
                                       MPI_UNSIGNED,
                                       MPI_UNSIGNED_LONG,
                                       MPI_FLOAT,
                                       MPI_UNSIGNED_LONG_LONG,
                                       MPI_DOUBLE,
                                       MPI_LONG_DOUBLE,
                                       MPI_WCHAR,
                                       MPI_C_BOOL,
                                       MPI_INT8_T,
                                       MPI_INT16_T,
                                       MPI_INT32_T,
                                       MPI_INT64_T,
                                       MPI_UINT8_T,
                                       MPI_UINT16_T,
                                       MPI_UINT32_T,
                                       MPI_UINT64_T,
                                       MPI_AINT,
                                       MPI_COUNT,
                                       MPI_OFFSET,
                                       MPI_C_COMPLEX,
                                       MPI_C_FLOAT_COMPLEX,
                                       MPI_C_DOUBLE_COMPLEX,
                                       MPI_BYTE,
                                       MPI_PACKED,
                                       MPI_C_LONG_DOUBLE_COMPLEX,
                                       MPI_CXX_BOOL,
                                       MPI_CXX_FLOAT_COMPLEX,
                                       MPI_CXX_DOUBLE_COMPLEX,
                                       MPI_FLOAT_INT,
                                       MPI_DOUBLE_INT,
                                       MPI_CXX_LONG_DOUBLE_COMPLEX,
                                       MPI_LONG_INT,
                                       MPI_2INT,
                                       MPI_SHORT_INT,
                                       MPI_LONG_DOUBLE_INT,
                                       MPI_INTEGER,
                                       MPI_REAL,
                                       MPI_DOUBLE_PRECISION,
                                       MPI_COMPLEX,
                                       MPI_LOGICAL,
                                       MPI_CHARACTER,
                                       MPI_DOUBLE_COMPLEX,
                                       MPI_INTEGER1,
                                       MPI_INTEGER2,
                                       MPI_INTEGER4,
                                       MPI_INTEGER8,
                                       MPI_REAL4,
                                       MPI_REAL8,
                                       MPI_REAL16,
                                       MPI_COMPLEX8,
                                       MPI_COMPLEX16,
                                       MPI_COMPLEX32,
                                       MPI_LOGICAL1,
                                       MPI_LOGICAL2,
                                       MPI_LOGICAL4,
                                       MPI_LOGICAL8,
                                       MPI_2INTEGER,
                                       MPI_2REAL,
                                       MPI_2DOUBLE_PRECISION};
    static struct map host;
    struct ft_type store;
    (void)state;

    for (size_t i = 0; i < FT_COUNTOF(all); i++) {
        if (all[i] == MPI_DATATYPE_NULL || size_of(all[i]) == 0)
            continue;
        const struct ft_type *known = ft_type_of(all[i], &store);
        assert_non_null(known);
        assert_int_equal(known->predefined, 1);
        compare_maps(all[i], known, &host);
        compare_facts(known, all[i], &host);
        compare_elements(known, &host);
        assert_ptr_equal(ft_typemap_of(known, FT_BY_ELEMENT)->basic, known);
        assert_int_equal(known->padded,
                         LDBL_MANT_DIG == 64 &&
                             (all[i] == MPI_LONG_DOUBLE || all[i] == MPI_LONG_DOUBLE_INT ||
                              all[i] == MPI_C_LONG_DOUBLE_COMPLEX ||
                              all[i] == MPI_CXX_LONG_DOUBLE_COMPLEX));
        assert_ptr_equal(ft_type_of(all[i], &store), known); /* found again */
    }
    assert_null(ft_type_of(MPI_DATATYPE_NULL, &store));
    assert_null(ft_type_of(NULL, &store)); /* what Fortran's number of no type comes to */
}

static void test_drawn(void **state)
{
    static struct map host;
    struct ft_type store;
    (void)state;

    for (int i = 0; i < JOB_TIMES(4000); i++) {
        MPI_Datatype t = draw(1 + below(3));
        const struct ft_type *known = ft_type_of(t, &store);
        assert_non_null(known);
        compare_maps(t, known, &host);
        compare_facts(known, t, &host);
        compare_elements(known, &host);
        MPI_Type_free(&t); /* the next one may have the same address */
        assert_true(t == MPI_DATATYPE_NULL);
    }
}

/* ---- moving data ---- */

static void fill(void *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)p)[i] = (unsigned char)ft_prng_next(&rng);
}

/* Whether count elements of t have no byte twice, and lie within the room around their address. */
static int is_plain(MPI_Datatype t, int count, struct map *m)
{
    static unsigned char seen[ROOM];
    MPI_Aint lb, extent;

    host_map(t, m);
    HOST(Type_get_extent)(t, &lb, &extent);
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < m->n; k++) {
            ptrdiff_t at = ROOM / 2 + m->at[k] + i * extent;
            if (at < 0 || at >= ROOM || seen[at]++)
                return 0;
        }
    return m->n > 0;
}

/* A message of `bytes` bytes, received as count elements of t: by the library, and by the host. */
static void receive_both(MPI_Datatype t, int count, int bytes, int how)
{
    static char sent[ROOM], ours[ROOM], theirs[ROOM];
    MPI_Status a = {0}, b = {0};
    MPI_Request r;
    MPI_Message message;
    int n[2][2];

    fill(sent, sizeof sent);
    fill(ours, sizeof ours);
    memcpy(theirs, ours, sizeof ours);
    HOST(Sendrecv)
    (sent, bytes, MPI_PACKED, 0, 1, theirs + ROOM / 2, count, t, 0, 1, MPI_COMM_SELF, &b);
    if (how == 0)
        MPI_Irecv(ours + ROOM / 2, count, t, 0, 1, MPI_COMM_WORLD, &r);
    assert_int_equal(MPI_Send(sent, bytes, MPI_PACKED, 0, 1, MPI_COMM_WORLD), MPI_SUCCESS);
    switch (how) {
    case 0: MPI_Wait(&r, &a); break;
    case 1: MPI_Recv(ours + ROOM / 2, count, t, 0, 1, MPI_COMM_WORLD, &a); break;
    default:
        MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(ours + ROOM / 2, count, t, &message, &a);
    }
    if (memcmp(ours, theirs, sizeof ours) != 0) {
        print_type(t, 0);
        fail_msg("%d of %d elements, %d bytes: other memory (FTRMA_TEST_SEED=%llu)", how, count,
                 bytes, (unsigned long long)job.seed);
    }
    MPI_Get_elements(&a, t, &n[0][0]);
    MPI_Get_elements(&b, t, &n[1][0]);
    MPI_Get_count(&a, t, &n[0][1]);
    MPI_Get_count(&b, t, &n[1][1]);
    assert_memory_equal(n[0], n[1], sizeof n[0]);
    assert_int_equal(a.MPI_SOURCE, b.MPI_SOURCE);
    assert_int_equal(a.MPI_TAG, b.MPI_TAG);
}

static void test_received(void **state)
{
    static struct map m;
    (void)state;

    for (int i = 0; i < JOB_TIMES(1000); i++) {
        MPI_Datatype t = draw(1 + below(3));
        int count = 1 + below(4);
        if (is_plain(t, count, &m))
            receive_both(t, count, below((int)m.n * count + 1), below(3));
        MPI_Type_free(&t);
    }
}

/* Elements that are too large for the host, or of which it takes a few at a time: as if it took all
 * of them. */
static void test_large(void **state)
{
    static unsigned char data[ROOM], ours[ROOM], theirs[ROOM];
    static struct map m;
    const size_t limit = ft_pack_limit;
    int were_too_large = 0;
    (void)state;

    for (int i = 0; i < JOB_TIMES(1000); i++) {
        MPI_Datatype t = draw(1 + below(3));
        struct ft_type store;
        int count = 1 + below(4), size = (int)size_of(t), end = 0;
        ft_pack_limit = (size_t)below(2 * size + 1);
        const struct ft_type *known = ft_type_of(t, &store);
        were_too_large += !known->contiguous && known->size > ft_pack_limit;
        fill(data, sizeof data);
        ft_pack(known, data + ROOM / 2, (size_t)count, ours);
        HOST(Pack)(data + ROOM / 2, count, t, theirs, sizeof theirs, &end, MPI_COMM_SELF);
        assert_int_equal(end, count * size);
        assert_memory_equal(ours, theirs, (size_t)end);
        if (is_plain(t, count, &m))
            receive_both(t, count, below(end + 1), below(3));
        ft_pack_limit = limit;
        MPI_Type_free(&t);
    }
    assert_true(were_too_large > JOB_TIMES(100));
}

/* A message from one type to another by cursors, as one-sided accesses move data. */
static void pass_by_cursors(MPI_Datatype from, MPI_Datatype to, size_t total)
{
    static char src[ROOM], ours[ROOM], theirs[ROOM], packed[ROOM];
    struct ft_type store[2];
    const struct ft_type *f = ft_type_of(from, &store[0]), *g = ft_type_of(to, &store[1]);
    struct ft_cursor c[2];
    struct ft_step s;
    int end = 0, nf = (int)(total / f->size), ng = (int)(total / g->size);

    fill(src, sizeof src);
    fill(ours, sizeof ours);
    memcpy(theirs, ours, sizeof ours);
    HOST(Pack)(src + ROOM / 2, nf, from, packed, sizeof packed, &end, MPI_COMM_SELF);
    assert_int_equal(end, total);
    end = 0;
    HOST(Unpack)(packed, (int)total, &end, theirs + ROOM / 2, ng, to, MPI_COMM_SELF);
    assert_int_equal(ft_cursor_begin(&c[0], f, FT_BY_BYTES, (size_t)nf, (ptrdiff_t)src + ROOM / 2),
                     1);
    assert_int_equal(ft_cursor_begin(&c[1], g, FT_BY_BYTES, (size_t)ng, (ptrdiff_t)ours + ROOM / 2),
                     1);
    for (size_t done = 0; done < total; done += s.len * s.n) {
        ft_cursor_step(&c[0], &c[1], &s);
        assert_true(s.n > 0 && s.len > 0 && done + s.len * s.n <= total);
        for (size_t i = 0; i < s.n; i++)
            memcpy((char *)s.at[1] + (ptrdiff_t)i * s.stride[1],
                   (char *)s.at[0] + (ptrdiff_t)i * s.stride[0], s.len);
    }
    if (memcmp(ours, theirs, sizeof ours) != 0) {
        print_type(from, 0);
        print_type(to, 0);
        fail_msg("%d elements to %d (FTRMA_TEST_SEED=%llu)", nf, ng, (unsigned long long)job.seed);
    }
    ft_cursor_begin(&c[0], f, FT_BY_BYTES, (size_t)nf, (ptrdiff_t)src + ROOM / 2);
    for (size_t done = 0; done < total;) { /* one alone: packs */
        ft_cursor_step(&c[0], NULL, &s);
        for (size_t i = 0; i < s.n; i++, done += s.len)
            assert_memory_equal(packed + done, (char *)s.at[0] + (ptrdiff_t)i * s.stride[0], s.len);
    }
}

static void test_cursors(void **state)
{
    static struct map m, n;
    (void)state;

    for (int i = 0; i < JOB_TIMES(2000); i++) {
        MPI_Datatype from = draw(1 + below(3)), to = draw(1 + below(3));
        size_t a = size_of(from), b = size_of(to), total = a * b;
        for (size_t k = 2; k <= a && k <= b; k++)
            while (a % k == 0 && b % k == 0) {
                a /= k;
                b /= k;
                total /= k;
            }
        if (total > 0 && total < ROOM / 8 && is_plain(from, (int)(total / size_of(from)), &m) &&
            is_plain(to, (int)(total / size_of(to)), &n))
            pass_by_cursors(from, to, total);
        MPI_Type_free(&from);
        MPI_Type_free(&to);
    }
}

/* ---- what is remembered ---- */

/* A type whose description begins with that of a predefined type nobody has used yet, in the same
 * place of the cache. */
static void test_one_place(void **state)
{
    enum { MOST_TYPES = 2000 };
    static MPI_Datatype made[MOST_TYPES];
    MPI_Datatype rare = MPI_DATATYPE_NULL;
    struct ft_type store;
    int n = 0;
    (void)state;

    MPI_Type_create_f90_integer(4, &rare);
    for (int found = 0; n < MOST_TYPES && !found; n++) {
        MPI_Type_contiguous(3, rare, &made[n]);
        MPI_Type_commit(&made[n]);
        found = ft_type_hash(made[n]) / 4 == ft_type_hash(rare) / 4;
    }
    const struct ft_type *t = ft_type_of(made[n - 1], &store);
    assert_non_null(t);
    assert_true(t->handle == made[n - 1]);
    assert_int_equal(t->size, 3 * size_of(rare));
    assert_int_equal(t->predefined, 0);
    assert_int_equal(t->contiguous, 1);
    while (n-- > 0)
        MPI_Type_free(&made[n]);
}

/* A freed type's address comes back as another type. */
static void test_reused(void **state)
{
    struct ft_type store;
    int came_back = 0; /* so often */
    (void)state;

    for (int i = 1; i < 100; i++) {
        MPI_Datatype t, was;
        MPI_Type_vector(i, 1, 2, i % 2 ? MPI_INT : MPI_DOUBLE, &t);
        MPI_Type_commit(&t);
        const struct ft_type *known = ft_type_of(t, &store);
        assert_int_equal(known->size, (size_t)i * (i % 2 ? sizeof(int) : sizeof(double)));
        assert_ptr_equal(ft_typemap_of(known, FT_BY_BYTES)->basic->handle,
                         i % 2 ? MPI_INT : MPI_DOUBLE);
        was = t;
        MPI_Type_free(&t);
        MPI_Type_contiguous(1, MPI_CHAR, &t);
        came_back += t == was;
        MPI_Type_free(&t);
    }
    (void)came_back;
#ifndef __SANITIZE_ADDRESS__ /* it keeps addresses back */
    assert_true(came_back > 0);
#endif
}

/* While a request may unpack with it, a freed type lives on. */
static void test_pinned(void **state)
{
    MPI_Datatype t;
    MPI_Request r[3];
    MPI_Op op;
    int in[4] = {1, 2, 3, 4}, out[8] = {0};
    (void)state;

    MPI_Type_vector(4, 1, 2, MPI_INT, &t);
    MPI_Type_commit(&t);
    MPI_Irecv(out, 1, t, 0, 5, MPI_COMM_WORLD, &r[0]);
    MPI_Type_free(&t);
    assert_true(t == MPI_DATATYPE_NULL);
    for (int i = 0; i < 40; i++) { /* others come and go while it waits */
        MPI_Type_contiguous(i + 1, MPI_CHAR, &t);
        MPI_Type_commit(&t);
        MPI_Type_free(&t);
    }
    MPI_Send(in, 4, MPI_INT, 0, 5, MPI_COMM_WORLD);
    assert_int_equal(MPI_Wait(&r[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < 4; i++)
        assert_int_equal(out[2 * i], in[i]);

    MPI_Type_vector(4, 1, 2, MPI_INT, &t); /* while there is a persistent one, others go */
    MPI_Type_commit(&t);
    MPI_Recv_init(out, 1, t, 0, 5, MPI_COMM_WORLD, &r[1]);
    MPI_Type_free(&t);
    MPI_Fint highest = 0, first = 0;
    for (int i = 0; i < 2000; i++) {
        MPI_Type_contiguous(i + 1, MPI_CHAR, &t);
        MPI_Fint index = MPI_Type_c2f(t); /* the lowest that is free */
        first = i == 0 ? index : first;
        highest = index > highest ? index : highest;
        MPI_Type_free(&t);
    }
    assert_in_range(highest - first, 0, 100);
    memset(out, 0, sizeof out);
    MPI_Start(&r[1]);
    MPI_Send(in, 4, MPI_INT, 0, 5, MPI_COMM_WORLD);
    assert_int_equal(MPI_Wait(&r[1], MPI_STATUS_IGNORE), MPI_SUCCESS);
    for (int i = 0; i < 4; i++)
        assert_int_equal(out[2 * i], in[i]);
    MPI_Request_free(&r[1]);

    MPI_Datatype many[64]; /* no memory to keep it: it stays the program's */
    MPI_Request waits[64];
    for (int i = 0; i < 64; i++) {
        MPI_Type_vector(2, 1, 2, MPI_INT, &many[i]);
        MPI_Type_commit(&many[i]);
        MPI_Irecv(out, 1, many[i], 0, 5, MPI_COMM_WORLD, &waits[i]);
    }
    int kept = 0;
    for (int i = 0; i < 64; i++) {
        mock_fail_memory(0, 0);
        int code = MPI_Type_free(&many[i]);
        mock_memory_back();
        if (code == MPI_ERR_NO_MEM) {
            assert_true(many[i] != MPI_DATATYPE_NULL);
            assert_int_equal(MPI_Type_free(&many[i]), MPI_SUCCESS);
            kept++;
        }
        assert_true(many[i] == MPI_DATATYPE_NULL);
    }
    assert_true(kept > 0);
    MPI_Op_create((MPI_User_function *)(void *)test_pinned, 1, &op);
    assert_int_equal(MPI_Op_free(&op), MPI_SUCCESS);
    assert_true(op == MPI_OP_NULL);
    for (int i = 0; i < 64; i++)
        MPI_Send(in, 2, MPI_INT, 0, 5, MPI_COMM_WORLD);
    MPI_Waitall(64, waits, MPI_STATUSES_IGNORE);
}

static void test_no_memory(void **state)
{
    struct ft_type store;
    int refused = 0;
    (void)state;

    for (int i = 0; i < 40; i++) {
        MPI_Datatype t = draw(3);
        const struct ft_type *known = ft_type_of(t, &store);
        assert_non_null(known);
        for (long left = 0, failed = 1; failed; left++) {
            mock_fail_memory(left, 1);
            const struct ft_typemap *l = ft_typemap_of(known, FT_BY_ELEMENT);
            failed = mock_memory_back();
            assert_int_equal(!l, failed > 0);
            refused += !l;
        }
        MPI_Type_free(&t);
    }
    assert_true(refused > 40);
}

/* With FTRMA_CHECK=data the bytes of a long double that belong to no value are packed as zero. */
static void test_padding(void **state)
{
    static unsigned char data[ROOM], packed[ROOM];
    MPI_Datatype basic[] = {MPI_LONG_DOUBLE, MPI_LONG_DOUBLE_INT, MPI_C_LONG_DOUBLE_COMPLEX};
    (void)state;

    if (LDBL_MANT_DIG != 64)
        return;
    ft_check_data = 1;
    for (int i = 0; i < 300; i++) {
        struct ft_type store;
        MPI_Datatype b = basic[i % 3], inner = around(below(7), b), t = around(below(7), inner);
        static struct map m;
        size_t of = size_of(b);
        MPI_Type_commit(&t);
        const struct ft_type *known = ft_type_of(t, &store);
        if (is_plain(t, 2, &m)) {
            fill(data, sizeof data);
            ft_pack(known, data + ROOM / 2, 2, packed);
            assert_true(known->padded && !known->contiguous);
            for (size_t k = 0; k < 2 * m.n; k++) {
                ptrdiff_t at = m.at[k % m.n] + (ptrdiff_t)(k / m.n) * known->extent;
                size_t in = i % 3 == 2 ? k % 16 : k % of;
                assert_int_equal(packed[k], in >= 10 && in < 16 ? 0 : data[ROOM / 2 + at]);
            }
        }
        MPI_Type_free(&inner);
        MPI_Type_free(&t);
    }
    ft_check_data = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_place), cmocka_unit_test(test_predefined),
        cmocka_unit_test(test_drawn),     cmocka_unit_test(test_received),
        cmocka_unit_test(test_large),     cmocka_unit_test(test_cursors),
        cmocka_unit_test(test_reused),    cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_padding),
    };
    mock_begin();
    rng = (struct ft_prng){job_seed(1)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
