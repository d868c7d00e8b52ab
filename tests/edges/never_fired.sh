#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# never_fired.sh - an --inject that never fired is said, and nothing else changes.
. "$(dirname "$0")/lib.sh"

ends 0 "warning: --inject rank=1,point=safepoint,hit=1000 never fired" "$ftrun" -n 4 --report r.json \
    --inject rank=2,point=safepoint,hit=3 --inject rank=1,point=safepoint,hit=1000 "$npb_ft" S
says_once "never fired"
jq -e '[.. | objects | select(has("fired"))] == [{inject: "rank=2,point=safepoint,hit=3", fired: true},
    {inject: "rank=1,point=safepoint,hit=1000", fired: false}]' r.json >line ||
    fail "the report says otherwise: $(cat r.json)"
ends 0 "--inject spare=0,point=rejoin.setup never fired" \
    env FTRMA_INJECT=spare=0,point=rejoin.setup "$ftrun" -n 2 "$ending"
ends 3 "--inject rank=0,point=safepoint never fired" "$ftrun" -n 2 --inject rank=0,point=safepoint "$ending" exit 1 3

# of a replacement, and of each carrier
ends 75 "" "$ftrun" -n 4 --spares 1 --inject rank=2,point=safepoint,hit=3 \
    --inject spare=0,point=rejoin.setup "$npb_ft" S
! grep -q "never fired" out || fail "both have fired: $(cat out)"
ends 0 "" "$ftrun" -n 2 "$ending"
! grep -q "never fired" out || fail "there was nothing to fire: $(cat out)"
done_testing
