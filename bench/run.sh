#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# run.sh - all measurements: the engine (ftrun) and the host alone (plain mpirun) run the same
# binaries in turns, on the same machine, in one go. Prints a table and leaves all single figures as
# CSV. See docs/BENCH.md.
#
#   bench/run.sh BUILD_DIR [messages] [rma] [checkpoint] [demand] [snapshot] [recovery] [told] [ftt] [npb] [log]
# [npb_log] [kernels] [kernels_log] [kv_log] [replay] [many] [mpi31]      default: all but kernels_log
#
# Environment: BENCH_RUNS (default 5), BENCH_NPB_RUNS (7), BENCH_NPB_ITERS (60), BENCH_RECOVERIES
# (10), BENCH_MIB (64, a rank), BENCH_OUT (BUILD_DIR/bench); those of log to replay stand in
# local.sh, those of kernels_log and mpi31 in scripts of these names. Nothing here asserts a time:
# figures are for reading.
set -u

build=${1:?usage: bench/run.sh BUILD_DIR [messages] [rma] [checkpoint] [demand] [snapshot] [recovery] [told] [ftt] \
    [npb] [log] [npb_log] [kernels] [kernels_log] [kv_log] [replay] [many] [mpi31]}
shift
parts=${*:-messages rma checkpoint demand snapshot recovery told ftt npb log npb_log kernels kv_log replay many mpi31}
runs=${BENCH_RUNS:-5} npb_runs=${BENCH_NPB_RUNS:-7} npb_iters=${BENCH_NPB_ITERS:-60}
recoveries=${BENCH_RECOVERIES:-10} mib=${BENCH_MIB:-64}
ftt_rounds=${BENCH_FTT_ROUNDS:-40}
out=${BENCH_OUT:-$build/bench}
bin=$build/bin
cores=$(nproc)
limit=300 # seconds for one run, then it is killed and counted as missing
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mkdir -p "$out" || exit 1
csv=$out/figures.csv
echo "part,case,bytes,ranks,side,run,value,unit" > "$csv"

say() { printf '%s\n' "$*"; }

# Crowded cores need --oversubscribe; else the host binds and spins as it likes best.
host() { # N program...
    n=$1
    shift
    over=
    [ "$n" -gt "$cores" ] && over=--oversubscribe
    # shellcheck disable=SC2086
    timeout -k 5 $limit mpirun $over ${host_options:-} -n "$n" "$@"
}

# The host's windows of MPI_Win_allocate are those of its osc/sm: what Open MPI 4.1.4 takes by
# itself dies in MPI_Compare_and_swap.
host_window() { # HOW
    host_options=
    [ "$1" = allocate ] && host_options="--mca osc sm"
}

# Collects "bench:" lines of stdin: PART RANKS SIDE RUN
collect() {
    awk -v p="$1" -v n="$2" -v s="$3" -v r="$4" -v csv="$csv" -v conf="$out/config.txt" '
        /^config:/ { if (r == 1) print s ": " $0 >> conf }
        /^bench:/ { name = $2; gsub(",", "+", name); print p "," name "," $3 "," n "," s "," r "," $4 "," $5 >> csv }'
}

figure() { # PART CASE BYTES RANKS SIDE RUN VALUE UNIT
    echo "$1,$2,$3,$4,$5,$6,$7,$8" >> "$csv"
}

