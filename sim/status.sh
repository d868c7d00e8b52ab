#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# status.sh STATUS COMMAND... - passes when the command ends with this very status: 1 is a checker's
# finding, a crash is not.
wanted=$1
shift
"$@"
status=$?
[ $status -eq "$wanted" ] && exit 0
echo "status $status, not $wanted"
exit 1
