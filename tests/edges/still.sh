# SPDX-License-Identifier: BSD-3-Clause
# Some ranks are over and the others wait for them: it is said who is where, and the job ends with
# 75. Nothing is said where a rank is at work, or stopped. All jobs run at the same time, since each
# has to wait for some seconds.
. "$(dirname "$0")/lib.sh"
export FTRMA_OVER_LIMIT=2

# begin NAME OPTIONS... : the job NAME runs; its output is the file out.NAME, its status the file
# status.NAME
begin() {
    name=$1
    shift
    {
        TMPDIR=$work/tmp timeout -k 5 "$CLI_LIMIT" "$ftrun" -n 3 "$@" >"out.$name" 2>&1 </dev/null
        echo $? >"status.$name"
    } &
}
# ended NAME STATUS TEXT
ended() {
    got=$(cat "status.$1")
    [ "$got" = "$2" ] || fail "$1 ended with $got instead of $2: $(cat "out.$1")"
    grep -q -- "$3" "out.$1" || fail "$1 did not say '$3': $(cat "out.$1")"
}
silent() { ! grep -q "nothing has moved" "out.$1" || fail "a false alarm in $1: $(cat "out.$1")"; }

begin loop --checkpoint every:5 --inject rank=1,point=safepoint,hit=12 "$(edge rehearsed)" loop
begin short "$(edge rehearsed)" short
begin finalize "$(edge still)" finalize
begin computes "$(edge still)" computes 9
begin tests "$(edge still)" tests 9
FTRMA_PING_TIMEOUT_MS=60000 begin stopped "$(edge still)" stopped 9
begin ring "$(edge still)" ring
until grep -q "nothing has moved" out.ring; do
    sleep 0.1
    jobs >running
    [ -s running ] && [ ! -e status.ring ] || break
done
for p in $(processes); do # a deadlock without anybody over may be what a debugger is wanted for
    { tr '\0' ' ' <"/proc/$p/cmdline" | grep -q "ftrun -n 3.*still ring" && kill -INT "$p"; } 2>/dev/null
done
wait

waits="waits in MPI_[A-Za-z]* for rank"
loop="probably a loop variable is not protected"
ended loop 75 "job lost: body has ended on ranks 0 2; rank 1 $waits [02]; $loop\..*\[all-wait\]$"
ended short 75 "job lost: body has ended on ranks 1 2; rank 0 $waits [12]\. .*\[all-wait\]$"
ended finalize 75 "job lost: ranks 0 2 are in MPI_Finalize; rank 1 $waits 0\. .*\[all-wait\]$"
ended ring 130 "note: rank 0 $waits 2; rank 1 $waits 0; rank 2 $waits 1 (nothing has moved for 5 s)"
for j in loop short finalize; do
    grep -q "note: .* (nothing has moved for 5 s; ftrma ends the job in 2 s)" "out.$j" ||
        fail "$j did not say it before: $(cat "out.$j")"
done
for j in computes tests stopped; do
    ended $j 0 done
    silent $j
done
nothing_left "jobs that stood still"
done_testing
