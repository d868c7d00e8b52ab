/* SPDX-License-Identifier: BSD-3-Clause
 *
 * coll_nonblocking.c - coll.c with every collective in its nonblocking form.
 */
#define FORM 1
#include "coll_forms.h"

#include "coll.c"
