# SPDX-License-Identifier: BSD-3-Clause
#
# mpi31.sh - part mpi31 of run.sh, read by it: two-sided calls of all sizes (bench_sweep, part sweep of the figures)
# and one-sided calls (bench_rma, part onesided), with 2 and 4 ranks. Sides: engine (--log off), host (plain mpirun)
# and logged (--log all, with checkpoints that trim the logs). shellcheck shell=sh disable=SC2154,SC2086,SC2034
#
# Points of the sweep where the engine's median is above 1.3 times the host's are measured
# BENCH_AGAIN (8) times more, each by itself: of hundreds of points a few always stand out in a
# handful of runs on a machine that others use. All runs count.
#
# BENCH_SWEEP_MS (5), BENCH_SWEEP_BATCHES (5), BENCH_SWEEP_FACTOR (2: every power of two),
# BENCH_SWEEP_MAX (4194304), BENCH_SWEEP_CASES (all). BENCH_QUICK=1: one run, single calls, few
# sizes, one kind of window, some seconds in all: to see that everything runs, not for times.
sweep_ms=${BENCH_SWEEP_MS:-5} sweep_batches=${BENCH_SWEEP_BATCHES:-5} sweep_factor=${BENCH_SWEEP_FACTOR:-2} \
    sweep_max=${BENCH_SWEEP_MAX:-4194304}
rma_batches=21 rma_windows="allocate create"
if [ -n "${BENCH_QUICK:-}" ]; then
    runs=1 BENCH_AGAIN=0 sweep_ms=0 sweep_batches=1 sweep_factor=256 sweep_max=65536 rma_batches=1 rma_windows=create
fi

# The three sides in turns: PART RANKS RUN PROGRAM...
sides() {
    part=$1 n=$2 r=$3
    shift 3
    timeout -k 5 $limit "$bin/ftrun" -n "$n" --log off "$@" | collect "$part" "$n" engine "$r"
    host "$n" "$@" | collect "$part" "$n" host "$r"
    under "$n" logged --checkpoint every:3 "$@" | collect "$part" "$n" logged "$r"
    e=$([ -f "$out/report.json" ] && exposed "$out/report.json")
    case $e in '' | 0.000000) ;; *) conf logged \
        "$part, $n ranks, run $r: exposed for $e s: what is not logged costs less" ;; esac
}

mpi31() {
    conf mpi31 "host's MPI_Win_allocate: --mca osc sm; --log off | plain mpirun |" \
        "$(options_of logged) --checkpoint every:3 --log-limit $log_mib, a safepoint between batches"
    for r in $(seq "$runs"); do
        for n in 2 4; do
            sides sweep $n "$r" "$bin/bench_sweep" -x "$sweep_factor" -m "$sweep_max" -b "$sweep_batches" -t \
                "$sweep_ms" \
                ${BENCH_SWEEP_CASES:+-c "$BENCH_SWEEP_CASES"}
            for how in $rma_windows; do
                host_window $how
                sides onesided $n "$r" "$bin/bench_rma" $how "$sweep_ms" $rma_batches
            done
            host_options=
        done
    done
    again
}

again() {
    awk -f "$here/stats.awk" -f "$here/above.awk" "$csv" > "$out/above.txt"
    conf mpi31 "measured ${BENCH_AGAIN:-8} times more: $(wc -l < "$out/above.txt") points"
    while read -r case bytes n; do
        for r in $(seq $((runs + 1)) $((runs + ${BENCH_AGAIN:-8}))); do
            sides sweep "$n" "$r" "$bin/bench_sweep" -c "$case" -n "$((bytes > 0 ? bytes : 1))" -m \
                "$((bytes > 0 ? bytes : 1))" -b "$sweep_batches" -t "$sweep_ms" < /dev/null
        done
    done < "$out/above.txt"
}

# The latency table and the bandwidth plot, each as text, CSV and SVG.
plots() {
    for what in latency bandwidth; do
        awk -v what=$what -v title="$what of messages between two ranks" -v \
            machine="$(head -n 1 "$out/config.txt" | sed 's/^machine: //')" \
            -v csv="$out/$what.csv" -f "$here/stats.awk" -f "$here/sweep.awk" "$csv" > "$out/$what.txt"
    done
    sh "$here/plot.sh" "$out"
    say "$out/latency and $out/bandwidth: .txt, .csv, .svg"
}
