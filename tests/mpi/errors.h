/* SPDX-License-Identifier: BSD-3-Clause
 *
 * errors.h - for tests of misuse: a call must return an error of the class.
 */
#ifndef ERRORS_H
#define ERRORS_H

#include "check.h"

static inline int class_of(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class;
}

#define WRONG(call, class)                                                  \
    do {                                                                    \
        int code_ = (call);                                                 \
        if (class_of(code_) != (class))                                     \
            fprintf(stderr, "%s gives class %d\n", #call, class_of(code_)); \
        CHECK(class_of(code_) == (class));                                  \
    } while (0)

#endif
