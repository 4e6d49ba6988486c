#!/usr/bin/env python3
"""usage: bench/abstraction.py THRONG FILE[:OPTIONS]... [--earlier PROGRAM] [--sec N]: processor time of proofs by abstraction.

Each file is asked about with one job and N seconds; a second program, if there is one, is asked the same.
A table in Markdown: the verdict and the user time of each, and how many times faster the first one is."""
import argparse, os, resource, shlex, subprocess

parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("throng")
parser.add_argument("files", nargs="+")
parser.add_argument("--earlier")
parser.add_argument("--sec", type=int, default=120)
args = parser.parse_args()


def ask(program, file, options):
    """Returns the first word of the answer and the user time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    call = [program, "check", file, *options, "--jobs", "1", "--quiet", "--timeout", str(args.sec)]
    said = subprocess.run(call, capture_output=True, text=True).stdout.split(maxsplit=1)
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return said[0] if said else "nothing", used


programs = [args.throng] + ([args.earlier] if args.earlier else [])
print("| program | now |" + (" before | times |" if args.earlier else ""))
print("| --- | --- |" + (" --- | --- |" if args.earlier else ""))
for file in args.files:
    file, _, options = file.partition(":")
    answers = [ask(program, file, shlex.split(options)) for program in programs]
    cells = [f"{said} {used:.1f} s" for said, used in answers]
    if args.earlier:
        cells.append(f"{answers[1][1] / max(answers[0][1], 0.01):.1f}")
    name = "/".join(file.split("/")[-2:])
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
