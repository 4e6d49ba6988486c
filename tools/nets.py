#!/usr/bin/env python3
"""How many questions about nets are decided, and which are not.

Usage: nets.py CORPUS [--timeout S] [--memory MIB] [--part I/N] [--only TEXT] [--kind pnml|spec] [--out FILE.csv] [-- OPTION...]
       nets.py --table FILE.csv
       nets.py --ring N > ring.pnml

CORPUS has MANIFEST.csv (columns path, kind, property, expected): rows of kind `pnml` are nets with a file of formulas beside them, the expected
answers as `NN=TRUE|FALSE|number|?`; rows of kind `spec` are nets with a target in the file, expected `safe`, `unsafe` or `?`. Each row is one call of
`throng check --jobs 1` with these limits; OPTIONs are added to it. `--part 2/8` takes each eighth row, from the second on.

Every answer becomes a row of FILE.csv, to which rows are added: one that is already there is not asked again. The table is printed in the end: decided,
not decided by reason, and answers that are not as expected, which must not occur.

`--ring N` writes a net of N places around which a token goes, some 300 bytes for each, to measure how fast files are read.
"""

import argparse
import collections
import csv
import json
import os
import resource
import subprocess
import sys
import time

COLUMNS = ("path", "property", "formula", "expected", "answer", "by", "seconds", "why")
THRONG = os.environ.get("THRONG", "target/release/throng")


def answers_of_formulas(done):
    """Formula number, answer, evidence and reason, for each formula of the contest."""
    for target in json.loads(done.stdout)["targets"]:
        number = target["name"].rsplit("-", 1)[-1]
        evidence = (target["evidence"] or {}).get("kind", "")
        if " reaches " in target["name"]:
            continue
        if "bound" in target:
            yield number, str(target["bound"]), evidence, ""
        elif "holds" in target:
            yield number, str(target["holds"]).upper(), evidence, ""
        else:
            yield number, "", "", target.get("reason") or "undecided"


def ask(corpus, row, args):
    """The rows of the table for one row of the manifest."""
    command = [THRONG, "check", os.path.join(corpus, row["path"]), "--json", "--jobs", "1"]
    command += ["--timeout", str(args.timeout), "--memory", str(args.memory)] + args.options
    expected = {"": row["expected"]}
    if row["kind"] == "pnml":
        command += ["--prop", os.path.join(corpus, os.path.dirname(row["path"]), row["property"])]
        expected = dict(pair.split("=") for pair in row["expected"].split())
    began = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    seconds = "%.2f" % (time.monotonic() - began)
    found = {}
    if done.returncode in (0, 1, 10) and row["kind"] == "pnml":
        found = {number: rest for number, *rest in answers_of_formulas(done)}
    elif done.returncode in (0, 1, 10):
        report = json.loads(done.stdout)
        verdict = report["verdict"]
        why = report["targets"][0].get("reason", "") if report["targets"] else ""
        evidence = (report["targets"][0]["evidence"] or {}).get("kind", "") if report["targets"] else ""
        found = {"": ("" if verdict == "unknown" else verdict, evidence, why or "undecided")}
    failed = ("", "", (done.stderr.strip().splitlines() or ["status %d" % done.returncode])[0])
    for number, answer in sorted(expected.items()):
        got, by, why = found.get(number, failed)
        yield dict(zip(COLUMNS, (row["path"], row["property"], number, answer, got, by, seconds, "" if got else why)))


def table(rows):
    """Prints what was decided."""
    kinds = collections.OrderedDict()
    for row in rows:
        kinds.setdefault(row["property"], []).append(row)
    print("| questions | all | decided | | not as expected |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for kind, of in list(kinds.items()) + [("all", rows)]:
        decided = [row for row in of if row["answer"]]
        wrong = [row for row in decided if row["expected"] not in ("?", row["answer"])]
        print("| %s | %d | %d | %.1f %% | %d |" % (kind, len(of), len(decided), 100 * len(decided) / max(1, len(of)), len(wrong)))
    wrong = [row for row in rows if row["answer"] and row["expected"] not in ("?", row["answer"])]
    for row in wrong:
        print("NOT AS EXPECTED: %(path)s %(property)s %(formula)s: %(answer)s, expected %(expected)s" % row)
    print("\nnot decided, by reason:")
    for why, n in collections.Counter(row["why"] for row in rows if not row["answer"]).most_common():
        print("%6d  %s" % (n, why))
    print("\nnot decided, by input:")
    for (path, kind), n in collections.Counter((r["path"], r["property"]) for r in rows if not r["answer"]).most_common():
        print("%6d  %s %s" % (n, path, kind))
    return 1 if wrong else 0


def ring(n):
    """A large net."""
    print("<?xml version='1.0'?>\n<pnml xmlns='http://www.pnml.org/version-2009/grammar/pnml'>")
    print("<net id='ring' type='http://www.pnml.org/version-2009/grammar/ptnet'><page id='page'>")
    for i in range(n):
        marking = "<initialMarking><text>1</text></initialMarking>" if i == 0 else ""
        print("<place id='place_%d'><name><text>place %d</text></name>%s</place>" % (i, i, marking))
        print("<transition id='transition_%d'><name><text>transition %d</text></name></transition>" % (i, i))
        print("<arc id='in_%d' source='place_%d' target='transition_%d'/>" % (i, i, i))
        print("<arc id='out_%d' source='transition_%d' target='place_%d'/>" % (i, i, (i + 1) % n))
    print("</page></net></pnml>")


def main():
    argv, options = sys.argv[1:], []
    if "--" in argv:
        argv, options = argv[: argv.index("--")], argv[argv.index("--") + 1 :]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", nargs="?")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--memory", type=int, default=4096)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--only", default="")
    parser.add_argument("--kind", choices=("pnml", "spec"))
    parser.add_argument("--out", default="")
    parser.add_argument("--table", default="")
    parser.add_argument("--ring", type=int, default=0)
    args = parser.parse_args(argv)
    args.options = options
    if args.ring:
        return ring(args.ring)
    if args.table:
        with open(args.table, newline="") as file:
            return table(list(csv.DictReader(file)))
    part, parts = (int(n) for n in args.part.split("/"))
    with open(os.path.join(args.corpus, "MANIFEST.csv"), newline="") as file:
        asked = [row for row in csv.DictReader(file) if row["kind"] in ((args.kind,) if args.kind else ("pnml", "spec"))]
    asked = [row for row in asked if args.only in row["path"] + " " + row["property"]][part - 1 :: parts]
    rows = []
    if args.out and os.path.exists(args.out):
        with open(args.out, newline="") as file:
            rows = list(csv.DictReader(file))
    known = {(row["path"], row["property"]) for row in rows}
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for row in asked:
        if (row["path"], row["property"]) in known:
            continue
        new = list(ask(args.corpus, row, args))
        rows += new
        if args.out:
            fresh = not os.path.exists(args.out)
            with open(args.out, "a", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS)
                if fresh:
                    writer.writeheader()
                writer.writerows(new)
    return table(rows)


if __name__ == "__main__":
    sys.exit(main())
