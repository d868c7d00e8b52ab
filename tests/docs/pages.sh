#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# pages.sh BUILD - types every command of README.md, docs/GUIDE.md, docs/FAQ.md and docs/CLUSTER.md in a scratch
# directory where the pages' names exist: program, heat, FILE, DIR. Of those that only start the program with other
# options it types a share (../share.sh). Commands are the lines that begin
# with "$ ", without what follows after three spaces, and what stands between backticks and begins
# with the name of a tool. A command that this test does not know is a failure: say here what it must
# do. Batch systems are stood in for by scripts that give a job the environment of the real ones.
# Options, settings and keys of the report that the pages name must exist.
. "$(dirname "$0")/../edges/lib.sh"
source=$(cd "$here/../.." && pwd)
command -v jq >/dev/null || skip "no jq"

mkdir tools tree page
for tool in mpicc mpirun mpif90; do # another MPI may own the plain name
    found=$(command -v $tool.openmpi || command -v $tool) && ln -s "$found" tools/$tool
done
for python in /usr/bin/python3 "$(command -v python3)" ''; do
    [ -z "$python" ] || ! "$python" -c 'import mpi4py, numpy' 2>/dev/null || break
done
[ -z "$python" ] || ln -s "$python" tools/python3
cmake --install "$build" --prefix "$work/ftrma" >log || fail "no installation: $(cat log)"
export PATH="$work/tools:$work/ftrma/bin:$PATH" HOME="$work" PYTHONDONTWRITEBYTECODE=1
PKG_CONFIG_PATH=$(dirname "$(find "$work/ftrma" -name ftrma.pc)")
export PKG_CONFIG_PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_tcp_if_include=lo # Open MPI 5 prints a complaint if it finds no way back through another network
cd tree || exit 1
ln -s "$build" build
ln -s "$source/include" "$source/examples" .
cp examples/heat.f90 examples/heat.py .
mpicc -I include examples/heat.c -o program || fail "heat.c does not compile"
cp program heat
mpicc -I include examples/told.c -o told -lm || fail "told.c does not compile"
# A level psu that holds few enough of two groups with two codewords each, and rates of a small cluster.
cat >FILE <<F
level node in psu count 64 fails 0.01 1.4
level psu  count 32 fails 0.001 1.5
process per 1
F
ends 0 '^result: ' ftrun -n 4 ./program
result=$(grep '^result: ' out)

# blocks PAGE: the commands in blocks. inline PAGE: those in sentences
blocks() {
    awk '/^    \$ / {
        line = substr($0, 7)
        while (line ~ /\\$/ && (getline more) > 0) {
            sub(/\\$/, "", line)
            sub(/^ +/, "", more)
            line = line more
        }
        sub(/   +.*/, "", line)
        print line
    }' "$source/$1"
}
inline() {
    awk '/^```/ { block = !block } !block && !/^    /' "$source/$1" | tr '\n' ' ' | grep -o '`[^`]*`' | tr -d '`' |
        grep -E '^(ftrun|ftrma-[a-z]+|gdb|df|addr2line|setarch|mpirun|mpicc|srun|sbatch|scancel|qsub) '
}

# on_a_job COMMAND: PID in it is a process of a job that stands
on_a_job() {
    # shellcheck disable=SC2016 # the job's shell expands it
    printf '#!/bin/sh\necho $$ >"%s/pid.$OMPI_COMM_WORLD_RANK"\nexec ./program\n' "$work" >standing
    chmod +x standing
    TMPDIR=$work FTRMA_PING_TIMEOUT_MS=0 timeout -k 5 "$CLI_LIMIT" ftrun -n 3 \
        --inject rank=1,point=safepoint,hit=100,action=stop ./standing >job 2>&1 </dev/null &
    job=$!
    until [ -s "$work/pid.1" ] && [ "$(sed 's/.*) //; s/ .*//' "/proc/$(cat "$work/pid.1")/stat" 2>/dev/null)" = T ]; do
        kill -0 "$job" 2>/dev/null || { fail "the job ended before it stood: $(cat job)"; return; }
        sleep 0.05
    done
    sh -c "$(echo "$1" | sed "s/\<PID\>/$(cat "$work/pid.1")/")" >out 2>&1 </dev/null ||
        fail "'$1' ended with $?: $(tail -20 out)"
    kill -CONT "$(cat "$work/pid.1")"
    wait "$job" || fail "the job that stood ended with $?: $(cat job)"
    rm -f "$work"/pid.*
}

# batch NAME: the script on the page that the next command submits; "heat" is its job
batch() {
    awk -v want="$1" '
        /^    #!\/bin\/sh/ { text = ""; inside = 1 }
        !/^    / && !/^$/ { inside = 0 }
        /^    \$ / { if ($NF == want) printf "%s", text; inside = 0 }
        inside { text = text substr($0, 5) "\n" }' "$source/docs/CLUSTER.md" >"$1"
    [ -s "$1" ] || fail "the page has no script $1"
    chmod +x "$1"
}
host=$(uname -n)
cat >"$work/tools/sbatch" <<F
#!/bin/sh
grep '^#SBATCH' "\$1" | while read -r _ option; do
    case \$option in
    --job-name=heat | --nodes=1 | --nodes=3 | --no-kill | --ntasks=6 | --time=00:10:00 | --output=heat-%j.out) ;;
    *) echo "sbatch: unrecognized option '\$option'" && exit 1 ;;
    esac
