#!/usr/bin/env python3
"""Boolean programs that grow, most of whose text does not matter to the question; safe ones, and the same with one mistake.

    tools/growing.py FAMILY N [--broken]            writes the program
    tools/growing.py --measure THRONG [FAMILY ...]  the largest N that THRONG decides in 20 s of processor time, by doubling
    tools/growing.py --list

What each is about stands in its function. The expected answer is a comment in the first line of the program.
"""

import os
import resource
import subprocess
import sys
import tempfile

LIMIT = 20
MOST = 4096


def names(prefix, n):
    return [f"{prefix}{i}" for i in range(n)]


def zeros(variables):
    return "decl " + ", ".join(f"{v} := 0" for v in variables) + ";\n"


def take(lock, broken):
    """Takes a lock; broken: looks and then takes, in two steps."""
    return f"assume(!{lock}); {lock} := 1;" if broken else f"{lock} := 1 constrain !{lock};"


def section(n, broken, before, inside, variables, functions="", locals_="decl p, q;"):
    """A loop with a critical section, with text before it and in it."""
    return (zeros(["lock", "busy"] + variables) + functions
            + f"void main() begin\n {locals_}\n while * do\n{before}\n  {take('lock', broken)}\n"
            + f"  assert(!busy); busy := 1;\n{inside}\n  busy := 0; lock := 0;\n od\nend\n")


def variables(n, broken):
    """n shared variables, toggled or not, and copied."""
    before = "\n".join(f"  if * then x{i} := !x{i}; fi;" for i in range(n))
    inside = "\n".join(f"  if x{i} then x{(i + 1) % n} := x{(i + 2) % n}; fi;" for i in range(n))
    return section(n, broken, before, inside, names("x", n))


def own(n, broken):
    """n variables of each thread that are tested and passed on through a shared one."""
    before = "\n".join(
        f"  if v{i} then v{(i + 1) % n} := g; else v{(i + 3) % n} := !v{i}; g := v{(i + 5) % n}; fi;" for i in range(n))
    inside = "\n".join(f"  if v{i} ^ g then v{(i + 1) % n} := v{(i + 2) % n}; fi;" for i in range(n))
    return section(n, broken, before, inside, ["g"], locals_=f"decl {', '.join(names('v', n))};")


def loops(n, broken):
    """n loops that wait for variables which nothing else depends on."""
    before = "\n".join(f"  p := *; while p do p := x{i}; x{(i + 1) % n} := *; od;" for i in range(n))
    inside = "\n".join(f"  while q do q := x{i}; x{i} := *; od; q := *;" for i in range(n))
    return section(n, broken, before, inside, names("x", n))


def functions(n, broken):
    """n functions with parameters and results, each called three times."""
    text = "".join(
        f"bool h{i}(a, b) begin\n decl c; c := a & x{i}; x{(i + 1) % n} := b;\n"
        f" if c then return !a; else return b ^ x{(i + 2) % n}; fi;\nend\n" for i in range(n))
    before = "\n".join(f"  p := h{i}(q, p); q := h{(7 * i + 1) % n}(p, !q);" for i in range(n))
    inside = "\n".join(f"  q := h{i}(p, q);" for i in range(n))
    return section(n, broken, before, inside, names("x", n), functions=text)


def flags(n, broken):
    """n flags that some threads set and others wait for."""
    before = "\n".join(f"  if * then x{i} := 1; else assume(x{i}); x{i} := 0; fi;" for i in range(n))
    return section(n, broken, before, "", names("x", n))


def groups(n, broken):
    """n groups of variables with a lock each; broken: one of the locks is not taken."""
    body = ""
    for i in range(n):
        lock = "skip;" if broken and i == n // 2 else take(f"l{i}", False)
        body += (f"  if * then\n   {lock} x{i} := !x{i}; c := z{i}; y{i} := !y{i};\n   assert(x{i} = y{i});\n"
                 f"   z{i} := z{(5 * i + 1) % n} ^ c; {'skip;' if broken and i == n // 2 else f'l{i} := 0;'}\n  fi;\n")
    return (zeros(names("l", n) + names("x", n) + names("y", n) + names("z", n))
            + f"void main() begin\n decl c := 0;\n while * do\n{body} od\nend\n")


