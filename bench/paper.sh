#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# paper.sh - figures 10 to 12 of M. Besta and T. Hoefler, "Fault Tolerance for Remote Memory Access
# Programming Models", as docs/EVALUATION.md describes them: of each figure the single runs (CSV), a
# table, and with gnuplot a picture.
#
#   bench/paper.sh BUILD_DIR OUT_DIR [10ab] [10d] [11a] [11b] [11c] [12] [topology]
#
# The sides of a figure take turns, each first as often as the others. All of them but plain run
# beside plain mpirun (no-FT) of the same ranks in the same turn.
#
# Environment: PAPER_RUNS (5), PAPER_RANKS ("2 4 8 16"), PAPER_CLASS (B in 10d, else A), PAPER_ITERS
# (20; of 12: 10), PAPER_INSERTS (50000), PAPER_SHARE (7.5: % of the time that inserts take),
# PAPER_PFS (OUT_DIR: a directory on a disk), PAPER_LIMIT (1800 s for one run). Nothing here asserts
# a time.
set -u
usage="usage: bench/paper.sh BUILD_DIR OUT_DIR [PART...]"
build=${1:?$usage} out=${2:?$usage}
shift 2
parts=${*:-10ab 10d 11a 11b 11c 12 topology}
mkdir -p "$out" || exit 1
build=$(cd "$build" && pwd) out=$(cd "$out" && pwd) here=$(dirname "$0")
bin=$build/bin limit=${PAPER_LIMIT:-1800} runs=${PAPER_RUNS:-5} ranks_list=${PAPER_RANKS:-2 4 8 16}
iters=${PAPER_ITERS:-20} inserts=${PAPER_INSERTS:-50000}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
work=$(mktemp -d "${TMPDIR:-/tmp}/paper-XXXXXX") || exit 1
disk=$(mktemp -d "${PAPER_PFS:-$out}/paper-pfs-XXXXXX") || exit 1
ram=$(mktemp -d /dev/shm/paper-XXXXXX) || exit 1
trap 'rm -rf "$work" "$disk" "$ram"' EXIT
trap 'exit 130' INT TERM
. "$here/local.sh" # field_of, checkpoints, demand_count


# Runs a command; sets $seconds (the program's own), $used (processor seconds) and $ok.
run() {
    times > "$work/before"
    timeout -k 5 "$limit" "$@" > "$work/out" 2> "$work/err" < /dev/null
    ok=$?
    times > "$work/after"
    seconds=$(awk '/^time:/ { print $2 }' "$work/out")
    used=$(awk 'FNR == 2 { for (i = 1; i <= 2; i++) { split($i, t, /[ms]/); s[FILENAME] += 60 * t[1] + t[2] } }
        END { printf "%.2f", s[ARGV[2]] - s[ARGV[1]] }' "$work/before" "$work/after")
    if [ $ok -ne 0 ] || [ -z "$seconds" ] || ! grep -q 'Verification: SUCCESSFUL' "$work/out"; then
        echo "paper.sh: status $ok of $*: $(tail -n 2 "$work/err" | tr '\n' ' ')" >&2
        return 1
    fi
}

eighth() { echo $((($1 + 7) / 8)); }

host() { run mpirun --oversubscribe -n "$@"; }
library() { library_ready 0 "$@"; }
library_ready() { # PERCENT RANKS PROGRAM...: memory for logs that FTRMA_Protect makes real
    ready=$1
    shift
    run env FTRMA_LOG_READY="$ready" "$bin/ftrun" -q --log-limit 1G --report "$work/report" -n "$@"
}
# Preloads see what they need in their environment.
ml() { # RANKS ASYNC PROGRAM...
    loggers=$(eighth "$1") all=$(($1 + $(eighth "$1"))) async=$2
    shift 2
    host $all -x ML_LOGGERS="$loggers" -x ML_ASYNC="$async" -x LD_PRELOAD="$build/lib/libbench_ml.so" "$@"
}
scr() { # RANKS EVERY PFS PROGRAM...
    of=$1 e=$2 p=$3
    shift 3
    set -- -x SCR_LIKE_EVERY="$e" -x SCR_LIKE_SET=9 -x SCR_LIKE_CACHE="$ram" \
        -x LD_PRELOAD="$build/lib/libbench_scr_like.so" "$@"
    [ -z "$p" ] || set -- -x SCR_LIKE_PFS="$p" "$@"
    host "$of" "$@"
}

# The line of the run that was just made: figure, ranks, side, run, time, processor time, checkpoints
# (without those at both ends of FTRMA_Run), demand checkpoints, ranks recovered alone, a remark.
note() { # RANKS SIDE RUN
    c=0 d=0 rec=0 remark=
    case $2 in
    plain | ml*) remark=$(grep '^ml:' "$work/out" | tr ',' ';') ;;
    scr*)
        remark=$(grep '^scr-like:' "$work/out" | tr ',' ';')
        c=$(echo "$remark" | awk '{ print $2 }') ;;
    *)
        c=$(checkpoints "$work/report") d=$(demand_count "$work/report")
        rec=$(field_of "$work/report" local_recoveries)
        c=$((c > 2 ? c - 2 : 0)) ;;
    esac
    echo "$part,$1,$2,$3,$seconds,$used,$c,$d,${rec:-0},$remark" >> "$csv"
    echo "$part $1 ranks, $2, run $3: $seconds s, $used s of processors, $c checkpoints" >&2
}

