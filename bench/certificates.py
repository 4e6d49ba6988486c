#!/usr/bin/env python3
"""Certificates over a corpus: for every question of MANIFEST.csv, who found what, how large the certificate is, and who accepts it.

Usage: certificates.py CORPUS [--throng PATH] [--timeout SECS] [--output FILE.csv] [--only SUBSTRING]

Runs `throng check --certificate` on one core, then `throng certify`, then tools/certify.py (systems and nets; given three times as long, at least a
minute), and writes one row for each question; a summary goes to standard output. The time of finding is that of the search and of reading the
input, without checking; the time of checking is that of a fresh `throng certify`, reading input and certificate included. Where checking seems to take more
than half as long as finding, and neither takes long, both are done five times and the least time counts: milliseconds on a busy machine are noise.
"""

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter

HERE = os.path.dirname(os.path.abspath(__file__))
SECOND = os.path.join(HERE, "..", "tools", "certify.py")
COLUMNS = "path verdict expected kind form elements bytes find check_inside certify valid second second_seconds".split()


def question(corpus, row):
    options = []
    if row["kind"] == "bp":
        options += ["--initial", row["initial"].split(" ")[0]]
    if row["kind"] == "tts":
        options += ["--initial", row["initial"], "--prop", os.path.join(corpus, row["property"])]
    if row["property"].startswith("label "):
        options += ["--error-label", row["property"][len("label "):]]
    return options


def run(command, timeout):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired:
        return None, ""


def form(certificate):
    """What the evidence consists of; `pairs` if single threads do not suffice."""
    with open(certificate) as file:
        pieces = json.load(file)["evidence"]
    found = set()
    for piece in pieces:
        piece = piece.get("through", {}).get("proof", piece)
        ((kind, body),) = piece.items()
        if kind != "invariants":
            found.add(kind)
            continue
        views = body["views"] or []
        found |= {"views"} if views else set()
        found |= {"pairs"} if any(right is not None for _, _, right in views) else set()
        found |= {part for part in ("vectors", "basis") if body[part]}
    return " ".join(sorted(found))


def measure(throng, corpus, row, timeout, certificate):
    path = os.path.join(corpus, row["path"])
    result = dict.fromkeys(COLUMNS, "")
    result.update(path=row["path"], expected=row["expected"])
    if os.path.exists(certificate):
        os.remove(certificate)
    command = [throng, "check", path, "--json", "-q", "--jobs", "1", "--timeout", str(timeout), "--memory", "4000"]
    command += ["--certificate", certificate, *question(corpus, row)]

    def find():
        status, out = run(command, 20 * timeout)
        report = json.loads(out or "null")
        if report is None:
            return status, None, 0, 0
        numbers = report["statistics"]
        return status, report, max(0, numbers["seconds"] - numbers["checking"]), numbers["checking"]

    def check():
        status, out = run([throng, "certify", path, certificate, "--json", *asked], 20 * timeout)
        return status, json.loads(out or "null")

    status, report, finding, inside = find()
    if report is None:
        result["verdict"] = "refused" if status == 2 else "error"
        return result
    result["verdict"] = report["verdict"]
    # An answer to a part of the question does not answer it.
    asked = ["--its-own-question"] if report["verdict"] == "unknown" else question(corpus, row)
    result.update(find="%.4f" % finding, check_inside="%.4f" % inside)
    if not os.path.exists(certificate):
        return result
    kinds = Counter()
    for target in report["targets"]:
        if target["evidence"]:
            kinds[target["evidence"]["kind"]] += 1
    result.update(kind=" ".join(sorted(kinds)), form=form(certificate), bytes=os.path.getsize(certificate))
    status, told = check()
    if told is None:
        result["valid"] = "error %s" % status
    else:
        checking = told["seconds"]
        if checking > finding / 2 and finding < 0.2:
            checking = min([checking] + [check()[1]["seconds"] for _ in range(4)])
            finding = min([finding] + [find()[2] for _ in range(4)])
        result.update(valid=told["result"], certify="%.4f" % checking, find="%.4f" % finding)
        result["elements"] = max((t["elements"] for t in told["targets"]), default=0)
    if row["kind"] != "bp":
        from time import time

        began = time()
        status, out = run([sys.executable, SECOND, path, certificate, *asked], max(60, 3 * timeout))
        words = out.split("  ", 1)
        result["second"] = words[1].split()[0].lower() if len(words) > 1 else "out of time" if status is None else "error"
        result["second_seconds"] = "%.2f" % (time() - began)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus")
    parser.add_argument("--throng", default=os.path.join(HERE, "..", "target", "release", "throng"))
    parser.add_argument("--timeout", type=float, default=2)
    parser.add_argument("--output", default=os.path.join(HERE, "certificates.csv"))
    parser.add_argument("--only", default="", help="paths that contain this")
    args = parser.parse_args()
    with open(os.path.join(args.corpus, "MANIFEST.csv"), newline="") as file:
        rows = [row for row in csv.DictReader(file) if args.only in row["path"]]
    found = []
    with tempfile.TemporaryDirectory() as folder, open(args.output, "w", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS)
        writer.writeheader()
        for row in rows:
            found.append(measure(args.throng, args.corpus, row, args.timeout, os.path.join(folder, "certificate.json")))
            writer.writerow(found[-1])
            out.flush()
    summary(found)


def summary(found):
    say = lambda name, values: print("%-34s %s" % (name, ", ".join("%d %s" % (n, v or "-") for v, n in Counter(values).most_common())))
    print("%d questions" % len(found))
    say("verdicts", (r["verdict"] for r in found))
    wrong = [r["path"] for r in found if r["verdict"] in ("safe", "unsafe") and r["expected"] in ("safe", "unsafe") and r["expected"] != r["verdict"]]
    decided = [r for r in found if r["valid"]]
    say("evidence", (r["kind"] for r in decided))
    say("form", (r["form"] for r in decided))
    say("throng certify", (r["valid"] for r in decided))
    say("tools/certify.py (not for programs)", (r["second"] for r in decided if r["second"]))
    ratios = sorted((float(r["certify"]) / max(float(r["find"]), 1e-3), r["path"]) for r in decided if r["certify"])
    if ratios:
        print("checking / finding: median %.2f, worst %.1f (%s)" % (statistics.median(r[0] for r in ratios), *ratios[-1]))
        slow = [
            (float(r["certify"]) / float(r["find"]), r["path"]) for r in decided if r["certify"] and float(r["find"]) >= 0.1
        ]
        if slow:
            worst = max(slow)
            print("  where finding takes 0.1 s or more (%d): median %.2f, worst %.1f (%s)" % (len(slow), statistics.median(s[0] for s in slow), *worst))
        sizes = [int(r["bytes"]) for r in decided]
        print("bytes: median %d, largest %d" % (statistics.median(sizes), max(sizes)))
    if wrong:
        print("WRONG:", *wrong)


if __name__ == "__main__":
    main()