def calls(n, broken):
    """A tree of calls of depth n, two in each function; broken: one leaf does not lock."""
    text = zeros(["lock", "busy", "x"])
    text += f"void f0() begin\n {take('lock', False)} assert(!busy); busy := 1; busy := 0; lock := 0;\nend\n"
    text += f"void g0() begin\n {'skip;' if broken else take('lock', False)} assert(!busy); busy := 1; busy := 0; lock := 0;\nend\n"
    for i in range(1, n + 1):
        for f, other in ("f", "f"), ("g", "f"):
            text += f"void {f}{i}() begin\n decl v;\n if v then {other}{i - 1}(); else x := !x; {f}{i - 1}(); fi;\nend\n"
    return text + f"void main() begin\n while * do g{n}(); od\nend\n"


def chain(n, broken):
    """n statements in a row, and then one thread waits for another; broken: it may go on."""
    text = zeros(["a", "b"] + names("x", 8)) + "void main() begin\n"
    text += "".join(f" x{i % 8} := !x{(i + 1) % 8};\n" for i in range(n))
    return text + f" if * then {'a := 1;' if broken else 'skip;'} else assume(a); b := 1; fi;\n assume(b);\n assert(0);\nend\n"


def singletons(n, broken):
    """n values with double-checked initialisation under one lock; broken: one is announced before it is there."""
    text = zeros(names("r", n) + names("i", n) + ["lock"])
    for k in range(n):
        made = [f"i{k} := 1;", f"r{k} := 1;"]
        made = made[::-1] if broken and k == n - 1 else made
        text += (f"void get{k}() begin\n if !r{k} then\n  {take('lock', False)}\n  if !r{k} then {' '.join(made)} fi;\n"
                 f"  lock := 0;\n fi;\n assert(i{k});\nend\n")
    return text + "void main() begin\n while * do\n" + "".join(f"  if * then get{k}(); fi;\n" for k in range(n)) + " od\nend\n"


def jobs(n, broken):
    """A table of n jobs under one lock, each done by one thread at a time; broken: one is given back too early."""
    text = zeros(names("f", n) + names("t", n) + names("w", n) + ["lock"]) + "void main() begin\n while * do\n"
    for i in range(n):
        early = f"t{i} := 0;" if broken and i == n - 1 else ""
        text += (f"  if * then {take('lock', False)} if !f{i} & !t{i} then f{i} := 1; fi; lock := 0; fi;\n"
                 f"  if * then\n   {take('lock', False)}\n   if f{i} then\n    f{i} := 0; t{i} := 1; lock := 0; {early}\n"
                 f"    assert(!w{i}); w{i} := 1; w{i} := 0;\n    {take('lock', False)} t{i} := 0; lock := 0;\n   else lock := 0; fi;\n  fi;\n")
    return text + " od\nend\n"


def peterson(n, broken):
    """n locks of Peterson's for two slots, which threads claim; broken: the last sets turn and flag in the wrong order."""
    flat = [f"{v}{k}_{s}" for k in range(n) for v in "af" for s in "01"] + names("t", n) + names("b", n)
    text = zeros(flat) + "void main() begin\n while * do\n"
    for k in range(n):
        for s in 0, 1:
            o = 1 - s
            ask = [f"f{k}_{s} := 1;", f"t{k} := {o};"]
            ask = ask[::-1] if broken and k == n - 1 else ask
            text += (f"  if * then {take(f'a{k}_{s}', False)} {' '.join(ask)} assume(!f{k}_{o} | (t{k} = {s}));\n"
                     f"   assert(!b{k}); b{k} := 1; b{k} := 0; f{k}_{s} := 0; a{k}_{s} := 0; fi;\n")
    return text + " od\nend\n"


