#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""coverage.py DIR - the figures of make coverage as a table, from DIR/unit.json and, if it is there, DIR/all.json."""
import collections
import json
import os
import sys

GOAL_ROOM, GOAL_UNIT, GOAL_ALL = "runtime", 60.0, 90.0


def load(path):
    """{file: {line: it ran}}; a file that was compiled twice is there once."""
    lines = collections.defaultdict(dict)
    with open(path, encoding="utf-8") as f:
        for file in json.load(f)["files"]:
            for line in file["lines"]:
                if not line.get("gcovr/noncode"):
                    n = line["line_number"]
                    seen = lines[file["file"]]
                    seen[n] = seen.get(n, False) or line["count"] > 0
    return lines


def room(file):
    return file.split("/")[1]


def share(files):
    ran = sum(sum(lines.values()) for lines in files)
    return ran, sum(len(lines) for lines in files)


def percent(ran, of):
    return 100.0 * ran / of if of else 100.0


def in_library(file):
    """What is part of libftrma.so."""
    return room(file) not in ("launch", "tools", "wire", "gate")


def main(directory):
    figures = {name: load(os.path.join(directory, name + ".json")) for name in ("unit", "all")
               if os.path.exists(os.path.join(directory, name + ".json"))}
    names = list(figures)
    rooms = sorted({room(f) for figure in figures.values() for f in figure})
    print(f"{'lines of src':<24}{'lines':>8}" + "".join(f"{n + ' tests':>14}" for n in names))

    def row(title, chosen):
        parts = [share([lines for f, lines in figures[n].items() if chosen(f)]) for n in names]
        print(f"{title:<24}{max(of for _, of in parts):>8}" + "".join(f"{percent(*p):>12.1f} %" for p in parts))
        return [percent(*p) for p in parts]

    got = {r: row(r, lambda f, r=r: room(f) == r) for r in rooms}
    library = row("the library", in_library)
    row("all of src", lambda f: True)
    print(f"\ngoal: {GOAL_ROOM} by unit tests alone {GOAL_UNIT:.0f} %: {got[GOAL_ROOM][0]:.1f} %"
          + (f"; the library by all tests {GOAL_ALL:.0f} %: {library[1]:.1f} %" if len(names) > 1 else ""))

    last = names[-1]
    missing = {f: [n for n, ran in sorted(lines.items()) if not ran] for f, lines in figures[last].items()}
    print(f"\nnot run by {last} tests, the files with most such lines:")
    for f in sorted(missing, key=lambda f: -len(missing[f]))[:20]:
        if missing[f]:
            print(f"  {f:<36}{len(missing[f]):>6} of {len(figures[last][f])} lines: {ranges(missing[f])}")


def ranges(numbers):
    """Line numbers as 3-5 8 11-20, at most ten of the longest."""
    runs = []
    for n in numbers:
        if runs and n - runs[-1][1] <= 2:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    longest = sorted(sorted(runs, key=lambda r: r[0] - r[1])[:10])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in longest) + (" ..." if len(runs) > 10 else "")


if __name__ == "__main__":
    main(sys.argv[1])
