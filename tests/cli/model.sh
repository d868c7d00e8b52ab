#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# model.sh - ftrma-model: what it prints, the paper's statements on the machine that is shipped, and what it refuses.
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || skip "no jq"
model=$build/bin/ftrma-model
root=$here/../..
tsubame=$root/docs/examples/tsubame2.domains

# As in lib.sh, but nothing is started that could be left: no look at all processes each time.
ends() {
    want=$1 text=$2
    shift 2
    timeout -k 5 240 "$@" >out 2>&1 </dev/null
    got=$?
    what="'$(echo "$*" | sed "s|$build/[a-z]*/||g")'"
    [ "$got" = "$want" ] || fail "$what ended with $got instead of $want: $(tail -20 out)"
    grep -q -- "$text" out || fail "$what did not say '$text' but: $(tail -20 out)"
}

# holds FILTER: the JSON in out is one for which jq's filter says true
holds() {
    jq -e "$1" out >/dev/null || fail "not so: $1: $(cat out)"
}

refused() { # TEXT ARGUMENTS...
    says=$1
    shift
    ends 2 "$says" "$model" "$@"
    [ "$(grep -c . out)" = 1 ] || fail "more than a reason: $(cat out)"
}

ends 0 "^usage: ftrma-model" "$model" --help
ends 0 "^usage: ftrma-model" "$model" plan --help
for option in $(grep -o -- '^  --[a-z-]*' out); do
    grep -q -- "$(echo "$option" | sed 's/-/\\\\-/g')" "$root/docs/man/ftrma-model.1" || fail "ftrma-model(1) does not have $option"
done

# --- daly: figure 3 of his paper ---
ends 0 "Daly's" "$model" daly --delta 5min --mtbf 24h
ends 0 "" "$model" daly --delta 5min --mtbf 1d --json
holds '(.interval / 60 | . > 116.5 and . < 117.5) and .lost_share > 0.08 and .lost_share < 0.082 and .delta == 300'

# --- pcf: figure 10c ---
ends 0 "" "$model" pcf --domains "$tsubame" --ranks 4000 --json --svg fig.svg
holds '[.rows[] | select(.checksums == 200) | .pcf.node / .pcf.switch] | .[0] > 3.4 and .[0] < 4.5'
holds '[.rows[].pcf["no-topo"]] | max - min < 1e-12'
holds '[.rows[].pcf | .["no-topo"] as $n | (.node, .psu, .switch, .rack | values) | $n / . | . > 10 and . < 2300] | all and length > 75'
holds '[.rows[] | select(.group > 44) | .pcf.rack] | length > 2 and all(. == null)'
grep -q '</svg>' fig.svg && [ "$(grep -c '<path' fig.svg)" = 5 ] || fail "no five curves: $(cat fig.svg)"
ends 0 "^    200    5.00    21  1.731e-05$" "$model" pcf --domains "$tsubame" --ranks 4000 --checksums 5% --aware switch
ends 0 "" "$model" pcf --domains "$tsubame" --ranks 4000 --parity 2 --checksums 400 --json
holds '.rows[0].group == 22 and .rows[0].pcf.rack < 3e-7'

# What is in docs/figures is what it draws today.
(cd "$root" && "$model" pcf --domains docs/examples/tsubame2.domains --ranks 4000 --svg "$work/pcf.svg") >pcf.txt
for f in pcf.txt pcf.svg; do
    cmp -s $f "$root/docs/figures/$f" || fail "docs/figures/$f is not what make figures draws: $(diff $f "$root/docs/figures/$f" | head -5)"
done

# --- montecarlo ---
mc="--ranks 4032 --checksums 192 --trials 100000"
# shellcheck disable=SC2086
{
    ends 0 "" "$model" montecarlo --domains "$tsubame" $mc --aware psu --placement worst --seed 7 --json
    holds '.seed == 7 and (.rows | length == 5) and (.rows | all(.low <= .exact * 1.000001 and .exact <= .high * 1.000001))'
    cp out first
    ends 0 "" "$model" montecarlo --domains "$tsubame" $mc --aware psu --placement worst --seed 7 --json
    cmp -s out first || fail "the same seed gave other numbers"
    ends 0 "" "$model" montecarlo --domains "$tsubame" $mc --aware node --seed 7 --json # spread better than was asked for
    holds '.aware == "node" and .placed == "rack" and (.rows[-1] | .high < .formula / 3)'
    ends 0 "" "$model" montecarlo --domains "$tsubame" $mc
    seed=$(sed -n 's/.*--seed \([0-9]*\)$/\1/p' out)
    cp out first
    ends 0 "" "$model" montecarlo --domains "$tsubame" $mc --seed "$seed"
    cmp -s out first || fail "the seed that was printed, '$seed', gives other numbers"
}

