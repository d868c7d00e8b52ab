#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# refused.sh - sets that are damaged, mixed or not this job's, setups that come to something else,
# and what cannot be asked for.
. "$(dirname "$0")/lib.sh"
steps="$build/tests/save_steps"

learn $steps
ends 75 "checkpoint [0-9]* is saved in .*first/set.[0-9]*: 'ftrun --restart first $steps ...' goes on" \
    "$ftrun" $job --quiet --save first,every=2 $(lost_at 4) $steps
ends 75 "job lost" "$ftrun" $job --save first,every=2 $(lost_at 9) $steps
set -- $(sets first)
old=$1
while [ $# -gt 1 ]; do old=$1 new=$2 && shift; done
[ "$(checkpoint_of first/set.$new)" -gt 1 ] || fail "$(cat first/set.$new/manifest.json)"

# The manifest names the job.
for want in '"ranks":[[:space:]]*4' '"groups":' '"arguments":' '"settings":' '"program":.*save_steps'; do
    grep -q "$want" first/set.$new/manifest.json ||
        fail "the manifest has no $want: $(cat first/set.$new/manifest.json)"
done
tr -d ' \n\t' <first/set.$new/manifest.json |
    grep -qF '"groups":[{"ranks":[0,2],"checksums":[0]},{"ranks":[1,3],"checksums":[1]}]' ||
    fail "other groups: $(cat first/set.$new/manifest.json)"

# The newest set is not used, and why; the one before is.
older() { # WHY: with d as it is
    ends 0 "set.$new is not used: $1" "$ftrun" --checksums 2 --checkpoint every:1 --restart d $steps
    same "with the set before ($1)"
    rm -r d
}
cp -r first d && printf X | dd of=d/set.$new/rank.1 bs=1 seek=500 conv=notrunc 2>/dev/null
older "rank.1: its contents are damaged"
cp -r first d && printf X | dd of=d/set.$new/rank.1 bs=1 seek=17 conv=notrunc 2>/dev/null
older "rank.1: its head is damaged"
cp -r first d && truncate -s -1 d/set.$new/rank.3
older "rank.3: it has [0-9]* bytes instead of"
cp -r first d && cp d/set.$old/rank.2 d/set.$new/rank.2
older "rank.2: it is rank 2 of 4 of checkpoint .*: sets were mixed"
cp -r first d && rm d/set.$new/rank.0
older "rank.0 cannot be read: No such file"
cp -r first d && sed -i 's/"wtime":\([^0-9]*\)[0-9]/"wtime":\19/' d/set.$new/manifest.json
older "its manifest is damaged"
cp -r first d && : >d/set.$new/manifest.json
older "its manifest is damaged"
cp -r first d && mv d/set.$new d/set.$new.part && rm -r d/set.$old
refuses "no set to go on from" "$ftrun" --restart d $steps
rm -r d

# What does not fit this job.
refuses "has 4 ranks, and -n is 3" "$ftrun" -n 3 --restart first $steps
refuses "was saved by another program" "$ftrun" --restart first $kvstore
cp "$steps" other && printf X >>other # the same build id
ends 0 "result:" "$ftrun" --checksums 2 --restart first ./other
objcopy --remove-section=.note.gnu.build-id "$steps" built_again
refuses "was saved by another program" "$ftrun" --restart first ./built_again
ends 0 "result:" "$ftrun" --checksums 2 --restart first --mixed ./built_again
same "with another build and --mixed"
ends 75 'ended without going on from .*\[set-unused\]$' "$ftrun" --checksums 2 --restart first --mixed "$ending"
# Another build of the library, and another processor than the one that the set was saved on.
mkdir -p other_build/bin other_build/lib
cp "$ftrun" other_build/bin
objcopy --remove-section=.note.gnu.build-id "$build/lib/libftrma.so" other_build/lib/libftrma.so
refuses "was saved by another build of ftrma" other_build/bin/ftrun --restart first $steps
ends 0 "result:" other_build/bin/ftrun --checksums 2 --restart first --mixed $steps
same "with another build of ftrma and --mixed"
if [ "$CLI_NAMESPACE" = own ]; then
    word=$(sed -n 's/^\(flags\|Features\)[[:space:]]*: *\([^ ]*\).*/\2/p' /proc/cpuinfo | head -n 1)
    for change in "s/ $word / /" "s/ $word / $word brandnew /"; do
        sed "/^\(flags\|Features\)/$change" /proc/cpuinfo >cpuinfo
        mount --bind cpuinfo /proc/cpuinfo
        refuses "was saved on another kind of processor (one of both has '\($word\|brandnew\)')" \
            "$ftrun" --restart first $steps
        ends 0 "result:" "$ftrun" --checksums 2 --restart first --mixed $steps
        same "on another processor and with --mixed"
        umount /proc/cpuinfo
    done
fi
refuses "no set to go on from" "$ftrun" --restart nowhere $steps
refuses "needs checkpoints" "$ftrun" -n 2 --checksums 0 --save d $steps
refuses "--restarts needs --save" "$ftrun" -n 2 --restarts 1 $steps
refuses "--mixed works only with --restart" "$ftrun" -n 2 --mixed $steps
refuses "every=K must be a number" "$ftrun" -n 2 --save d,every=x $steps
refuses "cannot be made" "$ftrun" -n 2 --save no/such/place $steps
refuses "does not go with" "$ftrun" -n 2 --rehearse --save d $steps
flock first/lock -c "$ftrun -n 2 --save first $steps" >out 2>&1 && fail "two jobs save in one place"
grep -q "another job saves there" out || fail "$(cat out)"

# Setup comes to something else, in the same program.
setup() { # NAME=VALUE TEXT
    ends 75 "$2" env "$1" "$ftrun" --checksums 2 --restart first $steps
}
setup STEPS_ADD=2 \
    "rank [0-3] cannot go on from .*repeat itself in call [0-9]*: now it came to an atomic.*\[set-unusable\]$"
# Nobody would ever be replaced, and what setup came to is noted all the same.
ends 75 "" "$ftrun" -n 4 --checksums 2 --spares 0 --checkpoint every:1 --save alone \
    --inject rank=2,point=safepoint,hit=5 $steps
ends 75 "its setup did not repeat itself in call [0-9]*: now it came to an atomic" \
    env STEPS_ADD=2 "$ftrun" --checksums 2 --spares 0 --restart alone $steps
ends 0 "result:" "$ftrun" --checksums 2 --spares 0 --restart alone $steps
same "without spares"
setup STEPS_COMMS=2 \
    "rank [0-3] cannot go on from .*in call [0-9]*: now it came to the making of a communicator or window"
setup STEPS_COMMS=0 "in call [0-9]*: now it came to .* in the saved job to the making of a communicator or window"
setup STEPS_SENDS=2 "rank [0-3] cannot go on from .*now it came to the messages to rank [0-3] ([0-9]*, "
ends 0 "note: in setup rank [0-3] sent rank [0-3] other data than in the saved job" \
    env STEPS_LINE=5 "$ftrun" --checksums 2 --restart first $steps
says_once "sent rank [0-3] other data"
ends 0 "result:" "$ftrun" --checksums 2 --restart first $steps
! grep -q "other data" out || fail "the same data is taken for other: $(cat out)"
setup STEPS_BYTES=32 "has another size"
setup STEPS_BARE=1 "it never called FTRMA_Run"
ends 0 "nothing was saved: the program took no checkpoint" env STEPS_BARE=1 "$ftrun" -n 2 --save d $steps
done_testing
