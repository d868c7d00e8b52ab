#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# coverage.sh [BUILD] - which lines of src run: by the unit tests alone, and by all tests (make
# coverage). Builds into BUILD (build-coverage), runs the tests there, prints a table of rooms and
# the files of which most is missing, and writes pages with each line to
# BUILD/coverage/{unit,all}.html.
#
#   COVERAGE_TESTS   which tests "all tests" are besides the unit tests, as for ctest -R (all); none: no second figure
#   TEST_JOBS        tests at a time (2)
#   CTEST_ARGS       further arguments of ctest
#
# A test that fails is named, and its lines count: a slow build may run into a time limit.
set -u
cd "$(dirname "$0")/.." || exit 2
build=${1:-build-coverage}
jobs=${TEST_JOBS:-2}
all=${COVERAGE_TESTS:-.}
out=$build/coverage
failed=0

# Without any optimization the look at unprotected memory takes more than the time that it may.
# shellcheck disable=SC2046
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g" \
    -DBUILD_TESTING=ON -DFTRMA_COVERAGE=ON \
    $(command -v mpicc.openmpi >/dev/null && echo -DMPI_C_COMPILER=mpicc.openmpi) >"$build.log" 2>&1 ||
    { cat "$build.log"; exit 1; }
mkdir -p "$out" && mv "$build.log" "$out/cmake.log"

measure() { # name of the figure, arguments of ctest
    name=$1
    shift
    # shellcheck disable=SC2086
    ctest --test-dir "$build" --parallel "$jobs" --no-tests=error "$@" ${CTEST_ARGS:-} >"$out/$name.log" 2>&1 || {
        echo "coverage: not all tests of '$name' have passed:"
        sed -n '/^The following tests FAILED/,/^Errors while/p' "$out/$name.log" | sed '1d;$d'
        failed=1
    }
    # The rooms with state are compiled twice; a line counts if it ran in either. What a process
    # wrote that died while it wrote is left out. With -j gcovr would hang where it reports an error.
    gcovr --root . --filter 'src/' --exclude '.*/(test|mock)_[^/]*$' \
        --gcov-ignore-parse-errors --exclude-unreachable-branches \
        --json "$out/$name.json" --html-details "$out/$name.html" "$build" 2>"$out/$name.gcovr.log" ||
        { tail -3 "$out/$name.gcovr.log"; exit 1; }
}

if [ "$all" = none ]; then
    targets=unit_tests
else
    targets=all
fi
ninja -C "$build" "$targets" >"$out/build.log" 2>&1 || { tail -30 "$out/build.log"; exit 1; }
find "$build" -name '*.gcda' -delete
rm -f "$out"/unit.* "$out"/all.*
measure unit -R '^unit\.'
# What looks at the objects themselves finds the counters in them.
[ "$all" = none ] || measure all -R "$all" -E '^unit\.|^engine$'
python3 scripts/coverage.py "$out" || exit 1
[ "$all" = none ] && pages=$out/unit.html || pages="$out/unit.html and $out/all.html"
echo "coverage: each line is in $pages"
[ "$failed" = 0 ] || echo "coverage: see $out/*.log for what has failed"
