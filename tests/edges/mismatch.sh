# SPDX-License-Identifier: BSD-3-Clause
#
# mismatch.sh - counts that do not fit together in a collective are the program's error:
# MPI_ERR_TRUNCATE for its error handler, and with MPI_ERRORS_ARE_FATAL the end of the job with its
# class (15). No process dies of it, so none is replaced.
. "$(dirname "$0")/lib.sh"

for coll in bcast allreduce gatherv ibcast iallreduce; do
    ends 15 "MPI_ERR_TRUNCATE.* where .*expect" "$ftrun" -v -n 3 "$(edge mismatch)" $coll
    grep -q ' replacement: \|internal error' out && fail "$coll: a process died of it: $(cat out)"
    ends 0 'result: ' "$ftrun" -v -n 3 "$(edge mismatch)" $coll return
    grep -q ' replacement: \|internal error' out && fail "$coll return: a process died of it: $(cat out)"
done
done_testing
