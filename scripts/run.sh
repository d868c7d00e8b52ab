#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# run.sh BUILD - the main job: NAS FT, class W, on 4 ranks, with a checksum process and a spare;
# rank 2 is killed in the middle.
#
# Events come on stderr, the program's output on stdout; the program's last word is held back so
# that it is the last to be seen.
set -u
bin=$1/bin
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

{
    "$bin/ftrun" -v -n 4 --checksums 1 --spares 1 --inject rank=2,point=safepoint,hit=3 -- "$bin/npb_ft" W
    echo $? >"$dir/status"
} | sed -u -e "/^Verification/{w $dir/verdict" -e 'd' -e '}'
cat "$dir/verdict"
exit "$(cat "$dir/status")"
