#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# whoami_py.sh - the same as whoami.sh for Python's os.environ, with mpi4py.
. "$(dirname "$0")/lib.sh"
for python in python3 /usr/bin/python3 ""; do
    "$python" -c 'import mpi4py' 2>/dev/null && break
done
[ "$python" ] || skip "no Python with mpi4py"
export PYTHONHASHSEED=0 # else a replacement's sets have another order
ends 0 "^sum 76$" "$ftrun" -n 4 "$python" "$here/whoami.py"
ends 0 "^sum 76$" "$ftrun" -n 4 --inject rank=1,point=coll.leave,hit=10 "$python" "$here/whoami.py"
done_testing
