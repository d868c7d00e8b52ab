# SPDX-License-Identifier: BSD-3-Clause
#
# Completion for bash of ftrun and the tools of ftrma. Options and their values are read from the tool's own --help.

# _ftrma TOOL: as bash calls it, with COMP_WORDS and COMP_CWORD; the answer is in COMPREPLY.
_ftrma() {
    local tool=$1 cur=${COMP_WORDS[COMP_CWORD]} words=() row word name arg takes= i help
    local -A arg_of=() has=()
    COMPREPLY=()
    help=$("${tool/#\~/$HOME}" --help 2>/dev/null) || return

    # "  -n, -np, --ntasks N     text": three names, with a value
    while read -r -a row; do
        words=() arg=
        for word in "${row[@]}"; do
            case $word in
            -*) words+=("${word%%[,[]*}") ;;
            *) arg+=$word ;;
            esac
        done
        for name in "${words[@]}"; do
            arg_of[$name]=$arg has[$name]=1
        done
    done < <(sed -n '/^  -[^ ]/{s/^  //;s/  .*//;p}' <<<"$help")

    # what comes before the cursor: a value that is due, or the program, from which on the options are not ours
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [ -n "$takes" ]; then
            [ "$word" = = ] || takes=
        elif [ "${word:0:1}" = - ] && [ "$word" != -- ]; then
            takes=${arg_of[$word]-}
        elif [ "${tool##*/}" = ftrun ]; then
            return
        fi
    done
    [ "$cur" != = ] || cur=
    words=()

    if [ -n "$takes" ]; then
        case $takes in
        *\|*) # the words; "every:K" is as much of it as is fixed, and LEVEL is none
            for word in ${takes//|/ }; do
                word=${word%%[A-Z]*}
                [ -z "$word" ] || words+=("$word")
            done
            mapfile -t COMPREPLY < <(compgen -W "${words[*]}" -- "$cur")
            ;;
        DIR*) mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
        *FILE* | *.json) mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
        esac
    elif [ "${cur:0:1}" = - ]; then
        mapfile -t COMPREPLY < <(compgen -W "${!has[*]}" -- "$cur")
    elif [ "${tool##*/}" = ftrma-model ] && [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(
            compgen -W "$(sed -n 's/^[usage: ]*ftrma-model \([a-z]*\) .*/\1/p' <<<"$help")" -- "$cur")
    fi
}
complete -o default -F _ftrma ftrun ftrma-dump ftrma-model ftrma-timeline \
    ftrma-sim ftrma-sim-job ftrma-sim-nodes ftrma-sim-large
