/* SPDX-License-Identifier: BSD-3-Clause
 *
 * neighbor_nonblocking.c - neighbor.c with every collective in its nonblocking form.
 */
#define FORM 1
#include "coll_forms.h"

#include "neighbor.c"
