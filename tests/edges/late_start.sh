# SPDX-License-Identifier: BSD-3-Clause
#
# late_start.sh - a process that is stopped before it has come to the job's start is not waited for
# without an end: the job says which it is.
. "$(dirname "$0")/lib.sh"

export FTRMA_START_TIMEOUT_MS=500
for who in rank=1 spare=0; do
    ends 75 "process [0-9]* (pid [0-9]*) .* has not come .* for 500 ms.*FTRMA_START_TIMEOUT_MS.*\[start-stuck\]$" \
        "$ftrun" -n 3 --inject $who,point=init.enter,action=stop "$(edge clocked)" 1
done
done_testing