machine() {
    cpu=$(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo)
    memory=$(awk '/MemTotal/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)
    say "machine: $cpu, $cores cores, $memory GiB, Linux $(uname -r); load before: $(cut -d' ' -f1-3 /proc/loadavg)"
    say "host: $(mpirun --version | head -n 1); runs: $runs (npb: $npb_runs, recoveries: $recoveries)"
}

messages() {
    for r in $(seq "$runs"); do
        for n in 2 4; do
            timeout -k 5 $limit "$bin/ftrun" -n $n "$bin/bench_pingpong" | collect messages $n engine "$r"
            timeout -k 5 $limit "$bin/ftrun" -n $n --recovery global "$bin/bench_pingpong" |
                collect messages-global $n engine "$r"
            timeout -k 5 $limit "$bin/ftrun" -n $n --checkpoint every:2 "$bin/bench_pingpong" safepoints |
                collect messages-trimmed $n engine "$r"
            host $n "$bin/bench_pingpong" > "$out/host.txt"
            collect messages $n host "$r" < "$out/host.txt"
            collect messages-global $n host "$r" < "$out/host.txt"
            collect messages-trimmed $n host "$r" < "$out/host.txt"
            [ $n -ne 2 ] || host 2 "$bin/bench_pingpong" touch | collect messages 2 host "$r"
        done
    done
}

rma() {
    for r in $(seq "$runs"); do
        for how in allocate create; do
            # part log measures with logging: this program passes no safepoint, at which logs could
            # be trimmed
            timeout -k 5 $limit "$bin/ftrun" -n 2 --recovery global "$bin/bench_rma" $how | collect rma 2 engine "$r"
            host_window $how
            host 2 "$bin/bench_rma" $how | collect rma 2 host "$r"
            host_options=
        done
    done
}

# Figures of a report, one "KEY VALUE" a line: checkpoints but the first and the last (they begin
# and end FTRMA_Run; the first one takes the memory from the system, too), failures, memory.
from_report() {
    tr -d '\n ' < "$1" | sed 's/[{}]/\n/g' | awk -F'[,:]' '
        function field(name,   i) { for (i = 1; i < NF; i++) if ($i == "\"" name "\"") return $(i + 1); return "" }
        field("copy_us") != "" { n++; copy[n] = field("copy_us"); parity[n] = field("parity_us")
            pause[n] = field("pause_us"); total[n] = field("total_us"); held[n] = field("held_us") }
        field("resumed_us") != "" { print "failure", field("resumed_us"), field("detected_us"), field("agreed_us") }
        field("beyond_bytes") != "" {
            b = field("beyond_bytes") + 0; p = field("protected_bytes") + 0
            if (b > most) most = b
            if (p > prot) prot = p
        }
        END {
            for (i = 2; i < n; i++) print "checkpoint", copy[i], parity[i], pause[i], total[i], held[i]
            printf "memory %.0f %.0f\n", most, prot
        }'
}

checkpoint() {
    bytes=$((mib * 1048576))
    for r in $(seq "$runs"); do
        for how in idle busy; do
            timeout -k 5 $limit "$bin/ftrun" -n 4 --checkpoint every:1 --report "$out/report.json" \
                "$bin/bench_checkpoint" "$mib" 8 $how |
                collect checkpoint-$how 4 engine "$r"
            from_report "$out/report.json" | while read -r kind a b c d _; do
                case $kind in
                checkpoint)
                    figure checkpoint-$how copy $bytes 4 engine "$r" "$(ms "$a")" ms
                    figure checkpoint-$how parity $bytes 4 engine "$r" "$(ms "$b")" ms
                    figure checkpoint-$how pause $bytes 4 engine "$r" "$(ms "$c")" ms
                    figure checkpoint-$how whole $bytes 4 engine "$r" "$(ms "$d")" ms ;;
                memory)
                    figure checkpoint-$how memory-beyond $bytes 4 engine "$r" "$a" bytes
                    figure checkpoint-$how memory-protected $bytes 4 engine "$r" "$b" bytes ;;
                esac
            done
        done
    done
}

# Images that ranks take alone, all the time: what they need beyond the two that coordinated
# checkpoints need, and how long each rank stands still for one of its own.
demand() {
    bytes=$((mib * 1048576))
    for r in $(seq "$runs"); do
        for how in off bulk stream; do
            FTRMA_DEMAND_AT=0 timeout -k 5 $limit "$bin/ftrun" -n 4 --demand $how --checkpoint every:1000000 \
                --report "$out/report.json" "$bin/bench_checkpoint" "$mib" 12 idle | collect demand 4 engine "$r"
            from_report "$out/report.json" | while read -r kind a b c d; do
                [ "$kind" = memory ] && figure demand beyond.$how $bytes 4 engine "$r" "$a" bytes
            done
            [ $how = off ] && continue
            tr ',' '\n' < "$out/report.json" | awk -F: -v bytes=$bytes '/"demand_bytes"/ { n = int($2 / bytes) }
                /"demand_us"/ { if (n) printf "%.3f\n", $2 / n / 1000 }' | while read -r a; do
                figure demand pause.$how $bytes 4 engine "$r" "$a" ms
            done
        done
    done
}