def dispatch(n, broken):
    """A command in a few bits that others write, n cases with a lock each; broken: the last case does not lock."""
    k = max(1, (n - 1).bit_length())
    c, m = names("c", k), names("m", k)
    text = zeros(c + names("l", n) + names("b", n)) + f"void main() begin\n decl {', '.join(m)};\n while * do\n"
    text += f"  if * then {', '.join(c)} := {', '.join('*' * k)};\n  else {', '.join(m)} := {', '.join(c)};\n"
    for i in range(n):
        case = " & ".join(("" if i >> j & 1 else "!") + m[j] for j in range(k))
        free = broken and i == n - 1
        text += (f"   {'elsif' if i else 'if'} {case} then {'skip;' if free else take(f'l{i}', False)}"
                 f" assert(!b{i}); b{i} := 1; b{i} := 0; {'skip;' if free else f'l{i} := 0;'}\n")
    return text + "   fi;\n  fi;\n od\nend\n"


def workers(n, broken):
    """Threads of n kinds, each started by the one before; broken: the last kind unlocks too early."""
    text = zeros(names("d", n) + names("u", n) + ["lock"])
    for i in range(n):
        early = "lock := 0;" if broken and i == n - 1 else ""
        more = f"if * then start_thread w{i + 1}(); fi;" if i + 1 < n else ""
        text += (f"void w{i}() begin\n decl a;\n a := d{i}; {take('lock', False)}\n assert(!u{i}); u{i} := 1; {early} u{i} := 0; lock := 0;\n"
                 f" d{i} := 1; {more}\nend\n")
    return text + "void main() begin\n while * do start_thread w0(); od\nend\n"


FAMILIES = {f.__name__: f for f in (variables, own, loops, functions, flags, groups, calls, chain, singletons, jobs, peterson, dispatch, workers)}


def written(family, n, broken):
    return f"// expected: {'unsafe' if broken else 'safe'}\n" + FAMILIES[family](n, broken)


def decides(throng, family, n, broken):
    """Seconds and mebibytes, if the answer is the expected one within the limit."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.bp")
        with open(path, "w") as file:
            file.write(written(family, n, broken))
        with open(os.path.join(folder, "out"), "w+") as out:
            run = subprocess.Popen([throng, "check", path, "--jobs", "1"], stdout=out, stderr=subprocess.DEVNULL, preexec_fn=limit)
            _, status, used = os.wait4(run.pid, 0)
            out.seek(0)
            text = out.read()
    run.returncode = os.waitstatus_to_exitcode(status)
    expected, answer = "UNSAFE" if broken else "SAFE", text.split(maxsplit=1)[:1]
    if answer in (["SAFE"], ["UNSAFE"]) and answer != [expected]:
        sys.exit(f"{family} {n}: {answer[0]}, expected {expected}")
    engine = next((line.split()[1] for line in text.splitlines() if line.startswith("engine:")), "")
    return (used.ru_utime + used.ru_stime, used.ru_maxrss // 1024, engine) if answer == [expected] else None


def measure(throng, families):
    print("| family | safe | | broken | |\n| --- | ---: | --- | ---: | --- |")
    for family in families:
        cells = []
        for broken in False, True:
            n, last = 2, None
            while n <= MOST and (found := decides(throng, family, n, broken)):
                n, last = 2 * n, (n, found)
            cells += [str(last[0]), f"{last[1][0]:.1f} s, {last[1][1]} MiB, `{last[1][2]}`"] if last else ["-", ""]
        print(f"| `{family}` | {' | '.join(cells)} |", flush=True)


def main():
    args = sys.argv[1:]
    if args[:1] == ["--list"]:
        print("\n".join(f"{name}: {f.__doc__}" for name, f in FAMILIES.items()))
    elif args[:1] == ["--measure"] and len(args) > 1 and set(args[2:]) <= set(FAMILIES):
        measure(args[1], args[2:] or FAMILIES)
    elif len(args) >= 2 and args[0] in FAMILIES and args[1].isdigit() and int(args[1]) > 1:
        sys.stdout.write(written(args[0], int(args[1]), args[2:] == ["--broken"]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
