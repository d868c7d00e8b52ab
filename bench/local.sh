# SPDX-License-Identifier: BSD-3-Clause
#
# local.sh - parts of run.sh that concern logging and the recovery of one rank alone; read by run.sh
# and figures.sh.
#
# Sides: plain (mpirun, without the library), one-heap (kernels: plain, with all that is allocated in one heap, as under
# the library), huge (kernels: plain, and huge pages are asked for, as ftrun does), copied (npb_log: plain, and what is
# put is copied once more), cold (npb_log: the same, into memory that is touched for the first time), unlogged
# (--recovery global), puts (--recovery auto --log puts), logged (--log all), ready (npb_log: logged, and all memory
# that the logs come to is made real in setup), default (npb_log, kernels: --mtbf 3600, nothing else), small (kernels:
# default, and nobody asks for huge pages). On the other sides of the library checkpoints come equally often, so that
# what is logged is trimmed, and the difference is the logging. shellcheck shell=sh disable=SC2154
#
# BENCH_LOG_REPEATS (20000), BENCH_LOG_BATCHES (21): of the short calls. BENCH_LOG_CLASS (A),
# BENCH_LOG_ITERS ("6 60"), BENCH_LOG_EVERY (12): npb_ft, iterations between checkpoints.
# BENCH_KERNELS_EVERY (100), BENCH_LULESH_CYCLES (200), BENCH_CG_RANKS ("2 4"), BENCH_CG_ITERS (those of the class):
# safepoints between checkpoints, cycles of lulesh (0: it is left out), ranks and iterations of npb_cg.
# BENCH_KV_INSERTS (800000), BENCH_KV_RANKS (2), BENCH_KV_SHARE (7.5): % of the time in inserts.
# BENCH_REPLAY_WORK (2000). BENCH_LOG_MIB (1024): --log-limit.
log_mib=${BENCH_LOG_MIB:-1024}
class=${BENCH_LOG_CLASS:-A}

options_of() { # SIDE
    case $1 in
    unlogged) echo "--recovery global" ;;
    puts) echo "--recovery auto --log puts" ;;
    logged | ready) echo "--recovery auto --log all" ;;
    esac
}

conf() { # SIDE TEXT...
    of=$1
    shift
    echo "$of: config: $*" >> "$out/config.txt"
}

# A number of a report, all of the name added up; microseconds, or what it is.
field_of() { # FILE NAME
    tr -d '\n ' < "$1" | sed 's/[{}[]/\n/g' | awk -F'[],:]' -v name="\"$2\"" '
        { for (i = 1; i < NF; i++) if ($i == name) { sum += $(i + 1); n++ } }
        END { if (n) print sum }'
}

# What memory costs that nobody has used before, and after that: images and logs of a short run are new memory.
pages() {
    "$bin/bench_pages" | awk '$1 == "touch" { printf "new memory %s us for 4 KiB, used %s us\n", $6 + 0, $9 + 0; exit }'
}

# Mean of the ranks: seconds that their logs were not whole.
exposed() { # FILE
    tr -d '\n ' < "$1" | sed -n 's/.*"exposed_us":\[\([^]]*\)\].*/\1/p' |
        awk -F, '{ for (i = 1; i <= NF; i++) s += $i; printf "%.6f\n", NF ? s / NF / 1e6 : 0 }'
}
checkpoints() { tr -d '\n ' < "$1" | sed 's/.*"checkpoints":\[//; s/\],"demand_checkpoints".*//' |
    awk '{ print gsub(/"version"/, "") }'; }
demand_count() { tr -d '\n ' < "$1" | sed -n 's/.*"demand_checkpoints":\([0-9]*\).*/\1/p'; }
percent() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.2f", (a + 0 > b + 0) ? 100 : 100 * a / b }'; }
per() { awk -v a="$1" -v b="$2" 'BEGIN { if (b > 0) printf "%.4f", a / b }'; }

# Under the library: RANKS SIDE MORE-OPTIONS -- PROGRAM...; leaves $out/report.json
under() {
    n=$1 side=$2
    shift 2
    rm -f "$out/report.json"
    unset FTRMA_LOG_READY
    [ "$side" != ready ] || export FTRMA_LOG_READY=1000000
    # shellcheck disable=SC2046
    timeout -k 5 $limit "$bin/ftrun" -n "$n" $(options_of "$side") --log-limit "$log_mib" --report "$out/report.json" \
        "$@"
}