# turns "SIDES" FUNCTION: calls FUNCTION RANKS SIDE for all ranks and sides in turns
turns() {
    sides=$1 do=$2
    for r in $(seq "$runs"); do
        for n in $ranks_list; do
            for side in $sides; do
                $do "$n" "$side" && note "$n" "$side" "$r"
            done
        done
        sides="${sides#* } ${sides%% *}"
    done
}

begin() { # TITLE
    title=$1
    csv=$out/paper-$part.csv
    echo "figure,ranks,side,run,seconds,cpu,checkpoints,demand,recovered,remark" > "$csv"
    load=$(cut -d' ' -f1 /proc/loadavg)
    pages=$(pages)
}

end() {
    awk -v title="$title" -v machine="$(awk -F': ' '/model name/ { print $2; exit }' /proc/cpuinfo), $(nproc) cores, $(
        mpirun --version | head -n 1), load $load to $(cut -d' ' -f1 /proc/loadavg), $pages; medians of $runs" \
        -f "$here/paper.awk" "$csv" > "$out/paper-$part.txt"
    cat "$out/paper-$part.txt"
}

# --- coordinated checkpoints ---

# An MTBF with which Daly's interval is a quarter of the run, from a trial.
daly_of() { # RANKS
    host "$1" "$bin/npb_ft" "$class" --iters "$iters" || return
    t=$seconds
    library "$1" --checksums "$(eighth "$1")" --spares 0 --log off --checkpoint "every:$often" "$bin/npb_ft" \
        "$class" --iters "$iters" || return
    mtbf=$(tr -d '\n ' < "$work/report" | sed 's/[{}]/\n/g' | awk -F'[,:]' -v t="$t" '
        { for (i = 1; i < NF; i++) if ($i == "\"pause_us\"") d[++n] = $(i + 1) / 1e6 }
        END { m = 0; for (i = 2; i < n; i++) m += d[i] / (n - 2); w = t / 4 + m
            if (m > 0) printf "%.3f %.6f %.3f", w * w / (2 * m), m, t / 4 }')
    pause=$(echo "$mtbf" | awk '{ print $2 }') interval=$(echo "$mtbf" | awk '{ print $3 }') mtbf=${mtbf%% *}
    [ -n "$mtbf" ] || return
    eval "mtbf_$1=$mtbf"
    title="$title; $1 ranks: M = $mtbf s, delta = $pause s, interval about $interval s"
}

side_10d() { # RANKS SIDE
    k=$(eighth "$1")
    set -- "$1" "$2" "$bin/npb_ft" "$class" --iters "$iters"
    n=$1 s=$2
    shift 2
    eval "m=\${mtbf_$n:-1}"
    case $s in
    plain) host "$n" "$@" ;;
    f-daly) library "$n" --checksums "$k" --spares 0 --log off --mtbf "${m}s" "$@" ;;
    f-no-daly) library "$n" --checksums "$k" --spares 0 --log off --checkpoint "every:$often" "$@" ;;
    scr-like-ram) scr "$n" "$often" "" "$@" ;;
    scr-like-pfs) scr "$n" "$often" "$disk" "$@" ;;
    esac
}

