#!/usr/bin/env python3
"""The proved checker over a corpus: which certificates of systems and nets it accepts, and how long it takes compared with `throng certify`.

Usage: proved.py CORPUS [--throng PATH] [--proved PATH] [--timeout SECS] [--engines NAME,…] [--only SUBSTRING]

For every question of MANIFEST.csv about a system or net, and every engine: `throng check --certificate` on one core, then both checkers on what was written
(`explicit` is asked about three threads; `deadlock` is the portfolio, asked about deadlocks as well; `cutoff` is `throng cutoff`). Prints a table of counts, and every certificate for which the proved checker takes more than ten times as long
and more than 0.2 s. Times are processor time, so that a busy machine does not matter much.
"""

import argparse
import csv
import os
import resource
import subprocess
import tempfile

from certificates import HERE, question

ENGINES = "auto,backward,equations,karp-miller,explicit,deadlock,cutoff"


def asking(engine, corpus, row):
    """The command of throng, its options, and those that make the question."""
    asked = question(corpus, row)
    if engine == "cutoff":
        return "cutoff", [], asked[:asked.index("--prop")] if "--prop" in asked else asked
    if engine == "deadlock":
        return "check", ["--engine", "auto"], [*asked, "--deadlock"]
    return "check", ["--engine", engine], asked + (["--threads", "3"] if engine == "explicit" else [])


def run(command):
    """Status and processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    status = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return status, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--throng", default=os.path.join(HERE, "..", "target", "release", "throng"))
    parser.add_argument("--proved", default=os.path.join(HERE, "..", "proofs", "build", "throng-proved"))
    parser.add_argument("--timeout", type=float, default=1)
    parser.add_argument("--engines", default=ENGINES)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))  # deep lists
    with open(os.path.join(args.corpus, "MANIFEST.csv")) as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] != "bp" and args.only in row["path"]]
    slow = []
    print("engine        certificates  valid for both  different  not covered  over ten times  certify s  proved s")
    for engine in args.engines.split(","):
        written = valid = different = uncovered = over = 0
        certify_seconds = proved_seconds = 0.0
        for row in rows:
            with tempfile.TemporaryDirectory() as folder:
                certificate = os.path.join(folder, "certificate.json")
                command, chosen, asked = asking(engine, args.corpus, row)
                path = os.path.join(args.corpus, row["path"])
                options = ["-q", "--jobs", "1", "--timeout", str(args.timeout), "--memory", "2000", *chosen]
                status, _ = run([args.throng, command, path, "--certificate", certificate, *options, *asked])
                if status not in (0, 10) or not os.path.exists(certificate):
                    continue
                written += 1
                first, certify_time = run([args.throng, "certify", path, certificate, *asked])
                second, proved_time = run([args.proved, path, certificate, *asked])
                valid += first == second == 0
                uncovered += second == 2
                different += second not in (first, 2)
                certify_seconds += certify_time
                proved_seconds += proved_time
                if proved_time > 10 * certify_time and proved_time > 0.2:
                    over += 1
                    slow.append((engine, row["path"], certify_time, proved_time))
        print(f"{engine:12}  {written:12}  {valid:14}  {different:9}  {uncovered:11}  {over:14}  {certify_seconds:9.1f}  {proved_seconds:8.1f}", flush=True)
    for engine, path, certify_time, proved_time in sorted(slow, key=lambda s: -s[3]):
        print(f"{engine} {path}: {proved_time:.2f} s, throng certify {certify_time:.2f} s")


if __name__ == "__main__":
    main()
