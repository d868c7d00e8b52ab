#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# tutorial.sh SOURCE BUILD - types every command of docs/TUTORIAL.md in a scratch directory, and
# compares the output that the page shows.
#
# A command begins with "$ " inside a block that is marked ```console; the lines after it, up to the
# next command, are its output (both streams). A line "..." stands for any number of lines. "..." at
# the end of a line stands for any end. In lines that begin with "[ftrma", "ftrun:", "Rehearsing" or
# "run", and in those that begin with a space, numbers may differ. Lines that begin with "[ftrma" or
# "ftrun:" may be anywhere: they come on stderr, and the line for a loss may come up to 0.2 s after
# the loss.
set -u
source=$(cd "$1" && pwd) || exit 1
build=$(cd "$2" && pwd) || exit 1
for tool in jq; do
    command -v "$tool" >/dev/null || { echo "skipped: no $tool"; exit 77; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkdir "$work/tree" "$work/tools" "$work/tmp"
ln -s "$build" "$work/tree/build"
ln -s "$source/include" "$source/examples" "$work/tree"
for tool in mpicc mpirun; do # another MPI may own the plain name
    ln -s "$(command -v $tool.openmpi || command -v $tool)" "$work/tools/$tool"
done
export PATH="$work/tools:$PATH" TMPDIR="$work/tmp" OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_tcp_if_include=lo # Open MPI 5 prints a complaint if it finds no way back through another network

# script: the commands, each with its output in a file of its own; N.want: what the page shows
awk -v dir="$work" '
    /^```/ { inside = ($0 == "```console"); next }
    !inside { next }
    /^\$ / {
        n++
        command = substr($0, 3)
        while (command ~ /\\$/ && (getline more) > 0) {
            sub(/\\$/, "", command)
            sub(/^ +/, "", more)
            command = command more
        }
        printf "{ %s\n} >%s/%d.out 2>&1 </dev/null; echo $? >%s/%d.status\n", command, dir, n, dir, n > (dir "/script")
        print command > (dir "/" n ".command")
        printf "" > (dir "/" n ".want")
        next
    }
    { print > (dir "/" n ".want") }
' "$source/docs/TUTORIAL.md"
(cd "$work/tree" && . "$work/script")

# same WANT OUT: is OUT what WANT shows?
same() {
    awk '
        function mask(line) {
            if (line ~ /^(\[ftrma|ftrun:|Rehearsing|run| )/)
                gsub(/[0-9]+(\.[0-9]+)?/, "N", line)
            gsub(/ +/, " ", line)
            gsub(/N (us|ms|s)/, "N s", line)
            return line
        }
        function fits(w, o) { # a line of the page, a line of the output
            return w ~ /\.\.\.$/ ? index(o, substr(w, 1, length(w) - 3)) == 1 : w == o
        }
        function anywhere(w, i) {
            for (i = 1; i <= outs; i++)
                if (fits(w, out[i])) return 1
            return 0
        }
        FILENAME == ARGV[1] { want[++wants] = mask($0); next }
        { out[++outs] = mask($0) }
        END {
            at = 1
            any = 0
            for (i = 1; i <= wants; i++) {
                if (want[i] == "...") { any = 1; continue }
                if (want[i] ~ /^(\[ftrma|ftrun:)/) {
                    if (!anywhere(want[i])) { print "the page shows: " want[i]; exit 1 }
                    any = 1
                    continue
                }
                while (any && at <= outs && !fits(want[i], out[at])) at++
                if (at > outs || !fits(want[i], out[at])) { print "the page shows: " want[i]; exit 1 }
                at++
                any = 0
            }
            if (at <= outs && !any) { print "the page does not show: " out[at]; exit 1 }
        }' "$1" "$2"
}

bad=0
i=1
while [ -f "$work/$i.command" ]; do
    if [ "$(cat "$work/$i.status")" != 0 ] && ! grep -q '^diff ' "$work/$i.command"; then
        echo "FAILED: '$(cat "$work/$i.command")' ended with $(cat "$work/$i.status"): $(tail -20 "$work/$i.out")"
        bad=1
    elif ! said=$(same "$work/$i.want" "$work/$i.out"); then
        echo "FAILED: '$(cat "$work/$i.command")': $said; it printed: $(tail -40 "$work/$i.out")"
        bad=1
    fi
    i=$((i + 1))
done
[ "$i" -gt 20 ] || { echo "FAILED: only $((i - 1)) commands were found on the page"; bad=1; }
[ "$bad" = 0 ] && echo "$((i - 1)) commands did what the page shows"
exit "$bad"
