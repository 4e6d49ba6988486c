#!/usr/bin/env python3
"""Asks SPIN about a thread-transition system with N threads: spin.py FILE --targets FILE --initial s/l --threads N --memory MiB.

Writes Promela with one process for each thread, compiles the verifier and runs it. Says what it found."""

import argparse
import os
import re
import subprocess
import sys
import tempfile

MOST_STEPS = 4000


def refuse(why):
    print("REFUSED", why)
    sys.exit(0)


def configuration(text):
    found = re.fullmatch(r"\s*(\d+)\s*\|\s*([\d,\s]*)", text)
    return (int(found[1]), [int(l) for l in found[2].replace(",", " ").split()]) if found else refuse("a target: " + text)


def promela(steps, shared, local, targets, threads):
    """Any number of threads up to the bound starts; at the bound, a step that creates a thread creates none."""
    text = "int s = %d;\nint n = 0;\nint l[%d] = -1;\nproctype thread(int me) {\nend: do\n" % (shared, threads)
    for a, b, arrow, c, d in steps:
        here = "  :: atomic { s == %s && l[me] == %s -> s = %s; " % (a, b, c)
        if arrow == "+>":
            text += here + "if :: n < %d -> l[n] = %s; n++; run thread(n - 1) :: else fi }\n" % (threads, d)
        else:
            text += here + "l[me] = %s }\n" % d
    text += "  od\n}\ninit { atomic { do :: n < %d -> l[n] = %d; n++; run thread(n - 1) :: break od };\nend: do\n" % (threads, local)
    for s, ls in targets:
        there = ["(%s) >= %d" % (" + ".join("(l[%d] == %d)" % (t, l) for t in range(threads)), ls.count(l)) for l in set(ls)]
        text += "  :: atomic { %s -> assert(false) }\n" % " && ".join(["s == %d" % s] + there)
    return text + "  od\n}\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--targets", required=True)
    parser.add_argument("--initial", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--memory", type=int, default=2000)
    args = parser.parse_args()
    lines = [line.split("#")[0].split() for line in open(args.file)]
    steps = [line for line in lines[1:] if line]
    if any(len(step) != 5 or step[2] not in ("->", "+>") for step in steps) or len(steps) > MOST_STEPS:
        refuse("moves of other threads, or more than %d steps" % MOST_STEPS)
    start = re.fullmatch(r"(\d+)[/|](\d+)", args.initial) or refuse("the start " + args.initial)
    targets = [configuration(line) for line in open(args.targets) if line.strip()]
    with tempfile.TemporaryDirectory() as folder:
        def run(*command):
            return subprocess.run(command, cwd=folder, capture_output=True, text=True)

        with open(os.path.join(folder, "m.pml"), "w") as file:
            file.write(promela(steps, int(start[1]), int(start[2]), targets, args.threads))
        for command in (["spin", "-a", "m.pml"],
                        ["cc", "-O2", "-w", "-DSAFETY", "-DCOLLAPSE", "-DVECTORSZ=2048", "-DMEMLIM=%d" % args.memory, "-o", "pan", "pan.c"]):
            done = run(*command)
            if done.returncode:
                sys.exit("%s: %s" % (command[0], (done.stdout + done.stderr)[:200]))
        done = run("./pan", "-m1000000", "-c1")
    if re.search(r"errors: [1-9]", done.stdout) and "assertion violated" in done.stdout:
        print("found a violation")
    elif "errors: 0" in done.stdout and "max search depth too small" not in done.stdout and "out of memory" not in done.stdout:
        print("found none")
    else:
        print("UNKNOWN", done.stdout[-200:])


if __name__ == "__main__":
    main()
