#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# layering.sh SOURCE - scripts/layering.sh finds nothing in the tree, nothing in a small one, and
# each kind of violation in that.
script=layering.sh
. "$(dirname "$0")/tree.sh"
for room in base erasure topology model alog image proto recover transport rma msg coll runtime mpi launch; do
    mkdir -p "$tree/src/$room"
    echo '#include "base/base.h"' >"$tree/src/$room/$room.c"
done
mkdir "$tree/include" "$tree/apps" "$tree/bench" "$tree/tests" "$tree/docs" "$tree/scripts"
check || bad=1

violation src/base/new.c '#include "transport/arena.h"'
violation src/msg/msg.c '#include "runtime/runtime.h"'
violation src/proto/proto.c '#include "runtime/rt.h"'
violation src/coll/new.h '#include "rma/rma.h"'
violation src/rma/rma.c ' # include "mpi/win.h"'
violation src/launch/new.c '#include "runtime/runtime.h"'
violation src/runtime/runtime.c '#include <mpi.h>'
violation src/proto/new.c '#include "base/sim_seeds.h"'
violation src/cellar/new.c 'int x;'
violation src/proto/new.c 'static long f(void) { return time(NULL); }'
violation src/recover/recover.c 'static int f(void) { return rand(); }'
violation src/topology/new.c 'static char *f(void) { return /* why */ getenv("HOME"); }'
violation src/model/new.h '#include <pthread.h>'
violation src/image/new.c 'static unsigned long f(void) { return ft_now_ns(); }'
violation src/erasure/new.c 'static int f(void) { return socket(1, 2, 3); }'
violation src/alog/alog.c 'static void f(void) { pthread_mutex_lock(0); }'
violation src/msg/new.c 'static void f(void) { pthread_create(0, 0, 0, 0); }'
violation docs/new.md 'it lies in /wor''k/main'
violation src/base/new.c "$(yes 'extern int x;' | head -801)"
violation src/rma/rma.c 'extern int ft_of_another_file;'
printf 'struct entry {\n    int a;\n};\n' >"$tree/src/alog/alog.h"
violation src/msg/msg.c 'struct entry { int b; };'
violation src/coll/new.c 'enum entry { ONE };'
rm "$tree/src/alog/alog.h"
violation src/coll/msg.h 'int x;'
violation docs/PROTOCOL.md "$(printf '**D1. A process is dead.** x\n\n- **D2, D1** y')"
violation src/coll/new.h "$(yes 'int f(void);' | head -121)"
harmless src/proto/new.c 'struct twice { int a; };
static void f(void) { struct twice { int b; } x; (void)x; extern int of_the_linker __attribute__((weak)); }'
harmless src/coll/new.h "$(yes 'int f(void);' | head -120)"
harmless src/proto/new.c '/* not the time(NULL) of day */ static const char *s = "rand()"; // socket(
static int f(struct s *p) { return p->time(1) + start_time(2) + p.read(3); }'
harmless src/proto/test_new.c 'static long f(void) { return time(NULL); }'

done_testing
