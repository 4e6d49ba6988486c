#!/usr/bin/env python3
"""Families of systems with a growing parameter: how far does each engine get?

Usage: scaling.py [--throng PATH] [--seconds S] [--most SECONDS] [--output FOLDER] [FAMILY ...]

For each family and engine the parameter grows until the engine has no answer within S seconds of processor time (or the family takes
longer than `--most` altogether). Writes FOLDER/runs.csv, a table FOLDER/table.md and a plot FOLDER/FAMILY.svg for each family. Plain Python, no dependencies.
"""

import argparse
import os
import random
import resource
import subprocess
import tempfile
import time

# ── the families: parameter → (file ending, text, expected verdict) ──


def net(places, rules, init, target):
    lines = []
    for take, put in rules:
        change = {}
        for p in take:
            change[p] = change.get(p, 0) - take[p]
        for p in put:
            change[p] = change.get(p, 0) + put[p]
        guard = ", ".join("%s >= %d" % e for e in take.items()) or "true"
        update = ", ".join("%s' = %s %+d" % (p, p, d) for p, d in change.items() if d)
        lines.append("  %s -> %s;" % (guard, update.replace("+", "+ ").replace(" -", " - ")))
    start = ", ".join(init.get(p, "%s = 0" % p) for p in places)
    return "vars\n  %s\nrules\n%s\ninit\n  %s\ntarget\n  %s\n" % (" ".join(places), "\n".join(lines), start, target)


def kanban(n):
    """Four cells with n cards each; a cell never holds more than n parts. Safe."""
    places, rules, init = [], [], {}
    for i in range(1, 5):
        places += ["free%d" % i, "work%d" % i, "back%d" % i, "out%d" % i]
        init["free%d" % i] = "free%d = %d" % (i, n)
        rules += [({"work%d" % i: 1}, {"back%d" % i: 1}), ({"back%d" % i: 1}, {"work%d" % i: 1})]
        rules += [({"work%d" % i: 1}, {"out%d" % i: 1})]
    rules += [({"free1": 1}, {"work1": 1}), ({"out4": 1}, {"free4": 1})]
    rules += [({"out1": 1, "free2": 1, "free3": 1}, {"free1": 1, "work2": 1, "work3": 1})]
    rules += [({"out2": 1, "out3": 1, "free4": 1}, {"free2": 1, "free3": 1, "work4": 1})]
    return "spec", net(places, rules, init, "work2 >= %d, out2 >= 1" % n), "safe"


