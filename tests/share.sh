# SPDX-License-Identifier: BSD-3-Clause
#
# share.sh - read by chaos/jobs.sh and cli/lib.sh. A test that has many cases of one kind asks `tried` before each of
# them. TEST_SHARE=I/N (I from 0) leaves all out but the first, and each N-th from the I-th on: N runs of a test with
# other I try all of them. `make test` draws I; where TEST_SHARE is not set, all are tried. Before a check of what the
# last case did stands `[ $tried = no ] ||`.
: "${TEST_SHARE:=0/1}"
share_asked=0 tried=yes

tried() {
    share_asked=$((share_asked + 1)) tried=yes
    [ $share_asked -ne 1 ] && [ $(((share_asked - 1) % ${TEST_SHARE#*/})) -ne "${TEST_SHARE%/*}" ] || return 0
    tried=no
    return 1
}

# what a test says at its end
share_tried() {
    [ $share_asked -eq 0 ] || [ "${TEST_SHARE#*/}" -eq 1 ] ||
        echo "of $share_asked cases the first and those of TEST_SHARE=$TEST_SHARE were tried"
}
