# SPDX-License-Identifier: BSD-3-Clause
#
# programs.sh - the programs of this folder by name, for local.sh and soak.sh; and what a report
# says. To be sourced after ../chaos/jobs.sh.
#
# A name is a program or what it plays (patterns_A, cas, openget, cheat_tag, stencil, ...), with any
# of _plain _create _order _protect _pid behind it, which are options of the program.

PROTECTED="patterns_A patterns_B patterns_C patterns_D patterns_E count cas ticket acc sameword putload
selfget wild isend_barrier raw war syncput openget windows fencepairs poll pollop ahead early holder
handover freed hole layouts icoll halo stencil_protect modes_protect pscw pscwtest dynamic"
[ ! -x "$BIN/local_partitioned" ] || PROTECTED="$PROTECTED partitioned" # the host has it
UNMODIFIED="stencil manager groups waitany collect outcomes modes"
# Programs of ../edges whose output a loss must not change.
EDGES="edges_callbacks edges_clocked edges_padding edges_pointers:allocate edges_pointers:again
edges_rehearsed:nothing edges_shm_full edges_wtime:plain edges_wtime:run"
CHEATS="cheat_value cheat_displ cheat_operand cheat_data cheat_shared cheat_number cheat_tag cheat_length cheat_late"

EDGE=$BIN/../tests

# select_program NAME: sets cmd, kind (protected, unmodified, onesided: plain with one-sided calls,
# threaded: a rollback may find a thread in a call, cheat), the classes of points that it passes,
# and most, about how often a rank comes to one; ranks; no_rollback, if it has loops that make no
# call, so that nobody could be taken back
select_program() {
    base=$1 options=
    while :; do
        case $base in
        *_plain | *_create | *_order | *_protect | *_pid)
            options="$options --${base##*_}"
            base=${base%_*} ;;
        *) break ;;
        esac
    done
    kind=protected classes="msg coll" most=60 ranks=4 no_rollback=
    unset FTRMA_CHECK
    case $base in
    patterns_A) cmd="$BIN/local_patterns A" classes="msg coll rma.put rma.flush" ;;
    patterns_B) cmd="$BIN/local_patterns B" classes="msg coll rma.get rma.flush" ;;
    patterns_C) cmd="$BIN/local_patterns C" classes="coll rma.put rma.get rma.flush rma.lock rma.unlock" ;;
    patterns_D) cmd="$BIN/local_patterns D" classes="coll rma.get rma.lock rma.unlock" ;;
    patterns_E) cmd="$BIN/local_patterns E" classes="coll rma.put rma.get rma.fence" ;;
    count) cmd="$BIN/local_atomics count" classes="rma.atomic rma.put rma.flush" ;;
    cas) cmd="$BIN/local_atomics cas" classes="coll rma.atomic rma.put rma.get rma.flush" ;;
    ticket) cmd="$BIN/local_atomics ticket" classes="coll rma.atomic rma.put rma.get rma.flush" ;;
    acc) cmd="$BIN/local_atomics acc" classes="coll rma.atomic rma.flush" ;;
    layouts) cmd="$BIN/local_layouts" classes="coll rma.put rma.get rma.atomic rma.fence rma.unlock" ;;
    sameword | putload | selfget | raw | war | syncput | windows | poll | ahead | early)
        cmd="$BIN/local_cases $base" classes="msg rma.put rma.flush" ;;
    spin | spinsend | spinheard) cmd="$BIN/local_cases $base" classes="msg rma.put rma.flush" no_rollback=1 ;;
    openget) cmd="$BIN/local_cases $base" classes="msg coll rma.put rma.get rma.flush" ;;
    wild) cmd="$BIN/local_cases $base" classes="msg coll rma.get rma.lock rma.unlock" ;;
    isend_barrier) cmd="$BIN/local_cases $base" classes="msg coll" ;;
    fencepairs) cmd="$BIN/local_cases $base" classes="rma.put rma.get rma.fence" ;;
    hole) cmd="$BIN/local_cases $base" classes="msg coll rma.put rma.atomic rma.flush" ;;
    pollop) cmd="$BIN/local_cases $base" classes="coll rma.put rma.atomic rma.flush" ;;
    holder) cmd="$BIN/local_cases $base" classes="coll rma.put rma.get rma.flush rma.lock rma.unlock" ;;
    handover) cmd="$BIN/local_cases $base" classes="msg rma.put rma.lock rma.unlock" ;;
    freed) cmd="$BIN/local_cases $base" classes="msg coll rma.put rma.lock rma.unlock" ;;
    pscw) cmd="$BIN/local_epochs $base" classes="coll rma.put rma.get rma.post rma.start rma.complete rma.wait" ;;
    pscwtest) cmd="$BIN/local_epochs $base" \
        classes="coll rma.put rma.get rma.atomic rma.post rma.start rma.complete rma.wait" ;;
    dynamic) cmd="$BIN/local_epochs $base" classes="msg rma.put rma.get rma.atomic rma.flush rma.attach rma.detach" ;;
    cheat_operand) cmd="$BIN/local_cheat operand" kind=cheat classes="msg rma.atomic rma.flush" ;;
    cheat_data) export FTRMA_CHECK=data cmd="$BIN/local_cheat data" kind=cheat ;;
    cheat_value) export FTRMA_CHECK=data cmd="$BIN/local_cheat value" kind=cheat classes="msg rma.put rma.flush" ;;
    cheat_displ | cheat_late) cmd="$BIN/local_cheat ${base#cheat_}" kind=cheat classes="msg rma.put rma.flush" ;;
    cheat_*) cmd="$BIN/local_cheat ${base#cheat_}" kind=cheat ;;
    births) cmd="$BIN/local_$base" kind=onesided classes="setup.win coll rma.put rma.lock rma.unlock" most=190 ;;
    groups) cmd="$BIN/local_$base" kind=unmodified classes="msg coll setup.comm" ;;
    stencil | manager | waitany | collect | outcomes | modes | stencil_f | clock_f)
        cmd="$BIN/local_$base" kind=unmodified ;;
    halo) cmd="$BIN/local_$base" classes="msg coll setup.comm" ;;
    partitioned) cmd="$BIN/local_$base" classes="msg coll" ;;
    icoll) cmd="$BIN/local_$base" classes="msg coll coll.advance rma.put rma.flush rma.lock" ;;
    threads) cmd="$BIN/local_threads" kind=threaded ;;
    edges_padding) cmd="$EDGE/$base" kind=onesided classes="coll rma.atomic rma.flush" ;;
    edges_clocked) cmd="$EDGE/$base 30" kind=unmodified ;;
    edges_wtime:plain) cmd="$EDGE/edges_wtime plain" kind=unmodified ;;
    edges_callbacks) cmd="$EDGE/$base" ;;
    edges_shm_full) cmd="$EDGE/$base 6 1" classes="msg coll rma.put" ;;
    edges_*:*) cmd="$EDGE/${base%:*} ${base#*:}" ;; # a program, and what it plays
    npb_ft) cmd="$BIN/npb_ft S" classes="coll rma.put rma.fence" ;;
    npb_cg) cmd="$BIN/npb_cg S --iters 1" classes="msg" ;;
    lulesh) cmd="$BIN/lulesh -s 4 -i 12" classes="msg" ranks=8 ;;
    kvstore) cmd="$BIN/kvstore --inserts 300 --rounds 12 --slots 128" \
        classes="coll rma.atomic rma.put rma.get rma.flush" ;;
    *)
        echo "no such program: $1"
        exit 2 ;;
    esac
    cmd="$cmd$options"
    case $cmd in *local_cases*) most=16 ;; *local_cheat*) most=30 ;; esac
    case " $options $kind" in
    *--protect*) kind=protected ;;
    *--plain*protected) kind=onesided ;;
    *) [ $base != isend_barrier ] || [ -z "$options" ] || kind=unmodified ;;
    esac
    case $kind in protected | cheat | threaded) classes="$classes safepoint" ;; esac
}

