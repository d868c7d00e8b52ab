#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# left.sh - the tests' own look for what is left in /dev/shm: a file of nobody's is seen, others'
# that come and go are not.
. "$(dirname "$0")/lib.sh"

name=/dev/shm/left_test.$$
trap 'rm -rf "$name" "$work"' EXIT
is_left() { shm_left "$before" | grep -qxF "$name"; }

before=$(shm_files)
! is_left || fail "it is not there, and left"
: >"$name"
is_left || fail "nobody's file is not seen"
! (before=$(shm_files) && is_left) || fail "what was there before is left"
(is_left) 3<"$name" && fail "left, though it is open"
exec 4<"$name"
! is_left || fail "left, though its maker has it open"
exec 4<&-
is_left || fail "nobody's file is not seen any more"

# Made anew while we look: it is never open, and at the end there is one, but another one.
find() {
    command find "$@"
    case $1 in /proc/*) : >"$name.new" && mv "$name.new" "$name" ;; esac
}
! is_left || fail "left, though it was made anew"
unset -f find
done_testing
