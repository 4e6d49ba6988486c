#!/usr/bin/env python3
"""Instruction counts of the hot paths, compared with stored ones: regressions show on a noisy machine, too.

    cargo build --release && tools/instructions.py            compares with bench/instructions.json; status 1 if something got worse
    tools/instructions.py --record                            writes bench/instructions.json
    tools/instructions.py explicit views                      only these

Counts are those of `valgrind --tool=cachegrind` for one run of the release binary with `--jobs 1`. They hardly depend on the load of the
machine (hash seeds and address layout make some parts in a thousand), but on compiler and processor: record anew after changing either. Where there
is no valgrind, it says so and nothing is compared.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import scaling

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STORED = os.path.join(ROOT, "bench", "instructions.json")


def program(statements):
    """A long program that is read and not searched."""
    body = "".join(f"  L{i}: a, b := b & !c, (a | c) ^ *; if (a & b) then c := !c; fi;\n" for i in range(statements))
    return f"decl a, b, c := 0;\nvoid main() begin\n{body}  assert(a | !a);\nend\n"


def system(edges):
    return "500 500\n" + "".join(f"{i % 500} {i % 499} -> {i * 7 % 500} {i * 13 % 500}\n" for i in range(edges))


def net(places):
    rules = [({f"p{i}": 1}, {f"p{i + 1}": 1}) for i in range(places - 1)]
    return scaling.net([f"p{i}" for i in range(places)], rules, {"p0": "p0 >= 1"}, f"p{places - 1} >= 2")


def crowd(points):
    """Threads count themselves, then walk along statements that all see each other."""
    return (
        "decl a := 0, b := 0, c := 0, d := 0, g := 0; void main() begin atomic_begin; "
        "a, b, c, d := !a, b ^ a, c ^ (a & b), d ^ (a & b & c); assert(!(a & !b & !c & d)); atomic_end; "
        + "g := !g; " * points
        + "end\n"
    )


def example(name):
    with open(os.path.join(ROOT, "examples", name), encoding="utf-8") as file:
        return file.read()


def flippers(bits):
    """One thread flips its bits in any order, and all are read in the end: many local states, all different."""
    names = [f"x{i}" for i in range(bits)]
    flips = "".join(f"F{i}: x{i} := !x{i}; goto N; " for i in range(bits))
    return (
        f"decl g := 0; void main() begin decl {' := 0, '.join(names)} := 0; while * do "
        f"goto {', '.join(f'F{i}' for i in range(bits))}; {flips} N: skip; od; g := {' ^ '.join(names)}; assert(!g | g); end\n"
    )


# Name → file ending, text, arguments. With one thread, about half of what happens is reading.
READ = ["check", "--engine", "explicit", "--threads", "1", "--no-check"]
CASES = {
    "read-bp": ("bp", program(8000), READ),
    "read-tts": ("tts", system(200_000), [*READ, "--target", "5|5,5"]),
    "read-spec": ("spec", net(30_000), READ),
    "explicit": ("bp", crowd(40), ["check", "--engine", "explicit", "--threads", "4", "--no-check"]),
    "symbolic": ("bp", crowd(20), ["check", "--engine", "symbolic", "--threads", "4", "--no-check"]),
    "karp-miller": ("bp", flippers(9), ["check", "--engine", "karp-miller", "--initial", "1", "--no-check"]),
    "karp-miller-net": (*scaling.kanban(2)[:2], ["check", "--engine", "karp-miller", "--no-quotient", "--no-check"]),
    "backward": (*scaling.broadcast(400)[:2], ["check", "--engine", "backward", "--no-check"]),
    "views": (*scaling.mesh(16)[:2], ["check", "--engine", "views", "--no-check"]),
    "equations": (*scaling.ring(200)[:2], ["check", "--engine", "equations", "--no-check"]),
    "guided": (*scaling.walk(200)[:2], ["check", "--engine", "guided", "--no-check"]),
    "check-closed": ("bp", crowd(20), ["check", "--engine", "explicit", "--threads", "4"]),
    "certify": (*scaling.mesh(16)[:2], ["certify"]),
}


def count(throng, name, folder):
    """Instructions of one run, and its exit status."""
    ending, text, arguments = CASES[name]
    path = os.path.join(folder, f"{name}.{ending}")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    command = [throng, arguments[0], path, *arguments[1:]]
    if arguments[0] == "certify":
        certificate = os.path.join(folder, "certificate.json")
        made = [throng, "check", path, "--certificate", certificate, "--engine", "views", "--quiet"]
        subprocess.run(made, check=True, stdout=subprocess.DEVNULL)
        command.append(certificate)
    else:
        command += ["--jobs", "1", "--quiet"]
    valgrind = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    done = subprocess.run(valgrind + command, capture_output=True, text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if found is None or done.returncode not in (0, 1, 10):
        sys.exit(f"{name}: {' '.join(command)} ended with {done.returncode}\n{done.stderr}")
    return int(found.group(1).replace(",", "")), done.returncode


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("names", nargs="*", metavar="NAME", help=", ".join(CASES))
    arguments.add_argument("--record", action="store_true", help="store what is counted")
    arguments.add_argument("--tolerance", type=float, default=3.0, help="per cent that are no regression")
    arguments.add_argument("--throng", default=os.path.join(ROOT, "target", "release", "throng"))
    options = arguments.parse_args()
    unknown = [name for name in options.names if name not in CASES]
    if unknown:
        sys.exit(f"no such case: {', '.join(unknown)}")
    if shutil.which("valgrind") is None:
        print("SKIPPED: there is no valgrind, so no instructions are counted")
        return
    stored = {}
    if os.path.exists(STORED):
        with open(STORED, encoding="utf-8") as file:
            stored = json.load(file)
    worse = []
    print(f"{'case':16} {'instructions':>15} {'stored':>15}  change")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.names or CASES:
            now, status = count(options.throng, name, folder)
            before = stored.get(name)
            change = "new" if before is None else f"{100 * (now / before['instructions'] - 1):+.1f} %"
            if before is not None and before["status"] != status:
                change += f", exit status {status} instead of {before['status']}"
                worse.append(name)
            elif before is not None and now > before["instructions"] * (1 + options.tolerance / 100):
                change += "  WORSE"
                worse.append(name)
            shown = "" if before is None else f"{before['instructions']:,}"
            print(f"{name:16} {now:>15,} {shown:>15}  {change}", flush=True)
            if options.record:
                stored[name] = {"instructions": now, "status": status}
    if options.record:
        stored = {name: stored[name] for name in CASES if name in stored}
        with open(STORED, "w", encoding="utf-8") as file:
            json.dump(stored, file, indent=2)
            file.write("\n")
    elif worse:
        sys.exit(f"worse than stored: {', '.join(worse)}")


if __name__ == "__main__":
    main()