# alone RANKS PROGRAM...: the host alone, without the library; sets status and result
alone() {
    job_line="(mpirun) -n $*"
    status=0
    timeout -k 5 "$LIMIT" mpirun --allow-run-as-root --oversubscribe -n "$@" \
        >"$WORK/out" 2>"$WORK/err" </dev/null || status=$?
    result=$(grep '^result:' "$WORK/out" | tr '\n' ' ')
    [ "$status" -eq 0 ] || complain "the host alone"
}

# points CLASSES...: sets $points to the failpoints of these classes that a rank passes
points() {
    points=
    for c in "$@"; do
        points="$points $("$BIN/ftrun" --inject list |
            awk -v c="$c" '$2 ~ /^[RCS]+$/ && $2 ~ /R/ && ($1 == c || index($1, c ".") == 1) { print $1 }')"
    done
    set -- $points
    npoints=$#
}

# A number field of the report, or the length of an array field.
field() {
    n=$(sed -n "s/.*\"$1\":\([0-9][0-9]*\).*/\1/p" "$WORK/report" | head -n 1)
    [ -n "$n" ] || n=$(tr -d '\n' <"$WORK/report" | sed -n "s/.*\"$1\":\[\([^]]*\)\].*/\1/p" | grep -o '{' | wc -l)
    echo "$n"
}

# What the job just run did: sets deaths (of ranks), rollbacks, recoveries (local ones)
judge() {
    deaths=$(grep -o '"who":"rank' "$WORK/report" | wc -l)
    rollbacks=$(field rollbacks)
    recoveries=$(field local_recoveries)
}

share() { # of a in b
    if [ "$2" -gt 0 ]; then echo "$1 of $2 ($((100 * $1 / $2)) %)"; else echo "0 of 0"; fi
}