def mesh(n):
    """n × n cells, one walker at most in each, any number waits outside. Two in the middle? Safe."""
    cells = [(x, y) for x in range(n) for y in range(n)]
    places = ["outside"] + ["%s%dx%d" % (k, x, y) for x, y in cells for k in ("walker", "room")]
    init = {"outside": "outside >= 1"}
    init.update({"room%dx%d" % c: "room%dx%d = 1" % c for c in cells})
    rules = [({"outside": 1, "room0x0": 1}, {"walker0x0": 1})]
    for x, y in cells:
        for a, b in ((x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1)):
            if 0 <= a < n and 0 <= b < n:
                here, there = "%dx%d" % (x, y), "%dx%d" % (a, b)
                rules.append(({"walker" + here: 1, "room" + there: 1}, {"room" + here: 1, "walker" + there: 1}))
    middle = "%dx%d" % (n // 2, n // 2)
    return "spec", net(places, rules, init, "walker%s >= 2" % middle), "safe"


def readers(n):
    """n readers at most, and a writer needs all n permits. Safe."""
    places = ["idle", "reading", "writing", "permits"]
    init = {"idle": "idle >= 1", "permits": "permits = %d" % n}
    rules = [
        ({"idle": 1, "permits": 1}, {"reading": 1}),
        ({"reading": 1}, {"idle": 1, "permits": 1}),
        ({"idle": 1, "permits": n}, {"writing": 1}),
        ({"writing": 1}, {"idle": 1, "permits": n}),
    ]
    return "spec", net(places, rules, init, "writing >= 1, reading >= 1"), "safe"


def cutoff(n):
    """STAR's program: n threads are needed. Unsafe."""
    names = ["s%d" % i for i in range(1, n + 1)]
    decl = ", ".join("%s := 0" % s for s in names)
    text = "decl %s;\nvoid main() begin\n  %s := %s;\n  assert(!%s);\nend\n"
    return "bp", text % (decl, ", ".join(names), ", ".join(["1"] + names[:-1]), names[-1]), "unsafe"


def ring(n):
    """A token goes round n stations; each may work only while it has it. Safe."""
    places = [k + str(i) for i in range(n) for k in ("token", "idle", "busy")]
    init = {"token0": "token0 = 1"}
    init.update({"idle%d" % i: "idle%d = 1" % i for i in range(n)})
    rules = []
    for i in range(n):
        rules.append(({"token%d" % i: 1, "idle%d" % i: 1}, {"busy%d" % i: 1}))
        rules.append(({"busy%d" % i: 1}, {"token%d" % ((i + 1) % n): 1, "idle%d" % i: 1}))
        rules.append(({"token%d" % i: 1}, {"token%d" % ((i + 1) % n): 1}))
    return "spec", net(places, rules, init, "busy0 >= 1, busy%d >= 1" % (n - 1)), "safe"


def walk(n):
    """Three walkers in a wide random net of n places meet at its end. Unsafe."""
    dice = random.Random(n)
    places = ["p%d" % i for i in range(n)]
    rules = [({"p%d" % i: 1}, {"p%d" % (i + 1): 1}) for i in range(n - 1)]
    for _ in range(3 * n):
        a = dice.randrange(1, n)
        rules.append(({"p%d" % a: 1}, {"p%d" % dice.randrange(a): 1}))
    return "spec", net(places, rules, {"p0": "p0 >= 1"}, "p%d >= 3" % (n - 1)), "unsafe"


def broadcast(n):
    """Caches with n shared levels; who writes sends all others home. Two writers? Safe."""
    places = ["invalid"] + ["level%d" % i for i in range(n)] + ["owner"]
    down = ", ".join("%s' = 0" % p for p in places[1:-1])
    home = "invalid' = " + " + ".join(places) + " - 1, " + down + ", owner' = 1"
    rules = ["  invalid >= 1 -> invalid' = invalid - 1, level0' = level0 + owner + 1, owner' = 0;"]
    rules += ["  level%d >= 1 -> level%d' = level%d - 1, level%d' = level%d + 1;" % (i, i, i, i + 1, i + 1) for i in range(n - 1)]
    rules += ["  level%d >= 1 -> %s;" % (n - 1, home)]
    init = ["invalid >= 1"] + ["%s = 0" % p for p in places[1:]]
    text = "vars\n  %s\nrules\n%s\ninit\n  %s\ntarget\n  owner >= 1, level0 >= 1\n"
    return "spec", text % (" ".join(places), "\n".join(rules), ", ".join(init)), "safe"


FAMILIES = {f.__name__: f for f in (kanban, mesh, readers, cutoff, ring, walk, broadcast)}
ENGINES = ["auto", "explicit", "karp-miller", "backward", "views", "equations", "guided"]
GROWTH = 1.6

# ── running and reporting ──


def run(throng, path, engine, seconds):
    """Verdict and seconds of processor time."""
    command = [throng, "check", path, "--engine", engine, "--jobs", "1", "-q", "--memory", "4000", "--timeout", str(20 * seconds)]
    limit = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds + 1, seconds + 2))
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    verdict = {0: "safe", 10: "unsafe", 1: "unknown", 2: "refused"}.get(found.returncode, "stopped")
    return ("stopped" if took > seconds else verdict), took


