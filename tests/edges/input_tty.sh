#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# input_tty.sh - standard input from a terminal, with a replacement of rank 0 in between; and ftrun
# in the background. See input_tty.py.
. "$(dirname "$0")/lib.sh"
python3 -c 'import pty' 2>/dev/null || skip "no python3"
ends 0 "all was said and heard" python3 "$here/input_tty.py" "$ftrun" "$(edge input)"
done_testing
