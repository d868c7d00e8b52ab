#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# layering.sh SOURCE - scripts/layering.sh finds nothing in the tree, nothing in a small one, and each kind of violation in that.
set -u
source=$1
bad=0
sh "$source/scripts/layering.sh" "$source" || exit 1

tree=$(mktemp -d) || exit 2
trap 'rm -rf "$tree"' EXIT
for room in base erasure topology model alog image proto recover transport rma msg coll runtime mpi launch; do
    mkdir -p "$tree/src/$room"
    echo '#include "base/base.h"' >"$tree/src/$room/$room.c"
done
mkdir "$tree/include" "$tree/apps" "$tree/bench" "$tree/tests" "$tree/docs" "$tree/scripts"
sh "$source/scripts/layering.sh" "$tree" || bad=1

# violation FILE TEXT: with this text at its end, the file must be complained about, and not without
violation() {
    existed=1
    [ -e "$tree/$1" ] && cp "$tree/$1" "$tree/saved" || existed=0
    mkdir -p "$tree/${1%/*}"
    printf '%s\n' "$2" >>"$tree/$1"
    if out=$(sh "$source/scripts/layering.sh" "$tree") || ! echo "$out" | grep -q "$1"; then
        echo "not found: '$2' in $1; it said: $out"
        bad=1
    fi
    rm "$tree/$1"
    [ $existed = 0 ] || mv "$tree/saved" "$tree/$1"
}

# harmless FILE TEXT: this must not be complained about
harmless() {
    printf '%s\n' "$2" >"$tree/$1"
    if ! out=$(sh "$source/scripts/layering.sh" "$tree"); then
        echo "'$2' in $1 is harmless; it said: $out"
        bad=1
    fi
    rm "$tree/$1"
}

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
harmless src/proto/new.c '/* not the time(NULL) of day */ static const char *s = "rand()"; // socket(
static int f(struct s *p) { return p->time(1) + start_time(2) + p.read(3); }'
harmless src/proto/test_new.c 'static long f(void) { return time(NULL); }'

[ "$bad" = 0 ] && echo "each violation was found"
exit "$bad"