ms() { awk -v v="$1" 'BEGIN { printf "%.3f", v / 1000 }'; }

# What each way to take a checkpoint costs a program: the longest pause of a rank at its safepoint
# and the longest that one was held up afterwards, of every checkpoint but the first and the last;
# and the whole run, beside one without checkpoints.
snapshot() {
    for r in $(seq "$runs"); do
        for app in npb_ft kvstore; do
            case $app in
            npb_ft) set -- "$bin/npb_ft" "${BENCH_SNAPSHOT_CLASS:-A}" --iters "${BENCH_SNAPSHOT_ITERS:-12}" ;;
            kvstore) set -- "$bin/kvstore" --inserts "${BENCH_SNAPSHOT_INSERTS:-20000}" --rounds 12 --slots 65536 ;;
            esac
            for how in off barrier delay peek partial double; do
                flags="--checkpoint every:2 --snapshot $how"
                [ $how = off ] && flags="--checkpoint off"
                # shellcheck disable=SC2086
                t=$(timeout -k 5 $limit "$bin/ftrun" -n 4 $flags --report "$out/report.json" "$@" | seconds)
                [ -n "$t" ] && figure snapshot "$app.$how.run" 0 4 engine "$r" "$t" s
                [ $how = off ] && continue
                from_report "$out/report.json" | while read -r kind a _ c d e; do
                    [ "$kind" = checkpoint ] || continue
                    figure snapshot "$app.$how.copy" 0 4 engine "$r" "$(ms "$a")" ms
                    figure snapshot "$app.$how.pause" 0 4 engine "$r" "$(ms "$c")" ms
                    figure snapshot "$app.$how.held" 0 4 engine "$r" "$(ms "$e")" ms
                    figure snapshot "$app.$how.whole" 0 4 engine "$r" "$(ms "$d")" ms
                done
                off=$(tr ',' '\n' < "$out/report.json" | awk -F: '/"snapshots_called_off"/ { print $2 }')
                figure snapshot "$app.$how.called-off" 0 4 engine "$r" "${off:-0}" times
            done
        done
    done
}

# What calls cost beside windows, requests and ranks that they do not use.
many() {
    for r in $(seq "$runs"); do
        for case in "windows 1" "windows 1000" "requests 1" "requests 10000" ranks; do
            for n in ${BENCH_MANY_RANKS:-2 16 64}; do
                [ "$n" = 2 ] || [ "$case" = ranks ] || continue
                # shellcheck disable=SC2086
                timeout -k 5 $limit "$bin/ftrun" -n "$n" --recovery global "$bin/bench_many" $case |
                    collect many "$n" engine "$r"
                host_window allocate
                # shellcheck disable=SC2086
                host "$n" "$bin/bench_many" $case | collect many "$n" host "$r"
                host_options=
            done
        done
    done
}

# The trace says how long the replacement's setup took, until its image, which is rebuilt beside it,
# is whole. The program says how much of that was its own.
rejoin_us() {
    tr '{' '\n' < "$1" | awk 'function of(key) { match($0, "\"" key "\":[0-9.]*"); n = length(key) + 3
                                                return substr($0, RSTART + n, RLENGTH - n) }
        !/"name":"rejoined"/ { next }
        /"ph":"X"/ { print of("dur"); exit }
        /"ph":"b"/ { begin = of("ts") }
        /"ph":"e"/ { print of("ts") - begin; exit }'
}

