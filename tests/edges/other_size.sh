# SPDX-License-Identifier: BSD-3-Clause
#
# other_size.sh - a replacement whose window has another size than the lost process's is the
# program's doing: 75 and why, and no bug of ftrma.
. "$(dirname "$0")/lib.sh"

ends 0 'result: ' "$ftrun" -n 3 "$(edge other_size)"
ends 75 'window .* of rank 1 has [0-9]* bytes .*, and had [0-9]* before: the program is not .*\[window-size\]$' \
    "$ftrun" -n 3 --inject rank=1,point=rma.atomic.done,hit=5 "$(edge other_size)"
grep -q 'internal error' out && fail "it was called a bug: $(cat out)"
done_testing
