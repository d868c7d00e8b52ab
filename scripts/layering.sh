#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# layering.sh [TREE] - the rules of the house that a compiler does not see: calls go down only, the
# rooms without I/O know no clock, thread, environment, random source, socket or MPI, mpi.h belongs
# to src/mpi, a variable is declared in a header, a name means one thing, files and private headers
# stay small. Prints each violation; fails on any.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 2

# room: the rooms that it may include from (its own and base go without saying)
below() {
    case "$1" in
    base | erasure | topology | model | image | transport | save | wire) echo "" ;;
    proto) echo "model" ;; # the clock of checkpoints
    gate) echo "wire transport alog rma erasure" ;; # what the processes of a node say goes over the wire
    alog) echo "transport" ;; # records lie in arenas
    recover) echo "proto alog image erasure topology" ;;
    msg) echo "transport alog" ;;
    coll) echo "transport alog msg" ;; # nonblocking ones go on in waits, and say so at the log home
    rma) echo "transport alog msg coll" ;; # a fence is a barrier, post and complete are messages
    runtime) echo "coll rma msg recover model image proto transport alog erasure topology save" ;;
    mpi) echo "runtime coll rma msg alog" ;;
    ftt) echo "runtime transport proto" ;; # the transport as a library, for programs without MPI, too
    launch) echo "model topology transport image save gate wire proto" ;; # a writer of sets reads images in arenas
    tools) echo "transport alog model topology" ;; # what logs look like
    *) return 1 ;;
    esac
}

# Rooms where time and randomness arrive with the event.
pure="proto recover alog image erasure topology model"
forbidden_calls='time|times|clock|clock_[a-z]*|gettimeofday|ft_now_ns|ft_proc_[a-z_]*'
forbidden_calls="$forbidden_calls|[nu]?sleep|nanosleep|alarm|timer_[a-z]*"
forbidden_calls="$forbidden_calls|pthread_[a-z_]*|thrd_[a-z]*|mtx_[a-z]*|fork|vfork|syscall|ft_wait|ft_wake_[a-z]*"
forbidden_calls="$forbidden_calls|getenv|secure_getenv|setenv|ft_setting_[a-z0-9]*"
forbidden_calls="$forbidden_calls|s?rand|rand_r|s?random|[dlm]rand48|getrandom|getentropy"
forbidden_calls="$forbidden_calls|socket|socketpair|connect|bind|listen|accept|send|sendto|sendmsg"
forbidden_calls="$forbidden_calls|recv|recvfrom|recvmsg|poll|ppoll|select|epoll_[a-z]*"
forbidden_calls="$forbidden_calls|open|openat|fopen|read|write|pread|pwrite|mmap|P?MPI_[A-Za-z_]*"
forbidden_headers='time\.h|pthread\.h|threads\.h|unistd\.h|signal\.h|fcntl\.h|poll\.h|mpi\.h'
forbidden_headers="$forbidden_headers|sys/(time|socket|epoll|mman|random|syscall)\.h"
forbidden_headers="$forbidden_headers|base/settings\.h|base/private\.h"

# Tests may do what they like, with their helpers: test_*.h, mock_*.[ch] and, in src, sim*.h.
is_test() {
    case "$1" in sim/*) return 1 ;; esac
    case "${1##*/}" in test_*.[ch] | mock_*.[ch] | sim*.h) return 0 ;; esac
    return 1
}

