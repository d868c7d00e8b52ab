/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_inter_nonblocking.c - coll_inter.c with every collective in its nonblocking form.
 */
#define FORM 1
#include "coll_forms.h"

#include "coll_inter.c"
