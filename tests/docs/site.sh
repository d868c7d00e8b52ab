#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# site.sh SOURCE - the HTML site can be made, all its links lead somewhere, and links that lead
# nowhere are found.
set -u
site=$1/scripts/site.py
for tool in python3 mkdocs mandoc; do
    command -v $tool >/dev/null || { echo "skipped: no $tool (scripts/deps.sh docs installs it)"; exit 77; }
done
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
python3 "$site" "$work" || { echo "FAILED: the site could not be made"; exit 1; }
for page in index.html TUTORIAL.html man/ftrun.1.html figures/index.html; do
    [ -s "$work/site/$page" ] || { echo "FAILED: the site has no $page"; exit 1; }
done
grep -q 'href="FTRMA_Run.3.html"' "$work/site/man/ftrun.1.html" ||
    { echo "FAILED: ftrun(1) does not lead to FTRMA_Run(3)"; exit 1; }

# a file and an anchor that are not there
mkdir "$work/bad"
echo '<p id="here"><a href="#here"></a><a href="#away"></a><a href="gone.html"></a>' >"$work/bad/index.html"
python3 "$site" --check "$work/bad" >"$work/said"
[ "$(sort "$work/said" | cut -d: -f2 | tr -d '\n ')" = "#awaygone.html" ] ||
    { echo "FAILED: broken links: $(cat "$work/said")"; exit 1; }
echo "the site is whole"
