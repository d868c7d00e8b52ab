#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# type.sh FILE - runs the lines of FILE one after the other as if a user typed them, printing each.
# It ends with the first that fails.
set -eu
exec 3<"$1" 2>&1
while IFS= read -r line <&3; do
    echo "\$ $line"
    eval "$line" </dev/null
done
