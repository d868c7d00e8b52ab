/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_persistent.c - coll.c with every collective in its persistent form.
 */
#define FORM 2
#include "coll_forms.h"

#include "coll.c"
