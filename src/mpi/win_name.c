/* SPDX-License-Identifier: BSD-3-Clause
 *
 * win_name.c - names and info of windows (MPI-3.1, 6.8 and 11.2.7). All keys are accepted, and none
 * changes anything.
 */
#include <string.h>

#include "mpi/win_access.h"

FT_MPI(int, Win_set_name, (MPI_Win win, const char *name))
{
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_set_name, (win, name));
    FT_WIN_CHECK(name, w, MPI_ERR_ARG, "MPI_Win_set_name");
    size_t n = strnlen(name, sizeof w->name - 1);
    memcpy(w->name, name, n);
    w->name[n] = 0;
    return MPI_SUCCESS;
}

FT_MPI(int, Win_get_name, (MPI_Win win, char *name, int *len))
{
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_get_name, (win, name, len));
    size_t n = strlen(w->name);
    memcpy(name, w->name, n + 1);
    *len = (int)n;
    return MPI_SUCCESS;
}

/* Keys that are given again replace the old values; others stay. */
static int merge(MPI_Info from, MPI_Info into)
{
    int n, len, flag, code = HOST(Info_get_nkeys)(from, &n);
    char key[MPI_MAX_INFO_KEY + 1];

    for (int i = 0; code == MPI_SUCCESS && i < n; i++) {
        if ((code = HOST(Info_get_nthkey)(from, i, key)) != MPI_SUCCESS ||
            (code = HOST(Info_get_valuelen)(from, key, &len, &flag)) != MPI_SUCCESS)
            break;
        char *value = ft_scratch(FT_SCRATCH_WIN, (size_t)len + 1);
        if ((code = HOST(Info_get)(from, key, len, value, &flag)) == MPI_SUCCESS)
            code = HOST(Info_set)(into, key, value);
    }
    return code;
}

FT_MPI(int, Win_set_info, (MPI_Win win, MPI_Info info))
{
    int code = MPI_SUCCESS;
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_set_info, (win, info));
    FT_WIN_CHECK(info != MPI_INFO_NULL, w, MPI_ERR_INFO, "MPI_Win_set_info");
    if (w->info == MPI_INFO_NULL)
        code = HOST(Info_create)(&w->info);
    if (code == MPI_SUCCESS)
        code = merge(info, w->info);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_set_info");
    return MPI_SUCCESS;
}

FT_MPI(int, Win_get_info, (MPI_Win win, MPI_Info *info))
{
    /* MPI-3.1, 11.2.1: keys that have default values. */
    static const char *const defaults[][2] = {{"no_locks", "false"},
                                              {"accumulate_ordering", "rar,raw,war,waw"},
                                              {"accumulate_ops", "same_op_no_op"}};
    struct ft_window *w = ft_win_of(win);
    FT_WIN_OR_HOST(w, win, Win_get_info, (win, info));
    int code = HOST(Info_create)(info);
    for (size_t i = 0; code == MPI_SUCCESS && i < FT_COUNTOF(defaults); i++)
        code = HOST(Info_set)(*info, defaults[i][0], defaults[i][1]);
    if (code == MPI_SUCCESS && w->info != MPI_INFO_NULL)
        code = merge(w->info, *info);
    FT_WIN_CHECK(code == MPI_SUCCESS, w, code, "MPI_Win_get_info");
    return MPI_SUCCESS;
}
