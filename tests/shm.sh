# SPDX-License-Identifier: BSD-3-Clause
#
# shm.sh - what is left in a /dev/shm that is not ours alone. To be sourced.
#
# Other jobs come and go meanwhile, and each makes a name there for a moment: every process of Open
# MPI tries in MPI_Init whether that works (open_mpi.0000), and takes it away again. So a name alone
# says little: it counts if it stands for the same file as before and nobody who lives has that open
# or mapped.

# a line a file: its inode, which is never used again, and its name. Neither ftrma nor Open MPI makes a directory
# there: those are other programs', as is what is in them.
shm_files() { find /dev/shm -mindepth 1 -maxdepth 1 ! -type d -printf '%i %p\n' 2>/dev/null; }

# shm_left BEFORE: what is there, was not among BEFORE (of shm_files), and belongs to nobody
shm_left() {
    shm_files | while read -r file; do
        case "
$1
" in *"
$file
"*) continue ;; esac
        # Who makes it has it open until it is mapped, and unlinks it first if it is not to stay:
        # one of the three is seen in this order.
        [ -z "$(find /proc/[0-9]*/fd -lname "${file#* }" -print -quit 2>/dev/null)" ] || continue
        grep -qsF "${file#* }" /proc/[0-9]*/maps && continue
        ! shm_files | grep -qxF "$file" || echo "${file#* }"
    done
}