def grow(family, engine, options, folder, began):
    rows, n = [], 2
    while time.time() - began < options.most:
        ending, text, expected = FAMILIES[family](n)
        path = os.path.join(folder, "%s-%d.%s" % (family, n, ending))
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        verdict, took = run(options.throng, path, engine, options.seconds)
        rows.append((family, engine, n, len(text), verdict, took))
        if verdict in ("safe", "unsafe") and verdict != expected:
            raise SystemExit("%s says %s about %s" % (engine, verdict, path))
        if verdict != expected:
            break
        n = max(n + 1, int(n * GROWTH))
    return rows


COLOURS = ["#111", "#c33", "#36c", "#283", "#a5a", "#c80", "#099"]


def plot(family, rows, path):
    """Processor time against the parameter, both logarithmic."""
    from math import log10

    solved = [r for r in rows if r[4] in ("safe", "unsafe")]
    if not solved:
        return
    most = max(r[2] for r in solved)
    x = lambda n: 60 + 500 * log10(n / 2) / max(log10(most / 2), 0.1)
    y = lambda t: 330 - 290 * (log10(max(t, 0.001)) + 3) / 5
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 380" font-family="sans-serif" font-size="12">']
    out.append('<rect width="720" height="380" fill="white"/><text x="60" y="20" font-size="15">%s</text>' % family)
    for e in range(-3, 3):
        out.append('<line x1="60" x2="560" y1="{0}" y2="{0}" stroke="#ddd"/>'.format(y(10**e)))
        out.append('<text x="52" y="%g" text-anchor="end">%g s</text>' % (y(10**e) + 4, 10**e))
    for n in sorted({r[2] for r in solved}):
        out.append('<text x="%g" y="348" text-anchor="middle" font-size="9">%d</text>' % (x(n), n))
    for i, engine in enumerate(ENGINES):
        points = [(x(r[2]), y(r[5])) for r in solved if r[1] == engine]
        if points:
            line = " ".join("%g,%g" % p for p in points)
            out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>' % (line, COLOURS[i]))
            out += ['<circle cx="%g" cy="%g" r="3" fill="%s"/>' % (*p, COLOURS[i]) for p in points]
        out.append('<text x="575" y="%d" fill="%s">%s</text>' % (60 + 20 * i, COLOURS[i], engine))
    out.append("</svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=", ".join(FAMILIES))
    parser.add_argument("--throng", default="target/release/throng", help="the executable")
    parser.add_argument("--seconds", type=int, default=60, help="processor time for each run")
    parser.add_argument("--most", type=float, default=1e9, help="seconds for each family and engine")
    parser.add_argument("--output", default="bench/scaling", help="where the results go")
    options = parser.parse_args()
    os.makedirs(options.output, exist_ok=True)
    everything = []
    with tempfile.TemporaryDirectory() as folder:
        for family in options.families or FAMILIES:
            rows = []
            for engine in ENGINES:
                rows += grow(family, engine, options, folder, time.time())
            plot(family, rows, os.path.join(options.output, family + ".svg"))
            everything += rows
            report(everything, options)


def report(rows, options):
    with open(os.path.join(options.output, "runs.csv"), "w", encoding="utf-8") as file:
        file.write("family,engine,parameter,bytes,verdict,cpu_seconds\n")
        file.writelines("%s,%s,%d,%d,%s,%.3f\n" % row for row in rows)
    with open(os.path.join(options.output, "table.md"), "w", encoding="utf-8") as file:
        file.write("The largest parameter decided within %d s of processor time, and what the next one ended with.\n\n" % options.seconds)
        file.write("| family | expected | %s |\n| --- | --- |%s\n" % (" | ".join(ENGINES), " --- |" * len(ENGINES)))
        for family in dict.fromkeys(r[0] for r in rows):
            cells = []
            for engine in ENGINES:
                mine = [r for r in rows if r[:2] == (family, engine)]
                best = max((r[2] for r in mine if r[4] in ("safe", "unsafe")), default=0)
                last = mine[-1][4] if mine else "not run"
                cells.append("%s (%s)" % (best or "–", "not stopped" if last in ("safe", "unsafe") else last))
            file.write("| %s | %s | %s |\n" % (family, FAMILIES[family](2)[2], " | ".join(cells)))


if __name__ == "__main__":
    main()
