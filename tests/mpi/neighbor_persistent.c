/* SPDX-License-Identifier: BSD-3-Clause
 *
 * neighbor_persistent.c - neighbor.c with every collective in its persistent form.
 */
#define FORM 2
#include "coll_forms.h"

#include "neighbor.c"