done || exit
SLURM_JOB_ID=7 SLURM_JOBID=7 SLURM_NNODES=1 SLURM_JOB_NUM_NODES=1 SLURM_NODELIST=$host SLURM_JOB_NODELIST=$host \\
    SLURM_NTASKS=6 SLURM_NPROCS=6 SLURM_TASKS_PER_NODE=6 SLURM_JOB_CPUS_PER_NODE=6 SLURM_SUBMIT_DIR=\$PWD \\
    sh "\$1" >heat-7.out 2>&1 </dev/null
echo "submitted batch job 7"
F
cat >"$work/tools/qsub" <<F
#!/bin/sh
grep '^#\\$' "\$1" | while read -r _ option value; do
    case "\$option \$value" in
    "-N heat" | "-cwd " | "-j y" | "-pe smp 6" | "-l h_rt=00:10:00") ;;
    *) echo "qsub: Unknown option \$option" && exit 1 ;;
    esac
done || exit
echo "$host 6 smp.q@$host UNDEFINED" >"$work/pe_hostfile"
JOB_ID=8 JOB_NAME=heat NSLOTS=6 NHOSTS=1 QUEUE=smp.q PE=smp ARC=lx-amd64 SGE_ROOT=$work PE_HOSTFILE=$work/pe_hostfile \\
    sh "\$1" >heat.o8 2>&1 </dev/null
echo "Your job 8 (\"heat\") has been submitted"
F
cat >"$work/tools/ssh" <<'F'
#!/bin/sh
case "$1 $2" in "-q 127.0.0."*) shift 2 && exec "$@" ;; esac
echo "ssh: $*" >&2
exit 255
F
chmod +x "$work/tools/sbatch" "$work/tools/qsub" "$work/tools/ssh"

submitted() { # COMMAND OUTPUT REPORT
    batch "${1#* }"
    cp program heat
    ends 0 "submitted" sh -c "$1"
    if ! grep -qx "$result" "$2" || ! grep -qx 'ftrun ended with 0' "$2"; then
        fail "the job of '$1' printed: $(cat "$2" out)"
    fi
    [ "$(jq .ranks "$3")" = 4 ] || fail "the job of '$1' wrote no report $3"
}

without_ftrun() { # COMMAND: Open MPI may leave files
    timeout -k 5 "$CLI_LIMIT" sh -c "$1" >out 2>&1 </dev/null || fail "'$1' ended with $?: $(tail -20 out)"
    grep -q 'Verification: SUCCESSFUL' out || fail "'$1' printed: $(tail -20 out)"
    rm -rf /dev/shm/vader* /dev/shm/sm_segment* "${TMPDIR:-/tmp}"/ompi.none
}

quietly() { sh -c "$1" >out 2>&1 </dev/null || fail "'$1' ended with $?: $(tail -20 out)"; }