log() {
    conf log "$(options_of unlogged) | $(options_of puts) | $(options_of logged);" \
        "--checkpoint every:3 --log-limit $log_mib, a batch a safepoint"
    for r in $(seq "$runs"); do
        for side in unlogged puts logged; do
            under 2 $side --checkpoint every:3 "$bin/bench_log" "${BENCH_LOG_REPEATS:-20000}" \
                "${BENCH_LOG_BATCHES:-21}" | collect log 2 $side "$r"
            [ -f "$out/report.json" ] && figure log exposed 0 2 $side "$r" "$(exposed "$out/report.json")" s
        done
        host 2 "$bin/bench_log" "${BENCH_LOG_REPEATS:-20000}" "${BENCH_LOG_BATCHES:-21}" | collect log 2 plain "$r"
    done
}

# One run of a program that prints "time:"
timed() { # PART CASE RANKS SIDE RUN CHECKPOINT-POLICY PROGRAM...
    part=$1 name=$2 ranks=$3 how=$4 run=$5 policy=$6
    shift 6
    if [ "$how" = plain ]; then
        t=$(host "$ranks" "$@" | seconds)
    elif [ "$how" = copied ] || [ "$how" = cold ]; then
        [ "$how" = copied ] && warm=1 || warm=0
        t=$(host_options="-x LD_PRELOAD=$build/lib/libbench_copied.so -x BENCH_COPIED_WARM=$warm" &&
            host "$ranks" "$@" | seconds)
    elif [ "$how" = one-heap ]; then # src/runtime/heap.c
        t=$(host_options="-x MALLOC_MMAP_MAX_=0 -x MALLOC_TRIM_THRESHOLD_=33554432" && host "$ranks" "$@" | seconds)
    elif [ "$how" = huge ]; then # src/launch/mpirun.c
        t=$(host_options="-x GLIBC_TUNABLES=glibc.malloc.hugetlb=1" && host "$ranks" "$@" | seconds)
    elif [ "$how" = default ] || [ "$how" = small ]; then
        rm -f "$out/report.json"
        t=$([ "$how" = default ] || export GLIBC_TUNABLES=glibc.malloc.hugetlb=0
            timeout -k 5 $limit "$bin/ftrun" -n "$ranks" --mtbf 3600 --report "$out/report.json" "$@" | seconds)
    else
        t=$(under "$ranks" "$how" --checkpoint "$policy" "$@" | seconds)
    fi
    [ -n "$t" ] || return
    figure "$part" "$name" 0 "$ranks" "$how" "$run" "$t" s
    case $how in plain | one-heap | huge | copied | cold) return ;; esac
    figure "$part" "$name.exposed" 0 "$ranks" "$how" "$run" "$(percent "$(exposed "$out/report.json")" "$t")" %
}

npb_log() {
    every=${BENCH_LOG_EVERY:-12}
    conf npb_log "npb_ft $class, 4 ranks, iterations ${BENCH_LOG_ITERS:-6 60};" \
        "--checkpoint every:$every --log-limit $log_mib"
    sides="plain copied cold unlogged puts logged ready default" # in turns, each first as often as the others
    for iters in ${BENCH_LOG_ITERS:-6 60}; do
        for r in $(npb_turns "$iters"); do
            for side in $sides; do
                timed npb_log "npb_ft.$class.$iters" 4 "$side" "$r" "every:$every" "$bin/npb_ft" "$class" --iters \
                    "$iters"
            done
            sides="${sides#* } ${sides%% *}"
        done
    done
}