# --- plan ---
ask="--ranks 4000 --mtbf 1d --bytes 1G"
# shellcheck disable=SC2086
{
    ends 0 "ftrun --checksums 96 --parity 2 .*--aware switch" "$model" plan --domains "$tsubame" $ask --loss 1e-5
    ends 0 "" "$model" plan --domains "$tsubame" $ask --loss 1e-5 --json
    holds '.plan.loss <= 1e-5 and .plan.checksums == ([.cheapest_by_parity[].checksums] | min)'
    ends 0 "" "$model" plan --domains "$tsubame" $ask --loss 1e-3 --json
    holds '.plan.checksums < 96' # a wish for less costs less
    for loss in 3e-5 1e-6; do # the library can place what was planned, and it is as good as was promised
        ends 0 "" "$model" plan --domains "$tsubame" $ask --loss $loss --json
        jq -r '.cheapest_by_parity[] | "\(.checksums) \(.parity) \(.aware) \(.loss)"' out >plans
        [ "$(wc -l <plans)" -ge 3 ] || fail "few plans for $loss: $(cat plans)"
        while read -r checksums parity aware bound; do
            ends 0 "" "$model" montecarlo --domains "$tsubame" --ranks 4000 --checksums "$checksums" --parity "$parity" --aware "$aware" \
                --trials 2000 --seed 1 --json
            holds ".parity == $parity and .rows[-1].low <= $bound"
        done <plans
    done
    refused "no protection with m up to 1 keeps .*; the best is" plan --domains "$tsubame" $ask --loss 1e-7 --parity 1
    refused "must be between 0 and 1, not 1.5" plan --domains "$tsubame" $ask --loss 1.5
    refused "plan needs --mtbf, --bytes and --loss" plan --domains "$tsubame" $ask
}

# --- what cannot be ---
refused "the first argument is daly, pcf, plan or montecarlo"
refused "the first argument is daly, pcf, plan or montecarlo" pfc
refused "needs --delta and --mtbf" daly --mtbf 5
refused "must be above 0" daly --mtbf 0 --delta 1
refused "delta must be a time such as 90s, 5min, 1.5h or 2d, not '5x'" daly --mtbf 1d --delta 5x
refused "daly has no --ranks" daly --mtbf 1d --delta 5 --ranks 3
refused "pcf needs --domains and --ranks" pcf --ranks 3
refused "not/there: No such file" pcf --domains not/there --ranks 3
refused "has no such level; it has: node psu switch rack" pcf --domains "$tsubame" --ranks 4000 --aware cabinet
refused "parity must be a whole number from 1 to 8, not '9'" pcf --domains "$tsubame" --ranks 4000 --parity 9
refused "parity must be a whole number from 1 to 8, not '0'" pcf --domains "$tsubame" --ranks 4000 --parity 0
refused "201 checksum processes cannot be shared out, 2 to a group" pcf --domains "$tsubame" --ranks 4000 --checksums 201 --parity 2
refused "m = 3 is larger than a group, which has 2 ranks" pcf --domains "$tsubame" --ranks 4000 --checksums 6000 --parity 3
refused "no placement is aware of rack: there are 44, and 51 processes in a group" pcf --domains "$tsubame" --ranks 4000 --checksums 80 --aware rack
refused "101% is\|must be a whole number\|is no share" pcf --domains "$tsubame" --ranks 4000 --checksums 801%
refused "places is paper, aligned, any or dealt" pcf --domains "$tsubame" --ranks 4000 --places other
refused "placement is library or worst" montecarlo --domains "$tsubame" --ranks 4000 --checksums 200 --placement other
refused "montecarlo needs --checksums" montecarlo --domains "$tsubame" --ranks 4000
refused "No such file" pcf --domains "$tsubame" --ranks 4000 --svg no/such/dir.svg --json

printf 'level node in rack count 8 fails 0.1 1\nlevel rack count 2 fails 0.1 -1\n' >negative
refused "negative:2: " pcf --domains negative --ranks 8
printf 'level node in rack count 8 fails 3 1\nlevel rack count 2\n' >often
refused "often: level node: the probabilities of 1 to 8 failures add up to 1.7" pcf --domains often --ranks 8
printf 'level node in rack count 8\nlevel rack count 2\n' >never
refused "never: no level says how often it fails" pcf --domains never --ranks 8
done_testing
