#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# reasons.sh BUILD [--write] - what ftrun(1) has below REASONS is made of `ftrun --help-reasons`.
# Without --write the page is compared with that.
set -u
build=$(cd "$1" && pwd) || exit 2
cd "$(dirname "$0")/.." || exit 2
page=docs/man/ftrun.1
list=$(mktemp) && made=$(mktemp) || exit 2
trap 'rm -f "$list" "$made"' EXIT

"$build/bin/ftrun" --help-reasons | sed -n '
    s/-/\\-/g
    s/^[a-z][^ ]*$/.TP\n.B &/p
    s/^    \(\.\)/\\\&\1/p
    s/^    //p' | awk '
    # a long line is broken, where no line begins with a dot (a request of troff)
    { while (length > 100) {
          for (i = 100; i > 1 && (substr($0, i, 1) != " " || substr($0, i + 1, 1) == "."); i--) {}
          if (i == 1) break
          print substr($0, 1, i - 1)
          $0 = substr($0, i + 1)
      }
      print }' >"$list"
awk -v list="$list" '
    /^\.\\" reasons: end/ { inside = 0 }
    !inside { print }
    /^\.\\" reasons: begin/ { inside = 1; while ((getline line < list) > 0) print line }' "$page" >"$made"
[ "$(grep -c '^\.TP' "$list")" -gt 20 ] || { echo "reasons.sh: ftrun prints no reasons"; exit 1; }
if [ "${2-}" = --write ]; then
    cat "$made" >"$page"
else
    diff "$page" "$made" || { echo "$page is not as src/base/reason.def: scripts/reasons.sh BUILD --write"; exit 1; }
fi
