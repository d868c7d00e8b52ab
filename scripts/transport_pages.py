#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages of the transport's functions, from the comments of include/ftrma_transport.h.

    scripts/transport_pages.py --write      writes docs/man/FTT_*.3 (FTT_Open.3 is written by hand)
    scripts/transport_pages.py --check      fails if a page is not what --write would write
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = {  # the page's first function: what it is about, further functions
    "FTT_Rank": ("who carries what", "FTT_Size FTT_Incarnation FTT_Generation"),
    "FTT_Progress": ("whether the helper thread works", ""),
    "FTT_Send": ("messages of the transport", "FTT_Send_header FTT_Answer"),
    "FTT_Poll": ("the next event of the transport", ""),
    "FTT_Alloc": ("public memory of the transport", "FTT_Register FTT_Release FTT_Put FTT_Get"),
    "FTT_Ping": ("be told of a death", "FTT_Cancel FTT_Die"),
    "FTT_Vote": ("agree on who has failed", ""),
    "FTT_Barrier": ("collectives of the transport", "FTT_Broadcast FTT_Reduce FTT_Allreduce FTT_Gather"),
    "FTT_Publish": ("memory that others fetch by name",
                    "FTT_Unpublish FTT_Fetch FTT_Ifetch FTT_Fetch_part FTT_Ifetch_part"),
    "FTT_Status_text": ("a status of the transport in words", ""),
}
SAYS = ("Blocking", "Ownership", "Threads", "Deaths")  # what each comment tells
AS = "Blocking, ownership, threads and deaths: as FTT_"


def functions(text):
    """Of each function in their order: prototype, comment ('' if it shares the one before)."""
    found = {}
    pattern = r"(?:/\*((?:[^*]|\*(?!/))*)\*/\n)?static inline ((?:[\w ]|\*)*?)(FTT_\w+)\(([^)]*)\)"
    for comment, kind, name, arguments in re.findall(pattern, text):
        words = re.sub(r"\n \*(?: |$|(?=\n))", "\n", comment).strip()
        found[name] = (f"{kind}{name}({' '.join(arguments.split())});", words)
    return found


def escape(s):
    s = s.replace("\\", "\\\\").replace("-", "\\-")
    return "\\&" + s if s[:1] in ".'" else s


def described(words):
    """Paragraphs, each at what the comments have it begin with."""
    text = " ".join(words.split())
    text = re.sub(r" (?=(Blocking|Ownership|Threads|Deaths): )", "\n", text)
    text = re.sub(r"(?<=\.) (?=Returns? FTT_)", "\n", text)
    for part in text.split("\n"):
        sentences = re.sub(r"(?<=[.;]) (?=[A-Z*])", "\n", part).split("\n")
        yield "\n".join(escape(s) for s in sentences)


def page(first, known):
    about, more = PAGES[first]
    names = [first] + more.split()
    out = ['.\\" SPDX-License-Identifier: BSD-3-Clause',
           '.\\" Written by scripts/transport_pages.py from include/ftrma_transport.h.',
           f'.TH {first.upper()} 3 "" "ftrma" "Library Functions"', ".SH NAME",
           f"{', '.join(names)} \\- {about}", ".SH SYNOPSIS", ".nf", ".B #include <ftrma_transport.h>", ".PP"]
    out += [f".B \"{escape(known[n][0])}\"" for n in names]
    out += [".fi", ".SH DESCRIPTION"]
    for n in names:
        if known[n][1]:
            out += [".TP", f".B {n}"] + "\n.IP\n".join(described(known[n][1])).split("\n")
    out += [".SH SEE ALSO", ".BR FTT_Open (3),", ".BR ftrun (1)", ""]
    return "\n".join(out)


def main():
    if sys.argv[1:] not in (["--write"], ["--check"]):
        sys.exit(__doc__)
    known = functions((ROOT / "include/ftrma_transport.h").read_text())
    pages, bad = {}, 0
    for first, (_, more) in PAGES.items():
        pages[first] = page(first, known)
        for n in more.split():
            pages[n] = f".so man3/{first}.3\n"
    pages["FTT_Close"] = ".so man3/FTT_Open.3\n"
    for name, (_, words) in known.items():
        for word in SAYS:
            if words and f"{word}: " not in " ".join(words.split()) and AS not in " ".join(words.split()):
                print(f"include/ftrma_transport.h: the comment of {name} has no '{word}: '")
                bad = 1
    missing = set(known) - set(pages) - {"FTT_Open"}
    if missing:
        sys.exit(f"transport_pages.py: functions without a page: {', '.join(sorted(missing))}; add them to PAGES")
    for name, text in pages.items():
        file = ROOT / "docs/man" / f"{name}.3"
        if sys.argv[1] == "--write":
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            print(f"{file.relative_to(ROOT)} is not what the header says: scripts/transport_pages.py --write")
            bad = 1
    sys.exit(bad)


main()
