#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""large_trace.py - prints a trace as ftrun --trace writes it: 64 ranks, 8 checksum processes, 4 spares, 1000
checkpoints, and three losses, of which two come shortly one after the other. Its times (microseconds) are made up."""
import json

RANKS, CHECKSUMS, SPARES, END = 64, 8, 4, 60e6
LOST = {5: 10e6, 6: 10.05e6, 40: 40e6}
TAKES = dict(zip(range(RANKS + CHECKSUMS, RANKS + CHECKSUMS + SPARES), LOST))
events = []


def role(slot):
    kinds = ("rank", 0, RANKS), ("checksum process", RANKS, CHECKSUMS), ("spare", RANKS + CHECKSUMS, SPARES)
    for name, first, n in kinds:
        if first <= slot < first + n:
            return f"{name} {slot - first}"


def add(ph, name, slot, **more):
    events.append({"ph": ph, "name": name, "pid": slot + 1, "tid": 1, "cat": "event", **more})


def span(name, slot, begin, end, what="", **more):
    add("X", name, slot, ts=begin, dur=end - begin, args={"what": what}, **more)


def instant(name, slot, at, what):
    add("i", name, slot, ts=at, s="p", args={"what": what})


def replace(slot, rank):
    at = LOST[rank] + 2000
    instant("failure", rank, LOST[rank], f"rank {rank} failed (slot {rank}, pid 1)")
    instant("replacement", slot, at, f"rank {rank} is now carried by slot {slot} (incarnation 1)")
    span(role(slot), slot, 0, at, cat="role")
    span(f"rank {rank}", slot, at, END, cat="role")
    span("rejoined", slot, at + 5000, at + 25000, "a text that must not end the script: </script> & <b>")
    span("live", slot, at + 25000, at + 85000, f"rank {rank} is live again")


for slot in range(RANKS + CHECKSUMS + SPARES):
    then = f", then rank {TAKES[slot]}" if slot in TAKES else ""
    host = f" (host-{slot // 8})" if slot % 9 else " (a-host-with-a-long-name)"
    add("M", "process_name", slot, args={"name": f"slot {slot}: {role(slot)}{then}{host}"})
for slot in range(RANKS + CHECKSUMS + SPARES):
    if slot in TAKES:
        replace(slot, TAKES[slot])
    else:
        span(role(slot), slot, 0, LOST.get(slot, END), cat="role")
for version in range(1000):
    begin = 49000 + version * 59900
    add("b", "checkpoint", 0, ts=begin, id=version, args={"what": f"checkpoint {version} committed"})
    add("e", "checkpoint", 0, ts=begin + 8000, id=version)
    for rank in range(RANKS):
        if begin < LOST.get(rank, END):
            what = f"rank {rank} copied 9 bytes for checkpoint {version}"
            span("checkpoint.copy", rank, begin + 1000, begin + 4000, what)
print(json.dumps(events))
