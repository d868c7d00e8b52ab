#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# help.sh - what ftrun prints about itself.
. "$(dirname "$0")/lib.sh"

ends 0 "^usage: ftrun" "$ftrun" --help
for option in -n --checksums --spares --mtbf --checkpoint --recovery --log --log-limit --bind --inject \
    --report --trace --host-args -H --hostfile -v --help-settings \
    --version; do
    grep -q -- " $option\b" out || fail "--help does not mention $option"
done
ends 0 "^usage: ftrun" "$ftrun" -h
ends 0 "^ftrun (ftrma) [0-9]" "$ftrun" --version
ends 0 "^FTRMA_SPARES" "$ftrun" --help-settings
grep -q "^FTRMA_LOG  (off|puts|all, default all)" out || fail "--help-settings does not say the words of FTRMA_LOG"
grep -q "^FTRMA_PARITY  (whole number of codewords from 1 to 8, default 1)" out ||
    fail "--help-settings does not say the range of FTRMA_PARITY"
grep -q "^FTRMA_MTBF.*86400" out || fail "--help-settings does not say the default of FTRMA_MTBF"
ends 0 "^safepoint " "$ftrun" --inject list
for name in $(sed -n 's/^FT_FAILPOINT([A-Z_]*, "\([a-z.]*\)".*/\1/p' "$here/../../src/base/failpoint.def"); do
    grep -q "^$name " out || fail "--inject list does not print $name"
done

# mpirun's options reach it, and what -x names reaches the program
printf '#!/bin/sh\nenv | grep GIVEN >&2\nexec "$@"\n' >wrapped
chmod +x wrapped
ends 0 "sum over 2 ranks" "$ftrun" -np 2 --oversubscribe -x GIVEN="a b" -map-by slot \
    --mca btl_base_verbose 0 --tag-output ./wrapped "$ending"
grep -q "GIVEN=a b" out || fail "-x did not reach the processes: $(cat out)"
grep -q "^\[1,0\]<stdout>" out || fail "--tag-output did not reach mpirun: $(cat out)"
done_testing
