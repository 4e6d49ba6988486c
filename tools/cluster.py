#!/usr/bin/env python3
"""Measures `distributed` against `explicit`: seconds, balance, bytes sent, for growing numbers of workers and processes.

    tools/cluster.py THRONG FILE THREADS [--random N]

THRONG is a release build with the feature `cluster`. Prints a Markdown table. Times are searching times as the report says them (checking of evidence apart),
the best of three runs.
"""

import json
import re
import subprocess
import sys


def run(args):
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode not in (0, 10):
        sys.exit(f"{' '.join(args)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout), done.stderr


def best(args, times=3):
    runs = [run(args) for _ in range(times)]
    return min(runs, key=lambda r: r[0]["statistics"]["phases"]["searching"])


def workers(errors):
    pattern = r"worker \d+: (\d+) configurations in (\d+) bytes, (\d+) sent in (\d+) bytes"
    return [tuple(map(int, found)) for found in re.findall(pattern, errors)]


def main():
    throng, file, threads = sys.argv[1:4]
    question = ["check", file, "--threads", threads, "--json", "--progress", "never", "-v"]
    alone, _ = best([throng, *question, "--engine", "explicit", "--no-por", "--jobs", "1"])
    seconds, count = alone["statistics"]["phases"]["searching"], alone["statistics"]["configurations"]
    print("| search | seconds | against `explicit` | configurations | bytes per configuration | largest part / average | sent per configuration | bytes sent per configuration |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    print(f"| `explicit --no-por --jobs 1` | {seconds:.2f} | 1.00 | {count} | | | | |")
    ways = [(f"{n} worker{'s' * (n > 1)}", ["--engine", "distributed", "--workers", str(n)], []) for n in (1, 2, 4, 8, 16)]
    ways += [(f"{n} processes", [], ["cluster", "run", "-n", str(n), "--"]) for n in (2, 4)]
    for name, options, before in ways:
        found, errors = best([throng, *before, *question, *options])
        assert found["statistics"]["configurations"] == count, (name, found["statistics"])
        parts = workers(errors)
        stored = sum(p[0] for p in parts)
        took = found["statistics"]["phases"]["searching"]
        balance = max(p[0] for p in parts) * len(parts) / stored
        memory, sent, sent_bytes = (sum(p[i] for p in parts) / stored for i in (1, 2, 3))
        print(f"| {name} | {took:.2f} | {took / seconds:.2f} | {count} | {memory:.1f} | {balance:.3f} | {sent:.2f} | {sent_bytes:.1f} |")


if __name__ == "__main__":
    main()
