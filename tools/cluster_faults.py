#!/usr/bin/env python3
"""Several processes against one, and what happens when one of them dies.

    tools/cluster_faults.py agree THRONG CORPUS [--processes 1,2,4] [--every N]
    tools/cluster_faults.py kill THRONG FILE THREADS [--times 10] [--seed S]

THRONG has the feature `cluster`. `agree` asks `explicit` and `throng cluster run` about the programs of boom and boppo with three threads and compares verdict, number
of threads, length of the run and, where it is safe, the number of configurations. `kill` searches once undisturbed; then it starts four processes with `--checkpoint`, ends one of
them with SIGKILL after a random part of that time, looks at what the others say and how soon, and resumes with another number of processes. Status 1 if anything differs.
"""

import argparse
import csv
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import time


def ask(command, patience=120):
    done = subprocess.run(command, capture_output=True, text=True, timeout=patience)
    return done.returncode, json.loads(done.stdout) if done.stdout.startswith("{") else None, done.stderr


def summary(found):
    runs = [(t["verdict"], t["threads"], t["steps"]) for t in found["targets"]]
    return runs, found["statistics"]["configurations"] if all(verdict == "safe" for verdict, _, _ in runs) else None


def agree(options):
    with open(os.path.join(options.corpus, "MANIFEST.csv"), encoding="utf-8") as file:
        rows = sorted({row["path"] for row in csv.DictReader(file) if row["path"].startswith(("bp/boom", "bp/boppo"))})
    compared = skipped = different = 0
    for path in rows[:: options.every]:
        question = ["check", os.path.join(options.corpus, path), "--threads", "3", "--json", "--progress", "never", "--timeout", "20"]
        status, alone, _ = ask([options.throng, *question, "--engine", "explicit", "--no-por", "--jobs", "1"])
        if status not in (0, 10):
            skipped += 1
            continue
        for processes in options.processes.split(","):
            others, found, errors = ask([options.throng, "cluster", "run", "-n", processes, "--", *question])
            compared += 1
            if others != status or summary(found) != summary(alone):
                different += 1
                print(f"{path}, {processes} processes: status {others} instead of {status}\n{errors}")
    print(f"{compared} comparisons agree but for {different}; {skipped} programs were skipped (no answer from explicit in 20 s, or status 2)")
    return different


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def start(options, folder, count, kept):
    hosts = os.path.join(folder, "hosts.txt")
    with open(hosts, "w", encoding="utf-8") as file:
        file.writelines(f"127.0.0.1:{port}\n" for port in free_ports(count))
    command = [options.throng, "check", options.file, "--threads", options.threads, "--json", "--progress", "never", "--cluster", hosts, "--checkpoint", kept]
    return [subprocess.Popen([*command, "--process", str(i)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for i in range(count)]


def kill(options):
    rng = random.Random(options.seed)
    before = time.monotonic()
    status, alone, errors = ask([options.throng, "cluster", "run", "-n", "4", "--", "check", options.file, "--threads", options.threads, "--json", "--progress", "never"], 600)
    if status not in (0, 10):
        sys.exit(f"undisturbed: status {status}\n{errors}")
    took, wrong = time.monotonic() - before, 0
    print(f"undisturbed: {took:.1f} s, {alone['statistics']['configurations']} configurations")
    for _ in range(options.times):
        with tempfile.TemporaryDirectory() as folder:
            kept = os.path.join(folder, "kept")
            processes, after, victim = start(options, folder, 4, kept), rng.uniform(0, 0.9 * took), rng.randrange(4)
            time.sleep(after)
            ended = processes[victim].poll() is not None
            processes[victim].kill()
            killed = time.monotonic()
            answers = []
            for i, process in enumerate(processes):
                try:
                    output, errors = process.communicate(timeout=30)
                except subprocess.TimeoutExpired:
                    process.kill()
                    answers.append("hangs")
                    continue
                if i != victim:
                    answers.append(process.returncode)
            soon = time.monotonic() - killed
            expected = {status} if ended else {1}
            fine = set(answers) <= expected and soon < 10
            count = rng.choice([1, 2, 3, 4])
            again = start(options, folder, count, kept)
            output, errors = again[0].communicate(timeout=600)
            for process in again[1:]:
                process.communicate(timeout=30)
            same = output.startswith("{") and summary(json.loads(output)) == summary(alone)
            wrong += not (fine and same)
            how = "had ended" if ended else "killed"
            print(f"process {victim} {how} after {after:.1f} s: others end with {answers} within {soon:.1f} s; resumed with {count}: {'the same numbers' if same else 'DIFFERENT'}", flush=True)
            if not same:
                print(output[:500], errors[:1000])
    return wrong


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = arguments.add_subparsers(dest="command", required=True)
    first = commands.add_parser("agree")
    first.add_argument("throng")
    first.add_argument("corpus")
    first.add_argument("--processes", default="1,2,4")
    first.add_argument("--every", type=int, default=1, help="only every Nth program")
    second = commands.add_parser("kill")
    second.add_argument("throng")
    second.add_argument("file")
    second.add_argument("threads")
    second.add_argument("--times", type=int, default=10)
    second.add_argument("--seed", type=int, default=1)
    options = arguments.parse_args()
    sys.exit(1 if (agree if options.command == "agree" else kill)(options) else 0)


if __name__ == "__main__":
    main()
