/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_inter_persistent.c - coll_inter.c with every collective in its persistent form.
 */
#define FORM 2
#include "coll_forms.h"

#include "coll_inter.c"
