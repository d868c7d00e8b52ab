// SPDX-License-Identifier: BSD-3-Clause
// The header is C++ as well.
#include <ftrma_transport.h>

extern "C" int ftt_in_cpp(FTT_Transport *t)
{
    FTT_Event ev;
    FTT_Part part = {0, 8, 1, 8};
    double x = 0;
    int st = FTT_Fetch_part(t, 0, "x", &part, &x, sizeof x);
    return st != FTT_OK ? st : FTT_Poll(t, &ev, 0);
}
