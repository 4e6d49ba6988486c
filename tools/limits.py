#!/usr/bin/env python3
"""How well limits are kept: runs every engine over a sample of a MANIFEST with --timeout and with --memory.

    tools/limits.py target/release/throng ../shared/corpus/MANIFEST.csv --every 12 > sweep.csv

One line per run: what was used beyond the limit. On a busy machine the wall clock says little, so what counts is the processor
time that a run still used after its time was up (read from /proc when it is), and its peak memory. Linux only. A summary goes to standard error.
"""

import argparse
import csv
import os
import subprocess
import sys
import time

ENGINES = ["auto", "explicit", "symbolic", "karp-miller", "backward", "views", "localise", "equations", "guided"]
TICKS = os.sysconf("SC_CLK_TCK")


def command(throng, root, row, engine):
    """The question of a row, for an engine."""
    line = [throng, "check", os.path.join(root, row["path"]), "--engine", engine, "--jobs", "1", "--quiet"]
    initial, _, bound = row["initial"].partition(" of at most ")
    if initial not in ("", "in file"):
        line += ["--initial", initial]
    if bound or engine in ("explicit", "symbolic"):
        line += ["--threads", bound or "4"]
    if row["property"].endswith(".prop"):
        line += ["--prop", os.path.join(root, row["property"])]
    return line


def used(pid):
    """Processor seconds of a process so far."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS
    except OSError:
        return None


def run(line, timeout):
    """Exit status, wall seconds, processor seconds after the timeout, peak MiB."""
    began = time.monotonic()
    child = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    at_deadline = None
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        elapsed = time.monotonic() - began
        if timeout and at_deadline is None and elapsed >= timeout:
            at_deadline = used(child.pid)
        if elapsed > 120:
            child.kill()
        time.sleep(0.005)
    cpu = usage.ru_utime + usage.ru_stime
    over = max(0.0, cpu - at_deadline) if at_deadline is not None else 0.0
    return os.waitstatus_to_exitcode(status), time.monotonic() - began, over, usage.ru_maxrss / 1024


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("throng")
    arguments.add_argument("manifest")
    arguments.add_argument("--every", type=int, default=12, help="take every N-th row")
    arguments.add_argument("--timeout", type=float, default=2.0)
    arguments.add_argument("--memory", type=float, default=100.0)
    arguments.add_argument("--engine", action="append", help="only this one; may be repeated")
    options = arguments.parse_args()
    root = os.path.dirname(options.manifest)
    with open(options.manifest, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))[:: options.every]
    out = csv.writer(sys.stdout)
    out.writerow(["engine", "limit", "file", "status", "wall", "cpu_after_limit", "peak_mib"])
    summary = []
    for engine in options.engine or ENGINES:
        for limit in ("time", "memory"):
            worst, beyond, hit, wrong = (0.0, ""), 0, 0, 0
            for row in rows:
                line = command(options.throng, root, row, engine)
                if limit == "time":
                    line += ["--timeout", str(options.timeout)]
                    status, wall, over, peak = run(line, options.timeout)
                    excess, allowed = over, 1.0
                else:
                    line += ["--memory", str(int(options.memory)), "--timeout", str(3 * options.timeout)]
                    status, wall, over, peak = run(line, None)
                    excess, allowed = peak - options.memory, options.memory / 10
                hit += status == 1
                wrong += status not in (0, 1, 10)
                beyond += excess > allowed
                worst = max(worst, (excess, row["path"]))
                out.writerow([engine, limit, row["path"], status, f"{wall:.2f}", f"{over:.2f}", f"{peak:.0f}"])
                sys.stdout.flush()
            unit = "s" if limit == "time" else "MiB"
            summary.append(
                f"{engine:12} {limit:7} {len(rows)} runs, {hit} UNKNOWN, {wrong} failed, {beyond} beyond, "
                f"worst {worst[0]:.2f} {unit} {worst[1]}"
            )
            print(summary[-1], file=sys.stderr)


if __name__ == "__main__":
    main()
