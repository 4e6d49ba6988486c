#!/usr/bin/env python3
"""C programs over a corpus: which are decided, by whom, and why not the others.

Usage: c.py CORPUS [--throng PATH] [--timeout SECS] [--replay] [--only SUBSTRING] [--expected safe|unsafe] [--jobs N] [--logs FOLDER] [--output FILE.csv]

Runs `throng check` on every C program of CORPUS/MANIFEST.csv, N at a time (1 if not given), and prints the counts of each folder as a table, then what was not
decided, with the reason given. `--replay` compiles and runs the replay of each run that is found, and counts those that abort.
`--logs` keeps what each check said with `-v`, in a file for each program, and adds a table of the proofs by abstraction: rounds, predicates, time.
The status is 1 if a verdict differs from the manifest, or if a replay does not fail.
"""

import argparse
import collections
import concurrent.futures
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time

COLUMNS = "path property expected threads verdict engine seconds replay reason".split()
EXPECTED = {"safe": "SAFE", "unsafe": "UNSAFE"}


def check(args, row, folder):
    """One program; FOLDER is for its replay."""
    path = os.path.join(args.corpus, row["path"])
    command = [args.throng, "check", path]
    for flag in row["flags"].split():
        command += [flag] if flag.startswith("-") else [os.path.join(os.path.dirname(path), flag)]
    command += ["--race"] if row["property"] == "no-data-race" else []
    command += ["--timeout", str(args.timeout), "--json"] + (["-v"] if args.logs else [])
    if args.replay:
        command += ["--replay", os.path.join(folder, "replay.c"), "--replay-run", "--force"]
    began = time.time()
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    seconds = time.time() - began
    if args.logs:
        with open(log(args, row), "w") as file:
            file.write(done.stderr)
    found = {"verdict": {0: "SAFE", 10: "UNSAFE", 1: "UNKNOWN", 2: "refused"}.get(done.returncode, "failed"), "seconds": f"{seconds:.1f}"}
    if done.returncode in (0, 1, 10):
        answer = json.loads(done.stdout)
        # A search that does not stop when it is asked to leaves no targets.
        target = (answer.get("targets") or [{}])[0]
        found["engine"] = target.get("engine") or answer.get("engine", "")
        found["reason"] = target.get("reason", "") or answer.get("reason", "")
    else:
        found["reason"] = done.stderr.strip().split("\n")[0]
    if args.replay and found["verdict"] == "UNSAFE":
        found["replay"] = "fails" if "SIGABRT" in done.stderr else "does not fail: " + done.stderr.strip()[-300:]
    return found


def log(args, row):
    return os.path.join(args.logs, row["path"].replace("/", "_") + ".log")


ROUND = re.compile(r"^abstraction: round (\d+), (\d+) predicates? \((\d+) of threads\), \w+ by \S+, ([\d.]+) s \+ ([\d.]+) s", re.M)
FACTS = re.compile(r"^note: proved by predicate abstraction: .*, (\d+) comparisons? that hold", re.M)


def rounds(args, results):
    """Proofs by abstraction: the rounds of all readings that were tried, and the predicates of the last."""
    print("\n| proved by abstraction | rounds | predicates | of threads | facts | abstraction, s | engines, s | all, s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for r in results:
        if r["engine"] != "abstraction":
            continue
        with open(log(args, r)) as file:
            text = file.read()
        found = ROUND.findall(text)
        last = found[-1] if found else ("", "", "", "", "")
        facts = FACTS.search(text)
        times = [sum(float(f[k]) for f in found) for k in (3, 4)]
        print(f"| {r['path'][2:]} | {len(found)} | {last[1]} | {last[2]} | {facts[1] if facts else 0} | {times[0]:.1f} | {times[1]:.1f} | {r['seconds']} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--throng", default="throng")
    parser.add_argument("--timeout", type=float, default=3)
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--expected", default="")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--logs")
    parser.add_argument("--output")
    args = parser.parse_args()
    with open(os.path.join(args.corpus, "MANIFEST.csv")) as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "c" and args.only in row["path"] and args.expected in ("", row["expected"])]
    if args.logs:
        os.makedirs(args.logs, exist_ok=True)

    def one(row):
        with tempfile.TemporaryDirectory() as folder:
            result = {column: row.get(column, "") for column in COLUMNS} | check(args, row, folder)
        print(result["path"], row["expected"], result["verdict"], result["seconds"], file=sys.stderr, flush=True)
        return result

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(one, rows))
    if args.output:
        with open(args.output, "w") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(results)
    report(args, results)
    if args.logs:
        rounds(args, results)
    wrong = [r for r in results if EXPECTED.get(r["expected"]) not in (None, r["verdict"]) and r["verdict"] in EXPECTED.values()]
    wrong += [r for r in results if r["replay"] not in ("", "fails")]
    for r in wrong:
        print(f"\nnot as expected: {r['path']}: {r['expected']}, {r['verdict']} {r['replay']}")
    return 1 if wrong else 0


def report(args, results):
    folders = collections.defaultdict(collections.Counter)
    for r in results:
        count = folders["/".join(r["path"].split("/")[1:-1][:2])]
        bound = "any" if r["threads"] == "any" else "fixed"
        kind = f"safe, {bound}" if r["expected"] == "safe" else r["expected"]
        count[kind] += 1
        count[kind, r["verdict"]] += 1
        count["read"] += r["verdict"] != "refused"
        count["replayed"] += r["replay"] == "fails"
    print("| folder | read | unsafe: found | replayed | safe, fixed threads: proved | safe, any number: proved |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for folder, c in sorted(folders.items()) + [("all", sum(folders.values(), collections.Counter()))]:
        total = c["unsafe"] + c["safe, fixed"] + c["safe, any"] + c["?"]
        parts = [f"{c['unsafe', 'UNSAFE']} of {c['unsafe']}", str(c["replayed"]) if args.replay else ""]
        parts += [f"{c[kind, 'SAFE']} of {c[kind]}" for kind in ("safe, fixed", "safe, any")]
        print(f"| {folder} | {c['read']} of {total} | " + " | ".join(parts) + " |")
    print("\n| not decided | expected | threads | |")
    print("| --- | --- | --- | --- |")
    for r in results:
        if r["verdict"] not in EXPECTED.values():
            print(f"| {r['path'][2:]} | {r['expected']} | {r['threads']} | {r['verdict']}: {r['reason']} |")


if __name__ == "__main__":
    sys.exit(main())
