# SPDX-License-Identifier: BSD-3-Clause
# ftrun --rehearse on the programs of apps/ and tests/local: all the same with each death. Who
# cheats on purpose is found out, and it is said how.
#
#   REHEARSE_ALL=all      all programs (a quarter of an hour), or a list of names; else some of them
#   REHEARSE_DEATHS=N     of each
. "$(dirname "$0")/lib.sh"
BIN=$build/bin
. "$here/../local/programs.sh"

SOME="npb_ft npb_cg lulesh kvstore stencil patterns_C cheat_tag_pid"
ALL="npb_ft npb_cg lulesh kvstore $PROTECTED $UNMODIFIED births threads spin spinsend spinheard
patterns_A_create patterns_C_create cas_create patterns_A_plain cas_plain manager_order waitany_order"
for f in stencil_f clock_f; do [ ! -x "$BIN/local_$f" ] || ALL="$ALL $f"; done
for c in $CHEATS; do ALL="$ALL ${c}_pid"; done
case ${REHEARSE_ALL:-some} in
some) names=$SOME deaths=${REHEARSE_DEATHS:-1} ;;
all) names=$ALL deaths=${REHEARSE_DEATHS:-3} ;;
*) names=$REHEARSE_ALL deaths=${REHEARSE_DEATHS:-3} ;;
esac

# How one that cheats is found out in a replay, if what it has done comes to be compared.
sign_of() {
    case $1 in
    cheat_value*) echo "data: now" ;;
    cheat_displ*) echo "displacement: now" ;;
    cheat_operand*) echo "operand: now" ;;
    cheat_tag*) echo "tag: now" ;;
    cheat_length*) echo "bytes: now" ;;
    cheat_late*) ;; # not in each place
    cheat_*) echo "replay.*diverged\|are not those that its lost process had sent" ;;
    esac
}

# rehearse NAME OPTIONS...
rehearse() {
    name=$1
    shift
    TMPDIR=$work/tmp timeout -k 5 $((5 * CLI_LIMIT)) "$ftrun" -n $ranks "$@" $cmd >out 2>&1 </dev/null
    got=$?
    echo "== $name ($got)"
    grep -v "^Rehearsing\|^run \|^Left out\|: same result$" out
    [ "$got" = 0 ] || fail "$name: $(cat out)"
    nothing_left "$name"
}

for name in $names; do
    select_program "$name"
    case $kind$no_rollback in
    cheat) # always with the same deaths: some come where there is nothing to repeat
        FTRMA_TEST_SEED=1 rehearse "$name" --recovery auto --rehearse="$deaths"
        sign=$(sign_of "$name")
        [ -z "$sign" ] || grep -q "note: .*$sign" out || fail "$name was not found out: $(cat out)"
        continue ;;
    threaded | *1) rehearse "$name" --recovery auto --rehearse="$deaths" ;; # nobody could be taken back
    *) rehearse "$name" --rehearse="$deaths" ;;
    esac
    # what does not hold yet: it gets from its own window until somebody's put is there
    [ "$name" = selfget ] || ! grep -q "diverged" out || fail "$name diverged: $(cat out)"
done
done_testing
