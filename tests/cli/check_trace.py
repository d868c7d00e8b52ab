#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check_trace.py TRACE - is it a valid trace? Complete spans of a thread lie apart or one within the other,
asynchronous spans have a begin and an end with the same id, each process has one name, and an event of a process lies
within its life."""
import json
import sys


def ns(us):
    return round(us * 1000)


def nested(spans):
    """The first pair of spans that cross, or None."""
    open_spans = []
    for span in sorted(spans, key=lambda s: (s[0], -s[1])):
        while open_spans and open_spans[-1][1] <= span[0]:
            open_spans.pop()
        if open_spans and open_spans[-1][1] < span[1]:
            return open_spans[-1], span
        open_spans.append(span)
    return None


def check(events):
    threads, names, begun, ended, roles = {}, {}, {}, {}, {}
    for e in events:
        phase, pid = e["ph"], e["pid"]
        if phase == "M":
            if e["name"] == "process_name":
                assert pid not in names, f"process {pid} has two names"
                names[pid] = e["args"]["name"]
            continue
        assert phase in "Xbei", f"unknown phase {phase}"
        assert e["ts"] >= 0 and e["name"] and e["cat"], e
        begin = ns(e["ts"])
        if phase == "X":
            assert e["dur"] > 0, e
            threads.setdefault((pid, e["tid"]), []).append((begin, begin + ns(e["dur"]), e["name"]))
            if e["cat"] == "role":
                roles.setdefault(pid, []).append((begin, begin + ns(e["dur"])))
        elif phase in "be":
            of = begun if phase == "b" else ended
            assert (pid, e["id"]) not in of, f"two with the id {e['id']}"
            of[pid, e["id"]] = (e["name"], e["cat"], begin)
        assert pid in names, f"process {pid} has no name"
    for thread, spans in threads.items():
        crossing = nested(spans)
        assert not crossing, f"thread {thread}: {crossing} cross"
    assert begun.keys() == ended.keys(), "a span without begin or end"
    for key, (name, cat, begin) in begun.items():
        assert ended[key][:2] == (name, cat) and ended[key][2] >= begin, f"{name} ends before it begins"
    for pid, spans in roles.items():
        life = max(end for _, end in spans)
        for e in events:
            if e["pid"] == pid and e["ph"] != "M":
                assert ns(e["ts"]) <= life, f"{e['name']} of process {pid} comes after its end"
                assert e["name"] != "failure" or ns(e["ts"]) == life, f"process {pid} has failed, and goes on"


# The checker must find what is wrong.
for bad in ([(0, 10), (5, 15)], [(0, 10), (2, 8), (7, 9)]):
    assert nested(bad), bad
assert not nested([(0, 10), (0, 10), (2, 8), (8, 10), (10, 12)])
with open(sys.argv[1], encoding="utf-8") as f:
    check(json.load(f))
