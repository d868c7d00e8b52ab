# SPDX-License-Identifier: BSD-3-Clause
#
# jobs.sh - what the scripts of injected failures share: running a job, judging it, looking for what
# it left. To be sourced.
#
#   BIN   where ftrun and the programs are; set it before sourcing
# Each run gets a directory of its own for the host's temporary files, and a mark in its environment
# by which its processes are known. With CHAOS_RECORDS=1 each process of a run records what it hears
# and does, and the machine of src/recover/process.h must do the same.

WORK=$(mktemp -d "${TMPDIR:-/tmp}/chaos-XXXXXX") || exit 2
MARK=$$.${WORK##*-}
mkdir "$WORK/tmp"
runs=0 bad=0
LIMIT=${CHAOS_LIMIT:-600} # seconds, for a run that hangs: most take less than one, at a load of 60 half a minute

cleanup() { rm -rf "$WORK"; }
trap cleanup EXIT
trap 'exit 130' INT TERM

# Pseudo-random numbers from a seed: a run is repeated by its seed. draw N sets $drawn to 0..N-1.
SEED=${CHAOS_SEED:-$(date +%s)}
lcg=$((SEED % 2147483647))
draw() {
    lcg=$(((lcg * 1103515245 + 12345) % 2147483648))
    drawn=$((lcg / 65536 % $1))
}

. "$(dirname "$0")/../share.sh"
. "$(dirname "$0")/../shm.sh"
shm_before=$(shm_files)

processes_left() { grep -lazx "FTRMA_TEST_MARK=$MARK" /proc/[0-9]*/environ 2>/dev/null; }

# job NAME ARGUMENTS OF FTRUN...: sets status, result, and the files $WORK/out, err, report
job() {
    job_line="$*"
    runs=$((runs + 1)) tried=yes
    : >"$WORK/report"
    if [ -n "${CHAOS_RECORDS-}" ]; then
        rm -rf "$WORK/records" && mkdir "$WORK/records"
        export FTRMA_AGENT_LOG="$WORK/records/%s"
    fi
    FTRMA_TEST_MARK="$MARK" TMPDIR="$WORK/tmp" timeout -k 5 "$LIMIT" "$BIN/ftrun" \
        -v --report "$WORK/report" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null
    status=$?
    [ -z "${CHAOS_RECORDS-}" ] || replay_records
    result=$(grep -E '^(result:|sum )' "$WORK/out" | sort -u | tr '\n' ' ')
}

complain() {
    bad=$((bad + 1))
    echo "FAILED: $1"
    echo "    ftrun $job_line"
    echo "    status $status, $result"
    sed 's/^/    | /' "$WORK/err" | tail -n "${CHAOS_LINES:-25}"
    if [ -n "$CHAOS_KEEP" ]; then
        mkdir -p "$CHAOS_KEEP"
        cp "$WORK/err" "$CHAOS_KEEP/$$.$bad.err"
        cp "$WORK/out" "$CHAOS_KEEP/$$.$bad.out"
        cp "$WORK/report" "$CHAOS_KEEP/$$.$bad.report"
    fi
}

# What the processes of the job just run have heard is fed to the machine once more.
replayed=0
replay_records() {
    for record in "$WORK"/records/*; do
        [ -s "$record" ] || continue
        if "$BIN/ftrma-sim" --replay-agent "$record" >"$WORK/replay" 2>&1; then
            replayed=$((replayed + 1))
            continue
        fi
        complain "the machine does something else than process ${record##*/} did"
        sed 's/^/    | /' "$WORK/replay" | head -n 10
        [ -z "$CHAOS_KEEP" ] || cp "$record" "$CHAOS_KEEP/$$.$bad.record"
    done
}

# Nothing may be left of the job just run: its directory, its processes.
nothing_left() {
    if [ -n "$(ls -A "$WORK/tmp")" ]; then
        complain "left in TMPDIR: $(ls -A "$WORK/tmp")"
        rm -rf "$WORK/tmp" && mkdir "$WORK/tmp"
    fi
    left=$(processes_left) && complain "processes left: $left"
}

# Whether somebody died at failpoint $1 in the job just run.
died_at() { grep -q "\"failpoint\":\"$1\"" "$WORK/report"; }

# The job just run must have ended like the one without failures: $1 is its result.
survived() {
    if [ $status -eq 124 ] || [ $status -eq 137 ]; then
        complain "hangs"
    elif [ $status -ne 0 ]; then
        complain "exit status $status"
    elif [ "$result" != "$1" ]; then
        complain "another result than $1"
    elif grep -q 'Verification: FAILED' "$WORK/out"; then
        complain "not verified"
    fi
    nothing_left
}

# The job just run must be lost, and say so in words that match $1.
lost() {
    if [ $status -ne 75 ]; then
        complain "exit status $status, not 75"
    elif ! grep -Eq -- "$1" "$WORK/err"; then
        complain "no message that matches: $1"
    fi
    nothing_left
}

# The last line and exit status of a script.
verdict() {
    for f in $(shm_left "$shm_before"); do
        bad=$((bad + 1))
        echo "FAILED: left in /dev/shm: $f"
    done
    share_tried
    [ $replayed -eq 0 ] || echo "$replayed records were run again without a difference"
    echo "$runs runs, $bad failed (CHAOS_SEED=$SEED)"
    [ $bad -eq 0 ]
}

program() { # name -> command
    case $1 in
    npb_ft) echo "$BIN/npb_ft S" ;;
    kvstore) echo "$BIN/kvstore --inserts 300 --rounds 5 --slots 128" ;;
    medley) echo "$BIN/chaos_medley" ;;
    npb_cg) echo "$BIN/npb_cg S --iters 1" ;;
    lulesh) echo "$BIN/lulesh -s 4 -i 20" ;;
    crossing) echo "$BIN/scenario_crossing" ;;
    esac
}

# Of those that cannot have 4.
ranks_of() { [ $1 != lulesh ] || echo "-n 8"; }

# learn PROGRAMS: what each prints under $common when nothing fails, in $expect_NAME
learn() {
    for p in "$@"; do
        job $common $(ranks_of $p) -- $(program $p)
        eval "expect_$p=\$result"
        [ $status -eq 0 ] && [ -n "$result" ] || complain "without failures"
        nothing_left
    done
}