mpirun_line=
type_it() {
    case $1 in
    "make" | "make "*) quietly "make -n -C '$source' ${1#make}" ;; # the tree is built already
    "mpicc "*) quietly "$1" ;;
    "build/bin/ftrun -n 3 -v "*) ends 0 "live: rank 1 is live again" sh -c "$1" ;;
    "mpif90 "*) [ ! -e "$work/tools/mpif90" ] || quietly "$1" ;;
    "export "*) eval "$1" ;;
    *" python3 heat.py") [ ! -e "$work/tools/python3" ] || ends 0 '^result: ' sh -c "$1" ;;
    *" --rehearse ./program" | *" --rehearse ./heat") ends 0 "3 deaths: same output" sh -c "$1" ;;
    "ftrun --inject list") ends 0 "^ *rma.fence " sh -c "$1" ;;
    "ftrun "*" --inject rank=2,point=rma.fence,hit=100 ./program")
        ends 0 "rank 2 lost (SIGKILL), recovered alone" sh -c "$1"
        grep -qx "$result" out || fail "'$1' has another result: $(cat out)" ;;
    "ftrun "*" --recovery program "*" ./told")
        ends 0 "^result: " ftrun -n 4 ./told
        grep '^result: ' out >alone
        ends 0 "rank 2 lost (SIGKILL)" sh -c "$1"
        grep '^result: ' out | cmp -s - alone || fail "'$1' has another result: $(cat out)" ;;
    *" --save sets --inject "*)
        ends 75 "job lost" sh -c "$1" ;;
    "ftrun --restart sets ./heat") ends 0 "^$result" sh -c "$1" ;;
    "ftrun --restart DIR program" | "ftrun --restart DIR ./heat")
        cp program heat
        rm -rf DIR
        binary=./$(basename "${1##* }")
        ends 75 "job lost" ftrun -n 4 --spares 0 --checkpoint every:500 --save DIR \
            --inject rank=1,point=safepoint,hit=1700 "$binary"
        ends 0 "^$result" sh -c "${1% *} $binary" ;;
    "ftrun "*" --host n1,n2,n3 ./program") # hosts that are this one, reached by a stand-in for ssh
        [ ! -x "$build/lib/ftrma-process" ] ||
            ends 0 "^$result" sh -c "$(echo "$1" | sed 's/n1,n2,n3/127.0.0.1,127.0.0.2,127.0.0.3/')" ;;
    "ftrun --host A,B") ;; # the same
    "ssh -q HOST ftrun --keeper" | "ftrun --keeper") ;; # what it runs
    *" --report r.json "*) ends 0 "^$result" sh -c "$1" ;; # read below
    "ftrun "*" ./program" | *" ftrun "*" ./program") ! tried || ends 0 "^$result" sh -c "$1" ;;
    "ftrun --virtual-nodes K") ends 0 "" ftrun --virtual-nodes 2 -n 4 "$build/tests/nodes_talk" ;;
    "ftrun --help" | "ftrun --help-"*) ends 0 "." sh -c "$1" ;;
    "ftrma-model daly" | "ftrma-model plan") ends 0 "usage: ftrma-model" sh -c "$1 --help" ;;
    "mpirun --enable-recovery "*)
        mpirun_line=$1
        without_ftrun "$1" ;;
    "setarch -R mpirun ...") without_ftrun "setarch -R $mpirun_line" ;;
    "addr2line -f -e heat 0x1240")
        mpicc -g -I include examples/heat.c -o heat || fail "heat.c does not compile with -g"
        ends 0 "^work$" sh -c "${1% *} 0x$(nm heat | sed -n 's/ t work$//p')" ;;
    "ftrma-dump PID")
        on_a_job "$1"
        grep -q '^put log of rank 1 ' out || fail "'$1' printed: $(cat out)" ;;
    "gdb -p PID "*)
        ! command -v gdb >/dev/null || {
            on_a_job "$1"
            grep -q ' in ' out || fail "'$1' printed: $(cat out)"
        } ;;
    "df -h /dev/shm") ends 0 "/dev/shm" sh -c "$1" ;;
    "sbatch heat3.sbatch") # on this host, whose allocation is of one: the hosts' part is nodes.slurm's
        submitted "$1" heat-7.out report-7.json ;;
    "sbatch heat.sbatch") submitted "$1" heat-7.out report-7.json ;;
    "qsub heat.sge") submitted "$1" heat.o8 report-8.json ;;
    # not commands, but their beginnings; and what one should not type
    "ftrun -n 4" | "ftrun --rehearse" | "srun ftrun") ;;
    *) fail "the page has a command that this test does not know: $1" ;;
    esac
    count=$((count + 1))
}

page() { # PAGE COUNT: types its commands, which are at least so many
    count=0
    blocks "$1" >"$work/page/commands"
    inline "$1" >>"$work/page/commands"
    while IFS= read -r command <&4; do
        type_it "$command"
    done 4<"$work/page/commands"
    [ "$count" -ge "$2" ] || fail "only $count commands were found in $1"
    total=$((total + count))
}
total=0
page README.md 6
page docs/GUIDE.md 26
page docs/FAQ.md 5
page docs/CLUSTER.md 7

# --- names ---
{
    ftrun --help
    ftrma-model --help
    ftrma-timeline --help
    ftrma-dump --help
} >"$work/options" 2>&1
ftrun --help-settings >"$work/settings"
for p in README.md docs/GUIDE.md docs/FAQ.md docs/CLUSTER.md; do
    for o in $(grep -o -- '--[a-z][a-z-]*' "$source/$p" | sort -u); do
        case $o in
        --enable-recovery | --oversubscribe | --map-by) ;;                 # mpirun's
        --keeper) ;;                                                       # of ftrun, for ftrun alone
        --variable | --no-kill | --job-name | --nodes | --ntasks | --time | --output) ;; # pkg-config's, Slurm's
        *) grep -q -e "$o\>" "$work/options" || fail "$p names an option that no tool has: $o" ;;
        esac
    done
    for s in $(grep -ow 'FTRMA_[A-Z][A-Z_]*' "$source/$p" | sort -u); do
        grep -qw "$s" "$work/settings" || fail "$p names a setting that there is not: $s"
    done
done
for key in beyond_bytes local_recoveries rollbacks recoveries rollback_reasons safepoints; do
    grep -q "\`$key\`" "$source"/docs/*.md || fail "no page names the key $key"
    jq -e ".. | objects | has(\"$key\") | select(.)" r.json >/dev/null || fail "the report has no key $key"
done
[ "$bad" != 0 ] || echo "$total commands did what the pages say"
done_testing