# npb_cg and lulesh, each under its own number of ranks: with one process a core where it can be,
# and with more.
kernels() {
    every=${BENCH_KERNELS_EVERY:-100} cycles=${BENCH_LULESH_CYCLES:-200}
    iters=${BENCH_CG_ITERS:+--iters $BENCH_CG_ITERS}
    conf kernels "npb_cg $class $iters, ${BENCH_CG_RANKS-2 4} ranks; lulesh -s 20 -i $cycles, 8 ranks;" \
        "unlogged: --recovery global; --checkpoint every:$every --log-limit $log_mib"
    sides="plain one-heap huge unlogged logged default small" # in turns, another one first in each run
    for r in $(seq "$npb_runs"); do
        for side in $sides; do
            for n in ${BENCH_CG_RANKS-2 4}; do
                # shellcheck disable=SC2086
                timed kernels "npb_cg.$class" "$n" "$side" "$r" "every:$every" "$bin/npb_cg" "$class" $iters
            done
            [ "$cycles" = 0 ] ||
                timed kernels lulesh.20 8 "$side" "$r" "every:$every" "$bin/lulesh" -s 20 -i "$cycles"
        done
        sides="${sides#* } ${sides%% *}"
    done
}

# The think time that makes inserts the wanted share of plain mpirun's time: from the time of the
# same inserts, and of all calls, without thinking.
kv_log() {
    n_kv=${BENCH_KV_RANKS:-2} inserts=${BENCH_KV_INSERTS:-800000}
    a=$(host "$n_kv" "$bin/kvstore" --inserts "$inserts" --reads 0 | seconds)
    b=$(host "$n_kv" "$bin/kvstore" --inserts "$inserts" | seconds)
    think=$(awk -v a="$a" -v b="$b" -v s="${BENCH_KV_SHARE:-7.5}" -v n="$inserts" \
        'BEGIN { printf "%.2f", 1e6 * (a * 100 / s - b) / n }')
    conf kv_log "kvstore, $n_kv ranks, $inserts inserts, 20 % reads, think $think us;" \
        "--checkpoint every:4 --log-limit $log_mib"
    for r in $(seq "$runs"); do
        timed kv_log kvstore.inserts-alone "$n_kv" plain "$r" - "$bin/kvstore" --inserts "$inserts" --reads 0
        timed kv_log kvstore.inserts-alone "$n_kv" unlogged "$r" every:4 "$bin/kvstore" --inserts "$inserts" --reads 0
        for side in plain unlogged puts logged; do
            timed kv_log kvstore "$n_kv" $side "$r" every:4 "$bin/kvstore" --inserts "$inserts" --think-us "$think"
        done
    done
}

# Checkpoints at every 30th safepoint of 90; killed in the middle of the second interval, or after a
# third of it: those who need nobody have not come to the next checkpoint then before the
# replacement is done.
replay() {
    conf replay "bench_replay, 4 ranks (2 in a ring, 2 apart), 90 rounds, --checkpoint every:30;" \
        "killed at safepoint 45, and at 40 for the survivors"
    for r in $(seq "$runs"); do
        for hit in 45 40; do
            rm -f "$out/clocks"
            BENCH_VICTIM=$((r % 2)) BENCH_HIT=$hit BENCH_FROM=30 under 4 logged --checkpoint every:30 \
                --inject "rank=$((r % 2)),point=safepoint,hit=$hit" "$bin/bench_replay" "$out/clocks" 90 \
                    "${BENCH_REPLAY_WORK:-2000}" \
                > "$out/replay.txt"
            v=$(field_of "$out/report.json" checkpoint)
            if [ "$v" != 2 ] || [ "$(field_of "$out/report.json" local_recoveries)" != 1 ]; then
                say "replay, run $r: not a recovery of one rank from checkpoint 2, left out" >&2
                continue
            fi
            collect replay.$hit 4 logged "$r" < "$out/replay.txt"
            us=$(field_of "$out/report.json" replay_us)
            was=$(awk '$2 == "original" { print $4 }' "$out/replay.txt")
            figure replay.$hit replay 0 4 logged "$r" "$(ms "$us")" ms
            figure replay.$hit replay/original 0 4 logged "$r" "$(per "$(ms "$us")" "$was")" x
            figure replay.$hit meanwhile/otherwise 0 4 logged "$r" \
                "$(awk '$2 == "round+meanwhile" { a = $4 } $2 == "round+otherwise" { b = $4 }
                END { if (b) printf "%.4f", a / b }' "$out/replay.txt")" x
        done
    done
    rm -f "$out/clocks"
}