fig_10d() {
    class=${PAPER_CLASS:-B} often=$((iters / 10 > 0 ? iters / 10 : 1))
    begin "npb_ft class $class, $iters iterations, a checksum process for 8 ranks; f-no-daly and SCR-like: every \
$often iterations"
    for n in $ranks_list; do daly_of "$n"; done
    turns "plain f-daly f-no-daly scr-like-ram scr-like-pfs" side_10d
    end
}

side_topology() {
    n=$1
    case $2 in
    plain) host "$n" "$bin/npb_ft" "$class" --iters "$iters" ;;
    *)
        k=$(eighth "$n") aware=none
        [ "${2#*6.25}" = "$2" ] || k=$(((n + 15) / 16))
        [ "${2#*nodes}" = "$2" ] || aware=node
        library "$n" --checksums "$k" --spares 0 --log off --domains "$work/domains" --aware $aware --checkpoint \
            "every:$often" "$bin/npb_ft" "$class" --iters "$iters" ;;
    esac
}

fig_topology() {
    class=${PAPER_CLASS:-A} often=4 ranks_list=16
    # a group of 16 and its checksum process have a node each
    printf 'level node count 18\nprocess per 1\n' > "$work/domains"
    begin "npb_ft class $class, $iters iterations, 16 ranks, a checkpoint every $often"
    turns "plain f-12.5-no-topo f-12.5-nodes f-6.25-no-topo f-6.25-nodes" side_topology
    end
}

# --- logging ---

side_11b() {
    n=$1 k=$(eighth "$1")
    case $2 in
    plain) host "$n" "$bin/npb_ft" "$class" --iters "$iters" ;;
    f-unlogged) library "$n" --checksums "$k" --recovery global --checkpoint every:5 "$bin/npb_ft" "$class" \
        --iters "$iters" ;;
    f-logged) library "$n" --checksums "$k" --checkpoint every:5 "$bin/npb_ft" "$class" --iters "$iters" ;;
    f-logged-ready) # ml has its memory ready, too
        library_ready 400 "$n" --checksums "$k" --checkpoint every:5 "$bin/npb_ft" "$class" --iters "$iters" ;;
    ml) ml "$n" 0 "$bin/npb_ft" "$class" --iters "$iters" ;;
    ml-async) ml "$n" 1 "$bin/npb_ft" "$class" --iters "$iters" ;;
    esac
}

fig_11b() {
    class=${PAPER_CLASS:-A}
    begin "npb_ft class $class, $iters iterations, all accesses logged; a checkpoint every 5, which trims the logs"
    turns "plain f-unlogged f-logged f-logged-ready ml ml-async" side_11b
    end
}

side_11c() {
    n=$1 k=$(eighth "$1")
    eval "f=\${think_$n:-1}"
    set -- "$1" "$2" "$bin/kvstore" --inserts "$inserts" --reads 0 --think-fdb "$f,1,3"
    s=$2
    shift 2
    case $s in
    plain) host "$n" "$@" ;;
    f-unlogged) library "$n" --checksums "$k" --recovery global --checkpoint every:4 "$@" ;;
    f-puts) library "$n" --checksums "$k" --log puts --checkpoint every:4 "$@" ;;
    f-puts-gets) library "$n" --checksums "$k" --log all --checkpoint every:4 "$@" ;;
    ml) ml "$n" 0 "$@" ;;
    ml-async) ml "$n" 1 "$@" ;;
    esac
}

