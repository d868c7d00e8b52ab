#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# citations.sh [TREE] - sources and documents cite the protocol's rules by id, as docs/PROTOCOL.md
# defines them ("**M2. ...", "- **R4** ..."). Each id is defined once, each id that a comment or a
# document cites is defined, nothing is cited by the number of a section, and no message cites a
# rule. Prints each violation; fails on any.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 2
rules=docs/PROTOCOL.md
bad=0
complain() {
    echo "citations: $*"
    bad=1
}

# FILE:LINE:c:TEXT for comments and FILE:LINE:s:TEXT for strings of C, Fortran's excepted; of
# scripts, documents and all else each line as a comment.
texts() {
    awk '
        FNR == 1 { inside = 0; c = FILENAME ~ /\.(c|h|def|cpp)$/ }
        !c { line = $0
             if (FILENAME ~ /\.md$/) gsub(/`[^`]*`/, "", line)
             else if (FILENAME ~ /\.(sh|py|txt)$/ && !sub(/^([^"'"'"']*[ \t])?#/, "", line)) next
             else if (FILENAME ~ /\.f90$/ && !sub(/^[^"'"'"']*!/, "", line)) next
             print FILENAME ":" FNR ":c:" line
             next }
        { line = $0
          while (line != "") {
              if (inside) {
                  e = index(line, "*/")
                  print FILENAME ":" FNR ":c:" (e ? substr(line, 1, e - 1) : line)
                  inside = !e
                  line = e ? substr(line, e + 2) : ""
              } else if (match(line, /"([^"\\]|\\.)*"|'"'"'([^'"'"'\\]|\\.)*'"'"'|\/\*|\/\//)) {
                  token = substr(line, RSTART, RLENGTH)
                  line = substr(line, RSTART + RLENGTH)
                  if (token == "/*") inside = 1
                  else if (token == "//") { print FILENAME ":" FNR ":c:" line; line = "" }
                  else if (token ~ /^"/) print FILENAME ":" FNR ":s:" token
              } else line = ""
          } }' "$@"
}

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

sed -n 's/^\(- \)\{0,1\}\*\*\([A-Z][0-9]\{1,2\}[a-z]\{0,1\}\(, [A-Z][0-9]\{1,2\}[a-z]\{0,1\}\)*\)\(\.\|\*\*\).*/\2/p' \
    "$rules" |
    tr -d ' ' | tr ',' '\n' | sort >"$work/defined"
[ -s "$work/defined" ] || complain "$rules defines no rule"
for id in $(uniq -d "$work/defined"); do
    complain "$rules defines $id twice"
done
letters=$(cut -c1 "$work/defined" | sort -u | tr -d '\n')

find src include apps sim bench scripts tests examples docs README.md -name '*.[chs]' \
    -o -name '*.def' -o -name '*.cpp' -o -name '*.f90' \
    -o -name '*.sh' -o -name '*.py' -o -name '*.md' -o -name CMakeLists.txt |
    grep -v '/citations\.sh$' | sort >"$work/files"
# shellcheck disable=SC2046 # names without blanks
texts $(cat "$work/files") >"$work/texts"

sed -n "s/^\([^:]*:[0-9]*\):c:/\1 /p" "$work/texts" | awk -v letters="$letters" '
    NR == FNR { defined[$1] = 1; next }
    { where = $1; $1 = ""
      n = split($0, word, /[^A-Za-z0-9_]+/)
      for (i = 1; i <= n; i++)
          if (word[i] ~ "^[" letters "][0-9][0-9]?[a-z]?$" && !(word[i] in defined))
              print where ": " word[i] }' "$work/defined" - >"$work/unknown"
[ -s "$work/unknown" ] && complain "no rule of $rules has this id:
$(cat "$work/unknown")"

by_section=$(grep -niE ':c:.*((protocol(\.md)?|the rules)[]) ,]* *(§ *|sections? )?[0-9]|[^a-z]sections? [0-9])' \
    "$work/texts")
[ -n "$by_section" ] && complain "sections change their numbers: cite rules by id:
$by_section"

# Names of shapes in a picture (M0,-9L0,9) stand after a quote or a digit, rules after a blank or a
# bracket.
internal=$(grep -E '^src/' "$work/texts" | grep -vE '^src/[^:]*/(test|mock|sim)_' |
    grep -E ":s:.*([( ][$letters][0-9]{1,2}[a-z]?[]) ,.;:\"]|\(protocol|PROTOCOL|src/)")
[ -n "$internal" ] && complain "a message says what happened and what to do, and cites no rule and no source:
$internal"

[ "$bad" = 0 ] && echo "citations: $(wc -l <"$work/defined") rules, all that is cited is defined"
exit "$bad"