recovery_of() { # NAME OPTIONS OF FTRUN
    which=$1
    shift
    bytes=$((mib * 1048576))
    for r in $(seq "$recoveries"); do
        victim=$((r % 4))
        timeout -k 5 $limit "$bin/ftrun" -n 4 "$@" --checkpoint every:1 --inject \
            "rank=$victim,point=ckpt.committed,hit=5" \
            --report "$out/report.json" --trace "$out/trace.json" "$bin/bench_checkpoint" "$mib" 6 idle > \
                "$out/recovery.txt"
        collect "$which" 4 engine "$r" < "$out/recovery.txt"
        own=$(awk -v r=$victim '/^setup:/ && $2 == r { print $4 }' "$out/recovery.txt")
        from_report "$out/report.json" | while read -r kind a b c _; do
            [ "$kind" = failure ] || continue
            figure "$which" detected $bytes 4 engine "$r" "$(ms "$b")" ms
            figure "$which" agreed $bytes 4 engine "$r" "$(ms "$c")" ms
            figure "$which" resumed $bytes 4 engine "$r" "$(ms "$a")" ms
            figure "$which" setup-again $bytes 4 engine "$r" "$(ms "$(rejoin_us "$out/trace.json")")" ms
            figure "$which" setup-own $bytes 4 engine "$r" "$own" ms
        done
    done
}

recovery() { recovery_of recovery; }

# From SIGKILL until all enter body again, where survivors keep their memory.
told() { recovery_of told --recovery program; }

# The transport of docs/TRANSPORT.md. What is compared takes turns inside of each run; the host's
# ping-pong comes in turns of runs.
ftt() {
    for r in $(seq "$runs"); do
        timeout -k 5 $limit "$bin/ftrun" -n 2 --recovery program "$bin/bench_ftt" "$ftt_rounds" |
            collect ftt 2 engine "$r"
        host 2 "$bin/bench_ftt" "$ftt_rounds" | collect ftt 2 host "$r"
        timeout -k 5 $limit "$bin/ftrun" -n 2 --recovery program "$bin/bench_ftt" ping | collect ftt 2 engine "$r"
    done
}

# Class A as NPB has it takes a second or so, of which the checkpoints that begin and end FTRMA_Run
# are a part that does not shrink; with more iterations it shows what a long run loses. In turns,
# each first as often as the others: what ran before matters. Runs of less than a second differ by a
# fifth: three times as many.
npb_turns() { seq $(($1 > 10 ? npb_runs : 3 * npb_runs)); } # ITERATIONS

npb() {
    sides="global auto host"
    for iters in 6 "$npb_iters"; do
        name=npb_ft.A.$iters
        for r in $(npb_turns "$iters"); do
            for side in $sides; do
                case $side in
                host)
                    t=$(host 4 "$bin/npb_ft" A --iters "$iters" | seconds)
                    [ -n "$t" ] && figure npb "$name.global" 0 4 host "$r" "$t" s &&
                        figure npb "$name.auto" 0 4 host "$r" "$t" s ;;
                *)
                    t=$(timeout -k 5 $limit "$bin/ftrun" -n 4 --mtbf 3600 --recovery $side "$bin/npb_ft" A --iters \
                        "$iters" | seconds)
                    [ -n "$t" ] && figure npb "$name.$side" 0 4 engine "$r" "$t" s ;;
                esac
            done
            sides="${sides#* } ${sides%% *}"
        done
    done
}

seconds() { awk '/^time:/ { print $2 }'; }

here=$(dirname "$0")
table() {
    awk -f "$here/stats.awk" -f "$here/table.awk" "$csv"
    awk -f "$here/stats.awk" -f "$here/local.awk" "$csv"
    awk -f "$here/stats.awk" -f "$here/points.awk" "$csv"
}
. "$here/local.sh"
. "$here/kernels_log.sh"
. "$here/mpi31.sh"

: > "$out/config.txt"
machine | tee -a "$out/config.txt"
for p in $parts; do
    case $p in
    messages | rma | checkpoint | demand | snapshot | recovery | told | ftt | npb | log | npb_log | kernels | \
        kernels_log | kv_log | replay | many | mpi31) say "measuring: $p" >&2; $p ;;
    *) say "unknown part: $p" >&2; exit 2 ;;
    esac
done
sort -u "$out/config.txt" | grep config: | sed 's/^/  /'
table | tee "$out/table.txt"
case " $parts " in *" kernels_log "*) klog_tables ;; esac
case " $parts " in *" mpi31 "*) plots ;; esac
say "all figures: $csv"