# f such that inserts take the wanted share of plain mpirun's time. Think times are computed for, so
# ranks that share a core wait for each other's: there are as many at once as there are cores.
think_of() { # RANKS
    host "$1" "$bin/kvstore" --inserts "$inserts" --reads 0 || return
    f=$(awk -v t="$seconds" -v s="${PAPER_SHARE:-7.5}" -v n="$inserts" -v r="$1" -v c="$(nproc)" 'BEGIN {
        mean = 1e6 * t * (100 / s - 1) / n; if (r > c) mean *= c / r
        printf "%.3f", mean * 3 / (1 - exp(-3)) }')
    eval "think_$1=$f"
    title="$title; $1 ranks: f = $f us"
}

fig_11c() {
    begin "kvstore, $inserts inserts a rank, ${PAPER_SHARE:-7.5} % of plain's time in them, think time f d exp(-d x), \
d = 1, x in [0, 3); a checkpoint every 4 of 20 rounds"
    for n in $ranks_list; do think_of "$n"; done
    turns "plain f-unlogged f-puts f-puts-gets ml ml-async" side_11c
    end
}

fig_11a() {
    FIGURE_CLASS=${PAPER_CLASS:-A} FIGURE_ITERS=$iters FIGURE_RUNS=$runs FIGURE_OUT=$work/11a sh "$here/figures.sh" \
        "$build"
    cp "$work/11a/log-budget.csv" "$out/paper-11a.csv"
    cp "$work/11a/log-budget.dat" "$out/paper-11a.txt"
}

# --- recovery ---

side_12() {
    n=$1 losses=
    case $2 in
    plain) host "$n" "$bin/npb_ft" "$class" --iters "$twelve"; return ;;
    *-lost)
        for i in $(seq "$twelve"); do # four fences in an iteration
            losses="$losses --inject rank=$((i - 1)),point=rma.fence,hit=$((4 * i + 1))"
        done ;;
    esac
    case $2 in f-12.5*) k=2 ;; *) k=1 ;; esac
    # shellcheck disable=SC2086
    FTRMA_DEMAND_AT=0 library "$n" --checksums $k --spares "$twelve" --checkpoint every:1000000 $losses \
        "$bin/npb_ft" "$class" --iters "$twelve"
}

fig_12() {
    class=${PAPER_CLASS:-A} twelve=${PAPER_ITERS:-10} ranks_list=16
    begin "npb_ft class $class, $twelve iterations, 16 ranks; each takes demand checkpoints all the time; lost: one \
rank is killed in each iteration"
    turns "plain f-12.5 f-12.5-lost f-6.25 f-6.25-lost" side_12
    end
}

# --- the model ---

fig_10ab() {
    awk -v title="TSUBAME2.0, failures a day that take x elements at once: fitted by the paper, and what it assumes" '
        BEGIN { print "# " title; print "# x node node-assumed psu" }
        $1 == "level" { for (i = 1; i < NF; i++) if ($i == "fails") { a[$2] = $(i + 1); b[$2] = $(i + 2) } }
        END {
            all = a["node"] * exp(-b["node"]) / (1 - exp(-b["node"])) # failures of nodes a day
            for (x = 1; x <= 8; x++)
                printf "%d %.4e %.4e %.4e\n", x, a["node"] * exp(-b["node"] * x),
                    all * (x == 1 ? 0.75 : x == 2 ? 0.2 : 0.05 * (1 - exp(-b["node"])) * exp(-b["node"] * (x - 3))),
                    a["psu"] * exp(-b["psu"] * x)
        }' "$here/../docs/examples/tsubame2.domains" > "$out/paper-10ab.txt"
}

for part in $parts; do
    case $part in
    10ab | 10d | 11a | 11b | 11c | 12 | topology) "fig_$part" ;;
    *) echo "paper.sh: there is no figure $part" >&2; exit 2 ;;
    esac
    ranks_list=${PAPER_RANKS:-2 4 8 16}
done
sh "$here/plot.sh" "$out"
