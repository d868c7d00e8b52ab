#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# bind.sh - where ranks run: two on two cores, unless the user wants it otherwise; a replacement
# where the lost rank was.
. "$(dirname "$0")/lib.sh"

cores=$(cat /sys/devices/system/cpu/cpu*/topology/thread_siblings_list 2>/dev/null | sort -u | wc -l)
[ "$(nproc)" -ge 2 ] && [ "$cores" -eq "$(nproc)" ] || skip "needs two cores, none of them with several threads"

bound() { # WHAT ARGUMENTS: what each of the ranks may use, all of it, or one each
    want=$1
    shift
    ends 0 "^sum over" "$ftrun" "$@" "$ending" cpus
    case $want in
    one) [ "$(grep '^processors of ' out | awk '$5 == 1 { print $6 }' | sort -u | wc -l)" = 2 ] ;;
    all) [ "$(grep -c "^processors of rank .: $(nproc) " out)" -gt 1 ] && ! grep -q '^processors of rank .: 1 ' out ;;
    esac || fail "$*: $(cat out)"
}
bound one -n 2
bound one -n 2 --bind core
bound one -n 2 --inject rank=1,point=init.leave
bound all -n 2 --bind none
bound all -n 2 --host-args "--map-by slot"
bound all -n $(($(nproc) + 1)) --bind core
bound all -n 4
taskset -c 0 "$ftrun" -n 2 "$ending" cpus >out 2>&1 </dev/null || fail "on one core: $(cat out)"
ends 2 "FTRMA_BIND\|--bind" "$ftrun" -n 2 --bind socket "$ending"
done_testing
