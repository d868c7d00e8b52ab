#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# lines.sh [TREE] - no line is longer than 120 columns. Prints each that is; fails on any. Exempt are
# lines that cannot be broken: rows of a table in Markdown, what a program prints in its blocks of code,
# and a line that a URL makes long; and files that programs write: pictures, data, man pages.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 2

# Files that programs write.
written='\.(svg|png|json|html|csv|pyc)$|^docs/figures/.*\.txt$'
written="$written|^docs/man/FTT_([A-NP-Z]|O[a-oq-z])" # scripts/transport_pages.py; FTT_Open is by hand

files=$({
    find . -maxdepth 1 -type f
    find debian .ci -maxdepth 1 -type f
    find src include apps sim bench bindings cmake completions docs examples scripts tests -type f
} 2>/dev/null | sed 's|^\./||' | grep -vE "$written" | sort)
[ -n "$files" ] || { echo "lines.sh: no files in $PWD"; exit 2; }
# shellcheck disable=SC2086 # names without blanks
long=$(awk '
    FNR == 1 { code = 0; page = FILENAME ~ /\.md$/ }
    page && /^ *```/ { code = !code }
    length <= 120 || page && (/^\|/ || (code || /^    /) && !/^ *\$ /) { next }
    { line = $0; gsub(/https?:\/\/[^ )>]*/, "", line) }
    length(line) > 120 { print FILENAME ":" FNR ": " length " columns, and 120 are the most" }' $files)
[ -z "$long" ] && echo "lines: none is longer than 120 columns" && exit 0
echo "$long"
exit 1
