#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# again.sh - what a program prints, what time it is, and what it reads, go on over a restart; ftrun
# restarts a lost job by itself.
. "$(dirname "$0")/lib.sh"
steps="$build/tests/save_steps"

run() { # STATUS INPUT ARGUMENTS...: standard output in out, standard error in err
    want=$1 input=$2
    shift 2
    TMPDIR=$work/tmp timeout -k 5 "$CLI_LIMIT" "$ftrun" "$@" <"$input" >out 2>err
    got=$?
    [ $got = "$want" ] || fail "'ftrun $*' ended with $got instead of $want: $(tail -5 err)"
    nothing_left "'ftrun $*'"
}

echo 7 >seven
run 0 seven $job $steps 30
cp out expected
[ "$(grep -c step out)" = 30 ] || fail "$(cat out)"

# Another job shows what follows the set, and nothing of what came before it.
run 75 seven -v $job --save d,every=3 $(lost_at 20) $steps 30
[ "$(grep -c "is saved: .* in set 1," err)" = 1 ] || fail "the first set is not told of once: $(cat err)"
shown=$(wc -l <out)
run 0 seven --checksums 2 --restart d $steps 30
n=$(wc -l <out)
tail -n "$n" expected | cmp -s - out || fail "after the restart: $(cat out)"
[ $((shown + n)) -ge 32 ] || fail "$shown lines before and $n after: some are lost"
grep -q '^setup' out && fail "setup's output came again"

# The same ftrun shows each line once. Its standard input is a pipe, or a file.
for input in pipe file; do
    rm -r d
    if [ $input = pipe ]; then
        echo 7 | TMPDIR=$work/tmp "$ftrun" $job --save d --restarts 2 --report r.json $(lost_at 20) $steps 30 >out 2>err
    else
        TMPDIR=$work/tmp "$ftrun" $job --save d --restarts 2 --report r.json $(lost_at 20) $steps 30 >out 2>err <seven
    fi
    cmp -s expected out || fail "with --restarts, input from a $input: $(cat err out)"
    grep -q "restart 1 of 2: all ranks go on from checkpoint" err || fail "$(cat err)"
    tail -n 1 err | grep -q "the job had 2 losses in 2 runs: .*by restart" || fail "the last line: $(cat err)"
    nothing_left "--restarts"
done

# It is restarted as often as was said, and not when the program itself has failed.
rm -r d
run 75 seven $job --save d --restarts 2 $(lost_at 4) $steps 30
[ "$(grep -c "all ranks go on" err)" = 2 ] || fail "not two restarts: $(cat err)"
rm -r d
STEPS_EXIT=1 run 1 seven $job --save d --restarts 2 $steps 3
rm -r d
! grep -q "all ranks go on" err || fail "$(cat err)"
run 75 seven $job --save d --restarts 1 $(lost_at 1 run.enter) $steps 30
grep -q "not restarted: it has saved no set in" err || fail "lost before there was a set: $(cat err)"

# What an earlier job has left in the directory is another job's.
echo 8 >eight
run 75 seven $job --save d $(lost_at 20) $steps 30
before=$(sets d)
run 75 eight $job --save d --restarts 2 $(lost_at 1 run.enter) $steps 30
[ -z "$(grep '^result:' out)" ] || fail "the result of another job: $(cat out err)"
grep -q "not restarted: it has saved no set in" err || fail "after another job: $(cat err)"
! grep -q "all ranks go on\|goes on from it" err || fail "another job's set: $(cat err)"
[ "$(sets d)" = "$before" ] || fail "another job's sets: $(sets d), not $before"
run 0 eight $job $steps 30
cp out expected8
run 0 eight $job --save d --restarts 1 $(lost_at 20) $steps 30
cmp -s expected8 out || fail "after another job: $(cat err out)"

# Lost before the first set, a job that went on from one does so again, wherever that is.
rm -r d
run 75 seven $job --save d $(lost_at 20) $steps 30
for to in e d; do
    [ $to = d ] || run 75 eight $job --save e $(lost_at 20) $steps 30 # the newest set there is another job's
    run 75 seven $job --restart d --save $to --restarts 1 $(lost_at 1 run.enter) $steps 30
    grep -q "restart 1 of 1: all ranks go on from checkpoint [0-9]* ($work/d/set" err || fail "to $to: $(cat err)"
    ! grep -q "goes on from it" err || fail "to $to: $(cat err)"
done

# An argument that is no UTF-8: the manifest is JSON all the same.
rm -r d
odd=$(printf 'a\377')
run 75 seven $job --save d $(lost_at 20) $steps 30 "$odd"
iconv -f UTF-8 -t UTF-8 d/set.*/manifest.json >/dev/null || fail "the manifest is no UTF-8"
run 0 seven --checksums 2 --restart d $steps 30 "$odd"
done_testing
