# SPDX-License-Identifier: BSD-3-Clause
#
# lib.sh - read by the scripts of this folder: what the tests of the command line have (ends,
# refuses, fail, done_testing ...), and jobs that are lost.
: "${CLI_SHM:=1g}"
. "$(dirname "$0")/../cli/lib.sh"

kvstore="$build/bin/kvstore --inserts 300 --rounds 5 --slots 128"
# One codeword a group, so that ranks 0 and 2 together are too many.
job="-n 4 --checksums 2 --checkpoint every:1"

# lost_at HIT [POINT]: arguments by which the job is lost
lost_at() { echo "--inject rank=0,point=${2:-safepoint},hit=$1 --inject rank=2,point=${2:-safepoint},hit=$1"; }

result() { grep '^result:' "$1"; }

# learn COMMAND...: what it prints when nothing fails, in the file expected
learn() {
    ends 0 '^result:' "$ftrun" $job "$@"
    cp out expected
}

# same WHAT: the job just run has the result of the one without failures
same() { [ "$(result out)" = "$(result expected)" ] || fail "$1: $(result out) instead of $(result expected)"; }

# sets DIR: the numbers of the sets there
sets() { ls "$1" | sed -n 's/^set\.\([0-9]*\)$/\1/p' | sort -n | tr '\n' ' '; }

checkpoint_of() { sed -n 's/.*"checkpoint":[^0-9]*\([0-9]*\),/\1/p' "$1/manifest.json"; }
