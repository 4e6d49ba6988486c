#!/usr/bin/env python3
"""Where time and memory go, for ten instances: the tables of docs/performance.md.

    cargo build --release && tools/performance.py > tables.md

Instances are examples of the repository and generated families, so that anyone can repeat it. The first table is what throng says about itself (`--json`) and the
processor time that the operating system counted; the second is where `perf` found the processor (skipped, with a word about it, where there is no perf).
"""

import collections
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

import instructions
import scaling

ROOT = instructions.ROOT
THRONG = os.path.join(ROOT, "target", "release", "throng")


def chain(places):
    """One token goes along; two at the end? Safe."""
    rules = [({f"p{i}": 1}, {f"p{i + 1}": 1}) for i in range(places - 1)]
    return scaling.net([f"p{i}" for i in range(places)], rules, {"p0": "p0 = 1"}, f"p{places - 1} >= 2")


# Name → (file ending, text), arguments.
INSTANCES = {
    "rockall, views": (("bp", instructions.example("rockall.bp")), ["--engine", "views"]),
    "rockall, karp-miller": (("bp", instructions.example("rockall.bp")), ["--engine", "karp-miller"]),
    "rockall-broken": (("bp", instructions.example("rockall-broken.bp")), []),
    "ticketlock, explicit": (("bp", instructions.example("ticketlock.bp")), ["--engine", "explicit", "--threads", "200"]),
    "crowd(40), explicit": (("bp", instructions.crowd(40)), ["--engine", "explicit", "--threads", "5"]),
    "crowd(40), symbolic": (("bp", instructions.crowd(40)), ["--engine", "symbolic", "--threads", "4"]),
    "kanban(8), karp-miller": (scaling.kanban(8)[:2], ["--engine", "karp-miller"]),
    "broadcast(400), backward": (scaling.broadcast(400)[:2], ["--engine", "backward"]),
    "ring(400), equations": (scaling.ring(400)[:2], ["--engine", "equations"]),
    "chain(100000)": (("spec", chain(100_000)), []),
}


def measure(command):
    """What throng says, and processor seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command + ["--json"], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout), cpu


def part(symbol):
    """The function of a symbol, short: the last module and the name."""
    symbol = re.sub(r"<([\w:]+)(<.*>)? as [^>]*>", r"\1", symbol)
    symbol = re.sub(r"::\{\{closure\}\}|<[^<>]*>|\{closure#?\d*\}", "", symbol)
    words = [w for w in symbol.split("::") if w]
    return "::".join(words[-2:])


def profile(command, folder):
    """Shares of functions, the largest first."""
    data = os.path.join(folder, "perf.data")
    record = ["perf", "record", "-q", "-o", data, "--"]
    subprocess.run(record + command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    report = ["perf", "report", "-i", data, "--stdio", "-q", "--no-children", "-F", "overhead,sym"]
    done = subprocess.run(report, capture_output=True, text=True)
    shares = collections.Counter()
    for line in done.stdout.splitlines():
        found = re.match(r"\s*([\d.]+)%\s+\[(.)\]\s+(.*\S)", line)
        if found:
            name = "(kernel: mostly memory)" if found[2] == "k" else part(found[3])
            if re.match(r"(_int_|__libc_)?(malloc|free|realloc|calloc|unlink_chunk)|_int_|malloc_cons|__mem|cfree", name):
                name = "(allocating, copying memory)"
            shares[name] += float(found[1])
    return shares.most_common(4)


def main():
    if not os.path.exists(THRONG):
        sys.exit("first: cargo build --release")
    has_perf = shutil.which("perf") is not None
    rows, profiles = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, ((ending, text), arguments) in INSTANCES.items():
            path = os.path.join(folder, f"instance.{ending}")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            command = [THRONG, "check", path, "--jobs", "1", *arguments]
            said, cpu = measure(command)
            numbers = said["statistics"]
            phases = numbers["phases"]
            whole = sum(phases.values()) or 1.0
            shares = " / ".join(f"{100 * phases[p] / whole:.0f}" for p in ("reading", "searching", "checking"))
            configurations = numbers["configurations"]
            peak = numbers["peak_memory"] / 2**20
            each = f"{numbers['peak_memory'] / configurations:.0f}" if configurations > 10_000 else "–"
            rows.append(f"| {name} | `{' '.join(arguments)}` | {said['verdict']} | {configurations:,} | {cpu:.2f} | {shares} | {peak:.0f} | {each} |")
            print(f"{name}: {cpu:.2f} s", file=sys.stderr)
            if has_perf:
                shares = profile(command, folder)
                profiles.append(f"| {name} | " + ", ".join(f"{f} {s:.0f} %" for f, s in shares) + " |")
    print("| instance | options | verdict | configurations | processor s | reading / searching / checking, % of time | peak MiB | bytes per configuration |")
    print("| --- | --- | --- | ---: | ---: | --- | ---: | ---: |")
    print("\n".join(rows))
    if has_perf:
        print("\n| instance | functions |\n| --- | --- |")
        print("\n".join(profiles))
    else:
        print("\nThere is no perf here, so functions were not measured.")


if __name__ == "__main__":
    main()
