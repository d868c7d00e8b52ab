# SPDX-License-Identifier: BSD-3-Clause
#
# kernels_log.sh - the part kernels_log of run.sh: what the kernels that log by themselves (way (a) of
# docs/EVALUATION.md) take, as table 4 and figure 7 of "Implementing Efficient Message Logging Protocols as MPI
# Application Extensions" have it. Read by run.sh.
#
# shellcheck shell=sh disable=SC2154
#
# Sides: plain (mpirun, npb_cg or lulesh), log (their _log programs under ftrun, nobody is lost), and after the loss of
# rank 1 local (messages of all iterations are logged), global (of none) and hybrid (of the first half of an interval).
#
# BENCH_KLOG_RUNS (3), BENCH_KLOG_CLASS (A), BENCH_KLOG_RANKS ("2 4"), BENCH_KLOG_SIZE (20; 0: no lulesh): of npb_cg,
# and elements along an edge of a rank's part of lulesh, which has 8 ranks. BENCH_KLOG_ITERS (75): iterations of table
# 4, outer ones for CG. BENCH_KLOG_STEP (1): between the places where rank 1 is lost. A run whose result is not
# plain's, or that went another way than its side says, is left out, and said.
klog_class=${BENCH_KLOG_CLASS:-A} klog_size=${BENCH_KLOG_SIZE:-20} klog_iters=${BENCH_KLOG_ITERS:-75}

# One run: KERNEL RANKS SIDE RUN OPTIONS-OF-FTRUN -- ARGUMENTS. Sets t, and used (processor seconds of all processes);
# leaves its output in $out/klog.txt.
klog_run() {
    kernel=$1 n=$2 side=$3 r=$4 options=
    shift 4
    while [ "$1" != -- ]; do
        options="$options $1"
        shift
    done
    shift
    times > "$out/before.txt"
    # shellcheck disable=SC2086
    case $side in
    plain) host "$n" "$bin/$kernel" "$@" > "$out/klog.txt" ;;
    *) timeout -k 5 $limit "$bin/ftrun" -q -n "$n" $options "$bin/${kernel}_log" "$@" > "$out/klog.txt" ;;
    esac
    times > "$out/after.txt"
    used=$(awk 'FNR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s[FILENAME] += 60 * t[1] + t[2] } }
        END { printf "%.2f", s[ARGV[2]] - s[ARGV[1]] }' "$out/before.txt" "$out/after.txt")
    t=$(seconds < "$out/klog.txt")
    got=$(awk '/^result:/ { print $2 }' "$out/klog.txt")
    [ "$side" != plain ] || want=$got
    if [ -z "$t" ] || [ "$got" != "$want" ]; then
        say "kernels_log: $kernel, $side, run $r: not plain's result, left out" >&2
        return 1
    fi
}

# A number of the line "phases:"
phase() { sed -n "s/^phases:.* *$1 \([0-9.]*\) s.*/\1/p" "$out/klog.txt"; }

klog_phases() { # KERNEL CASE RANKS RUN ARGUMENTS...
    kernel=$1 case=$2 n=$3 r=$4
    shift 4
    klog_run "$kernel" "$n" plain "$r" -- "$@" && figure kernels_log "$case.total" 0 "$n" plain "$r" "$t" s
    klog_run "$kernel" "$n" log "$r" -- "$@" || return 0
    figure kernels_log "$case.total" 0 "$n" log "$r" "$t" s
    for what in checkpoints MPI "payload copies" "buffer copies"; do
        figure kernels_log "$case.${what%% *}" 0 "$n" log "$r" "$(phase "$what")" s
    done
}

klog_losses() { # KERNEL CASE RANKS RUN INTERVAL ARGUMENTS...
    kernel=$1 case=$2 n=$3 r=$4 every=$5
    shift 5
    klog_run "$kernel" "$n" plain "$r" -- "$@" || return 0
    klog_run "$kernel" "$n" log "$r" -- "$@" --every "$every" &&
        figure kernels_log "$case.lost.none" 0 "$n" log "$r" "$t" s
    for i in $(seq 0 "${BENCH_KLOG_STEP:-1}" $((every - 1))); do
        # each side is the first of the three as often as the others
        case $(((i + r) % 3)) in
        0) sides="local global hybrid" ;;
        1) sides="global hybrid local" ;;
        2) sides="hybrid local global" ;;
        esac
        for side in $sides; do
            case $side in local) logs=$every ;; global) logs=0 ;; hybrid) logs=$((every / 2)) ;; esac
            klog_run "$kernel" "$n" $side "$r" --inject "rank=1,point=safepoint,hit=$((every + i + 1))" -- "$@" \
                --every "$every" --log $logs || continue
            went=$(awk '/^rollback:/ { print $2 ? "local" : "global" }' "$out/klog.txt")
            if [ "$side" != hybrid ] && [ "$side" != "$went" ] && [ "$i" -gt 0 ]; then
                say "kernels_log: $kernel, lost after $i iterations, run $r: $went, not $side, left out" >&2
                continue
            fi
            figure kernels_log "$case.lost.$i" 0 "$n" $side "$r" "$t" s
            figure kernels_log "$case.cpu.$i" 0 "$n" $side "$r" "$used" s
            [ $side != hybrid ] || figure kernels_log "$case.went.$i" 0 "$n" hybrid "$r" "$went" -
        done
    done
}

kernels_log() {
    cg_ranks=${BENCH_KLOG_RANKS:-2 4}
    conf kernels_log "npb_cg $klog_class, ranks $cg_ranks; lulesh -s $klog_size, 8 ranks; phases: $klog_iters" \
        "iterations without a loss; losses: rank 1, 75 iterations, a checkpoint every 25 (npb_cg) and 20 (lulesh)"
    for r in $(seq "${BENCH_KLOG_RUNS:-3}"); do
        for ranks in $cg_ranks; do
            klog_phases npb_cg "npb_cg.$klog_class" "$ranks" "$r" "$klog_class" --iters "$klog_iters"
            klog_losses npb_cg "npb_cg.$klog_class" "$ranks" "$r" 25 "$klog_class" --iters 3
        done
        [ "$klog_size" != 0 ] || continue
        klog_phases lulesh "lulesh.$klog_size" 8 "$r" -s "$klog_size" -i "$klog_iters"
        klog_losses lulesh "lulesh.$klog_size" 8 "$r" 20 -s "$klog_size" -i 75
    done
    rm -f "$out/klog.txt" "$out/before.txt" "$out/after.txt"
}

klog_time() { # KERNEL RANKS
    awk -v machine="$machine" -v kernel="$1" -v only="$2" -f "$here/stats.awk" -f "$here/klog_time.awk" "$csv" \
        > "$out/klog-time-$1-$2.txt"
    cat "$out/klog-time-$1-$2.txt"
}

# Table 4 as text; figure 7 as text and SVG.
klog_tables() {
    machine=$(head -n 1 "$out/config.txt" | sed 's/^machine: //')
    awk -v machine="$machine" -f "$here/stats.awk" -f "$here/klog_phases.awk" "$csv" > "$out/klog-phases.txt"
    cat "$out/klog-phases.txt"
    for ranks in $cg_ranks; do klog_time npb_cg "$ranks"; done
    [ "$klog_size" = 0 ] || klog_time lulesh 8
    sh "$here/plot.sh" "$out"
    say "$out/klog-phases.txt; $out/klog-time-KERNEL-RANKS: .txt, .svg"
}
