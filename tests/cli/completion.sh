#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# completion.sh - what bash offers after ftrun and ftrma-model; and that ftrun(1) and ftrma-model(1)
# have each option that is offered.
. "$(dirname "$0")/lib.sh"
command -v bash >/dev/null || skip "no bash"
root=$here/../..

# offered WORD...: what is offered for the last word, in one line
offered() {
    bash -c '
        source "$0" || exit 1
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _ftrma "$1" "${@: -1}" "${@: -2:1}" || exit 1
        printf "%s\n" "${COMPREPLY[@]}" | sort | tr "\n" " "' "$root/completions/ftrma.bash" "$@" | sed 's/ *$//'
}

same() { # WANT WORD...
    want=$1
    shift
    got=$(offered "$@")
    [ "$got" = "$want" ] || fail "after '$*' '$got' is offered, not '$want'"
}

touch a.domains b.json
same "--check-memory --checkpoint --checksums" "$ftrun" --check
same "all off puts" "$ftrun" -n 4 --log ""
same "partial peek" "$ftrun" --snapshot p
same "puts" "$ftrun" --log = p # bash cuts words at =
same "daly every: off" "$ftrun" --checkpoint ""
same "best none" "$ftrun" --aware ""
same "a.domains" "$ftrun" --domains a
same "--report --report-bindings" "$ftrun" -n 4 --report
same "" "$ftrun" -n "" # a number: nothing is offered, bash goes on with files
same "" "$ftrun" -n 4 program --lo # the program's own
same "" "$ftrun" -n 4 -- --lo
same "daly montecarlo pcf plan" "$build/bin/ftrma-model" ""
same "--parity --parity-rate" "$build/bin/ftrma-model" plan --par
same "a.domains" "$build/bin/ftrma-model" pcf --domains a.
bash -c 'source "$0" && complete -p ftrun' "$root/completions/ftrma.bash" >out 2>&1 ||
    fail "no completion for ftrun: $(cat out)"

for tool in ftrun ftrma-model; do
    "$build/bin/$tool" --help | sed -n '/^  -[^ ]/{s/^  //;s/  .*//;p}' | tr ' [' '\n\n' |
        sed -n 's/,$//;/^-/p' >options
    [ "$(wc -l <options)" -gt 20 ] || fail "$tool has few options: $(cat options)"
    while read -r option; do
        grep -q -- "$(echo "$option" | sed 's/-/\\\\-/g')\\( \|$\|[^a-z\\\\]\\)" \
            "$root/docs/man/$tool.1" || fail "$tool(1) does not have $option"
    done <options
done
done_testing
