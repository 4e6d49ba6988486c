#!/usr/bin/env python3
"""usage: races.py THRONG CORPUS [--sec N] [FAMILY …]: asks about races of whole programs, those of
these families in CORPUS/MANIFEST.csv, and prints a table in Markdown: lines, processor time, verdict,
shared objects, those without a race, possible and confirmed races."""
import argparse
import csv
import json
import pathlib
import resource
import shlex
import subprocess

parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument("throng")
parser.add_argument("corpus", type=pathlib.Path)
parser.add_argument("families", nargs="*", default=["concrat", "pthread"])
parser.add_argument("--sec", type=int, default=60)
args = parser.parse_args()


def answer(row):
    """Returns what is said about a program, and the seconds of processor time that it took."""
    options = ["--race", "--timeout", str(args.sec), "--memory", "4000", "--jobs", "1", "--json"]
    command = [args.throng, "check", str(args.corpus / row["path"]), *shlex.split(row["flags"]), *options]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=args.sec * 3)
    except subprocess.TimeoutExpired:
        return None, 3.0 * args.sec
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = json.loads(ran.stdout) if ran.stdout.startswith("{") else None
    return said, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


print("| program | lines | processor time | verdict | objects | without a race | possible races, on objects | confirmed |")
print("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |")
for row in csv.DictReader(open(args.corpus / "MANIFEST.csv")):
    if row["path"].split("/")[0] not in args.families or row["property"] != "no-data-race":
        continue
    lines = sum(1 for _ in open(args.corpus / row["path"], errors="replace"))
    said, seconds = answer(row)
    name = row["path"].removesuffix("/main.c")
    if said is None or not said.get("races"):
        verdict = said.get("verdict", "no findings") if said else "refused, or out of time"
        print(f"| {name} | {lines} | {seconds:.1f} s | {verdict} | | | | |", flush=True)
        continue
    objects = said["races"]["objects"]
    racy = [o for o in objects if o["races"]]
    possible = sum(len(o["races"]) for o in racy)
    confirmed = sum(r["confirmed"] for o in racy for r in o["races"])
    print(
        f"| {name} | {lines} | {seconds:.1f} s | {said['verdict']} | {len(objects)} "
        f"| {len(objects) - len(racy)} | {possible}, on {len(racy)} | {confirmed} |",
        flush=True,
    )
