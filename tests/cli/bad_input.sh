#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# bad_input.sh - bad input gets a clear error, and nothing is started.
CLI_SHM=16m # room for three processes, and no more
. "$(dirname "$0")/lib.sh"

refuses "no program given" "$ftrun" -n 2
refuses "no program given" "$ftrun" -n 2 --
refuses "number of ranks is missing" "$ftrun" "$ending"
refuses "-n 0: must be" "$ftrun" -n 0 "$ending"
refuses "-n -1: must be" "$ftrun" -n -1 "$ending"
refuses "-n many: must be" "$ftrun" -n many "$ending"
refuses "'-n' needs a value" "$ftrun" -n
refuses "was not found" "$ftrun" -n 2 ./no-such-program
touch plain
refuses "was not found or cannot be executed" "$ftrun" -n 2 ./plain
refuses "unknown option '--spare'; did you mean --spares?" "$ftrun" -n 2 --spare 1 "$ending"
refuses "more checksum processes than ranks" "$ftrun" -n 2 --checksums 3 "$ending"
refuses "FTRMA_CHECKSUMS=3: more checksum processes than ranks" env FTRMA_CHECKSUMS=3 "$ftrun" -n 2 "$ending"
refuses "--checksums one: must be" "$ftrun" -n 2 --checksums one "$ending"
refuses "parity 3 is larger than a group" "$ftrun" -n 4 --parity 3 --checksums 6 "$ending"
refuses "no-such-file: cannot be read: No such file" "$ftrun" -n 2 --domains no-such-file "$ending"
printf 'level node in psu count 4\nlevel psu in node count 2\n' >machine
refuses "machine:1: a cycle: level node" "$ftrun" -n 2 --domains machine "$ending"
printf 'level node count 4\nprocess per 1\n' >machine
refuses "'rack' is no level of failure domains. The levels are: node" \
    "$ftrun" -n 2 --domains machine --aware rack "$ending"
refuses "no placement is aware of level node.*The best level that is possible is none" \
    "$ftrun" -n 2 --aware node "$ending"
printf 'level node\nnode not-this-one\n' >machine
refuses "no node has the name of its host" "$ftrun" -n 2 --domains machine "$ending"
refuses "--spares -1: must be" "$ftrun" -n 2 --spares -1 "$ending"
refuses "ask for fewer" "$ftrun" -n 4096 --spares 100 "$ending"
refuses "--mtbf 0: must be" "$ftrun" -n 2 --mtbf 0 "$ending"
refuses "must be daly, every:K" "$ftrun" -n 2 --checkpoint often "$ending"
refuses "must be daly, every:K" "$ftrun" -n 2 --checkpoint every:0 "$ending"
refuses "must be auto, global or program" "$ftrun" -n 2 --recovery local "$ending"
refuses "ftrun has no option '-N': write" "$ftrun" -N 2 "$ending"
refuses "--log some: must be off, puts or all" "$ftrun" -n 2 --log some "$ending"
refuses "FTRMA_LOG=some: must be off, puts or all" env FTRMA_LOG=some "$ftrun" -n 2 "$ending"
for limit in 0 -1 many 4Q 99999999999999; do
    refuses "--log-limit $limit: must be a size such as" "$ftrun" -n 2 --log-limit "$limit" "$ending"
done
refuses "did you mean safepoint?" "$ftrun" -n 2 --inject rank=1,point=safepiont "$ending"
refuses "no-such-point" "$ftrun" -n 2 --inject rank=1,point=no-such-point "$ending"
refuses "no-such-point" env "FTRMA_INJECT=rank=1,point=no-such-point" "$ftrun" -n 2 "$ending"
refuses "--inject" "$ftrun" -n 2 --inject rank=2,point=safepoint "$ending"
refuses "--inject" "$ftrun" -n 2 --inject rank=1 "$ending"
refuses "--inject" "$ftrun" -n 2 --inject rank=1,point=safepoint,hit=0 "$ending"
refuses "--report" "$ftrun" -n 2 --report "$work/no/such/place" "$ending"
refuses "--trace" "$ftrun" -n 2 --trace "$work/no/such/place" "$ending"
refuses "--host-args" "$ftrun" -n 2 --host-args "'unfinished" "$ending"
refuses "FTRMA_ARENA_SIZE" env FTRMA_ARENA_SIZE=big "$ftrun" -n 2 "$ending"
refuses "FTRMA_ARENA_DIR=/no/such/place" env FTRMA_ARENA_DIR=/no/such/place "$ftrun" -n 2 "$ending"
refuses "mpirun was not found" env PATH=/usr/share "$ftrun" -n 2 "$ending"

# the program's own arguments are its own business, and so is its status: 2 here too
ends 2 "Q" "$ftrun" -n 2 "$npb_ft" Q
! grep -q "^iteration" out || fail "npb_ft has begun with class Q: $(cat out)"

if [ "$CLI_NAMESPACE" = own ]; then
    refuses "too little room in /dev/shm: 8 processes need at least [0-9]* bytes, and [0-9]* are free" \
        "$ftrun" -n 6 "$ending"
else
    echo "(too little room in /dev/shm was not tried: it takes a mount namespace)"
fi
done_testing
