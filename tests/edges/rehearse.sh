# SPDX-License-Identifier: BSD-3-Clause
# ftrun --rehearse: a right program gives the same result with each death, a program that forgets
# something does not, and it is said.
. "$(dirname "$0")/lib.sh"
program=$(edge rehearsed)

says() { grep -q -- "$1" out || fail "'$1' was not said: $(cat out)"; }
says_not() { ! grep -q -- "$1" out || fail "'$1' was said: $(cat out)"; }

ends 0 "3 deaths: same output, exit status, windows and protected memory" "$ftrun" -n 3 --rehearse "$program" nothing
says "rehearsal 1 of 3: rank [0-2] killed at safepoint [0-9]*, local recovery: same result"
says "rehearsal 2 of 3: .*all ranks go back to a checkpoint: same result"
says_not "Left out"
seed=$(sed -n 's/.*\(FTRMA_TEST_SEED=[0-9]*\) draws the same deaths again.*/\1/p' out)
first=$(grep "rehearsal 1" out)

# The same seed draws the same deaths; the report is that of the last run
ends 0 "$(echo "$first" | sed 's/1 of 3/1 of 1/')" env "$seed" "$ftrun" -n 3 --rehearse=1 \
    --report report "$program" nothing
grep -q '"who":"rank' report || fail "the report holds no death: $(cat report)"

# One array of two is not protected: the sum is wrong, in a job that ends well
ends 76 "1 of 1 deaths changed the result" "$ftrun" -n 3 --rehearse=1 "$program" array
says "rehearsal 1 of 1: .*: ANOTHER RESULT"
says "rank 0's stdout: line 1 is .sum [0-9.e+]*. instead of .sum [0-9.e+]*."
says "likely forgotten: "

# Times and process ids differ without a death as well
ends 0 "1 death: same output" "$ftrun" -n 2 --rehearse=1 "$program" times
says "Not compared, since they also differ without a death: words in 2 lines of output"

# Each run reads the same; with this seed it is not rank 0 that dies
numbers() { i=0; while [ $i -lt "$1" ]; do i=$((i + 1)); echo $i; done; }
numbers 4000 | FTRMA_TEST_SEED=1 TMPDIR=$work/tmp timeout -k 5 "$CLI_LIMIT" "$ftrun" -n 2 \
    --rehearse=1 "$program" input >out 2>&1
says "1 death: same output"
says "rank 1 killed"
nothing_left "input from a pipe"

# What cannot be rehearsed
ends 3 "the run without a death ended with status 3" "$ftrun" -n 2 --rehearse "$program" fails
says "sum "
ends 76 "does not call MPI" "$ftrun" -n 2 --rehearse true
ends 2 "cannot set up a rehearsal: No such file or directory. Set TMPDIR" env TMPDIR=/nonexistent \
    "$ftrun" -n 2 --rehearse "$program"
refuses "--rehearse=0: must be a number of deaths" "$ftrun" -n 2 --rehearse=0 "$program"
refuses "no spare can take the place" "$ftrun" -n 2 --rehearse --spares 0 "$program"
refuses "draws the deaths itself" "$ftrun" -n 2 --rehearse --inject rank=0,point=safepoint "$program"

# A signal ends all of it, but not SIGHUP under nohup
for case in TERM=143 USR1=138 USR2=140 ALRM=142 XCPU=152 TERM=143,nohup; do
    sig=${case%%=*} want=${case#*=} under=
    case $want in *,*) under=${want#*,} want=${want%,*} ;; esac
    rm -f out # the shell in the background may open it late
    # shellcheck disable=SC2086
    TMPDIR=$work/tmp $under "$ftrun" -n 2 --rehearse=1000 "$program" nothing >out 2>&1 </dev/null &
    pid=$!
    until grep -qs "rehearsal 1" out || ! kill -0 $pid; do sleep 0.05; done
    if [ -n "$under" ]; then
        kill -HUP $pid
        n=$(grep -c "^rehearsal" out)
        until [ "$(grep -c "^rehearsal" out)" -ge $((n + 2)) ] || ! kill -0 $pid; do sleep 0.05; done
    fi
    kill -$sig $pid
    wait $pid
    got=$?
    [ $got = $want ] || fail "SIG$sig gave status $got instead of $want: $(cat out)"
    nothing_left "a rehearsal ended by SIG$sig"
done

# also in a run for comparison, after a difference. It is the third one without a death
cat >held <<EOM
#!/bin/sh
case \$FTRMA_REHEARSAL in */run.2) : >"$work/compares"; exec sleep 1000 ;; esac
exec "$program" array
EOM
chmod +x held
TMPDIR=$work/tmp "$ftrun" -n 3 --rehearse=1 ./held >out 2>&1 </dev/null &
pid=$!
until [ -e compares ] || ! kill -0 $pid; do sleep 0.05; done
kill -TERM $pid
wait $pid
got=$?
[ $got = 143 ] || fail "SIGTERM in a run for comparison gave status $got instead of 143: $(cat out)"
says_not "ANOTHER RESULT"
nothing_left "a rehearsal ended in a run for comparison"
done_testing
