#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# model.sh - ftrma-model: what it prints, the paper's statements on the machine that is shipped, and
# what it refuses.
. "$(dirname "$0")/lib.sh"
command -v jq >/dev/null || skip "no jq"
model=$build/bin/ftrma-model
root=$here/../..
tsubame=$root/docs/examples/tsubame2.domains

# As in lib.sh, but nothing is started that could be left: no look at all processes each time.
ends() {
    want=$1 text=$2
    shift 2
    timeout -k 5 "$CLI_LIMIT" "$@" >out 2>&1 </dev/null
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
    grep -q -- "$(echo "$option" | sed 's/-/\\\\-/g')" "$root/docs/man/ftrma-model.1" ||
        fail "ftrma-model(1) does not have $option"
done

# --- daly: figure 3 of his paper ---
ends 0 "Daly's" "$model" daly --delta 5min --mtbf 24h
ends 0 "" "$model" daly --delta 5min --mtbf 1d --json
holds '(.interval / 60 | . > 116.5 and . < 117.5) and .lost_share > 0.08 and .lost_share < 0.082 and .delta == 300'

# --- pcf: figure 10c ---
ends 0 "" "$model" pcf --domains "$tsubame" --ranks 4000 --json
holds '[.rows[] | select(.checksums == 200) | .pcf.node / .pcf.switch] | .[0] > 3.4 and .[0] < 4.5'
holds '[.rows[].pcf["no-topo"]] | max - min < 1e-12'
holds '[.rows[].pcf | .["no-topo"] as $n | (.node, .psu, .switch, .rack | values) | $n / .] |
    all(. > 10 and . < 2300) and length > 75'
holds '[.rows[] | select(.group > 44) | .pcf.rack] | length > 2 and all(. == null)'
ends 0 "^    200    5.00    21  1.731e-05$" "$model" pcf --domains "$tsubame" --ranks 4000 --checksums 5% --aware switch
ends 0 "" "$model" pcf --domains "$tsubame" --ranks 4000 --parity 2 --checksums 400 --json
holds '.rows[0].group == 22 and .rows[0].pcf.rack < 3e-7'

# What is in docs/figures is what it prints today.
(cd "$root" && "$model" pcf --domains docs/examples/tsubame2.domains --ranks 4000) >pcf.txt
cmp -s pcf.txt "$root/docs/figures/pcf.txt" ||
    fail "docs/figures/pcf.txt is not what make figures prints: $(diff pcf.txt "$root/docs/figures/pcf.txt" | head -5)"

# --- montecarlo ---
mc="--ranks 4032 --checksums 192 --trials 100000"
# shellcheck disable=SC2086
{
    ends 0 "" "$model" montecarlo --domains "$tsubame" $mc --aware psu --placement worst --seed 7 --json
    holds '.seed == 7 and (.rows | length == 5) and
        (.rows | all(.low <= .exact * 1.000001 and .exact <= .high * 1.000001))'
    cp out first
    ends 0 "" "$model" montecarlo --domains "$tsubame" $mc --aware psu --placement worst --seed 7 --json
    cmp -s out first || fail "the same seed gave other numbers"
    # spread better than was asked for
    ends 0 "" "$model" montecarlo --domains "$tsubame" $mc --aware node --seed 7 --json
    holds '.aware == "node" and .placed == "rack" and (.rows[-1] | .high < .formula / 3)'
    ends 0 "" "$model" montecarlo --domains "$tsubame" $mc
    seed=$(sed -n 's/.*--seed \([0-9]*\)$/\1/p' out)
    cp out first
    ends 0 "" "$model" montecarlo --domains "$tsubame" $mc --seed "$seed"
    cmp -s out first || fail "the seed that was printed, '$seed', gives other numbers"
}

# --- plan ---
ask="--ranks 4000 --bytes 1G"
# shellcheck disable=SC2086
{
    ends 0 "ftrun -n 4000 --checksums [0-9]* --parity [0-9] --spares [0-9]* .*--aware [a-z]* --mtbf 86400s" \
        "$model" plan --domains "$tsubame" $ask --mtbf 1d
    ends 0 "" "$model" plan --domains "$tsubame" $ask --mtbf 1h --json
    holds '.plan.machine_time == ([.best_by_parity[].machine_time] | min) and .plan.machine_time < 1.2'
    holds '.plan.lost_share < 0.05 and (.best_by_parity | any(.lost_share < 0.9))'
    for loss in 1e-4 3e-5; do # the library can place what was planned, and it is as good as was promised
        ends 0 "" "$model" plan --domains "$tsubame" $ask --mtbf 900d --loss $loss --json
        jq -r '.best_by_parity[] | "\(.checksums) \(.parity) \(.aware) \(.loss)"' out >plans
        [ "$(wc -l <plans)" -ge 3 ] || fail "few plans for $loss: $(cat plans)"
        while read -r checksums parity aware bound; do
            ends 0 "" "$model" montecarlo --domains "$tsubame" --ranks 4000 \
                --checksums "$checksums" --parity "$parity" --aware "$aware" --trials 2000 \
                --seed 1 --json
            holds ".parity == $parity and .rows[-1].low <= $bound and $bound <= $loss"
        done <plans
    done
    ends 0 "" "$model" plan --domains "$tsubame" $ask --json # no --mtbf: what the file says
    holds '.plan.mtbf == .mtbf_rates and .mtbf_rates > 7e7 and .mtbf_rates < 9e7'
    refused "contradicts the machine's rates" plan --domains "$tsubame" $ask --mtbf 10y
    refused "no protection with m up to 1 keeps .*; the best is" plan --domains "$tsubame" $ask --loss 1e-7 --parity 1
    refused "must be above 0, and 1 at the most, not 1.5" plan --domains "$tsubame" $ask --loss 1.5
    refused "plan needs --bytes" plan --domains "$tsubame" --ranks 4000
    refused "there is room for 4010 processes" plan --domains "$tsubame" $ask --processes 4010
    refused "there is no --within any more: write --work" plan --domains "$tsubame" $ask --within 1d
    refused "unknown option '--bites'; did you mean --bytes?" plan --domains "$tsubame" --bites 4
}

# a cluster of 4000 nodes on which two fail a day is an ordinary one
printf '%s\n' 'level node in rack count 4000 fails 5.34 1.3' 'level rack count 100 fails 0.07 1.5' \
    'process per 1' >cluster.domains
ends 0 "by the machine's rates" "$model" plan --domains cluster.domains --ranks 3500 --bytes 16G --work 10d
ends 0 "" "$model" plan --domains cluster.domains --ranks 3500 --bytes 16G --work 10d --json
holds '.plan | .mtbf > 40000 and .mtbf < 60000 and .spares > 20 and .machine_time < 1.2 and .loss < 0.05'

# the other machine that is shipped, with rates that its file leaves to the reader
refused "no level says how often it fails" pcf --domains "$root/docs/examples/cray-xe.domains" --ranks 1000
sed 's/count 384/& fails 0.5 1.4/' "$root/docs/examples/cray-xe.domains" >xe.domains
ends 0 "384 node, 96 blade, 12 chassis, 4 cabinet" "$model" plan --domains xe.domains --ranks 8000 --bytes 1G

# ftrun takes what is printed, as it is
printf 'level node in rack count 8 fails 0.1 1\nlevel rack count 4 fails 0.01 1\nprocess per 1\n' >small.domains
ends 0 "^-n 4 --checksums" "$model" plan --as-options --domains small.domains --ranks 4 --bytes 64M --work 2h
# shellcheck disable=SC2046
ends 0 "sum over 4 ranks" "$ftrun" \
    $("$model" plan --as-options --domains small.domains --ranks 4 --bytes 64M --work 2h) "$ending"
cp small.domains "two words"
refused "would split 'two words' into words" plan --as-options --domains "two words" --ranks 4 --bytes 1M
ends 0 "" "$model" plan --as-options --domains "$tsubame" --ranks 4000 --bytes 1G --mtbf 1d # no more than ftrun starts
awk '{ exit !($2 + $4 + $8 <= 4096) }' out || fail "more than 4096 processes: $(cat out)"

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
refused "201 checksum processes cannot be shared out, 2 to a group" pcf --domains "$tsubame" \
    --ranks 4000 --checksums 201 --parity 2
refused "m = 3 is larger than a group, which has 2 ranks" pcf --domains "$tsubame" --ranks 4000 \
    --checksums 6000 --parity 3
refused "no placement is aware of rack: there are 44, and 51 processes in a group" pcf \
    --domains "$tsubame" --ranks 4000 --checksums 80 --aware rack
refused "101% is\|must be a whole number\|is no share" pcf --domains "$tsubame" --ranks 4000 --checksums 801%
refused "places is paper, aligned, any or dealt" pcf --domains "$tsubame" --ranks 4000 --places other
refused "placement is library or worst" montecarlo --domains "$tsubame" --ranks 4000 --checksums 200 --placement other
refused "montecarlo needs --checksums" montecarlo --domains "$tsubame" --ranks 4000
refused "there is no --svg any more" pcf --domains "$tsubame" --ranks 4000 --svg fig.svg

printf 'level node in rack count 8 fails 0.1 1\nlevel rack count 2 fails 0.1 -1\n' >negative
refused "negative:2: " pcf --domains negative --ranks 8
printf 'level node in rack count 8 fails 30 1\nlevel rack count 2\n' >often # expected counts
ends 0 " 1.7" "$model" pcf --domains often --ranks 8 --aware none
printf 'level node in rack count 8\nlevel rack count 2\n' >never
refused "never: no level says how often it fails" pcf --domains never --ranks 8
done_testing
