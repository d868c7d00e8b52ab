/* SPDX-License-Identifier: BSD-3-Clause
 *
 * environment.c - what may be called before MPI_Init and after MPI_Finalize (MPI-3.1, 8.7
 * and 14.3.4), the tool interface, versions, predefined attributes, info, memory, error codes (8.1
 * to 8.5, 9); windows on memory of every kind beside them.
 */
#include "errors.h"

static int deleted;

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

/* np is 0 before MPI_Init, when nothing may be aborted */
static void at_any_time(int initialized, int finalized)
{
    int flag, major, minor, len;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];

    if (MPI_Initialized(&flag) != MPI_SUCCESS || flag != initialized ||
        MPI_Finalized(&flag) != MPI_SUCCESS || flag != finalized ||
        MPI_Get_version(&major, &minor) != MPI_SUCCESS || major != MPI_VERSION ||
        minor != MPI_SUBVERSION || MPI_Get_library_version(text, &len) != MPI_SUCCESS || len < 1 ||
        len > (int)strlen(text) + 1)
        exit(1);
}

static void attributes(void)
{
    static const int keys[] = {MPI_TAG_UB, MPI_HOST, MPI_IO, MPI_WTIME_IS_GLOBAL, MPI_LASTUSEDCODE};
    int *value, flag, keyval;

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, keys[i], &value, &flag) == MPI_SUCCESS && flag);
        CHECK(keys[i] != MPI_TAG_UB || *value >= 32767);
    }
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keyval, NULL); /* deleted by MPI_Finalize */
}

static void info_and_memory(void)
{
    MPI_Info info, dup;
    char key[MPI_MAX_INFO_KEY + 1], value[8];
    int n, len, flag;
    char *p;
    MPI_Win win;

    MPI_Info_create(&info);
    MPI_Info_set(info, "alignment", "4096");
    MPI_Info_set(info, "a", "b");
    MPI_Info_dup(info, &dup);
    MPI_Info_get_nkeys(dup, &n);
    MPI_Info_get_nthkey(dup, 1, key);
    CHECK(n == 2 && strcmp(key, "a") == 0);
    MPI_Info_delete(dup, key);
    MPI_Info_get(dup, "a", 7, value, &flag);
    CHECK(!flag);
    MPI_Info_get_valuelen(info, "a", &len, &flag);
    CHECK(flag && len == 1);
    MPI_Info_free(&dup);
    CHECK(MPI_Alloc_mem(100000, info, &p) == MPI_SUCCESS);
    memset(p, me, 100000);
    MPI_Win_create(p, 100000, 1, info, MPI_COMM_WORLD, &win);
    MPI_Info_free(&info);
    MPI_Win_fence(0, win);
    MPI_Put(&me, 1, MPI_INT, (me + 1) % np, 99996, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Win_free(&win);
    CHECK(p[99996] == (me + np - 1) % np && p[0] == me && p[99995] == me);
    CHECK(MPI_Free_mem(p) == MPI_SUCCESS);
}

/* Static, on the stack, and one over a part of the other; all at once. */
static void places(void)
{
    static int area[1000];
    int local[50] = {0}, *base[3] = {area, area + 500, local}, size[3] = {1000, 500, 50}, x = 77;
    MPI_Win win[3];

    for (int i = 0; i < 3; i++) {
        MPI_Win_create(base[i], (MPI_Aint)((size_t)size[i] * sizeof(int)), sizeof(int),
                       MPI_INFO_NULL, MPI_COMM_WORLD, &win[i]);
        MPI_Win_lock_all(0, win[i]);
    }
    MPI_Put(&x, 1, MPI_INT, (me + 1) % np, 510, 1, MPI_INT, win[0]);
    MPI_Put(&x, 1, MPI_INT, (me + 1) % np, 11, 1, MPI_INT, win[1]);
    MPI_Put(&x, 1, MPI_INT, (me + 1) % np, 49, 1, MPI_INT, win[2]);
    for (int i = 0; i < 3; i++)
        MPI_Win_unlock_all(win[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(area[510] == 77 && area[511] == 77 && *(volatile int *)&local[49] == 77);
    for (int i = 0; i < 3; i++)
        MPI_Win_free(&win[i]);
}

static void error_codes(void)
{
    int class, code, got, len;
    char text[MPI_MAX_ERROR_STRING], *p;
    MPI_Win win;

    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "mine");
    MPI_Error_string(code, text, &len);
    MPI_Error_class(code, &got);
    CHECK(got == class && strcmp(text, "mine") == 0);
    MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &p, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK(MPI_Win_call_errhandler(win, code) == MPI_SUCCESS);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    int provided, queried, n, len;
    char name[MPI_MAX_PROCESSOR_NAME];

    at_any_time(0, 0);
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS ||
        MPI_T_cvar_get_num(&n) != MPI_SUCCESS || n < 1 || MPI_T_pvar_get_num(&n) != MPI_SUCCESS ||
        MPI_T_category_get_num(&n) != MPI_SUCCESS)
        return 1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    at_any_time(1, 0);
    MPI_Query_thread(&queried);
    CHECK(queried == provided && provided >= MPI_THREAD_SINGLE);
    CHECK(MPI_Is_thread_main(&n) == MPI_SUCCESS && n);
    CHECK(MPI_Pcontrol(0) == MPI_SUCCESS && MPI_Pcontrol(2, "more", 1) == MPI_SUCCESS);
    MPI_Get_processor_name(name, &len);
    CHECK(len > 0 && len == (int)strlen(name) && MPI_Wtick() > 0 && MPI_Wtime() <= MPI_Wtime());
    attributes();
    info_and_memory();
    places();
    error_codes();
    CHECK(MPI_T_finalize() == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        puts("ok");
    MPI_Finalize();
    at_any_time(1, 1);
    return deleted == 1 ? 0 : 1;
}