# The text of a file without comments, strings and line splices, lines kept.
code() {
    awk '
        { line = $0; out = ""
          while (line != "") {
              if (inside) {
                  e = index(line, "*/")
                  if (!e) { line = ""; break }
                  line = substr(line, e + 2); inside = 0
              } else if (match(line, /"([^"\\]|\\.)*"|'"'"'([^'"'"'\\]|\\.)*'"'"'|\/\*|\/\//)) {
                  token = substr(line, RSTART, RLENGTH)
                  out = out substr(line, 1, RSTART - 1)
                  rest = substr(line, RSTART + RLENGTH)
                  if (token == "/*") inside = 1
                  else if (token == "//") rest = ""
                  else out = out (line ~ /^[ \t]*#[ \t]*include/ ? token : "\"\"")
                  line = rest
              } else { out = out line; line = "" }
          }
          print out }' "$1"
}

bad=0
complain() {
    echo "layering: $*"
    bad=1
}

check_includes() { # file room code
    allowed=" $2 base $(below "$2") "
    sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$3" | {
        status=0
        while read -r inc; do
            room=${inc%%/*}
            case "$inc" in
            ftrma.h) [ "$2" = mpi ] && continue ;;
        ftrma_transport.h) [ "$2" = ftt ] && continue ;;
            */mock_* | */sim*) ;; # a test's helper in what is no test
            */*) case "$allowed" in *" $room "*) continue ;; esac ;;
            esac
            echo "layering: $1 includes $inc: $2 may include from:$allowed"
            status=1
        done
        exit $status
    } || bad=1
    [ "$2" = mpi ] || ! grep -Eq '#[ \t]*include[ \t]*[<"]mpi(-ext)?\.h' "$3" ||
        complain "$1 includes mpi.h, which belongs to src/mpi"
}

check_purity() { # file code
    found=$(grep -nE -e "(^|[^A-Za-z0-9_.>])($forbidden_calls)[ \t]*\(" \
        -e "#[ \t]*include[ \t]*[<\"]($forbidden_headers)[>\"]" "$2") || return 0
    complain "$1: rooms without I/O must not know this:
$found"
}

# What a file declares and is called. A variable of another file is declared in a header, which its
# definition includes: else the two may differ. What no C file of ours defines (the linker's names,
# Fortran's) has __attribute__.
check_names() { # file code
    case "$1" in
    *.c) found=$(grep -nE '^[ \t]*extern[ \t]' "$2" | grep -v __attribute__) &&
        complain "$1: an extern belongs in a header:
$found" ;;
    *) case " $long_headers " in *" $1 "*) ;; *)
        lines=$(wc -l <"$1")
        [ "$lines" -le 120 ] || complain "$1 has $lines lines: a private header has at most 120" ;; esac ;;
    esac
    stem=${1##*/}
    echo "stem ${stem%.*} ${1%.*}" >>"$names"
    sed -nE 's/^[ \t]*(typedef[ \t]+)?(struct|union|enum)[ \t]+([A-Za-z_][A-Za-z0-9_]*)[ \t]*\{.*/tag \3/p' "$2" |
        sed "s|\$| $1|" >>"$names"
}

# File stems that stand for one subject in two rooms: a machine and what carries it out, what a
# process and what ftrun does about it.
stems="coll demand output rehearse replay save scratch snapshot win"
# Tags that stand for one thing in two places, as one of them takes the other's place.
tags="ft_command"
# Private headers above 120 lines.
long_headers="\
    src/ftt/endpoint.h"

work=$(mktemp) || exit 2
names=$(mktemp) || exit 2
trap 'rm -f "$work" "$names"' EXIT

for f in $(find src sim -name '*.[ch]' 2>/dev/null | sort); do
    room=${f#src/}
    room=${room%%/*}
    if [ "$room" != sim ] && ! below "$room" >/dev/null; then
        complain "$f: src/$room is no room of the house: say here what it may include"
        continue
    fi
    is_test "$f" && continue
    code "$f" >"$work"
    check_names "$f" "$work"
    [ "$room" = sim ] && continue
    check_includes "$f" "$room" "$work"
    case " $pure " in *" $room "*) check_purity "$f" "$work" ;; esac
    case "$f" in src/wire/link.[ch]) check_purity "$f" "$work" ;; esac # a machine in a room with I/O
    # launch is no part of the library: ftrun feeds standard input by a thread of its own
    [ "$room" = runtime ] || [ "$room" = launch ] || ! grep -nE '(pthread|thrd)_create[ \t]*\(' "$work" ||
        complain "$f starts a thread: threads belong to src/runtime"
done
# In one file a tag may be defined again, in another function; a stem may have a .c and a .h.
sort -u "$names" | awk -v stems=" $stems " -v tags=" $tags " '
    index($1 == "stem" ? stems : tags, " " $2 " ") { next }
    { n[$1 " " $2]++; where[$1 " " $2] = where[$1 " " $2] " " $3 }
    END { for (k in n) if (n[k] > 1) print "layering: the " k " stands for two things:" where[k] }' | sort >"$work"
[ -s "$work" ] && cat "$work" && bad=1
for id in $(sed -n \
    's/^\(- \)\{0,1\}\*\*\([A-Z][0-9]\{1,2\}[a-z]\{0,1\}\(, [A-Z][0-9]\{1,2\}[a-z]\{0,1\}\)*\)\(\.\|\*\*\).*/\2/p' \
    docs/PROTOCOL.md 2>/dev/null |
    tr -d ' ' | tr ',' '\n' | sort | uniq -d); do
    complain "docs/PROTOCOL.md defines the rule $id twice"
done

long=$(find src include apps bench tests scripts \
    \( -name '*.[chs]' -o -name '*.sh' -o -name '*.f90' -o -name '*.def' \) \
    -exec wc -l {} + | awk '$2 != "total" && $1 > 800 { print $2 " has " $1 " lines: more than 800 hold two ideas" }')
[ -z "$long" ] || complain "$long"

# What only makes sense at the place where it was written: paths of one machine, numbers of a
# tracker.
words=$(grep -rnIsE '/wor[k]/|\bissue #?[0-9]' src include apps bench tests docs scripts cmake \
    Makefile CMakeLists.txt README* .ci)
if [ -n "$words" ]; then
    complain "words that mean nothing to a reader elsewhere:
$words"
fi
[ "$bad" = 0 ] && echo "layering: all is in its place"
exit "$bad"
